//! Checks of the repository itself: its plugins, its messages, its files.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::process::Command;

use mustlink::Error;
use mustlink::constraints::Witness;
use mustlink::error::{Diagnostic, Infeasible};
use mustlink::registry::{Catalogue, Descriptor, Role, build_default};
use mustlink::roles::{BaseClusterer, ConsensusFunction};

use crate::imports;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files of the repository, relative to its root; those not yet added count too.
pub(crate) fn files() -> Vec<PathBuf> {
    let list = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output();
    let listed = match list {
        Ok(list) if list.status.success() => {
            let text = String::from_utf8_lossy(&list.stdout).into_owned();
            text.split('\0').filter(|p| !p.is_empty()).map(PathBuf::from).collect()
        }
        // An unpacked archive: everything that is not built.
        _ => walked(),
    };
    let mut files: Vec<PathBuf> = listed;
    files.retain(|p| root().join(p).is_file());
    files.sort();
    files
}

fn walked() -> Vec<PathBuf> {
    let mut open = vec![root().to_path_buf()];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default();
            match path.is_dir() {
                true if name != "target" && name != ".git" => open.push(path),
                true => {}
                false => found.push(path.strip_prefix(root()).expect("inside").to_path_buf()),
            }
        }
    }
    found
}

pub(crate) fn text(path: &Path) -> Option<String> {
    String::from_utf8(std::fs::read(root().join(path)).ok()?).ok()
}

/// The plugins of the library; other tests of this program register some of their own.
fn shipped() -> impl Iterator<Item = &'static Descriptor> {
    let all = Catalogue::get().unwrap().all().iter().copied();
    all.filter(|d| !d.file.starts_with("tests/"))
}

#[test]
fn the_catalogue_is_full_and_sorted() {
    let all = Catalogue::get().unwrap().all();
    assert!(all.is_sorted_by_key(|d| (d.role, d.tag)));
    // A crate that is no longer linked would be missed nowhere else.
    for role in Role::ALL {
        assert!(all.iter().any(|d| d.role == role), "no {} is linked", role.name());
    }
    let mut tags: Vec<&str> = all.iter().map(|d| d.tag).collect();
    tags.sort_unstable();
    assert!(tags.windows(2).all(|w| w[0] != w[1]));
}

#[test]
fn a_file_is_named_like_its_tag() {
    let mut by_file: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for d in shipped() {
        by_file.entry(d.file).or_default().push(d.tag);
    }
    for (file, tags) in by_file {
        let stem = Path::new(file).file_stem().and_then(|s| s.to_str()).unwrap_or_default();
        assert!(tags.len() > 1 || tags[0] == stem, "{file} holds {}", tags[0]);
        assert!(root().join(file).is_file(), "{file} is not where the catalogue says");
    }
}

/// The files in the `src` of a crate of plugins are its plugins: code that several of them share is in
/// `parts`, code that only one needs in a folder named after it.
#[test]
fn a_file_in_a_folder_of_plugins_is_a_plugin() {
    let plugins: BTreeSet<&Path> = shipped().map(|d| Path::new(d.file)).collect();
    let folders: BTreeSet<&Path> = plugins.iter().filter_map(|p| p.parent()).collect();
    assert!(folders.len() > 8, "only {} crates of plugins were found", folders.len());
    let mut others = Vec::new();
    for path in rust_files() {
        let Some(folder) = folders.iter().find(|f| path.starts_with(f)) else { continue };
        assert!(folder.ends_with("src"), "{} is no plugin's place", folder.display());
        let inside = path.strip_prefix(folder).expect("inside");
        let first = Path::new(inside.iter().next().expect("a name"));
        let of_plugin = plugins.contains(folder.join(first.with_extension("rs")).as_path());
        let root = inside == Path::new("lib.rs");
        if !root && !of_plugin && first != Path::new("parts") {
            others.push(path.display().to_string());
        }
    }
    assert!(others.is_empty(), "no plugins; move them to src/parts/:\n{}", others.join("\n"));
}

#[test]
fn every_plugin_of_the_library_is_documented_and_versioned() {
    for d in shipped() {
        let documentation = d.documentation();
        assert!(!documentation.is_empty(), "{} is not described", d.tag);
        assert!(d.summary().ends_with('.'), "the summary of {} is no sentence", d.tag);
        assert!(d.version >= 1 && d.line > 0, "{}", d.tag);
        for (law, reason) in d.waivers {
            assert!(reason.split(' ').count() > 2, "{} waives {law} without a reason", d.tag);
        }
        for (option, reason) in d.inert() {
            assert!(reason.split(' ').count() > 2, "{}.{option} is inert without a reason", d.tag);
        }
    }
}

