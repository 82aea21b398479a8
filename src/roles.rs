//! One trait per role, with the types that its methods take and return.
//!
//! A plugin is a struct with `#[options]` and an implementation of a trait with `#[plugin("name")]`. The examples of
//! the traits are whole plugins. Every trait has one required method, which returns a `Result`.

#[doc(hidden)]
pub use mustlink_core::roles::*;

/// Trait of methods that group objects into clusters.
///
/// ```
/// use mustlink::prelude::*;
///
/// /// Objects below and above 0 in the first feature.
/// #[options]
/// pub struct SignOfFirst {}
///
/// #[plugin("sign_of_first")]
/// impl BaseClusterer for SignOfFirst {
///     fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
///         ctx.check()?;
///         let above = |i| match problem.data.row(i) {
///             Row::Dense(x) => u32::from(x[0] > 0.0),
///             Row::Sparse(..) => 0,
///         };
///         let labels = (0..problem.n()).map(above).collect();
///         Ok(Clustering { labels, k: 2, ..Clustering::default() })
///     }
///     fn properties(&self) -> Properties {
///         Properties { needs_k: false, ..Properties::default() }
///     }
/// }
///
/// fn main() -> Result<()> {
///     let data = Data::dense(mustlink::ndarray::array![[-1.0], [2.0]])?;
///     let found = SignOfFirst {}.cluster(&Problem::new(data), &Context::new(1))?;
///     assert_eq!(found.labels, [0, 1]);
///     Ok(())
/// }
/// ```
#[doc(inline)]
pub use mustlink_core::roles::BaseClusterer;

/// Declared properties of a clusterer, such as the kinds of data that it accepts.
///
/// ```
/// use mustlink::plugins::base_clusterers::{kmeans::KMeans, pck_means::PckMeans};
/// use mustlink::prelude::*;
///
/// let facts: Properties = PckMeans::default().properties();
/// assert!(facts.reads_constraints && facts.accepts.contains(&DataKind::Csr));
/// // They follow from the options.
/// assert!(KMeans::default().properties().needs_k);
/// assert!(!KMeans { k: Some(3), ..KMeans::default() }.properties().needs_k);
/// ```
#[doc(inline)]
pub use mustlink_core::roles::Properties;

/// Trait of methods that make many clusterings of the same objects.
///
/// ```
/// use mustlink::prelude::*;
///
/// /// The same clusterer, once per feature.
/// #[options]
/// pub struct OncePerFeature {
///     /// Clusterer of the objects.
///     #[option(slot = "kmeans")]
///     pub clusterer: Option<Box<dyn BaseClusterer>>,
/// }
///
/// #[plugin("once_per_feature")]
/// impl EnsembleGenerator for OncePerFeature {
///     fn generate(&self, problem: &Problem, ctx: &Context) -> Result<Ensemble> {
///         let clusterer = self.clusterer()?;
///         let member = |f| {
///             let problem = Problem { data: problem.data.features(&[f])?, ..problem.clone() };
///             let found = clusterer.cluster(&problem, &ctx.index(f))?;
///             Ok(Member::from_labels(&found.labels))
///         };
///         Ensemble::new(problem.n(), (0..problem.d()).map(member).collect::<Result<_>>()?)
///     }
///     fn properties(&self) -> GeneratorProperties {
///         GeneratorProperties { needs_k: true, ..GeneratorProperties::default() }
///     }
/// }
///
/// fn main() -> Result<()> {
///     let data = Data::dense(mustlink::ndarray::array![[0.0, 9.0], [0.0, 0.0], [9.0, 0.0]])?;
///     let problem = Problem::new(data).with_k(2);
///     let ensemble = OncePerFeature::default().generate(&problem, &Context::new(1))?;
///     assert_eq!(ensemble.members()[0].labels, [0, 0, 1]);
///     Ok(())
/// }
/// ```
#[doc(inline)]
pub use mustlink_core::roles::EnsembleGenerator;

