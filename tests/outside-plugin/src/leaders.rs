//! A consensus around the k objects that the members of an ensemble separate most.

use mustlink::clustering::NONE;
use mustlink::prelude::*;

/// K objects on which the members disagree most lead a cluster each; the others join the nearest leader.
///
/// # Method
/// Two objects are as far apart as the weights of the members that part them add up to. The first object
/// leads; then always the one farthest from all that lead, until there are k.
/// # Input and output
/// Any members; an object without a label in a member is not parted from others by it. One label per object in `0..k`.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`.
/// # Cost and randomness
/// O(n·k·members); nothing random. Ties: the first object, the first leader.
#[options]
pub struct Leaders {}

#[plugin("leaders")]
impl ConsensusFunction for Leaders {
    fn combine(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let (n, k) = (ensemble.n(), problem.require_k(None, "leaders")?);
        let apart = |i: usize, j: usize| {
            let parts = |m: &&Member| {
                let (a, b) = (m.labels[i], m.labels[j]);
                a != b && a != NONE && b != NONE
            };
            ensemble.members().iter().filter(parts).map(|m| m.weight).sum::<f64>()
        };
        let mut nearest = vec![f64::INFINITY; n];
        let (mut labels, mut leads) = (vec![0; n], vec![false; n]);
        let mut leader = 0;
        for h in 0..k {
            ctx.check()?;
            leads[leader] = true;
            for i in 0..n {
                let distance = apart(i, leader);
                if i == leader || (!leads[i] && distance < nearest[i]) {
                    (nearest[i], labels[i]) = (distance, h as u32);
                }
            }
            let mut next: Option<usize> = None;
            for i in (0..n).filter(|&i| !leads[i]) {
                if next.is_none_or(|best| nearest[i] > nearest[best]) {
                    next = Some(i);
                }
            }
            leader = next.unwrap_or(leader);
        }
        Ok(Clustering { labels, k, ..Clustering::default() })
    }

    fn needs(&self) -> Needs {
        Needs { labels_only: true, ..Needs::default() }
    }

    fn memory(&self, shape: &Shape, _members: usize) -> u64 {
        (16 * shape.n) as u64
    }
}
