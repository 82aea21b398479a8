//! Does what the plugins declare cover what they hold? Their largest memory is measured while each runs
//! on one thread, beside its data: `cargo test --test memory -- --nocapture` shows all of them.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Mutex;

use mustlink::contract::fixtures;
use mustlink::datasets::{Dataset, write_labels};
use mustlink::ndarray::Array2;
use mustlink::prelude::*;
use mustlink::registry::{Catalogue, Role, build_default};
use mustlink::roles::{
    ConsensusFunction, ConstraintPropagator, EnsembleGenerator, Scene, Transform,
};
use mustlink::{run, selection};
use peak_alloc::PeakAlloc;
use serde_json::json;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// What other tests hold meanwhile would be measured, too.
static MEASURING: Mutex<()> = Mutex::new(());

/// Objects, features, clusters, and members of an ensemble.
const SIZES: [usize; 4] = [600, 8, 4, 10];

/// Bytes held at most during `work`, beyond those held before.
fn peak<T>(work: impl FnOnce() -> T) -> (u64, T) {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let made = work();
    (MEMORY.peak_usage().saturating_sub(before) as u64, made)
}

fn problem(accepts: &[DataKind], constrained: bool) -> (Problem, Vec<u32>) {
    let [n, d, k, _] = SIZES;
    let (x, classes) = fixtures::groups(n / 3, d, 3.0, 1);
    let mut problem = Problem::new(Data::dense(x).unwrap()).with_k(k);
    if constrained {
        problem = problem.with_constraints(fixtures::true_constraints(&classes, 60, 2));
    }
    (fixtures::of_first_kind(accepts, problem), classes)
}

/// Whether so many bytes are covered within a quarter. Two more forms of the data are kept with the data,
/// where all who read them find them; messages, names and small lists nobody declares.
fn covers(declared: u64, held: u64) -> bool {
    const SMALL: u64 = 1 << 18;
    let data = (8 * SIZES[0] * SIZES[1]) as u64;
    held <= declared + declared / 4 + 2 * data + SMALL
}

#[derive(Default)]
struct Table {
    all: String,
    wrong: Vec<String>,
    largest: u64,
}

impl Table {
    fn add<T>(&mut self, tag: &str, declared: u64, (held, made): (u64, Result<T>)) {
        let (d, h) = (declared >> 10, held >> 10);
        let failed = made.err().map(|e| e.to_string()).unwrap_or_default();
        let _ = writeln!(self.all, "{tag:<26} declares {d:>7} KiB, holds {h:>7} KiB {failed}");
        self.largest = self.largest.max(held);
        if !covers(declared, held) {
            self.wrong.push(format!("{tag}: declares {declared} bytes and holds {held}"));
        }
    }
}

fn tags(role: Role) -> Vec<&'static str> {
    Catalogue::get().unwrap().role(role).map(|d| d.tag).collect()
}

fn measure() -> Table {
    let mut table = Table::default();
    let ctx = Context::new(3);
    for tag in tags(Role::BaseClusterer) {
        let mut config = build_default::<dyn BaseClusterer>(tag).unwrap().to_value();
        // A search holds the most soon after it begins.
        if let Some(limit) = config.get_mut("node_limit") {
            *limit = 1000.into();
        }
        let plugin = <dyn BaseClusterer as RoleObject>::from_value(config).unwrap();
        let p = plugin.properties();
        if p.needs_setup {
            continue;
        }
        let (problem, _) = problem(&p.accepts, p.reads_constraints);
        let declared = plugin.memory(&problem.shape());
        table.add(tag, declared, peak(|| run::cluster(&*plugin, &problem, &ctx)));
    }
    let (dense, classes) = problem(&[DataKind::Dense], true);
    for tag in tags(Role::EnsembleGenerator) {
        let plugin = build_default::<dyn EnsembleGenerator>(tag).unwrap();
        let declared = plugin.memory(&dense.shape(), false);
        table.add(tag, declared, peak(|| plugin.generate(&dense, &ctx)));
    }
    let ensemble = ensemble(&classes);
    for tag in tags(Role::ConsensusFunction) {
        let plugin = build_default::<dyn ConsensusFunction>(tag).unwrap();
        let declared = plugin.memory(&dense.shape(), SIZES[3]);
        table.add(tag, declared, peak(|| plugin.combine(&ensemble, &dense, &ctx)));
    }
    for tag in tags(Role::Transform) {
        let plugin = build_default::<dyn Transform>(tag).unwrap();
        let (problem, _) = problem(&plugin.properties().accepts, true);
        let declared = plugin.memory(&problem.shape());
        let work = || plugin.fit(&problem, &ctx).and_then(|f| f.apply(&problem.data));
        table.add(tag, declared, peak(work));
    }
    let truth = build_default::<dyn Oracle>("truth").unwrap();
    for tag in tags(Role::QuerySelector) {
        let plugin = build_default::<dyn QuerySelector>(tag).unwrap();
        if plugin.properties().needs_setup {
            continue;
        }
        let (problem, classes) = problem(&[DataKind::Dense], false);
        let declared = plugin.memory(&problem.shape());
        let labels = classes.iter().map(|&c| Some(c)).collect();
        let mut oracle = truth.open(&Scene::with_labels(labels, ctx.child("oracle"))).unwrap();
        let given = Clustering::from_labels(classes);
        let provide = |_: &Constraints, _: u64| Ok(given.clone());
        let work = || {
            let ask = Some(&provide as &selection::ClusteringProvider);
            selection::run(&*plugin, &problem, &mut *oracle, Some(40), &[], ask, &ctx)
        };
        table.add(tag, declared, peak(work));
    }
    for tag in tags(Role::ConstraintPropagator) {
        let plugin = build_default::<dyn ConstraintPropagator>(tag).unwrap();
        let (problem, classes) = problem(&plugin.properties().accepts, true);
        let declared = plugin.memory(&problem.shape());
        let found = Clustering::from_labels(classes);
        let given = &problem.constraints;
        table.add(tag, declared, peak(|| plugin.propagate(given, Some(&found), &problem, &ctx)));
    }
    table
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
    Ensemble::new(n, (0..members).map(member).collect()).unwrap()
}

