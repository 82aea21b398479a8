//! COBRA: over-cluster, then merge super-instances by questions about their representatives.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use mustlink_core::clustering::canonical;
use mustlink_core::knowledge::{ASSUMED, Knowledge};
use mustlink_core::prelude::*;
use mustlink_core::run;
use mustlink_kernels::distance::points::{Distortion, Points};
use rayon::prelude::*;

use crate::checks::{not_open, rows_only};
use crate::representative_pairs::{Pairs, SORTED_UP_TO};

/// How many super-instances: a number, or every object on its own.
#[options]
#[derive(Copy, Eq)]
pub enum SuperInstances {
    /// This many, `1..=n`.
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

/// Distance whose sum the representative minimises.
#[options]
pub enum Medoid {
    /// Squared Euclidean: the member nearest to the mean.
    #[default]
    SquaredEuclidean,
    /// Euclidean.
    Euclidean,
}

/// The objects the representative has to be central to.
#[options]
pub enum Reference {
    /// The eligible members.
    #[default]
    Queryable,
    /// All members.
    All,
}

/// What "don't know" means.
#[options]
pub enum OnDontKnow {
    /// The pair is put aside; later pairs of the same two clusters are asked.
    #[default]
    SkipPair,
    /// The two clusters are kept apart, as an assumption.
    AsCannotLink,
    /// Asking ends.
    Stop,
}

/// What becomes of clusters neither merged nor separated when the questions end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnExhaust {
    /// They stay as they are.
    #[default]
    Stop,
    /// The closest are merged without asking, down to this many clusters, never across a cannot-link.
    Cut(#[schemars(range(min = 1))] usize),
}

/// Super-instances merged by asking about their representatives, closest pairs first; finds k itself.
///
/// # Method
/// A clusterer makes many small clusters, the super-instances. Pairs of their representatives are
/// asked in ascending distance unless the answer is entailed; "yes" merges, "no" separates. One pass
/// over the sorted pairs asks the same questions as starting anew after every merge.
/// # Input and output
/// Dense or sparse rows. `clustering()` gives the current clusters at any time, with `super_instances`
/// (their real number), `open_pairs` (cluster pairs neither merged nor separated), `assumed` (merges and separations not
/// answered), `lower_bound` (the fewest questions that lead to these clusters) and `impure` among its diagnostics. Medoids come from eligible objects; a super-instance
/// without any joins the nearest one that has some. Given constraints between representatives are
/// taken over; super-instances that hold a given cannot-link are counted as `impure`, not split.
/// # Errors
/// `BadParam` for `super_instances` outside `1..=n`, for a cut of 0, and for `queryable` when no
/// object is eligible; what the clusterer returns.
/// # Cost and randomness
/// With R representatives O(R² log R) time; 16 bytes per pair up to R = 5000, O(R) memory above.
/// Random only in the clusterer.
/// # References
/// [VanCraenendonck2017] §3. Differs: the single pass; questions end where the run's budget says.
#[options]
pub struct Cobra {
    /// Number of super-instances (N_S), `1..=n`, or `all` for one per object.
    #[option(default = SuperInstances::Count(25))]
    pub super_instances: SuperInstances,
    /// What makes the super-instances.
    #[option(slot = "kmeans")]
    pub clusterer: Option<Box<dyn BaseClusterer>>,
    /// Distance whose sum a representative minimises.
    pub medoid: Medoid,
    /// The objects a representative has to be central to.
    pub reference: Reference,
    /// What "don't know" means.
    pub on_dont_know: OnDontKnow,
    /// What becomes of undecided clusters when the questions end: `stop`, or `{ cut = k }`.
    pub on_exhaust: OnExhaust,
}

/// Up to this many reference objects their distances are summed one by one.
const SUMMED_UP_TO: usize = 16;
#[plugin("cobra", cites = ["VanCraenendonck2017"])]
impl QuerySelector for Cobra {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        Ok(Box::new(self.merging(problem, ctx)?))
    }

