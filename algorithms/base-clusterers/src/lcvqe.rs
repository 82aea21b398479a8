//! LCVQE: every broken constraint pulls a centre towards an object.

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::{Distortion, Points, row, row_norms};
use mustlink_kernels::kmeans::lloyd::{Empty, PenaltyTerm, refill, total_distortion};
use mustlink_kernels::kmeans::means::means;
use mustlink_kernels::kmeans::nearest::assign::assign;
use ndarray::Array2;

use crate::parts::starts::Starts;

/// Linear constrained vector quantisation error: k-means in which a broken constraint costs a distance.
///
/// # Method
/// Every object joins its nearest centre. Then the must-links are treated in order. If the ends of a must-link are in
/// clusters with centres c_i and c_j, the cheapest of three choices is taken. Either it stays broken, at ½ w (D(x_i,
/// c_j) + D(x_j, c_i)), or both ends join one of the two clusters. Then the cannot-links are treated. If both ends
/// are together, the farther end goes to its nearest other centre, or it stays, at w D to that centre. A centre is
/// the mean of its objects and, with weights ½ w and w, of the ends of broken constraints that should be there. The
/// result is the sweep of smallest objective Σ D(x, c) + costs, which is twice the objective of the paper; it need
/// not fall with every sweep. Constraints are used as given: they are not closed, so that a wrong one misleads few
/// objects.
/// # Input and output
/// n × d, dense or sparse, squared Euclidean; constraints of any weight (the paper's: 1, at which a cannot-link
/// always separates its ends). One label per object in `0..k`, k centres.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `HardNotSupported` for constraints marked hard.
/// # Cost and randomness
/// O(sweeps · (n·k·d + constraints · k·d)); random only in the first centres.
/// # References
/// [PellegBaras2007] §3.
#[options]
pub struct Lcvqe {
    /// Number of clusters, at most n. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Options shared by methods that take Lloyd's steps.
    #[option(flatten)]
    pub starts: Starts,
    /// Treatment of a cluster that has no objects.
    #[option(default = Empty::Reseed)]
    pub empty: Empty,
}

#[plugin("lcvqe", cites = ["PellegBaras2007"], version = 2)]
impl BaseClusterer for Lcvqe {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let k = problem.require_k(self.k, "lcvqe")?;
        let points = Points::new(&problem.data, Distortion::SquaredEuclidean)?;
        self.starts.best(&points, k, problem, ctx, |centres, ctx| {
            self.sweeps(&points, problem.constraints.pairs(), centres, ctx)
        })
    }

    fn properties(&self) -> Properties {
        Properties {
            accepts: vec![DataKind::Dense, DataKind::Csr],
            needs_k: self.k.is_none(),
            reads_constraints: true,
            soft_weights: true,
            gives_centers: true,
            ..Properties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let Shape { n, d, constraints, .. } = *shape;
        let k = self.k.unwrap_or(shape.k);
        let at_once = self.starts.restarts.min(reduce::WAVE);
        (at_once * (24 * n + 32 * constraints + 40 * k * d)) as u64
    }
}

/// An end of a broken constraint that was to be in cluster `to`, and pulls its centre with this weight.
struct Pull {
    object: usize,
    to: usize,
    weight: f64,
}

/// Clusters whose centres ends of broken constraints pull: without objects they have a place, too.
struct Pulled<'a>(&'a [bool]);

impl PenaltyTerm for Pulled<'_> {
    fn rise(&mut self, _: usize, to: u32, _: &[u32]) -> f64 {
        if self.0[to as usize] { f64::INFINITY } else { 0.0 }
    }
    fn moved(&mut self, _: usize, _: u32, _: u32) {}
}

