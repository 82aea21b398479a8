//! The number of clusters by four criteria, each with its own idea of a cluster.
//!
//! All look at the same clusterings: of all objects of a sample, and of random halves of it and more. What
//! they choose need not agree; where they do not, the data have no one answer.

use mustlink_core::prelude::*;
use mustlink_core::{registry, run};
use mustlink_kernels::agreement::contingency::adjusted_rand;
use mustlink_kernels::ensemble::co_association::CoAssociation;
use mustlink_kernels::ensemble::consensus_matrix::Distribution;
use mustlink_kernels::symmetric_eigen::symmetric_eigen;
use ndarray::{Array1, Array2, Axis};
use rayon::prelude::*;
use serde::Serialize;

/// Numbers of clusters to try, and the effort for each.
#[derive(Debug, Clone, PartialEq)]
pub struct Tries {
    /// Smallest number of clusters, ≥ 2.
    pub from: usize,
    /// Largest; absent: 8 more, or as many as a subsample has objects.
    pub to: Option<usize>,
    /// Subsamples for stability and consensus, and reference data sets of the gap, ≥ 2.
    pub draws: usize,
    /// Share of the objects in a subsample.
    pub share: f64,
    /// Largest number of objects; if there are more, a sample is drawn.
    pub objects: usize,
}

impl Default for Tries {
    fn default() -> Self {
        Tries { from: 2, to: None, draws: 20, share: 0.8, objects: 3000 }
    }
}

/// Values of the criteria for one number of clusters.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Criteria {
    /// Number of clusters asked for; 1 is one cluster of all objects.
    pub k: usize,
    /// Sum of squared distances to the means of the clusters. Of dense data.
    pub within: Option<f64>,
    /// Mean silhouette (Rousseeuw 1987), larger is better.
    pub silhouette: Option<f64>,
    /// Gap: mean log of `within` of uniform data less that of the data (Tibshirani et al. 2001). Of dense
    /// data.
    pub gap: Option<f64>,
    /// Standard error of the gap, that of drawing included.
    pub gap_error: Option<f64>,
    /// Mean adjusted Rand index of two subsamples on their common objects (Ben-Hur et al. 2002), larger is
    /// better.
    pub stability: Option<f64>,
    /// PAC of the subsamples (Monti et al. 2003; Șenbabaoğlu et al. 2014): the share of pairs that more than .1 and
    /// fewer than .9 of the subsamples with both objects put together. Smaller is better.
    pub ambiguous: Option<f64>,
}

/// Numbers of clusters that the criteria choose, with all values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Selected {
    /// Objects that were used.
    pub objects: usize,
    /// From one cluster on, in order.
    pub found: Vec<Criteria>,
    /// The number with the largest silhouette.
    pub silhouette: Option<usize>,
    /// The smallest number whose gap is at least the next gap less its standard error; 1 where the data
    /// show no clusters, absent where no number of the range is enough.
    pub gap: Option<usize>,
    /// The number with the largest stability.
    pub stability: Option<usize>,
    /// The number with the fewest ambiguous pairs.
    pub consensus: Option<usize>,
}

