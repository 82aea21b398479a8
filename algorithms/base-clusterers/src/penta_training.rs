//! Penta-Training: clusterings that give each other constraints.

mod candidates;
mod component;
mod links;

use mustlink_core::AutoOr;
use mustlink_core::constraints::Origin;
use mustlink_core::needs::check_size;
use mustlink_core::prelude::*;
use mustlink_kernels::agreement::members::warn_of_contradiction;
use mustlink_kernels::distance::points::{Distortion, Points};

use crate::parts::incentive::mean_variance;
pub use candidates::CannotLinkDistance;
use candidates::{Ranked, Search, View};
use component::{Component, Lesson, Standstill, combine, ensemble_of, first};

/// The values of h in the paper.
const PUBLISHED: [f64; 5] = [1.0, 3.0, 5.0, 7.0, 10.0];

/// Number of candidates to take: a count, or a share of them.
#[options]
#[derive(Copy)]
pub enum Top {
    /// This many (an integer).
    Count(#[option(min = 0)] usize),
    /// This share of them, rounded up (a float).
    Share(#[option(above = 0.0, max = 1.0)] f64),
}

/// Time at which a component learns from the agreement of the others.
#[options]
pub enum Schedule {
    /// One component after the other, as published: each is clustered again before the next one learns.
    #[default]
    Sequential,
    /// All components learn from the partitions at the start of a round.
    Simultaneous,
}

/// Components that differ in h teach each other constraints; a consensus combines what they learn.
///
/// # Method
/// There is one component for each h. In each round a component gets must-links on the nearest pairs that it
/// separates and the others join. It gets cannot-links on the farthest pairs that it joins and the others separate.
/// Then it is clustered again. Candidates that follow from its constraints, or contradict them, are skipped. With two
/// clusters this check is complete; with more, it does not test whether k clusters suffice. The rounds end when
/// nothing can be added or nothing changes.
/// # Input and output
/// The input of the clusterer, dense or sparse; constraints go to every component. The result is the partition of the
/// consensus. Diagnostics: `rounds`, `added_must`, `added_cannot`, and `skipped`, the candidates that constraints
/// added just before made superfluous.
/// # Errors
/// The errors of clusterer and consensus, with their slot; `BadParam` for fewer than three values of h, for a value
/// that the clusterer rejects, for `agree` out of range, and if neither kind of link is added. A component that fails
/// numerically is left out with a warning; at least two must remain.
/// # Cost and randomness
/// Rounds · components · (clusterer + candidates). Candidates take O(n·log n) if components mostly agree, and
/// O(n²·components) at worst or if `agree` is lowered; memory O(n · components). Random only in clusterer and
/// consensus; a component draws the same numbers each time.
/// # References
/// [DomeniconiAlRazgan2008] Algorithm 2; [AlRazganDomeniconi2006] for the consensus. Differs: any number of
/// components; far pairs are ranked by plain distance, as in the text of the paper.
#[options]
pub struct PentaTraining {
    /// Number of clusters. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Clusterer of each component; it must have an option `h`.
    #[option(slot = "clac")]
    pub clusterer: Option<Box<dyn BaseClusterer>>,
    /// Consensus function that combines the components at the end.
    #[option(slot = "wbpa")]
    pub consensus: Option<Box<dyn ConsensusFunction>>,
    /// Values of `h` for the components, at least three, in units of squared distance. "auto": the paper's 1, 3, 5, 7
    /// and 10, times the mean variance of a feature (1 on standardised data).
    #[option(default = AutoOr::Auto, units = 2)]
    pub h_values: AutoOr<Vec<f64>>,
    /// Smallest number of other components that must differ from the learning component about a pair. If absent, all.
    #[option(min = 2)]
    pub agree: Option<usize>,
    /// Number of must-links that a component gets each time.
    #[option(default = Top::Count(5))]
    pub top_ml: Top,
    /// Number of cannot-links that a component gets each time.
    #[option(default = Top::Count(5))]
    pub top_cl: Top,
    /// Time at which a component learns.
    pub schedule: Schedule,
    /// Distance that ranks candidates for cannot-links.
    pub cl_distance: CannotLinkDistance,
    /// Maximum number of rounds.
    #[option(default = 50, min = 1)]
    pub max_rounds: usize,
    /// Number of rounds without a change of the consensus after which training stops. If absent, the consensus is
    /// computed once, at the end.
    #[option(min = 1)]
    pub early_stop: Option<usize>,
    /// Give the constraints to the consensus too. As published, only the components get them.
    pub constrained_consensus: bool,
}

/// Result of training.
struct Trained {
    components: Vec<Component>,
    status: Status,
    rounds: usize,
    skipped: usize,
}

#[plugin(
    "penta_training",
    cites = ["DomeniconiAlRazgan2008", "AlRazganDomeniconi2006"],
    version = 3,
    waives = ["contradictions_are_survived" => "the components are clustered under hard constraints"]
)]
impl BaseClusterer for PentaTraining {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let clusterers = self.clusterers(&self.values_of_h(&problem.data)?)?;
        let consensus = self.consensus()?;
        self.check(clusterers.len())?;
        if let Some(deaf) = clusterers.iter().find(|c| !c.properties().reads_constraints) {
            let tag = deaf.typetag_name();
            ctx.warn(format!("{tag} reads no constraints: what components learn changes nothing"));
        }
        check_size(problem.n(), &**consensus)?;
        let mut problem = problem.clone();
        problem.k = self.k.or(problem.k);
        let trained = self.train(clusterers, &**consensus, &problem, ctx)?;
        let seen = self.seen_by_consensus(&problem);
        let members = ensemble_of(&trained.components, problem.n())?;
        let mut clustering = combine(&members, &**consensus, &seen, ctx)?;
        warn_of_contradiction(&members, &clustering, problem.k, ctx)?;
        clustering.status = trained.status;
        let learnt = |kind: Kind| {
            let all = trained.components.iter().flat_map(|c| &c.learnt);
            all.filter(|c| c.kind == kind).count() as f64
        };
        let diagnostics = &mut clustering.extras.diagnostics;
        diagnostics.insert("rounds".into(), trained.rounds as f64);
        diagnostics.insert("added_must".into(), learnt(Kind::MustLink));
        diagnostics.insert("added_cannot".into(), learnt(Kind::CannotLink));
        diagnostics.insert("skipped".into(), trained.skipped as f64);
        Ok(clustering)
    }

    fn properties(&self) -> Properties {
        let clusterer = self.clusterer();
        let consensus = self.consensus();
        // A default that is not linked is reported by `cluster`.
        let (Ok(clusterer), Ok(consensus)) = (clusterer, consensus) else {
            return Properties::default();
        };
        let facts = clusterer.properties();
        let mut accepts = facts.accepts;
        accepts.retain(|kind| kind.is_rows());
        Properties {
            accepts,
            needs_k: self.k.is_none() && (facts.needs_k || consensus.needs().fixed_k),
            reads_constraints: true,
            ..Properties::default()
        }
    }

    fn operations(&self, shape: &Shape) -> Option<f64> {
        /// Rounds until components agree, and sweeps of one clustering with what it learns of candidates.
        const ROUNDS: usize = 10;
        const SWEEPS: f64 = 160.0;
        let shape = Shape { k: self.k.unwrap_or(shape.k), ..*shape };
        let (components, rounds) = (self.components(), self.max_rounds.min(ROUNDS));
        let clusterings = (rounds * components) as f64 * SWEEPS * shape.sweep(shape.k);
        let combinations = if self.early_stop.is_some() { rounds as f64 } else { 1.0 };
        let consensus = self.consensus().map_or(0.0, |c| c.operations(&shape, components));
        Some(clusterings + combinations * consensus)
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let clusterer = self.clusterer();
        let consensus = self.consensus();
        let shape = Shape { k: self.k.unwrap_or(shape.k), ..*shape };
        let m = self.components();
        // Labels, links and groups of each component; what it learnt is little beside them.
        let own = (m * (80 * shape.n + 16 * shape.k * shape.d)) as u64;
        own + clusterer.map_or(0, |c| m as u64 * c.memory(&shape))
            + consensus.map_or(0, |c| c.memory(&shape, m))
    }
}