    fn properties(&self) -> SelectorProperties {
        SelectorProperties {
            self_clustering: true,
            skips_entailed: true,
            accepts_sparse: self
                .clusterer
                .as_ref()
                .is_none_or(|c| c.properties().accepts.contains(&DataKind::Csr)),
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
        let clusterer = match self.super_instances {
            SuperInstances::Every(Every::All) => 0,
            SuperInstances::Count(_) => self.clusterer().map_or(0, |c| c.memory(&over)),
        };
        (96 * shape.n) as u64 + pairs + clusterer
    }
}

impl Cobra {
    fn merging(&self, problem: &Problem, ctx: &Context) -> Result<Merging> {
        rows_only(&problem.data, "cobra")?;
        let n = problem.n();
        let labels = match self.super_instances {
            SuperInstances::Count(count) if count > n => {
                let legal = format!("in 1..={n} (the objects) or \"all\"");
                return Err(Error::bad_param("super_instances", count, legal));
            }
            SuperInstances::Count(count) if count < n => {
                let clusterer = self.clusterer()?;
                let over = Problem {
                    constraints: Default::default(),
                    start: None,
                    ..problem.clone().with_k(count)
                };
                let made = run::cluster(&**clusterer, &over, &ctx.child("clusterer"))
                    .map_err(|e| e.at("clusterer"))?;
                canonical(&made.clustering.labels)
            }
            _ => (0..n as u32).collect(),
        };
        let groups = self.super_instances(problem, labels)?;
        let mut knowledge = Knowledge::new(n, &problem.constraints);
        let impure = impure(problem, &mut knowledge, &groups.of);
        if impure > 0 {
            ctx.warn(format!("{impure} super-instances hold a given cannot-link"));
        }
        let apart = problem.constraints.pairs().iter().filter(|c| c.kind == Kind::CannotLink);
        let points = Points::new(&problem.data, Distortion::SquaredEuclidean)?;
        let mut merging = Merging {
            apart: apart.map(|c| (c.i, c.j)).collect(),
            pairs: Pairs::new(&points, &groups.representatives),
            points,
            groups,
            knowledge,
            impure,
            assumed: 0,
            on_dont_know: self.on_dont_know,
            on_exhaust: self.on_exhaust,
            next_id: 0,
            open: None,
            ended: None,
            events: Vec::new(),
        };
        merging.advance();
        Ok(merging)
    }

    /// Representatives, and the super-instance of every object after those without an eligible
    /// member joined the nearest one that has some.
    fn super_instances(&self, problem: &Problem, labels: Vec<u32>) -> Result<Groups> {
        let count = labels.iter().max().map_or(0, |&m| m as usize + 1);
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); count];
        (0..).zip(&labels).for_each(|(i, &l)| members[l as usize].push(i));
        let data = &problem.data;
        let found: Vec<Option<u32>> = members
            .par_iter()
            .map(|all| {
                let queryable: Vec<u32> =
                    all.iter().copied().filter(|&i| problem.is_eligible(i as usize)).collect();
                let reference = match self.reference {
                    Reference::Queryable => &queryable,
                    Reference::All => all,
                };
                medoid(data, &queryable, reference, self.medoid)
            })
            .collect();
        let mut place: Vec<u32> = vec![NONE; count];
        let mut representatives: Vec<u32> = Vec::new();
        for (s, representative) in found.iter().enumerate() {
            if let Some(representative) = representative {
                place[s] = representatives.len() as u32;
                representatives.push(*representative);
            }
        }
        if representatives.is_empty() {
            return Err(Error::bad_param("queryable", "no object", "at least one eligible object"));
        }
        let nearest: Vec<u32> = (0..count)
            .into_par_iter()
            .map(|s| {
                if place[s] != NONE {
                    return place[s];
                }
                let mean = mean(data, &members[s]);
                let distance = |&r: &u32| data.row(r as usize).squared_distance(&Row::Dense(&mean));
                let keyed = (0..).zip(&representatives).map(|(a, r)| (distance(r), a));
                keyed.min_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1))).map_or(0, |x| x.1)
            })
            .collect();
        let of = labels.iter().map(|&l| nearest[l as usize]).collect();
        Ok(Groups { representatives, of })
    }
}

