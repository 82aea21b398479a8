//! The waiting time for the next question.
//!
//! `cargo bench --bench selection`. The ids carry the sizes; threads are those of the machine. The
//! oracle knows the classes and costs no time.

use divan::Bencher;
use mustlink::random::SeedPath;
use mustlink::roles::{
    Answer, BaseClusterer, Inquiry, Outcome, QuerySelector, Question, Reply, Respondent,
    RoleObject, Step,
};
use mustlink::{Clustering, Context, Data, Problem, Result, registry, run, selection};
use mustlink_query_selectors::npu::columns::Columns;
use mustlink_query_selectors::npu::random_forest::RandomForest;
use ndarray::Array2;
use serde_json::{Value, json};

fn main() {
    divan::main();
}

struct Truth(Vec<u32>);

impl Truth {
    fn reply(&self, i: u32, j: u32) -> Reply {
        if self.0[i as usize] == self.0[j as usize] { Reply::MustLink } else { Reply::CannotLink }
    }
}

impl Respondent for Truth {
    fn ask(&mut self, q: &Question) -> Result<Outcome> {
        Ok(Outcome::Answered(Answer::of(self.reply(q.i, q.j))))
    }
}

/// The 1797 × 64 images of digits and their classes.
fn digits() -> (Problem, Truth) {
    let text = include_str!("../datasets/data/digits.csv");
    let (mut x, mut classes) = (Vec::new(), Vec::new());
    for line in text.lines().skip(1) {
        let mut row: Vec<f64> = line.split(',').map(|v| v.parse().expect("a number")).collect();
        classes.push(row.pop().expect("a class") as u32);
        x.extend(row);
    }
    let x = Array2::from_shape_vec((classes.len(), 64), x).expect("64 pixels");
    (Problem::new(Data::dense(x).expect("finite")).with_k(10), Truth(classes))
}

/// n × d around k centres, near enough to one another that clusters touch.
fn groups(n: usize, d: usize, k: usize) -> (Problem, Truth) {
    let mut s = SeedPath::new(2).stream("bench");
    let centres = Array2::from_shape_fn((k, d), |_| 1.5 * s.normal());
    let classes: Vec<u32> = (0..n).map(|_| s.below(k) as u32).collect();
    let x = Array2::from_shape_fn((n, d), |(i, f)| centres[[classes[i] as usize, f]] + s.normal());
    (Problem::new(Data::dense(x).expect("finite")).with_k(k), Truth(classes))
}

fn selector(config: Value) -> Box<dyn QuerySelector> {
    <dyn QuerySelector as RoleObject>::from_value(config).expect("linked")
}

fn ask(config: &Value, problem: &Problem, truth: &Truth, budget: usize) -> usize {
    let (selector, mut oracle) = (selector(config.clone()), Truth(truth.0.clone()));
    let ctx = Context::new(1);
    let run = selection::run(&*selector, problem, &mut oracle, Some(budget), &[], None, &ctx);
    run.expect("runs").asked()
}

#[divan::bench(sample_count = 20)]
fn min_max_200_questions_about_digits(bencher: Bencher) {
    let (problem, truth) = digits();
    let config = json!({ "type": "min_max_selection" });
    bencher.bench(|| ask(&config, &problem, &truth, 200));
}

#[divan::bench(sample_count = 5)]
fn npu_100_questions_about_digits(bencher: Bencher) {
    let (problem, truth) = digits();
    let config = json!({ "type": "npu", "clusterer": { "type": "pck_means", "weight": 1.0 } });
    bencher.bench(|| ask(&config, &problem, &truth, 100));
}

/// n = 10 000 objects: features and clusters.
const SHAPES: [(usize, usize); 3] = [(2, 3), (10, 5), (64, 10)];

