//! Tests that the memory declared by plugins covers the memory that they hold. Each runs on one thread, and
//! its largest memory is measured without its data.

use std::sync::Mutex;

use mustlink::contract::{self, fixtures};
use mustlink::datasets::{Dataset, write_labels};
use mustlink::ndarray::Array2;
use mustlink::prelude::*;
use mustlink::registry::{Catalogue, Role, build_default};
use mustlink::run;
use peak_alloc::PeakAlloc;
use serde_json::json;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// One test at a time: memory that other tests hold would be measured, too.
static MEASURING: Mutex<()> = Mutex::new(());

/// Bytes held at most during `work`, beyond those held before.
fn peak<T>(work: impl FnOnce() -> T) -> (u64, T) {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let made = work();
    (MEMORY.peak_usage().saturating_sub(before) as u64, made)
}

/// The law that crates of plugins are held to, over all plugins of the library.
#[test]
fn declared_memory_covers_what_is_held() {
    let _alone = MEASURING.lock();
    let cases = contract::cases();
    let laws = cases.iter().filter(|case| case.name.ends_with(contract::memory::LAW));
    let (mut measured, mut wrong) = (0, Vec::new());
    for case in laws {
        measured += 1;
        wrong.extend(case.run().err().map(|complaint| format!("{}: {complaint}", case.name)));
    }
    assert!(measured > 80, "only {measured} plugins were measured");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The results of all starts that are held count: with many features they are most of the memory.
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
        if d.option("k").is_none() || plugin.properties().needs_setup {
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

/// Partitions are held while they are combined.
#[test]
fn a_consensus_counts_its_partitions() {
    let _alone = MEASURING.lock().unwrap_or_else(|e| e.into_inner());
    let n = 1000;
    let problem = Problem::new(Data::dense(Array2::zeros((n, 1))).unwrap());
    let voting: Box<dyn ConsensusFunction> = build_default("voting").unwrap();
    let labels: Vec<u32> = (0..n as u32).map(|i| i % 3).collect();
    let needed = |members: usize| {
        let ensemble = Ensemble::new(n, vec![Member::from_labels(&labels); members]).unwrap();
        let ctx = Context::builder(SeedPath::new(1)).memory_limit(Some(1)).build();
        match run::combine(&*voting, &ensemble, &problem, &ctx) {
            Err(Error::Memory { needed, .. }) => needed,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(needed(52) - needed(2), 50 * 4 * n as u64);
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
