//! `plan`, `run`, `report`, `retry`.

use std::fs::File;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::support::{Bench, cells, has_leftovers};

const SMALL: &str = "[experiment]\nname = \"small one\"\n[[dataset]]\nid = \"iris\"\n\
                     [curve]\npoints = [0, 10]\n[split]\ntype = \"kfold\"\nfolds = 2\nrepeats = 2\n\
                     [[method]]\nid = \"plain\"\nclusterer = \"kmeans\"\n\
                     [[method]]\nid = \"asked\"\nclusterer = \"pck_means\"\nselector = \"random_pairs\"\n";

#[test]
fn from_the_plan_to_the_report() {
    let bench = Bench::with("e.toml", SMALL);
    let checked = "e.toml: valid; experiment \"small one\" with 1 data set and 2 methods\n";
    assert_eq!(bench.run("check e.toml").out, checked);
    let plan = bench.run("plan e.toml");
    assert_eq!(plan.status, 0, "{}", plan.err);
    assert!(plan.out.contains("8 cells (1 data set × 2 methods), 0 finished"), "{}", plan.out);
    let run = bench.run("run e.toml");
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(run.out.contains("plain") && run.out.contains("asked"), "{}", run.out);
    let page = "mustlink-results/small_one/report.html";
    assert!(run.err.contains("8 of 8 cells finished (0 before)"), "{}", run.err);
    assert!(run.err.ends_with(&format!("report: {page}\n")), "{}", run.err);
    assert!(bench.path(page).is_file());
    let rows = bench.read("mustlink-results/small_one/results.csv");
    let again = bench.run("run e.toml --quiet --threads 2");
    assert_eq!((again.out.as_str(), again.err.as_str()), (run.out.as_str(), ""));
    let report = bench.run("report mustlink-results/small_one");
    assert_eq!(report.out, run.out);
    assert_eq!(bench.read("mustlink-results/small_one/results.csv"), rows);
    let tex = bench.read("mustlink-results/small_one/tables.tex");
    assert!(tex.contains("\\toprule") && tex.contains("\niris & "), "{tex}");
    let md = bench.read("mustlink-results/small_one/tables.md");
    assert!(md.contains("| data set | plain | asked |"), "{md}");
    let html = bench.read(page);
    for sentence in ["We compared 2 methods on one data set", "by 2-fold cross-validation, 2 times"]
    {
        assert!(html.contains(sentence), "{sentence}");
    }
    let verified = bench.run("verify mustlink-results/small_one --share 1");
    let same = "8 of 8 finished cells computed again: every bit is the same\n";
    assert_eq!((verified.status, verified.out.as_str()), (0, same), "{}", verified.err);
    assert_eq!(bench.read("mustlink-results/small_one/results.csv"), rows);
    let one = bench.run("verify mustlink-results/small_one --quiet").out;
    assert!(one.starts_with("1 of 8 finished cells"), "{one}");
    // A cell that somebody changed is no finished one.
    let cells = bench.path("mustlink-results/small_one/cells");
    let mut files: Vec<_> = std::fs::read_dir(cells).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    let written = std::fs::read_to_string(&files[0]).unwrap();
    std::fs::write(&files[0], written.replacen("\"iterations\":", "\"iterations\":1", 1)).unwrap();
    let damaged = bench.run("verify mustlink-results/small_one --quiet");
    let said = "its checksum does not fit: something in it was changed";
    assert!(damaged.status == 3 && damaged.err.contains(said), "{}{}", damaged.out, damaged.err);
    assert_eq!(damaged.err.matches("damaged").count(), 1, "{}", damaged.err);
    std::fs::write(&files[0], written).unwrap();
    assert!(bench.run("plan e.toml").out.contains("8 finished"));
    let shown = bench.run("config show e.toml").out;
    assert!(shown.contains("max_iterations = 300"), "{shown}");
    let origins =
        bench.run("config show e.toml --origin --set method.plain.clusterer.restarts=3").out;
    let origin = |path: &str| {
        let line =
            origins.lines().find(|l| l.starts_with(path)).unwrap_or_else(|| panic!("{origins}"));
        line.split("# ").nth(1).unwrap().to_string()
    };
    assert_eq!(origin("experiment.name = \"small one\""), "e.toml:2");
    assert_eq!(origin("method[0].clusterer.max_iterations = 300"), "default");
    let set = "--set method.plain.clusterer.restarts=3";
    assert_eq!(origin("method[0].clusterer.restarts = 3"), set);
    assert!(!has_leftovers(&bench.path("mustlink-results")));
}

