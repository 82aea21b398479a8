//! `run --executor slurm` on a real cluster: the whole, a lost node, a lost follower, cells that fail.
//!
//! The cluster is the one of MUSTLINK_LOCAL_SLURM, a program with the verbs `start DIR`, `stop DIR`,
//! `kill-node DIR n1`, `start-node DIR n1` that runs nodes n1 and n2 on this machine; else the one
//! whose `sinfo` answers. Without either these tests say that they were skipped.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::support::{Bench, Done, cells, columns_without_times};

const GRID: &str = "[experiment]\nname = \"cluster\"\nseed = 3\n[[dataset]]\nid = \"iris\"\n\
                    [curve]\npoints = [0, 10]\n[split]\ntype = \"kfold\"\nfolds = 2\nrepeats = 4\n\
                    [[method]]\nid = \"plain\"\nclusterer = \"kmeans\"\n\
                    [[method]]\nid = \"asked\"\nclusterer = \"pck_means\"\nselector = \"random_pairs\"\n";

/// The same on more objects, which leaves time to do harm.
fn long() -> String {
    GRID.replace("iris", "digits").replace("repeats = 4", "repeats = 20")
}

/// Longer than anything here takes: a cluster that hangs is a failure, not a test without end.
const PATIENCE: Duration = Duration::from_secs(240);

/// Reports a skipped test past the test harness, which hides the output of tests that pass.
fn skipped(what: &str, why: &str) {
    let _ = std::io::stderr().write_all(format!("skipped: {what}: {why}\n").as_bytes());
}

/// The cluster, used by one test at a time.
struct Cluster {
    _alone: MutexGuard<'static, ()>,
    starter: Option<(PathBuf, PathBuf)>,
    config: Option<PathBuf>,
}

impl Cluster {
    /// Starts it where that can be done; `None` without a cluster.
    fn start(test: &str) -> Option<Cluster> {
        static ONE: OnceLock<Mutex<()>> = OnceLock::new();
        let alone = ONE.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(starter) = std::env::var_os("MUSTLINK_LOCAL_SLURM") {
            // Sockets of a cluster need a folder that outlives this function.
            let dir = tempfile::tempdir().expect("a folder").keep();
            let started =
                Command::new(&starter).arg("start").arg(&dir).stdout(Stdio::null()).status();
            assert!(started.expect("the starter runs").success(), "the cluster does not start");
            let config = Some(dir.join("slurm.conf"));
            return Some(Cluster { _alone: alone, starter: Some((starter.into(), dir)), config });
        }
        let answers = Command::new("sinfo").output().is_ok_and(|o| o.status.success())
            && Command::new("sbatch").arg("--version").output().is_ok();
        if answers {
            return Some(Cluster { _alone: alone, starter: None, config: None });
        }
        skipped(test, "no MUSTLINK_LOCAL_SLURM, and no sinfo on PATH that answers");
        None
    }

    /// A verb of the starter; false where the cluster is not ours.
    fn starter(&self, verb: &str, node: &[&str]) -> bool {
        let Some((starter, dir)) = &self.starter else { return false };
        let done = Command::new(starter).arg(verb).arg(dir).args(node).status();
        done.expect("the starter runs").success()
    }

