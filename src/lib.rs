//! Cluster data with the help of a few "same or different?" answers, and know how far to trust the result.
//!
//! This crate is the whole library; the command line is a crate of its own. Clustering takes three values:
//!
//! - a [`Problem`]: the data and, if you know them, the number of clusters and the constraints;
//! - a method: a struct from [`plugins`], with its options as fields;
//! - a [`Context`]: the seed and, if you want them, limits and a flag for cancelling.
//!
//! [`run::cluster`] runs the method, checks its result, and counts violated constraints. The same seed gives the
//! same result on any number of threads, except in a run with a time limit.
//!
//! # Cluster rows
//!
//! Pass the data as an `ndarray` matrix, one object per row. The result has one label per row, from 0.
//!
//! ```
//! use mustlink::ndarray::array;
//! use mustlink::plugins::base_clusterers::kmeans::KMeans;
//! use mustlink::{Context, Data, Problem, run};
//!
//! # fn main() -> mustlink::Result<()> {
//! let data = Data::dense(array![[0.0, 0.1], [0.2, 0.0], [5.0, 5.1], [5.2, 4.9]])?;
//! let problem = Problem::new(data).with_k(2);
//! let found = run::cluster(&KMeans::default(), &problem, &Context::new(7))?;
//! let labels = &found.clustering.labels;
//!
//! assert!(labels[0] == labels[1] && labels[2] == labels[3] && labels[0] != labels[2]);
//! # Ok(())
//! # }
//! ```
//!
//! # Add must-links and cannot-links
//!
//! A must-link means that two rows belong to the same cluster, a cannot-link that they belong to different ones.
//! Here row 4 lies halfway between two groups, and two constraints decide where it belongs:
//!
//! ```
//! use mustlink::ndarray::array;
//! use mustlink::plugins::base_clusterers::pck_means::PckMeans;
//! use mustlink::{Constraint, Constraints, Context, Data, Problem, run};
//!
//! # fn main() -> mustlink::Result<()> {
//! let data = Data::dense(array![[0.0, 0.1], [0.2, 0.0], [5.0, 5.1], [5.2, 4.9], [2.4, 2.6]])?;
//! let pairs = Constraints::new(5, [Constraint::must(0, 4), Constraint::cannot(2, 4)])?;
//! let problem = Problem::new(data).with_k(2).with_constraints(pairs);
//! let found = run::cluster(&PckMeans::default(), &problem, &Context::new(7))?;
//! let labels = &found.clustering.labels;
//!
//! assert!(labels[4] == labels[0] && labels[4] != labels[2]);
//! assert_eq!(found.violations.total(), 0);
//! # Ok(())
//! # }
//! ```
//!
//! If you do not want to choose a method, call [`run::auto`]: it tries many and combines the best. If you have no
//! constraints yet, [`selection::run`] chooses pairs, asks for answers, and turns them into constraints.
//!
//! # Combine an ensemble
//!
//! An ensemble is many clusterings of the same rows. A generator makes them, and a consensus function combines
//! them into one clustering:
//!
//! ```
//! use mustlink::ndarray::Array2;
//! use mustlink::plugins::base_clusterers::ensemble::Ensemble;
//! use mustlink::plugins::consensus_functions::evidence_accumulation::EvidenceAccumulation;
//! use mustlink::plugins::ensemble_generators::random_k::RandomK;
//! use mustlink::{Context, Data, Problem, run};
//!
//! # fn main() -> mustlink::Result<()> {
//! // Two groups of ten rows, far from each other.
//! let rows = Array2::from_shape_fn((20, 2), |(i, f)| (i / 10 * 50 + i * (f + 1) % 7) as f64);
//! let method = Ensemble {
//!     generator: Some(Box::new(RandomK { members: 20, ..RandomK::default() })),
//!     consensus: Some(Box::new(EvidenceAccumulation::default())),
//!     ..Ensemble::default()
//! };
//! let problem = Problem::new(Data::dense(rows)?).with_k(2);
//! let found = run::cluster(&method, &problem, &Context::new(7))?;
//! let labels = &found.clustering.labels;
//!
//! assert!((0..20).all(|i| (labels[i] == labels[0]) == (i < 10)));
//! # Ok(())
//! # }
//! ```
//!
//! Clusterings that you already have become an [`Ensemble`] with [`Ensemble::new`].
//!
//! # Choose a method by name
//!
//! A configuration names the method, its steps and its options; options that you leave out have the same defaults as
//! in Rust. If the text has mistakes, one error lists all of them with line and column.
//!
//! ```
//! use mustlink::config::{self, Document};
//! use mustlink::method::Method;
//! use mustlink::ndarray::array;
//! use mustlink::{Context, Data, Problem, run};
//!
//! # fn main() -> mustlink::Result<()> {
//! let text = r#"
//!     transforms = ["z_score"]
//!     clusterer = { type = "pck_means", restarts = 5 }
//! "#;
//! let file = Document::parse("method.toml", text)?;
//! let method: Method = config::build(file.root(), "")?;
//!
//! let data = Data::dense(array![[0.0, 100.0], [1.0, 110.0], [8.0, 900.0], [9.0, 890.0]])?;
//! let (problem, ctx) = (Problem::new(data).with_k(2), Context::new(7));
//! let scaled = run::transform(method.prefix(), &problem, &ctx)?.problem;
//! let (_, found) = method.cluster(&scaled, 0, &ctx)?;
//! let labels = &found.clustering.labels;
//!
//! assert!(labels[0] == labels[1] && labels[2] == labels[3] && labels[0] != labels[2]);
//! # Ok(())
//! # }
//! ```
//!
//! [`registry::build_default`] builds one plugin from its name alone.
//!
//! # Score a clustering
//!
//! Only metrics and oracles see the true classes. A class that is not known is `None`, and so is a score that is not
//! defined.
//!
//! ```
//! use mustlink::plugins::metrics::ari::Ari;
//! use mustlink::roles::{Metric, MetricInput};
//!
//! # fn main() -> mustlink::Result<()> {
//! let labels = [3, 3, 0, 0, 0];
//! let classes = [Some(0), Some(0), Some(1), Some(1), None];
//! let input = MetricInput { labels: &labels, truth: Some(&classes), ..MetricInput::default() };
//!
//! assert_eq!(Ari::default().score(&input)?, Some(1.0));
//! # Ok(())
//! # }
//! ```
//!
//! # Where to find what
//!
//! | module | contents |
//! |---|---|
//! | this page | data, constraints, problems and results |
//! | [`plugins`] | the structs of all methods, with their options as fields |
//! | [`roles`] | one trait per role; implement it to write a plugin |
//! | [`registry`], [`config`], [`method`] | plugins by name; configurations; whole methods |
//! | [`run`], [`selection`] | one clustering; questions and answers |
//! | [`closure`], [`random`], [`reduce`] | implied pairs and contradictions; seeds; reproducible parallel sums |
//! | [`kernels`] | neighbours, eigenvectors, k-means, assignment |
//! | [`datasets`] | files of data, constraints, labels and partitions |
//! | `experiments` | studies and their reports (feature `experiments`) |
//! | `contract` | conformance tests of the roles (feature `contract`) |
//!
//! The feature `metis` adds the METIS library as a graph partitioner; it needs a C compiler. All features are off by
//! default. `use mustlink::prelude::*;` imports everything that a plugin needs, see [`prelude`].
//!
//! Public items stay until the next minor version (from 1.0 on, until the next major one). `cargo test --doc` runs
//! all examples.