impl PentaTraining {
    /// Number of components that it trains.
    fn components(&self) -> usize {
        match &self.h_values {
            AutoOr::Value(values) => values.len(),
            AutoOr::Auto => PUBLISHED.len(),
        }
    }

    fn check(&self, m: usize) -> Result<()> {
        if m < 3 {
            return Err(Error::bad_param("h_values", format!("{m} values"), "at least 3"));
        }
        if let Some(agree) = self.agree.filter(|&agree| agree > m - 1) {
            return Err(Error::bad_param("agree", agree, format!("between 2 and {}", m - 1)));
        }
        if self.top_ml == Top::Count(0) && self.top_cl == Top::Count(0) {
            return Err(Error::bad_param("top_ml", 0, "above 0 where top_cl is 0"));
        }
        Ok(())
    }

    /// The problem as the consensus sees it.
    fn seen_by_consensus(&self, problem: &Problem) -> Problem {
        if self.constrained_consensus {
            problem.clone()
        } else {
            problem.clone().with_constraints(Constraints::default())
        }
    }

    /// The clusterer once for each h.
    fn clusterers(&self, h_values: &[f64]) -> Result<Vec<Box<dyn BaseClusterer>>> {
        let clusterer = self.clusterer()?;
        let config = RoleObject::to_value(&**clusterer);
        let tag = clusterer.typetag_name();
        let with = |&h: &f64| {
            let legal = |why: &str| format!("a value of option h of {tag} ({why})");
            if !(h.is_finite() && h > 0.0) {
                return Err(Error::bad_param("h_values", h, legal("finite and > 0")));
            }
            let mut config = config.clone();
            config["h"] = h.into();
            <dyn BaseClusterer as RoleObject>::from_value(config)
                .map_err(|message| Error::bad_param("h_values", h, legal(&message)))
        };
        h_values.iter().map(with).collect()
    }

