//! Folders of strangers: their programs start only if the user wants it.

use super::scripts::{EXPERIMENT, SCRIPT};
use super::support::Bench;

/// Leaves a mark in a file whose name the text does not have.
const MARK: &str = "echo x >> mar\"\"k\n";

/// A folder with a plugin that leaves a mark when it is started, and with results that it made elsewhere.
fn folder() -> Bench {
    let mut bench = Bench::with("evil.sh", format!("{MARK}echo x > log.txt\n{SCRIPT}"));
    bench.write("e.toml", EXPERIMENT.replace("plugins/first_apart.sh", "evil.sh"));
    bench.write("m.toml", "plugins = [\"evil.sh\"]\nclusterer = \"first_apart\"\nk = 2\n");
    let done = bench.run("run e.toml --out out --quiet");
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(is_marked(&bench), "the user runs a file");
    std::fs::remove_file(bench.path("mark")).unwrap();
    bench.forget();
    bench
}

fn is_marked(bench: &Bench) -> bool {
    bench.path("mark").exists()
}

/// Every verb that the program's help lists.
fn verbs(bench: &Bench) -> Vec<String> {
    let help = bench.run("--help").out;
    let commands = help.split("Options:\n").next().unwrap();
    let names = commands.lines().filter_map(|line| line.strip_prefix("  "));
    let verbs: Vec<String> =
        names.filter_map(|line| line.split(' ').next()).map(str::to_string).collect();
    assert!(verbs.len() > 20 && verbs.contains(&"report".to_string()), "{verbs:?}");
    verbs
}

/// These run the methods of a file that the user names.
const RUN: [&str; 7] = ["cluster", "select", "label", "consensus", "impute", "select-k", "run"];

#[test]
fn looking_starts_nothing() {
    let bench = folder();
    let verbs = verbs(&bench);
    let mut lines: Vec<String> = [
        "config show e.toml",
        "config show m.toml",
        "config show e.toml --origin",
        "cite e.toml out m.toml first_apart",
        "check e.toml --memory-limit 1GiB",
        "plan e.toml --out out",
        "describe first_apart",
        "diff out out",
        "merge out --out merged",
        "verdicts out",
        "schema method",
        "init --data iris --out new.toml",
        "score --truth iris --labels none",
        "predict --model m.toml --data iris --out l.csv",
        "retry out",
        "verify out",
        "work out/list --task 0 --out out",
    ]
    .map(str::to_string)
    .to_vec();
    for words in ["", "out", "e.toml", "m.toml"] {
        let looking = verbs.iter().filter(|verb| !RUN.contains(&verb.as_str()));
        lines.extend(looking.map(|verb| format!("{verb} {words}")));
    }
    let in_own_file = |line: &String| {
        bench.write("mustlink.toml", "plugins = [\"evil.sh\"]\n");
        bench.run(line);
        let started = is_marked(&bench);
        std::fs::remove_file(bench.path("mustlink.toml")).unwrap();
        assert!(!started, "mustlink.toml: {line}");
    };
    for line in &lines {
        bench.run(line);
        assert!(!is_marked(&bench), "{line}");
    }
    // With `mustlink.toml` nothing of it starts, whatever the verb.
    for verb in verbs {
        in_own_file(&format!("{verb} --data iris"));
        in_own_file(&format!("{verb} e.toml"));
    }
    in_own_file(&"cluster --data iris --k 3 --clusterer first_apart".into());
    in_own_file(&"cluster --data iris --method m.toml".into());
    // Results are read without the program.
    let report = bench.run("report out");
    assert_eq!((report.status, is_marked(&bench)), (0, false), "{}", report.err);
    assert!(report.out.contains("m[first=50]"), "{}", report.out);
    let refused = bench.run("verify out --share 1");
    let said = "names programs that you have not allowed yet: `sh evil.sh`. Read them, then run: \
                mustlink --trust verify out --share 1\n";
    assert!(refused.status == 2 && refused.err.ends_with(said), "{}", refused.err);
    assert!(!is_marked(&bench));
    assert_eq!(bench.run("--trust verify out --share 1").status, 0);
    assert!(is_marked(&bench));
    assert_eq!(bench.run("verify out --share 1").status, 0);
    // An edited script is another program, until the user runs it.
    std::fs::remove_file(bench.path("mark")).unwrap();
    bench.write("evil.sh", format!("{MARK}echo x > log.txt\n\n{SCRIPT}"));
    for line in ["verify out --share 1", "retry out", "work out/list --task 0 --out out"] {
        let refused = bench.run(line);
        let said = format!("mustlink --trust {line}\n");
        assert!(refused.status == 2 && refused.err.ends_with(&said), "{line}: {}", refused.err);
    }
    assert!(!is_marked(&bench));
    assert_eq!(bench.run("run e.toml --out out --quiet").status, 0);
    assert_eq!(bench.run("verify out --share 1").status, 0);
}