fn mean(data: &Data, objects: &[u32]) -> Vec<f64> {
    let mut mean = vec![0.0; data.d()];
    objects.iter().for_each(|&i| data.row(i as usize).add_to(&mut mean, 1.0));
    mean.iter_mut().for_each(|v| *v /= objects.len() as f64);
    mean
}

/// The candidate with the smallest sum of distances to `reference`, ties to the lowest index.
fn medoid(data: &Data, candidates: &[u32], reference: &[u32], by: Medoid) -> Option<u32> {
    let to = |y: u32, x: u32| data.row(x as usize).squared_distance(&data.row(y as usize));
    let total = |f: fn(f64) -> f64| {
        let sum = |&y: &u32| reference.iter().map(|&x| f(to(y, x))).sum::<f64>();
        candidates.iter().map(sum).collect()
    };
    let sums: Vec<f64> = match by {
        Medoid::Euclidean => total(f64::sqrt),
        // Two members are a tie, which the mean would blur.
        Medoid::SquaredEuclidean if reference.len() <= SUMMED_UP_TO => total(|x| x),
        Medoid::SquaredEuclidean => {
            // Σ‖x − y‖² = m‖y − c‖² + constant, c the mean of the m reference objects.
            let centre = mean(data, reference);
            let to = |&y: &u32| data.row(y as usize).squared_distance(&Row::Dense(&centre));
            candidates.iter().map(to).collect()
        }
    };
    // Sums that differ by rounding alone are ties.
    let smallest = sums.iter().copied().fold(f64::INFINITY, f64::min);
    let limit = smallest * (1.0 + 1e-12);
    candidates.iter().zip(&sums).find(|&(_, &s)| s <= limit).map(|(&y, _)| y)
}

/// Number of super-instances with two members that the given constraints hold apart.
fn impure(problem: &Problem, knowledge: &mut Knowledge, of: &[u32]) -> usize {
    let given = problem.constraints.pairs().iter().filter(|c| c.kind == Kind::CannotLink);
    let given: Vec<&Constraint> = given.collect();
    if given.is_empty() {
        return 0;
    }
    // In which super-instances does each must-link component of the given constraints occur?
    let mut spread: HashMap<u32, BTreeSet<u32>> = HashMap::new();
    for (i, &s) in (0..).zip(of) {
        spread.entry(knowledge.component(i)).or_default().insert(s);
    }
    let mut found: BTreeSet<u32> = BTreeSet::new();
    for c in given {
        let (p, q) = (knowledge.component(c.i), knowledge.component(c.j));
        if p != q {
            found.extend(spread[&p].intersection(&spread[&q]));
        }
    }
    found.len()
}

struct Groups {
    /// Ascending in the smallest member of their super-instances.
    representatives: Vec<u32>,
    /// Position of the representative of every object.
    of: Vec<u32>,
}

struct Merging {
    points: Points,
    groups: Groups,
    knowledge: Knowledge,
    pairs: Pairs,
    /// Cannot-links by object: given, replied and assumed.
    apart: Vec<(u32, u32)>,
    impure: usize,
    assumed: usize,
    on_dont_know: OnDontKnow,
    on_exhaust: OnExhaust,
    next_id: QueryId,
    open: Option<(QueryId, u32, u32)>,
    ended: Option<Status>,
    events: Vec<Event>,
}

impl Merging {
    fn advance(&mut self) {
        self.open = None;
        let representatives = &self.groups.representatives;
        match self.pairs.next(&self.points, representatives, &mut self.knowledge) {
            Some(x) => {
                let (i, j) = (representatives[x.a as usize], representatives[x.b as usize]);
                self.open = Some((self.next_id, i, j));
                self.next_id += 1;
            }
            None => self.ended = Some(Status::Converged),
        }
    }

    /// The root of each representative under `knowledge`, and the number of distinct ones.
    fn roots(&self, knowledge: &mut Knowledge) -> (Vec<u32>, usize) {
        let roots: Vec<u32> =
            self.groups.representatives.iter().map(|&r| knowledge.component(r)).collect();
        let distinct = roots.iter().collect::<HashSet<_>>().len();
        (roots, distinct)
    }
}