#[test]
fn failed_cells_end_with_1() {
    let bench = Bench::with("e.toml", SMALL.replace("id = \"plain\"", "id = \"plain\"\nk = 151"));
    let run = bench.run("run e.toml --out out --quiet");
    assert_eq!(run.status, 1);
    // Failures stand where the scores would, and nobody wins by them.
    assert!(run.out.contains("4 failed"), "{}", run.out);
    assert!(
        run.err.starts_with(
            "failed: iris, plain, repeat 0, fold 0: clusterer: k: must be between 1 and 150 (the number of \
             objects), got 151 (same error in 3 more cells)\n4 cells failed"
        ),
        "{}",
        run.err
    );
    assert!(
        run.err.ends_with("4 cells failed; mustlink retry out runs them again\n"),
        "{}",
        run.err
    );
    let plan = bench.run("plan e.toml --out out").out;
    assert!(plan.contains("8 finished, 4 of them failed; 16 rows"), "{plan}");
    let run = bench.run("run e.toml --out 'my out' --data-dir . --quiet");
    let advice = "mustlink retry 'my out' --data-dir . runs them again\n";
    assert!(run.err.ends_with(advice), "{}", run.err);
    let retry = bench.run("retry out --quiet");
    assert_eq!(retry.status, 1);
    assert!(
        retry.err.starts_with(
            "4 of 4 failed cells will fail again unless the program has changed, because data, settings and seed are \
             the same; change the method, and give it a new id\n"
        ),
        "{}",
        retry.err
    );
    let fast = bench.run("run e.toml --out other --quiet --fail-fast --threads 1");
    assert_eq!(fast.status, 1);
    assert!(
        fast.err.contains("1 cell failed; stopped there; mustlink retry other")
            && fast.err.contains(" cells are left; the same command continues with them\n"),
        "{}",
        fast.err
    );
    let some = bench.run("run e.toml --out third --quiet --max-fails 3 --threads 1");
    assert_eq!(some.status, 1);
    assert!(
        some.err.contains("3 cells failed; stopped there; mustlink retry third"),
        "{}",
        some.err
    );
    let forced = bench.run("run e.toml --out third --quiet --max-fails 1 --threads 1 --force");
    assert!(
        forced.err.contains(" cells are left; the same command starts over\n"),
        "{}",
        forced.err
    );
    let refused = bench.run("run e.toml --out third --max-fails 0");
    assert_eq!(refused.status, 2);
    let slow = bench.run("run e.toml --out fourth --quiet --cell-timeout 0.000000001");
    assert!(slow.err.contains("stopped after the time limit"), "{}", slow.err);
}

#[test]
fn nothing_to_retry_is_said_so() {
    let bench = Bench::with("e.toml", SMALL);
    assert_eq!(bench.run("run e.toml --out out --quiet").status, 0);
    let retry = bench.run("retry out");
    assert_eq!(retry.status, 0, "{}", retry.err);
    let said = "nothing to do in out: no cell has failed or is missing\nreport: ";
    assert!(retry.err.starts_with(said), "{}", retry.err);
}

/// Before anything runs, with the command that builds what is missing.
#[test]
fn pictures_that_this_build_does_not_make_are_refused() {
    let bench = Bench::with("e.toml", format!("{SMALL}[plot]\nformats = [\"svg\", \"pdf\"]\n"));
    let plan = bench.run("plan e.toml");
    if cfg!(feature = "figures") {
        assert_eq!(plan.status, 0, "{}", plan.err);
        return;
    }
    for line in ["check e.toml", "plan e.toml", "run e.toml"] {
        let refused = bench.run(line);
        assert_eq!(refused.status, 2, "{}", refused.err);
        assert!(refused.err.contains("plot.formats: this build makes no pdf"), "{}", refused.err);
        assert!(refused.err.contains("--features figures makes them"), "{}", refused.err);
    }
    assert!(!bench.path("mustlink-results").exists());
}

#[test]
fn a_method_file_is_no_experiment() {
    let bench = Bench::with("m.toml", "clusterer = \"kmeans\"\nk = 3\n");
    for verb in ["run", "plan"] {
        bench.run(&format!("{verb} m.toml")).failed(
            2,
            "error: m.toml: this is a method file; mustlink cluster --data DATA --method m.toml runs it, and \
             an experiment takes it as [[method]] id = \"mine\", file = \"m.toml\"\n",
        );
    }
}