// The hidden items are for authors of plugins and for the program; they are not part of the public interface.
#[doc(hidden)]
pub use mustlink_core::*;
#[doc(hidden)]
pub use mustlink_external::parts::{exchange, kept_children, programs, scripts};
#[doc(hidden)]
pub use mustlink_ledger as ledger;

pub mod closure;
pub mod config;
pub mod datasets;
#[cfg(feature = "experiments")]
pub mod experiments;
pub mod kernels;
pub mod method;
pub mod random;
pub mod reduce;
pub mod registry;
pub mod roles;
pub mod run;
pub mod selection;

/// The crate `ndarray`, whose matrices hold the data.
///
/// ```
/// use mustlink::ndarray::array;
/// assert_eq!(array![[1.0, 2.0], [3.0, 4.0]].sum(), 10.0);
/// ```
#[doc(no_inline)]
pub use ndarray;

/// The crate `serde_json`, whose values hold configurations.
///
/// ```
/// use mustlink::prelude::*;
/// use mustlink::serde_json::json;
///
/// let kmeans = <dyn BaseClusterer>::from_value(json!({ "type": "kmeans", "restarts": 3 }));
/// assert_eq!(kmeans.expect("legal options").tag(), "kmeans");
/// ```
#[doc(no_inline)]
pub use mustlink_core::serde_json;

