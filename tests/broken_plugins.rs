//! Plugins that are broken on purpose, and the law that reports each.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};

use mustlink::contract::{self, fixtures};
use mustlink::prelude::*;
use mustlink::random::SeedPath;
use mustlink::registry::build_default;

macro_rules! broken_clusterer {
    ($type:ident, $tag:literal, $summary:literal, $facts:expr, $cluster:expr) => {
        #[doc = $summary]
        #[options]
        struct $type {}

        #[plugin($tag)]
        impl BaseClusterer for $type {
            fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
                ctx.check()?;
                let cluster: fn(&Problem, usize) -> Vec<u32> = $cluster;
                let k = problem.require_k(None, $tag)?;
                Ok(Clustering { k, ..Clustering::from_labels(cluster(problem, k)) })
            }

            fn properties(&self) -> Properties {
                $facts
            }
        }
    };
}

broken_clusterer!(
    IgnoresSeed,
    "ignores_seed",
    "Seeds itself from a counter.",
    Properties::default(),
    |problem, k| {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let mut draw = SeedPath::new(COUNTER.fetch_add(1, Ordering::Relaxed)).stream("labels");
        (0..problem.n()).map(|_| draw.below(k) as u32).collect()
    }
);

broken_clusterer!(
    LosesAnObject,
    "loses_an_object",
    "Returns n − 1 labels.",
    Properties::default(),
    |problem, _| vec![0; problem.n() - 1]
);

broken_clusterer!(
    BreaksItsPromise,
    "breaks_its_promise",
    "Promises every cannot-link and looks at none.",
    Properties { reads_constraints: true, hard_cannot: true, ..Properties::default() },
    |problem, k| (0..problem.n()).map(|i| (i % k) as u32 / 2).collect()
);

broken_clusterer!(
    IteratesAHashMap,
    "iterates_a_hash_map",
    "Numbers clusters in the order of a hash map.",
    Properties::default(),
    |problem, k| {
        let objects: HashMap<usize, ()> = (0..problem.n()).map(|i| (i, ())).collect();
        let mut labels = vec![0; problem.n()];
        objects.keys().enumerate().for_each(|(at, &i)| labels[i] = (at % k) as u32);
        labels
    }
);

broken_clusterer!(
    Panics,
    "panics",
    "Divides by the range of the first feature, which may be nothing.",
    Properties::default(),
    |problem, k| {
        let range = (problem.data.row(0).norm2() - problem.data.row(1).norm2()).abs();
        assert!(range > 0.0, "attempt to divide by zero");
        (0..problem.n()).map(|i| (i % k) as u32).collect()
    }
);

/// Asks all pairs in order and says that it passes over what is entailed.
#[options]
struct AsksEntailed {}

#[plugin("asks_entailed")]
impl QuerySelector for AsksEntailed {
    fn start(&self, problem: &Problem, _: &Context) -> Result<Box<dyn Inquiry>> {
        let objects = problem.eligible_objects();
        let later = |at: usize| objects[at + 1..].iter().map(move |&j| (at, j));
        let pairs = (0..objects.len()).flat_map(later).map(|(at, j)| (objects[at], j)).collect();
        Ok(Box::new(AllPairs { pairs, at: 0 }))
    }

    fn properties(&self) -> SelectorProperties {
        SelectorProperties { skips_entailed: true, ..SelectorProperties::default() }
    }
}

struct AllPairs {
    pairs: Vec<(u32, u32)>,
    at: usize,
}

impl Inquiry for AllPairs {
    fn step(&mut self) -> Result<Step> {
        Ok(match self.pairs.get(self.at) {
            Some(&(reference, subject)) => {
                Step::Ask { id: self.at as QueryId, subject, reference, purpose: "all" }
            }
            None => Step::Done(Done::Exhausted),
        })
    }

    fn tell(&mut self, id: QueryId, _: Reply) -> Result<()> {
        if id != self.at as QueryId || self.at >= self.pairs.len() {
            return Err(Error::Oracle(format!("query {id} is not the open one")));
        }
        self.at += 1;
        Ok(())
    }
}

/// Tag → law → complaint, for the plugins of this file and a program that hangs.
fn broken_laws() -> BTreeMap<String, BTreeMap<String, String>> {
    let mut found: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for case in contract::cases_for(|d| d.file.ends_with("broken_plugins.rs")) {
        if let Err(complaint) = case.run() {
            let mut names = case.name.split('/').skip(1).map(String::from);
            let (tag, law) = (names.next().unwrap(), names.next().unwrap());
            found.entry(tag).or_default().insert(law, complaint);
        }
    }
    #[cfg(unix)]
    for (law, verdict) in contract::check_plugin(&*hangs()) {
        if let Err(complaint) = verdict {
            found.entry("hangs".into()).or_default().insert(law.into(), complaint);
        }
    }
    found
}