#[test]
fn an_experiment_file_is_no_method() {
    let bench = Bench::with("e.toml", SMALL);
    bench.write("p.csv", "a,b\n1,1\n1,2\n2,2\n");
    for line in ["cluster --data iris", "select --data iris", "consensus p.csv"] {
        bench.run(&format!("{line} --method e.toml")).failed(
            2,
            "error: e.toml: this is an experiment file; mustlink run e.toml runs it. --method takes a method file: \
             the keys of one [[method]], without its id\n",
        );
    }
}

#[test]
fn plan_and_run_say_the_same_of_a_grown_study() {
    let bench = Bench::with("e.toml", SMALL);
    let start = bench.run("run e.toml --out out");
    assert!(
        start.err.contains("nothing missing\n8 cells: 0 finished before, 8 to do\n"),
        "{}",
        start.err
    );
    let more = SMALL
        .replace("points = [0, 10]", "points = [0, 5, 10]")
        .replace("repeats = 2", "repeats = 3");
    bench.write("e.toml", more);
    let said = "8 cells are there in part; rows of point 5 are added\n";
    let plan = bench.run("plan e.toml --out out").out;
    assert!(plan.contains("12 cells") && plan.contains(said), "{plan}");
    let run = bench.run("run e.toml --out out");
    let start = format!("12 cells: 0 finished before, 12 to do\n{said}");
    assert!(run.err.contains(&start), "{}", run.err);
    // A method less: its rows stay, and are in no report.
    let at = SMALL.find("[[method]]\nid = \"asked\"").unwrap();
    bench.write("e.toml", &SMALL[..at]);
    let said = "8 cells on disk belong to nothing in this file: they stay, and are in no report\n";
    let plan = bench.run("plan e.toml --out out").out;
    assert!(plan.contains("4 finished") && plan.contains(said), "{plan}");
    let run = bench.run("run e.toml --out out");
    assert!(run.err.contains(said) && !run.out.contains("asked"), "{}{}", run.err, run.out);
    // A metric more: labels are not kept.
    bench.write(
        "e.toml",
        SMALL.to_string() + "[scoring]\nmetrics = [\"ari\", \"nmi_arith\", \"purity\"]\n",
    );
    let said = "8 cells are there in part; for purity they are run again, because labels are scored where \
                they are made\n";
    let plan = bench.run("plan e.toml --out out").out;
    assert!(plan.contains(said), "{plan}");
    assert_eq!(bench.run("run e.toml --out out --quiet").status, 0);
    assert!(bench.run("plan e.toml --out out").out.contains("8 finished"));
    // Another method under a name that is taken.
    bench.write("e.toml", SMALL.replace("\"kmeans\"", "{ type = \"kmeans\", restarts = 2 }"));
    let message = "error: out: holds the results of another experiment (method \"plain\".clusterer.restarts is \
                   10 there and 2 here); choose another --out, or give what changed an id of its own\n";
    for verb in ["plan", "run --quiet"] {
        bench.run(&format!("{verb} e.toml --out out")).failed(3, message);
    }
}

