//! nCOBRAS: COBRAS with answers that may be wrong.

use std::collections::HashSet;

use mustlink_core::prelude::*;

use crate::cobras::{Cobras, Review, Reviewed, begin};
use crate::parts::doubting::Doubting;
use crate::parts::worlds::{Verdict, Worlds};

/// COBRAS that doubts: it asks once more, in other words, where an answer would change the clusters, and finds
/// out which answers were wrong.
///
/// # Method
/// Each answer is wrong with probability `noise`. After each merging, answers between the representatives there
/// are have to be right together with probability `certainty`: until then, pairs are asked whose answers follow
/// from the others, first the one that rules most of the likeliest mistakes out. Where answers contradict each
/// other, the likeliest way in which some of them are wrong is looked for, questions parting those that are
/// equally likely; those answers then count as their opposite, what no question can decide as not given, and all
/// super-instances are merged anew.
/// # Input and output
/// As `cobras`; its clusters keep the answers as they are taken, and `corrected` among the diagnostics is the
/// number of those not taken as they were given. The constraints handed on are the answers as they are taken at
/// last. Given constraints are taken to be right.
/// # Errors
/// As `cobras`.
/// # Cost and randomness
/// As `cobras`, and for each question after a merging O(a²·r) for r answers of which a share a cycle, and O(r·v²)
/// for the v objects asked about. Random only in the clusterer.
/// # References
/// [Soenen2020]; COBRAS: [VanCraenendonck2018] §3; blocks: [HopcroftTarjan1973]. Differs: what follows from
/// answers about objects that represent nothing any more is not asked again while merging; of ways in which
/// answers may be wrong that are equally likely to the end, none is taken; and they are listed by blocks of the
/// graph of answers, in which they are independent, not in the whole.
#[options]
pub struct Ncobras {
    /// What it shares with `cobras`.
    #[option(flatten)]
    pub cobras: Cobras,
    /// How much answers are doubted; together those between representatives have to be certain.
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
    /// What was concluded and not passed on yet.
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
