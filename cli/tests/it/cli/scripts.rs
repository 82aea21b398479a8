//! Programs in other languages as plugins with names of their own.

use super::support::Bench;

/// Puts the first objects into a cluster of their own; an option gives their number.
pub(super) const SCRIPT: &str = r#"while read l; do case "$l" in
*'"type":"hello"'*) echo '{"v":1,"type":"hello","name":"first_apart","again":true,"summary":"Puts the first objects apart.",
"options":{"first":{"type":"integer","default":2,"minimum":1,"description":"How many."}},
"properties":{"needs_k":false},"references":["MacQueen1967"]}' | tr -d '\n'; echo;;
*'"type":"cluster"'*)
n=$(printf '%s' "$l" | sed 's/.*"n":\([0-9]*\).*/\1/'); f=$(printf '%s' "$l" | sed 's/.*"first":\([0-9]*\).*/\1/')
echo "{\"type\":\"clustering\",\"labels\":[$(seq 1 $n | awk -v f=$f '{ printf "%s%d", (NR > 1 ? "," : ""), ($1 <= f) }')]}";;
*) exit;;
esac; done
"#;

pub(super) const EXPERIMENT: &str = "plugins = [\"plugins/first_apart.sh\"]\n[experiment]\nname = \"e\"\n\
                          [[dataset]]\nid = \"iris\"\n[[method]]\nid = \"m\"\n\
                          clusterer = { type = \"first_apart\", first = [50, 100] }\n";

fn bench(script: &str) -> Bench {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("plugins")).unwrap();
    bench.write("plugins/first_apart.sh", script);
    bench
}

#[test]
fn a_script_is_listed_described_and_run_by_its_name() {
    let bench = bench(SCRIPT);
    assert!(!bench.run("list base-clusterers").out.contains("first_apart"));
    bench.write("mustlink.toml", "plugins = [\"plugins/first_apart.sh\"]\n");
    let listed = bench.run("--trust list base-clusterers").out;
    assert!(listed.contains("first_apart") && listed.contains("Puts the first objects apart."));
    let described = bench.run("describe first_apart --format json").json();
    assert_eq!(described["references"][0], "MacQueen1967");
    assert_eq!(described["properties"]["needs_k"], false);
    assert_eq!(described["options"][0]["name"], "first");
    let done = bench.run("cluster --data iris --clusterer first_apart --out l.csv --format json");
    assert_eq!(done.json()["k"], 2, "{}", done.err);
    assert_eq!(bench.read("l.csv").lines().filter(|l| l.ends_with(",1")).count(), 2);
    let slip = "cluster --data iris --clusterer first_apart --set clusterer.frist=3";
    let done = bench.run(slip);
    assert_eq!(done.status, 2);
    let said = "clusterer.frist: unknown option of first_apart; did you mean \"first\"?";
    assert!(done.err.contains(said), "{}", done.err);
    let done = bench.run("cluster --data iris --clusterer first_apart --set clusterer.first=0");
    assert!(done.err.contains("clusterer.first: must be at least 1, got 0"), "{}", done.err);
    let done = bench.run("cluster --data iris --clusterer first_apar");
    assert!(done.err.contains("did you mean \"first_apart\"?"), "{}", done.err);
    bench.write("mustlink.toml", "plugin = [\"plugins/first_apart.sh\"]\n");
    let done = bench.run("list");
    assert!(done.err.contains("plugin: unknown option") && done.status == 2, "{}", done.err);
}

