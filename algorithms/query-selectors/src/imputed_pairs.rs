//! Pairs that an ensemble has already decided.

use std::collections::HashSet;

use mustlink_core::prelude::*;
use mustlink_kernels::ensemble::co_association::CoAssociation;
use mustlink_kernels::ensemble::imputation::Thresholds;

use crate::parts::pair_list::{PairList, along};

/// Pairs that are asked.
#[options]
pub enum Side {
    /// Pairs that the ensemble decides: imputed must-links and cannot-links.
    #[default]
    Imputed,
    /// Pairs that the ensemble leaves open.
    NotImputed,
}

/// Random pairs that an ensemble decides by itself, or random pairs that it leaves open.
///
/// # Method
/// Uniform pairs of eligible objects are drawn without replacement until `pairs` are kept. With `imputed`, a pair is
/// kept if nearly all or nearly none of the members put it together; with `not_imputed`, if neither is the case. They
/// are asked in the order drawn; the opinion of the ensemble about them is not shown.
/// # Input and output
/// The input of the generator, dense or sparse rows. One batch of pairs; all are asked.
/// # Errors
/// The errors of the generator; `BadParam` for thresholds.
/// # Cost and randomness
/// The ensemble and O(τ) for each pair drawn, at most 1000 draws for each pair wanted. Random in the ensemble and the
/// draws.
/// # References
/// Figure 2 of [Greene2007], which uses only correctly imputed pairs: `correct_only`. Without it wrongly imputed
/// pairs are included, with their true reply.
#[options]
pub struct ImputedPairs {
    /// Generator that makes the ensemble.
    #[option(slot = "subsample")]
    pub generator: Option<Box<dyn EnsembleGenerator>>,
    /// Pairs that are asked.
    pub side: Side,
    /// Retract every reply that the ensemble contradicts: it counts as a question and gives no constraint. For
    /// experiments, where replies are known; without effect on `not_imputed`.
    pub correct_only: bool,
    /// Maximum number of pairs.
    #[option(default = 1000, min = 0)]
    pub pairs: usize,
    /// Smallest share of members joining a pair for an imputed must-link (κ_m).
    #[option(default = 0.98, min = 0.0, max = 1.0)]
    pub kappa_must: f64,
    /// Largest share of members joining a pair for an imputed cannot-link (κ_c).
    #[option(min = 0.0, max = 1.0)]
    pub kappa_cannot: f64,
}

/// Draws for each pair wanted before the search is given up.
const PATIENCE: usize = 1000;

#[plugin("imputed_pairs", cites = ["Greene2007"])]
impl QuerySelector for ImputedPairs {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        let generator = self.generator()?;
        let ensemble = ctx.ensemble_labels(&**generator, problem).map_err(|e| e.at("generator"))?;
        let thresholds = Thresholds::new(self.kappa_must, self.kappa_cannot, ensemble.len())?;
        let co = CoAssociation::implicit(&ensemble);
        let eligible = problem.eligible_objects();
        let m = eligible.len();
        let all = m * m.saturating_sub(1) / 2;
        let mut draw = ctx.stream("pairs");
        let mut drawn = HashSet::new();
        let (mut pairs, mut imputed) = (Vec::new(), Vec::new());
        for _ in 0..self.pairs.min(all).saturating_mul(PATIENCE) {
            if pairs.len() == self.pairs || drawn.len() == all {
                break;
            }
            ctx.check()?;
            let (a, b) = (draw.below(m), draw.below(m));
            if a == b || !drawn.insert((a.min(b), a.max(b))) {
                continue;
            }
            let (i, j) = (eligible[a.min(b)], eligible[a.max(b)]);
            let (x, y) = (i as usize, j as usize);
            let decided = thresholds.judge(co.count(x, y), co.joint(x, y));
            if decided.is_some() == (self.side == Side::Imputed) {
                pairs.push((i, j));
                imputed.push(decided);
            }
        }
        let asked = PairList::start(problem, pairs, false, "imputed");
        if self.correct_only {
            Ok(Box::new(CorrectOnly { asked, imputed, taken_back: Vec::new() }))
        } else {
            Ok(asked)
        }
    }

    fn properties(&self) -> SelectorProperties {
        along(self.generator(), false)
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let generator = self.generator();
        generator.map_or(0, |g| 2 * g.memory(shape, true)) + 64 * self.pairs as u64
    }
}

/// Pairs asked one after another, of which those stay that an ensemble judges correctly.
struct CorrectOnly {
    asked: Box<dyn Inquiry>,
    /// Opinion of the ensemble about each pair: queries are numbered in their order.
    imputed: Vec<Option<Kind>>,
    taken_back: Vec<Event>,
}

impl Inquiry for CorrectOnly {
    fn step(&mut self) -> Result<Step> {
        self.asked.step()
    }

    fn tell(&mut self, id: QueryId, reply: Reply) -> Result<()> {
        self.asked.tell(id, reply)?;
        let wrong = matches!(
            (self.imputed[id as usize], reply),
            (Some(Kind::MustLink), Reply::CannotLink) | (Some(Kind::CannotLink), Reply::MustLink)
        );
        if wrong {
            self.taken_back.push(Event::Retracted { id });
        }
        Ok(())
    }

    fn drain(&mut self) -> Vec<Event> {
        let mut events = self.asked.drain();
        events.append(&mut self.taken_back);
        events
    }
}