#[test]
fn every_citation_is_known() {
    let bibliography = text(Path::new("book/references.bib")).expect("a bibliography");
    for d in shipped() {
        for key in d.references {
            let entry = format!("{{{key},");
            assert!(bibliography.contains(&entry), "{} cites {key}, which has no entry", d.tag);
        }
    }
}

/// An edit makes the results of all plugins of a crate again, not those of other crates: so each crate has one
/// digest, and no two crates have the same.
#[test]
fn the_sources_of_a_plugin_are_those_of_its_crate() {
    let digests: BTreeSet<(&str, &str)> = shipped().map(|d| (d.package, (d.sources)())).collect();
    let crates: BTreeSet<&str> = digests.iter().map(|(package, _)| *package).collect();
    let different: BTreeSet<&str> = digests.iter().map(|(_, digest)| *digest).collect();
    assert_eq!((digests.len(), different.len()), (crates.len(), crates.len()), "{digests:?}");
}

/// The manual lists the methods that enforce constraints marked soft.
#[test]
fn methods_that_enforce_soft_marks_are_listed() {
    let page = text(Path::new("book/src/file-formats.md")).expect("a page");
    let mut rows = page.lines().filter(|line| line.contains("| methods that can only obey: "));
    let row = rows.next().expect("the row of these methods");
    let words = row.split('`').skip(1).step_by(2);
    let listed: BTreeSet<String> = words.filter(|w| *w != "soft").map(String::from).collect();
    let mut files = rust_files();
    files.retain(|path| {
        let imports = |code: String| code.contains("use mustlink_core::soft_marks::");
        path.starts_with("algorithms") && text(path).is_some_and(imports)
    });
    let stem = |path: &PathBuf| path.file_stem().expect("a name").to_string_lossy().into_owned();
    assert_eq!(listed, files.iter().map(stem).collect::<BTreeSet<String>>());
}

/// The manual also lists the other methods that read constraints by default without weighing them.
#[test]
fn the_meaning_of_soft_marks_is_listed() {
    let page = text(Path::new("book/src/file-formats.md")).expect("a page");
    let rows: String = page.lines().filter(|line| line.starts_with("| `soft` |")).collect();
    let mut seen = 0;
    for d in shipped() {
        // A plugin without a default reads nothing by default.
        let reads = match d.role {
            Role::BaseClusterer => build_default::<dyn BaseClusterer>(d.tag)
                .map(|c| c.properties())
                .is_ok_and(|facts| facts.reads_constraints && !facts.soft_weights),
            Role::ConsensusFunction => build_default::<dyn ConsensusFunction>(d.tag)
                .is_ok_and(|c| c.needs().reads_constraints),
            _ => false,
        };
        assert!(!reads || rows.contains(&format!("`{}`", d.tag)), "{} is in no row", d.tag);
        seen += usize::from(reads);
    }
    assert!(seen > 15, "only {seen} methods");
}