/// The second took the place of the first.
#[test]
fn a_script_may_be_several_plugins_by_its_arguments() {
    let script = "while read l; do case \"$l\" in *hello*) \
                  echo \"{\\\"v\\\":1,\\\"type\\\":\\\"hello\\\",\\\"name\\\":\\\"$1\\\"}\";; \
                  *) exit;; esac; done\n";
    let bench = Bench::with("named.sh", script);
    let plugins = r#"plugins = [["sh", "named.sh", "one_apart"], ["sh", "named.sh", "two_apart"]]"#;
    bench.write("mustlink.toml", plugins);
    let listed = bench.run("--trust list base-clusterers").out;
    assert!(listed.contains("one_apart") && listed.contains("two_apart"), "{listed}");
    bench.write("mustlink.toml", plugins.replace("two_apart", "one_apart"));
    assert!(bench.run("list base-clusterers").out.contains("one_apart"));
    bench.write("mustlink.toml", r#"plugins = [["sh", "named.sh", "pca"]]"#);
    assert!(bench.run("--trust list").err.contains("the tag \"pca\" is taken twice"));
}

#[test]
fn options_of_a_script_are_swept_and_an_edit_makes_its_cells_again() {
    let bench = bench(SCRIPT);
    bench.write("e.toml", EXPERIMENT);
    let planned = bench.run("plan e.toml --out out --trust").out;
    let unknown = "not counted: the programs of m[first=50], m[first=100], whose time is known after the first cell";
    assert!(planned.contains(unknown), "{planned}");
    let done = bench.run("run e.toml --out out");
    assert_eq!(done.status, 0, "{}", done.err);
    let results = bench.read("out/results.csv");
    assert!(results.contains(",m[first=50],first_apart,"), "{results}");
    let scores = |text: &str| -> Vec<String> {
        let column = text.lines().next().unwrap().split(',').position(|c| c == "ari").unwrap();
        text.lines().skip(1).map(|l| l.split(',').nth(column).unwrap().to_string()).collect()
    };
    let first = scores(&results);
    assert!(first.len() == 2 && first[0] == first[1], "50 of 150 alike: {first:?}");
    let planned = bench.run("plan e.toml --out out --set experiment.seed=0").out;
    assert!(!planned.contains("not counted"), "{planned}");
    // Another split of the work: the cells of the first run say how long theirs took.
    let again = bench.run("report out");
    assert!(!again.err.contains("another build"), "{}", again.err);
    bench.write("plugins/first_apart.sh", SCRIPT.replace("$1 <= f", "$1 <= f + 20"));
    let again = bench.run("report out");
    let said = "2 of 2 finished cells were made by another build (changed: plugins/first_apart.sh); mustlink run \
                makes them again\n";
    assert!(again.err.starts_with(said), "{}", again.err);
    let kept = bench.run("run e.toml --out out --keep-stale");
    assert!(kept.err.contains("2 of 2 cells finished (2 before)"), "{}", kept.err);
    assert_eq!(scores(&bench.read("out/results.csv")), first);
    let done = bench.run("run e.toml --out out");
    let said = "2 cells were made by another build (changed: plugins/first_apart.sh): iris × \
                m[first=100], iris × m[first=50]; they are made again (--keep-stale keeps them)\n";
    assert!(done.err.contains(said), "{}", done.err);
    assert!(done.err.contains("2 of 2 cells finished (0 before)"), "{}", done.err);
    assert_ne!(scores(&bench.read("out/results.csv")), first);
    let forced = bench.run("run e.toml --out out --force");
    assert!(forced.err.contains("2 of 2 cells finished (0 before)"), "{}", forced.err);
    // The directory of results knows the plugin without the file.
    assert_eq!(bench.run("retry out").status, 0);
    // What it said of itself stands with the results it made.
    std::fs::remove_file(bench.path("plugins/first_apart.sh")).unwrap();
    let report = bench.run("report out");
    assert_eq!(report.status, 0, "{}", report.err);
    assert!(report.out.contains("m[first=50]"), "{}", report.out);
    let again = bench.run("run e.toml --out out --force");
    assert!(again.err.contains("no file"), "{}", again.err);
}

/// Edits of what a program rests on, as users make them.
#[test]
fn an_edit_of_any_file_that_is_named_makes_cells_again() {
    let bench = Bench::new();
    bench.write("run.sh", "# A comment names other.txt.\nexec sh pp.sh\n");
    bench.write("pp.sh", SCRIPT);
    bench.write("whole.sh", SCRIPT);
    bench.write("helper.sh", format!(". ./reads.sh\n{SCRIPT}"));
    bench.write("reads.sh", "cat \"$(dirname \"$0\")/k.json\" > /dev/null\n");
    for file in ["k.txt", "table.txt", "k.json", "other.txt"] {
        bench.write(file, "1\n");
    }
    let methods = [
        ("wrapper", "command = [\"sh\", \"run.sh\"]"),
        ("word", "command = [\"sh\", \"whole.sh\", \"--k=k.txt\"]"),
        ("option", "command = [\"sh\", \"whole.sh\"], options = { table = \"table.txt\" }"),
        ("helper", "command = [\"sh\", \"helper.sh\"]"),
    ];
    let methods = methods.map(|(id, what)| {
        let head = "clusterer = { type = \"external_clusterer\", needs_k = false";
        format!("[[method]]\nid = \"{id}\"\n{head}, {what} }}\n")
    });
    let head = "[experiment]\nname = \"e\"\n[[dataset]]\nid = \"iris\"\n";
    bench.write("e.toml", format!("{head}{}", methods.concat()));
    let before = |count: usize| {
        let done = bench.run("run e.toml --out out");
        let said = format!("4 of 4 cells finished ({count} before)");
        assert!(done.err.contains(&said), "{}", done.err);
    };
    before(0);
    before(4);
    bench.write("pp.sh", format!("{SCRIPT}\n"));
    before(3);
    for file in ["k.txt", "table.txt", "k.json"] {
        bench.write(file, "2\n");
        before(3);
    }
    bench.write("other.txt", "2\n");
    before(4);
}

/// The out-of-memory killer leaves a process no time.
#[test]
fn a_killed_process_leaves_no_program_and_no_folder() {
    use std::process::Stdio;
    use std::time::{Duration, Instant};
    let bench = bench(SCRIPT);
    std::fs::create_dir(bench.path("tmp")).unwrap();
    bench.write("m.toml", "plugins = [\"plugins/first_apart.sh\"]\nclusterer = \"first_apart\"\n");
    // Once it is asked, it is known to what ends it.
    let slow = "read l; sleep 600 & echo $$ $! > pids.new; mv pids.new pids; \
                echo '{\"v\":1,\"type\":\"hello\",\"name\":\"x\"}'; wait";
    bench.write("slow.sh", slow);
    let method = "{ type = \"external_clusterer\", command = [\"sh\", \"slow.sh\"] }";
    let cluster = ["cluster", "--data", "iris", "--k", "3", "--clusterer", method];
    let mut command = bench.command(&cluster);
    command.env("TMPDIR", bench.path("tmp")).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let waits = |done: &dyn Fn() -> bool| {
        let end = Instant::now() + Duration::from_secs(60);
        while !done() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(10));
        }
        done()
    };
    assert!(waits(&|| bench.path("pids").exists()));
    child.kill().unwrap();
    child.wait().unwrap();
    let pids = bench.read("pids");
    let runs = |pid: &str| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    };
    if cfg!(target_os = "linux") {
        assert!(waits(&|| !pids.split_whitespace().any(runs)), "{pids}");
    }
    let folders = || std::fs::read_dir(bench.path("tmp")).unwrap().count();
    assert_eq!(folders(), 1);
    let mut next = bench.command(&["cluster", "--data", "iris", "--method", "m.toml", "--quiet"]);
    let done = next.env("TMPDIR", bench.path("tmp")).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(folders(), 0);
}

