//! How is a member made, and what becomes of the objects it did not see?

use mustlink_core::clustering::compact;
use mustlink_core::ensemble::without_empty;
use mustlink_core::prelude::*;
use mustlink_kernels::kmeans::nearest::centres::Centres;
use ndarray::Array2;

use crate::parts::member_input::{MemberInput, OutOfSample, Space};

impl MemberInput {
    /// Member `t`: what `clusterer` makes of what is seen, extended to all objects of `problem`. What
    /// it says of itself is equal for two members only if they are equal.
    ///
    /// # Errors
    /// Those of the clusterer.
    pub fn member(
        &self,
        clusterer: &dyn BaseClusterer,
        problem: &Problem,
        t: usize,
        ctx: &Context,
    ) -> Result<Member> {
        let run = mustlink_core::run::cluster(clusterer, &self.problem, ctx);
        let c = run.map_err(|e| e.at(&format!("member[{t}]")))?.clustering;
        let dropped = match problem.constraints.len() - self.problem.constraints.len() {
            0 => String::new(),
            dropped => format!(", {dropped} constraints dropped"),
        };
        let provenance = format!(
            "{}; member {t}, k {:?}, seed {:016x}; {}{dropped}",
            serde_json::to_string(clusterer).unwrap_or_default(),
            self.problem.k,
            ctx.stream("provenance").next_u64(),
            self.note,
        );
        let (labels, k) = compact(&c.labels);
        let extras = without_empty(c.extras, &c.labels, c.k);
        let objective = c.objective;
        let member = Member { labels, k, objective, extras, provenance, ..Member::default() };
        extend(problem, self, member)
    }
}

/// The member over all objects of `problem`, from one over what it has seen. Its labels are compact
/// again; what it says about clusters is kept where it means something in the whole problem.
///
/// # Errors
/// None for a member that fits what was seen.
pub fn extend(problem: &Problem, seen: &MemberInput, member: Member) -> Result<Member> {
    let Member { labels, k, objective, extras, in_sample, weight, provenance } = member;
    let extras = in_whole_space(extras, &seen.space, problem.d());
    let n = problem.n();
    let (labels, extras, in_sample) = match &seen.rows {
        None => (labels, extras, in_sample),
        Some(rows) => {
            let mut all = vec![NONE; n];
            let mut known = vec![false; n];
            // Of an object drawn twice the first copy counts.
            for (at, &i) in rows.iter().enumerate().rev() {
                all[i] = labels[at];
                known[i] = in_sample.as_ref().is_none_or(|s| s[at]);
            }
            let unseen: Vec<usize> = {
                let mut drawn = vec![false; n];
                rows.iter().for_each(|&i| drawn[i] = true);
                (0..n).filter(|&i| !drawn[i]).collect()
            };
            let found = classify(problem, seen, rows, &labels, k, &extras, &unseen)?;
            unseen.iter().zip(found).for_each(|(&i, l)| all[i] = l);
            // These spoke of the objects seen.
            let extras = Extras { memberships: None, distances: None, ..extras };
            (all, extras, Some(known))
        }
    };
    let extras = without_empty(extras, &labels, k);
    let (labels, k) = compact(&labels);
    Ok(Member { labels, k, objective, extras, in_sample, weight, provenance })
}

/// Centres and weights over some features as centres and weights over all of them.
fn in_whole_space(extras: Extras, space: &Space, d: usize) -> Extras {
    let clueless =
        |extras: Extras| Extras { centers: None, weights: None, metrics: None, ..extras };
    let features = match space {
        Space::Whole => return extras,
        Space::Mixtures => return clueless(extras),
        Space::Features(features) => features,
    };
    let spread = |x: &Array2<f64>| {
        let mut out = Array2::zeros((x.nrows(), d));
        for (from, &to) in features.iter().enumerate() {
            out.column_mut(to).assign(&x.column(from));
        }
        out
    };
    match (&extras.centers, extras.geometry) {
        // The other features do not count: weight 0.
        (Some(centers), Geometry::SquaredEuclidean | Geometry::Weighted) => {
            let ones = Array2::ones(centers.dim());
            let weights = extras.weights.as_ref().unwrap_or(&ones);
            Extras {
                centers: Some(spread(centers)),
                weights: Some(spread(weights)),
                geometry: Geometry::Weighted,
                metrics: None,
                ..extras
            }
        }
        _ => clueless(extras),
    }
}

/// Labels for the objects a member did not see. `rows`, `labels`: those it did.
fn classify(
    problem: &Problem,
    seen: &MemberInput,
    rows: &[usize],
    labels: &[u32],
    k: usize,
    extras: &Extras,
    unseen: &[usize],
) -> Result<Vec<u32>> {
    let mut out = vec![NONE; unseen.len()];
    let rows_of_features = matches!(problem.data.kind(), DataKind::Dense | DataKind::Csr);
    match seen.out_of_sample {
        _ if unseen.is_empty() => {}
        OutOfSample::LeaveOut => {}
        OutOfSample::NearestCentroid if rows_of_features => {
            let rest = problem.data.subset(unseen);
            let centres = Centres::of(&problem.data.subset(rows), labels, k, extras)?;
            centres.assign(&rest, &mut out)?;
        }
        OutOfSample::NearestObject | OutOfSample::NearestCentroid => {
            // An object drawn twice is near once; the smallest index wins ties.
            let mut candidates: Vec<(usize, u32)> =
                rows.iter().copied().zip(labels.iter().copied()).rev().collect();
            candidates.sort_by_key(|c| c.0);
            candidates.retain(|c| c.1 != NONE);
            let far = |i: usize, j: usize| match problem.data.kind() {
                DataKind::Affinity => -problem.data.pair(i, j),
                DataKind::Distances => problem.data.pair(i, j),
                _ => problem.data.row(i).squared_distance(&problem.data.row(j)),
            };
            reduce::fill(&mut out, |at| {
                let keyed = candidates.iter().map(|&(j, l)| (far(unseen[at], j), l));
                // `min_by` keeps the first of equals.
                keyed.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(NONE, |c| c.1)
            });
        }
    }
    Ok(out)
}
