//! COBRA: over-cluster, then merge super-instances by questions about their representatives.

use std::collections::{BTreeMap, HashSet};

use mustlink_core::clustering::canonical;
use mustlink_core::knowledge::{ASSUMED, Knowledge};
use mustlink_core::options::{Found, Options, Range, below};
use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::{Distortion, Points};

use crate::parts::checks::not_open;
use crate::parts::representative_pairs::{Pairs, SORTED_UP_TO};
use crate::parts::super_instances::{Grouping, Groups, Medoid, Reference, accepts_sparse, memory};

mod given;

use given::Given;

/// Number of super-instances: a number, or one for every object.
#[options]
#[derive(Copy, Eq)]
pub enum SuperInstances {
    /// This number, between 1 and n.
    Count(#[option(min = 1)] usize),
    /// One per object.
    Every(Every),
}

/// Every object on its own.
#[options]
pub enum Every {
    /// Every object is a super-instance.
    All,
}

/// Meaning of "don't know".
#[options]
pub enum OnDontKnow {
    /// The pair is set aside; later pairs of the same two clusters are asked.
    #[default]
    SkipPair,
    /// The two clusters are kept apart, as an assumption.
    AsCannotLink,
    /// Asking ends.
    Stop,
}

/// Treatment of clusters neither merged nor separated when the questions end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Described)]
#[serde(rename_all = "snake_case")]
pub enum OnExhaust {
    /// They stay as they are.
    #[default]
    Stop,
    /// The closest clusters are merged without asking, down to this number, never across a cannot-link.
    Cut(#[option(min = 1, max = 1_000_000_000)] usize),
}

impl Options for OnExhaust {
    fn look(&self, path: &str, _: &Range, found: &mut Found) {
        let declared = Range { min: Some(1.0), max: Some(1e9), ..Range::ANY };
        if let OnExhaust::Cut(clusters) = self {
            clusters.look(&below(path, "cut"), &declared, found);
        }
    }
}

/// Super-instances merged by asking about their representatives, closest pairs first; finds k itself.
///
/// # Method
/// K-means, or another clusterer, makes many small clusters, the super-instances. Pairs of their representatives are
/// asked in ascending distance unless the answer is entailed; "yes" merges, "no" separates. One pass over the sorted
/// pairs asks the same questions as a new pass after every merge.
/// # Input and output
/// Dense or sparse rows. `clustering()` gives the current clusters at any time. Its diagnostics are `super_instances`
/// (their real number), `lower_bound` (the fewest questions that lead to these clusters), `open_pairs` (cluster pairs
/// neither merged nor separated), `assumed` (merges and separations not answered) and `impure`. Medoids are eligible
/// objects; a super-instance without eligible objects joins the nearest one that has some. Given constraints between
/// representatives are used. Super-instances that hold a given cannot-link are counted as `impure`, not split.
/// # Errors
/// `BadParam` for `super_instances` outside 1 to n, for a cut of 0, and for `queryable` when no object is eligible;
/// errors of the clusterer.
/// # Cost and randomness
/// With R representatives O(R² log R) time; 8·R² bytes up to R = 5000, O(R) memory above. Before that k-means: 10
/// starts on at most `sample` objects, and some sweeps over all. Random only in the clusterer.
/// # References
/// [VanCraenendonck2017] §3; starts on a sample: [BradleyFayyad1998]. Differs: the single pass; questions end when
/// the budget of the run is used.
#[options]
pub struct Cobra {
    /// Number of super-instances (N_S), between 1 and n, or `all` for one per object.
    #[option(default = SuperInstances::Count(25))]
    pub super_instances: SuperInstances,
    /// Clusterer that makes the super-instances. If absent, k-means from the best of 10 starts, which use at most
    /// `sample` objects (fewer starts if `super_instances` times these exceeds 4 million).
    pub clusterer: Option<Box<dyn BaseClusterer>>,
    /// Number of objects that the starts of k-means use, at least 20 per super-instance. Smaller data get plain
    /// k-means. Without effect on a `clusterer`.
    #[option(default = 16_384, min = 1, inert = "a size that small problems do not reach")]
    pub sample: usize,
    /// Distance whose sum a representative minimises.
    pub medoid: Medoid,
    /// Objects that a representative has to be central to.
    pub reference: Reference,
    /// Meaning of "don't know".
    pub on_dont_know: OnDontKnow,
    /// Treatment of undecided clusters when the questions end: `stop`, or `{ cut = k }`.
    pub on_exhaust: OnExhaust,
}

#[plugin("cobra", cites = ["VanCraenendonck2017", "BradleyFayyad1998"])]
impl QuerySelector for Cobra {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        Ok(Box::new(Merging::start(self, problem, ctx)?))
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
        let representatives = match self.super_instances {
            SuperInstances::Count(count) => count.min(shape.n),
            SuperInstances::Every(Every::All) => shape.n,
        };
        let r = representatives as u64;
        let pairs = if representatives <= SORTED_UP_TO { 8 * r * r } else { 64 * r };
        let over = Shape { k: representatives, ..*shape };
        let clusterer = if representatives < shape.n {
            memory(self.clusterer.as_deref(), self.sample, &over)
        } else {
            0
        };
        // What the given constraints say is looked up by object, else all is by representative.
        let given = if shape.constraints > 0 { 60 * shape.n } else { 0 };
        (24 * shape.n + given) as u64 + 80 * r + pairs + clusterer
    }
}

impl Cobra {
    /// N_S super-instances and their representatives.
    fn over_cluster(&self, problem: &Problem, ctx: &Context) -> Result<Groups> {
        let n = problem.n();
        let count = match self.super_instances {
            SuperInstances::Count(count) if count > n => {
                let legal = format!("between 1 and {n} (the objects) or \"all\"");
                return Err(Error::bad_param("super_instances", count, legal));
            }
            SuperInstances::Count(count) => count,
            SuperInstances::Every(Every::All) => n,
        };
        let grouping = Grouping {
            problem,
            clusterer: self.clusterer.as_deref(),
            sample: self.sample,
            medoid: self.medoid,
            reference: self.reference,
        };
        let objects: Vec<u32> = (0..n as u32).collect();
        grouping.groups(&objects, count, &ctx.child("clusterer"))
    }
}

struct Merging {
    options: Cobra,
    points: Points,
    groups: Groups,
    /// Knowledge about representatives, by position.
    knowledge: Knowledge,
    pairs: Pairs,
    /// Cannot-links by position: given, replied and assumed.
    apart: Vec<(u32, u32)>,
    impure: usize,
    assumed: usize,
    next_id: QueryId,
    /// The pair that is asked, by position.
    open: Option<(QueryId, u32, u32)>,
    ended: Option<Status>,
    events: Vec<Event>,
}

/// Algorithm 1 of [VanCraenendonck2017], with the replies coming from outside.
impl Merging {
    fn start(options: &Cobra, problem: &Problem, ctx: &Context) -> Result<Self> {
        problem.data.require_rows("cobra")?;
        // Over-clustering: K-means makes N_S super-instances; their medoids stand for them.
        let groups = options.over_cluster(problem, ctx)?;
        // Every super-instance is a cluster; ML and CL hold what is given.
        let Given { knowledge, apart, impure } = Given::of(problem, &groups, ctx);
        // P: the pairs of clusters in ascending single linkage, d(C1, C2) = min ‖s − s'‖ over their
        // representatives. The closest pair of clusters without a cannot-link is the closest pair of
        // representatives of which nothing is known, before a merge and after it: one pass will do.
        let points = Points::new(&problem.data, Distortion::SquaredEuclidean)?;
        let pairs = Pairs::new(&points, &groups.representatives);
        let mut merging = Merging {
            options: options.clone(),
            points,
            groups,
            knowledge,
            pairs,
            apart,
            impure,
            assumed: 0,
            next_id: 0,
            open: None,
            ended: None,
            events: Vec::new(),
        };
        merging.advance();
        Ok(merging)
    }

