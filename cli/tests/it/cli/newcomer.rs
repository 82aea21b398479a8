//! A newcomer who follows the book adds a method by one file, and another as a crate of their own.
//!
//! Both are built from the sources, which takes minutes: set `MUSTLINK_SLOW_TESTS=1`.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the sources")
}

/// The folder of these tests. Dependencies that the copy and the crate share with them are not built again.
fn built() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The folder of the copy and its programs, kept so that another run builds less. Not among what is built: cargo looks
/// for the files of the copy there when it builds the sources, find them unchanged, and take the copy's libraries.
fn place() -> PathBuf {
    let mut of = DefaultHasher::new();
    root().hash(&mut of);
    std::env::temp_dir().join(format!("mustlink-newcomer-{:x}", of.finish()))
}

fn slow(what: &str) -> bool {
    let wanted = std::env::var_os("MUSTLINK_SLOW_TESTS").is_some_and(|v| v == "1");
    if !wanted {
        let text = format!("skipped: {what} takes minutes; set MUSTLINK_SLOW_TESTS=1\n");
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
    wanted
}

/// Every file of the sources, as paths from the root.
fn sources(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(root.join(&dir)).expect("a folder") {
            let entry = entry.expect("an entry");
            let name = entry.file_name();
            let path = dir.join(&name);
            if entry.file_type().expect("a kind").is_dir() {
                // Made by programs that may run at the same time.
                let made =
                    ["target", "mustlink-results", "__pycache__", ".pytest_cache", ".mypy_cache"];
                let name = name.to_string_lossy();
                if !made.contains(&&*name) && !name.starts_with(".git") {
                    open.push(path);
                }
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Makes `to` a copy of `from`, times included: what is equal is not built again.
fn copy(from: &Path, to: &Path) {
    let wanted = sources(from);
    for path in &wanted {
        let content = std::fs::read(from.join(path)).expect("a source");
        let target = to.join(path);
        if std::fs::read(&target).ok().as_ref() != Some(&content) {
            std::fs::create_dir_all(target.parent().expect("a folder")).expect("a folder");
            std::fs::write(&target, content).expect("a copy");
            let time = std::fs::metadata(from.join(path)).and_then(|m| m.modified());
            let copied = std::fs::File::options().append(true).open(&target).expect("a copy");
            copied.set_modified(time.expect("a time")).expect("the time of the source");
        }
    }
    for path in sources(to) {
        if !wanted.contains(&path) {
            std::fs::remove_file(to.join(path)).expect("a leftover of another run");
        }
    }
}

/// Files of `changed` that are not in `original`, or differ from it.
fn touched(original: &Path, changed: &Path) -> Vec<PathBuf> {
    let differs =
        |p: &PathBuf| std::fs::read(original.join(p)).ok() != std::fs::read(changed.join(p)).ok();
    // Cargo may write its lock file.
    let lock = Path::new("Cargo.lock");
    sources(changed).into_iter().filter(|p| p != lock && differs(p)).collect()
}

/// The file in the chapter "add a method in one file".
fn file_of_the_book() -> String {
    let chapter = std::fs::read_to_string(root().join("book/src/add-a-method.md"));
    let chapter = chapter.expect("a chapter");
    let mut blocks = chapter.split("\n```");
    let block = blocks.find(|b| b.starts_with("rust") && b.contains("#[plugin("));
    let (_, file) = block.and_then(|b| b.split_once('\n')).expect("a block with #[plugin]");
    // Lines that only the manual's own tests need are hidden there.
    file.lines().filter(|l| !l.starts_with("# ")).map(|l| format!("{l}\n")).collect()
}

/// The tag in `#[plugin("my_means")]`.
fn tag_of(file: &str) -> String {
    let call = file.split_once("#[plugin(\"").expect("it registers a plugin").1;
    assert!(call.contains("\nimpl BaseClusterer for "), "{call}");
    call.split('"').next().expect("a tag").to_string()
}

/// Cargo in `dir`, with everything that is built in the place.
fn cargo(dir: &Path, arguments: &[&str]) -> String {
    finish(&format!("cargo {arguments:?}"), built_by_cargo(dir, arguments)).0
}

/// The same, whether it succeeds or not.
fn built_by_cargo(dir: &Path, arguments: &[&str]) -> Output {
    let (verb, others) = arguments.split_first().expect("a verb");
    Command::new(env!("CARGO"))
        .args([verb, "--offline", "--target-dir"])
        .arg(place().join("target"))
        .args(others)
        .current_dir(dir)
        .env("CARGO_BUILD_BUILD_DIR", built())
        .stdin(Stdio::null())
        .output()
        .expect("cargo starts")
}

fn run(program: &Path, dir: &Path, arguments: &[&str]) -> String {
    both(program, dir, arguments).0
}

/// The standard output and standard error of a program.
fn both(program: &Path, dir: &Path, arguments: &[&str]) -> (String, String) {
    let done = Command::new(program)
        .args(arguments)
        .current_dir(dir)
        .env_remove("MUSTLINK_DATA")
        .output()
        .expect("it starts");
    finish(&format!("{} {arguments:?}", program.display()), done)
}

fn finish(what: &str, done: Output) -> (String, String) {
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{what}:\n{out}\n{err}");
    (out.into_owned(), err.into_owned())
}

/// The plugin is everywhere a plugin must be.
fn is_everywhere(program: &Path, tag: &str) {
    let here = tempfile::tempdir().expect("a folder");
    let here = here.path();
    let list: Value =
        serde_json::from_str(&run(program, here, &["list", "--format", "json"])).expect("JSON");
    let names: Vec<&str> =
        list.as_array().unwrap().iter().filter_map(|p| p["name"].as_str()).collect();
    assert!(names.contains(&tag), "{names:?}");
    assert!(run(program, here, &["describe", tag]).contains(tag));
    for what in ["method", "experiment"] {
        let schema = run(program, here, &["schema", what]);
        assert!(schema.contains(&format!("\"{tag}\"")), "schema {what}");
    }
    let cluster = ["cluster", "--quiet", "--data", "iris", "--k", "3", "--format", "json"];
    let summary = run(program, here, &[&cluster[..], &["--clusterer", tag]].concat());
    let summary: Value = serde_json::from_str(&summary).expect("JSON");
    assert_eq!((&summary["n"], &summary["k"]), (&150.into(), &3.into()), "{summary}");
    let experiment = format!(
        "[experiment]\nname = \"newcomer\"\nseed = 1\n\n[[dataset]]\nid = \"iris\"\n\n\
         [[method]]\nid = \"mine\"\nclusterer = \"{tag}\"\n"
    );
    std::fs::write(here.join("newcomer.toml"), experiment).expect("a file");
    run(program, here, &["check", "newcomer.toml"]);
    let table = run(program, here, &["run", "newcomer.toml", "--out", "results"]);
    assert!(table.contains("mine"), "{table}");
}

/// A copy of the workspace with the file of the book in it, the path of that file, and its tag.
/// Both tests build it, so that the second finds most of it built.
fn checkout() -> &'static (PathBuf, PathBuf, String) {
    static MADE: LazyLock<(PathBuf, PathBuf, String)> = LazyLock::new(|| {
        let (root, copied) = (root(), place().join("checkout"));
        let file = file_of_the_book();
        let tag = tag_of(&file);
        let path = PathBuf::from(format!("algorithms/base-clusterers/src/{tag}.rs"));
        assert!(!root.join(&path).exists(), "{tag} is in the library already");
        copy(&root, &copied);
        std::fs::write(copied.join(&path), &file).expect("the file");
        (copied, path, tag)
    });
    &MADE
}

#[test]
fn the_file_of_the_book_is_a_plugin_file() {
    let file = file_of_the_book();
    assert!(file.starts_with("//! "), "{file}");
    assert!(file.contains(&format!("require_k(self.k, \"{}\")", tag_of(&file))), "{file}");
}

#[test]
fn one_file_adds_a_method_to_the_workspace() {
    if !slow("adding a method to a copy of the workspace") {
        return;
    }
    let (root, (copied, path, tag)) = (root(), checkout());
    assert_eq!(touched(&root, copied), std::slice::from_ref(path));
    // Of the whole workspace, as these tests are, so that dependencies have the same features; a test of the
    // command line brings the program.
    let filter = format!("/{tag}/");
    let tests = ["test", "--workspace", "--test", "contract", "--test", "outside", "--", &filter];
    let laws = cargo(copied, &tests);
    assert!(laws.contains(&format!("base-clusterers/{tag}/same_seed_same_bits")), "{laws}");
    is_everywhere(&place().join("target/debug/mustlink"), tag);
    assert_eq!(touched(&root, copied), std::slice::from_ref(path));
}

#[test]
fn a_crate_of_ones_own_adds_a_method() {
    if !slow("building a crate that plugin new writes") {
        return;
    }
    let crates = place().join("crates");
    // Only what this test made in an earlier run.
    let _ = std::fs::remove_dir_all(&crates);
    std::fs::create_dir_all(&crates).expect("a folder");
    let (checkout, program) = (&checkout().0, PathBuf::from(env!("CARGO_BIN_EXE_mustlink")));
    // One crate with a plugin of every role: nine crates would be built nine times.
    let roles = [
        "clusterer",
        "constrained-clusterer",
        "generator",
        "consensus",
        "propagator",
        "selector",
        "oracle",
        "metric",
        "transform",
    ];
    let dir = crates.join("my_own");
    for (at, role) in roles.iter().enumerate() {
        let name = if at == 0 { "my_own".into() } else { format!("my_{}", role.replace('-', "_")) };
        let path = checkout.display().to_string();
        let begin: [&str; 9] =
            ["plugin", "new", &name, "--role", role, "--path", &path, "--dir", "my_own"];
        run(&program, &crates, &begin);
    }
    // With the program at once: without it, which is less, all would be built twice.
    let laws = cargo(&dir, &["test", "--features", "program"]);
    for role in &roles[1..] {
        let law = format!("/my_{}/names_agree", role.replace('-', "_"));
        assert!(laws.contains(&law), "{law}: {laws}");
    }
    assert!(laws.contains("/my_own/names_agree"), "{laws}");
    let program = place().join("target/debug/my_own");
    is_everywhere(&program, "my_own");
    an_edit_makes_its_cells_again(&program, &dir);
    a_missing_attribute_is_named(&dir);
}

/// The compiler names the attribute that a plugin lacks. A documentation test cannot see the message.
fn a_missing_attribute_is_named(dir: &Path) {
    let file = dir.join("src/my_metric.rs");
    let text = std::fs::read_to_string(&file).expect("a plugin");
    let without = text.replace("#[plugin(\"my_metric\")]\n", "");
    assert_ne!(text, without, "the template has changed");
    std::fs::write(&file, without).expect("a plugin");
    let done = built_by_cargo(dir, &["test", "--features", "program", "--no-run"]);
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(!done.status.success(), "{said}");
    let message = "`MyMetric` is not registered as a plugin: `#[plugin(\"its_tag\")]` is missing";
    assert!(said.contains(message), "{said}");
    std::fs::write(&file, text).expect("a plugin");
}

/// A constant of one plugin is changed and the program built again: `run` makes the cells of the plugins of its
/// crate again, and no others.
fn an_edit_makes_its_cells_again(program: &Path, dir: &Path) {
    let study = "[experiment]\nname = \"edited\"\nseed = 1\n\n[[dataset]]\nid = \"iris\"\n\n\
                 [[method]]\nid = \"mine\"\nclusterer = \"my_own\"\n\n\
                 [[method]]\nid = \"neighbour\"\nclusterer = \"my_constrained_clusterer\"\n\n\
                 [[method]]\nid = \"kmeans\"\nclusterer = \"kmeans\"\n";
    std::fs::write(dir.join("edited.toml"), study).expect("a file");
    let results = |edited: bool| {
        let (out, said) =
            both(program, dir, &["run", "edited.toml", "--out", "results", "--threads", "1"]);
        let again = "2 cells were made by another build (changed: my_own): iris × mine, iris × neighbour; \
                     they are made again";
        assert_eq!(said.contains(again), edited, "{out}\n{said}");
        let before = if edited { "(1 before)" } else { "(0 before)" };
        assert!(said.contains(before), "{said}");
        std::fs::read_to_string(dir.join("results/results.csv")).expect("results")
    };
    let first = results(false);
    let file = dir.join("src/my_own.rs");
    let text = std::fs::read_to_string(&file).expect("the plugin");
    let changed = text.replace("rank * k / n", "rank * rank * k / (n * n)");
    assert_ne!(text, changed, "the template has changed");
    std::fs::write(&file, changed).expect("the plugin");
    cargo(dir, &["test", "--features", "program", "--no-run"]);
    let second = results(true);
    let scores = |text: &str, method: &str| -> Vec<String> {
        let column = text.lines().next().unwrap().split(',').position(|c| c == "ari").unwrap();
        let rows = text.lines().filter(|l| l.contains(&format!(",{method},")));
        rows.map(|l| l.split(',').nth(column).unwrap().to_string()).collect()
    };
    assert_ne!(scores(&first, "mine"), scores(&second, "mine"));
    for method in ["neighbour", "kmeans"] {
        assert_eq!(scores(&first, method), scores(&second, method));
    }
}
