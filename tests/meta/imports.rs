//! Do the files of a crate import one another in one direction only?
//!
//! The rule: file A imports file B where code of A, tests included, has a path (`crate::…`,
//! `super::…`, `self::…`, or one that begins with a child module) to an item that B defines. A path
//! leads to the file that defines the item, through any re-exports; where that cannot be seen (an
//! item made by a macro), to the deepest module on the way that has a file. Declaring a module and
//! re-exporting an item import nothing, as long as the file does not use the re-exported name
//! itself; a glob import brings the names that occur in the file. Comments and strings do not count,
//! the bodies of macros do.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// A module of a crate, as names from its root.
type Module = Vec<String>;

/// How many re-exports a path may pass; more are a circle of re-exports.
const MAX_REEXPORTS: usize = 16;

/// What a `use` brings into a module.
struct Import {
    /// `*` for a glob.
    name: String,
    path: Vec<String>,
    public: bool,
}

/// What stands in a module, inline ones included.
#[derive(Default)]
struct Content {
    file: usize,
    defined: BTreeSet<String>,
    imports: Vec<Import>,
    /// Paths in code outside `use`.
    paths: Vec<Vec<String>>,
}

/// The files of one crate, each with what it holds.
pub struct Crate {
    files: Vec<PathBuf>,
    modules: BTreeMap<Module, Content>,
    /// Macros that `#[macro_export]` puts at the root, with their file.
    macros: BTreeMap<String, usize>,
    /// Names that occur in each file outside `use`.
    names: Vec<BTreeSet<String>>,
}

impl Crate {
    /// Reads the crate whose root file is `root`: the `files` in its folder that are modules of it.
    pub fn read(root: &Path, files: &[PathBuf], text: impl Fn(&Path) -> String) -> Crate {
        let folder = root.parent().expect("a file is in a folder");
        let mut out = Crate {
            files: Vec::new(),
            modules: BTreeMap::new(),
            macros: BTreeMap::new(),
            names: Vec::new(),
        };
        for path in files {
            let Ok(inside) = path.strip_prefix(folder) else { continue };
            if path != root && (inside == Path::new("main.rs") || inside == Path::new("lib.rs")) {
                continue;
            }
            let mut module: Module =
                inside.with_extension("").iter().map(|s| s.to_string_lossy().into()).collect();
            if path == root || module.last().is_some_and(|name| name == "mod") {
                module.pop();
            }
            let file = out.files.len();
            out.files.push(path.clone());
            out.names.push(BTreeSet::new());
            let tokens: TokenStream =
                text(path).parse().unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            out.scan(tokens, &module, file, true);
        }
        out
    }

