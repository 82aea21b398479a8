//! COBRAS: super-instances split where questions show them to be mixed, and merged by questions.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use mustlink_core::clustering::canonical;
use mustlink_core::knowledge::Knowledge;
use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::{Distortion, Points};

use crate::parts::checks::not_open;
use crate::parts::representative_pairs::Near;
use crate::parts::super_instances::{Grouping, Medoid, Reference, accepts_sparse, memory};

mod standing;

/// Choice of the super-instances of two clusters that are asked about.
#[options]
pub enum Compare {
    /// The closest.
    #[default]
    Closest,
    /// The oldest super-instance of each cluster.
    First,
}

/// Super-instances split as finely as answers require, then merged by questions; a result at any time, without k.
///
/// # Method
/// All objects start as one super-instance. The largest is split. First it is halved again and again, following the
/// smaller half, as long as the representatives of the halves belong apart. After m such answers it is split into
/// 2^max(1, m) parts. The parts are then merged with one another and with the existing clusters as in COBRA, closest
/// representatives first. Then the next is split. Answers are stored by object: pairs that are known or follow from
/// known ones are never asked.
/// # Input and output
/// Dense or sparse rows. `clustering()` keeps every answer and given constraint at any moment, unless they contradict
/// each other. During the first merging it returns the clusters merged so far. Later, new parts stay with the rest of
/// their old cluster until an answer separates them. An object that is known to be apart from the cluster of its
/// super-instance joins the nearest one that it may be in. Diagnostics: `super_instances` (their number) and
/// `splits`. Representatives are eligible medoids; a part without an eligible object joins the nearest that has some.
/// "Don't know" ends the halving, or sets the pair aside. Without a budget, questions go on until no super-instance
/// can be split. Three kinds cannot: single objects, equal objects, and those in which only one part has objects that
/// may be asked about.
/// # Errors
/// `BadParam` for `queryable` when no object is eligible; errors of the clusterer.
/// # Cost and randomness
/// A split is one k-means on one super-instance, a merging O(R) pairs for each new part, with R the number of
/// super-instances. Memory O(n + R). Random only in the clusterer.
/// # References
/// [VanCraenendonck2018] §3, Algorithms 1–4; starts on a sample: [BradleyFayyad1998]. Differs: after the first
/// merging, the authors' program returns the last completed one, which later answers may contradict.
#[options]
pub struct Cobras {
    /// Choice of the super-instances of two clusters that are asked about; `first` is the rule of the authors'
    /// program.
    pub compare: Compare,
    /// Clusterer that splits super-instances. If absent, k-means from the best of 10 starts, which use at most
    /// `sample` objects.
    pub clusterer: Option<Box<dyn BaseClusterer>>,
    /// Number of objects of a super-instance that the starts of k-means use, at least 20 per part. Smaller
    /// super-instances get plain k-means. Without effect on a `clusterer`.
    #[option(default = 2048, min = 1, inert = "a size that small problems do not reach")]
    pub sample: usize,
    /// Distance whose sum a representative minimises.
    pub medoid: Medoid,
    /// Objects that a representative has to be central to.
    pub reference: Reference,
}

#[plugin("cobras", cites = ["VanCraenendonck2018", "BradleyFayyad1998"], version = 3)]
impl QuerySelector for Cobras {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        begin(self, "cobras", problem, None, ctx)
    }

    fn properties(&self) -> SelectorProperties {
        SelectorProperties {
            self_clustering: true,
            skips_entailed: true,
            accepts_sparse: accepts_sparse(self.clusterer.as_deref()),
            ..SelectorProperties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        // Parts multiply with the questions asked; sixteen at a time are as many as small budgets make.
        let split = Shape { k: shape.n.min(16), ..*shape };
        (240 * shape.n) as u64 + memory(self.clusterer.as_deref(), self.sample, &split)
    }
}

/// Step between the merging of all parts and the next split.
pub(crate) trait Review: Send {
    /// An answer came.
    fn tell(&mut self, id: QueryId, i: u32, j: u32, reply: Reply);

    /// Reviews the answers between the current representatives.
    ///
    /// # Errors
    /// Cancellation.
    fn review(&mut self, representatives: &HashSet<u32>, ctx: &Context) -> Result<Reviewed>;