    fn values_of_h(&self, data: &Data) -> Result<Vec<f64>> {
        if let AutoOr::Value(values) = &self.h_values {
            return Ok(values.clone());
        }
        let unit = mean_variance(&Points::new(data, Distortion::SquaredEuclidean)?);
        Ok(PUBLISHED.map(|h| h * unit).to_vec())
    }

    /// [DomeniconiAlRazgan2008] Algorithm 2 up to the consensus, which shows when to stop early.
    fn train(
        &self,
        clusterers: Vec<Box<dyn BaseClusterer>>,
        consensus: &(dyn ConsensusFunction + 'static),
        problem: &Problem,
        ctx: &Context,
    ) -> Result<Trained> {
        // Pᵢ ← CLAC(hᵢ, M, C) for each i.
        let components = first(clusterers, problem, ctx)?;
        let mut trained = Trained { components, status: Status::MaxIter, rounds: 0, skipped: 0 };
        let mut still = Standstill::new(self.early_stop);
        let seen = self.seen_by_consensus(problem);
        let combined = |components: &[Component]| {
            combine(&ensemble_of(components, seen.n())?, consensus, &seen, ctx)
        };
        still.look(|| combined(&trained.components))?;
        while trained.rounds < self.max_rounds {
            ctx.check()?;
            trained.rounds += 1;
            ctx.progress(trained.rounds as u64, Some(self.max_rounds as u64));
            let (added, changed) = self.round(&mut trained, problem, ctx)?;
            // Until nothing is added, or nothing changes.
            if added == 0 || !changed || still.look(|| combined(&trained.components))? {
                trained.status = Status::Converged;
                break;
            }
        }
        Ok(trained)
    }

    /// A round: how many pairs were added, and whether any partition changed.
    fn round(&self, to: &mut Trained, problem: &Problem, ctx: &Context) -> Result<(usize, bool)> {
        // One after the other, each sees what those before it have learnt; all at once, nobody does.
        let at_once = match self.schedule {
            Schedule::Sequential => 1,
            Schedule::Simultaneous => to.components.len().max(1),
        };
        let (mut added, mut changed, mut at) = (0, false, 0);
        while at < to.components.len() {
            ctx.check()?;
            let all: &[Component] = &to.components;
            let group = at..(at + at_once).min(all.len());
            // Q_ML and Q_CL of each: the best pairs on which the others agree and it does not.
            let lesson = |of| self.lesson(all, of, problem, ctx);
            let lessons = reduce::map(group.len(), |i| lesson(at + i));
            // They are added to its must-links and cannot-links, and P ← CLAC again.
            let mut learns = Vec::new();
            for (component, lesson) in to.components[group.clone()].iter_mut().zip(lessons) {
                let lesson = lesson?;
                to.skipped += lesson.skipped;
                added += lesson.pairs.len();
                learns.push(!lesson.pairs.is_empty());
                component.learn(lesson);
            }
            let again = |i: usize| {
                learns[i].then(|| to.components[group.start + i].fit_again(problem, ctx))
            };
            let made = reduce::map(learns.len(), again);
            for made in made {
                let mut stays = true;
                if let Some(made) = made {
                    (stays, changed) = to.components[at].replace(made, changed, problem, ctx)?;
                }
                if stays { at += 1 } else { drop(to.components.remove(at)) }
            }
        }
        Ok((added, changed))
    }

    /// Constraints that component `at` learns from the others: the best candidates that do not follow
    /// from, or contradict, what it knows and what was taken before them.
    fn lesson(
        &self,
        components: &[Component],
        at: usize,
        problem: &Problem,
        ctx: &Context,
    ) -> Result<Lesson> {
        let views: Vec<View> = components
            .iter()
            .map(|c| View { labels: &c.clustering.labels, weights: &c.weights })
            .collect();
        let others = views.len() - 1;
        let mut lesson = Lesson::default();
        if others == 0 {
            return Ok(lesson);
        }
        let mut search = Search {
            data: &problem.data,
            views: &views,
            own: at,
            agree: self.agree.unwrap_or(others).min(others),
            // They grow while pairs are taken.
            links: components[at].links.clone(),
            cl_distance: self.cl_distance,
        };
        for (kind, top) in [(Kind::MustLink, self.top_ml), (Kind::CannotLink, self.top_cl)] {
            let mut missing = match top {
                Top::Count(count) => count,
                Top::Share(share) => (share * search.count(kind, ctx)? as f64).ceil() as usize,
            };
            while missing > 0 {
                let found = search.best(kind, missing, ctx)?;
                let all = found.len() < missing;
                for Ranked { a, b, .. } in found {
                    if search.links.add(a, b, kind) {
                        let pair = Constraint::new(a as usize, b as usize, kind);
                        lesson.pairs.push(pair.from(Origin::Imputed));
                        missing -= 1;
                    } else {
                        lesson.skipped += 1;
                    }
                }
                if all {
                    break;
                }
            }
        }
        Ok(lesson)
    }
}

#[cfg(test)]
mod tests {
    use super::links::Links;
    use super::*;
    use crate::clac::Clac;
    use crate::lac::Lac;
    use mustlink_consensus_functions::voting::Voting;
    use mustlink_core::clustering::canonical;
    use mustlink_kernels::constrained::penalised_kmeans::ConstrainedInit;
    use mustlink_kernels::kmeans::seeding::Init;
    use mustlink_laws::fixtures;
    use ndarray::Array2;
    use proptest::prelude::*;