/// Looks for the number of clusters of `problem`, whose own k and constraints are not read.
///
/// O((draws + references) · numbers) runs of `clusterer` on at most `objects` objects; as many references are held
/// at a time as there are threads.
///
/// # Errors
/// `BadParam` for a range without numbers or beyond the objects of a subsample, and for fewer than two objects; `Data`
/// if all objects are identical; the errors of the clusterer.
pub fn select_k(
    clusterer: &dyn BaseClusterer,
    problem: &Problem,
    tries: &Tries,
    ctx: &Context,
) -> Result<Selected> {
    let rows = sample(problem.n(), tries.objects, ctx);
    let sample = Problem::new(problem.data.subset(&rows));
    let n = sample.n();
    let (drawn, to) = limits(tries, n)?;
    // Every partition is then equally good, and stable if a method breaks ties in one way.
    if (1..n).all(|i| sample.data.row(i) == sample.data.row(0)) {
        let message = format!("all {n} objects are identical, so they are 1 cluster");
        return Err(Error::Data { place: "data".into(), message });
    }
    // Before the references are drawn, whose values are those of nobody's data.
    run::check_magnitude(&sample.data)?;
    let subsamples: Vec<Vec<usize>> = (0..tries.draws)
        .map(|b| {
            let mut rows = ctx.child("subsample").index(b).stream("rows").sample(n, drawn);
            rows.sort_unstable();
            rows
        })
        .collect();
    let ks: Vec<usize> = std::iter::once(1).chain(tries.from..=to).collect();
    let run = |k: usize, data: &Data, name: &str, b: usize| -> Result<Vec<u32>> {
        if k == 1 {
            return Ok(vec![0; data.n()]);
        }
        let problem = Problem::new(data.clone()).with_k(k);
        let ctx = ctx.child("k").index(k).child(name).index(b);
        Ok(run::cluster(clusterer, &problem, &ctx)?.clustering.labels)
    };
    let log = |w: f64| Some(w.ln()).filter(|w| w.is_finite());
    // One after the other: as many as there are threads are in memory, not all of them.
    let references = References::of(&sample.data, ctx)?;
    let expected = |b: usize| -> Result<Vec<Option<f64>>> {
        let Some(references) = &references else { return Ok(Vec::new()) };
        let data = references.draw(b, ctx)?;
        let log_within = |&k: &usize| -> Result<Option<f64>> {
            Ok(within(&data, &run(k, &data, "reference", b)?).and_then(log))
        };
        ks.iter().map(log_within).collect()
    };
    let expected: Vec<Vec<Option<f64>>> =
        (0..tries.draws).into_par_iter().map(expected).collect::<Result<_>>()?;
    let judge = |(place, &k): (usize, &usize)| -> Result<Criteria> {
        let labels = run(k, &sample.data, "all", 0)?;
        let within = within(&sample.data, &labels);
        let expected: Option<Vec<f64>> =
            expected.iter().map(|draw| draw.get(place).copied().flatten()).collect();
        let (gap, gap_error) = gap(within.and_then(log), expected);
        if k == 1 {
            let (silhouette, stability, ambiguous) = (None, None, None);
            return Ok(Criteria { k, within, silhouette, gap, gap_error, stability, ambiguous });
        }
        let parts: Vec<Vec<u32>> = (0..subsamples.len())
            .map(|b| run(k, &sample.data.subset(&subsamples[b]), "subsample", b))
            .collect::<Result<_>>()?;
        Ok(Criteria {
            k,
            within,
            silhouette: silhouette(&sample.data, &labels)?,
            gap,
            gap_error,
            stability: stability(n, &subsamples, &parts),
            ambiguous: ambiguous(n, &subsamples, &parts, &ctx.child("ambiguous").index(k))?,
        })
    };
    let criteria = ks.par_iter().enumerate().map(judge).collect::<Result<Vec<Criteria>>>()?;
    Ok(choose(n, criteria))
}

/// All of `n` objects, or a sample of `most` of them, in order.
pub(crate) fn sample(n: usize, most: usize, ctx: &Context) -> Vec<usize> {
    if n <= most {
        return (0..n).collect();
    }
    let mut rows = ctx.stream("objects").sample(n, most);
    rows.sort_unstable();
    rows
}

/// Number of the `n` objects in a subsample, and the largest number of clusters that is tried.
///
/// # Errors
/// `BadParam`, as [`select_k`].
fn limits(tries: &Tries, n: usize) -> Result<(usize, usize)> {
    let drawn = (tries.share * n as f64).round() as usize;
    if drawn < 2 {
        let legal = "at least 2, that subsamples have two clusters";
        return Err(Error::bad_param("objects", n, legal));
    }
    let to = tries.to.unwrap_or(tries.from.saturating_add(8).min(drawn));
    let ranges = [
        ("from", tries.from, 2, drawn),
        ("to", to, tries.from, drawn),
        ("draws", tries.draws, 2, 10_000),
    ];
    for (name, value, low, high) in ranges {
        if !(low..=high).contains(&value) {
            let whose = if name != "draws" { ", the objects of a subsample" } else { "" };
            let legal = format!("from {low} to {high}{whose}");
            return Err(Error::BadParam { name: name.into(), value: value.to_string(), legal });
        }
    }
    Ok((drawn, to))
}