/// An option that is either a value or "auto".
///
/// ```
/// use mustlink::prelude::*;
///
/// /// A clusterer whose option is a number or "auto".
/// #[options]
/// pub struct Wide {
///     /// Width of the kernel, or "auto": a tenth of the number of features.
///     #[option(default = AutoOr::Auto, above = 0.0)]
///     pub width: AutoOr<f64>,
/// }
///
/// fn main() {
///     assert_eq!(Wide::default().width.or_find(|| 0.2), 0.2);
///     assert_eq!(Wide { width: 3.0.into() }.width.value(), Some(3.0));
/// }
/// ```
#[doc(inline)]
pub use mustlink_core::AutoOr;

/// Result of a method: one label per object, the number of clusters, and how the method ended.
///
/// ```
/// use mustlink::{Clustering, Status};
///
/// let clustering = Clustering::from_labels(vec![1, 0, 1]);
/// assert_eq!((clustering.k, clustering.sizes()), (2, vec![1, 2]));
/// assert_eq!(clustering.status, Status::default());
/// ```
#[doc(inline)]
pub use mustlink_core::Clustering;
#[doc(inline)]
pub use mustlink_core::Status;

/// Must-links and cannot-links between the objects of a problem.
///
/// ```
/// use mustlink::{Constraint, Constraints, Kind};
///
/// # fn main() -> mustlink::Result<()> {
/// let given = [Constraint::must(0, 2), Constraint::cannot(1, 2).weighing(0.5)];
/// let constraints = Constraints::new(3, given)?;
/// assert_eq!(constraints.count(Kind::MustLink), 1);
/// assert_eq!(constraints.violations(&[0, 1, 1]).total(), 2);
/// assert!(Constraints::new(2, given).is_err(), "object 2 does not exist");
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_core::Constraints;
#[doc(inline)]
pub use mustlink_core::{Constraint, Kind};

/// Settings and state of a run: the seed, limits, cancelling, progress and warnings.
///
/// ```
/// use mustlink::Context;
///
/// // Equal seeds and equal purposes give equal numbers, whatever else is drawn.
/// let ctx = Context::new(7);
/// assert_eq!(ctx.stream("start").below(100), Context::new(7).stream("start").below(100));
/// let of_a_member = ctx.child("clusterer").index(3);
/// assert_ne!(of_a_member.path(), ctx.path());
/// assert!(ctx.check().is_ok(), "it was not cancelled");
/// ```
#[doc(inline)]
pub use mustlink_core::Context;

/// Objects to cluster: dense or sparse rows, or a matrix of distances or affinities.
///
/// ```
/// use mustlink::ndarray::array;
/// use mustlink::{Csr, Data, DataKind, Row};
///
/// # fn main() -> mustlink::Result<()> {
/// let dense = Data::dense(array![[1.0, 0.0], [0.0, 2.0]])?;
/// assert_eq!((dense.n(), dense.d(), dense.kind()), (2, 2, DataKind::Dense));
/// assert!(matches!(dense.row(1), Row::Dense([0.0, 2.0])));
///
/// let (indptr, indices, values) = (vec![0, 1, 2], vec![0, 1], vec![1.0, 2.0]);
/// let sparse = Data::csr(Csr { indptr, indices, values, columns: 2 })?;
/// assert_eq!(sparse.to_dense(), dense.to_dense());
/// assert_eq!(sparse.row(0).squared_distance(&dense.row(1)), 5.0);
///
/// let distances = Data::distances(array![[0.0, 3.0], [3.0, 0.0]])?;
/// assert_eq!(distances.pair(0, 1), 3.0);
/// assert!(Data::dense(array![[f64::NAN]]).is_err());
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_core::Data;
#[doc(inline)]
pub use mustlink_core::{Csr, DataKind, Row};

