//! The making of members: retries after failures, and labels of objects that a member did not get.

use std::sync::atomic::{AtomicU64, Ordering};

use mustlink_core::clustering::compact;
use mustlink_core::ensemble::without_empty;
use mustlink_core::prelude::*;
use mustlink_core::text::count;
use mustlink_kernels::kmeans::nearest::centres::Centres;
use ndarray::Array2;

use crate::parts::member_input::{MemberInput, OutOfSample, Space};

impl MemberInput {
    /// Member `t`: what `clusterer` makes of what is seen, extended to all objects of `problem`. What
    /// it says of itself is equal for two members only if they are equal.
    ///
    /// # Errors
    /// Returns the errors of the clusterer.
    pub fn member(
        &self,
        clusterer: &dyn BaseClusterer,
        problem: &Problem,
        t: usize,
        ctx: &Context,
    ) -> Result<Member> {
        let run = mustlink_core::run::cluster(clusterer, &self.problem, ctx);
        let features = match &self.space {
            Space::Whole => Features::Same,
            Space::Mixtures => Features::New,
            Space::Features(of) => Features::Chosen(of.clone()),
        };
        let run = run.map_err(|e| features.error_before(e).at(&format!("member[{t}]")));
        let c = run?.clustering;
        let dropped = match problem.constraints.len() - self.problem.constraints.len() {
            0 => String::new(),
            dropped => format!(", {} dropped", count(dropped, "constraint")),
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
        extend(problem, self, member, ctx)
    }
}

/// The member over all objects of `problem`, from one over the objects it got. Its labels are compact
/// again; its information about clusters is kept if it is valid in the whole problem.
///
/// # Errors
/// Cancellation, for a member that fits its part of the problem.
pub fn extend(
    problem: &Problem,
    seen: &MemberInput,
    member: Member,
    ctx: &Context,
) -> Result<Member> {
    let Member { labels, k, objective, extras, in_sample, weight, provenance } = member;
    let extras = in_whole_space(extras, &seen.space, problem.d());
    let n = problem.n();
    let (labels, extras, in_sample) = match &seen.rows {
        None => (labels, extras, in_sample),
        Some(rows) => {
            let mut all = vec![NONE; n];
            let mut known = vec![false; n];
            // Of an object drawn twice the last copy counts, to which its constraints are bound.
            for (at, &i) in rows.iter().enumerate() {
                all[i] = labels[at];
                known[i] = in_sample.as_ref().is_none_or(|s| s[at]);
            }
            let unseen: Vec<usize> = {
                let mut drawn = vec![false; n];
                rows.iter().for_each(|&i| drawn[i] = true);
                (0..n).filter(|&i| !drawn[i]).collect()
            };
            let found = classify(problem, seen, rows, (&labels[..], k, &extras), &unseen, ctx)?;
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
            // Alike, and 1 in all, as weights that are learned.
            let alike = Array2::from_elem(centers.dim(), 1.0 / centers.ncols() as f64);
            let weights = extras.weights.as_ref().unwrap_or(&alike);
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

/// Objects for which the nearest is sought before it is asked whether the run is to end.
const CHUNK: usize = 64;

/// Labels for the objects a member did not see. `rows`: those it did, with their labels, the number of clusters
/// and what is known of these.
fn classify(
    problem: &Problem,
    seen: &MemberInput,
    rows: &[usize],
    (labels, k, extras): (&[u32], usize, &Extras),
    unseen: &[usize],
    ctx: &Context,
) -> Result<Vec<u32>> {
    let mut out = vec![NONE; unseen.len()];
    match seen.out_of_sample {
        _ if unseen.is_empty() => {}
        OutOfSample::LeaveOut => {}
        OutOfSample::NearestCentroid if problem.data.kind().is_rows() => {
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
            let nearest = |i: usize| {
                let keyed = candidates.iter().map(|&(j, l)| (far(i, j), l));
                // `min_by` keeps the first of equals.
                keyed.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(NONE, |c| c.1)
            };
            let filled = reduce::over(
                out.chunks_mut(CHUNK).zip(unseen.chunks(CHUNK)),
                |_, (out, unseen)| {
                    ctx.check()?;
                    out.iter_mut().zip(unseen).for_each(|(to, &i)| *to = nearest(i));
                    Ok(())
                },
            );
            filled.into_iter().collect::<Result<()>>()?;
        }
    }
    Ok(out)
}

/// The most members an ensemble may have.
pub(crate) const MOST_MEMBERS: usize = 65_535;

/// The ensemble over `n` objects of what `one` makes for every member number, again where it fails.
///
/// Number t draws from the path `member/t` alone, and when it failed from `member/t/again/a`.
///
/// # Errors
/// `BadParam` for the number of members; the first error in order that is left once
/// `max_failures` members were made again.
pub(crate) fn in_parallel(
    n: usize,
    members: usize,
    max_failures: usize,
    ctx: &Context,
    one: impl Fn(usize, &Context) -> Result<Vec<Member>> + Sync,
) -> Result<Ensemble> {
    if members > MOST_MEMBERS {
        let legal = format!("between 1 and {MOST_MEMBERS}");
        return Err(Error::bad_param("members", members, legal));
    }
    let done = AtomicU64::new(0);
    let attempts = |t: usize| {
        let member = ctx.child("member").index(t);
        (0..=max_failures).map(move |attempt| match attempt {
            0 => member.clone(),
            _ => member.child("again").index(attempt),
        })
    };
    let made = reduce::map(members, |t| {
        let mut last = None;
        for (failures, member) in attempts(t).enumerate() {
            ctx.check()?;
            match one(t, &member) {
                Ok(mut made) => {
                    if ctx.labels_only() {
                        made.iter_mut().for_each(|m| m.extras = Extras::default());
                    }
                    let done = 1 + done.fetch_add(1, Ordering::Relaxed);
                    ctx.progress(done, Some(members as u64));
                    return Ok((made, failures));
                }
                Err(e) => last = Some(e),
            }
        }
        ctx.check()?;
        Err(last.expect("at least one attempt"))
    });
    let mut all = Vec::with_capacity(members);
    let mut failures = 0;
    for result in made {
        let (more, failed) = result?;
        failures += failed;
        all.extend(more);
    }
    if failures > max_failures {
        let legal = format!("at least {failures} for this data");
        return Err(Error::bad_param("max_failures", max_failures, legal));
    }
    check_total(all.len())?;
    Ensemble::new(n, all)
}

/// Refuses more members than an ensemble may have, however they come together.
///
/// # Errors
/// `BadParam`.
pub(crate) fn check_total(members: usize) -> Result<()> {
    if members > MOST_MEMBERS {
        let legal = format!("at most {MOST_MEMBERS} members in all");
        return Err(Error::bad_param("members", members, legal));
    }
    Ok(())
}

/// The properties of a generator that runs all of `clusterers` on the same objects.
pub(crate) fn properties<'a>(
    clusterers: impl Iterator<Item = &'a dyn BaseClusterer>,
) -> GeneratorProperties {
    let facts = clusterers.map(|c| c.properties()).map(|facts| GeneratorProperties {
        accepts: facts.accepts,
        needs_k: facts.needs_k,
        reads_constraints: facts.reads_constraints,
    });
    let both = |a: GeneratorProperties, b: GeneratorProperties| GeneratorProperties {
        accepts: a.accepts.into_iter().filter(|kind| b.accepts.contains(kind)).collect(),
        needs_k: a.needs_k || b.needs_k,
        reads_constraints: a.reads_constraints || b.reads_constraints,
    };
    facts.reduce(both).unwrap_or_default()
}

/// Bytes of `members` members over all objects: labels, and centres unless they are not needed.
pub(crate) fn members_memory(members: usize, shape: &Shape, labels_only: bool) -> u64 {
    let extras = if labels_only { 0 } else { 8 * shape.k * shape.d };
    // More members than there may be are refused by their number.
    (members as u64).saturating_mul((4 * shape.n + extras) as u64).min(1 << 60)
}

/// Bytes: so many members, and one run of `clusterer` for each thread.
pub(crate) fn runs_memory(
    members: usize,
    clusterer: &dyn BaseClusterer,
    shape: &Shape,
    labels_only: bool,
) -> u64 {
    members_memory(members, shape, labels_only) + threads(members) * clusterer.memory(shape)
}

/// The same where members are made by several clusterers: that of the one that takes most.
pub(crate) fn most_memory(
    members: usize,
    clusterers: &[Box<dyn BaseClusterer>],
    shape: &Shape,
    labels_only: bool,
) -> u64 {
    let of = |c: &dyn BaseClusterer| runs_memory(members, c, shape, labels_only);
    clusterers.iter().map(|c| of(&**c)).max().unwrap_or(0)
}

/// The number of clusters that a clusterer names.
pub(crate) fn own_k(clusterer: &(dyn BaseClusterer + 'static)) -> Option<usize> {
    let config = RoleObject::to_value(clusterer);
    config.get("k").and_then(|k| usize::try_from(k.as_u64()?).ok())
}

/// The number of clusters that a clusterer names, else that of the problem.
pub(crate) fn most_clusters(clusterer: &(dyn BaseClusterer + 'static), shape: &Shape) -> usize {
    own_k(clusterer).unwrap_or(shape.k)
}

/// Number of the `members` that are made in parallel.
pub(crate) fn threads(members: usize) -> u64 {
    rayon::current_num_threads().min(members) as u64
}