/// One error of every kind.
fn errors() -> Vec<Error> {
    let infeasible = |witness| Error::InfeasibleConstraints { k: 2, witness };
    let plain = |message: &str| Diagnostic {
        source: "m.toml".into(),
        position: Some((1, 2)),
        span: None,
        path: "clusterer.k".into(),
        message: message.into(),
    };
    vec![
        Error::EmptyData,
        Error::BadK,
        Error::TooManyClusters { k: 9, n: 3 },
        Error::MissingK { plugin: "kmeans".into() },
        Error::NonFinite { row: 1, col: 2 },
        Error::MalformedCsr { row: 1, reason: "columns not ascending".into() },
        Error::NotSymmetric { row: 1, col: 2 },
        Error::IndexOutOfRange { index: 9, n: 3 },
        Error::SelfCannotLink { object: 1 },
        Error::BadWeight { i: 1, j: 2, weight: "NaN".into() },
        Error::DuplicateConstraint { i: 1, j: 2 },
        Error::HardNotSupported {
            plugin: "pck_means".into(),
            role: Role::BaseClusterer,
            kind: "cannot-link",
            i: 1,
            j: 2,
        },
        Error::InconsistentConstraints(
            vec![
                Witness {
                    index: 0,
                    cannot: (1, 3),
                    path: vec![1, 2, 3],
                    links: vec![1, 2],
                    group: Some("photo".into()),
                };
                7
            ]
            .into(),
        ),
        infeasible(Infeasible::Clique(vec![1, 2, 3])),
        infeasible(Infeasible::Group { name: "photo".into(), members: vec![1, 2, 3] }),
        infeasible(Infeasible::OddCycle(vec![1, 2, 3])),
        infeasible(Infeasible::Exhausted(vec![1, 2, 3])),
        infeasible(Infeasible::Limits { limits: "max_size = 2".into(), objects: vec![] }),
        infeasible(Infeasible::Limits { limits: "max_size = 2".into(), objects: vec![1] }),
        infeasible(Infeasible::Limits { limits: "max_size = 2".into(), objects: vec![1, 2, 3] }),
        infeasible(Infeasible::Blocked(vec![1])),
        infeasible(Infeasible::Surrounded { unit: vec![1], by: vec![(2, 0)] }),
        Error::UndecidedConstraints { k: 3, node_limit: 9 },
        Error::ClosureTooLarge { pairs: 9, limit: 3 },
        Error::TooManyGroupPairs { what: "pck_means".into(), pairs: 9, limit: 3 },
        Error::TooManyPropagated { pairs: 9, limit: 3 },
        Error::TooLarge { n: 9 },
        Error::bad_param("k", 0, ">= 1"),
        Error::Magnitude { column: Some(3), value: 1e200 },
        Error::Feature { feature: 3, message: "every value is missing".into() },
        Error::Named {
            message: "data: feature \"length\": every value is missing".into(),
            source: Box::new(Error::Feature {
                feature: 3,
                message: "every value is missing".into(),
            }),
        },
        Error::NumericalFailure { place: "rca".into() },
        Error::UnsupportedData { plugin: "rca".into(), kind: "csr", accepts: "dense".into() },
        Error::UnsupportedWeights { plugin: "lac".into(), others: vec!["kmeans"] },
        Error::Memory { needed: 9, limit: 3 },
        Error::NotLinked { role: Some(Role::Metric), tag: "ari".into() },
        Error::Contract { plugin: "kmeans".into(), broken: "2 labels for 3 objects".into() },
        Error::Config(vec![plain("must be at least 1, got 0")]),
        Error::Data { place: "d.csv, line 2".into(), message: "not a number".into() },
        Error::Usage("no role \"x\"".into()),
        Error::Oracle("query 3 is not open".into()),
        Error::Cancelled,
        Error::TimedOut { seconds: 1.5 },
        Error::Plugin { tag: "mine".into(), message: "no luck".into() },
        Error::At { place: "clusterer".into(), source: Box::new(Error::BadK) },
    ]
}

#[test]
fn messages_are_in_one_style() {
    let source = text(Path::new("core/constraints/src/error.rs")).expect("the errors");
    let list = source.split("pub enum Error {").nth(1).and_then(|s| s.split("\n}\n").next());
    let variants = list
        .expect("the enum")
        .lines()
        .filter_map(|l| l.strip_prefix("    "))
        .filter(|l| l.starts_with(|c: char| c.is_ascii_uppercase()))
        .map(|l| l.split(['(', ' ', ',']).next().expect("a name").to_string());
    let shown: Vec<String> = errors().iter().map(|e| format!("{e:?}")).collect();
    for variant in variants {
        assert!(
            shown.iter().any(|s| s.split(['(', ' ']).next() == Some(&variant)),
            "no {variant} among the errors of this test"
        );
    }
    for error in errors() {
        let message = error.to_string();
        let first = message.chars().next().expect("a message");
        assert!(!first.is_uppercase(), "{message}");
        assert!(!message.ends_with('.'), "{message}");
        assert!(!message.contains("  ") && message.trim() == message, "{message}");
        assert!([2, 3, 4, 130].contains(&error.exit_status()), "{message}");
    }
}