#[test]
fn parts_are_merged_and_compared() {
    let bench = Bench::with("e.toml", SMALL);
    let whole = bench.run("run e.toml --out whole --quiet");
    for part in [1, 2] {
        let line = format!("run e.toml --out part{part} --shard {part}/2 --quiet");
        assert_eq!(bench.run(&line).status, 0);
    }
    let merged = bench.run("merge part1 part2 --out merged");
    assert_eq!((merged.status, &merged.out), (0, &whole.out), "{}", merged.err);
    let said = "8 of 8 cells finished, 0 failed; 0 in more than one part, with the same bits\n";
    assert!(merged.err.starts_with(said), "{}", merged.err);
    let same = bench.run("diff whole merged --exit-code");
    assert_eq!((same.status, same.out.as_str()), (0, "16 rows, all the same\n"));
    let parts = bench.run("diff whole part1 --exit-code");
    assert_eq!(parts.status, 1);
    assert!(parts.out.contains("only in the first: iris, asked: 4 rows\n"), "{}", parts.out);
    assert_eq!(bench.run("diff whole part1").status, 0);
    let json = bench.run("diff whole part1 --format json").json();
    assert_eq!(json["common"], 8);
    // What was cut off can be done again; other results are not touched.
    let again = bench.run("merge part1 part2 --out merged");
    assert_eq!((again.status, &again.out), (0, &whole.out), "{}", again.err);
    let refused = "error: merged: holds results already; choose another --out\n";
    bench.run("merge part1 --out merged").failed(3, refused);
    assert_eq!(bench.run("run e.toml --out other --quiet --set experiment.seed=7").status, 0);
    // What only the report is made by is that of the first part, which is said.
    assert_eq!(bench.run("run e.toml --out wide --quiet --set stats.level=0.9").status, 0);
    let wide = bench.run("merge whole wide --out both").err;
    assert!(
        wide.contains(
            "note: wide: stats.level is 0.95 there and 0.9 here; what whole has there is taken\n\
             mustlink run FILE --out both writes the report with the settings of FILE\n"
        ),
        "{wide}"
    );
    assert!(!again.err.contains("note:"), "{}", again.err);
    bench.run("merge part1 other --out never").failed(
        3,
        "error: other: is not a part of the study in part1 (experiment.seed is 0 there and 7 here); parts may \
         differ in data sets, methods and repeats\n",
    );
    assert!(!bench.path("never").exists());
}

#[test]
fn cited_are_exactly_the_methods_of_a_run() {
    let bench = Bench::with("e.toml", SMALL);
    bench.write("m.toml", "clusterer = \"cop_kmeans\"\n");
    assert_eq!(bench.run("run e.toml --out out --quiet").status, 0);
    let cited = bench.run("cite out");
    assert_eq!((cited.status, cited.err.as_str()), (0, ""));
    let (sentence, entries) = cited.out.split_once("\n\n").unwrap();
    assert!(sentence.starts_with("% We used mustlink "), "{sentence}");
    assert!(
        sentence.contains("pck\\_means~\\cite{Basu2004") && sentence.ends_with('.'),
        "{sentence}"
    );
    assert!(entries.contains("{Basu2004,") && entries.contains("{mustlink,"), "{entries}");
    assert!(!entries.contains("Wagstaff2001"), "{entries}");
    assert_eq!(bench.run("cite e.toml").out, cited.out);
    // Ranges as LaTeX has them, and a year for the program.
    assert!(entries.contains("{333--344}") && !entries.contains('–'), "{entries}");
    assert!(entries.contains("  year = {20"), "{entries}");
    let both = bench.run("cite out m.toml").out;
    assert!(both.contains("Wagstaff2001") && both.contains("Basu2004"), "{both}");
    // A plugin by its name is a method with its defaults.
    let named = bench.run("cite cop_kmeans pck_means");
    assert_eq!((named.status, named.err.as_str()), (0, ""));
    assert!(named.out.contains("Wagstaff2001") && named.out.contains("Basu2004"), "{}", named.out);
    bench.write("x.csv", "a,b\n1,2\n");
    bench.run("cite pck_means --bib x.csv").failed(
        3,
        "error: x.csv: not BibTeX: no entry in it, such as @article{key, title = {…}}\n",
    );
    bench
        .run("cite pck_mean")
        .failed(3, "error: pck_mean: no such file or plugin; did you mean \"pck_means\"?\n");
}

#[test]
fn shards_together_are_the_whole() {
    let bench = Bench::with("e.toml", SMALL);
    for part in ["1/2", "2/2"] {
        let run = bench.run(&format!("run e.toml --out parts --shard {part}"));
        assert_eq!((run.status, run.out.as_str()), (0, ""), "{}", run.err);
        assert!(
            run.err.ends_with("when all parts are finished: mustlink report parts\n"),
            "{}",
            run.err
        );
    }
    let whole = bench.run("run e.toml --out whole --quiet");
    assert_eq!(bench.run("report parts").out, whole.out);
}

#[test]
fn a_directory_of_another_experiment() {
    let bench = Bench::with("e.toml", SMALL);
    assert_eq!(bench.run("run e.toml --out out --quiet").status, 0);
    bench.run("run e.toml --out out --quiet --set experiment.seed=7").failed(
        3,
        "error: out: holds the results of another experiment (experiment.seed is 0 there and 7 \
         here); choose another --out, or remove it\n",
    );
    bench.run("report .").failed(
        3,
        "error: ./config.json: No such file or directory (os error 2); is this a results \
         directory?\n",
    );
}