    /// For (C1, C2) in P: their closest representatives are asked, unless the answer is entailed.
    fn advance(&mut self) {
        let next = self.pairs.next(&self.points, &self.groups.representatives, &mut self.knowledge);
        self.open = next.map(|x| (self.next_id, x.a, x.b));
        match self.open {
            Some(_) => self.next_id += 1,
            // No pair is left: each two clusters are apart.
            None => self.ended = Some(Status::Converged),
        }
    }

    /// "Yes": C1 and C2 are merged, and ML grows. "No": CL grows.
    fn told(&mut self, a: u32, b: u32, reply: Reply) {
        self.knowledge.tell(a, b, reply);
        match (reply, self.options.on_dont_know) {
            (Reply::MustLink, _) | (Reply::DontKnow, OnDontKnow::SkipPair) => {}
            (Reply::CannotLink, _) => self.apart.push((a, b)),
            (Reply::DontKnow, OnDontKnow::AsCannotLink) => self.assume_apart(a, b),
            (Reply::DontKnow, OnDontKnow::Stop) => {
                self.open = None;
                self.ended = Some(Status::Stopped);
                return;
            }
        }
        self.advance();
    }
}

impl Merging {
    fn assume_apart(&mut self, a: u32, b: u32) {
        self.knowledge.cannot(a, b);
        self.apart.push((a, b));
        self.assumed += 1;
        let (i, j) = self.objects(a, b);
        let rule = ASSUMED.into();
        self.events.push(Event::Inferred { i, j, kind: Kind::CannotLink, rule });
    }