impl Lcvqe {
    fn sweeps(
        &self,
        points: &Points,
        constraints: &[Constraint],
        mut centres: Array2<f64>,
        ctx: &Context,
    ) -> Result<Clustering> {
        let stop = self.starts.stop();
        let (n, k) = (points.n(), centres.nrows());
        let mut labels = vec![0; n];
        let mut history: Vec<IterStat> = Vec::new();
        let mut best: Option<(f64, Vec<u32>, Array2<f64>)> = None;
        let mut status = Status::MaxIter;
        for _ in 0..stop.max_iterations {
            ctx.check()?;
            let before = labels.clone();
            assign(points, &centres, &mut labels, None);
            let pulls = settle(points, &centres, constraints, &mut labels);
            let sizes;
            (centres, sizes) = means(points, &labels, centres);
            pull(points, &pulls, &sizes, &mut centres);
            let mut pulled = vec![false; k];
            pulls.iter().for_each(|p| pulled[p.to] |= p.weight > 0.0);
            if (0..k).any(|h| sizes[h] == 0 && !pulled[h])
                && refill(points, &mut labels, &mut centres, self.empty, &mut Pulled(&pulled))? > 0
            {
                // The clusters that gave objects away are pulled as before.
                let sizes;
                (centres, sizes) = means(points, &labels, centres);
                pull(points, &pulls, &sizes, &mut centres);
            }
            let norms = row_norms(&centres);
            let cost =
                |p: &Pull| p.weight * points.distance(p.object, row(&centres, p.to), norms[p.to]);
            let costs: f64 = pulls.iter().map(cost).sum();
            let objective = total_distortion(points, &labels, &centres) + costs;
            let moved = labels.iter().zip(&before).filter(|(a, b)| a != b).count();
            let violations = constraints.iter().filter(|c| c.is_violated(&labels)).count();
            let last = history.last().map(|s| s.objective);
            history.push(IterStat { objective, moved, violations: Some(violations) });
            if best.as_ref().is_none_or(|(least, ..)| objective < *least) {
                best = Some((objective, labels.clone(), centres.clone()));
            }
            if history.len() > 1 && moved == 0 || last.is_some_and(|l| stop.is_over(l, objective)) {
                status = Status::Converged;
                break;
            }
        }
        let (objective, labels, centres) = best.expect("at least one sweep");
        let extras = Extras { centers: Some(centres), ..Extras::default() };
        Ok(Clustering { labels, k, objective: Some(objective), history, status, extras })
    }
}

/// Decides every constraint by what it costs, one after the other, with the labels as they are then; gives the
/// pulls of those that stay broken.
fn settle(
    points: &Points,
    centres: &Array2<f64>,
    constraints: &[Constraint],
    labels: &mut [u32],
) -> Vec<Pull> {
    let norms = row_norms(centres);
    let k = centres.nrows();
    let distance = |i: usize, h: usize| points.distance(i, row(centres, h), norms[h]);
    let mut pulls = Vec::new();
    let of_kind = |kind: Kind| constraints.iter().filter(move |c| c.kind == kind);
    for c in of_kind(Kind::MustLink) {
        let (a, b) = (c.i as usize, c.j as usize);
        let (ca, cb) = (labels[a] as usize, labels[b] as usize);
        if ca == cb {
            continue;
        }
        let (aa, ab) = (distance(a, ca), distance(a, cb));
        let (ba, bb) = (distance(b, ca), distance(b, cb));
        let weight = 0.5 * c.weight;
        let (apart, with_a, with_b) = (aa + bb + weight * (ab + ba), aa + ba, ab + bb);
        if apart <= with_a && apart <= with_b {
            pulls.push(Pull { object: b, to: ca, weight });
            pulls.push(Pull { object: a, to: cb, weight });
        } else if with_a <= with_b {
            labels[b] = labels[a];
        } else {
            labels[a] = labels[b];
        }
    }
    for c in of_kind(Kind::CannotLink) {
        let (a, b) = (c.i as usize, c.j as usize);
        let own = labels[a] as usize;
        if own != labels[b] as usize || k < 2 {
            continue;
        }
        let far = if distance(b, own) > distance(a, own) { b } else { a };
        let others = (0..k).filter(|&h| h != own).map(|h| (distance(far, h), h));
        // The first of equals.
        let (to_other, other) = others
            .min_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)))
            .expect("there are two clusters");
        if distance(far, own) + c.weight * to_other < to_other {
            pulls.push(Pull { object: far, to: other, weight: c.weight });
        } else {
            labels[far] = other as u32;
        }
    }
    pulls
}