/// From the reply that settles an object to the next question, with clustering and forest.
#[divan::bench(sample_count = 10, args = SHAPES)]
fn npu_next_question_at_10_000(bencher: Bencher, (d, k): (usize, usize)) {
    let (problem, truth) = groups(10_000, d, k);
    let config = json!({ "type": "npu", "clusterer": { "type": "pck_means", "weight": 1.0 } });
    let selector = selector(config);
    let settling = || {
        let mut inquiry = selector.start(&problem, &Context::new(1)).expect("starts");
        let mut asked = 0;
        loop {
            let Step::Ask { id, subject, reference, .. } = inquiry.step().expect("asks") else {
                unreachable!("10 000 objects are not placed by 30 questions")
            };
            let reply = truth.reply(subject, reference);
            if asked >= 30 && reply == Reply::MustLink {
                return (inquiry, id, reply);
            }
            inquiry.tell(id, reply).expect("takes");
            asked += 1;
        }
    };
    let tell = |(mut inquiry, id, reply): (Box<dyn Inquiry>, u64, Reply)| {
        inquiry.tell(id, reply).expect("takes");
    };
    bencher.with_inputs(settling).bench_local_values(tell);
}

fn clustered(problem: &Problem) -> Clustering {
    let clusterer = registry::build_default::<dyn BaseClusterer>("pck_means").expect("linked");
    run::cluster(&*clusterer, problem, &Context::new(1)).expect("runs").clustering
}

/// The clustering in it.
#[divan::bench(sample_count = 10, args = SHAPES)]
fn pck_means_at_10_000(bencher: Bencher, (d, k): (usize, usize)) {
    let (problem, _) = groups(10_000, d, k);
    bencher.bench(|| clustered(&problem));
}

/// A forest with every leaf.
#[divan::bench(sample_count = 10, args = SHAPES)]
fn forest_of_50_trees_at_10_000(bencher: Bencher, (d, k): (usize, usize)) {
    let (problem, _) = groups(10_000, d, k);
    let labels = clustered(&problem).labels;
    let columns = Columns::new(&problem.data);
    let per_split = d.ilog2() as usize + 1;
    bencher.bench(|| RandomForest::grow(&columns, &labels, 50, per_split, None, &Context::new(1)));
}

/// The forest in it, with what is near 50 objects.
#[divan::bench(sample_count = 10, args = SHAPES)]
fn forest_near_50_objects_at_10_000(bencher: Bencher, (d, k): (usize, usize)) {
    let (problem, _) = groups(10_000, d, k);
    let labels = clustered(&problem).labels;
    let columns = Columns::new(&problem.data);
    let (per_split, near) = (d.ilog2() as usize + 1, (0..50).collect::<Vec<u32>>());
    let near = Some(near.as_slice());
    bencher.bench(|| RandomForest::grow(&columns, &labels, 50, per_split, near, &Context::new(1)));
}

/// The shared part of the forests of one selection.
#[divan::bench(sample_count = 10, args = SHAPES)]
fn ranks_at_10_000(bencher: Bencher, (d, k): (usize, usize)) {
    let (problem, _) = groups(10_000, d, k);
    bencher.bench(|| Columns::new(&problem.data));
}

/// The scores in it, with 50 objects in the neighbourhoods.
#[divan::bench(sample_count = 10, args = SHAPES)]
fn shared_leaves_at_10_000(bencher: Bencher, (d, k): (usize, usize)) {
    let (problem, truth) = groups(10_000, d, k);
    let labels = clustered(&problem).labels;
    let columns = Columns::new(&problem.data);
    let forest =
        RandomForest::grow(&columns, &labels, 50, 2, None, &Context::new(1)).expect("grows");
    let of = |c: u32| (0..50).filter(|&i| truth.0[i as usize] == c).collect::<Vec<u32>>();
    let sets: Vec<Vec<u32>> = (0..k as u32).map(of).collect();
    let objects: Vec<u32> = (50..10_000).collect();
    bencher.bench(|| forest.shared_with(&objects, &sets));
}
