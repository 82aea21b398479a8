//! A grid killed without warning, again and again, ends with the results of one that was let be.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::support::{cells, columns_without_times};

const GRID: &str = r#"
[experiment]
name = "kill"
seed = 5

[[dataset]]
id = "digits"
class_sizes = { 0 = 30, 1 = 30, 2 = 30, 3 = 30, 4 = 30, 5 = 30, 6 = 30, 7 = 30, 8 = 30, 9 = 30 }

[split]
type = "kfold"
folds = 3
repeats = 4

[curve]
points = [0, 20, 40]

[scoring]
metrics = ["ari", "nmi_arith"]

[[method]]
id = "random"
selector = "random_pairs"
clusterer = { type = "pck_means", weight = "auto" }

[[method]]
id = "explore"
selector = "explore_consolidate"
clusterer = { type = "pck_means", weight = "auto" }
"#;

fn run(folder: &Path, out: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mustlink"));
    command.current_dir(folder).args([
        "run",
        "grid.toml",
        "--out",
        out,
        "--quiet",
        "--threads",
        "2",
    ]);
    command.env_remove("MUSTLINK_DATA").stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn results(out: &Path) -> String {
    columns_without_times(&std::fs::read_to_string(out.join("results.csv")).expect("results"))
}

/// A folder with the grid and the results of a run that was let be, in `whole`.
fn whole() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("grid.toml"), GRID).expect("the grid");
    assert!(run(folder.path(), "whole").status().expect("runs").success());
    folder
}

/// The rest of `out` is run, and equals a run without interruption; no part of a file is left.
fn ends_as_the_whole(folder: &Path, out: &str) {
    assert!(run(folder, out).status().expect("runs").success());
    assert_eq!(results(&folder.join(out)), results(&folder.join("whole")), "{out}");
    let left: Vec<_> = std::fs::read_dir(folder.join(out).join("cells"))
        .expect("cells")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|x| x == "part"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// METIS has a handler of its own for SIGTERM while it works.
#[cfg(all(unix, feature = "metis"))]
#[test]
fn a_termination_within_metis_ends_in_order() {
    for round in 0..4 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mustlink"))
            .args(["cluster", "--data", "digits", "--k", "10", "--threads", "2", "--clusterer"])
            .arg(
                "{ type = \"ensemble\", generator = { type = \"random_init\", members = 4 }, \
                 consensus = { type = \"hbgf\", partitioner = \"metis\", trials = 20000 } }",
            )
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        std::thread::sleep(Duration::from_millis(1500 + 300 * round));
        assert_eq!(child.try_wait().expect("a state"), None, "it is over too soon");
        let id = child.id().to_string();
        Command::new("kill").args(["-TERM", &id]).status().expect("kill starts");
        assert_eq!(child.wait().expect("ends").code(), Some(143));
    }
}

/// Greets, and writes its number into a file when it is to cluster; then it does what `then` says.
#[cfg(unix)]
fn clusters_so(then: &str) -> String {
    format!(
        "while read l; do case \"$l\" in *hello*) echo '{{\"v\":1,\"type\":\"hello\",\"name\":\"x\"}}';; \
         *'\"cluster\"'*) echo $$ > pid; {then};; *) exit 0;; esac; done"
    )
}

/// The number that the program wrote down in `folder`, once it exists.
#[cfg(unix)]
fn written(folder: &Path, child: &mut std::process::Child) -> String {
    loop {
        let pid = std::fs::read_to_string(folder.join("pid")).unwrap_or_default();
        if pid.ends_with('\n') {
            return pid.trim().to_string();
        }
        assert_eq!(child.try_wait().expect("a state"), None, "it is over too soon");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(unix)]
fn signalled(signal: &str, process: &str) -> bool {
    let mut kill = Command::new("kill");
    kill.args([signal, process]).stderr(Stdio::null()).status().expect("kill starts").success()
}

#[cfg(unix)]
#[test]
fn an_interrupted_test_of_a_plugin_leaves_nothing() {
    a_signal_leaves_nothing("-INT", 130);
    a_signal_leaves_nothing("-TERM", 143);
    // Under nohup, this test ignores a hang-up, and so does what it starts.
    if !ignores_hang_ups() {
        a_signal_leaves_nothing("-HUP", 129);
    }
}

#[cfg(unix)]
fn ignores_hang_ups() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // SIGHUP is the signal 1, the lowest bit.
    ignored.is_some_and(|mask| mask.trim().ends_with(['1', '3', '5', '7', '9', 'b', 'd', 'f']))
}

