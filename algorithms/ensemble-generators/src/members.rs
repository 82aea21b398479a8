//! How is a member made, and what becomes of the objects it did not see?
//!
//! Every generator says what a member sees of the data ([`MemberInput`], see [`crate::sampling`]); what is
//! common to all is here: the number of clusters, making failed members again, running members in
//! parallel, labels for left-out objects.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

use mustlink_core::clustering::compact;
use mustlink_core::ensemble::without_empty;
use mustlink_core::prelude::*;
use mustlink_core::reduce;
use mustlink_kernels::kmeans::nearest::centres::Centres;
use ndarray::Array2;
use rayon::prelude::*;

pub use crate::member_input::{MemberInput, OutOfSample, Space};
use crate::sampling::Sampling;

/// The most members an ensemble may have.
pub const MOST_MEMBERS: usize = 65_535;

/// A number of clusters between two bounds, both included.
#[options]
#[derive(Copy, PartialEq, Eq)]
pub struct Uniform {
    /// The smallest; absent: 2.
    #[option(min = 1)]
    pub min: Option<usize>,
    /// The largest; absent: √n rounded up.
    #[option(min = 1)]
    pub max: Option<usize>,
}

/// A number of clusters from a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// The numbers, each as likely as it occurs.
    #[schemars(length(min = 1))]
    pub list: Vec<usize>,
}

/// The number of clusters of each member: `3`, `{ min = 2, max = 20 }` or `{ list = [3, 5, 8] }`.
#[options]
#[derive(Eq)]
pub enum MemberK {
    /// This number.
    Fixed(#[option(min = 1)] usize),
    /// One drawn from a list.
    List(List),
    /// One drawn between two bounds.
    Uniform(Uniform),
}

impl MemberK {
    /// The number for one member over `n` objects.
    ///
    /// # Errors
    /// `BadParam` for bounds or numbers outside `1..=n`.
    pub fn draw(&self, n: usize, stream: &mut Stream) -> Result<usize> {
        match self {
            MemberK::Fixed(k) => Ok(*k),
            MemberK::List(List { list }) => match list.iter().find(|k| !(1..=n).contains(*k)) {
                None if !list.is_empty() => Ok(list[stream.below(list.len())]),
                bad => {
                    let given = bad.map_or("an empty list".to_string(), ToString::to_string);
                    Err(Error::bad_param("k.list", given, format!("numbers in 1..={n}")))
                }
            },
            MemberK::Uniform(Uniform { min, max }) => {
                let min = min.unwrap_or(2.min(n));
                let root = (n as f64).sqrt().ceil() as usize;
                let max = max.unwrap_or(root.max(min));
                if min == 0 || min > max || max > n {
                    let given = format!("{min} to {max}");
                    return Err(Error::bad_param("k", given, format!("1 <= min <= max <= {n}")));
                }
                Ok(min + stream.below(max - min + 1))
            }
        }
    }
}

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

/// A generator whose members are all made by one clusterer.
pub struct SingleClusterer<'a> {
    /// What makes a member.
    pub clusterer: Result<Cow<'a, Box<dyn BaseClusterer>>>,
    /// What a member is shown; absent: everything.
    pub sampling: Option<Sampling>,
    /// The rest.
    pub settings: Settings<'a>,
}

impl SingleClusterer<'_> {
    /// Makes the members in parallel.
    ///
    /// # Errors
    /// A default clusterer that is not linked; a number of clusters out of range; as
    /// [`Settings::in_parallel`].
    pub fn generate(&self, problem: &Problem, ctx: &Context) -> Result<Ensemble> {
        let clusterer = self.clusterer.as_ref().map_err(Clone::clone)?;
        let members = self.settings.in_parallel(ctx, |t, ctx| {
            let mut problem = problem.clone();
            let drawn = ctx.child("view");
            if let Some(k) = self.settings.k {
                problem.k = Some(k.draw(problem.n(), &mut drawn.stream("k"))?);
            }
            let seen = match &self.sampling {
                None => MemberInput::whole(&problem),
                Some(view) => view.draw(&problem, problem.k.unwrap_or(1), &drawn)?,
            };
            seen.member(&***clusterer, &problem, t, ctx).map(|m| vec![m])
        })?;
        Ensemble::new(problem.n(), members)
    }

    /// Those of the clusterer, as far as the view goes with them.
    pub fn properties(&self) -> GeneratorProperties {
        // A default that is not linked is reported by `generate`.
        let Ok(clusterer) = &self.clusterer else { return GeneratorProperties::default() };
        let facts = clusterer.properties();
        GeneratorProperties {
            accepts: match &self.sampling {
                None => facts.accepts,
                Some(view) => view.accepts(facts.accepts),
            },
            needs_k: self.settings.k.is_none() && facts.needs_k,
            reads_constraints: facts.reads_constraints,
        }
    }

    /// Bytes: the ensemble, and one view and one run of the clusterer for each thread.
    pub fn memory(&self, shape: &Shape, labels_only: bool) -> u64 {
        let threads = rayon::current_num_threads().min(self.settings.members) as u64;
        let views = self.sampling.as_ref().map_or(0, |view| threads * view.memory(shape));
        let made = self.clusterer.as_ref();
        views + made.map_or(0, |c| self.settings.memory(&***c, shape, labels_only))
    }
}

