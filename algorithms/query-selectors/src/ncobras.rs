//! nCOBRAS: COBRAS with answers that may be wrong.

use std::collections::HashSet;

use mustlink_core::prelude::*;

use crate::cobras::{Cobras, Review, Reviewed, begin};
use crate::parts::doubting::Doubting;
use crate::parts::worlds::{Verdict, Worlds};

/// COBRAS for answers that may be wrong: confirms answers that change the clusters and finds the wrong ones.
///
/// # Method
/// Each answer is wrong with probability `noise`. After each merging, the answers between the current representatives
/// must all be correct with probability `certainty`. Until then, pairs are asked whose answers follow from the others,
/// first the pair that rules out the largest part of the likeliest mistakes. If answers contradict each other, the
/// likeliest set of wrong answers is searched for. Questions decide between sets that are equally likely. Those answers
/// then count as their opposite. Answers that no question can decide count as not given. All super-instances are then
/// merged again.
/// # Input and output
/// As `cobras`. Its clusters keep the corrected answers, and the diagnostic `corrected` is the number of answers that
/// do not count as they were given. The constraints passed on are the corrected answers at the end. Given constraints
/// are assumed to be correct.
/// # Errors
/// Returns the errors of `cobras`.
/// # Cost and randomness
/// As `cobras`, and for each question after a merging O(a²·r) for r answers, a of them on a common cycle, and O(r·v²)
/// for the v objects asked about. Random only in the clusterer.
/// # References
/// [Soenen2020]; COBRAS: [VanCraenendonck2018] §3; blocks: [HopcroftTarjan1973]. Differs: while merging, pairs that
/// follow from answers about former representatives are not asked again. If sets of wrong answers remain equally
/// likely to the end, none is chosen. Sets are listed by blocks of the graph of answers, in which they are
/// independent, not in the whole graph.
#[options]
pub struct Ncobras {
    /// Options shared with `cobras`.
    #[option(flatten)]
    pub cobras: Cobras,
    /// Options for doubting answers; the answers between representatives must be certain together.
    #[option(flatten)]
    pub doubting: Doubting,
}

#[plugin("ncobras", cites = ["Soenen2020", "VanCraenendonck2018", "HopcroftTarjan1973", "BradleyFayyad1998"], version = 3)]
impl QuerySelector for Ncobras {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        let Doubting { noise, certainty, order } = self.doubting;
        let worlds = Worlds::new(problem, noise, order);
        let doubts = Doubts { worlds, certainty, corrected: false, events: Vec::new() };
        begin(&self.cobras, "ncobras", problem, Some(Box::new(doubts)), ctx)
    }

    fn properties(&self) -> SelectorProperties {
        SelectorProperties {
            skips_entailed: self.doubting.certainty == 0.0,
            asks_for_evidence: self.doubting.certainty > 0.0,
            ..self.cobras.properties()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        2 * self.cobras.memory(shape)
    }
}

/// Answers that may be wrong.
struct Doubts {
    worlds: Worlds,
    certainty: f64,
    /// Answers were corrected since the parts were merged.
    corrected: bool,
    /// Events that were not passed on yet.
    events: Vec<Event>,
}

impl Review for Doubts {
    fn tell(&mut self, id: QueryId, i: u32, j: u32, reply: Reply) {
        self.worlds.tell(id, i, j, reply);
    }

    /// [Soenen2020]: after a merging, evidence is gathered for the answers that it rests on.
    fn review(&mut self, representatives: &HashSet<u32>, ctx: &Context) -> Result<Reviewed> {
        let rests_on =
            |i: u32, j: u32| representatives.contains(&i) && representatives.contains(&j);
        loop {
            match self.worlds.judge(rests_on, rests_on, self.certainty, ctx)? {
                // Redundant pairs are asked until those answers are certain, or, where answers contradict each
                // other, until one way in which some are wrong is the likeliest;
                Verdict::Ask(i, j) => return Ok(Reviewed::Ask(i, j)),
                // those then count as their opposite,
                Verdict::Corrected(answers) => {
                    self.corrected = true;
                    let corrected = |(id, reply)| Event::Corrected { id, reply };
                    self.events.extend(answers.into_iter().map(corrected));
                }
                // and the super-instances are merged from the start;
                Verdict::Settled if std::mem::take(&mut self.corrected) => {
                    return Ok(Reviewed::MergeAnew(self.worlds.knowledge()));
                }
                // else the clusters stand, and the next super-instance is split.
                Verdict::Settled => return Ok(Reviewed::Stands),
            }
        }
    }

    fn drain(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    fn corrected(&self) -> usize {
        self.worlds.corrected()
    }
}