    /// Events since the last call.
    fn drain(&mut self) -> Vec<Event>;

    /// Number of answers that do not count as they were given.
    fn corrected(&self) -> usize;
}

/// Result of a review.
pub(crate) enum Reviewed {
    /// The merged clusters are the clustering.
    Stands,
    /// The pair that is asked about; afterwards the state is reviewed again.
    Ask(u32, u32),
    /// Knowledge that replaces the earlier one: all parts are merged again.
    MergeAnew(Knowledge),
}

/// COBRAS for the selector `tag`, which believes every answer without a `review`.
///
/// # Errors
/// Returns the errors that the selector documents.
pub(crate) fn begin(
    options: &Cobras,
    tag: &str,
    problem: &Problem,
    review: Option<Box<dyn Review>>,
    ctx: &Context,
) -> Result<Box<dyn Inquiry>> {
    problem.data.require_rows(tag)?;
    let n = problem.n();
    let objects: Vec<u32> = (0..n as u32).collect();
    let eligible = problem.eligible_objects();
    let Some(&representative) = eligible.first() else {
        return Err(Error::bad_param("queryable", "no object", "at least one eligible object"));
    };
    // Nobody asks about the object that stands for all of them.
    let all = Part {
        members: objects.into(),
        representative,
        eligible: eligible.len(),
        splittable: true,
        cluster: 0,
    };
    let mut refining = Refining {
        options: options.clone(),
        points: Points::new(&problem.data, Distortion::SquaredEuclidean)?,
        problem: problem.clone(),
        ctx: ctx.child("clusterer"),
        knowledge: Knowledge::new(n, &problem.constraints),
        parts: vec![all],
        phase: Phase::Choose,
        groupings: 0,
        splits: 0,
        next_id: 0,
        open: None,
        review,
    };
    refining.advance()?;
    Ok(Box::new(refining))
}

/// A super-instance.
#[derive(Clone)]
struct Part {
    /// Ascending.
    members: Arc<[u32]>,
    representative: u32,
    /// Eligible members.
    eligible: usize,
    /// False once a split has shown nothing to split: its rows are equal.
    splittable: bool,
    /// The name of the cluster that it, or what it was split from, was in when last all were merged.
    cluster: u32,
}

/// Search for the number of parts of a super-instance.
struct Search {
    whole: Part,
    /// Its position before.
    at: usize,
    /// The part of it that is looked at, and its halves.
    inside: Part,
    halves: Vec<Part>,
    /// The other halves of those looked at before.
    aside: Vec<Part>,
    /// "No" so far.
    level: u32,
}

enum Phase {
    /// Between two splits.
    Choose,
    /// Halving, to know how finely to split.
    Search(Search),
    /// Merging the parts from `first` on: pairs with a new one in ascending order, and how many are behind us.
    Merge { pairs: Vec<Near>, at: usize, first: usize },
    /// All parts are merged.
    Merged,
    /// Nothing is left to split.
    Done,
}

/// Subject of a question.
#[derive(Clone, Copy)]
struct Asked {
    id: QueryId,
    subject: u32,
    reference: u32,
    purpose: &'static str,
}

struct Refining {
    options: Cobras,
    problem: Problem,
    points: Points,
    ctx: Context,
    knowledge: Knowledge,
    /// The super-instances, those there the longest first. Their clusters are the components of their
    /// representatives in `knowledge`.
    parts: Vec<Part>,
    phase: Phase,
    /// Groupings so far: each draws from streams of its own.
    groupings: usize,
    /// Splits whose parts were merged.
    splits: usize,
    next_id: QueryId,
    open: Option<Asked>,
    review: Option<Box<dyn Review>>,
}

