//! Questions whose answers distinguish methods that are still tied.

use mustlink_core::prelude::*;

use crate::parts::checks::{labels_all, not_open};
use crate::parts::pair_list::PairList;
use crate::parts::pair_pool::{Limits, most_disputed};

/// Pairs on which the tied candidates of `auto` are evenly divided.
///
/// # Method
/// `first` random pairs are asked. Then the clusterer of the run clusters with the answers. The candidates that count
/// in its result are a committee, each with its weight. The score of a pair is p (1 − p), with p the weight of the
/// candidates that put it together. The `batch` pairs of largest score are asked, ties in random order, with no object
/// in more than `per_object` pairs of a batch. Then the run clusters again; it does so earlier if no pairs are left
/// that may be asked. If only one candidate counts, pairs are random. With up to 2000 eligible objects, every pair is
/// scored; with more, `pool` random pairs are.
/// # Input and output
/// The input of the clusterer. A clusterer that does not report its candidates is a committee of one; a warning then
/// says that the pairs are random.
/// # Errors
/// The errors of the clusterer.
/// # Cost and randomness
/// A run of the clusterer for each batch, then O(candidates) for each pair scored. Random in the first pairs, the
/// pool, ties and the clusterer.
/// # References
/// Query by committee, with the methods in question as the committee: [Seung1992] with the portfolio of
/// [VanCraenendonckBlockeel2017].
#[options]
pub struct CandidateDisagreement {
    /// Number of random pairs asked before the first clustering.
    #[option(default = 10, min = 1)]
    pub first: usize,
    /// Number of pairs asked between two clusterings.
    #[option(default = 10, min = 1)]
    pub batch: usize,
    /// Options for the pairs that are scored.
    #[option(flatten)]
    pub limits: Limits,
    /// Skip pairs whose answer follows from earlier replies, instead of asking them.
    #[option(default = true)]
    pub skip_entailed: bool,
}

#[plugin(
    "candidate_disagreement",
    cites = ["Seung1992", "VanCraenendonckBlockeel2017"],
    version = 3
)]
impl QuerySelector for CandidateDisagreement {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        let mut run = Run {
            options: self.clone(),
            problem: problem.clone(),
            ctx: ctx.clone(),
            list: PairList::empty(problem, self.skip_entailed, "disputed"),
            answers: Vec::new(),
            batch: self.first,
            left: self.first,
            requests: 0,
        };
        run.rank(|_, _| 0.0)?;
        Ok(Box::new(run))
    }

    fn properties(&self) -> SelectorProperties {
        SelectorProperties {
            needs_clustering: true,
            needs_candidates: true,
            skips_entailed: self.skip_entailed,
            accepts_sparse: true,
            ..SelectorProperties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        self.limits.memory(shape.n) + (64 * shape.n) as u64
    }
}

struct Run {
    options: CandidateDisagreement,
    problem: Problem,
    ctx: Context,
    /// Pairs by decreasing score.
    list: PairList,
    /// Answers that do not contradict earlier knowledge.
    answers: Vec<Constraint>,
    /// Questions between the last clustering and the next.
    batch: usize,
    /// Number of these that are left.
    left: usize,
    requests: RequestId,
}

impl Run {
    /// Puts the pairs in the order of `score`.
    fn rank(&mut self, score: impl Fn(u32, u32) -> f64 + Sync) -> Result<()> {
        let ctx = self.ctx.child("pairs").index(self.requests as usize);
        let (problem, limits) = (&self.problem, &self.options.limits);
        self.list.put(most_disputed(problem, limits, &score, &mut |_, _| true, &ctx)?);
        if self.list.is_over() {
            // Pairs that need no question took the places of others.
            let list = &mut self.list;
            let pairs = most_disputed(problem, limits, &score, &mut |i, j| list.needs(i, j), &ctx)?;
            self.list.put(pairs);
        }
        Ok(())
    }
}

impl Inquiry for Run {
    fn step(&mut self) -> Result<Step> {
        // A list that ends within a batch ends the batch; one without a single question ends it all.
        if self.left > 0 && (!self.list.is_over() || self.left == self.batch) {
            return self.list.step();
        }
        self.left = 0;
        let answers = Constraints::new(self.problem.n(), self.answers.iter().copied())?;
        let constraints = self.problem.constraints.union(&answers, self.problem.n())?;
        Ok(Step::NeedClustering { request: self.requests, constraints })
    }

    fn tell(&mut self, id: QueryId, reply: Reply) -> Result<()> {
        if self.left == 0 {
            return Err(not_open(id));
        }
        self.answers.extend(self.list.learn(id, reply)?);
        self.left -= 1;
        Ok(())
    }

    fn provide(&mut self, request: RequestId, clustering: &Clustering) -> Result<()> {
        if self.left > 0 || request != self.requests {
            return Err(Error::Oracle(format!("clustering {request} was not asked for")));
        }
        labels_all(clustering, &self.problem)?;
        if clustering.extras.tried.is_empty() {
            self.ctx.warn(
                "candidate_disagreement: the clusterer reports no candidates, so the pairs are random; clusterer = \
                 \"auto\" reports candidates",
            );
        }
        self.requests += 1;
        self.batch = self.options.batch;
        self.left = self.batch;
        let n = self.problem.n();
        let committee: Vec<(f64, &[u32])> = clustering
            .extras
            .tried
            .iter()
            .filter(|t| t.weight > 0.0)
            .filter_map(|t| t.labels.as_deref().filter(|l| l.len() == n).map(|l| (t.weight, l)))
            .collect();
        let total: f64 = committee.iter().map(|(w, _)| w).sum();
        self.rank(|i, j| {
            let (i, j) = (i as usize, j as usize);
            let agree = committee.iter().filter(|(_, l)| l[i] == l[j] && l[i] != NONE);
            let together = agree.map(|(w, _)| w).sum::<f64>() / total.max(f64::MIN_POSITIVE);
            together * (1.0 - together)
        })
    }