#[test]
fn a_locked_directory() {
    let bench = Bench::with("e.toml", SMALL);
    std::fs::create_dir(bench.path("out")).unwrap();
    let lock = File::create(bench.path("out/run.lock")).unwrap();
    lock.lock().unwrap();
    bench
        .run("run e.toml --out out --quiet")
        .failed(3, "error: out: another run is at work in this directory; wait for it\n");
    // What failed is there alone.
    lock.unlock().unwrap();
    assert_eq!(bench.run("run e.toml --out out --quiet").status, 0);
    lock.lock().unwrap();
    bench
        .run("retry out --quiet")
        .failed(3, "error: out: another run is at work in this directory; wait for it\n");
}

#[test]
fn mistakes_in_the_file_and_on_the_line() {
    let bench = Bench::with("e.toml", SMALL.replace("\"kmeans\"", "\"kmeens\""));
    bench.run("run e.toml --set spilt.folds=3").failed(
        2,
        "error: --set spilt.folds=3: spilt: unknown option of the configuration; did you mean \
         \"split\"?\nerror: e.toml:13:13: method[0].clusterer: no base clusterer \"kmeens\"; did \
         you mean \"kmeans\"? run \"mustlink list base-clusterers\"\n",
    );
    bench.write("e.toml", SMALL.replace("id = \"iris\"", "id = \"mine\"\npath = \"mine.npy\""));
    let done = bench.run("check e.toml");
    assert!(done.status == 3 && done.err.contains("mine.npy: no such file"), "{}", done.err);
    let wrong = SMALL.replace("\"kmeans\"", "\"kmeens\"").replace("\"iris\"", "\"iriss\"");
    bench.write("e.toml", wrong + "[[dataset]]\nid = \"mine\"\npath = \"mine.npy\"\n");
    let done = bench.run("check e.toml");
    assert_eq!(done.status, 2, "{}", done.err);
    for mistake in ["\"kmeens\"", "no data set \"iriss\"", "mine.npy: no such file"] {
        assert!(done.err.contains(mistake), "{mistake}: {}", done.err);
    }
    let claim = "[[criterion]]\nid = \"c\"\nstatement = \"it is so\"\ncheck = \"n > 1\"\n";
    bench.write("e.toml", SMALL.to_string() + claim);
    let done = bench.run("check e.toml --set dataset=[]");
    assert!(done.status == 2 && !done.err.contains("defect"), "{}", done.err);
    bench.write("e.toml", SMALL);
    bench.run("run e.toml --set repeats=2").failed(
        2,
        "error: --set repeats=2: repeats: unknown option of the configuration; did you mean \
         \"split.repeats\"?\n",
    );
    bench.write("e.toml", SMALL.replace("\"iris\"", "\"iriss\""));
    let plan = bench.run("plan e.toml");
    assert_eq!(plan.status, 3);
    assert!(
        plan.out.starts_with(
            "iriss: MISSING: dataset iriss: data: no data set \"iriss\"; did you mean \"iris\"?"
        ),
        "{}",
        plan.out
    );
    assert_eq!(bench.run("run e.toml --quiet").status, 3);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_goes_on() {
    let long = SMALL.replace("\"iris\"", "\"digits\"").replace("repeats = 2", "repeats = 2000");
    let bench = Bench::with("e.toml", long);
    let mut child = bench
        .command(&["run", "e.toml", "--out", "out"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let since = Instant::now();
    while cells(&bench.path("out")) < 2 {
        assert!(since.elapsed() < Duration::from_secs(60), "no cell in a minute");
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(20));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let done = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(130), "{err}");
    assert_eq!(done.stdout, b"");
    assert!(err.starts_with("digits: 1797 objects, "), "{err}");
    let start = "\n8000 cells: 0 finished before, 8000 to do\n";
    let (_, rest) = err.split_once(start).unwrap_or_else(|| panic!("{err}"));
    assert!(
        rest.contains("stopping; press Ctrl-C again to end immediately\ninterrupted: "),
        "{err}"
    );
    assert!(
        err.ends_with("cells are finished in out; the same command continues from there\n"),
        "{err}"
    );
    assert!(!has_leftovers(&bench.path("out")));
    let before = cells(&bench.path("out"));
    assert!(bench.run("plan e.toml --out out").out.contains(&format!(", {before} finished;")));
}