impl Refining {
    /// The loop of [VanCraenendonck2018] §3, from one question to the next.
    fn advance(&mut self) -> Result<()> {
        self.open = None;
        while self.open.is_none() {
            self.ctx.check()?;
            match std::mem::replace(&mut self.phase, Phase::Done) {
                // The largest super-instance is taken out of its cluster,
                Phase::Choose => {
                    let Some(at) = self.largest() else { return Ok(()) };
                    let whole = self.parts.remove(at);
                    let halves = self.split(&whole, 2)?;
                    let (inside, aside) = (whole.clone(), Vec::new());
                    self.phase =
                        Phase::Search(Search { whole, at, inside, halves, aside, level: 0 });
                }
                // halved to know how finely to split it, and split;
                Phase::Search(search) => self.search(search)?,
                // its parts are merged with one another and with the clusters there are, as in COBRA.
                Phase::Merge { pairs, at, first } => self.merge(pairs, at, first),
                Phase::Merged => self.merged()?,
                Phase::Done => return Ok(()),
            }
        }
        Ok(())
    }

    fn ask(&mut self, i: u32, j: u32, purpose: &'static str) {
        let (subject, reference) = (i.min(j), i.max(j));
        self.open = Some(Asked { id: self.next_id, subject, reference, purpose });
        self.next_id += 1;
    }

    /// The super-instance with most members that can be split, ties to the lowest representative.
    fn largest(&self) -> Option<usize> {
        let can = |p: &Part| p.splittable && p.eligible >= 2;
        let size = |at: &usize| {
            let part = &self.parts[*at];
            (part.members.len(), std::cmp::Reverse(part.representative))
        };
        (0..self.parts.len()).filter(|&at| can(&self.parts[at])).max_by_key(size)
    }

    /// At most k parts of a super-instance.
    fn split(&mut self, whole: &Part, k: usize) -> Result<Vec<Part>> {
        let ctx = self.ctx.index(self.groupings);
        self.groupings += 1;
        let grouping = Grouping {
            problem: &self.problem,
            clusterer: self.options.clusterer.as_deref(),
            sample: self.options.sample,
            medoid: self.options.medoid,
            reference: self.options.reference,
        };
        let groups = grouping.groups(&whole.members, k, &ctx)?;
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); groups.representatives.len()];
        for (&i, &s) in whole.members.iter().zip(&groups.of) {
            members[s as usize].push(i);
        }
        let part = |(members, &representative): (Vec<u32>, &u32)| Part {
            eligible: members.iter().filter(|&&i| self.problem.is_eligible(i as usize)).count(),
            members: members.into(),
            representative,
            splittable: true,
            cluster: whole.cluster,
        };
        Ok(members.into_iter().zip(&groups.representatives).map(part).collect())
    }

    /// One step of the halving: a question, the next halves, or the split.
    fn search(&mut self, mut search: Search) -> Result<()> {
        let [one, two] = &search.halves[..] else { return self.split_into(search) };
        let (i, j) = (one.representative, two.representative);
        match self.knowledge.relation(i, j) {
            None if !self.knowledge.was_asked(i, j) => {
                self.ask(i, j, "split");
                self.phase = Phase::Search(search);
                Ok(())
            }
            // "Yes", or nobody knows: finer than this is not asked for.
            Some(Kind::MustLink) | None => self.split_into(search),
            Some(Kind::CannotLink) => {
                search.level += 1;
                // Of halves of one size the one with the lowest representative.
                let can = |half: &Part| half.eligible >= 2;
                let mut halves = std::mem::take(&mut search.halves);
                halves.sort_by_key(|half| (!can(half), half.members.len(), half.representative));
                let smaller = halves.swap_remove(0);
                if !can(&smaller) {
                    return self.split_into(search);
                }
                search.halves = self.split(&smaller, 2)?;
                search.inside = smaller;
                search.aside.append(&mut halves);
                self.phase = Phase::Search(search);
                Ok(())
            }
        }
    }

    /// Splits as finely as the halving has shown; the parts are then merged.
    fn split_into(&mut self, Search { mut whole, at, level, .. }: Search) -> Result<()> {
        // Where one half is a single object the larger one is followed: 2^level has no bound.
        let parts = 1usize.checked_shl(level.max(1)).unwrap_or(usize::MAX);
        let k = parts.min(whole.members.len());
        let parts = self.split(&whole, k)?;
        if parts.len() < 2 {
            whole.splittable = false;
            self.parts.insert(at, whole);
            self.phase = Phase::Choose;
            return Ok(());
        }
        let first = self.parts.len();
        self.parts.extend(parts);
        // The relations of all other pairs are known, or nobody knows them.
        self.merge_from(first);
        Ok(())
    }

    fn near(&self, i: u32, j: u32) -> Near {
        let squared = self.points.between(i as usize, j as usize);
        Near { squared, a: i.min(j), b: i.max(j) }
    }

    /// Merges parts, those from `first` on with one another and with those before.
    fn merge_from(&mut self, first: usize) {
        let mut pairs: Vec<Near> = Vec::new();
        for b in first..self.parts.len() {
            for a in 0..b {
                pairs.push(self.near(self.parts[a].representative, self.parts[b].representative));
            }
        }
        pairs.sort_unstable();
        self.phase = Phase::Merge { pairs, at: 0, first };
    }

    /// Asks about the next pair of clusters of which nothing is known, or ends the merging.
    fn merge(&mut self, pairs: Vec<Near>, mut at: usize, first: usize) {
        while let Some(&Near { a, b, .. }) = pairs.get(at) {
            at += 1;
            if self.knowledge.relation(a, b).is_some() {
                continue;
            }
            let (i, j) = match self.options.compare {
                Compare::Closest => (a, b),
                Compare::First => (self.first(a), self.first(b)),
            };
            if !self.knowledge.was_asked(i, j) {
                self.ask(i, j, "merge");
                self.phase = Phase::Merge { pairs, at, first };
                return;
            }
        }
        self.phase = Phase::Merged;
    }

    /// Takes the merged clusters as the clustering, unless the review objects.
    fn merged(&mut self) -> Result<()> {
        if let Some(review) = &mut self.review {
            let all = self.parts.iter().map(|part| part.representative).collect();
            match review.review(&all, &self.ctx)? {
                Reviewed::Stands => {}
                Reviewed::Ask(i, j) => {
                    self.ask(i, j, "confirm");
                    self.phase = Phase::Merged;
                    return Ok(());
                }
                Reviewed::MergeAnew(knowledge) => {
                    self.knowledge = knowledge;
                    self.merge_from(0);
                    return Ok(());
                }
            }
        }
        self.splits += 1;
        for part in &mut self.parts {
            part.cluster = self.knowledge.component(part.representative);
        }
        self.phase = Phase::Choose;
        Ok(())
    }

    /// The representative of the super-instance that has been longest in the cluster of this one.
    fn first(&mut self, representative: u32) -> u32 {
        let cluster = self.knowledge.component(representative);
        let mut all = self.parts.iter().map(|part| part.representative);
        all.find(|&r| self.knowledge.component(r) == cluster).unwrap_or(representative)
    }
}