#[cfg(unix)]
fn a_signal_leaves_nothing(signal: &str, status: i32) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = Command::new(env!("CARGO_BIN_EXE_mustlink"))
        .current_dir(folder.path())
        .env("TMPDIR", folder.path())
        .args(["plugin", "test", "--", "sh", "-c", &clusters_so("sleep 600")])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    let program = written(folder.path(), &mut child);
    assert!(signalled(signal, &child.id().to_string()));
    assert_eq!(child.wait().expect("ends").code(), Some(status));
    // Its new parent may take a moment to reap it.
    let mut looks = 0..2000;
    while looks.next().is_some() && signalled("-0", &program) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!signalled("-0", &program), "the program {program} is still there");
    let names = std::fs::read_dir(folder.path()).expect("the folder");
    let names = names.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned());
    let left: Vec<String> = names.filter(|name| name.starts_with("mustlink-")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Its oracle tells when it is at work.
#[cfg(unix)]
#[test]
fn an_interrupted_method_leaves_nothing() {
    let oracle = "read l; echo '{\"v\":1,\"type\":\"hello\",\"name\":\"x\"}'; read l; echo $$ > pid\n\
                  echo '{\"v\":1,\"type\":\"answer\",\"id\":\"q000000\",\"reply\":\"must_link\"}'; read l\n";
    let bench = super::support::Bench::with("oracle.sh", oracle);
    let method = "cluster --data digits --quiet --out l.csv --clusterer pck_means --threads 1 \
                  --selector random_pairs --budget 1 --set clusterer.restarts=1000000";
    let mut command = bench.command(&method.split_whitespace().collect::<Vec<_>>());
    command.args(["--oracle", "{ type = \"subprocess\", command = [\"sh\", \"oracle.sh\"] }"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.expect("starts");
    written(&bench.path(""), &mut child);
    // So that it clusters, as a rule.
    std::thread::sleep(Duration::from_millis(700));
    assert!(signalled("-INT", &child.id().to_string()));
    let done = child.wait_with_output().expect("ends");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(said, "stopping; press Ctrl-C again to end immediately\ninterrupted\n");
    assert_eq!((done.status.code(), done.stdout.len()), (Some(130), 0));
    assert_eq!(bench.files(), ["oracle.sh", "pid"]);
}

/// As by nohup.
#[cfg(target_os = "linux")]
#[test]
fn a_hang_up_that_is_ignored_ends_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let waits = clusters_so("while ! [ -e go ]; do sleep 0.01; done; exit 5");
    let clusterer = serde_json::json!(["sh", "-c", waits]);
    let mut child = Command::new("sh")
        .current_dir(folder.path())
        .args(["-c", "trap '' HUP; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_mustlink")])
        .args([
            "cluster",
            "--data",
            "iris",
            "--k",
            "3",
            "--clusterer",
            "external_clusterer",
            "--set",
        ])
        .arg(format!("clusterer.command={clusterer}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    written(folder.path(), &mut child);
    assert!(signalled("-HUP", &child.id().to_string()));
    std::fs::write(folder.path().join("go"), "").expect("the file");
    // That of a plugin that ended, not of an interrupt.
    assert_eq!(child.wait().expect("ends").code(), Some(4));
}

#[cfg(unix)]
#[test]
fn interrupts_of_each_kind_change_nothing() {
    let folder = whole();
    let folder = folder.path();
    // Once; once, and cells under way finish; twice.
    for (out, finish, signals) in [("once", false, 1), ("finishing", true, 1), ("twice", false, 2)]
    {
        for _ in 0..5 {
            let before = cells(&folder.join(out));
            let mut command = run(folder, out);
            if finish {
                command.arg("--finish");
            }
            let mut child = command.spawn().expect("starts");
            // With a new cell there, interrupts are watched.
            while cells(&folder.join(out)) <= before && child.try_wait().expect("a state").is_none()
            {
                std::thread::sleep(Duration::from_millis(2));
            }
            let id = child.id().to_string();
            for _ in 0..signals {
                let sent = Command::new("kill").args(["-INT", &id]).stderr(Stdio::null()).status();
                // It may have ended by itself.
                sent.expect("kill starts");
            }
            let status = child.wait().expect("ends");
            assert!(matches!(status.code(), Some(130 | 0)), "{out}: {status}");
        }
        ends_as_the_whole(folder, out);
    }
}

#[test]
fn twenty_kills_change_nothing() {
    let folder = whole();
    let cells = |out: &str| cells(&folder.path().join(out));
    let all = cells("whole");
    assert_eq!(all, 24);
    // Moments drawn by a small linear congruence: the same ones in every run of this test.
    let mut state = 20_261_120_u64;
    let mut unfinished = 0;
    for _ in 0..20 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut child = run(folder.path(), "killed").spawn().expect("starts");
        std::thread::sleep(Duration::from_millis(5 + (state >> 33) % 120));
        child.kill().expect("SIGKILL");
        child.wait().expect("is gone");
        unfinished += usize::from(cells("killed") < all);
    }
    assert!(unfinished > 0, "every kill came too late to matter");
    ends_as_the_whole(folder.path(), "killed");
}