#[test]
fn results_of_two_copies_of_a_script_are_compared() {
    let bench = bench(SCRIPT);
    std::fs::create_dir_all(bench.path("copy/plugins")).unwrap();
    bench.write("copy/plugins/first_apart.sh", SCRIPT);
    bench.write("copy/e.toml", EXPERIMENT);
    bench.write("e.toml", EXPERIMENT);
    for (file, out) in [("e.toml", "a"), ("copy/e.toml", "b")] {
        let done = bench.run(&format!("run {file} --out {out}"));
        assert_eq!(done.status, 0, "{}", done.err);
    }
    let compared = |command: &str| bench.run(&format!("diff {command} --exit-code"));
    for command in ["a b", "b a"] {
        let done = compared(command);
        assert_eq!(done.status, 0, "{command}: {}", done.err);
    }
    // Another program of that name is another plugin.
    bench.write("copy/plugins/first_apart.sh", SCRIPT.replace("$1 <= f", "$1 < f"));
    let done = compared("a b");
    assert!(done.err.contains("\"first_apart\" is taken twice"), "{}", done.err);
    // Results from another machine, whose folder is not here.
    std::fs::remove_dir_all(bench.path("copy")).unwrap();
    for command in ["a b", "b a"] {
        let done = compared(command);
        assert_eq!(done.status, 0, "{command}: {}", done.err);
    }
}