#[test]
fn declared_memory_covers_what_is_held() {
    let _alone = MEASURING.lock();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let table = pool.install(measure);
    let _ = std::io::stderr().write_all(table.all.as_bytes());
    assert!(table.wrong.is_empty(), "{}", table.wrong.join("\n"));
    assert!(!covers(0, table.largest), "what is not declared at all is found");
}

/// What starts leave is counted for as many as are held: with many features that is most of it.
#[test]
fn the_results_of_all_starts_are_declared() {
    let _alone = MEASURING.lock();
    let (x, classes) = fixtures::groups(40, 600, 3.0, 1);
    let constraints = fixtures::true_constraints(&classes, 60, 2);
    let problem = Problem::new(Data::dense(x).unwrap()).with_k(12).with_constraints(constraints);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let mut wrong = Vec::new();
    for config in [
        json!({ "type": "pck_means" }),
        json!({ "type": "pck_means", "init": "random", "restarts": 64 }),
        json!({ "type": "mpck_means", "init": "random", "restarts": 64 }),
        json!({ "type": "hmrf_kmeans", "init": "random", "restarts": 64 }),
    ] {
        let mut config = config;
        config["max_iterations"] = 2.into();
        let plugin = <dyn BaseClusterer as RoleObject>::from_value(config.clone()).unwrap();
        let declared = plugin.memory(&problem.shape());
        let run = || run::cluster(&*plugin, &problem, &Context::new(3)).unwrap();
        let (held, _) = pool.install(|| peak(run));
        // Two more forms of the data are kept with the data.
        let data = 8 * 120 * 600;
        if held > declared + declared / 4 + 2 * data + (1 << 18) {
            wrong.push(format!("{config} declares {declared} bytes and holds {held}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A number of clusters counts as much where it is an option as where the problem has it.
#[test]
fn an_own_number_of_clusters_is_declared() {
    let shape = |k| Shape { n: 20_000, d: 10, k, entries: 200_000, constraints: 500 };
    let (mut looked_at, mut wrong) = (0, Vec::new());
    for d in Catalogue::get().unwrap().role(Role::BaseClusterer) {
        let plugin: Box<dyn BaseClusterer> = build_default(d.tag).unwrap();
        let mut config = plugin.to_value();
        if !d.schema_value()["properties"]["k"].is_object() || plugin.properties().needs_setup {
            continue;
        }
        config["k"] = 60.into();
        let own = <dyn BaseClusterer as RoleObject>::from_value(config).unwrap();
        if own.memory(&shape(1)) != plugin.memory(&shape(60)) {
            wrong.push(d.tag);
        }
        looked_at += 1;
    }
    assert!(looked_at > 12 && wrong.is_empty(), "{wrong:?} of {looked_at} with an option k");
}

/// A row was a list of texts for each object, 172 bytes in all.
#[test]
fn labels_are_written_without_memory_for_each_object() {
    let _alone = MEASURING.lock().unwrap_or_else(|e| e.into_inner());
    let n = 200_000;
    let set = Dataset::new("set", Data::dense(Array2::zeros((n, 1))).unwrap());
    let labels: Vec<Option<u32>> = (0..n as u32).map(|i| Some(i % 7)).collect();
    let file = std::env::temp_dir().join(format!("mustlink-labels-{}.csv", std::process::id()));
    let (held, made) = peak(|| write_labels(&file.display().to_string(), &set, &labels));
    let written = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    made.unwrap();
    assert_eq!(written.lines().count(), n + 1);
    assert!(held < n as u64, "{held} bytes for {n} objects");
}