/// The consensus has the last word in an ensemble.
#[test]
fn an_ensemble_promises_what_its_consensus_does() {
    use mustlink::contract::fixtures;
    use mustlink::prelude::*;
    let (problem, classes) = fixtures::dense(1);
    let given = fixtures::true_constraints(&classes, 20, 1);
    let hard = given.pairs().iter().map(|c| Constraint { strength: Some(Strength::Hard), ..*c });
    let problem = problem.with_constraints(Constraints::new(45, hard).unwrap());
    let run = |consensus: &str| {
        let generator = serde_json::json!({ "type": "random_k", "members": 5 });
        let consensus = serde_json::json!({ "type": consensus });
        let ensemble = <dyn BaseClusterer as RoleObject>::from_value(serde_json::json!({
            "type": "ensemble", "generator": generator, "consensus": consensus
        }));
        mustlink::run::cluster(&*ensemble.unwrap(), &problem, &Context::new(1))
    };
    for consensus in ["evidence_accumulation", "hbgf"] {
        assert_eq!(run(consensus).unwrap().violations.total(), 0, "{consensus}");
    }
    let refused = run("voting").unwrap_err();
    assert!(matches!(refused, Error::HardNotSupported { .. }), "{refused}");
}

#[test]
fn every_fixture_is_used() {
    let files = files();
    let is_fixture = |p: &Path| {
        let mut folders = p.parent().into_iter().flat_map(Path::components);
        let tests = folders.any(|c| c.as_os_str() == "tests");
        tests && folders.any(|c| c.as_os_str() == "data" || c.as_os_str() == "fixtures")
    };
    let sources: Vec<String> = rust_files().iter().filter_map(|p| text(p)).collect();
    for fixture in files.iter().filter(|p| is_fixture(p)) {
        let name = fixture.file_name().and_then(|n| n.to_str()).expect("a name");
        let used = sources.iter().any(|s| s.contains(name));
        assert!(used, "{} is named by no test", fixture.display());
    }
}

#[test]
fn no_file_is_large() {
    for path in files() {
        let size = std::fs::metadata(root().join(&path)).expect("a file").len();
        assert!(size <= 800 * 1024, "{} has {size} bytes", path.display());
    }
}

/// The Rust files of the repository.
pub(crate) fn rust_files() -> Vec<PathBuf> {
    files().into_iter().filter(|p| p.extension().is_some_and(|e| e == "rs")).collect()
}

/// The lines of `text` before its tests.
fn lines_before_tests(text: &str) -> usize {
    text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")).count()
}

#[test]
fn a_file_of_code_can_be_read_in_one_sitting() {
    let mut long = Vec::new();
    for path in rust_files() {
        let lines = text(&path).expect("code is text").lines().count();
        if lines > 700 {
            long.push(format!("{} has {lines} lines, more than 700", path.display()));
        }
    }
    let plugins: BTreeSet<&str> = shipped().map(|d| d.file).collect();
    for file in plugins {
        let lines = lines_before_tests(&text(Path::new(file)).expect("code is text"));
        if lines > 500 {
            long.push(format!("{file} has {lines} lines before its tests, more than 500"));
        }
    }
    assert!(long.is_empty(), "give their parts files of their own:\n{}", long.join("\n"));
}

