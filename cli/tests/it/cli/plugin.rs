//! Plugins in other languages under test, and crates begun.

use super::support::Bench;

const GOOD: &str = r#"read l; echo '{"v":1,"type":"hello","name":"one"}'; read l
n=$(printf '%s' "$l" | sed 's/.*"n":\([0-9]*\).*/\1/'); z=0; i=1
while [ $i -lt $n ]; do z="$z,0"; i=$((i+1)); done
echo "{\"type\":\"clustering\",\"labels\":[$z]}""#;

#[cfg(unix)]
#[test]
fn a_good_command_keeps_the_laws() {
    let bench = Bench::with("one.sh", GOOD);
    let done = bench.run("plugin test -- sh one.sh");
    assert_eq!(done.status, 0, "{}{}", done.out, done.err);
    assert!(done.out.contains("kept    one_label_per_object\n"), "{}", done.out);
    assert!(!done.out.contains("broken"), "{}", done.out);
    assert!(done.err.ends_with(" laws pass\n"), "{}", done.err);
}

/// A law turned around what programs say of themselves: those that need k were asked without one, and ended aloud.
#[cfg(unix)]
#[test]
fn a_command_that_needs_k_is_given_one() {
    let asks = "\ncase \"$l\" in *'\"k\":null'*) echo 'k is missing' >&2;; esac\nn=";
    let bench = Bench::with("one.sh", GOOD.replace("\nn=", asks));
    let done = bench.run("plugin test -- sh one.sh");
    assert_eq!(done.status, 0, "{}{}", done.out, done.err);
    assert!(!done.err.contains("missing"), "{}", done.err);
}

#[cfg(unix)]
#[test]
fn a_broken_law_is_shown_on_a_small_case() {
    // One label too few.
    let bench = Bench::with("few.sh", GOOD.replace("i=1", "i=2"));
    let done = bench.run("plugin test -- sh few.sh");
    assert_eq!(done.status, 4, "{}{}", done.out, done.err);
    let broken = "broken  one_label_per_object: external_clusterer broke its contract: 2 labels \
                  for 3 objects, on line 2 of its output; this is a defect of the plugin\n  smallest case found: 3 objects, \
                  1 feature, 0 constraints, k = 3\n    object 0: ";
    assert!(done.out.contains(broken), "{}", done.out);
    assert!(done.err.ends_with(" laws fail\n"), "{}", done.err);
    // A promise that does not hold: everything is in one cluster.
    bench.write("one.sh", GOOD);
    let done = bench.run("plugin test --set hard_cannot=true -- sh one.sh");
    assert_eq!(done.status, 4, "{}{}", done.out, done.err);
    assert!(done.out.contains("broken  hard_promises_hold: "), "{}", done.out);
    assert!(done.out.contains("1 constraint, k = 3\n"), "{}", done.out);
    assert!(done.out.contains("\n    cannot_link "), "{}", done.out);
}

#[cfg(unix)]
#[test]
fn a_command_that_hangs_is_told_at_once() {
    let hangs = "read l; echo '{\"v\":1,\"type\":\"hello\",\"name\":\"x\"}'; sleep 60\n";
    let bench = Bench::with("hangs.sh", hangs);
    // A machine at work may be slow to greet, too.
    let tried = |seconds: f64| {
        let line = format!("plugin test --timeout {seconds} --role selector -- sh hangs.sh");
        Some((seconds, bench.run(&line))).filter(|(_, done)| done.status != 2)
    };
    let (seconds, done) = [0.2, 2.0, 20.0].into_iter().find_map(tried).expect("it greets");
    assert_eq!(done.status, 4, "{}{}", done.out, done.err);
    let said = "broken  ends_in_time: timeout_seconds: stopped after the time limit of";
    assert!(done.out.contains(&format!("{said} {seconds} s")), "{}", done.out);
    assert!(done.err.starts_with("the other laws run only after"), "{}", done.err);
    // What does not even greet is tried on no law.
    bench
        .run("plugin test --timeout 0.2 -- sleep 60")
        .failed(2, "error: `sleep 60` gave no reply within the limit of 0.2 s\n");
    let done = bench.run("plugin test -- sh nowhere.sh");
    assert!(done.status == 2 && done.err.contains("ended without a reply"), "{}", done.err);
}