/// Several clusterings of the same objects, which a consensus function combines.
///
/// ```
/// use mustlink::ensemble::{Ensemble, Member};
///
/// # fn main() -> mustlink::Result<()> {
/// let members = vec![Member::from_labels(&[7, 7, 2]), Member::from_labels(&[0, 1, 1])];
/// let ensemble = Ensemble::new(3, members)?;
/// assert_eq!((ensemble.n(), ensemble.len()), (3, 2));
/// assert_eq!(ensemble.members()[0].labels, [0, 0, 1]);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_core::ensemble::Ensemble;
#[doc(inline)]
pub use mustlink_core::ensemble::Member;

/// Error of any function of this crate, with a message for the user.
///
/// ```
/// use mustlink::{Error, Result};
///
/// fn positive(width: f64) -> Result<f64> {
///     match width > 0.0 {
///         true => Ok(width),
///         false => Err(Error::bad_param("width", width, "above 0")),
///     }
/// }
/// assert_eq!(positive(-1.0).unwrap_err().to_string(), "width: must be above 0, got -1");
/// ```
#[doc(inline)]
pub use mustlink_core::Error;
#[doc(inline)]
pub use mustlink_core::Result;

/// Input of a method: data, constraints and the number of clusters, but never the true classes.
///
/// ```
/// use mustlink::ndarray::array;
/// use mustlink::{Data, Problem, Shape, Start};
///
/// # fn main() -> mustlink::Result<()> {
/// let data = Data::dense(array![[0.0], [1.0], [8.0], [9.0]])?;
/// let problem = Problem::new(data)
///     .with_k(2)
///     .with_start(Start::Centroids(array![[0.0], [9.0]]))
///     .with_eligible(vec![true, true, true, false]);
/// assert_eq!(problem.eligible_objects(), [0, 1, 2]);
/// assert_eq!(problem.subset(&[2, 3]).n(), 2);
/// let Shape { n, d, k, .. } = problem.shape();
/// assert_eq!((n, d, k), (4, 1, 2));
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_core::Problem;
#[doc(inline)]
pub use mustlink_core::{Shape, Start};

/// Conformance tests (laws) of the roles, with small problems and strategies of `proptest` (feature `contract`).
///
/// ```
/// use mustlink::contract::{check_plugin, fixtures, laws_for};
/// use mustlink::plugins::metrics::purity::Purity;
/// use mustlink::prelude::*;
///
/// let purity: Box<dyn Metric> = Box::new(Purity::default());
/// assert!(laws_for(&*purity).len() > 5);
/// assert!(check_plugin(&*purity).iter().all(|(_, verdict)| verdict.is_ok()));
/// assert_eq!(fixtures::dense(1).0.n(), 45);
/// ```
#[cfg(feature = "contract")]
#[doc(inline)]
pub use mustlink_laws as contract;

/// Imports for a file that uses the library: `use mustlink::prelude::*;`
///
/// These are the types of the first page, the traits of the roles, and the attributes of a plugin file.
///
/// ```
/// use mustlink::prelude::*;
///
/// /// The first object alone.
/// #[options]
/// pub struct FirstAlone {}
///
/// #[plugin("first_alone")]
/// impl BaseClusterer for FirstAlone {
///     fn cluster(&self, problem: &Problem, _: &Context) -> Result<Clustering> {
///         let labels = (0..problem.n()).map(|i| u32::from(i > 0)).collect();
///         Ok(Clustering { labels, k: 2, ..Clustering::default() })
///     }
/// }
/// # fn main() {}
/// ```
pub mod prelude {
    #[doc(no_inline)]
    pub use mustlink_core::prelude::*;
}

