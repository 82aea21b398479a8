//! nCOBRAS: COBRAS with answers that may be wrong.

use mustlink_core::prelude::*;

use crate::cobras::{Cobras, begin};
use crate::parts::doubts::{Doubting, Doubts};

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
/// As `cobras`; `corrected` among the diagnostics is the number of answers not taken as they were given. The constraints
/// handed on are the answers as they are taken at last. Given constraints are taken to be right.
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

#[plugin("ncobras", cites = ["Soenen2020", "VanCraenendonck2018", "HopcroftTarjan1973", "BradleyFayyad1998"])]
impl QuerySelector for Ncobras {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        let doubts = Doubts::new(problem, self.doubting.clone());
        begin(&self.cobras, problem, Some(doubts), ctx)
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
