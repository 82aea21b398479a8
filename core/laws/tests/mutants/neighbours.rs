//! Components of near objects: a clusterer that finds k by itself and has a length.

use mustlink_core::prelude::*;
use mustlink_core::union_find::UnionFind;
use serde_json::json;

use crate::shared::Mutant;

const ROUNDS: &str = "keeps equal rows apart by rounding";
const DIGITS: &str = "keeps twelve digits of the largest distance";

/// Objects not farther apart than a length are together.
#[options]
pub struct FlawedNeighbours {
    /// Name of the flaw.
    pub flaw: String,
    /// The length; absent: the mean distance to the mean.
    #[option(min = 0.0, units = 1)]
    pub length: Option<f64>,
}

pub fn mutants() -> Vec<Mutant> {
    let mutant = |(flaw, law): (&str, &'static str)| {
        let config = json!({ "type": "flawed_neighbours", "flaw": flaw });
        Mutant { config, law }
    };
    let flaws = [(ROUNDS, "equal_rows_are_near"), (DIGITS, "far_objects_change_no_cluster")];
    flaws.map(mutant).into()
}

#[plugin("flawed_neighbours")]
impl BaseClusterer for FlawedNeighbours {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let n = problem.n();
        let x = problem.data.to_dense();
        let mean = x.mean_axis(ndarray::Axis(0)).expect("objects");
        let distance = |a: ndarray::ArrayView1<'_, f64>, b: ndarray::ArrayView1<'_, f64>| {
            (&a - &b).mapv(|v| v * v).sum().sqrt()
        };
        let off: Vec<f64> = (0..n).map(|i| distance(x.row(i), mean.view())).collect();
        let spread = off.iter().sum::<f64>() / n as f64;
        let unit = 1e-12 * off.iter().fold(f64::MIN_POSITIVE, |most, v| v.max(most));
        let kept = |d: f64| if self.flaw == DIGITS { (d / unit).round() * unit } else { d };
        let length = self.length.unwrap_or(spread);
        let rounding = if self.flaw == ROUNDS { 1e-6 } else { 0.0 };
        let mut groups = UnionFind::new(n);
        for i in 0..n {
            ctx.check()?;
            for j in 0..i {
                if kept(distance(x.row(i), x.row(j))) + rounding <= length {
                    groups.union(i as u32, j as u32);
                }
            }
        }
        let roots: Vec<u32> = (0..n as u32).map(|i| groups.find(i)).collect();
        let (labels, k) = mustlink_core::clustering::compact(&roots);
        Ok(Clustering { labels, k, ..Clustering::default() })
    }

    fn properties(&self) -> Properties {
        Properties { needs_k: false, ..Properties::default() }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        // Long on many objects: no linear memory, not tried on thousands.
        (8 * shape.entries + 8 * shape.n * shape.n) as u64
    }
}