    fn problem(seed: u64, n: usize, k: usize, pairs: usize) -> Problem {
        let mut s = SeedPath::new(seed).stream("penta");
        let classes: Vec<u32> = (0..n).map(|_| s.below(k) as u32).collect();
        let x = Array2::from_shape_fn((n, 3), |(i, c)| {
            f64::from(2 * classes[i]) + s.normal() * (1 + c) as f64
        });
        let start = Start::Centroids(Array2::from_shape_fn((k, 3), |(h, _)| 2.0 * h as f64));
        Problem::new(Data::dense(x).unwrap())
            .with_k(k)
            .with_start(start)
            .with_constraints(fixtures::true_constraints(&classes, pairs, seed))
    }

    fn given() -> Option<Box<dyn BaseClusterer>> {
        Some(Box::new(Clac { init: ConstrainedInit::Plain(Init::Given), ..Clac::default() }))
    }

    /// As `clac`, which fails where h is below 2.
    #[options]
    struct Frail {
        /// Incentive to use more features.
        #[option(default = 1.0, above = 0.0)]
        h: f64,
    }

    #[plugin("frail")]
    impl BaseClusterer for Frail {
        fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
            if self.h < 2.0 {
                return Err(Error::NumericalFailure { place: "frail".into() });
            }
            let init = ConstrainedInit::Plain(Init::Given);
            Clac { h: self.h.into(), init, ..Clac::default() }.cluster(problem, ctx)
        }