/// The gap with its standard error, from the log of `within` of the data and those of the references.
fn gap(log_within: Option<f64>, expected: Option<Vec<f64>>) -> (Option<f64>, Option<f64>) {
    let (Some(log_within), Some(logs)) = (log_within, expected) else { return (None, None) };
    let count = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / count;
    let variance = logs.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / count;
    (Some(mean - log_within), Some((variance * (1.0 + 1.0 / count)).sqrt()))
}

/// The first of the best: of equals the smallest number.
fn choose(objects: usize, found: Vec<Criteria>) -> Selected {
    let best = |score: &dyn Fn(&Criteria) -> Option<f64>| {
        let mut best: Option<(f64, usize)> = None;
        for f in &found {
            if let Some(score) = score(f)
                && best.is_none_or(|(most, _)| score > most)
            {
                best = Some((score, f.k));
            }
        }
        best.map(|(_, k)| k)
    };
    // No object lies off its centre: no data without clusters are as tight.
    let references = found.iter().any(|f| f.gap.is_some());
    let gap_of = |f: &Criteria| match f.within {
        Some(0.0) if references => Some(f64::INFINITY),
        _ => f.gap,
    };
    let gap = found.windows(2).find_map(|pair| {
        let [this, next] = pair else { return None };
        let enough = gap_of(this)? >= gap_of(next)? - next.gap_error.unwrap_or(0.0);
        // One cluster and the first number of the range need not be neighbours.
        (enough && next.k == this.k + 1).then_some(this.k)
    });
    let (silhouette, stability) = (best(&|f| f.silhouette), best(&|f| f.stability));
    let consensus = best(&|f| f.ambiguous.map(|share| -share));
    Selected { objects, gap, silhouette, stability, consensus, found }
}

/// Sum of squared distances to the means of the clusters; `None` for other than dense data.
fn within(data: &Data, labels: &[u32]) -> Option<f64> {
    if data.kind() != DataKind::Dense {
        return None;
    }
    let k = labels.iter().max().map_or(0, |&l| l as usize + 1);
    let mut sums = Array2::<f64>::zeros((k, data.d()));
    let mut sizes = vec![0.0; k];
    for (i, &l) in labels.iter().enumerate() {
        let mut row = sums.row_mut(l as usize);
        data.row(i).add_to(row.as_slice_mut().expect("standard layout"), 1.0);
        sizes[l as usize] += 1.0;
    }
    for (mut row, &size) in sums.rows_mut().into_iter().zip(&sizes) {
        row /= f64::max(size, 1.0);
    }
    let squared = |(i, &l): (usize, &u32)| {
        let mean = sums.row(l as usize);
        data.row(i).squared_distance(&Row::Dense(mean.as_slice().expect("standard layout")))
    };
    Some(labels.iter().enumerate().map(squared).sum())
}

/// Uniform data in the box around the objects along their principal axes.
struct References {
    n: usize,
    mean: Array1<f64>,
    axes: Array2<f64>,
    /// The ends of the box along each axis, around the mean.
    ranges: Vec<(f64, f64)>,
}

