//! The imports between the files of a crate.
//!
//! File A imports file B where code of A has a path (`crate::…`, `super::…`, `self::…`, or one that
//! begins with a child module) to an item that B defines. A path leads to the file that defines the
//! item, through any re-exports; where that cannot be seen (a glob, an item made by a macro), to the
//! deepest module on the way that has a file. Declaring a module and re-exporting an item import
//! nothing, as long as the file does not use the re-exported name itself. Comments and strings do not
//! count, the bodies of macros do.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// Largest number of re-exports in a path; more are a circle of re-exports.
const MAX_REEXPORTS: usize = 16;

/// Content of a module, including inline modules.
#[derive(Default)]
struct Content {
    file: usize,
    defined: BTreeSet<String>,
    /// Items that each `use` imports, by their names here (`*` for a glob), and true if they are visible outside.
    imports: Vec<(String, Vec<String>, bool)>,
    /// Paths in code outside `use`.
    paths: Vec<Vec<String>>,
}

/// The files of one crate, each with what it holds.
pub(crate) struct Crate {
    /// The files, in the order given.
    pub(crate) files: Vec<PathBuf>,
    /// By their names from the root.
    modules: BTreeMap<Vec<String>, Content>,
    /// Macros that `#[macro_export]` puts at the root, with their file.
    macros: BTreeMap<String, usize>,
    /// Names that begin a path in each file, outside `use`.
    names: Vec<BTreeSet<String>>,
}

impl Crate {
    /// The crate whose root file is `root`: those of `files` in its folder, as `code` reads them.
    pub(crate) fn read(
        root: &Path,
        files: &[PathBuf],
        code: impl Fn(&Path) -> TokenStream,
    ) -> Crate {
        let folder = root.parent().unwrap_or(root);
        let (modules, macros) = (BTreeMap::new(), BTreeMap::new());
        let mut out = Crate { files: Vec::new(), modules, macros, names: Vec::new() };
        for path in files {
            let Ok(inside) = path.strip_prefix(folder) else { continue };
            if path != root && (inside == Path::new("main.rs") || inside == Path::new("lib.rs")) {
                continue;
            }
            let inside = inside.with_extension("");
            let mut module: Vec<String> =
                inside.iter().map(|s| s.to_string_lossy().into()).collect();
            if path == root || module.last().is_some_and(|name| name == "mod") {
                module.pop();
            }
            out.files.push(path.clone());
            out.names.push(BTreeSet::new());
            out.scan(code(path), &module, true);
        }
        out
    }