/// Declared properties of an ensemble generator.
///
/// ```
/// use mustlink::prelude::*;
/// use mustlink::registry::build_default;
///
/// let subsample = build_default::<dyn EnsembleGenerator>("subsample").expect("it is linked");
/// let facts: GeneratorProperties = subsample.properties();
/// assert!(facts.accepts.contains(&DataKind::Dense) && !facts.reads_constraints);
/// ```
#[doc(inline)]
pub use mustlink_core::roles::GeneratorProperties;

/// Trait of methods that combine the members of an ensemble into one clustering.
///
/// ```
/// use mustlink::prelude::*;
///
/// /// The member with the smallest objective.
/// #[options]
/// pub struct SmallestObjective {}
///
/// #[plugin("smallest_objective")]
/// impl ConsensusFunction for SmallestObjective {
///     fn combine(&self, ensemble: &Ensemble, _: &Problem, _: &Context) -> Result<Clustering> {
///         let cost = |m: &&Member| m.objective.unwrap_or(f64::INFINITY);
///         let best = ensemble.members().iter().min_by(|a, b| cost(a).total_cmp(&cost(b)));
///         let best = best.ok_or(Error::EmptyData)?;
///         Ok(Clustering { labels: best.labels.clone(), k: best.k, ..Clustering::default() })
///     }
///     fn needs(&self) -> Needs {
///         Needs { complete: true, ..Needs::default() }
///     }
/// }
///
/// fn main() -> Result<()> {
///     let ensemble = Ensemble::new(3, vec![Member::from_labels(&[5, 5, 2])])?;
///     let data = Data::dense(mustlink::ndarray::array![[0.0], [1.0], [2.0]])?;
///     let found = SmallestObjective {}.combine(&ensemble, &Problem::new(data), &Context::new(1))?;
///     assert_eq!(found.labels, [0, 0, 1]);
///     Ok(())
/// }
/// ```
#[doc(inline)]
pub use mustlink_core::roles::ConsensusFunction;

/// Requirements of a consensus function on the members, and its promises about constraints.
///
/// ```
/// use mustlink::prelude::*;
/// use mustlink::registry::build_default;
///
/// let voting = build_default::<dyn ConsensusFunction>("voting").expect("it is linked");
/// let needs: Needs = voting.needs();
/// assert!(!needs.memberships && needs.reads_constraints);
/// ```
#[doc(inline)]
pub use mustlink_core::roles::Needs;

/// Trait of methods that spread constraints to more pairs or to distances.
///
/// ```
/// use mustlink::prelude::*;
///
/// /// The constraints as they are.
/// #[options]
/// pub struct AsTheyAre {}
///
/// #[plugin("as_they_are")]
/// impl ConstraintPropagator for AsTheyAre {
///     fn propagate(
///         &self,
///         constraints: &Constraints,
///         _: Option<&Clustering>,
///         _: &Problem,
///         _: &Context,
///     ) -> Result<Propagated> {
///         Ok(Propagated::Constraints(constraints.clone()))
///     }
///     fn properties(&self) -> PropagatorProperties {
///         PropagatorProperties { needs_clustering: false, ..PropagatorProperties::default() }
///     }
/// }
///
/// fn main() -> Result<()> {
///     let known = Constraints::new(2, [Constraint::must(0, 1)])?;
///     let problem = Problem::new(Data::dense(mustlink::ndarray::array![[0.0], [1.0]])?);
///     let same = AsTheyAre {}.propagate(&known, None, &problem, &Context::new(1))?;
///     assert_eq!(same, Propagated::Constraints(known));
///     Ok(())
/// }
/// ```
#[doc(inline)]
pub use mustlink_core::roles::ConstraintPropagator;

/// Result of a constraint propagator: constraints, distances or affinities.
///
/// ```
/// use mustlink::ndarray::array;
/// use mustlink::prelude::*;
/// use mustlink::registry::build_default;
///
/// # fn main() -> Result<()> {
/// let path = build_default::<dyn ConstraintPropagator>("shortest_path")?;
/// let facts: PropagatorProperties = path.properties();
/// assert_eq!(facts.gives, Some(DataKind::Distances));
///
/// let problem = Problem::new(Data::dense(array![[0.0], [3.0], [9.0]])?);
/// let known = Constraints::new(3, [Constraint::must(0, 2)])?;
/// match path.propagate(&known, None, &problem, &Context::new(1))? {
///     Propagated::Distances(d) => assert_eq!(d[[0, 2]], 0.0),
///     other => panic!("{other:?}"),
/// }
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_core::roles::Propagated;
#[doc(inline)]
pub use mustlink_core::roles::PropagatorProperties;