/// Moves the means of `sizes` objects to those of the pulls as well.
fn pull(points: &Points, pulls: &[Pull], sizes: &[usize], centres: &mut Array2<f64>) {
    let mut weights: Vec<f64> = sizes.iter().map(|&s| s as f64).collect();
    for p in pulls.iter().filter(|p| p.weight > 0.0) {
        let total = weights[p.to] + p.weight;
        // A running mean: nothing cancels, wherever the origin is.
        let share = p.weight / total;
        let mut centre = centres.row_mut(p.to);
        centre *= 1.0 - share;
        let to = centre.as_slice_mut().expect("standard layout");
        points.data().row(p.object).add_to(to, share);
        weights[p.to] = total;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kmeans::KMeans;
    use mustlink_kernels::kmeans::seeding::Init;
    use mustlink_laws::fixtures;
    use ndarray::array;
    use proptest::prelude::*;

    fn run(method: &Lcvqe, problem: &Problem, seed: u64) -> Clustering {
        method.cluster(problem, &Context::new(seed)).unwrap()
    }

    fn line(x: &[f64], pairs: Vec<Constraint>, centres: Array2<f64>) -> Problem {
        let data = Data::dense(Array2::from_shape_vec((x.len(), 1), x.to_vec()).unwrap()).unwrap();
        Problem::new(data)
            .with_k(centres.nrows())
            .with_constraints(Constraints::new(x.len(), pairs).unwrap())
            .with_start(Start::Centroids(centres))
    }

    /// One sweep from the given centres.
    fn once() -> Lcvqe {
        Lcvqe {
            starts: Starts { init: Init::Given, max_iterations: 1, ..Starts::default() },
            ..Lcvqe::default()
        }
    }

    #[test]
    fn worked_example_of_a_must_link() {
        // Centres 0 and 10; 1 and 6 must be together. Apart: 1 + 16 + ½ (81 + 36) = 75.5; both at 0: 37; both
        // at 10: 97. So 6 goes to 0.
        let p = line(&[0.0, 1.0, 6.0, 10.0], vec![Constraint::must(1, 2)], array![[0.0], [10.0]]);
        assert_eq!(run(&once(), &p, 1).labels, [0, 0, 0, 1]);
        // 0 and 10: ½ (100 + 100) for the broken link, 100 for either both: it stays broken, and the ends pull: (0 +
        // 1 + ½ 10) / 2.5 and (6 + 10 + ½ 0) / 2.5.
        let p = line(&[0.0, 1.0, 6.0, 10.0], vec![Constraint::must(0, 3)], array![[0.0], [10.0]]);
        let c = run(&once(), &p, 1);
        assert_eq!(c.labels, [0, 0, 1, 1]);
        let centres = c.extras.centers.unwrap();
        assert!((centres[[0, 0]] - 2.4).abs() < 1e-12 && (centres[[1, 0]] - 6.4).abs() < 1e-12);
        // Σ D: 2.4² + 1.4² + .4² + 3.6², and ½ of 7.6² + 6.4².
        let objective = 5.76 + 1.96 + 0.16 + 12.96 + 0.5 * (57.76 + 40.96);
        assert!((c.objective.unwrap() - objective).abs() < 1e-9, "{:?}", c.objective);
    }

    #[test]
    fn worked_example_of_a_cannot_link() {
        // 0 and 1 both belong to centre 0; 1 is the farther one and goes to 10.
        let x = [0.0, 1.0, 10.0];
        let p = line(&x, vec![Constraint::cannot(0, 1)], array![[0.0], [10.0]]);
        assert_eq!(run(&once(), &p, 1).labels, [0, 1, 1]);
        // At a tenth of the weight it stays, 1 + 8.1 against 81, and pulls the other centre: (10 + .1) / 1.1.
        let p = line(&x, vec![Constraint::cannot(0, 1).weighing(0.1)], array![[0.0], [10.0]]);
        let c = run(&once(), &p, 1);
        assert_eq!(c.labels, [0, 0, 1]);
        assert!((c.extras.centers.unwrap()[[1, 0]] - 10.1 / 1.1).abs() < 1e-12);
    }

    #[test]
    fn a_cluster_that_gives_an_object_away_is_pulled_as_before() {
        // 1 and 9 stay apart, at 8.9 against 72.5, and pull: centres 1.45 / 2.05 and 35.05 / 3.05. Nothing is
        // nearest to the third, which takes 16; what is left of the second is 9 and 10, and still the end at 1.
        let x = [0.0, 1.0, 9.0, 10.0, 16.0];
        let broken = vec![Constraint::must(1, 2).weighing(0.1)];
        let p = line(&x, broken, array![[0.5], [10.0], [1000.0]]);
        let c = run(&once(), &p, 1);
        assert_eq!(c.labels, [0, 0, 1, 1, 2]);
        let centres = c.extras.centers.unwrap();
        for (h, expected) in [1.45 / 2.05, 19.05 / 2.05, 16.0].into_iter().enumerate() {
            assert!((centres[[h, 0]] - expected).abs() < 1e-12, "{centres}");
        }
    }

    proptest! {
        #[test]
        fn without_constraints_it_is_kmeans(seed: u64) {
            let (p, _) = fixtures::dense(seed);
            let p = p.with_constraints(Constraints::new(45, []).unwrap());
            let kmeans = KMeans { max_iterations: 100, ..KMeans::default() };
            let plain = kmeans.cluster(&p, &Context::new(seed)).unwrap();
            let found = run(&Lcvqe::default(), &p, seed);
            prop_assert!(found.objective.unwrap() <= plain.objective.unwrap() * (1.0 + 1e-5));
            prop_assert!(plain.objective.unwrap() <= found.objective.unwrap() * (1.0 + 1e-5));
        }

        /// A plain second road: tables of all distances, sums of all rows.
        #[test]
        fn a_sweep_is_that_of_the_paper(seed: u64) {
            let (p, classes) = fixtures::dense(seed);
            let p = p.with_constraints(fixtures::true_constraints(&classes, 30, seed));
            let (x, k) = (p.data.to_dense(), p.k.unwrap());
            let centres = x.select(ndarray::Axis(0), &(0..k).collect::<Vec<_>>());
            let found = run(&once(), &p.clone().with_start(Start::Centroids(centres.clone())), 1);
            let d = Array2::from_shape_fn((p.n(), k), |(i, h)| {
                (&x.row(i) - &centres.row(h)).mapv(|v| v * v).sum()
            });
            let nearest = |i: usize, not: usize| {
                (0..k).filter(|h| *h != not).min_by(|&a, &b| d[[i, a]].total_cmp(&d[[i, b]])).unwrap()
            };
            let mut labels: Vec<usize> = (0..p.n()).map(|i| nearest(i, k)).collect();
            let mut sums = vec![(Array2::zeros((1, x.ncols())), 0.0); k];
            let mut add = |h: usize, i: usize, w: f64| {
                sums[h].0.row_mut(0).scaled_add(w, &x.row(i));
                sums[h].1 += w;
            };
            for c in p.constraints.pairs().iter().filter(|c| c.kind == Kind::MustLink) {
                let (a, b, w) = (c.i as usize, c.j as usize, c.weight);
                let (j, n) = (labels[a], labels[b]);
                if j == n { continue }
                let cases = [
                    d[[a, j]] + d[[b, n]] + 0.5 * w * (d[[a, n]] + d[[b, j]]),
                    d[[a, j]] + d[[b, j]],
                    d[[a, n]] + d[[b, n]],
                ];
                let least = (0..3).min_by(|&a, &b| cases[a].total_cmp(&cases[b])).unwrap();
                match least {
                    0 => { add(j, b, 0.5 * w); add(n, a, 0.5 * w) }
                    1 => labels[b] = j,
                    _ => labels[a] = n,
                }
            }
            for c in p.constraints.pairs().iter().filter(|c| c.kind == Kind::CannotLink) {
                let (a, b) = (c.i as usize, c.j as usize);
                let j = labels[a];
                if j != labels[b] || k < 2 { continue }
                let far = if d[[b, j]] > d[[a, j]] { b } else { a };
                let to = nearest(far, j);
                if d[[far, j]] + c.weight * d[[far, to]] < d[[far, to]] {
                    add(to, far, c.weight);
                } else {
                    labels[far] = to;
                }
            }
            for (i, &h) in labels.iter().enumerate() { add(h, i, 1.0) }
            prop_assume!(sums.iter().all(|s| s.1 > 0.0));
            let theirs: Vec<u32> = labels.iter().map(|&l| l as u32).collect();
            prop_assert_eq!(&found.labels, &theirs);
            let ours = found.extras.centers.unwrap();
            for (h, (sum, weight)) in sums.iter().enumerate() {
                for c in 0..x.ncols() {
                    prop_assert!((ours[[h, c]] - sum[[0, c]] / weight).abs() < 1e-9);
                }
            }
        }
    }
}