    /// Takes in the tokens of a module, or of a block inside it.
    fn scan(&mut self, tokens: TokenStream, module: &Module, file: usize, outermost: bool) {
        let content = self.modules.entry(module.clone()).or_default();
        content.file = file;
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            let word = word_of(&tokens[at]);
            let next = tokens.get(at + 1).map(word_of).unwrap_or_default();
            match (word.as_str(), &tokens[at]) {
                ("use", _) => {
                    let end = (at..tokens.len()).find(|&t| is_punct(&tokens[t], ';'));
                    let end = end.unwrap_or(tokens.len());
                    let public = match at.checked_sub(1).map(|t| &tokens[t]) {
                        Some(TokenTree::Group(_)) => at >= 2 && word_of(&tokens[at - 2]) == "pub",
                        Some(token) => word_of(token) == "pub",
                        None => false,
                    };
                    let mut found = Vec::new();
                    use_tree(&tokens[at + 1..end], &[], &mut found);
                    let imports =
                        found.into_iter().map(|(name, path)| Import { name, path, public });
                    self.content(module).imports.extend(imports);
                    at = end;
                }
                ("mod", _) if matches!(tokens.get(at + 2), Some(TokenTree::Group(_))) => {
                    let Some(TokenTree::Group(body)) = tokens.get(at + 2) else { unreachable!() };
                    let inner = [module.as_slice(), &[next]].concat();
                    self.scan(body.stream(), &inner, file, true);
                    at += 2;
                }
                ("macro_rules", _) => {
                    let name = tokens.get(at + 2).map(word_of).unwrap_or_default();
                    self.content(module).defined.insert(name.clone());
                    self.macros.insert(name, file);
                    at += 2;
                }
                ("fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "union", _) => {
                    if outermost {
                        self.content(module).defined.insert(next);
                    }
                    at += usize::from(word == "fn");
                }
                (_, TokenTree::Group(group)) => self.scan(group.stream(), module, file, false),
                (_, TokenTree::Ident(_)) => {
                    let path = path(&tokens[at..]);
                    let after_dot = at > 0 && is_punct(&tokens[at - 1], '.');
                    let end = at + 3 * (path.len() - 1);
                    let field = path.len() == 1 && tokens.get(at + 1).is_some_and(is_single_colon);
                    if !after_dot && !field {
                        self.names[file].extend(path.iter().cloned());
                    }
                    if path.len() > 1 {
                        self.content(module).paths.push(path);
                    }
                    at = end;
                }
                _ => {}
            }
            at += 1;
        }
    }

    fn content(&mut self, module: &Module) -> &mut Content {
        self.modules.get_mut(module).expect("it was entered")
    }

    /// The module and the item in it that `path`, written in `from`, leads to; `None` outside the
    /// crate.
    fn resolve(&self, from: &Module, path: &[String], depth: usize) -> Option<(Module, String)> {
        let mut rest = path;
        let mut module = from.clone();
        match rest.first()?.as_str() {
            "crate" => {
                module.clear();
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {
                while let Some("super") = rest.first().map(String::as_str) {
                    module.pop();
                    rest = &rest[1..];
                }
            }
            first => {
                let child = [from.as_slice(), &[first.to_string()]].concat();
                if !self.modules.contains_key(&child) {
                    return None;
                }
            }
        }
        self.descend(module, rest, depth)
    }

    fn descend(&self, module: Module, rest: &[String], depth: usize) -> Option<(Module, String)> {
        let Some(name) = rest.first().filter(|name| *name != "*") else {
            return Some((module, String::new()));
        };
        let child = [module.as_slice(), std::slice::from_ref(name)].concat();
        if self.modules.contains_key(&child) {
            return self.descend(child, &rest[1..], depth);
        }
        let content = self.modules.get(&module)?;
        if content.defined.contains(name) || depth == MAX_REEXPORTS {
            return Some((module, name.clone()));
        }
        if let Some(import) = content.imports.iter().find(|i| i.name == *name) {
            let through = [import.path.as_slice(), &rest[1..]].concat();
            return self.resolve(&module, &through, depth + 1);
        }
        for glob in content.imports.iter().filter(|i| i.name == "*") {
            let through = [&glob.path[..glob.path.len() - 1], rest].concat();
            if let Some((found, item)) = self.resolve(&module, &through, depth + 1)
                && self.modules[&found].defined.contains(&item)
            {
                return Some((found, item));
            }
        }
        match self.macros.get(name) {
            Some(&file) if module.is_empty() => {
                let holds = |(_, c): &(&Module, &Content)| c.file == file;
                self.modules.iter().find(holds).map(|(m, _)| (m.clone(), name.clone()))
            }
            _ => Some((module, name.clone())),
        }
    }

    /// The names a glob import of `module` brings.
    fn names_in(&self, module: &Module, depth: usize) -> BTreeSet<String> {
        let Some(content) = self.modules.get(module) else { return BTreeSet::new() };
        let mut out = content.defined.clone();
        for import in &content.imports {
            match import.name.as_str() {
                "*" if depth < MAX_REEXPORTS => {
                    if let Some((target, _)) = self.resolve(module, &import.path, depth + 1) {
                        out.extend(self.names_in(&target, depth + 1));
                    }
                }
                name => drop(out.insert(name.into())),
            }
        }
        out
    }

    /// Which file imports which, with a path that does so.
    fn imports(&self) -> BTreeMap<(usize, usize), String> {
        let mut out = BTreeMap::new();
        for (module, content) in &self.modules {
            let from = content.file;
            let mut paths: Vec<Vec<String>> = content.paths.clone();
            for import in &content.imports {
                let used = !import.public || self.names[from].contains(&import.name);
                if import.name != "*" {
                    paths.extend(used.then(|| import.path.clone()));
                } else if let Some((target, _)) = self.resolve(module, &import.path, 0) {
                    let names = self.names_in(&target, 0);
                    let brought: Vec<_> = names.intersection(&self.names[from]).collect();
                    let base = &import.path[..import.path.len() - 1];
                    paths.extend(brought.iter().map(|name| [base, &[name.to_string()]].concat()));
                    if brought.is_empty() && !import.public {
                        paths.push(import.path.clone());
                    }
                }
            }
            for path in paths {
                if let Some((target, _)) = self.resolve(module, &path, 0) {
                    let to = self.modules[&target].file;
                    if to != from {
                        out.entry((from, to)).or_insert_with(|| path.join("::"));
                    }
                }
            }
        }
        out
    }

    /// The circles of imports, one and the shortest of every group of files that reach each other.
    pub fn circles(&self) -> Vec<String> {
        let imports = self.imports();
        let mut seen = BTreeSet::new();
        let mut all: Vec<Vec<usize>> =
            (0..self.files.len()).filter_map(|file| self.circle(file, &imports)).collect();
        all.sort_by_key(Vec::len);
        let mut out = Vec::new();
        for circle in all {
            if circle.iter().any(|file| seen.contains(file)) {
                continue;
            }
            seen.extend(circle.iter().copied());
            let mut text = self.files[circle[0]].display().to_string();
            for (at, from) in circle.iter().enumerate() {
                let to = circle[(at + 1) % circle.len()];
                let path = &imports[&(*from, to)];
                text.push_str(&format!("\n    imports {} ({path})", self.files[to].display()));
            }
            out.push(text);
        }
        out
    }

    /// A shortest way from a file back to itself.
    fn circle(
        &self,
        start: usize,
        imports: &BTreeMap<(usize, usize), String>,
    ) -> Option<Vec<usize>> {
        let mut before: BTreeMap<usize, usize> = BTreeMap::new();
        let mut open = VecDeque::from([start]);
        while let Some(from) = open.pop_front() {
            for &(_, to) in imports.range((from, 0)..=(from, usize::MAX)).map(|(edge, _)| edge) {
                if to == start {
                    let mut way = vec![from];
                    while way[way.len() - 1] != start {
                        way.push(before[&way[way.len() - 1]]);
                    }
                    way.reverse();
                    return Some(way);
                }
                if let Entry::Vacant(unseen) = before.entry(to) {
                    unseen.insert(from);
                    open.push_back(to);
                }
            }
        }
        None
    }
}