impl Inquiry for Merging {
    fn step(&mut self) -> Result<Step> {
        Ok(match self.open {
            Some((id, subject, reference)) => {
                Step::Ask { id, subject, reference, purpose: "merge" }
            }
            None => Step::Done(Done::Exhausted),
        })
    }

    fn tell(&mut self, id: QueryId, reply: Reply) -> Result<()> {
        let Some((_, i, j)) = self.open.filter(|o| o.0 == id) else { return Err(not_open(id)) };
        self.knowledge.tell(i, j, reply);
        match (reply, self.on_dont_know) {
            (Reply::MustLink, _) | (Reply::DontKnow, OnDontKnow::SkipPair) => {}
            (Reply::CannotLink, _) => self.apart.push((i, j)),
            (Reply::DontKnow, OnDontKnow::AsCannotLink) => {
                self.knowledge.cannot(i, j);
                self.apart.push((i, j));
                self.assumed += 1;
                let rule = ASSUMED.into();
                self.events.push(Event::Inferred { i, j, kind: Kind::CannotLink, rule });
            }
            (Reply::DontKnow, OnDontKnow::Stop) => {
                self.open = None;
                self.ended = Some(Status::Stopped);
                return Ok(());
            }
        }
        self.advance();
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
        if let OnExhaust::Cut(k) = self.on_exhaust
            && clusters > k
        {
            let mut pairs = self.pairs.restarted(&self.points, representatives);
            while clusters > k
                && let Some(x) = pairs.next(&self.points, representatives, &mut knowledge)
            {
                knowledge.must(representatives[x.a as usize], representatives[x.b as usize]);
                clusters -= 1;
                assumed += 1;
            }
            roots = self.roots(&mut knowledge).0;
        }
        let labels = self.groups.of.iter().map(|&s| roots[s as usize]).collect::<Vec<_>>();
        let mut clustering = Clustering::from_labels(canonical(&labels));
        clustering.status = self.ended.unwrap_or(Status::BudgetExhausted);
        let known: HashSet<u32> = roots.iter().copied().collect();
        let separated: HashSet<(u32, u32)> = self
            .apart
            .iter()
            .map(|&(i, j)| (knowledge.component(i), knowledge.component(j)))
            .filter(|(p, q)| p != q && known.contains(p) && known.contains(q))
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
    use ndarray::Array2;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nearest_to_the_mean_is_the_medoid(
            x in prop::collection::vec(-1e3f64..1e3, 3 * 60),
            count in 17usize..60,
        ) {
            let data = Data::dense(Array2::from_shape_vec((60, 3), x).unwrap()).unwrap();
            let members: Vec<u32> = (0..count as u32).collect();
            let to = |i: u32, j: u32| data.row(i as usize).squared_distance(&data.row(j as usize));
            let sum = |y: u32| members.iter().map(|&x| to(x, y)).sum::<f64>();
            let by_mean = medoid(&data, &members, &members, Medoid::SquaredEuclidean).unwrap();
            let smallest = members.iter().map(|&y| sum(y)).fold(f64::INFINITY, f64::min);
            prop_assert!(sum(by_mean) <= smallest * (1.0 + 1e-9));
        }
    }

    #[test]
    fn two_members_are_a_tie() {
        let x = Array2::from_shape_vec((2, 2), vec![1e6 + 0.1, 0.3, 1e6 + 0.7, 0.1]).unwrap();
        let data = Data::dense(x).unwrap();
        for by in [Medoid::SquaredEuclidean, Medoid::Euclidean] {
            assert_eq!(medoid(&data, &[0, 1], &[0, 1], by), Some(0));
        }
        assert_eq!(medoid(&data, &[], &[0, 1], Medoid::SquaredEuclidean), None);
        assert_eq!(medoid(&data, &[1], &[0, 1], Medoid::SquaredEuclidean), Some(1));
    }

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