/// Trait of methods that choose the pairs to ask about.
///
/// ```
/// use mustlink::prelude::*;
///
/// /// Every object against the first.
/// #[options]
/// pub struct AgainstFirst {}
///
/// struct Run {
///     n: u32,
///     next: u32,
/// }
///
/// #[plugin("against_first")]
/// impl QuerySelector for AgainstFirst {
///     fn start(&self, problem: &Problem, _: &Context) -> Result<Box<dyn Inquiry>> {
///         Ok(Box::new(Run { n: problem.n() as u32, next: 1 }))
///     }
///     fn properties(&self) -> SelectorProperties {
///         SelectorProperties { accepts_sparse: true, ..SelectorProperties::default() }
///     }
/// }
///
/// impl Inquiry for Run {
///     fn step(&mut self) -> Result<Step> {
///         let (subject, id): (u32, QueryId) = (self.next, self.next.into());
///         match subject < self.n {
///             true => Ok(Step::Ask { id, subject, reference: 0, purpose: "explore" }),
///             false => Ok(Step::Done(Done::Exhausted)),
///         }
///     }
///     fn tell(&mut self, id: QueryId, _: Reply) -> Result<()> {
///         match id == u64::from(self.next) {
///             true => self.next += 1,
///             false => return Err(Error::Oracle(format!("query {id} is not open"))),
///         }
///         Ok(())
///     }
///     fn drain(&mut self) -> Vec<Event> {
///         Vec::new()
///     }
/// }
///
/// fn main() -> Result<()> {
///     let problem = Problem::new(Data::dense(mustlink::ndarray::array![[0.0], [1.0]])?);
///     let mut inquiry = AgainstFirst {}.start(&problem, &Context::new(1))?;
///     assert!(matches!(inquiry.step()?, Step::Ask { id: 1, subject: 1, reference: 0, .. }));
///     inquiry.tell(1, Reply::CannotLink)?;
///     assert!(matches!(inquiry.step()?, Step::Done(Done::Exhausted)));
///     Ok(())
/// }
/// ```
#[doc(inline)]
pub use mustlink_core::roles::QuerySelector;

/// One selection under way: it gives the next question and takes the reply.
///
/// ```
/// use mustlink::ndarray::array;
/// use mustlink::prelude::*;
/// use mustlink::registry::build_default;
///
/// # fn main() -> Result<()> {
/// let selector = build_default::<dyn QuerySelector>("explore_consolidate")?;
/// let facts: SelectorProperties = selector.properties();
/// assert!(!facts.needs_clustering && !facts.self_clustering);
///
/// let problem = Problem::new(Data::dense(array![[0.0], [1.0], [8.0]])?).with_k(2);
/// let mut inquiry: Box<dyn Inquiry> = selector.start(&problem, &Context::new(1))?;
/// let reason: Done = loop {
///     match inquiry.step()? {
///         Step::Ask { id, subject, reference, .. } => {
///             let same = subject.max(reference) < 2;
///             inquiry.tell(id, if same { Reply::MustLink } else { Reply::CannotLink })?;
///         }
///         Step::NeedClustering { request, .. } => {
///             let request: RequestId = request;
///             inquiry.provide(request, &Clustering::from_labels(vec![0, 0, 1]))?;
///         }
///         Step::Done(reason) => break reason,
///     }
/// };
/// assert!(matches!(reason, Done::AllAssigned));
/// // What happened besides: objects that joined a neighbourhood, what was concluded.
/// let events: Vec<Event> = inquiry.drain();
/// let first: Option<QueryId> = events.iter().find_map(|e| match e {
///     Event::Conflict { id } => Some(*id),
///     _ => None,
/// });
/// assert_eq!(first, None);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_core::roles::Inquiry;
#[doc(inline)]
pub use mustlink_core::roles::{Done, Event, QueryId, Reply, RequestId, SelectorProperties, Step};