impl References {
    /// The references of dense data; `None` for other data.
    fn of(data: &Data, ctx: &Context) -> Result<Option<References>> {
        // The axes of thousands of features take longer than all clusterings.
        if data.kind() != DataKind::Dense || data.d() > 1000 {
            return Ok(None);
        }
        let mut x = data.to_dense();
        let mean = x.mean_axis(Axis(0)).expect("there are objects");
        x -= &mean;
        let (_, axes) = symmetric_eigen(x.t().dot(&x), ctx)?;
        let along = x.dot(&axes);
        let range = |column: ndarray::ArrayView1<f64>| {
            column.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| {
                (low.min(v), high.max(v))
            })
        };
        let ranges = along.columns().into_iter().map(range).collect();
        Ok(Some(References { n: data.n(), mean, axes, ranges }))
    }

    /// The one with number `b`.
    fn draw(&self, b: usize, ctx: &Context) -> Result<Data> {
        let mut stream = ctx.child("reference").index(b).stream("uniform");
        let box_ = Array2::from_shape_fn((self.n, self.ranges.len()), |(_, c)| {
            self.ranges[c].0 + stream.unit() * (self.ranges[c].1 - self.ranges[c].0)
        });
        Data::dense((box_.dot(&self.axes.t()) + &self.mean).as_standard_layout().into_owned())
    }
}

fn silhouette(data: &Data, labels: &[u32]) -> Result<Option<f64>> {
    let metric: Box<dyn Metric> = registry::build_default("silhouette")?;
    metric.score(&MetricInput { labels, data: Some(data), ..MetricInput::default() })
}

/// Mean agreement of each subsample with the next, on the objects of both.
fn stability(n: usize, subsamples: &[Vec<usize>], parts: &[Vec<u32>]) -> Option<f64> {
    let spread = |b: usize| {
        let mut labels = vec![NONE; n];
        subsamples[b].iter().zip(&parts[b]).for_each(|(&i, &l)| labels[i] = l);
        labels
    };
    let all: Vec<Vec<u32>> = (0..parts.len()).map(spread).collect();
    let agreement = |b: usize| {
        let (one, other) = (&all[b], &all[(b + 1) % all.len()]);
        let are_labelled = |(a, b): &(&u32, &u32)| **a != NONE && **b != NONE;
        let (one, other): (Vec<u32>, Vec<u32>) = one.iter().zip(other).filter(are_labelled).unzip();
        adjusted_rand(&one, &other)
    };
    let sum: f64 = (0..all.len()).map(agreement).sum();
    let mean = sum / all.len() as f64;
    mean.is_finite().then_some(mean)
}