/// The words in code spans of `text`.
fn spans(text: &str) -> BTreeSet<&str> {
    let code = text.split('`').skip(1).step_by(2);
    code.flat_map(|span| span.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')).collect()
}

/// The page that walks through the code has a line for every module that is not a plugin, so that readers
/// learn its content there.
#[test]
fn every_module_stands_in_the_architecture() {
    let page = text(Path::new("book/developers/src/architecture.md")).expect("a page");
    let page = page.split("\n## Four trips").next().expect("a beginning");
    let folders = page.split("| folder of one plugin |").nth(1).expect("a table of folders");
    let of_plugins = spans(folders.split("\n## ").next().expect("a table"));
    let plugins: BTreeSet<&Path> = shipped().map(|d| Path::new(d.file)).collect();
    let mut seen = 0;
    let mut missing = Vec::new();
    let rust = rust_files();
    for part in page.split("**`").skip(1) {
        let (folder, told) = part.split_once("`**").expect("a name in bold");
        let source = Path::new(folder).join("src");
        let told = spans(told);
        let has_plugins = plugins.iter().any(|p| p.parent() == Some(source.as_path()));
        for path in rust.iter().filter(|p| p.starts_with(&source)) {
            seen += 1;
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let usual = matches!(&*name, "lib" | "mod" | "main" | "tests");
            // One file for each role, which the page says once.
            let role = path.starts_with(source.join("roles"));
            let is_told = told.contains(&*name) || has_plugins && of_plugins.contains(&*name);
            if !usual && !role && !is_told && !plugins.contains(path.as_path()) {
                missing.push(path.display().to_string());
            }
        }
    }
    assert!(seen > 200, "only {seen} modules were found");
    assert!(
        missing.is_empty(),
        "book/developers/src/architecture.md says nothing of:\n{}",
        missing.join("\n")
    );
}

/// A shortest way from a file back to itself.
fn circle(start: usize, imports: &BTreeMap<(usize, usize), String>) -> Option<Vec<usize>> {
    let (mut open, mut seen) = (VecDeque::from([vec![start]]), BTreeSet::new());
    while let Some(way) = open.pop_front() {
        let from = way[way.len() - 1];
        for &(_, to) in imports.range((from, 0)..=(from, usize::MAX)).map(|(edge, _)| edge) {
            if to == start {
                return Some(way);
            }
            if seen.insert(to) {
                open.push_back([&way[..], &[to]].concat());
            }
        }
    }
    None
}

/// No file imports a file that imports it, tests included, by however many others; see [`imports`] for
/// what counts as an import.
#[test]
fn the_files_of_a_crate_import_one_way() {
    let files = rust_files();
    let is_root = |path: &&PathBuf| {
        let folder = path.parent().unwrap_or(Path::new(""));
        let library = folder.join("lib.rs");
        let of_tests = folder.parent().is_some_and(|p| p.ends_with("tests"));
        match path.file_name().and_then(|name| name.to_str()) {
            Some("lib.rs") => folder.ends_with("src"),
            Some("main.rs") => (folder.ends_with("src") && !files.contains(&library)) || of_tests,
            _ => false,
        }
    };
    let mut circles = Vec::new();
    let roots: Vec<&PathBuf> = files.iter().filter(is_root).collect();
    assert!(roots.len() > 15, "only {} crates were found", roots.len());
    for root in roots {
        let code = |path: &Path| {
            let code = text(path).expect("code is text");
            code.parse().unwrap_or_else(|e| panic!("{}: {e}", path.display()))
        };
        let all = imports::Crate::read(root, &files, code);
        let imports = all.imports();
        let mut found: Vec<_> =
            (0..all.files.len()).filter_map(|file| circle(file, &imports)).collect();
        // The shortest alone of those that pass through one file.
        found.sort_by_key(Vec::len);
        let mut seen = BTreeSet::new();
        for way in found {
            if way.iter().any(|file| seen.contains(file)) {
                continue;
            }
            seen.extend(way.iter().copied());
            let next = way.iter().cycle().skip(1);
            let steps = way.iter().zip(next).map(|(&from, &to)| {
                let (from, by) = (all.files[from].display(), &imports[&(from, to)]);
                format!("{from} imports {} ({by})", all.files[to].display())
            });
            circles.push(steps.collect::<Vec<_>>().join("\n    "));
        }
    }
    assert!(circles.is_empty(), "files import one another:\n{}", circles.join("\n"));
}

/// `cargo fmt` does not follow modules that are found by folder: here every file is given.
#[test]
#[expect(clippy::print_stderr)]
fn every_rust_file_is_formatted() {
    let version = Command::new("rustfmt").arg("--version").output();
    if !version.is_ok_and(|v| v.status.success()) {
        eprintln!("skipped: rustfmt is not installed (rustup component add rustfmt)");
        return;
    }
    let check = Command::new("rustfmt")
        .args(["--edition", "2024", "--check", "--files-with-diff"])
        .args(rust_files())
        .current_dir(root())
        .output()
        .expect("rustfmt runs");
    let told = [check.stdout, check.stderr].concat();
    let told = String::from_utf8_lossy(&told);
    assert!(check.status.success(), "run rustfmt --edition 2024 on these files:\n{told}");
}

/// rustfmt leaves comments as they are. Rows of tables and examples of JSON cannot be broken.
#[test]
fn comments_are_wrapped() {
    for path in rust_files() {
        let Some(text) = text(&path) else { continue };
        for (number, line) in text.lines().enumerate() {
            let comment = line.trim_start().starts_with("//") && !line.contains(['|', '{']);
            let width = line.chars().count();
            assert!(!comment || width <= 120, "{}:{}: {width}", path.display(), number + 1);
        }
    }
}

#[test]
fn no_path_of_a_machine() {
    // In parts, or this file would name what it forbids.
    let forbidden = ["home", "root", "Users", "work", "workspace", "tmp"].map(|f| format!("/{f}/"));
    for path in files() {
        let Some(text) = text(&path) else { continue };
        for (number, line) in text.lines().enumerate() {
            for folder in &forbidden {
                // A path starts after something that is no part of one: behind `~` or a letter it is a name.
                let absolute = line.match_indices(folder.as_str()).any(|(at, _)| {
                    let before = line[..at].chars().next_back();
                    !before.is_some_and(|c| c.is_alphanumeric() || "._-/~})>*".contains(c))
                });
                assert!(!absolute, "{}:{}: {line}", path.display(), number + 1);
            }
        }
    }
}

/// The names of the kernels that are shown, with their types: see [`mustlink::kernels`].
#[test]
#[expect(clippy::type_complexity, reason = "the types are what is tested")]
fn the_kernels_shown_keep_their_signatures() {
    use mustlink::kernels::*;
    use mustlink::ndarray::Array2;
    use mustlink::random::Stream;
    use mustlink::{Clustering, Context, Data, Problem, Result};
    // Who has to change a line here raises the version, and says in the changelog what to write instead.
    assert_eq!(VERSION, 1);
    let _: fn(&Data, Distortion) -> Result<Points> = Points::new;
    let _: fn(&Points, usize, usize) -> f64 = Points::between;
    let _: fn(&Points, usize, &Context) -> Result<Neighbours> = Neighbours::search;
    let _: fn(&Data, usize, &Context) -> Result<Neighbours> = Neighbours::among;
    let _: for<'a> fn(&'a Neighbours, usize) -> (&'a [u32], &'a [f64]) = Neighbours::of;
    let _: fn(&Neighbours, usize, fn(usize, usize, f64) -> f64) -> Graph = Neighbours::graph;
    let _: fn(&Graph) -> Vec<f64> = Graph::degrees;
    let _: fn(&Graph) -> (Vec<u32>, usize) = Graph::components;
    let _: fn(&Array2<f64>) -> Result<Eigen> = symmetric;
    let _: fn(&Graph, &[f64], usize, &mut Stream, &Context) -> Result<Eigen> = laplacian;
    let _: fn(usize) -> UnionFind = UnionFind::new;
    let _: fn(&mut UnionFind, u32) -> u32 = UnionFind::find;
    let _: fn(&mut UnionFind, u32, u32) -> Option<(u32, u32)> = UnionFind::union;
    let _: fn(usize, f64, ToleranceKind) -> Stop = Stop::new;
    let _: fn(&Points, Array2<f64>, Stop, Empty, &Context) -> Result<Clustering> = lloyd;
    let _: fn(usize, fn(usize) -> Result<Clustering>) -> Result<Clustering> = best_of;
    let _: fn(&Points, usize, Init, &Problem, &Context) -> Result<Array2<f64>> = start;
    let _: fn(&Points, &Array2<f64>, &mut [u32], Option<&[bool]>) -> usize = assign;
    let _: fn(&[f64], usize, usize) -> Result<Vec<Option<usize>>> = maximise;
    let _: fn(&[u64], usize, usize) -> Result<Vec<Option<usize>>> = maximise_counts;
}