/// Trait of sources of answers to "same cluster or not?".
///
/// ```
/// use mustlink::prelude::*;
///
/// /// Says that everything belongs together, until it is asked about object 9.
/// #[options]
/// pub struct Together {}
///
/// struct Yes;
///
/// #[plugin("together")]
/// impl Oracle for Together {
///     fn open(&self, _: &Scene) -> Result<Box<dyn Respondent>> {
///         Ok(Box::new(Yes))
///     }
///     fn properties(&self) -> OracleProperties {
///         OracleProperties { needs_labels: false, layer: Layer::Source, ..Default::default() }
///     }
/// }
///
/// impl Respondent for Yes {
///     fn ask(&mut self, question: &Question) -> Result<Outcome> {
///         if question.i == 9 || question.j == 9 {
///             return Ok(Outcome::Refused(Refusal::OutOfScope));
///         }
///         let vote = Vote { annotator: "me".into(), reply: Reply::MustLink };
///         Ok(Outcome::Answered(Answer { votes: vec![vote], ..Answer::of(Reply::MustLink) }))
///     }
/// }
///
/// fn main() -> Result<()> {
///     let mut respondent = Together {}.open(&Scene::with_labels(vec![], Context::new(1)))?;
///     let about = |j| Question { id: 0, i: 0, j, subject: j, reference: 0, purpose: "explore" };
///     assert!(matches!(respondent.ask(&about(1))?, Outcome::Answered(_)));
///     assert!(matches!(respondent.ask(&about(9))?, Outcome::Refused(_)));
///     Ok(())
/// }
/// ```
#[doc(inline)]
pub use mustlink_core::roles::Oracle;

/// An oracle that was opened for one data set and answers questions.
///
/// ```
/// use mustlink::prelude::*;
/// use mustlink::registry::build_default;
///
/// # fn main() -> Result<()> {
/// let truth = build_default::<dyn Oracle>("truth")?;
/// let facts: OracleProperties = truth.properties();
/// assert!(facts.noiseless && facts.layer == Layer::Source);
///
/// let scene = Scene::with_labels(vec![Some(0), Some(0), None], Context::new(1));
/// let mut respondent: Box<dyn Respondent> = truth.open(&scene)?;
/// let about = |j| Question { id: 0, i: 0, j, subject: j, reference: 0, purpose: "explore" };
/// match respondent.ask(&about(1))? {
///     Outcome::Answered(Answer { reply, cost, votes, .. }) => {
///         assert_eq!((reply, cost), (Reply::MustLink, 1.0));
///         assert_eq!(votes, Vec::<Vote>::new(), "no votes");
///     }
///     Outcome::Pending => panic!("a person would be asked"),
///     Outcome::Refused(why) => panic!("it is in scope, {}", why == Refusal::OutOfScope),
/// }
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_core::roles::Respondent;
#[doc(inline)]
pub use mustlink_core::roles::{
    Answer, Layer, OracleProperties, Outcome, Question, Refusal, Scene, Vote,
};

/// Trait of scores of a clustering.
///
/// ```
/// use mustlink::prelude::*;
///
/// /// Whether there is one cluster.
/// #[options]
/// pub struct AllInOne {}
///
/// #[plugin("all_in_one")]
/// impl Metric for AllInOne {
///     fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
///         let same = input.labels.windows(2).all(|pair| pair[0] == pair[1]);
///         Ok(Some(f64::from(u8::from(same))))
///     }
///     fn properties(&self) -> MetricProperties {
///         MetricProperties { needs_truth: false, perfect: None, ..MetricProperties::default() }
///     }
/// }
///
/// fn main() -> Result<()> {
///     let input = MetricInput { labels: &[2, 2], ..MetricInput::default() };
///     assert_eq!(AllInOne {}.score(&input)?, Some(1.0));
///     Ok(())
/// }
/// ```
#[doc(inline)]
pub use mustlink_core::roles::Metric;