/// A description with an error in it was once left out without a message.
#[cfg(unix)]
#[test]
fn a_command_is_tested_as_what_it_says_of_itself() {
    let says = |more: &str| GOOD.replace("\"one\"", &format!("\"one\",{more}"));
    let bench = Bench::with("one.sh", says(r#""properties":{"hard_cannot":true}"#));
    let done = bench.run("plugin test -- sh one.sh");
    assert!(done.out.contains("broken  hard_promises_hold: "), "{}{}", done.out, done.err);
    bench.write("one.sh", says(r#""properties":{"hard_cannt":true}"#));
    let done = bench.run("plugin test -- sh one.sh");
    assert_eq!((done.status, done.out.as_str()), (2, ""), "{}", done.err);
    assert!(
        done.err.contains("its properties: ") && done.err.contains("hard_cannt"),
        "{}",
        done.err
    );
    // As a selector it is asked to start, which it is told to refuse.
    let selects = "read l; echo '{\"v\":1,\"type\":\"hello\",\"name\":\"one\",\"role\":\"selector\"}'\n\
                   read l; echo '{\"type\":\"error\",\"message\":\"no\"}'\n";
    bench.write("one.sh", selects);
    let done = bench.run("plugin test -- sh one.sh");
    assert!(
        done.out.contains("wrong_id_is_an_error: external_selector: no"),
        "{}{}",
        done.out,
        done.err
    );
}

#[test]
fn wrong_use_is_said() {
    let bench = Bench::new();
    bench.run("plugin test --set hard_mst=true -- true").failed(
        2,
        "error: --set hard_mst=true: hard_mst: unknown option of external_clusterer; did you mean \
         \"hard_must\"?\n",
    );
    bench.run("plugin new kmeans --role clusterer").failed(
        2,
        "error: NAME: \"kmeans\" is a base clusterer of mustlink-base-clusterers; tags are unique, \
         choose another\n",
    );
    bench.run("plugin new My-Means --role clusterer").failed(
        2,
        "error: NAME: must be snake_case, such as my_method, and not a keyword of Rust, got \"My-Means\"\n",
    );
    bench
        .run("plugin new my_means --role clusterer --path nowhere")
        .failed(2, "error: --path: must be a checkout of mustlink, nowhere is not there\n");
    assert!(bench.files().is_empty());
}

#[test]
fn a_crate_is_begun_once() {
    let bench = Bench::new();
    let done = bench.run("plugin new my_means --role clusterer");
    assert_eq!(done.status, 0, "{}", done.err);
    let files: Vec<&str> = done.out.lines().collect();
    assert_eq!(
        files,
        [
            "my_means/Cargo.toml",
            "my_means/src/lib.rs",
            "my_means/src/main.rs",
            "my_means/src/my_means.rs",
            "my_means/tests/laws.rs",
            "my_means/.gitignore",
            "my_means/Cargo.lock",
        ]
    );
    assert!(bench.read("my_means/src/my_means.rs").contains("pub struct MyMeans {"));
    // The program knows the sources it was built from.
    assert!(bench.read("my_means/Cargo.toml").contains("mustlink = { path = "));
    bench
        .run("plugin new my_means --role clusterer")
        .failed(2, "error: --dir: my_means already exists\n");
}

#[test]
fn a_crate_takes_a_second_plugin() {
    let bench = Bench::new();
    assert_eq!(bench.run("plugin new my_means --role clusterer").status, 0);
    let before = bench.read("my_means/Cargo.toml");
    let done = bench.run("plugin new my_score --role metric --dir my_means");
    assert_eq!(done.status, 0, "{}", done.err);
    assert_eq!(done.out, "my_means/src/my_score.rs\nmy_means/src/lib.rs\n");
    assert!(done.err.contains("cargo test -- /my_score/ tries the laws"), "{}", done.err);
    assert!(bench.read("my_means/src/my_score.rs").contains("pub struct MyScore {"));
    let library = bench.read("my_means/src/lib.rs");
    assert!(library.ends_with("\npub mod my_means;\npub mod my_score;\n"), "{library}");
    assert_eq!(bench.read("my_means/Cargo.toml"), before);
    bench
        .run("plugin new my_score --role metric --dir my_means")
        .failed(2, "error: NAME: my_means/src/my_score.rs already exists\n");
    // A folder with anything else is not touched.
    std::fs::create_dir(bench.path("notes")).expect("a folder");
    bench
        .run("plugin new my_other --role metric --dir notes")
        .failed(2, "error: --dir: notes already exists\n");
}

#[test]
fn a_file_is_begun_in_the_room_of_its_role() {
    let bench = Bench::new();
    // Not in the sources that the program happens to be built from.
    bench.run("plugin new nobody_asked --role metric --in-tree").failed(
        2,
        "error: --in-tree: the working directory is not in a checkout of mustlink; name its folder: --path DIR\n",
    );
    // What makes a folder a checkout.
    for file in ["cli/Cargo.toml", "core/Cargo.toml", "src/lib.rs"] {
        let path = bench.path(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, "").expect("a file");
    }
    for (role, room) in [
        ("clusterer", "algorithms/base-clusterers"),
        ("constrained-clusterer", "algorithms/base-clusterers"),
        ("generator", "algorithms/ensemble-generators"),
        ("consensus", "algorithms/consensus-functions"),
        ("propagator", "algorithms/constraint-propagators"),
        ("selector", "algorithms/query-selectors"),
        ("oracle", "oracles"),
        ("metric", "metrics"),
        ("transform", "algorithms/transforms"),
    ] {
        let name = format!("my_{}", role.replace('-', "_"));
        let done = bench.run(&format!("plugin new {name} --role {role} --in-tree"));
        assert_eq!(done.status, 0, "{}", done.err);
        let text = bench.read(&format!("{room}/src/{name}.rs"));
        assert!(text.contains(&format!("#[plugin(\"{name}\")]")), "{text}");
        let next = format!("cargo quick {name} tries the laws");
        assert!(done.err.contains(&next), "{}", done.err);
        let again = bench.run(&format!("plugin new {name} --role {role} --in-tree"));
        assert_eq!(again.status, 2);
        assert!(again.err.contains("already exists"), "{}", again.err);
    }
}
