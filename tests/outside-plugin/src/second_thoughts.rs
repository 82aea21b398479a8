//! Objects that leave their cluster if every broken constraint has a price.

use mustlink::prelude::*;

/// The clusters of another clusterer, which objects leave if their constraints make it cheaper.
///
/// # Method
/// Objects are visited in order, until nothing changes; each chooses the cluster of the smallest squared
/// distance to the centre plus the price of the constraints that would be broken there. The centres
/// stay where they were.
/// # Input and output
/// Dense data, constraints of any weight. One label per object in `0..k`.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; the errors of the other clusterer.
/// # Cost and randomness
/// O(n·k·d) and a few sweeps; random only in the other clusterer.
#[options]
pub struct SecondThoughts {
    /// Clusterer of the first round.
    #[option(slot = "kmeans")]
    pub clusterer: Option<Box<dyn BaseClusterer>>,
    /// Price of a broken constraint of weight 1, or "auto": twice the mean squared distance of an object
    /// to its centre.
    #[option(default = AutoOr::Auto, min = 0.0, units = 2)]
    pub price: AutoOr<f64>,
}

#[plugin("second_thoughts")]
impl BaseClusterer for SecondThoughts {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let (n, k) = (problem.n(), problem.require_k(None, "second_thoughts")?);
        let unconstrained = problem.clone().with_constraints(Constraints::default());
        let first = self.clusterer()?.cluster(&unconstrained, &ctx.child("clusterer"))?;
        let far = distances(&problem.data, &first.labels, k);
        let mut labels = first.labels;
        let own: f64 = labels.iter().zip(&far).map(|(&h, row)| row[h as usize]).sum();
        let price = self.price.or_find(|| 2.0 * own / n as f64);

        let mut of = vec![Vec::new(); n];
        for c in problem.constraints.pairs() {
            of[c.i as usize].push((c.j as usize, c));
            of[c.j as usize].push((c.i as usize, c));
        }
        loop {
            ctx.check()?;
            let mut moved = false;
            for i in 0..n {
                let cost = |h: u32, labels: &[u32]| {
                    let broken = |&&(j, c): &&(usize, &Constraint)| {
                        (labels[j] == h) == (c.kind == Kind::CannotLink)
                    };
                    let weights = of[i].iter().filter(broken).map(|(_, c)| c.weight);
                    far[i][h as usize] + price * weights.sum::<f64>()
                };
                // Only for less: of equal costs the present one stays, so that sweeps come to an end.
                let mut best = (cost(labels[i], &labels), labels[i]);
                for h in 0..k as u32 {
                    let there = cost(h, &labels);
                    if there < best.0 {
                        best = (there, h);
                    }
                }
                moved |= best.1 != labels[i];
                labels[i] = best.1;
            }
            if !moved {
                return Ok(Clustering { labels, k, ..Clustering::default() });
            }
        }
    }

    fn properties(&self) -> Properties {
        Properties { reads_constraints: true, soft_weights: true, ..Properties::default() }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let held = self.clusterer().map_or(0, |c| c.memory(shape));
        held + (8 * shape.k * (shape.n + shape.d) + 64 * shape.n) as u64
    }
}

/// Squared distance of every object to the mean of every cluster; to one without objects: infinite.
fn distances(data: &Data, labels: &[u32], k: usize) -> Vec<Vec<f64>> {
    let (mut means, mut sizes) = (vec![vec![0.0; data.d()]; k], vec![0.0; k]);
    for (i, &h) in labels.iter().enumerate() {
        data.row(i).add_to(&mut means[h as usize], 1.0);
        sizes[h as usize] += 1.0;
    }
    for (mean, size) in means.iter_mut().zip(&sizes) {
        mean.iter_mut().for_each(|x| *x /= size);
    }
    let distance = |i: usize, h: usize| {
        if sizes[h] > 0.0 {
            data.row(i).squared_distance(&Row::Dense(&means[h]))
        } else {
            f64::INFINITY
        }
    };
    (0..data.n()).map(|i| (0..k).map(|h| distance(i, h)).collect()).collect()
}