#[test]
fn completing_starts_nothing() {
    let bench = folder();
    bench.write("mustlink.toml", "plugins = [\"evil.sh\"]\n");
    let complete = |words: &[&str]| {
        let all = [&["--", "mustlink"], words].concat();
        let mut command = bench.command(&all);
        command.env("MUSTLINK_COMPLETE", "bash").env("_CLAP_IFS", " ");
        let done = command.env("_CLAP_COMPLETE_INDEX", words.len().to_string()).output().unwrap();
        assert!(done.stderr.is_empty(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    };
    assert!(complete(&["clu"]).contains("cluster"));
    let names = || complete(&["describe", "first_"]);
    assert!(!names().contains("first_apart") && !is_marked(&bench));
    // Once it was started, its name is known.
    assert_eq!(bench.run("--trust list").status, 0);
    std::fs::remove_file(bench.path("mark")).unwrap();
    assert!(names().contains("first_apart") && !is_marked(&bench));
}

#[test]
fn a_program_is_allowed_as_it_is() {
    let bench = folder();
    bench.write("mustlink.toml", "plugins = [\"evil.sh\"]\n");
    let cluster = "cluster --data iris --clusterer first_apart --quiet";
    let refused = |bench: &Bench| {
        let done = bench.run(cluster);
        let said = format!("mustlink --trust {cluster}\n");
        assert!(done.status == 2 && done.err.ends_with(&said), "{}", done.err);
    };
    refused(&bench);
    assert!(!is_marked(&bench));
    let listed = bench.run("list base-clusterers");
    assert!(listed.err.contains("Add --trust to start it now"), "{}", listed.err);
    assert_eq!(bench.run(&format!("--trust {cluster}")).status, 0);
    assert_eq!(bench.run(cluster).status, 0);
    std::fs::remove_file(bench.path("mark")).unwrap();
    for look in ["list base-clusterers", "describe first_apart", "check m.toml", "plan e.toml"] {
        let done = bench.run(look);
        assert_eq!((done.status, done.err.as_str()), (0, ""), "{look}");
    }
    assert!(!is_marked(&bench));
    bench.write("evil.sh", format!("{MARK}{SCRIPT}"));
    refused(&bench);
    // The same folder elsewhere is another one.
    assert_eq!(bench.run(&format!("--trust {cluster}")).status, 0);
    std::fs::create_dir(bench.path("copy")).unwrap();
    for file in ["evil.sh", "mustlink.toml"] {
        std::fs::copy(bench.path(file), bench.path("copy").join(file)).unwrap();
    }
    let words = super::support::words(cluster);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let there = bench.command(&words).current_dir(bench.path("copy")).output().unwrap();
    assert_eq!((there.status.code(), bench.path("copy/mark").exists()), (Some(2), false));
}

/// A file on the command line is the user's own choice.
#[test]
fn a_file_that_is_named_is_run_and_not_started_by_a_check() {
    let bench = folder();
    let said = "`sh evil.sh` has not been started here since it was last changed, so its name and options are \
                unknown. Add --trust to start it now";
    for look in ["check m.toml", "cite m.toml", "plan e.toml", "config show e.toml"] {
        let done = bench.run(look);
        assert!(done.status == 2 && done.err.contains(said), "{look}: {}", done.err);
    }
    assert!(!is_marked(&bench));
    assert_eq!(bench.run("cluster --data iris --method m.toml --quiet").status, 0);
    assert!(is_marked(&bench));
    std::fs::remove_file(bench.path("mark")).unwrap();
    assert_eq!(bench.run("check m.toml").status, 0);
    assert!(!is_marked(&bench));
    bench.write("evil.sh", format!("{MARK}echo x > log.txt\n\n{SCRIPT}"));
    assert_eq!(bench.run("check m.toml").status, 2);
    assert_eq!(bench.run("check --trust m.toml").status, 0);
    assert!(is_marked(&bench));
}