#[test]
fn a_traceback_is_shown_once_for_all_cells() {
    let script = r#"while read l; do case "$l" in
*hello*) echo '{"v":1,"type":"hello","name":"fails"}';;
*) printf 'Traceback (most recent call last):\n  File "p.py", line 3\nKeyError: 1\n' >&2; exit 1;;
esac; done
"#;
    let bench = Bench::with("fails.sh", script);
    bench.write(
        "e.toml",
        "experiment.name = \"e\"\n[[dataset]]\nid = \"iris\"\n[split]\ntype = \"all\"\nrepeats = 3\n\
         [[method]]\nid = \"a\"\nclusterer = { type = \"external_clusterer\", needs_k = false, \
         command = [\"sh\", \"fails.sh\"] }\n",
    );
    let done = bench.run("run e.toml --out out");
    assert_eq!(done.status, 1, "{}", done.err);
    let shown = done.err.lines().filter(|line| line.starts_with("Traceback")).count();
    assert_eq!(shown, 1, "{}", done.err);
    assert!(done.err.contains("KeyError: 1 (same error in 2 more cells)\n"), "{}", done.err);
}

#[test]
fn paths_start_at_the_file_that_names_them() {
    let bench = bench(SCRIPT);
    let command = "type = \"external_clusterer\", needs_k = false, options = { first = 3 }, \
                   command = [\"sh\", \"first_apart.sh\"]";
    bench.write("plugins/m.toml", format!("clusterer = {{ {command} }}\n"));
    bench.write(
        "plugins/named.toml",
        "plugins = [\"first_apart.sh\"]\nclusterer = \"first_apart\"\n",
    );
    for file in ["m", "named"] {
        let done =
            bench.run(&format!("cluster --data iris --method plugins/{file}.toml --out l.csv"));
        assert_eq!(done.status, 0, "{}", done.err);
        assert_eq!(bench.run(&format!("check plugins/{file}.toml")).status, 0);
    }
    let methods = "[[method]]\nid = \"a\"\nfile = \"plugins/m.toml\"\n\
                   [[method]]\nid = \"b\"\nfile = \"plugins/named.toml\"\n";
    bench
        .write("e.toml", format!("experiment.name = \"e\"\n[[dataset]]\nid = \"iris\"\n{methods}"));
    let done = bench.run("run e.toml --out out");
    assert_eq!(done.status, 0, "{}", done.err);
    let done = bench.run("run e.toml --out out");
    assert!(done.err.contains("2 of 2 cells finished (2 before)"), "{}", done.err);
    // Its name in messages and tables.
    bench.write(
        "plugins/first_apart.sh",
        SCRIPT.replace("\"type\\\":\\\"clustering", "\"type\\\":\\\"error"),
    );
    let done = bench.run("cluster --data iris --method plugins/named.toml");
    assert!(done.err.contains("first_apart: no message"), "{}", done.err);
}

/// Regression test: only experiments read this setting.
#[test]
fn a_script_is_known_by_a_setting() {
    let bench = bench(SCRIPT);
    let set = "--set plugins=[\"plugins/first_apart.sh\"]";
    let line = format!("cluster --data iris --clusterer first_apart {set} --set clusterer.first=3");
    let done = bench.run(&format!("{line} --out l.csv --format json"));
    assert_eq!(done.json()["k"], 2, "{}", done.err);
    // Paths start at the method file.
    bench.write("plugins/m.toml", "clusterer = \"first_apart\"\n");
    for command in ["cluster --data iris --method plugins/m.toml", "check plugins/m.toml"] {
        let done = bench.run(&format!("{command} --set plugins=[\"first_apart.sh\"]"));
        assert_eq!(done.status, 0, "{}", done.err);
    }
    let done = bench.run(&line.replace("first_apart.sh", "nowhere.sh"));
    assert!(done.status == 2 && done.err.contains("plugins[0]: no file "), "{}", done.err);
}

#[test]
fn options_of_a_script_under_test_are_its_own() {
    let bench = bench(SCRIPT);
    let done = bench.run("plugin test --set options.frist=3 -- sh plugins/first_apart.sh");
    let said = "--set options.frist: unknown option of the configuration; did you mean \"first\"?";
    assert!(done.status == 2 && done.err.contains(said), "{}{}", done.out, done.err);
}