/// The structs of all methods, one module per role, with their options as public fields.
///
/// Options that you leave out have the same defaults as in configurations. An option out of range is an error when
/// the method is run, with the same message as in a configuration.
///
/// ```
/// use mustlink::plugins::base_clusterers::kmeans::KMeans;
/// use mustlink::plugins::metrics::ari::Ari;
/// use mustlink::plugins::query_selectors::random_pairs::RandomPairs;
/// use mustlink::prelude::*;
///
/// let kmeans = KMeans { restarts: 3, ..KMeans::default() };
/// let method = mustlink::method::Method {
///     clusterer: Some(Box::new(kmeans)),
///     selector: Some(Box::new(RandomPairs::default())),
///     ..Default::default()
/// };
/// assert!(method.transforms.is_empty());
///
/// let truth = [Some(0), Some(0), Some(1)];
/// let input = MetricInput { labels: &[4, 4, 2], truth: Some(&truth), ..MetricInput::default() };
/// assert_eq!(Ari::default().score(&input).unwrap(), Some(1.0));
/// ```
pub mod plugins {
    /// Methods that group objects, such as k-means and PCK-means.
    ///
    /// ```
    /// use mustlink::plugins::base_clusterers::kmeans::KMeans;
    /// use mustlink::prelude::*;
    ///
    /// let data = Data::dense(mustlink::ndarray::array![[0.0], [1.0], [9.0]]).unwrap();
    /// let kmeans = KMeans { k: Some(2), ..KMeans::default() };
    /// let found = kmeans.cluster(&Problem::new(data), &Context::new(1)).unwrap();
    /// assert!(found.labels[0] == found.labels[1] && found.labels[1] != found.labels[2]);
    /// ```
    #[doc(inline)]
    pub use mustlink_base_clusterers as base_clusterers;

    /// Methods that combine the clusterings of an ensemble into one.
    ///
    /// ```
    /// use mustlink::plugins::consensus_functions::voting::Voting;
    /// use mustlink::prelude::*;
    ///
    /// let data = Data::dense(mustlink::ndarray::array![[0.0], [1.0], [9.0]]).unwrap();
    /// let problem = Problem::new(data).with_k(2);
    /// let members = [[0, 0, 1], [1, 1, 0], [0, 1, 1]].map(|labels| Member::from_labels(&labels));
    /// let ensemble = Ensemble::new(3, members.to_vec()).unwrap();
    /// let found = Voting::default().combine(&ensemble, &problem, &Context::new(1)).unwrap();
    /// assert!(found.labels[0] == found.labels[1] && found.labels[1] != found.labels[2]);
    /// ```
    #[doc(inline)]
    pub use mustlink_consensus_functions as consensus_functions;

    /// Methods that spread constraints to more pairs, or change distances to respect them.
    ///
    /// ```
    /// use mustlink::plugins::constraint_propagators::closure::Closure;
    /// use mustlink::prelude::*;
    /// use mustlink::roles::Propagated;
    ///
    /// let data = Data::dense(mustlink::ndarray::array![[0.0], [1.0], [9.0]]).unwrap();
    /// let given = [Constraint::must(0, 1), Constraint::cannot(1, 2)];
    /// let given = Constraints::new(3, given).unwrap();
    /// let problem = Problem::new(data);
    /// let all = Closure::default().propagate(&given, None, &problem, &Context::new(1)).unwrap();
    /// let Propagated::Constraints(all) = all else { panic!("it gives constraints") };
    /// assert_eq!(all.pairs().len(), 3, "0 and 2 are apart as well");
    /// ```
    #[doc(inline)]
    pub use mustlink_constraint_propagators as constraint_propagators;

