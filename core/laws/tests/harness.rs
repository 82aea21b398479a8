//! Reports of the harness about plugins whose mistakes no verdict can describe.
//!
//! This program starts itself as the test program of a crate of plugins, and reads what it prints.

use std::process::Command;

use mustlink_core::prelude::*;
use mustlink_laws::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// A law of a plugin, the environment that it runs in, and what is printed.
type Mistake<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [&'a str]);

/// Set in the program that runs the laws.
const CHILD: &str = "MUSTLINK_LAWS_OF_THIS_TEST";

macro_rules! metric {
    ($type:ident, [$($plugin:tt)*], $facts:expr, $score:expr) => {
        /// A metric with a mistake.
        #[options]
        pub struct $type {}

        #[plugin($($plugin)*)]
        impl Metric for $type {
            fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
                let score: fn(&MetricInput) -> Result<Option<f64>> = $score;
                score(input)
            }

            fn properties(&self) -> MetricProperties {
                let facts: fn() -> MetricProperties = $facts;
                facts()
            }
        }
    };
}

metric!(Spins, ["spins"], MetricProperties::default, |_| loop {
    std::hint::spin_loop();
});
metric!(Waits, ["waits"], MetricProperties::default, |_| loop {
    std::thread::park();
});
metric!(
    Considers,
    ["considers"],
    || if std::env::var_os("MUSTLINK_CONSIDERS").is_some() {
        loop {
            std::hint::spin_loop();
        }
    } else {
        MetricProperties::default()
    },
    |_| Ok(None)
);
metric!(Panics, ["panics"], MetricProperties::default, |input| Ok(Some(
    1.0 / f64::from(input.labels[1_000_000])
)));
metric!(
    Excused,
    ["excused", waives = ["score_is_in_range" => "it counts from two"]],
    MetricProperties::default,
    |_| Ok(Some(2.0))
);

/// A clusterer that holds a matrix, or never gives it back.
#[options]
pub struct Matrix {}

#[plugin("matrix")]
impl BaseClusterer for Matrix {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        ctx.check()?;
        let k = problem.require_k(None, "matrix")?;
        let n = problem.n();
        let squares = std::hint::black_box(vec![1.0f32; n * n]);
        if std::env::var_os("MUSTLINK_LEAK").is_some() {
            std::mem::forget(vec![1u8; 32 * n]);
        }
        let labels = (0..n).map(|i| (squares[i] as usize * i % k) as u32).collect();
        Ok(Clustering { labels, k, ..Clustering::default() })
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let matrix =
            if std::env::var_os("MUSTLINK_LEAK").is_some() { 8 * shape.n * shape.n } else { 0 };
        (8 * shape.n + matrix) as u64
    }
}

/// Output of the laws that `filter` selects, with these variables, and true if they hold.
fn laws(filter: &str, variables: &[(&str, &str)]) -> (bool, String) {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command.arg(filter).env(CHILD, "1").env("RUST_BACKTRACE", "0");
    let output = command.envs(variables.iter().copied()).output().expect("it starts");
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (output.status.success(), text.concat())
}

fn main() {
    if std::env::var_os(CHILD).is_some() {
        mustlink_laws::main_of(env!("CARGO_PKG_NAME"));
    }
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    let soon = ("MUSTLINK_LAW_SECONDS", "1");
    let broken: [Mistake<'_>; 6] = [
        (
            "spins/score_is_in_range",
            &[soon],
            &[
                "error: metrics/spins/score_is_in_range has run for ",
                "the limit is 1 s of processor time. Call ctx.check() in each loop",
                "harness.rs:",
            ],
        ),
        (
            "waits/nothing_has_no_score",
            &[soon],
            &["error: metrics/waits/nothing_has_no_score has run for ", "MUSTLINK_LAW_SECONDS=N"],
        ),
        (
            "panics",
            &[soon, ("MUSTLINK_CONSIDERS", "1")],
            &["error: metrics/considers, to find out which laws apply, has run for "],
        ),
        (
            "panics/score_is_in_range",
            &[],
            &[
                "panicked at core/laws/tests/harness.rs:",
                "index out of bounds: the len is ",
                "\n  in ",
            ],
        ),
        (
            "matrix/memory_is_declared",
            &[],
            &["memory() says 4800 bytes for n = 600, and the run holds 1"],
        ),
        (
            "matrix/memory_is_declared",
            &[("MUSTLINK_LEAK", "1")],
            &["each run leaves 19200 bytes behind that are never given back"],
        ),
    ];
    for (filter, variables, words) in broken {
        let (holds, text) = laws(filter, variables);
        assert!(!holds, "{filter} holds:\n{text}");
        for words in words {
            assert!(text.contains(words), "{filter} does not say {words:?}:\n{text}");
        }
        assert!(!text.contains("stack backtrace"), "{text}");
    }
    let (holds, text) = laws("excused/score_is_in_range", &[]);
    assert!(holds, "{text}");
    assert!(text.contains("ignored (waived: it counts from two)"), "{text}");
    assert!(!text.contains("... ok"), "{text}");
}