#[test]
fn a_program_named_alone_is_no_file_of_the_folder() {
    let bench = bench(SCRIPT);
    bench.write("plugins/sh", "");
    bench.write(
        "plugins/m.toml",
        "plugins = [[\"sh\", \"first_apart.sh\"]]\nclusterer = \"first_apart\"\n",
    );
    let done = bench.run("cluster --data iris --method plugins/m.toml --format json");
    assert_eq!(done.json()["k"], 2, "{}", done.err);
    bench.write("e.toml", "experiment.name = \"e\"\n[[dataset]]\nid = \"iris\"\n[[method]]\nid = \"m\"\nfile = \"plugins/m.toml\"\n");
    let done = bench.run("run e.toml --out out --quiet");
    assert_eq!(done.status, 0, "{}", done.err);
}

#[test]
fn options_of_a_script_named_by_a_bare_word() {
    let bench = bench(SCRIPT);
    let head = "[experiment]\nname = \"e\"\n[[dataset]]\nid = \"iris\"\n[[method]]\nid = \"m\"\n";
    let named =
        format!("plugins = [\"plugins/first_apart.sh\"]\n{head}clusterer = \"first_apart\"\n");
    bench.write("e.toml", named);
    let shown = bench.run("config show e.toml --trust --set method.m.clusterer.first=7");
    assert!(shown.out.contains("first = 7\n"), "{}{}", shown.out, shown.err);
    bench.write("plugins/m.toml", "plugins = [\"first_apart.sh\"]\nclusterer = \"first_apart\"\n");
    bench
        .write("f.toml", format!("{head}file = \"plugins/m.toml\"\nclusterer = {{ first = 9 }}\n"));
    let shown = bench.run("config show f.toml");
    assert!(shown.out.contains("first = 9\n"), "{}{}", shown.out, shown.err);
}

#[test]
fn what_is_no_plugin_is_said_where_it_is_named() {
    let bench = bench("echo hello");
    let said = |plugins: &str| {
        bench.write("m.toml", format!("plugins = {plugins}\nclusterer = \"kmeans\"\n"));
        let done = bench.run("check m.toml --trust");
        assert_eq!(done.status, 2, "{}", done.err);
        done.err
    };
    let text = said("[\"plugins/first_apart.py\"]");
    assert!(text.contains("m.toml:1:") && text.contains("plugins[0]: no file "), "{text}");
    assert!(text.contains("did you mean \"first_apart.sh\"?"), "{text}");
    let text = said("[[]]");
    assert!(text.contains("plugins[0]: names no program"), "{text}");
    let text = said("[\"plugins/first_apart.sh\"]");
    assert!(text.contains("line 1 of its output: not a JSON object"), "{text}");
    let text = said("\"plugins/first_apart.sh\"");
    assert!(text.contains("must be a list of files: plugins = [\"my_method.py\"]"), "{text}");
    for (from, to, why) in [
        ("first_apart\"", "First\"", "its name must be snake_case"),
        ("first_apart\"", "kmeans\"", "the tag \"kmeans\" is taken twice"),
        ("\"default\":2,", "", "its option first needs a default"),
        (
            "\"default\":2",
            "\"default\":0",
            "the default of its option first must be at least 1, got 0",
        ),
        (
            "\"default\":2",
            "\"default\":\"two\"",
            "must be an integer, at least 1, got string \"two\"",
        ),
        ("\"needs_k\"", "\"timeout_seconds\":5,\"needs_k\"", "timeout_seconds is not a property"),
        ("\"integer\"", "\"count\"", "its option first needs a type, one of integer, number"),
        ("needs_k", "need_k", "its properties: unknown field `need_k`"),
        ("\"again\"", "\"role\":\"oracle\",\"again\"", "its role must be clusterer or selector"),
        ("\"again\"", "\"role\":5,\"again\"", "its role must be clusterer or selector, got 5"),
    ] {
        bench.write("plugins/first_apart.sh", SCRIPT.replace(from, to));
        let text = said("[\"plugins/first_apart.sh\"]");
        assert!(text.contains(why), "{why}: {text}");
    }
    bench.write("plugins/first_apart.sh", SCRIPT);
    bench.write("plugins/copy.sh", SCRIPT);
    let text = said("[\"plugins/first_apart.sh\", \"plugins/copy.sh\"]");
    assert!(text.contains("copy.sh") && text.contains("first_apart.sh; rename one"), "{text}");
}

