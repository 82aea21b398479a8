//! True constraints on real data are always satisfied: iris and wdbc, and with `MUSTLINK_DATA` more.

use std::io::Write;

use mustlink_base_clusterers::Attempts;
use mustlink_base_clusterers::cop_kmeans::CopKMeans;
use mustlink_core::prelude::*;
use mustlink_datasets::{OpenOptions, open};

/// 20 draws each of 100 and 300 random pairs with what the classes say about them.
fn twenty_draws_succeed(name: &str, options: &OpenOptions) {
    let set = open(name, options).unwrap();
    let k = set.k().unwrap();
    let classes = set.classes.as_ref().unwrap();
    let n = set.n();
    for pairs in [100, 300] {
        for seed in 0..20 {
            let mut s = SeedPath::new(seed).stream("pairs");
            let drawn: Vec<Constraint> = std::iter::from_fn(|| Some((s.below(n), s.below(n))))
                .filter(|(i, j)| i != j)
                .take(pairs)
                .map(|(i, j)| {
                    if classes.labels[i] == classes.labels[j] {
                        Constraint::must(i, j)
                    } else {
                        Constraint::cannot(i, j)
                    }
                })
                .collect();
            let constraints = Constraints::new(n, drawn).unwrap();
            let problem = Problem::new(set.data.clone()).with_k(k).with_constraints(constraints);
            let attempts = Attempts { restarts: 3, max_iterations: 20, ..Attempts::default() };
            let method = CopKMeans { attempts, ..CopKMeans::default() };
            let made = method.cluster(&problem, &Context::new(seed));
            let made = made.unwrap_or_else(|e| panic!("{name}, {pairs} pairs, seed {seed}: {e}"));
            assert_eq!(problem.constraints.violations(&made.labels).total(), 0);
            assert_eq!(made.extras.diagnostics["failed_attempts"], 0.0);
        }
    }
}

#[test]
fn true_constraints_on_built_in_sets_are_met() {
    for name in ["builtin:iris", "builtin:wdbc"] {
        twenty_draws_succeed(name, &OpenOptions::from_env());
    }
}

#[test]
fn true_constraints_on_sets_of_two_and_three_classes_are_met() {
    let options = OpenOptions::from_env();
    if options.data_dirs.is_empty() {
        let note = "skipped: wine, ionosphere and sonar need a data directory (MUSTLINK_DATA)\n";
        std::io::stderr().write_all(note.as_bytes()).unwrap();
        return;
    }
    for name in ["wine", "ionosphere", "sonar"] {
        twenty_draws_succeed(name, &options);
    }
}
