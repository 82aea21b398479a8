//! What sources does a plugin, or a crate, consist of? Digests that change with them.
//!
//! They are taken while the crate is compiled, from text alone, so that equal sources have equal
//! digests on every machine. Tests within a file do not count. Packages of ours that come from a
//! release have none: there, `version` of a plugin says that results changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Packages that count for every plugin, and are therefore left out of the digest of each.
const COUNTED_ONCE: [&str; 2] = ["mustlink", "mustlink-core"];
/// What plugins may use of ours besides.
const KERNELS: &str = "mustlink-kernels";

/// Whether the package in this folder is ours and was unpacked from a release: `cargo package` puts
/// the manifest as it was written beside the one it makes.
fn is_released(package: &str, folder: &Path) -> bool {
    (package == "mustlink" || package.starts_with("mustlink-"))
        && folder.join("Cargo.toml.orig").is_file()
}

/// The digest of all sources of the package in `folder` and of the packages in folders of the same
/// disk that it depends on; empty for a release.
pub(crate) fn of_crate(package: &str, folder: &Path) -> String {
    if is_released(package, folder) {
        return String::new();
    }
    let mut digest = Digest::new();
    add_crate(folder, &mut digest, &mut BTreeSet::new());
    digest.text()
}

/// The digest of what the plugin in `file` consists of: its module, the modules of its crate that
/// those name, and the packages it depends on in folders of the same disk. A file that is not known, or
/// not one of the package, stands for all of its crate.
pub(crate) fn of_plugin(package: &str, folder: &Path, file: Option<&Path>) -> String {
    let Some(file) = file else { return of_crate(package, folder) };
    if is_released(package, folder) {
        return String::new();
    }
    let mut digest = Digest::new();
    let source = folder.join("src");
    let modules = modules(&source);
    let absolute = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let file = absolute(file);
    if !file.starts_with(absolute(folder)) {
        return of_crate(package, folder);
    }
    let own = modules.iter().find(|(_, files)| files.iter().any(|f| absolute(f) == file));
    match own {
        Some((own, _)) => {
            let (mut seen, mut open) = (BTreeSet::new(), vec![own.as_str()]);
            while let Some(module) = open.pop() {
                if !seen.insert(module) {
                    continue;
                }
                for file in &modules[module] {
                    let text = read(file).unwrap_or_default();
                    let below = file.strip_prefix(&source).map_or(1, |f| f.iter().count());
                    open.extend(named(&text, is_root(module), below > 1, &modules));
                }
            }
            let files = seen.iter().flat_map(|m| &modules[*m]);
            files.for_each(|f| digest.add_file(&source, f));
        }
        // A test or an example beside the sources.
        None => digest.add_file(file.parent().unwrap_or(folder), &file),
    }
    digest.add(of_dependencies(folder).as_bytes());
    digest.text()
}

/// The digest of what a package depends on, which is the same for each of its plugins.
fn of_dependencies(folder: &Path) -> String {
    static MADE: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(|e| e.into_inner());
    let made = made.entry(folder.to_path_buf()).or_insert_with(|| {
        let mut digest = Digest::new();
        add_dependencies(folder, &mut digest, &mut BTreeSet::new());
        digest.text()
    });
    made.clone()
}

/// Two words of 64 bits by Fowler, Noll and Vo: enough to see that a text changed.
struct Digest(u128);

impl Digest {
    fn new() -> Self {
        Digest(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes.iter().chain(&[0xff]) {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b);
        }
    }

    fn add_file(&mut self, base: &Path, file: &Path) {
        let name = file.strip_prefix(base).unwrap_or(file).to_string_lossy().replace('\\', "/");
        self.add(name.as_bytes());
        self.add(read(file).unwrap_or_default().as_bytes());
    }

    fn text(&self) -> String {
        format!("{:032x}", self.0)[..16].to_string()
    }
}

/// The text of a file with line ends of one kind, without its tests.
fn read(file: &Path) -> Option<String> {
    let text = String::from_utf8(fs::read(file).ok()?).ok()?;
    let mut kept = String::with_capacity(text.len());
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let tests = line == "#[cfg(test)]" || line.starts_with("#[cfg(all(test");
        if tests && lines.peek().is_some_and(|l| l.contains("mod ") && l.ends_with('{')) {
            lines.by_ref().find(|l| *l == "}");
            continue;
        }
        kept.push_str(line);
        kept.push('\n');
    }
    Some(kept)
}