#[test]
fn lists_in_a_command_are_refused() {
    let bench = Bench::new();
    for command in [
        "[\"python3\", \"x.py\", [\"5\", \"20\"]]",
        "[[\"python3\", \"a.py\"], [\"python3\", \"b.py\"]]",
    ] {
        let method =
            format!("clusterer = {{ type = \"external_clusterer\", command = {command} }}");
        bench.write("e.toml", format!("experiment.name = \"e\"\n[[dataset]]\nid = \"iris\"\n[[method]]\nid = \"m\"\n{method}\n"));
        let done = bench.run("check e.toml");
        assert_eq!(done.status, 2, "{}", done.err);
        let said = "must be a word, got a list: a command is one list of words; what varies goes into \
                    options = { … }, another program into a method of its own";
        assert!(done.err.contains(said), "{}", done.err);
    }
}

#[test]
fn an_unknown_data_set_is_not_in_order() {
    let bench = Bench::new();
    bench.write("e.toml", "experiment.name = \"e\"\n[[dataset]]\nid = \"iriss\"\n[[method]]\nid = \"m\"\nclusterer = \"kmeans\"\n");
    let done = bench.run("check e.toml");
    assert_eq!((done.status, done.out.as_str()), (3, ""));
    assert!(done.err.contains("no data set \"iriss\"; did you mean \"iris\"?"), "{}", done.err);
}

#[test]
fn the_script_of_the_manual_works() {
    let python = std::env::var("MUSTLINK_PYTHON").unwrap_or_else(|_| "python3".into());
    let found = std::process::Command::new(&python).arg("--version").output();
    if !found.is_ok_and(|done| done.status.success()) {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "skipped: {python} not found");
        return;
    }
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../book/src/outside-plugins.md");
    let page = std::fs::read_to_string(page).unwrap();
    let block = |start: &str| {
        let text = page.split(start).nth(1).expect(start);
        text.split("```").next().unwrap().trim_start().to_string()
    };
    let bench = Bench::with("first_apart.py", block("```python,file=first_apart.py\n"));
    bench.write("e.toml", block("```toml,fragment\nplugins").replacen("= ", "plugins = ", 1));
    let done = bench.run("run e.toml --out out");
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(bench.read("out/results.csv").contains(",apart[first=50],first_apart,"));
    let done = bench.run("plugin test --timeout 60 -- python3 first_apart.py");
    assert!(done.out.contains("kept    one_label_per_object"), "{}{}", done.out, done.err);
}

#[test]
fn verify_finds_what_came_from_outside() {
    let other = SCRIPT
        .replace("*'\"type\":\"cluster\"'*)", "*'\"type\":\"cluster\"'*) more=$(cat mor\"\"e.txt)");
    let bench = bench(&other.replace("$1 <= f", "$1 <= f + '$more'"));
    bench.write("more.txt", "0");
    bench.write("e.toml", EXPERIMENT);
    assert_eq!(bench.run("run e.toml --out out --quiet").status, 0);
    let same = bench.run("verify out --share 1 --quiet");
    assert_eq!(same.status, 0, "{}{}", same.out, same.err);
    // A file that nobody knows the script reads.
    bench.write("more.txt", "20");
    let differs = bench.run("verify out --share 1 --quiet");
    assert_eq!(differs.status, 1, "{}{}", differs.out, differs.err);
    let first = "iris, m[first=50], repeat 0, fold 0, 0 questions: ari was ";
    assert!(differs.out.starts_with(first) && differs.out.contains(" was "), "{}", differs.out);
    assert!(
        differs.out.ends_with("2 of 2 finished cells computed again: 2 differ\n"),
        "{}",
        differs.out
    );
    bench.write("plugins/first_apart.sh", SCRIPT);
    let stale = bench.run("verify out --quiet --trust");
    assert_eq!(
        (stale.status, stale.out.as_str()),
        (1, "nothing was verified, because this build computed none of the finished cells\n")
    );
    assert!(
        stale.err.contains("2 cells were made by another build (changed: plugins/first_apart.sh)"),
        "{}",
        stale.err
    );
}
