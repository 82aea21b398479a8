//! How long does it take to say of every pair of objects how many members put them together, and to
//! choose questions without ever saying it?
//!
//! `cargo bench --bench ensembles`. The ids carry the sizes. Memory is the most that was allocated
//! at once during a run, as the allocation profiler counts it.

use divan::{AllocProfiler, Bencher};
use mustlink::prelude::*;
use mustlink::random::SeedPath;
use mustlink::selection;
use mustlink_kernels::ensemble::co_association::CoAssociation;
use mustlink_kernels::ensemble::imputation::{Thresholds, impute};
use ndarray::Array2;

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// `members` partitions of `n` objects into 2 to 20 clusters: ten groups, a fifth of the labels drawn.
fn ensemble(n: usize, members: usize) -> Ensemble {
    let member = |t: usize| {
        let mut s = SeedPath::new(1).index(t).stream("bench");
        let k = 2 + s.below(19);
        let label = |i: usize| if s.below(5) == 0 { s.below(k) } else { i % 10 % k } as u32;
        Member::from_labels(&(0..n).map(label).collect::<Vec<_>>())
    };
    Ensemble::new(n, (0..members).map(member).collect()).expect("members fit")
}

#[divan::bench(sample_count = 5, args = [(3_000, 2_000), (10_000, 2_000)])]
fn packed_counts(bencher: Bencher, (n, members): (usize, usize)) {
    let ensemble = ensemble(n, members);
    bencher.bench(|| CoAssociation::dense(&ensemble, &Context::new(1)).expect("not cancelled"));
}

/// Counts of all pairs without a matrix: what `impute` does beyond `max_matrix_bytes`.
#[divan::bench(sample_count = 3, args = [(10_000, 2_000)])]
fn imputed_without_a_matrix(bencher: Bencher, (n, members): (usize, usize)) {
    let co = CoAssociation::implicit(&ensemble(n, members));
    let thresholds = Thresholds::new(0.98, 0.0, members).expect("legal");
    bencher.bench(|| impute(&co, &thresholds, None, &Context::new(1)).expect("not cancelled"));
}

/// Members that follow ten groups; each has a few of the objects between two groups wrong.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Described)]
#[serde(default)]
struct Grouped {
    members: usize,
}

impl mustlink::options::Options for Grouped {}
impl Registered for Grouped {}

#[typetag::serde(name = "grouped_for_benches")]
impl EnsembleGenerator for Grouped {
    fn generate(&self, problem: &Problem, _: &Context) -> Result<Ensemble> {
        let n = problem.n();
        let member = |t: usize| {
            let mut s = SeedPath::new(2).index(t).stream("bench");
            // Every tenth object wavers between its group and the next.
            let mut label =
                |i: usize| if i % 100 < 10 && s.below(2) == 0 { (i + 1) % 10 } else { i % 10 };
            Member::from_labels(&(0..n).map(|i| label(i) as u32).collect::<Vec<_>>())
        };
        Ensemble::new(n, (0..self.members).map(member).collect())
    }
}

struct Classes;

impl Respondent for Classes {
    fn ask(&mut self, q: &Question) -> Result<Outcome> {
        let reply = if q.i % 10 == q.j % 10 { Reply::MustLink } else { Reply::CannotLink };
        Ok(Outcome::Answered(Answer::of(reply)))
    }
}

/// A whole selection of 150 questions, the ensemble made on the way included.
#[divan::bench(sample_count = 2, args = [(10_000, 200), (100_000, 200)])]
fn committee_asks_150_without_a_matrix(bencher: Bencher, (n, members): (usize, usize)) {
    let x = Array2::from_shape_fn((n, 2), |(i, f)| ((i + f) % 10) as f64);
    let problem = Problem::new(Data::dense(x).expect("finite")).with_k(10);
    let config = serde_json::json!({
        "type": "committee",
        "representation": "implicit",
        "generator": { "type": "grouped_for_benches", "members": members },
    });
    let committee = <dyn QuerySelector as RoleObject>::from_value(config).expect("legal");
    bencher.bench(|| {
        let ctx = Context::new(1);
        let points = [150];
        selection::run(&*committee, &problem, &mut Classes, Some(150), &points, None, &ctx)
            .expect("runs")
            .asked()
    });
}
