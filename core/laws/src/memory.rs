//! The law that a plugin holds at most the memory that it declares, and frees all of it.
//!
//! Memory is counted by the global allocator. A test program that has [`PeakAlloc`] as its allocator tries
//! this law; all others leave it out.

use ndarray::Array2;
use peak_alloc::PeakAlloc;

use super::asking::Replies;
use super::law::{Law, Lawful, MEASURED, Verdict, in_threads, is_counted};
use super::{choices, fixtures};
use crate::ensure;
use mustlink_core::clustering::Clustering;
use mustlink_core::constraints::Constraints;
use mustlink_core::context::Context;
use mustlink_core::data::{Data, DataKind};
use mustlink_core::ensemble::{Ensemble, Member};
use mustlink_core::error::Result;
use mustlink_core::problem::Problem;
use mustlink_core::roles::{
    BaseClusterer, ConsensusFunction, ConstraintPropagator, EnsembleGenerator, QuerySelector,
    Transform,
};
use mustlink_core::{run, selection};

/// The name of this law.
pub const LAW: &str = MEASURED;

/// Objects, features, clusters, and members of an ensemble.
const SIZES: [usize; 4] = [600, 8, 4, 10];

/// Messages, names and small lists, which are not declared.
const SMALL: u64 = 1 << 18;

/// Memory that a run may leave behind: names that are kept, buffers of threads.
const LEFT: u64 = 1 << 14;

/// The law, for a role whose plugins declare memory.
pub(super) fn law<R: Lawful + ?Sized>(check: fn(&R) -> Verdict) -> Law<R> {
    Law::when(LAW, |_| is_counted(), check)
}

/// Bytes held at most during `work`, beyond those held before.
fn peak<T>(work: impl FnOnce() -> T) -> (u64, T) {
    let before = PeakAlloc.current_usage();
    PeakAlloc.reset_peak_usage();
    let made = work();
    (PeakAlloc.peak_usage().saturating_sub(before) as u64, made)
}

/// True if so many bytes are covered within a quarter. Two more forms of the data are kept with the data,
/// where all who read them find them.
fn covers(declared: u64, held: u64) -> bool {
    let data = (8 * SIZES[0] * SIZES[1]) as u64;
    held <= declared.saturating_add(declared / 4) + 2 * data + SMALL
}

/// Measures `work` on one thread, twice: what the first run keeps for all runs is not a leak.
fn measured<T: Send>(declared: u64, work: impl Fn() -> Result<T> + Sync) -> Verdict {
    let (held, left, failure) = in_threads(1, || {
        let (held, made) = peak(&work);
        let failure = made.err();
        let before = PeakAlloc.current_usage();
        drop(work());
        let left = PeakAlloc.current_usage().saturating_sub(before) as u64;
        (held, left, failure)
    });
    if let Some(e) = failure
        && let Some(broken) = choices::broken(&e)
    {
        return Err(broken.into());
    }
    let n = SIZES[0];
    ensure!(
        covers(declared, held),
        "memory() says {declared} bytes for n = {n}, and the run holds {held}; n × n numbers are {}",
        8 * n * n
    );
    ensure!(left <= LEFT, "each run leaves {left} bytes behind that are never given back");
    Ok(())
}

fn problem(accepts: &[DataKind], constrained: bool) -> (Problem, Vec<u32>) {
    let [n, d, k, _] = SIZES;
    let (x, classes) = fixtures::groups(n / 3, d, 3.0, 1);
    let mut problem = Problem::new(Data::dense(x).expect("finite")).with_k(k);
    if constrained {
        problem = problem.with_constraints(fixtures::true_constraints(&classes, 60, 2));
    }
    (fixtures::of_first_kind(accepts, problem), classes)
}

pub(super) fn of_clusterer(p: &dyn BaseClusterer) -> Verdict {
    let facts = p.properties();
    let (problem, _) = problem(&facts.accepts, facts.reads_constraints);
    measured(p.memory(&problem.shape()), || run::cluster(p, &problem, &Context::new(3)))
}

pub(super) fn of_generator(p: &dyn EnsembleGenerator) -> Verdict {
    let (problem, _) = problem(&[DataKind::Dense], true);
    measured(p.memory(&problem.shape(), false), || p.generate(&problem, &Context::new(3)))
}

pub(super) fn of_consensus(p: &dyn ConsensusFunction) -> Verdict {
    let (problem, classes) = problem(&[DataKind::Dense], true);
    let ensemble = ensemble(&classes);
    let declared = p.memory(&problem.shape(), ensemble.len());
    measured(declared, || p.combine(&ensemble, &problem, &Context::new(3)))
}

pub(super) fn of_transform(p: &dyn Transform) -> Verdict {
    let (problem, _) = problem(&p.properties().accepts, true);
    let work = || p.fit(&problem, &Context::new(3)).and_then(|f| f.apply(&problem.data));
    measured(p.memory(&problem.shape()), work)
}

pub(super) fn of_selector(p: &dyn QuerySelector) -> Verdict {
    let (problem, classes) = problem(&[DataKind::Dense], false);
    let replies = Replies(Some(classes.clone()));
    let given = Clustering::from_labels(classes);
    let provide = |_: &Constraints, _: u64| Ok(given.clone());
    let work = || {
        let ask = Some(&provide as &selection::ClusteringProvider);
        selection::run(p, &problem, &mut replies.clone(), Some(40), &[], ask, &Context::new(3))
    };
    measured(p.memory(&problem.shape()), work)
}

pub(super) fn of_propagator(p: &dyn ConstraintPropagator) -> Verdict {
    let (problem, classes) = problem(&p.properties().accepts, true);
    let found = Clustering::from_labels(classes);
    let (given, ctx) = (&problem.constraints, Context::new(3));
    measured(p.memory(&problem.shape()), || p.propagate(given, Some(&found), &problem, &ctx))
}

/// Members with all that a consensus function may ask for.
fn ensemble(classes: &[u32]) -> Ensemble {
    let [n, d, k, members] = SIZES;
    let member = |t: usize| {
        let moved = classes.iter().enumerate().map(|(i, &c)| if i % 7 == t { 3 } else { c });
        let mut member = Member::from_labels(&moved.collect::<Vec<u32>>());
        member.extras.distances = Some(Array2::from_shape_fn((n, k), |(i, h)| {
            f64::from(u8::from(classes[i] as usize != h)) + (i % 5) as f64 / 9.0
        }));
        member.extras.weights = Some(Array2::from_elem((k, d), 1.0 / d as f64));
        member
    };
    Ensemble::new(n, (0..members).map(member).collect()).expect("members of one size")
}