        fn properties(&self) -> Properties {
            Clac::default().properties()
        }
    }

    #[test]
    fn a_clusterer_that_cannot_learn_is_told() {
        let warned = |clusterer: Box<dyn BaseClusterer>| {
            let ctx = Context::new(1);
            let consensus = Some(Box::new(Voting::default()) as Box<dyn ConsensusFunction>);
            let penta =
                PentaTraining { clusterer: Some(clusterer), consensus, ..Default::default() };
            penta.cluster(&problem(5, 40, 3, 0), &ctx).unwrap();
            ctx.warnings()
        };
        let told = warned(Box::<Lac>::default());
        assert!(told.len() == 1 && told[0].starts_with("lac reads no constraints"), "{told:?}");
        assert!(warned(Box::<Clac>::default()).is_empty());
    }

    fn train(penta: &PentaTraining, problem: &Problem) -> Trained {
        let h_values = penta.values_of_h(&problem.data).unwrap();
        let clusterers = penta.clusterers(&h_values).unwrap();
        penta.train(clusterers, &Voting::default(), problem, &Context::new(1)).unwrap()
    }

    #[test]
    fn components_that_fail_are_left_out_down_to_two() {
        let p = problem(5, 40, 3, 0);
        let penta = |h_values: &[f64]| PentaTraining {
            clusterer: Some(Box::new(Frail { h: 1.0 })),
            consensus: Some(Box::new(Voting::default())),
            h_values: h_values.to_vec().into(),
            ..PentaTraining::default()
        };
        let ctx = Context::new(1);
        let c = penta(&[1.0, 3.0, 5.0, 7.0]).cluster(&p, &ctx).unwrap();
        assert_eq!(c.labels.len(), 40);
        assert_eq!(ctx.warnings().len(), 1);
        assert!(ctx.warnings()[0].starts_with("component 0 is left out: "), "{:?}", ctx.warnings());
        // Without it from the start the others come to the same.
        let others = penta(&[3.0, 5.0, 7.0]).cluster(&p, &Context::new(1)).unwrap();
        assert_eq!(canonical(&c.labels), canonical(&others.labels));
        let error = penta(&[1.0, 0.5, 7.0]).cluster(&p, &Context::new(1)).unwrap_err();
        assert!(matches!(error.root(), Error::NumericalFailure { .. }), "{error}");
        assert!(error.to_string().contains("1 components are left"), "{error}");
    }

    #[test]
    fn values_that_nobody_names_are_the_papers_in_units_of_the_mean_variance() {
        let p = problem(3, 30, 3, 0);
        let values = |p: &Problem| PentaTraining::default().values_of_h(&p.data).unwrap();
        let plain = values(&p);
        assert_eq!(plain.iter().map(|h| (h / plain[0]).round()).collect::<Vec<_>>(), PUBLISHED);
        let x = p.data.to_dense();
        let mean = x.mean_axis(ndarray::Axis(0)).unwrap();
        let variance = (&x - &mean).mapv(|v| v * v).mean().unwrap();
        assert!((plain[0] / variance - 1.0).abs() < 1e-12);
        let small = Problem { data: Data::dense(x.mapv(|v| v * 2f64.powi(-40))).unwrap(), ..p };
        assert_eq!(values(&small), plain.iter().map(|h| h * 2f64.powi(-80)).collect::<Vec<_>>());
    }

