//! Replies of programs in other languages. `cat` is one whose replies are the lines of a file.

use mustlink::exchange;
use mustlink::prelude::*;
use mustlink::roles::{Oracle, QuerySelector, Question, Scene};
use mustlink::scripts::describe;
use serde_json::{Value, json};

use super::harness::Harness;

pub(super) const WORDS: &[&str] = &[
    "\"v\":1",
    "\"type\":\"hello\"",
    "\"type\":\"answer\"",
    "\"type\":\"sorted\"",
    "\"id\":\"q000001\"",
    "\"reply\":\"must_link\"",
    "\"cannot_link\"",
    "\"confidence\":",
    "\"groups\":[[",
    "\"name\":\"x\"",
    "\"type\":\"clustering\"",
    "\"labels\":[",
    "\"k\":",
    "\"objective\":",
    "\"type\":\"progress\"",
    "\"type\":\"started\"",
    "\"type\":\"ask\"",
    "\"subject\":",
    "\"reference\":",
    "\"type\":\"told\"",
    "\"events\":[",
    "\"type\":\"need_clustering\"",
    "\"constraints\":[[",
    "\"type\":\"done\"",
    "\"infeasible\"",
    "\"objects\":[",
    "\"options\":{",
    "\"role\":\"selector\"",
    "\"properties\":{",
    "\"again\":true",
    "x.npy",
    "}\n",
];

/// Seconds that a reply may take: `cat` needs none of them.
const PATIENCE: f64 = 5.0;

fn problem() -> Problem {
    let x = mustlink::ndarray::Array2::from_shape_fn((6, 2), |(i, j)| (i * 2 + j) as f64);
    Problem::new(Data::dense(x).expect("numbers")).with_k(2)
}

/// A plugin that runs `cat` on the file `replies`, made of these options.
fn plugin<R: RoleObject + ?Sized>(tag: &str, more: &[(&str, Value)]) -> Box<R> {
    let mut options = json!({
        "type": tag, "command": ["cat", "replies"], "timeout_seconds": PATIENCE,
    });
    for (name, value) in more {
        options[*name] = value.clone();
    }
    R::from_value(options).expect("options that exist")
}

pub(super) fn oracle() -> Harness {
    let folder = tempfile::tempdir().expect("a folder");
    let alone = plugin::<dyn Oracle>("subprocess", &[]);
    let sorting = plugin::<dyn Oracle>("subprocess", &[("sort", json!(4))]);
    Box::new(move |bytes| {
        std::fs::write(folder.path().join("replies"), bytes).expect("a file");
        let ctx = Context::new(1).based(folder.path());
        let scene = Scene { data: Some(problem().data), ..Scene::with_labels(vec![None; 6], ctx) };
        let oracle = if bytes.len() % 2 == 0 { &alone } else { &sorting };
        let Ok(mut respondent) = oracle.open(&scene) else { return };
        for (id, (i, j)) in (0..).zip([(0, 1), (2, 3), (1, 4)]) {
            let question = Question { id, i, j, subject: i, reference: j, purpose: "fuzz" };
            if respondent.ask(&question).is_err() {
                break;
            }
        }
    })
}

pub(super) fn external() -> Harness {
    let folder = tempfile::tempdir().expect("a folder");
    let clusterer = plugin::<dyn BaseClusterer>("external_clusterer", &[]);
    let selector = plugin::<dyn QuerySelector>(
        "external_selector",
        &[("needs_clustering", json!(true)), ("infers", json!(true))],
    );
    let problem = problem();
    Box::new(move |bytes| {
        std::fs::write(folder.path().join("replies"), bytes).expect("a file");
        let ctx = Context::new(1).based(folder.path());
        match bytes.len() % 3 {
            0 => drop(clusterer.cluster(&problem, &ctx)),
            1 => {
                let truth = <dyn Oracle as RoleObject>::from_value(json!({ "type": "truth" }));
                let scene = Scene::with_labels([0, 0, 0, 1, 1, 1].map(Some).to_vec(), ctx.clone());
                let Ok(mut respondent) = truth.expect("a source").open(&scene) else { return };
                let asking = mustlink::selection::Asking { budget: Some(5), ..Default::default() };
                let _ = mustlink::selection::run_with(
                    &*selector,
                    &problem,
                    &mut *respondent,
                    asking,
                    &ctx,
                );
            }
            _ => {
                let command = ["cat".to_string(), "replies".to_string()];
                drop(describe(&command, folder.path(), PATIENCE));
            }
        }
    })
}

/// A reply in one line; its labels may be the vector `x.npy`, which the other lines are.
pub(super) fn labels() -> Harness {
    let folder = tempfile::tempdir().expect("a folder");
    Box::new(move |bytes| {
        let at = bytes.iter().position(|b| *b == b'\n').unwrap_or(bytes.len());
        let Ok(reply) = serde_json::from_slice::<Value>(&bytes[..at]) else { return };
        if reply["labels"].is_string() {
            let vector = bytes.get(at + 1..).unwrap_or_default();
            std::fs::write(folder.path().join("x.npy"), vector).expect("a file");
        }
        let _ = exchange::labels(&reply["labels"], 6, folder.path());
    })
}
