//! The harness stops with one line, not with a panic, if two plugins of the program have the same tag.
//!
//! This program starts itself as the test program of a crate of plugins, and reads what it prints.

use std::process::Command;

use mustlink_core::prelude::*;

/// Set in the program that runs the laws.
const CHILD: &str = "MUSTLINK_LAWS_OF_THIS_TEST";

macro_rules! metric {
    ($type:ident) => {
        /// A metric whose tag is taken.
        #[options]
        pub struct $type {}

        #[plugin("taken")]
        impl Metric for $type {
            fn score(&self, _: &MetricInput) -> Result<Option<f64>> {
                Ok(None)
            }
        }
    };
}
metric!(Taken);
metric!(TakenAgain);

fn main() {
    if std::env::var_os(CHILD).is_some() {
        mustlink_laws::main_of(env!("CARGO_PKG_NAME"));
    }
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    let program = std::env::current_exe().expect("this program");
    let output = Command::new(program).env(CHILD, "1").output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(101), "{text}");
    let begin = "error: registry: the tag \"taken\" is taken twice: by Taken";
    assert!(text.starts_with(begin) && text.trim_end().ends_with("; rename one"), "{text}");
    assert_eq!(text.matches("taken_twice.rs:").count(), 2, "{text}");
    assert!(!text.contains("panicked"), "{text}");
}