    /// Takes in the tokens of a module of the last file, or of a block inside it.
    fn scan(&mut self, tokens: TokenStream, module: &[String], outermost: bool) {
        let file = self.files.len() - 1;
        let content = self.modules.entry(module.to_vec()).or_default();
        content.file = file;
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut inner = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            let next = tokens.get(at + 1).map(word).unwrap_or_default();
            match (word(&tokens[at]).as_str(), &tokens[at]) {
                ("use", _) => {
                    let end = (at..tokens.len()).find(|&t| is_punct(&tokens[t], ';'));
                    let end = end.unwrap_or(tokens.len());
                    let before =
                        tokens[..at].iter().rev().take(2).map(word).find(|w| !w.is_empty());
                    let public = before.is_some_and(|w| w == "pub");
                    use_tree(&tokens[at + 1..end], &[], public, &mut content.imports);
                    at = end;
                }
                ("mod", _) if matches!(tokens.get(at + 2), Some(TokenTree::Group(_))) => {
                    inner.push((&tokens[at + 2], [module, &[next]].concat(), true));
                    at += 2;
                }
                ("macro_rules", _) => {
                    let name = tokens.get(at + 2).map(word).unwrap_or_default();
                    content.defined.insert(name.clone());
                    self.macros.insert(name, file);
                    at += 2;
                }
                ("fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "union", _) => {
                    if outermost {
                        content.defined.insert(next);
                    }
                    at += usize::from(word(&tokens[at]) == "fn");
                }
                (_, group @ TokenTree::Group(_)) => inner.push((group, module.to_vec(), false)),
                (_, TokenTree::Ident(_)) => {
                    let path = path(&tokens[at..]);
                    let after_dot = at > 0 && is_punct(&tokens[at - 1], '.');
                    let field = path.len() == 1 && tokens.get(at + 1).is_some_and(is_single_colon);
                    if !after_dot && !field {
                        self.names[file].extend(path.iter().cloned());
                    }
                    at += 3 * (path.len() - 1);
                    if path.len() > 1 {
                        content.paths.push(path);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        for (group, module, outermost) in inner {
            if let TokenTree::Group(group) = group {
                self.scan(group.stream(), &module, outermost);
            }
        }
    }

    /// The module and the item in it that `path`, written in `from`, leads to; `None` outside the crate.
    fn resolve(
        &self,
        from: &[String],
        path: &[String],
        depth: usize,
    ) -> Option<(&Content, String)> {
        let (mut module, mut rest) = (from.to_vec(), path);
        let child =
            |module: &[String], name: &String| [module, std::slice::from_ref(name)].concat();
        let within = |m: &[String], n: &String| self.modules.contains_key(&child(m, n));
        match rest.first()?.as_str() {
            "crate" => module.clear(),
            "self" | "super" => {}
            _ if !within(from, &rest[0]) => return None,
            _ => {}
        }
        while let Some(step @ ("crate" | "self" | "super")) = rest.first().map(String::as_str) {
            if step == "super" {
                module.pop();
            }
            rest = &rest[1..];
        }
        while let Some(name) = rest.first().filter(|name| within(&module, name)) {
            module.push(name.clone());
            rest = &rest[1..];
        }
        let content = self.modules.get(&module)?;
        let Some(name) = rest.first().filter(|name| *name != "*") else {
            return Some((content, String::new()));
        };
        let here = || Some((content, name.clone()));
        if content.defined.contains(name) || depth == MAX_REEXPORTS {
            return here();
        }
        let through =
            |path: &[String], rest| self.resolve(&module, &[path, rest].concat(), depth + 1);
        if let Some((_, path, _)) = content.imports.iter().find(|(n, ..)| n == name) {
            return through(path, &rest[1..]);
        }
        let mut globs = content.imports.iter().filter(|(n, ..)| n == "*");
        let found = globs.find_map(|(_, path, _)| {
            through(&path[..path.len() - 1], rest).filter(|(c, item)| c.defined.contains(item))
        });
        let exported = || {
            let file = self.macros.get(name).filter(|_| module.is_empty())?;
            Some((self.modules.values().find(|c| c.file == *file)?, name.clone()))
        };
        found.or_else(exported).or_else(here)
    }

    /// Which file imports which, by their places in the list, with a path that does so.
    pub(crate) fn imports(&self) -> BTreeMap<(usize, usize), String> {
        let mut out = BTreeMap::new();
        for (module, content) in &self.modules {
            let used = |(name, path, public): &(String, Vec<String>, bool)| {
                let used = !public || self.names[content.file].contains(name);
                used.then(|| path.clone())
            };
            let imports = content.imports.iter().filter_map(used);
            for path in imports.chain(content.paths.iter().cloned()) {
                if let Some((target, _)) = self.resolve(module, &path, 0)
                    && target.file != content.file
                {
                    out.entry((content.file, target.file)).or_insert_with(|| path.join("::"));
                }
            }
        }
        out
    }
}

fn word(token: &TokenTree) -> String {
    if let TokenTree::Ident(ident) = token { ident.to_string() } else { String::new() }
}

fn is_punct(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(p) if p.as_char() == mark)
}

fn is_single_colon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(p) if p.as_char() == ':' && p.spacing() == Spacing::Alone)
}

/// The names of the path that `tokens` begin with; one for a single name.
fn path(tokens: &[TokenTree]) -> Vec<String> {
    let mut out = vec![word(&tokens[0])];
    let mut rest = &tokens[1..];
    while let [a, b, name @ TokenTree::Ident(_), ..] = rest
        && is_punct(a, ':')
        && is_punct(b, ':')
    {
        out.push(word(name));
        rest = &rest[3..];
    }
    out
}

/// The names a tree of `use` brings, each with its whole path.
fn use_tree(
    tokens: &[TokenTree],
    prefix: &[String],
    public: bool,
    out: &mut Vec<(String, Vec<String>, bool)>,
) {
    let (mut full, mut name) = (prefix.to_vec(), None);
    for token in tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                inner.split(|t| is_punct(t, ',')).for_each(|t| use_tree(t, &full, public, out));
                return;
            }
            TokenTree::Ident(ident) if ident == "as" => name = full.last().cloned(),
            TokenTree::Ident(ident) if name.is_some() => name = Some(ident.to_string()),
            TokenTree::Ident(ident) => full.push(ident.to_string()),
            TokenTree::Punct(p) if p.as_char() == '*' => full.push("*".into()),
            _ => {}
        }
    }
    // `use a::b::{self}` brings b.
    if full.len() > 1 && full.last().is_some_and(|last| last == "self") {
        full.pop();
    }
    if let Some(last) = full.last().filter(|_| !tokens.is_empty()) {
        out.push((name.unwrap_or_else(|| last.clone()), full, public));
    }
}