    /// Methods that make many clusterings of the same objects.
    ///
    /// ```
    /// use mustlink::plugins::ensemble_generators::{Recipe, subsample::Subsample};
    /// use mustlink::prelude::*;
    ///
    /// let data = Data::dense(mustlink::ndarray::array![[0.0], [1.0], [8.0], [9.0]]).unwrap();
    /// let problem = Problem::new(data).with_k(2);
    /// let recipe = Recipe { members: 3, ..Recipe::default() };
    /// let three = Subsample { recipe, ..Subsample::default() };
    /// assert_eq!(three.generate(&problem, &Context::new(1)).unwrap().len(), 3);
    /// ```
    #[doc(inline)]
    pub use mustlink_ensemble_generators as ensemble_generators;

    /// Plugins that run a program in any language as a child process.
    ///
    /// ```
    /// use mustlink::plugins::external::external_clusterer::ExternalClusterer;
    ///
    /// let command = vec!["python3".into(), "my_method.py".into()];
    /// let clusterer = ExternalClusterer { command, ..ExternalClusterer::default() };
    /// assert!(clusterer.needs_k);
    /// ```
    #[doc(inline)]
    pub use mustlink_external as external;

    /// Scores of a clustering, such as the adjusted Rand index.
    ///
    /// ```
    /// use mustlink::plugins::metrics::ari::Ari;
    /// use mustlink::prelude::*;
    ///
    /// let truth = [Some(0), Some(0), Some(1)];
    /// let input = MetricInput { labels: &[4, 4, 2], truth: Some(&truth), ..MetricInput::default() };
    /// assert_eq!(Ari::default().score(&input).unwrap(), Some(1.0));
    /// ```
    #[doc(inline)]
    pub use mustlink_metrics as metrics;

    /// Sources of answers to "same cluster or not?", such as the true classes.
    ///
    /// ```
    /// use mustlink::plugins::oracles::truth::Truth;
    /// use mustlink::prelude::*;
    /// use mustlink::roles::Scene;
    ///
    /// let scene = Scene::with_labels(vec![Some(0), Some(0), Some(1)], Context::new(1));
    /// assert!(Truth {}.open(&scene).is_ok());
    /// ```
    #[doc(inline)]
    pub use mustlink_oracles as oracles;

    /// Methods that choose which pair to ask about next.
    ///
    /// ```
    /// use mustlink::plugins::query_selectors::explore_consolidate::ExploreConsolidate;
    /// use mustlink::prelude::*;
    ///
    /// let data = Data::dense(mustlink::ndarray::array![[0.0], [1.0], [9.0]]).unwrap();
    /// let problem = Problem::new(data).with_k(2);
    /// assert!(ExploreConsolidate::default().start(&problem, &Context::new(1)).is_ok());
    /// ```
    #[doc(inline)]
    pub use mustlink_query_selectors as query_selectors;

    /// Steps that change the data before it is clustered, such as scaling.
    ///
    /// ```
    /// use mustlink::plugins::transforms::min_max::MinMax;
    /// use mustlink::prelude::*;
    ///
    /// let data = Data::dense(mustlink::ndarray::array![[0.0], [1.0], [4.0]]).unwrap();
    /// let fitted = MinMax {}.fit(&Problem::new(data.clone()), &Context::new(1)).unwrap();
    /// assert_eq!(fitted.apply(&data).unwrap().row(1).norm2(), 0.0625);
    /// ```
    #[doc(inline)]
    pub use mustlink_transforms as transforms;

    /// Types of options that several methods share.
    pub mod shared {
        #[doc(inline)]
        pub use mustlink_kernels::constrained::constraint_groups::Entail;
        #[doc(inline)]
        pub use mustlink_kernels::constrained::penalised_kmeans::{
            ConstrainedInit, PenaltyOptions, SoftInit, SoftOptions,
        };
        #[doc(inline)]
        pub use mustlink_kernels::kmeans::seeding::Perturb;
    }
}

/// The code of the manual, compiled and run by `cargo test --doc`.
#[cfg(doctest)]
mod manual {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../book/src/add-a-method.md")]
    struct AddAMethod;
    #[doc = include_str!("../book/src/rust-library.md")]
    struct RustLibrary;
    #[doc = include_str!("../book/developers/src/test-an-invariant.md")]
    struct TestAnInvariant;
}