/// The PAC of the subsamples: the share of pairs that neither nearly all nor nearly none of them put together.
fn ambiguous(
    n: usize,
    subsamples: &[Vec<usize>],
    parts: &[Vec<u32>],
    ctx: &Context,
) -> Result<Option<f64>> {
    /// Number of objects whose pairs are used: more change the share by less than it varies.
    const MOST: usize = 1000;
    let step = n.div_ceil(MOST);
    let member = |(rows, part): (&Vec<usize>, &Vec<u32>)| {
        let mut labels = vec![NONE; n.div_ceil(step)];
        let some = rows.iter().zip(part).filter(|(i, _)| *i % step == 0);
        some.for_each(|(i, &label)| labels[i / step] = label);
        Member::from_labels(&labels)
    };
    let members = subsamples.iter().zip(parts).map(member).collect();
    let co = CoAssociation::implicit(&Ensemble::new(n.div_ceil(step), members)?);
    Ok(Distribution::new(&co, ctx)?.pac())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `k` round groups in the plane, far from each other.
    fn groups(k: usize, each: usize) -> Problem {
        let mut stream = SeedPath::new(5).stream("groups");
        let x = Array2::from_shape_fn((k * each, 2), |(i, c)| {
            let turn = (i % k) as f64 / k as f64 * std::f64::consts::TAU;
            10.0 * [turn.cos(), turn.sin()][c] + stream.normal()
        });
        Problem::new(Data::dense(x).unwrap())
    }

    fn kmeans() -> Box<dyn BaseClusterer> {
        registry::build_default("kmeans").unwrap()
    }

    #[test]
    fn groups_far_apart_are_counted_by_all() {
        let tries = Tries { to: Some(7), ..Tries::default() };
        let found = select_k(&*kmeans(), &groups(4, 30), &tries, &Context::new(1)).unwrap();
        let said = (found.silhouette, found.gap, found.stability, found.consensus);
        assert_eq!(said, (Some(4), Some(4), Some(4), Some(4)), "{found:?}");
        assert_eq!((found.found.len(), found.found[0].k, found.found[1].k), (7, 1, 2));
        assert!(found.found[3].stability.unwrap() > 0.99);
    }

    #[test]
    fn one_group_is_one_cluster_by_the_gap() {
        let found = select_k(&*kmeans(), &groups(1, 90), &Tries::default(), &Context::new(1));
        assert_eq!(found.unwrap().gap, Some(1));
    }

    #[test]
    fn clusters_without_extent_have_an_infinite_gap() {
        let x = Array2::from_shape_fn((90, 1), |(i, _)| [0.0, 1.0, 10.0][i % 3]);
        let problem = Problem::new(Data::dense(x).unwrap());
        let found = select_k(&*kmeans(), &problem, &Tries::default(), &Context::new(1)).unwrap();
        assert_eq!(
            (found.gap, found.found[2].within, found.found[2].gap),
            (Some(3), Some(0.0), None)
        );
    }

    #[test]
    fn identical_objects_are_refused() {
        let same = Problem::new(Data::dense(Array2::from_elem((9, 2), 1.5)).unwrap());
        let refused = select_k(&*kmeans(), &same, &Tries::default(), &Context::new(1)).unwrap_err();
        assert_eq!(refused.to_string(), "data: all 9 objects are identical, so they are 1 cluster");
    }

    #[test]
    fn the_same_on_any_number_of_threads_and_samples_of_many() {
        let tries = Tries { to: Some(4), objects: 60, draws: 6, ..Tries::default() };
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| select_k(&*kmeans(), &groups(3, 50), &tries, &Context::new(2)).unwrap())
        };
        assert_eq!(run(1), run(3));
        assert_eq!(run(1).objects, 60);
    }

    #[test]
    fn ranges_are_judged() {
        let with = |from, to: Option<usize>| {
            let tries = Tries { from, to, ..Tries::default() };
            select_k(&*kmeans(), &groups(2, 5), &tries, &Context::new(1)).map(|s| s.objects)
        };
        assert_eq!(with(2, Some(8)), Ok(10));
        assert_eq!(with(2, None), Ok(10));
        assert!(with(1, Some(4)).unwrap_err().to_string().starts_with("from: "));
        // Of a range that is none the second end is wrong, and what is accepted can be given.
        let turned = with(5, Some(4)).unwrap_err().to_string();
        assert_eq!(turned, "to: must be from 5 to 8, the objects of a subsample, got 4");
        assert!(with(1, Some(1)).unwrap_err().to_string().starts_with("from: must be from 2 to 8"));
        for objects in [0, 1] {
            let tries = Tries { objects, ..Tries::default() };
            let few = select_k(&*kmeans(), &groups(2, 5), &tries, &Context::new(1)).unwrap_err();
            let said = format!(
                "objects: must be at least 2, that subsamples have two clusters, got {objects}"
            );
            assert_eq!(few.to_string(), said);
        }
        for (from, to) in [(2, Some(9)), (9, None)] {
            let many = with(from, to).unwrap_err().to_string();
            assert!(many.contains("from 2 to 8, the objects of a subsample"), "{many}");
        }
    }

    #[test]
    fn worked_example() {
        // Objects 0 1 2; two subsamples of all three: 01|2 and 0|12.
        let rows = vec![vec![0, 1, 2], vec![0, 1, 2]];
        let parts = vec![vec![0, 0, 1], vec![0, 1, 1]];
        // 01 and 12 once in two, 02 never.
        let found = ambiguous(3, &rows, &parts, &Context::new(0));
        assert_eq!(found, Ok(Some(2.0 / 3.0)));
        assert_eq!(stability(3, &rows, &[vec![0, 0, 1], vec![1, 1, 0]]), Some(1.0));
        // 0 and 2 around 1, 9 alone.
        let data = Data::dense(ndarray::array![[0.0], [2.0], [9.0]]).unwrap();
        assert_eq!(within(&data, &[0, 0, 1]), Some(2.0));
    }
}
