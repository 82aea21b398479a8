//! Semi-supervised clustering ensembles as a tree of named plugins.
//!
//! This crate is the whole library: types and roles, every method, data sets, experiments. What stands
//! on these pages is its face. Everything has an example, all examples are run by `cargo test --doc`,
//! and what a version shows stays until the next minor one (the next major one from 1.0 on).
//!
//! | where | what |
//! |---|---|
//! | here | the data, the constraints, what a method gives |
//! | [`roles`] | one trait per role, and what its methods take and give |
//! | [`plugins`] | the types of all methods, with their options as fields |
//! | [`registry`], [`config`], [`method`] | methods by name, from a file, and whole |
//! | [`run`], [`selection`] | one clustering; questions and answers |
//! | [`closure`], [`random`], [`reduce`] | what constraints entail; seeds; sums that are the same on any number of threads |
//! | [`kernels`] | neighbours, eigenvectors, k-means, assignment |
//! | [`datasets`], [`experiments`] | files of data; studies |
//! | [`contract`] | the laws of the roles (feature `contract`) |
//!
//! ```
//! use mustlink::ndarray::array;
//! use mustlink::plugins::base_clusterers::pck_means::PckMeans;
//! use mustlink::prelude::*;
//! use mustlink::run;
//!
//! # fn main() -> Result<()> {
//! let data = Data::dense(array![[0.0, 0.1], [0.2, 0.0], [5.0, 5.1], [5.2, 4.9], [2.4, 2.6]])?;
//! let constraints = Constraints::new(5, [Constraint::must(0, 4), Constraint::cannot(2, 4)])?;
//! let problem = Problem::new(data).with_k(2).with_constraints(constraints);
//!
//! let method = PckMeans { weight: AutoOr::Value(10.0), ..PckMeans::default() };
//! let found = run::cluster(&method, &problem, &Context::new(7))?;
//! assert_eq!(found.clustering.labels[4], found.clustering.labels[0]);
//! # Ok(())
//! # }
//! ```

// What is not part of the face is reached by those who write plugins, and by the program.
#[doc(hidden)]
pub use mustlink_core::*;
#[doc(hidden)]
pub use mustlink_external::parts::{exchange, kept_children, programs, scripts};
#[doc(hidden)]
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

/// The crate of matrices and vectors that data is made of.
///
/// ```
/// use mustlink::ndarray::array;
/// assert_eq!(array![[1.0, 2.0], [3.0, 4.0]].sum(), 10.0);
/// ```
#[doc(no_inline)]
pub use ndarray;

/// The crate of JSON values, in which configurations are plain data.
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

/// ```
/// use mustlink::{Clustering, Status};
///
/// let clustering = Clustering::from_labels(vec![1, 0, 1]);
/// assert_eq!((clustering.k, clustering.sizes()), (2, vec![1, 2]));
/// assert_eq!(clustering.status, Status::default());
/// ```
#[doc(inline)]
pub use mustlink_core::{Clustering, Status};

/// ```
/// use mustlink::{Constraint, Constraints, Kind};
///
/// # fn main() -> mustlink::Result<()> {
/// let given = [Constraint::must(0, 2), Constraint::cannot(1, 2).weighing(0.5)];
/// let constraints = Constraints::new(3, given)?;
/// assert_eq!(constraints.count(Kind::MustLink), 1);
/// assert_eq!(constraints.violations(&[0, 1, 1]).total(), 2);
/// assert!(Constraints::new(2, given).is_err(), "object 2 is not there");
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use mustlink_core::{Constraint, Constraints, Kind};

/// ```
/// use mustlink::Context;
///
/// // Equal seeds and equal purposes give equal numbers, whatever else is drawn.
/// let ctx = Context::new(7);
/// assert_eq!(ctx.stream("start").below(100), Context::new(7).stream("start").below(100));
/// let of_a_member = ctx.child("clusterer").index(3);
/// assert_ne!(of_a_member.path(), ctx.path());
/// assert!(ctx.check().is_ok(), "nobody cancelled it");
/// ```
#[doc(inline)]
pub use mustlink_core::Context;

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
pub use mustlink_core::{Csr, Data, DataKind, Row};

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
pub use mustlink_core::ensemble::{Ensemble, Member};

/// ```
/// use mustlink::{Error, Result};
///
/// fn positive(width: f64) -> Result<f64> {
///     match width > 0.0 {
///         true => Ok(width),
///         false => Err(Error::bad_param("width", width, "> 0")),
///     }
/// }
/// assert_eq!(positive(-1.0).unwrap_err().to_string(), "width: must be > 0, got -1");
/// ```
#[doc(inline)]
pub use mustlink_core::{Error, Result};

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
pub use mustlink_core::{Problem, Shape, Start};

/// The laws of the roles, problems to try them on, and strategies of `proptest` (feature `contract`).
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

/// What a file that uses the library imports: `use mustlink::prelude::*;`
///
/// It brings the types of this page, the roles, and the attributes of a plugin file.
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

/// The types of all methods, one module per role, with their options as public fields.
///
/// Options that are left out have the defaults that configurations have; the same ranges hold and give
/// the same messages when the method is run.
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
    /// ```
    /// use mustlink::plugins::external::external_clusterer::ExternalClusterer;
    ///
    /// let command = vec!["python3".into(), "my_method.py".into()];
    /// let clusterer = ExternalClusterer { command, ..ExternalClusterer::default() };
    /// assert!(clusterer.needs_k);
    /// ```
    #[doc(inline)]
    pub use mustlink_external as external;
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
    #[doc = include_str!("../book/src/test-an-invariant.md")]
    struct TestAnInvariant;
}