/// Input of a metric: labels and whatever else it needs, such as true classes or constraints.
///
/// ```
/// use mustlink::plugins::metrics::ari::Ari;
/// use mustlink::prelude::*;
///
/// # fn main() -> Result<()> {
/// let facts: MetricProperties = Ari::default().properties();
/// assert!(facts.needs_truth && facts.perfect == Some(1.0));
/// // Only the objects in scope count: without the last one the labels are right.
/// let truth = [Some(0), Some(1), Some(1), Some(0)];
/// let scope = [true, true, true, false];
/// let (labels, truth, scope) = (&[7, 3, 3, 3], Some(&truth[..]), Some(&scope[..]));
/// let input = MetricInput { labels, truth, scope, ..MetricInput::default() };
/// assert_eq!(Ari::default().score(&input)?, Some(1.0));
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_core::roles::MetricInput;
#[doc(inline)]
pub use mustlink_core::roles::MetricProperties;

/// Trait of steps that change the data before it is clustered.
///
/// ```
/// use mustlink::prelude::*;
/// use mustlink::roles::{kept, restored};
///
/// /// The first so many features.
/// #[options]
/// pub struct FirstFeatures {
///     /// How many.
///     #[option(default = 1, min = 1)]
///     pub count: usize,
/// }
///
/// #[derive(Serialize, Deserialize)]
/// struct First(usize);
///
/// #[plugin("first_features")]
/// impl Transform for FirstFeatures {
///     fn fit(&self, problem: &Problem, _: &Context) -> Result<Box<dyn Fitted>> {
///         Ok(Box::new(First(self.count.min(problem.d()))))
///     }
///     fn restore(&self, saved: &Value) -> Result<Box<dyn Fitted>> {
///         restored::<First>("first_features", saved)
///     }
///     fn properties(&self) -> TransformProperties {
///         TransformProperties { accepts: vec![DataKind::Dense], ..Default::default() }
///     }
/// }
///
/// impl Fitted for First {
///     fn apply(&self, data: &Data) -> Result<Data> {
///         data.features(&(0..self.0).collect::<Vec<_>>())
///     }
///     fn features(&self) -> Features {
///         Features::Chosen((0..self.0).collect())
///     }
///     fn saved(&self) -> Option<Value> {
///         kept(self)
///     }
/// }
///
/// fn main() -> Result<()> {
///     let problem = Problem::new(Data::dense(mustlink::ndarray::array![[4.0, 7.0]])?);
///     let step = FirstFeatures { count: 1 };
///     let fitted = step.fit(&problem, &Context::new(1))?;
///     let again = step.restore(&fitted.saved().expect("it can be kept"))?;
///     assert_eq!(again.apply(&problem.data)?.d(), 1);
///     Ok(())
/// }
/// ```
#[doc(inline)]
pub use mustlink_core::roles::Transform;

/// A transform after it was fitted to data; it applies to other data too.
///
/// ```
/// use mustlink::ndarray::array;
/// use mustlink::prelude::*;
/// use mustlink::registry::build_default;
/// use mustlink::roles::{kept, restored};
///
/// # fn main() -> Result<()> {
/// let scale = build_default::<dyn Transform>("z_score")?;
/// let facts: TransformProperties = scale.properties();
/// assert!(!facts.reads_constraints && !facts.changes_rows);
/// let problem = Problem::new(Data::dense(array![[0.0], [2.0]])?);
/// let fitted: Box<dyn Fitted> = scale.fit(&problem, &Context::new(1))?;
/// assert_eq!(fitted.apply(&problem.data)?.n(), 2);
///
/// // What is fitted can be kept where it can be written down.
/// #[derive(Serialize, Deserialize)]
/// struct Times(f64);
/// impl Fitted for Times {
///     fn apply(&self, data: &Data) -> Result<Data> {
///         Data::dense(data.to_dense() * self.0)
///     }
/// }
/// let saved = kept(&Times(3.0)).expect("it can be written");
/// let again = restored::<Times>("times", &saved)?;
/// assert_eq!(again.apply(&problem.data)?.to_dense(), array![[0.0], [6.0]]);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_core::roles::Fitted;
#[doc(inline)]
pub use mustlink_core::roles::{TransformProperties, kept, restored};