    #[test]
    fn worked_example() {
        // 0 1 2 and 10 11 12 on a line; the first component has 2 on the wrong side. It parts (0, 2)
        // and (1, 2), which are 2 and 1 apart and joined elsewhere; it joins 2 with 10, 11 and 12, 8, 9
        // and 10 apart and parted elsewhere. The nearest must-link is (1, 2), the farthest
        // cannot-link (2, 5), the next (2, 4).
        let x = Array2::from_shape_vec((6, 1), vec![0.0, 1.0, 2.0, 10.0, 11.0, 12.0]).unwrap();
        let problem = Problem::new(Data::dense(x).unwrap()).with_k(2);
        let component = |number: usize, labels: [u32; 6]| Component {
            number,
            clusterer: Box::new(Clac::default()),
            clustering: Clustering::from_labels(labels.to_vec()),
            weights: Array2::ones((2, 1)),
            learnt: vec![],
            links: Links::new(6, 2, &Constraints::default()),
        };
        let right = [0, 0, 0, 1, 1, 1];
        let components =
            vec![component(0, [0, 0, 1, 1, 1, 1]), component(1, right), component(2, right)];
        let penta =
            PentaTraining { top_ml: Top::Count(1), top_cl: Top::Count(2), ..Default::default() };
        let ctx = Context::new(1);
        let lesson = penta.lesson(&components, 0, &problem, &ctx).unwrap();
        let expected = [Constraint::must(1, 2), Constraint::cannot(2, 5), Constraint::cannot(2, 4)];
        assert_eq!(lesson.pairs, expected.map(|c| c.from(Origin::Imputed)));
        assert!(penta.lesson(&components, 1, &problem, &ctx).unwrap().pairs.is_empty());
        // Clustered anew, 1 and 2 are together and 11 and 12 apart from them.
        let mut to = Trained { components, status: Status::MaxIter, rounds: 0, skipped: 0 };
        let (added, changed) = penta.round(&mut to, &problem, &ctx).unwrap();
        let components = to.components;
        assert_eq!((added, changed), (3, true));
        assert_eq!(canonical(&components[0].clustering.labels), right);
        // All two must-links, and half of the three cannot-links, rounded up.
        let all = PentaTraining { top_ml: Top::Share(1.0), top_cl: Top::Share(0.5), ..penta };
        let components =
            vec![component(0, [0, 0, 1, 1, 1, 1]), component(1, right), component(2, right)];
        let lesson = all.lesson(&components, 0, &problem, &ctx).unwrap();
        assert_eq!(lesson.pairs.len(), 4);
        assert_eq!(
            lesson.pairs[..2],
            [(1, 2), (0, 2)].map(|(i, j)| Constraint::must(i, j).from(Origin::Imputed))
        );
    }

    #[test]
    fn options_out_of_range_are_named() {
        let p = problem(1, 20, 2, 0);
        let fails =
            |penta: PentaTraining| penta.cluster(&p, &Context::new(1)).unwrap_err().to_string();
        let two = fails(PentaTraining { h_values: vec![1.0, 2.0].into(), ..Default::default() });
        assert!(two.contains("h_values"), "{two}");
        let agree = fails(PentaTraining { agree: Some(5), ..Default::default() });
        assert_eq!(agree, "agree: must be between 2 and 4, got 5");
        let none =
            PentaTraining { top_ml: Top::Count(0), top_cl: Top::Count(0), ..Default::default() };
        assert_eq!(fails(none), "top_ml: must be above 0 where top_cl is 0, got 0");
        let negative =
            fails(PentaTraining { h_values: vec![1.0, -2.0, 3.0].into(), ..Default::default() });
        assert!(
            negative.starts_with("h_values: must be a value of option h of clac"),
            "{negative}"
        );
        let other = PentaTraining {
            clusterer: Some(Box::new(crate::kmeans::KMeans::default())),
            ..Default::default()
        };
        let other = fails(other);
        assert!(other.starts_with("h_values: must be a value of option h of kmeans"), "{other}");
    }

