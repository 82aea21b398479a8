//! The split of all vertices in two with the smallest cut that keeps the constraints.

use mustlink_core::prelude::*;

use super::one_spectral::Descent;
use super::reduced::Reduced;
use super::starts::{eigenvector, keeping, obeying, random};
use super::two_way::{Side, TwoWay, spread};

/// Smallest weight of a cannot-link, in units of the heaviest and of the heaviest edge. γ is raised until
/// the lightest holds; below this weight, rounding would hide the cut behind the other terms.
const LIGHTEST: f64 = 1e-12;

/// Search for two clusters.
pub(super) struct TwoClusters {
    pub(super) starts: usize,
    /// Largest number of inner iterations of a step.
    pub(super) inner_max: usize,
    /// Cost of a broken cannot-link; absent: raised until all of them hold.
    pub(super) gamma: Option<f64>,
    /// Start again from perturbed solutions.
    pub(super) perturb: bool,
}

/// A split of all vertices in two.
pub(super) struct Best {
    /// Score for comparison: smaller is better.
    score: f64,
    pub(super) inside: Vec<bool>,
    /// Point at which the descent that found it ended.
    f: Vec<f64>,
    pub(super) gamma: f64,
}

impl TwoClusters {
    /// The best split for this γ, or for the smallest that breaks no cannot-link.
    ///
    /// # Errors
    /// `BadParam` for weights too far apart; `NumericalFailure` where no start leads to a split;
    /// cancellation.
    pub(super) fn search(&self, reduced: &Reduced, ctx: &Context) -> Result<Best> {
        if self.gamma.is_none() {
            check_weights(&reduced.apart)?;
        }
        let all: Vec<u32> = (0..reduced.n() as u32).collect();
        let (two, graph) = reduced.two_way(&all);
        let inner_max = self.inner_max;
        let second = eigenvector(&graph, &reduced.mass, ctx)?;
        let feasible = keeping(&two, &second);
        let mut points: Vec<Descent> = vec![second.into()];
        for t in 1..self.starts {
            ctx.check()?;
            let mut stream = ctx.index(t).stream("start");
            let start = if t == 1 && !two.apart().is_empty() {
                obeying(&two, &graph, &reduced.mass, random(two.n(), &mut stream), ctx)?
            } else {
                random(two.n(), &mut stream)
            };
            points.push(start.into());
        }
        if let Some(gamma) = self.gamma {
            let mut best = None;
            stage(&two, &mut points, gamma, inner_max, &mut best, |side, _| Some(side.value), ctx)?;
            return self.perturbed(&two, best, |side, _| Some(side.value), ctx);
        }
        // Among sets that break nothing the cut decides.
        let score = |side: &Side, two: &TwoWay| {
            (two.violated(&side.inside).0 == 0).then(|| two.set_value(&side.inside, 0.0))
        };
        let mut best: Option<Best> = None;
        if !two.apart().is_empty() {
            // A set that breaks nothing is always among the starts, so one is always found.
            let f: Vec<f64> = feasible.iter().map(|&s| f64::from(u8::from(s))).collect();
            let value = two.set_value(&feasible, 0.0);
            best = Some(Best { score: value, inside: feasible, f: f.clone(), gamma: 0.0 });
            points.push(f.into());
        }
        if !stage(&two, &mut points, 0.0, inner_max, &mut best, score, ctx)? {
            // From here on every set below the cut of a set that breaks nothing breaks nothing.
            let lightest = two.apart().iter().map(|c| c.2).fold(f64::INFINITY, f64::min);
            let known = best.as_ref().map_or(f64::INFINITY, |b| b.score);
            let cap = 2.0 * known * reduced.mass.iter().sum::<f64>() / 4.0 / lightest;
            let (mut low, mut high) = (0.0, cap.min(0.2));
            while !stage(&two, &mut points, high, inner_max, &mut best, score, ctx)? && high < cap {
                (low, high) = (high, (2.0 * high).min(cap));
            }
            while (high - low) / high >= 0.01 {
                let middle = f64::midpoint(low, high);
                if stage(&two, &mut points, middle, inner_max, &mut best, score, ctx)? {
                    high = middle;
                } else {
                    low = middle;
                }
            }
        }
        self.perturbed(&two, best, score, ctx)
    }

    /// Starts again near the best solution, as long as that helps now and then.
    fn perturbed(
        &self,
        two: &TwoWay,
        best: Option<Best>,
        score: impl Fn(&Side, &TwoWay) -> Option<f64> + Sync,
        ctx: &Context,
    ) -> Result<Best> {
        let Some(mut best) = best else {
            return Err(Error::NumericalFailure {
                place: "cosc: no start leads to a split".into(),
            });
        };
        if !self.perturb {
            return Ok(best);
        }
        let mut failures = 0;
        for t in 0..10 {
            let mut stream = ctx.index(t).stream("perturb");
            let by = (0.001 + 0.01 * t as f64) * spread(&best.f);
            let f: Vec<f64> = best.f.iter().map(|v| v + by * stream.normal()).collect();
            let mut at: Descent = f.into();
            two.descend(&mut at, best.gamma, self.inner_max, ctx)?;
            let f = at.f;
            let side = two.threshold(&f, best.gamma);
            match score(&side, two).filter(|s| *s < best.score * (1.0 - 1e-12)) {
                Some(score) => {
                    best = Best { score, inside: side.inside, f, gamma: best.gamma };
                }
                None => failures += 1,
            }
            if failures == 5 {
                break;
            }
        }
        Ok(best)
    }
}

/// Checks that one γ can make all cannot-links hold.
fn check_weights(apart: &[(u32, u32, f64)]) -> Result<()> {
    let weights = || apart.iter().map(|c| c.2);
    let lightest = weights().fold(f64::INFINITY, f64::min);
    let heaviest = weights().fold(1.0, f64::max);
    if lightest >= LIGHTEST * heaviest {
        return Ok(());
    }
    let value = format!("weights of cannot-links from {lightest:e} to {heaviest:e}");
    let legal = format!(
        "at least {LIGHTEST:e}, and at least {LIGHTEST:e} of the heaviest cannot-link, unless gamma is given"
    );
    Err(Error::bad_param("constraints", value, legal))
}

/// One value of γ: continues every start and keeps the best set seen, where it has a score. Returns
/// whether the set of smallest F̂ has one.
fn stage(
    two: &TwoWay,
    points: &mut [Descent],
    gamma: f64,
    inner_max: usize,
    best: &mut Option<Best>,
    score: impl Fn(&Side, &TwoWay) -> Option<f64>,
    ctx: &Context,
) -> Result<bool> {
    let sides = two.descend_all(points, gamma, inner_max, ctx)?;
    let mut lowest = (f64::INFINITY, false);
    for (side, Descent { f, .. }) in sides.into_iter().zip(points.iter()) {
        let score = score(&side, two).filter(|s| s.is_finite());
        if side.value < lowest.0 || (side.value == lowest.0 && score.is_some()) {
            lowest = (side.value, score.is_some());
        }
        if let Some(score) = score.filter(|s| best.as_ref().is_none_or(|b| *s < b.score)) {
            *best = Some(Best { score, inside: side.inside, f: f.clone(), gamma });
        }
    }
    Ok(lowest.1)
}