/// Bytes of so many members over all objects: labels, and centres unless nobody reads them.
pub fn members_memory(members: usize, shape: &Shape, labels_only: bool) -> u64 {
    let extras = if labels_only { 0 } else { 8 * shape.k * shape.d };
    (members * (4 * shape.n + extras)) as u64
}

/// What all generators have in common.
pub struct Settings<'a> {
    /// Number of members.
    pub members: usize,
    /// Number of clusters of each.
    pub k: Option<&'a MemberK>,
    /// Failed members made again in all.
    pub max_failures: usize,
}

impl<'a> Settings<'a> {
    /// So many members of `k` clusters, of which `max_failures` in all may be made again.
    pub fn new(members: usize, k: Option<&'a MemberK>, max_failures: usize) -> Self {
        Settings { members, k, max_failures }
    }

    /// Bytes: the ensemble, and one run of `clusterer` for each thread.
    pub fn memory(&self, clusterer: &dyn BaseClusterer, shape: &Shape, labels_only: bool) -> u64 {
        let k = match self.k {
            None => shape.k,
            Some(MemberK::Fixed(k)) => *k,
            Some(MemberK::List(l)) => l.list.iter().copied().max().unwrap_or(1),
            Some(MemberK::Uniform(u)) => u.max.unwrap_or((shape.n as f64).sqrt().ceil() as usize),
        };
        let shape = Shape { k, ..*shape };
        let threads = rayon::current_num_threads().min(self.members) as u64;
        members_memory(self.members, &shape, labels_only) + threads * clusterer.memory(&shape)
    }

    /// Runs `one` for every member number, again where it fails, and strings the results together.
    ///
    /// Number t draws from the path `member/t` alone, and when it failed from `member/t/again/a`.
    ///
    /// # Errors
    /// `BadParam` for the number of members; the first error in order that is left once
    /// `max_failures` members were made again.
    pub fn in_parallel(
        &self,
        ctx: &Context,
        one: impl Fn(usize, &Context) -> Result<Vec<Member>> + Sync,
    ) -> Result<Vec<Member>> {
        if self.members > MOST_MEMBERS {
            let legal = format!("in 1..={MOST_MEMBERS}");
            return Err(Error::bad_param("members", self.members, legal));
        }
        let done = AtomicU64::new(0);
        let attempts = |t: usize| {
            let member = ctx.child("member").index(t);
            (0..=self.max_failures).map(move |attempt| match attempt {
                0 => member.clone(),
                _ => member.child("again").index(attempt),
            })
        };
        let made: Vec<Result<(Vec<Member>, usize)>> = (0..self.members)
            .into_par_iter()
            .map(|t| {
                let mut last = None;
                for (failures, member) in attempts(t).enumerate() {
                    ctx.check()?;
                    match one(t, &member) {
                        Ok(mut made) => {
                            if ctx.labels_only() {
                                made.iter_mut().for_each(|m| m.extras = Extras::default());
                            }
                            let done = 1 + done.fetch_add(1, Ordering::Relaxed);
                            ctx.progress(done, Some(self.members as u64));
                            return Ok((made, failures));
                        }
                        Err(e) => last = Some(e),
                    }
                }
                ctx.check()?;
                Err(last.expect("at least one attempt"))
            })
            .collect();
        let mut members = Vec::with_capacity(self.members);
        let mut failures = 0;
        for result in made {
            let (more, failed) = result?;
            failures += failed;
            members.extend(more);
        }
        if failures > self.max_failures {
            let legal = format!(">= {failures} for this data");
            return Err(Error::bad_param("max_failures", self.max_failures, legal));
        }
        Ok(members)
    }
}

/// The properties of a generator that runs all of `clusterers` on the same objects.
pub fn properties<'a>(
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