/// Every Rust file below a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => open.push(path),
                false if path.extension().is_some_and(|e| e == "rs") => found.push(path),
                false => {}
            }
        }
    }
    found.sort();
    found
}

fn is_root(module: &str) -> bool {
    module == "lib" || module == "main"
}

/// The files of the modules directly below the root of a crate, by name; the root is `lib` or `main`.
fn modules(source: &Path) -> BTreeMap<String, Vec<PathBuf>> {
    let mut modules: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for file in files(source) {
        let below = file.strip_prefix(source).unwrap_or(&file).with_extension("");
        let Some(name) = below.iter().next() else { continue };
        modules.entry(name.to_string_lossy().into_owned()).or_default().push(file);
    }
    modules
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty())
}

/// The modules that a text names: after `crate::` or `super::`; in the root, whose own items they
/// are, anywhere but in their declaration. What is taken from the root may be anything it shows.
fn named<'a>(
    text: &str,
    root: bool,
    nested: bool,
    modules: &'a BTreeMap<String, Vec<PathBuf>>,
) -> Vec<&'a str> {
    let known = |word: &str| modules.get_key_value(word).map(|(name, _)| name.as_str());
    let code = text.lines().filter(|l| !l.trim_start().starts_with("//"));
    if root {
        let declares = |l: &&str| {
            let first = words(l).find(|w| !["pub", "crate"].contains(w));
            first == Some("mod") && l.trim_end().ends_with(';')
        };
        return code.filter(|l| !declares(l)).flat_map(words).filter_map(known).collect();
    }
    let code: String = code.map(|l| format!("{l}\n")).collect();
    let mut found = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let rest = code[at + start.len()..].trim_start();
            let heads = match rest.strip_prefix('{') {
                Some(group) => group_heads(group),
                None => words(rest).next().into_iter().collect(),
            };
            for word in heads {
                // `super` of a nested file is its own module.
                let roots = || modules.keys().map(String::as_str).find(|m| is_root(m));
                let elsewhere = start == "super::" && nested || word == "super";
                found.extend(known(word).or_else(|| if elsewhere { None } else { roots() }));
            }
        }
    }
    found
}

/// The first words of the paths in a group `{a, b::{c, d}}`, without its first brace.
fn group_heads(group: &str) -> Vec<&str> {
    let (mut depth, mut from, mut heads) = (1, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if (c == ',' && depth == 1) || depth == 0 {
            heads.extend(words(&group[from..at]).next());
            from = at + 1;
        }
        if depth == 0 {
            break;
        }
    }
    heads
}

fn add_crate(folder: &Path, digest: &mut Digest, seen: &mut BTreeSet<PathBuf>) {
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    if !seen.insert(folder.clone()) {
        return;
    }
    let source = folder.join("src");
    files(&source).iter().for_each(|f| digest.add_file(&source, f));
    add_dependencies(&folder, digest, seen);
}

/// Adds the sources of the packages that the one in `folder` depends on by path.
fn add_dependencies(folder: &Path, digest: &mut Digest, seen: &mut BTreeSet<PathBuf>) {
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    for (name, value) in dependencies(&manifest) {
        let path = match path_in(&value) {
            Some(path) => Some(folder.join(path)),
            None if value.contains("workspace") => in_workspace(folder, &name),
            None => None,
        };
        let Some(path) = path else { continue };
        if COUNTED_ONCE.contains(&name.as_str()) {
            // What the facade shows of the kernels is no part of what every plugin passes through.
            let facade = fs::read_to_string(path.join("Cargo.toml")).unwrap_or_default();
            let shows = dependencies(&facade).iter().any(|(name, _)| name == KERNELS);
            if let (true, Some(kernels)) = (shows, in_workspace(&path, KERNELS)) {
                add_crate(&kernels, digest, seen);
            }
            continue;
        }
        add_crate(&path, digest, seen);
    }
}

