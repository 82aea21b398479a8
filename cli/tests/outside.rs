//! A program with a plugin of its own that is the whole command line besides.
//!
//! Called by its tests with `AS_MUSTLINK` set, this program is that program.

use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};
use mustlink::closure::{Closure, Feasibility, OnConflict};
use mustlink::prelude::*;

/// One colour per must-link component, so that every constraint holds.
#[options]
struct Colouring {}

#[plugin("colouring")]
impl BaseClusterer for Colouring {
    fn cluster(&self, problem: &Problem, _: &Context) -> Result<Clustering> {
        let k = problem.require_k(None, "colouring")?;
        let closure = Closure::new(&problem.constraints, problem.n(), OnConflict::Error)?;
        match closure.feasibility(k) {
            Feasibility::Feasible(colours) => Ok(Clustering {
                labels: (0..problem.n()).map(|i| colours[closure.component(i)]).collect(),
                k,
                ..Clustering::default()
            }),
            Feasibility::Infeasible(witness) => Err(Error::InfeasibleConstraints { k, witness }),
            Feasibility::Unknown => Err(Error::NumericalFailure { place: "colouring".into() }),
        }
    }

    fn properties(&self) -> Properties {
        Properties { needs_k: true, hard_must: true, hard_cannot: true, ..Properties::default() }
    }
}

/// Breaks its promise.
#[options]
struct Liar {
    /// Panic instead.
    panic: bool,
}

#[plugin("liar")]
impl BaseClusterer for Liar {
    fn cluster(&self, problem: &Problem, _: &Context) -> Result<Clustering> {
        assert!(!self.panic, "not today");
        Ok(Clustering::from_labels(vec![0; problem.n()]))
    }

    fn properties(&self) -> Properties {
        Properties { hard_cannot: true, ..Properties::default() }
    }
}

fn main() -> ExitCode {
    if std::env::var_os("AS_MUSTLINK").is_some() {
        return mustlink_cli::main();
    }
    let arguments = Arguments::from_args();
    let tests = vec![
        Trial::test("a_plugin_of_ones_own_is_described", described),
        Trial::test("infeasible_k_shows_the_clique", infeasible),
        Trial::test("contradictions_show_the_chain", contradictory),
        Trial::test("broken_promises_end_with_4", liars),
    ];
    libtest_mimic::run(&arguments, tests).exit_code()
}

const DATA: &str = "name,x\na,0\nb,1\nc,2\nd,9\n";

fn run(constraints: &str, arguments: &str) -> (i32, String, String) {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("data.csv"), DATA).expect("a file");
    std::fs::write(dir.path().join("pairs.csv"), constraints).expect("a file");
    let program = std::env::current_exe().expect("a path");
    let done = Command::new(program)
        .args(arguments.split_whitespace())
        .current_dir(dir.path())
        .env("AS_MUSTLINK", "1")
        .env_remove("MUSTLINK_DATA")
        .env_remove("RUST_BACKTRACE")
        .output()
        .expect("it starts");
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    (done.status.code().unwrap_or(-1), text(&done.stdout), text(&done.stderr))
}

fn expect(
    got: (i32, String, String),
    status: i32,
    message: &str,
) -> std::result::Result<(), Failed> {
    if got.0 == status && got.2 == message {
        return Ok(());
    }
    Err(format!("expected {status} and {message:?}, got {got:?}").into())
}

const CLUSTER: &str =
    "cluster --quiet --data ./data.csv --id name --constraints pairs.csv --k 2 --clusterer";

fn described() -> std::result::Result<(), Failed> {
    let (status, out, _) = run("", "describe colouring");
    let said = out.contains("One colour per must-link component");
    if status == 0 && said { Ok(()) } else { Err(out.into()) }
}

fn infeasible() -> std::result::Result<(), Failed> {
    let pairs = "i,j,type\na,b,cannot_link\nb,c,cannot_link\nc,a,cannot_link\n";
    let message = "error: clusterer: constraints: 2 clusters cannot satisfy the odd cycle of \
                   cannot-links a–b–c\n";
    expect(run(pairs, &format!("{CLUSTER} colouring")), 3, message)?;
    let pairs = "i,j,type\na,b,cannot_link\nb,c,cannot_link\nc,a,cannot_link\nd,a,cannot_link\n\
                 d,b,cannot_link\nd,c,cannot_link\n";
    let message = "error: clusterer: constraints: 3 clusters cannot hold 4 objects that must all \
                   be apart: a, b, c, d\n";
    expect(run(pairs, &format!("{CLUSTER} colouring --k 3").replace("--k 2 ", "")), 3, message)
}

fn contradictory() -> std::result::Result<(), Failed> {
    let pairs = "i,j,type\na,b,must_link\nb,d,must_link\na,d,cannot_link\n";
    let message = "error: clusterer: constraints: cannot-link a–d contradicts must-links a–b–d\n";
    expect(run(pairs, &format!("{CLUSTER} colouring")), 3, message)
}

fn liars() -> std::result::Result<(), Failed> {
    let pairs = "i,j,type\na,b,cannot_link\n";
    let message = "error: clusterer: liar broke its contract: it promises every cannot-link and \
                   violates (0, 1); this is a defect of the plugin\n";
    expect(run(pairs, &format!("{CLUSTER} liar")), 4, message)?;
    let message = "error: clusterer: liar broke its contract: panicked: not today; this is a \
                   defect of the plugin\n";
    expect(run(pairs, &format!("{CLUSTER} liar --set clusterer.panic=true")), 4, message)
}