    fn command(&self, bench: &Bench, line: &str) -> Command {
        let mut command = bench.command(&line.split(' ').collect::<Vec<_>>());
        if let Some(config) = &self.config {
            command.env("SLURM_CONF", config);
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(Stdio::null());
        command
    }

    fn spawn(&self, bench: &Bench, line: &str) -> Child {
        self.command(bench, line).spawn().expect("it starts")
    }

    fn run(&self, bench: &Bench, line: &str) -> Done {
        done(self.spawn(bench, line))
    }

    /// Our jobs in the queue.
    fn queue(&self) -> String {
        let mut command = Command::new("squeue");
        command.args(["--noheader", "--array", "--format=%j %T %N"]);
        if let Some(config) = &self.config {
            command.env("SLURM_CONF", config);
        }
        let queue = command.output().expect("squeue");
        String::from_utf8_lossy(&queue.stdout).into_owned()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Some((_, dir)) = &self.starter {
            self.starter("stop", &[]);
            let _ = std::fs::remove_dir_all(dir);
        }
    }
}

/// Waits for a program, and ends it when it takes too long.
fn done(mut child: Child) -> Done {
    let since = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if since.elapsed() > PATIENCE {
            let _ = child.kill();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let output = child.wait_with_output().expect("it ended");
    Done {
        status: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

fn wait_for(what: &str, mut there: impl FnMut() -> bool) {
    let since = Instant::now();
    while !there() {
        assert!(since.elapsed() < PATIENCE, "{what} never came");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn results(bench: &Bench, out: &str) -> String {
    columns_without_times(&bench.read(&format!("{out}/results.csv")))
}

#[test]
fn an_array_makes_what_one_process_makes() {
    let Some(cluster) = Cluster::start("an_array_makes_what_one_process_makes") else { return };
    let bench = Bench::with("e.toml", GRID);
    assert_eq!(bench.run("run e.toml --out here --quiet").status, 0);
    let run = cluster.run(&bench, "run e.toml --out there --executor slurm --cells-per-task 3");
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(run.err.contains("16 cells in 6 tasks\n"), "{}", run.err);
    assert!(run.err.contains("16 of 16 cells finished (0 before)"), "{}", run.err);
    assert_eq!(results(&bench, "there"), results(&bench, "here"));
    let same = bench.run("diff here there --exit-code");
    assert_eq!((same.status, same.out.as_str()), (0, "32 rows, all the same\n"));
    // Nothing is left to submit, and what comes to it later is all that is.
    let again = cluster.run(&bench, "run e.toml --out there --executor slurm");
    assert!(again.status == 0 && !again.err.contains("array"), "{}", again.err);
    bench.write("e.toml", GRID.replace("repeats = 4", "repeats = 5"));
    let more = cluster.run(&bench, "run e.toml --out there --executor slurm --time 5 --threads 2");
    assert_eq!(more.status, 0, "{}", more.err);
    assert!(more.err.contains("4 cells in 1 tasks\n"), "{}", more.err);
    assert_eq!(bench.run("run e.toml --out here --quiet").status, 0);
    assert_eq!(results(&bench, "there"), results(&bench, "here"));
}

#[test]
fn a_node_killed_hard_costs_nothing() {
    let Some(cluster) = Cluster::start("a_node_killed_hard_costs_nothing") else { return };
    let bench = Bench::with("e.toml", long());
    let run = cluster.spawn(&bench, "run e.toml --out there --executor slurm --cells-per-task 8");
    wait_for("the first cells", || cells(&bench.path("there")) > 0);
    if !cluster.starter("kill-node", &["n1"]) {
        skipped("the harm to a node", "only a cluster of MUSTLINK_LOCAL_SLURM is harmed");
    }
    let run = done(run);
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(run.err.contains("80 of 80 cells finished (0 before)"), "{}", run.err);
    assert_eq!(bench.run("run e.toml --out here --quiet").status, 0);
    assert_eq!(results(&bench, "there"), results(&bench, "here"));
}

#[test]
fn a_killed_follower_finds_its_array_again() {
    let Some(cluster) = Cluster::start("a_killed_follower_finds_its_array_again") else { return };
    let bench = Bench::with("e.toml", long());
    let line = "run e.toml --out there --executor slurm --cells-per-task 8";
    let mut first = cluster.spawn(&bench, line);
    wait_for("the first cells", || cells(&bench.path("there")) > 0);
    first.kill().expect("SIGKILL");
    first.wait().expect("is gone");
    let waiting = cluster.queue();
    assert!(waiting.contains("mustlink-"), "the array was over too soon to matter");
    let second = cluster.run(&bench, line);
    assert_eq!(second.status, 0, "{}", second.err);
    let name = waiting.split_whitespace().find(|w| w.starts_with("mustlink-")).expect("a name");
    assert!(second.err.contains(&format!("{name} is still in the queue with ")), "{}", second.err);
    assert!(!second.err.contains("array "), "submitted again: {}", second.err);
    assert_eq!(bench.run("run e.toml --out here --quiet").status, 0);
    assert_eq!(results(&bench, "there"), results(&bench, "here"));
}

#[test]
fn a_cell_that_always_fails_is_a_row() {
    let Some(cluster) = Cluster::start("a_cell_that_always_fails_is_a_row") else { return };
    let wrong = GRID.replace("id = \"plain\"", "id = \"plain\"\nk = 151");
    let bench = Bench::with("e.toml", wrong);
    let run = cluster.run(&bench, "run e.toml --out there --executor slurm");
    assert_eq!(run.status, 1, "{}", run.err);
    assert!(run.err.contains("16 of 16 cells finished"), "{}", run.err);
    assert!(
        run.err.contains("failed: iris, plain, repeat 0, fold 0: clusterer: k: "),
        "{}",
        run.err
    );
    assert!(
        run.err.ends_with("8 cells failed; mustlink retry there runs them again\n"),
        "{}",
        run.err
    );
    // Failed cells are there: nothing is submitted for them again.
    let again = cluster.run(&bench, "run e.toml --out there --executor slurm");
    assert!(again.status == 1 && !again.err.contains("array "), "{}", again.err);
    assert_eq!(bench.run("run e.toml --out here --quiet").status, 1);
    assert_eq!(results(&bench, "there"), results(&bench, "here"));
}

#[test]
fn a_partition_that_is_not_there_and_a_folder_that_cannot_be() {
    let Some(cluster) = Cluster::start("a_partition_that_is_not_there") else { return };
    let bench = Bench::with("e.toml", GRID);
    let run = cluster.run(&bench, "run e.toml --out out --executor slurm --partition maim");
    assert_eq!(run.status, 2);
    let said = "error: --partition maim: the cluster has no such partition";
    assert!(run.err.starts_with(said), "{}", run.err);
    assert!(!bench.path("out").exists());
    let run = cluster.run(&bench, "run e.toml --out e.toml/out --executor slurm");
    assert_eq!((run.status, run.out.as_str()), (3, ""));
    assert!(run.err.starts_with("error: e.toml/out/cells: "), "{}", run.err);
    let run = cluster.run(&bench, "run e.toml --out 40%a --executor slurm --quiet");
    assert_eq!(run.status, 0, "{}", run.err);
}

#[test]
fn without_a_cluster_it_is_said_what_is_missing() {
    let bench = Bench::with("e.toml", GRID);
    let run = |line: &str| {
        let mut command = bench.command(&line.split(' ').collect::<Vec<_>>());
        command.env("PATH", bench.path("nothing")).stdin(Stdio::null());
        let done = command.output().expect("it runs");
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let said = "error: --executor slurm: sbatch is not on PATH; run this on a machine that submits to a Slurm \
                cluster, or leave out --executor\n";
    assert_eq!(run("run e.toml --out out --executor slurm"), (Some(2), said.to_string()));
    assert!(!bench.path("out").exists());
    let said = "error: --partition needs --executor slurm\n";
    assert_eq!(run("run e.toml --partition x"), (Some(2), said.to_string()));
    for option in ["--force", "--shard 1/2"] {
        let (status, err) = run(&format!("run e.toml --executor slurm {option}"));
        assert!(status == Some(2) && err.contains("cannot be used with --executor slurm"), "{err}");
    }
    for option in ["--time 2h", "--cells-per-task 0"] {
        let (status, err) = run(&format!("run e.toml --executor slurm {option}"));
        assert!(status == Some(2) && err.contains("must be "), "{err}");
    }
}