#[test]
fn the_manual_quotes_the_example() {
    let page = text(Path::new("book/src/rust-library.md")).expect("a page");
    let example = text(Path::new("examples/library.rs")).expect("an example");
    assert!(
        page.contains(&format!("```rust\n{example}```")),
        "copy examples/library.rs to the page"
    );
}

/// Items of the facade have an example, their own or that of a neighbour in the same block. No text begins with an
/// example, because rustdoc takes the first paragraph as the summary. Every example is run.
#[test]
fn everything_the_facade_shows_has_an_example() {
    let mut shown = 0;
    for path in files().iter().filter(|p| p.parent() == Some(Path::new("src"))) {
        let content = text(path).expect("code is text");
        let mut block = String::new();
        for (number, line) in content.lines().chain([""]).enumerate() {
            let place = format!("{}:{}", path.display(), number + 1);
            let fence = line.split_once("```").map(|(_, kind)| kind);
            let word = fence.filter(|_| line.trim_start().starts_with("//"));
            assert!(word.unwrap_or("").is_empty(), "{place}: {line}: an example that is not run");
            if line.trim_start() == "/// ```" {
                assert!(block.contains("/// "), "{place}: no summary before the example");
            }
            if !line.is_empty() {
                block.extend([line, "\n"]);
                continue;
            }
            let is_item = |line: &&str| line.starts_with("pub ") && !line.starts_with("pub mod");
            let items = block.lines().filter(is_item).count();
            if items > 0 && !block.contains("#[doc(hidden)]") {
                assert!(block.contains("/// ```"), "{place}: no example in\n{block}");
                shown += items;
            }
            block.clear();
        }
    }
    assert!(shown > 40, "only {shown} are shown");
}
