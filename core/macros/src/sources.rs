//! The digest of the sources of a crate.
//!
//! It is computed while the crate is compiled, from tokens alone, so that equal code has equal digests
//! on every machine: comments, layout and tests within a file do not count. Packages of ours that come
//! from a release have no digest: there, `version` of a plugin says that results changed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Group, Literal, TokenStream, TokenTree};
use toml::{Table, Value};

/// Packages that count for every plugin, and are therefore left out of the digest of each.
const COUNTED_ONCE: [&str; 2] = ["mustlink", "mustlink-core"];
/// Crate of ours that plugins may use in addition.
const KERNELS: &str = "mustlink-kernels";

/// True if the package in this folder is ours and was unpacked from a release: `cargo package` puts
/// the original manifest next to the one it makes.
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

fn absolute(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

/// Two words of 64 bits by Fowler, Noll and Vo: enough to see that a text changed.
struct Digest(u128);

impl Digest {
    fn new() -> Self {
        Digest(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    fn add(&mut self, text: &str) {
        for &byte in text.as_bytes().iter().chain(&[0xff]) {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b);
        }
    }

    fn add_file(&mut self, base: &Path, file: &Path) {
        let name = file.strip_prefix(base).unwrap_or(file).to_string_lossy().replace('\\', "/");
        self.add(&name);
        self.add_tokens(code(file));
    }

    fn add_tokens(&mut self, tokens: TokenStream) {
        for token in tokens {
            if let TokenTree::Group(group) = token {
                self.add(&format!("{:?}", group.delimiter()));
                self.add_tokens(group.stream());
                self.add("end");
            } else {
                self.add(&token.to_string());
            }
        }
    }

    fn text(&self) -> String {
        format!("{:032x}", self.0)[..16].to_string()
    }
}

/// The code of a file, without comments and tests; as one word if it is not Rust.
fn code(file: &Path) -> TokenStream {
    let text = fs::read_to_string(file).unwrap_or_default().replace("\r\n", "\n");
    let other = |_| TokenStream::from(TokenTree::from(Literal::string(&text)));
    text.parse().map_or_else(other, without_tests)
}

/// Tokens without documentation and without items that are for tests alone.
fn without_tests(tokens: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let (mut kept, mut at) = (Vec::<TokenTree>::new(), 0);
    while at < tokens.len() {
        at += 1;
        let TokenTree::Group(group) = &tokens[at - 1] else {
            kept.push(tokens[at - 1].clone());
            continue;
        };
        // `#[…]` or `#![…]`
        let marks = kept.iter().rev().take_while(|t| is(t, "#") || is(t, "!")).count();
        let attribute = (marks > 0 && group.delimiter() == Delimiter::Bracket)
            .then(|| group.stream().to_string().replace(' ', ""));
        let end = match attribute.unwrap_or_default().as_str() {
            doc if doc.starts_with("doc") => Some(at),
            test if test == "cfg(test)" || test.starts_with("cfg(all(test") => {
                item_end(&tokens, at)
            }
            _ => None,
        };
        if let Some(end) = end {
            kept.truncate(kept.len() - marks);
            at = end;
        } else {
            kept.push(Group::new(group.delimiter(), without_tests(group.stream())).into());
        }
    }
    kept.into_iter().collect()
}

fn is(token: &TokenTree, text: &str) -> bool {
    !matches!(token, TokenTree::Group(_)) && token.to_string() == text
}

/// End of the item that begins `at`; `None` if it may be a field or a statement.
fn item_end(tokens: &[TokenTree], at: usize) -> Option<usize> {
    let words = ["#", "mod", "use", "fn", "impl", "const"];
    words.iter().find(|word| tokens.get(at).is_some_and(|t| is(t, word)))?;
    let body =
        |t: &TokenTree| matches!(t, TokenTree::Group(g) if g.delimiter() == Delimiter::Brace);
    let end = at + tokens[at..].iter().position(|t| body(t) || is(t, ";"))? + 1;
    Some(end + usize::from(tokens.get(end).is_some_and(|t| is(t, ";"))))
}

fn is_test_file(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "tests.rs" || name == "tests")
}

/// Every Rust file below a folder but those of tests, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten().map(|e| e.path());
        for path in entries.filter(|path| !is_test_file(path)) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn add_crate(folder: &Path, digest: &mut Digest, seen: &mut BTreeSet<PathBuf>) {
    let folder = absolute(folder);
    if seen.insert(folder.clone()) {
        let source = folder.join("src");
        for file in files(&source) {
            digest.add_file(&source, &file);
        }
        add_dependencies(&folder, digest, seen);
    }
}

/// Adds the sources of the packages that the one in `folder` depends on by path.
fn add_dependencies(folder: &Path, digest: &mut Digest, seen: &mut BTreeSet<PathBuf>) {
    for (name, path) in dependencies(folder) {
        if !COUNTED_ONCE.contains(&name.as_str()) {
            add_crate(&path, digest, seen);
            continue;
        }
        // What the facade shows of the kernels is no part of what every plugin passes through.
        let shown = dependencies(&path).into_iter().find(|(name, _)| name == KERNELS);
        shown.iter().for_each(|(_, kernels)| add_crate(kernels, digest, seen));
    }
}

fn manifest(folder: &Path) -> Table {
    let text = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    text.parse().unwrap_or_default()
}

/// The packages that the one in `folder` depends on by path, but for tests, each with its folder.
fn dependencies(folder: &Path) -> Vec<(String, PathBuf)> {
    let own = manifest(folder);
    let targets = own.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let kinds = ["dependencies", "build-dependencies"];
    let tables = targets.filter_map(Value::as_table).chain([&own]);
    let tables = tables.flat_map(|t| kinds.map(|kind| t.get(kind).and_then(Value::as_table)));
    let place = |(name, value): (&String, &Value)| {
        let path = value.get("path").and_then(Value::as_str).map(|path| folder.join(path));
        let inherited = || value.get("workspace").and_then(|_| in_workspace(folder, name));
        Some((name.clone(), path.or_else(inherited)?))
    };
    tables.flatten().flatten().filter_map(place).collect()
}

/// Folder of a package according to the workspace above `folder`.
fn in_workspace(folder: &Path, name: &str) -> Option<PathBuf> {
    folder.ancestors().find_map(|above| {
        let manifest = manifest(above);
        let entry = manifest.get("workspace")?.get("dependencies")?.get(name)?;
        Some(above.join(entry.get("path")?.as_str()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [(&str, &str); 6] = [
        ("Cargo.toml", "[dependencies]\nshared = { path = \"../shared\" }\nserde = \"1\"\n"),
        ("src/lib.rs", "mod part;\n"),
        ("src/part.rs", "const A: f64 = 0.5;\n"),
        ("../shared/Cargo.toml", "[dependencies]\n[dev-dependencies]\nx = { path = \"../x\" }\n"),
        ("../shared/src/lib.rs", "const B: f64 = 0.5;\n"),
        ("../x/src/lib.rs", "const C: f64 = 0.5;\n"),
    ];

    /// These files in a folder of their own.
    fn place<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> tempfile::TempDir {
        let whole = tempfile::tempdir().unwrap();
        fs::create_dir_all(whole.path().join("crate/src")).unwrap();
        for (name, text) in files {
            let path = whole.path().join("crate").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        whole
    }

    /// The digest of the crate in such a folder.
    fn of(whole: &tempfile::TempDir) -> String {
        of_crate("mine", &whole.path().join("crate"))
    }

    /// True if this edit of one of the files changes the digest of the crate.
    fn reaches(file: &str, from: &str, to: &str) -> bool {
        let mut edited = FILES.map(|(name, text)| (name, text.to_string()));
        let (_, text) = edited.iter_mut().find(|(name, _)| *name == file).unwrap();
        assert!(text.contains(from), "{file} has no {from}");
        *text = text.replace(from, to);
        let edited = place(edited.iter().map(|(name, text)| (*name, text.as_str())));
        of(&edited) != of(&place(FILES))
    }

    #[test]
    fn a_change_in_the_crate_and_in_what_it_depends_on_counts() {
        assert_eq!(of(&place(FILES)), of(&place(FILES)));
        assert!(reaches("src/part.rs", "0.5", "0.25"));
        assert!(reaches("../shared/src/lib.rs", "0.5", "0.25"));
        assert!(!reaches("../x/src/lib.rs", "0.5", "0.25"), "only tests depend on it");
    }

    #[test]
    fn kernels_count_for_who_depends_on_the_facade() {
        let digest = |constant: &str| {
            let facade = "[workspace.dependencies]\nmustlink-kernels = { path = \"kernels\" }\n\
                          [dependencies]\nmustlink-kernels.workspace = true\n";
            of(&place([
                ("Cargo.toml", "[dependencies]\nmustlink = { path = \"../all\" }\n"),
                ("src/lib.rs", "fn mine() {}\n"),
                ("../all/Cargo.toml", facade),
                ("../all/src/lib.rs", "\n"),
                ("../all/kernels/Cargo.toml", "[dependencies]\n"),
                ("../all/kernels/src/lib.rs", constant),
            ]))
        };
        assert_eq!(digest("const A: f64 = 1.0;"), digest("const A: f64 = 1.0;"));
        assert_ne!(digest("const A: f64 = 1.0;"), digest("const A: f64 = 2.0;"));
    }

    #[test]
    fn tests_comments_and_layout_do_not_count() {
        let tests = "0.5;\n#[cfg(test)]\nmod tests {\n    use crate::more;\n}\n";
        assert!(!reaches("src/part.rs", "0.5;\n", tests));
        let test = "0.5;\n#[cfg(test)]\n#[expect(unused)]\nuse crate::{help, more};\n";
        assert!(!reaches("src/part.rs", "0.5;\n", test));
        assert!(!reaches("src/part.rs", "\n", "\r\n"));
        assert!(!reaches("src/part.rs", "const", "/// What.\nconst /* it */"));
        assert!(reaches("src/part.rs", "const", "#[cfg(test)] a: u8, const"));
    }

    #[test]
    fn only_a_release_of_ours_has_none() {
        let whole = place([("src/lib.rs", "")]);
        let folder = whole.path().join("crate");
        assert!(!of_crate("mustlink-metrics", &folder).is_empty());
        fs::write(folder.join("Cargo.toml.orig"), "").unwrap();
        assert!(of_crate("mustlink-metrics", &folder).is_empty());
        assert!(of_crate("mustlink", &folder).is_empty());
        assert!(!of(&whole).is_empty());
    }
}