impl Inquiry for Refining {
    fn step(&mut self) -> Result<Step> {
        Ok(match self.open {
            Some(Asked { id, subject, reference, purpose }) => {
                Step::Ask { id, subject, reference, purpose }
            }
            None => Step::Done(Done::Exhausted),
        })
    }

    fn tell(&mut self, id: QueryId, reply: Reply) -> Result<()> {
        let Some(asked) = self.open.filter(|o| o.id == id) else { return Err(not_open(id)) };
        self.knowledge.tell(asked.subject, asked.reference, reply);
        if let Some(review) = &mut self.review {
            review.tell(id, asked.subject, asked.reference, reply);
        }
        self.advance()
    }

    fn drain(&mut self) -> Vec<Event> {
        self.review.as_mut().map_or_else(Vec::new, |review| review.drain())
    }

    fn clustering(&self) -> Option<Clustering> {
        let mut clustering = Clustering::from_labels(canonical(&self.clusters()));
        clustering.status = match self.open {
            Some(_) => Status::BudgetExhausted,
            None => Status::Converged,
        };
        clustering.extras.diagnostics = BTreeMap::from([
            ("super_instances".into(), self.standing().0.len() as f64),
            ("splits".into(), self.splits as f64),
        ]);
        if let Some(review) = &self.review {
            let corrected = review.corrected() as f64;
            clustering.extras.diagnostics.insert("corrected".into(), corrected);
        }
        Some(clustering)
    }
}