/// The dependencies of a manifest but those for tests: names, each with what stands beside it.
fn dependencies(manifest: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut section = String::new();
    for line in manifest.lines().map(str::trim).filter(|l| !l.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']').replace(['"', '\''], "");
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let key = key.trim().replace('"', "");
        let (start, own) = match section.rsplit_once("dependencies.") {
            Some((start, name)) => (start.to_string(), Some(name.to_string())),
            None => match section.strip_suffix("dependencies") {
                Some(start) => (start.to_string(), None),
                None => continue,
            },
        };
        if start.ends_with("dev-") {
            continue;
        }
        match own {
            Some(name) => found.push((name, line.to_string())),
            None => {
                let (name, more) = key.split_once('.').unwrap_or((&key, ""));
                found.push((name.to_string(), format!("{more} = {value}")));
            }
        }
    }
    found
}

/// The text of `path = "…"`.
fn path_in(value: &str) -> Option<&str> {
    let at = value.find("path")?;
    let rest = value[at + "path".len()..].trim_start().strip_prefix('=')?.trim_start();
    let quote = rest.chars().next().filter(|c| "\"'".contains(*c))?;
    rest[1..].split(quote).next()
}

/// Where the workspace above `folder` says that a package is.
fn in_workspace(folder: &Path, name: &str) -> Option<PathBuf> {
    folder.ancestors().find_map(|above| {
        let manifest = fs::read_to_string(above.join("Cargo.toml")).ok()?;
        if !manifest.contains("[workspace") {
            return None;
        }
        let found = dependencies(&manifest).into_iter().filter(|(n, _)| n == name);
        found.filter_map(|(_, value)| path_in(&value).map(|p| above.join(p))).next()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [(&str, &str); 11] = [
        ("Cargo.toml", "[dependencies]\nshared = { path = \"../shared\" }\nserde = \"1\"\n"),
        ("src/lib.rs", "pub mod alone;\npub mod two;\npub mod helped;\nmod help;\nmod more;\n"),
        ("src/alone.rs", "const A: f64 = 0.5;\n// as in crate::help\n"),
        ("src/two.rs", "mod part;\n"),
        ("src/two/part.rs", "use super::*;\nconst B: f64 = 0.5;\n"),
        ("src/helped.rs", "use crate::{help::f, more::{g, h}};\n"),
        ("src/help.rs", "use super::deep;\nconst C: f64 = 0.5;\n"),
        ("src/more.rs", "const D: f64 = 0.5;\n"),
        ("src/deep.rs", "const E: f64 = 0.5;\n"),
        ("../shared/Cargo.toml", "[dependencies]\n[dev-dependencies]\nx = { path = \"../x\" }\n"),
        ("../shared/src/lib.rs", "const F: f64 = 0.5;\n"),
    ];

    /// A crate with three plugins, as it is but for changes (file, from, to).
    fn digests(changes: &[(&str, &str, &str)]) -> [String; 3] {
        static NUMBER: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let whole = std::env::temp_dir().join(format!("sources-{}-{number}", std::process::id()));
        let folder = whole.join("crate");
        for (name, text) in FILES {
            let path = folder.join(name);
            let parent = path.parent().unwrap();
            fs::create_dir_all(folder.join("src")).unwrap();
            fs::create_dir_all(parent).unwrap();
            let mut text = text.to_string();
            for (_, from, to) in changes.iter().filter(|(file, ..)| *file == name) {
                assert!(text.contains(from), "{name} has no {from}");
                text = text.replace(from, to);
            }
            fs::write(path, text).unwrap();
        }
        let of = |name: &str| of_plugin("mine", &folder, Some(&folder.join("src").join(name)));
        let made = ["alone.rs", "two.rs", "helped.rs"].map(of);
        fs::remove_dir_all(whole).unwrap();
        made
    }

    /// Which of the three a change reaches.
    fn reaches(file: &str, from: &str, to: &str) -> [bool; 3] {
        let (before, after) = (digests(&[]), digests(&[(file, from, to)]));
        [0, 1, 2].map(|i| before[i] != after[i])
    }

    #[test]
    fn a_change_reaches_exactly_what_depends_on_it() {
        assert_eq!(digests(&[]), digests(&[]));
        for (file, reached) in [
            ("src/alone.rs", [true, false, false]),
            ("src/two/part.rs", [false, true, false]),
            ("src/help.rs", [false, false, true]),
            ("src/more.rs", [false, false, true]),
            ("src/deep.rs", [false, false, true]),
            ("../shared/src/lib.rs", [true, true, true]),
        ] {
            assert_eq!(reaches(file, "0.5", "0.25"), reached, "{file}");
        }
    }

    #[test]
    fn what_the_root_shows_is_followed() {
        let takes = ("src/alone.rs", "// as in crate::help", "use crate::Helper;");
        let shows = ("src/lib.rs", "mod help;", "mod help;\npub use help::Helper;");
        let before = digests(&[takes, shows]);
        let after = digests(&[takes, shows, ("src/help.rs", "0.5", "0.25")]);
        assert_ne!(before[0], after[0]);
        assert_eq!(before[1], after[1]);
    }

    #[test]
    fn kernels_count_for_who_depends_on_the_facade() {
        static NUMBER: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let digest = |constant: &str| {
            let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let whole =
                std::env::temp_dir().join(format!("facade-{}-{number}", std::process::id()));
            let facade = "[workspace.dependencies]\nmustlink-kernels = { path = \"kernels\" }\n\
                          [dependencies]\nmustlink-kernels.workspace = true\n";
            for (name, text) in [
                ("crate/Cargo.toml", "[dependencies]\nmustlink = { path = \"../all\" }\n"),
                ("crate/src/lib.rs", "fn mine() {}\n"),
                ("all/Cargo.toml", facade),
                ("all/src/lib.rs", "\n"),
                ("all/kernels/Cargo.toml", "[dependencies]\n"),
                ("all/kernels/src/lib.rs", constant),
            ] {
                let path = whole.join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            let made =
                of_plugin("mine", &whole.join("crate"), Some(&whole.join("crate/src/lib.rs")));
            fs::remove_dir_all(whole).unwrap();
            made
        };
        assert_eq!(digest("const A: f64 = 1.0;"), digest("const A: f64 = 1.0;"));
        assert_ne!(digest("const A: f64 = 1.0;"), digest("const A: f64 = 2.0;"));
    }

    #[test]
    fn a_file_of_another_package_stands_for_all_of_the_crate() {
        let (whole, folder) = two_crates();
        let other = whole.join("other/src/lib.rs");
        let digest = || of_plugin("mine", &folder, Some(&other));
        assert_eq!(digest(), of_crate("mine", &folder));
        let before = digest();
        fs::write(folder.join("src/lib.rs"), "const A: f64 = 2.0;").unwrap();
        assert_ne!(digest(), before);
        fs::remove_dir_all(whole).unwrap();
    }

    /// A folder with the packages `mine` and `other`, and that of `mine`.
    fn two_crates() -> (PathBuf, PathBuf) {
        let whole = std::env::temp_dir().join(format!("sources-{}-two", std::process::id()));
        for name in ["mine", "other"] {
            fs::create_dir_all(whole.join(name).join("src")).unwrap();
            fs::write(whole.join(name).join("Cargo.toml"), "[dependencies]\n").unwrap();
            fs::write(whole.join(name).join("src/lib.rs"), "const A: f64 = 1.0;").unwrap();
        }
        let folder = whole.join("mine");
        (whole, folder)
    }

    #[test]
    fn tests_and_line_ends_do_not_count() {
        let tests = "0.5;\n#[cfg(test)]\nmod tests {\n    use crate::more;\n}\n";
        assert_eq!(reaches("src/alone.rs", "0.5;\n", tests), [false; 3]);
        assert_eq!(reaches("src/alone.rs", "\n", "\r\n"), [false; 3]);
    }

    #[test]
    fn only_a_release_of_ours_has_none() {
        let folder = std::env::temp_dir().join(format!("sources-{}-release", std::process::id()));
        fs::create_dir_all(folder.join("src")).unwrap();
        let file = folder.join("src/lib.rs");
        fs::write(&file, "").unwrap();
        let of = |package: &str| of_plugin(package, &folder, Some(&file)).is_empty();
        assert!(!of("mustlink-metrics"));
        fs::write(folder.join("Cargo.toml.orig"), "").unwrap();
        assert!(of("mustlink-metrics") && !of("other"));
        assert!(of_crate("mustlink", &folder).is_empty());
        fs::remove_dir_all(folder).unwrap();
    }
}