fn word(token: &TokenTree) -> String {
    match token {
        TokenTree::Ident(ident) => ident.to_string(),
        _ => String::new(),
    }
}

fn word_of(token: &TokenTree) -> String {
    word(token)
}

fn is_punct(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(p) if p.as_char() == mark)
}

fn is_single_colon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(p) if p.as_char() == ':' && p.spacing() == Spacing::Alone)
}

/// The names of the path that `tokens` begin with; one for a single name.
fn path(tokens: &[TokenTree]) -> Vec<String> {
    let mut out = vec![word_of(&tokens[0])];
    let mut rest = &tokens[1..];
    while let [a, b, name @ TokenTree::Ident(_), ..] = rest
        && is_punct(a, ':')
        && is_punct(b, ':')
    {
        out.push(word_of(name));
        rest = &rest[3..];
    }
    out
}

/// The names a tree of `use` brings, each with its whole path.
fn use_tree(tokens: &[TokenTree], prefix: &[String], out: &mut Vec<(String, Vec<String>)>) {
    let mut full = prefix.to_vec();
    let mut name = None;
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Ident(ident) if ident == "as" => {
                name = tokens.get(at + 1).map(word_of);
                at += 1;
            }
            TokenTree::Ident(ident) => full.push(ident.to_string()),
            TokenTree::Punct(p) if p.as_char() == '*' => full.push("*".into()),
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                inner.split(|t| is_punct(t, ',')).for_each(|one| use_tree(one, &full, out));
                return;
            }
            _ => {}
        }
        at += 1;
    }
    // `use a::b::{self}` brings b.
    if full.len() > 1 && full.last().is_some_and(|last| last == "self") {
        full.pop();
    }
    if let Some(last) = full.last().filter(|_| !tokens.is_empty()) {
        out.push((name.unwrap_or_else(|| last.clone()), full.clone()));
    }
}
