//! A search for broken or wrongly rejected hard constraints: millions of small sets,
//! compared with trying all labels:
//!
//!   cargo run --release --features contract --example hard_constraints -- 1000000
//!
//! A second number is the set to begin with. Ends with 1 at the first fault, which names its set.

#![allow(clippy::print_stdout, clippy::print_stderr)] // a program

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;

use mustlink::contract::campaign::{Counts, Method, methods, run};
use rayon::prelude::*;

/// Sets done between two lines of progress.
const CHUNK: u64 = 20_000;
/// `auto` tries dozens of methods: it gets a set of every so many.
const OF_AUTO: u64 = 1000;

fn main() -> ExitCode {
    let numbers = std::env::args().skip(1).map(|word| word.parse::<u64>());
    let numbers: Vec<u64> = match numbers.collect() {
        Ok(numbers) => numbers,
        Err(e) => {
            eprintln!("error: {e}; give the number of sets, and the first of them");
            return ExitCode::from(2);
        }
    };
    let sets = numbers.first().copied().unwrap_or(10_000);
    let first = numbers.get(1).copied().unwrap_or(0);
    match campaign(first, first + sets) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("fault: {fault}");
            ExitCode::FAILURE
        }
    }
}

fn campaign(first: u64, end: u64) -> Result<(), String> {
    let of = |but: &[&str]| methods(but).map_err(|e| e.to_string());
    let quick = of(&["auto"])?;
    let all = of(&[])?;
    let auto: Vec<Method> = all.into_iter().filter(|m| m.tag() == "auto").collect();
    let begun = Instant::now();
    let mut total: BTreeMap<&str, Counts> = BTreeMap::new();
    for chunk in (first..end).step_by(CHUNK as usize) {
        let until = end.min(chunk + CHUNK);
        let parts: Vec<u64> = (chunk..until).step_by(100).collect();
        let counted = parts.into_par_iter().map(|at| {
            let mut counted = vec![run(&quick, at..until.min(at + 100))?];
            if at % OF_AUTO == 0 {
                counted.push(run(&auto, at..at + 1)?);
            }
            Ok(counted)
        });
        for counted in counted.collect::<Result<Vec<_>, String>>()?.into_iter().flatten() {
            for (tag, more) in counted {
                let sum = total.entry(tag).or_default();
                sum.met += more.met;
                sum.refused += more.refused;
                sum.undecided += more.undecided;
            }
        }
        eprintln!("{} sets in {:.0} s", until - first, begun.elapsed().as_secs_f64());
    }
    println!("| method | met | refused, with a right reason | undecided | broken |");
    println!("|---|---|---|---|---|");
    for (tag, Counts { met, refused, undecided }) in total {
        println!("| `{tag}` | {met} | {refused} | {undecided} | 0 |");
    }
    Ok(())
}