    #[test]
    fn components_that_agree_are_the_result() {
        let p = problem(3, 30, 3, 0);
        let penta = PentaTraining {
            clusterer: given(),
            consensus: Some(Box::new(Voting::default())),
            h_values: vec![2.0; 4].into(),
            ..Default::default()
        };
        let c = penta.cluster(&p, &Context::new(1)).unwrap();
        assert_eq!((c.status, c.extras.diagnostics["rounds"]), (Status::Converged, 1.0));
        assert_eq!(c.extras.diagnostics["added_must"] + c.extras.diagnostics["added_cannot"], 0.0);
        let alone = penta.clusterers(&[2.0]).unwrap()[0].cluster(&p, &Context::new(1)).unwrap();
        assert_eq!(canonical(&c.labels), canonical(&alone.labels));
    }

    #[test]
    fn a_consensus_that_stands_still_ends_it_early() {
        let p = problem(5, 40, 3, 6);
        let penta = PentaTraining { early_stop: Some(1), clusterer: given(), ..Default::default() };
        let early = train(&penta, &p);
        let late = train(&PentaTraining { early_stop: None, ..penta }, &p);
        assert!(early.rounds <= late.rounds);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_is_learnt_is_new_and_never_contradicts(
            seed: u64,
            n in 8usize..30,
            k in 2usize..4,
            pairs in 0usize..10,
            simultaneous: bool,
            fewer: bool,
            mean_weighted: bool,
            must in 0usize..4,
        ) {
            let p = problem(seed, n, k, pairs);
            let penta = PentaTraining {
                h_values: vec![0.3, 1.0, 4.0, 20.0].into(),
                agree: fewer.then_some(2),
                top_ml: Top::Count(must),
                top_cl: if must == 2 { Top::Share(0.1) } else { Top::Count(3) },
                schedule: if simultaneous { Schedule::Simultaneous } else { Schedule::Sequential },
                cl_distance: if mean_weighted {
                    CannotLinkDistance::MeanWeighted
                } else {
                    CannotLinkDistance::Euclidean
                },
                max_rounds: 8,
                ..Default::default()
            };
            let trained = train(&penta, &p);
            prop_assert_eq!(trained.components.len(), 4);
            for component in &trained.components {
                let mut links = Links::new(n, k, &p.constraints);
                for c in &component.learnt {
                    prop_assert!(links.add(c.i, c.j, c.kind), "{c:?} was known");
                    prop_assert_eq!(c.origin, Origin::Imputed);
                    prop_assert!(must > 0 || c.kind == Kind::CannotLink);
                }
                let learnt = Constraints::new(n, component.learnt.iter().copied()).unwrap();
                let all = p.constraints.union(&learnt, n).unwrap();
                let closure = Closure::new(&all, n, OnConflict::Error);
                prop_assert!(closure.is_ok());
                let closure = closure.unwrap();
                let broken = all.violations(&component.clustering.labels);
                prop_assert_eq!(broken.must, 0);
                if (0..closure.components()).all(|u| closure.apart(u).len() < k) {
                    prop_assert_eq!(broken.cannot, 0);
                }
            }
        }

        #[test]
        fn the_order_of_h_is_that_of_the_components(seed: u64, n in 8usize..30, k in 2usize..4) {
            let p = problem(seed, n, k, 4);
            let with = |h_values: Vec<f64>| PentaTraining {
                clusterer: given(),
                h_values: h_values.into(),
                schedule: Schedule::Simultaneous,
                max_rounds: 6,
                ..Default::default()
            };
            // Of three, so that a component has two others and no sum is rounded another way.
            let one = train(&with(vec![0.3, 2.0, 20.0]), &p);
            let two = train(&with(vec![20.0, 0.3, 2.0]), &p);
            for (a, b) in [(0, 1), (1, 2), (2, 0)] {
                prop_assert_eq!(&one.components[a].learnt, &two.components[b].learnt);
                prop_assert_eq!(&one.components[a].clustering, &two.components[b].clustering);
            }
        }
    }
}
