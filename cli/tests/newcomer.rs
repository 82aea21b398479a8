//! A newcomer who follows the book adds a method by one file, and another as a crate of their own.
//!
//! Both are built from the sources, which takes minutes: set `MUSTLINK_SLOW_TESTS=1`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the sources")
}

/// Where the copy and what is built of it stay, so that another run builds less.
fn place() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    target.unwrap_or_else(|| root().join("target")).join("newcomer")
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
                let skip = name == "target" || name.to_string_lossy().starts_with(".git");
                if !skip {
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

/// Makes `to` a copy of `from`; what is equal keeps its time, so that it is not built again.
fn copy(from: &Path, to: &Path) {
    let wanted = sources(from);
    for path in &wanted {
        let content = std::fs::read(from.join(path)).expect("a source");
        let target = to.join(path);
        if std::fs::read(&target).ok().as_ref() != Some(&content) {
            std::fs::create_dir_all(target.parent().expect("a folder")).expect("a folder");
            std::fs::write(&target, content).expect("a copy");
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
    let block = blocks.find(|b| b.starts_with("rust") && b.contains("register!"));
    let (_, file) = block.and_then(|b| b.split_once('\n')).expect("a block with register!");
    format!("{file}\n")
}

/// The tag in `register!(BaseClusterer, MyMeans, "my_means", …)`.
fn tag_of(file: &str) -> String {
    let call = file.split_once("register!(").expect("it registers a plugin").1;
    assert!(call.trim_start().starts_with("BaseClusterer"), "{call}");
    call.split('"').nth(1).expect("a tag").to_string()
}

fn cargo(dir: &Path, arguments: &[&str]) -> String {
    let done = Command::new(env!("CARGO"))
        .args(arguments)
        .args(["--offline", "--target-dir"])
        .arg(place().join("target"))
        .current_dir(dir)
        .stdin(Stdio::null())
        .output()
        .expect("cargo starts");
    finish(&format!("cargo {arguments:?}"), done)
}

/// Arguments of the tests themselves come after the options of cargo.
fn cargo_test(dir: &Path, arguments: &[&str], filter: &str) -> String {
    let done = Command::new(env!("CARGO"))
        .arg("test")
        .args(arguments)
        .args(["--offline", "--target-dir"])
        .arg(place().join("target"))
        .args(["--", filter])
        .current_dir(dir)
        .stdin(Stdio::null())
        .output()
        .expect("cargo starts");
    finish(&format!("cargo test {arguments:?} -- {filter}"), done)
}

fn run(program: &Path, dir: &Path, arguments: &[&str]) -> String {
    let done = Command::new(program)
        .args(arguments)
        .current_dir(dir)
        .env_remove("MUSTLINK_DATA")
        .output()
        .expect("it starts");
    finish(&format!("{} {arguments:?}", program.display()), done)
}

fn finish(what: &str, done: std::process::Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{what}:\n{out}\n{err}");
    out.into_owned()
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
    std::fs::create_dir(here.join("pages")).expect("a folder");
    let bibliography = "references.bib";
    std::fs::copy(root().join("book").join(bibliography), here.join("pages").join(bibliography))
        .expect("a bibliography");
    run(program, here, &["book", "--dir", "pages"]);
    let pages = sources(&here.join("pages"));
    let page = pages.iter().find(|page| {
        let text = std::fs::read_to_string(here.join("pages").join(page)).unwrap_or_default();
        text.contains(tag)
    });
    assert!(page.is_some(), "no page of {pages:?} names {tag}");
    std::fs::write(here.join("newcomer.toml"), experiment).expect("a file");
    run(program, here, &["check", "newcomer.toml"]);
    let table = run(program, here, &["run", "newcomer.toml", "--out", "results"]);
    assert!(table.contains("mine"), "{table}");
}

#[test]
fn the_file_of_the_book_is_a_plugin_file() {
    let file = file_of_the_book();
    assert!(file.starts_with("//! "), "{file}");
    let tag = tag_of(&file);
    assert!(file.contains(&format!("name = \"{tag}\"")), "{file}");
}

#[test]
fn one_file_adds_a_method_to_the_workspace() {
    if !slow("adding a method to a copy of the workspace") {
        return;
    }
    let (root, copied) = (root(), place().join("checkout"));
    copy(&root, &copied);
    let file = file_of_the_book();
    let tag = tag_of(&file);
    let path = format!("algorithms/base-clusterers/src/{tag}.rs");
    assert!(!root.join(&path).exists(), "{tag} is in the library already");
    std::fs::write(copied.join(&path), &file).expect("the file");
    assert_eq!(touched(&root, &copied), [PathBuf::from(&path)]);
    cargo(&copied, &["build", "-p", "mustlink-cli"]);
    is_everywhere(&place().join("target/debug/mustlink"), &tag);
    let laws = cargo_test(&copied, &["-p", "mustlink", "--test", "contract"], &format!("/{tag}/"));
    assert!(laws.contains(&format!("base-clusterers/{tag}/same_seed_same_bits")), "{laws}");
    assert_eq!(touched(&root, &copied), [PathBuf::from(&path)]);
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
    let checkout = root().display().to_string();
    for (role, name) in [("clusterer", "my_own"), ("selector", "my_asking"), ("metric", "my_score")]
    {
        let begin = ["plugin", "new", name, "--role", role, "--path", &checkout];
        let program = PathBuf::from(env!("CARGO_BIN_EXE_mustlink"));
        run(&program, &crates, &begin);
        let dir = crates.join(name.replace('_', "-"));
        // The versions that are there already, without a look at the registry.
        std::fs::copy(root().join("Cargo.lock"), dir.join("Cargo.lock")).expect("a lock file");
        let laws = cargo_test(&dir, &[], "");
        assert!(laws.contains(&format!("/{name}/names_agree")), "{laws}");
        if role == "clusterer" {
            cargo(&dir, &["build"]);
            is_everywhere(&place().join("target/debug").join("my-own"), name);
        }
    }
}