    fn drain(&mut self) -> Vec<Event> {
        self.list.drain()
    }
}

#[cfg(test)]
mod tests {
    use mustlink_core::clustering::Tried;
    use ndarray::Array2;

    use super::*;

    fn tried(weight: f64, labels: &[u32]) -> Tried {
        Tried {
            name: "one".into(),
            method: Default::default(),
            k: 2,
            score: None,
            error: None,
            weight,
            outcome: String::new(),
            labels: Some(labels.to_vec()),
            seconds: 0.0,
            rule: None,
        }
    }

    /// With six objects, two candidates of weight 1 put object 4 to the first three, and one of weight 2
    /// puts it to the last two: p (1 − p) is 4/16 for its pairs, and 0 for all others.
    #[test]
    fn what_the_candidates_dispute_is_asked() {
        let problem = Problem::new(Data::dense(Array2::zeros((6, 1))).unwrap()).with_k(2);
        let selector = CandidateDisagreement { first: 1, batch: 4, ..Default::default() };
        let mut inquiry = selector.start(&problem, &Context::new(3)).unwrap();
        let Step::Ask { id: 0, subject, reference, .. } = inquiry.step().unwrap() else { panic!() };
        inquiry.tell(0, Reply::DontKnow).unwrap();
        let Step::NeedClustering { request: 0, constraints } = inquiry.step().unwrap() else {
            panic!("the first pair calls for a clustering")
        };
        assert!(constraints.is_empty());
        let mut clustering = Clustering::from_labels(vec![0, 0, 0, 1, 1, 1]);
        clustering.extras.tried = vec![
            tried(2.0, &[0, 0, 0, 1, 1, 1]),
            tried(1.0, &[0, 0, 0, 1, 0, 1]),
            tried(1.0, &[0, 0, 0, 1, 0, 1]),
            tried(0.0, &[0, 1, 0, 1, 0, 1]),
        ];
        assert!(inquiry.provide(1, &clustering).is_err());
        inquiry.provide(0, &clustering).unwrap();
        let mut asked = vec![(subject, reference)];
        for id in 1..4 {
            let Step::Ask { id: this, subject, reference, .. } = inquiry.step().unwrap() else {
                panic!()
            };
            assert_eq!(this, id);
            // Object 4 alone is disputed; at most three questions are about it.
            assert!(subject == 4 || reference == 4, "{subject} {reference}");
            assert!(!asked.contains(&(subject, reference)));
            asked.push((subject, reference));
            inquiry.tell(id, Reply::DontKnow).unwrap();
        }
    }

    #[test]
    fn a_clusterer_without_candidates_is_told_of() {
        let problem = Problem::new(Data::dense(Array2::zeros((6, 1))).unwrap()).with_k(2);
        let selector = CandidateDisagreement { first: 1, ..Default::default() };
        let warned = |tried: Vec<Tried>| {
            let ctx = Context::new(3);
            let mut inquiry = selector.start(&problem, &ctx).unwrap();
            let Step::Ask { id, .. } = inquiry.step().unwrap() else { panic!() };
            inquiry.tell(id, Reply::DontKnow).unwrap();
            let mut clustering = Clustering::from_labels(vec![0, 0, 0, 1, 1, 1]);
            clustering.extras.tried = tried;
            inquiry.provide(0, &clustering).unwrap();
            ctx.warnings()
        };
        assert_eq!(warned(vec![tried(1.0, &[0, 0, 0, 1, 1, 1])]), Vec::<String>::new());
        let said = warned(Vec::new());
        assert!(said.len() == 1 && said[0].contains("pairs are random"), "{said:?}");
    }

    /// Six objects have 15 pairs; at most three questions about one are nine in a batch.
    #[test]
    fn all_pairs_are_asked_before_it_ends() {
        let problem = Problem::new(Data::dense(Array2::zeros((6, 1))).unwrap()).with_k(2);
        let selector = CandidateDisagreement { first: 500, ..Default::default() };
        let mut inquiry = selector.start(&problem, &Context::new(3)).unwrap();
        let mut clustering = Clustering::from_labels(vec![0, 0, 0, 1, 1, 1]);
        clustering.extras.tried =
            vec![tried(1.0, &[0, 0, 0, 1, 1, 1]), tried(1.0, &[0, 1, 0, 1, 0, 1])];
        let (mut asked, mut clusterings) = (std::collections::HashSet::new(), 0);
        loop {
            match inquiry.step().unwrap() {
                Step::Ask { id, subject, reference, .. } => {
                    assert_eq!(id, asked.len() as QueryId);
                    assert!(asked.insert((subject, reference)));
                    inquiry.tell(id, Reply::DontKnow).unwrap();
                }
                Step::NeedClustering { request, .. } => {
                    clusterings += 1;
                    inquiry.provide(request, &clustering).unwrap();
                }
                Step::Done(done) => break assert_eq!(done, Done::Exhausted),
            }
        }
        assert_eq!(asked.len(), 15);
        assert!(clusterings >= 2, "{clusterings}");
    }
}