/// A program that never says a word.
#[cfg(unix)]
fn hangs() -> Box<dyn BaseClusterer> {
    use mustlink::roles::RoleObject;
    let config = mustlink::serde_json::json!({
        "type": "external_clusterer",
        "command": ["sleep", "600"],
        "timeout_seconds": 0.1,
    });
    <dyn BaseClusterer>::from_value(config).expect("a legal configuration")
}

/// Each defect, and the law that must name it with these words.
const DEFECTS: [(&str, &str, &str); 7] = [
    (
        "ignores_seed",
        "same_seed_same_bits",
        "the order of a HashMap or HashSet, a random generator of your own, or a clock reaches",
    ),
    ("loses_an_object", "one_label_per_object", "44 labels for 45 objects"),
    ("breaks_its_promise", "hard_promises_hold", "it promises every cannot-link and violates"),
    ("asks_entailed", "never_asks_what_is_entailed", "that is known already"),
    ("iterates_a_hash_map", "same_seed_same_bits", "two runs with one seed differ"),
    ("panics", "equal_rows_are_legal", "panicked: attempt to divide by zero"),
    ("hangs", "ends_in_time", "timeout_seconds: stopped after the time limit of 0.1 s"),
];

#[test]
fn every_defect_is_named_by_a_law() {
    use std::io::Write;
    let found = broken_laws();
    let mut table =
        String::from("defect                 law                            complaint\n");
    for (tag, laws) in &found {
        for (law, complaint) in laws {
            table += &format!("{tag:<22} {law:<30} {complaint}\n");
        }
    }
    // Shown by `cargo test --test broken_plugins`, whether it fails or not.
    let _ = std::io::stderr().write_all(table.as_bytes());
    for (tag, law, words) in DEFECTS {
        if tag == "hangs" && !cfg!(unix) {
            continue;
        }
        let complaint = found.get(tag).and_then(|laws| laws.get(law));
        let named = complaint.is_some_and(|c| c.contains(words));
        assert!(named, "{tag}: {law} says {complaint:?}\n{table}");
    }
    let known: BTreeSet<&str> = DEFECTS.iter().map(|(tag, ..)| *tag).collect();
    let strangers = found.keys().find(|tag| !known.contains(tag.as_str()));
    assert_eq!(strangers, None, "{table}");
}

#[test]
fn a_healthy_plugin_breaks_nothing() {
    for tag in ["kmeans", "pck_means"] {
        let plugin = build_default::<dyn BaseClusterer>(tag).expect("linked");
        let broken: Vec<_> =
            contract::check_plugin(&*plugin).into_iter().filter(|(_, v)| v.is_err()).collect();
        assert!(broken.is_empty(), "{tag}: {broken:?}");
    }
}

/// A failure is shown on the smallest problem that still fails in the same words.
#[test]
fn failures_are_made_small() {
    let small = |tag: &str, name: &str| {
        let plugin = build_default::<dyn BaseClusterer>(tag).expect("linked");
        let laws = contract::laws_for(&*plugin);
        let law = laws.iter().find(|law| law.name == name).expect("a law of the plugin");
        let small = contract::shrink(law, &*plugin).expect("the law is broken");
        let problem = small.problem.clone().expect("it was tried on one");
        (small.to_string(), problem.n(), problem.d(), problem.constraints.len())
    };
    let (text, n, d, m) = small("loses_an_object", "one_label_per_object");
    assert!(text.contains("2 labels for 3 objects"), "{text}");
    assert_eq!((n, d, m), (3, 1, 0), "{text}");
    let (text, _, d, m) = small("breaks_its_promise", "hard_promises_hold");
    assert!(text.contains("violates"), "{text}");
    assert_eq!((d, m), (1, 1), "{text}");
    assert!(text.contains("\n    cannot_link "), "{text}");
    let healthy = build_default::<dyn BaseClusterer>("kmeans").expect("linked");
    for law in contract::laws_for(&*healthy).iter().take(4) {
        assert!(contract::shrink(law, &*healthy).is_none(), "{}", law.name);
    }
    // The limits are gone.
    assert_eq!(fixtures::dense(1).0.n(), 45);
}