    /// The representatives at two positions.
    fn objects(&self, a: u32, b: u32) -> (u32, u32) {
        let representatives = &self.groups.representatives;
        (representatives[a as usize], representatives[b as usize])
    }

    /// The root of each representative under `knowledge`, and the number of distinct ones.
    fn roots(&self, knowledge: &mut Knowledge) -> (Vec<u32>, usize) {
        let count = self.groups.representatives.len() as u32;
        let roots: Vec<u32> = (0..count).map(|a| knowledge.component(a)).collect();
        let distinct = roots.iter().collect::<HashSet<_>>().len();
        (roots, distinct)
    }
}

impl Inquiry for Merging {
    fn step(&mut self) -> Result<Step> {
        Ok(match self.open {
            Some((id, a, b)) => {
                let (subject, reference) = self.objects(a, b);
                Step::Ask { id, subject, reference, purpose: "merge" }
            }
            None => Step::Done(Done::Exhausted),
        })
    }

    fn tell(&mut self, id: QueryId, reply: Reply) -> Result<()> {
        let Some((_, a, b)) = self.open.filter(|o| o.0 == id) else { return Err(not_open(id)) };
        self.told(a, b, reply);
        Ok(())
    }

    fn drain(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    fn clustering(&self) -> Option<Clustering> {
        let mut knowledge = self.knowledge.clone();
        let representatives = &self.groups.representatives;
        let (mut roots, mut clusters) = self.roots(&mut knowledge);
        let mut assumed = self.assumed;
        if let OnExhaust::Cut(k) = self.options.on_exhaust
            && clusters > k
        {
            let mut pairs = self.pairs.restarted(&self.points, representatives);
            while clusters > k
                && let Some(x) = pairs.next(&self.points, representatives, &mut knowledge)
            {
                knowledge.must(x.a, x.b);
                clusters -= 1;
                assumed += 1;
            }
            roots = self.roots(&mut knowledge).0;
        }
        let labels = self.groups.of.iter().map(|&s| roots[s as usize]).collect::<Vec<_>>();
        let mut clustering = Clustering::from_labels(canonical(&labels));
        clustering.status = self.ended.unwrap_or(Status::BudgetExhausted);
        let separated: HashSet<(u32, u32)> = self
            .apart
            .iter()
            .map(|&(i, j)| (knowledge.component(i), knowledge.component(j)))
            .filter(|(p, q)| p != q)
            .map(|(p, q)| (p.min(q), p.max(q)))
            .collect();
        let pairs = clusters * (clusters - 1) / 2;
        clustering.extras.diagnostics = BTreeMap::from([
            ("super_instances".into(), representatives.len() as f64),
            ("open_pairs".into(), (pairs - separated.len()) as f64),
            ("assumed".into(), assumed as f64),
            ("lower_bound".into(), (representatives.len() - clusters + pairs) as f64),
            ("impure".into(), self.impure as f64),
        ]);
        Some(clustering)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::serde_json;

    #[test]
    fn reads_both_forms_of_its_options() {
        let read = |text: &str| serde_json::from_str::<Box<dyn QuerySelector>>(text);
        let cobra =
            read(r#"{"type": "cobra", "super_instances": "all", "on_exhaust": {"cut": 3}}"#);
        let text = serde_json::to_string(&cobra.unwrap()).unwrap();
        assert!(text.contains(r#""super_instances":"all""#), "{text}");
        assert!(text.contains(r#""on_exhaust":{"cut":3}"#), "{text}");
        assert!(read(r#"{"type": "cobra", "super_instances": 7}"#).is_ok());
        assert!(read(r#"{"type": "cobra", "super_instances": "most"}"#).is_err());
    }
}
