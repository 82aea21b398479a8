//! The files that a command consists of, and their digests.
//!
//! A plugin in another language is a command: an interpreter and a script. Its results depend on their content, and
//! on the files that are named in the command and in these files. A result is therefore kept by the digests of all
//! of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Folders of the system whose files are not stored on a disk.
const MADE_UP: [&str; 3] = ["/dev", "/proc", "/sys"];
/// Endings of scripts.
const ENDINGS: [&str; 9] = ["py", "R", "r", "jl", "sh", "bash", "js", "pl", "rb"];
/// The longest text that is searched for names of files, in bytes.
const LONGEST_TEXT: u64 = 1 << 20;

/// The program that a name stands for, as the system would find it; relative paths start at `base`.
pub fn program(name: &str, base: &Path) -> Option<PathBuf> {
    if Path::new(name).components().count() > 1 {
        return Some(base.join(name)).filter(|p| p.is_file());
    }
    let path = std::env::var_os("PATH")?;
    let places = std::env::split_paths(&path);
    let endings = ["", std::env::consts::EXE_SUFFIX];
    let names = endings.map(|ending| format!("{name}{ending}"));
    places.flat_map(|place| names.clone().map(|n| place.join(n))).find(|p| p.is_file())
}

/// Digests of the files that a command with these options depends on, by name: the program, every file that is
/// named in the command or in the options, the Python module after `-m`, and the files that these files name in turn.
///
/// A file name may be part of a word (`sh -c "…"`, `--table=k.txt`). A file with the same ending also counts if a
/// text contains its name without the ending; if a folder has that name, every file with the ending in it counts.
/// Relative paths, and the names in the result, start at `base`.
pub fn digests(command: &[String], options: &Value, base: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = Vec::new();
    if let Some(program) = command.first().and_then(|name| program(name, base)) {
        // A program found through PATH belongs to the system: its text is not searched for names.
        if Path::new(&command[0]).components().count() > 1 {
            open.push((program.clone(), folder_of(&program).to_path_buf()));
        }
        found.extend(digest(&program).map(|digest| (command[0].clone(), digest)));
    }
    let modules = command.windows(2).skip(1).filter(|words| words[0] == "-m");
    let modules: Vec<String> = modules.flat_map(|words| module(&words[1], base)).collect();
    let mut texts: Vec<String> = command.iter().skip(1).cloned().collect();
    add_texts(options, &mut texts);
    let named = texts.iter().flat_map(|text| words(text).into_iter().chain([text.as_str()]));
    for name in named.chain(modules.iter().map(String::as_str)).collect::<BTreeSet<_>>() {
        let path = base.join(name);
        if path.is_file() {
            let is_module = modules.iter().any(|module| module == name);
            let root = if is_module { base } else { folder_of(&path) };
            open.push((path.clone(), root.to_path_buf()));
            found.extend(digest(&path).map(|digest| (name.to_string(), digest)));
        }
    }
    let mut seen: BTreeSet<PathBuf> = open.iter().map(|(path, _)| path.clone()).collect();
    while let Some((path, root)) = open.pop() {
        for named in named_in(&path, &root, base) {
            if seen.insert(named.clone()) {
                let name = named.strip_prefix(base).unwrap_or(&named).display().to_string();
                found.extend(digest(&named).map(|digest| (name, digest)));
                // Other places hold libraries of the system, which name very many files.
                if named.starts_with(&root) || named.starts_with(base) {
                    open.push((named, root.clone()));
                }
            }
        }
    }
    found
}

/// The part of [`digests`] that is code: files that the command itself names, and files with the ending of a script.
/// It contains neither files that the program writes nor an interpreter of the system.
pub fn code(command: &[String], base: &Path) -> BTreeMap<String, String> {
    let ending = |name: &str| Path::new(name).extension().map(|ending| ending.to_os_string());
    let own: Vec<_> = command.iter().filter_map(|word| ending(word)).collect();
    let of_system = command.first().filter(|name| Path::new(name).components().count() == 1);
    let is_code = |name: &String| {
        let ends = |ending| own.contains(&ending) || ENDINGS.iter().any(|code| ending == *code);
        of_system != Some(name) && (command.contains(name) || ending(name).is_some_and(ends))
    };
    digests(command, &Value::Null, base).into_iter().filter(|(name, _)| is_code(name)).collect()
}

/// All strings in a tree.
fn add_texts(tree: &Value, out: &mut Vec<String>) {
    match tree {
        Value::String(text) => out.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| add_texts(item, out)),
        Value::Object(map) => map.values().for_each(|item| add_texts(item, out)),
        _ => {}
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// The files of a module of Python, where it lies below `base`: its own, or all in its folder.
fn module(name: &str, base: &Path) -> Vec<String> {
    let folder = name.replace('.', "/");
    let parts = if base.join(&folder).is_dir() { files(&base.join(&folder)) } else { Vec::new() };
    let parts = parts.iter().filter_map(|path| path.strip_prefix(base).ok());
    let parts = parts.filter(|path| path.extension().is_some_and(|ending| ending == "py"));
    let parts = parts.map(|path| path.display().to_string());
    parts.chain([format!("{folder}.py")]).collect()
}

/// A digest of the content of a file; absent if it cannot be read, which is reported when a command
/// with it starts.
pub fn digest(path: &Path) -> Option<String> {
    let (mut file, mut hasher) = (File::open(path).ok()?, blake3::Hasher::new());
    let mut part = vec![0; 1 << 16];
    loop {
        match file.read(&mut part).ok()? {
            0 => return Some(hasher.finalize().to_hex()[..16].to_string()),
            length => hasher.update(&part[..length]),
        };
    }
}

/// The files that the text of a file names; relative paths start at `base`, at `root` (the folder of the script
/// that is run), or at the file's own folder.
fn named_in(file: &Path, root: &Path, base: &Path) -> Vec<PathBuf> {
    let short = fs::metadata(file).is_ok_and(|facts| facts.len() <= LONGEST_TEXT);
    let Some(text) = short.then(|| fs::read_to_string(file).ok()).flatten() else {
        return Vec::new();
    };
    let words = words(&text);
    let has = |word: Option<&std::ffi::OsStr>| {
        word.and_then(|word| word.to_str()).is_some_and(|word| words.contains(word))
    };
    let same = |path: &Path| file.extension().is_some() && path.extension() == file.extension();
    let mut named = Vec::new();
    for folder in BTreeSet::from([base, root, folder_of(file)]) {
        let paths = words.iter().filter(|word| word.contains('/') || word.starts_with('.'));
        // Such files have other content each time that they are read.
        let is_kept = |path: &PathBuf| !MADE_UP.iter().any(|place| path.starts_with(place));
        let paths = paths.map(|word| folder.join(word)).filter(is_kept);
        named.extend(paths.filter(|path| path.is_file()));
        for path in entries(folder) {
            if has(path.file_name()) && path.is_file() || has(path.file_stem()) && same(&path) {
                named.push(path);
            } else if has(path.file_name()) && folder == root {
                named.extend(files(&path).into_iter().filter(|part| same(part)));
            }
        }
    }
    named
}

/// The words of a text that may name a file: paths, their ends after each slash, and their parts between slashes and
/// points. Comment lines are left out.
fn words(text: &str) -> BTreeSet<&str> {
    let is_comment = |line: &&str| {
        let line = line.trim();
        ["# ", "## ", "// "].iter().any(|mark| line.starts_with(mark)) || matches!(line, "#" | "//")
    };
    let part = |c: char| c.is_alphanumeric() || "_-./+".contains(c);
    let lines = text.lines().filter(|line| !is_comment(line));
    let mut words = BTreeSet::new();
    for token in lines.flat_map(|line| line.split(|c| !part(c))) {
        let token = token.trim_end_matches('.');
        words.insert(token);
        words.extend(token.match_indices('/').map(|(at, _)| &token[at + 1..]));
        words.extend(token.split(['.', '/']));
    }
    words.remove("");
    words
}

/// The file at `path`, or all that are below it.
fn files(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_path_buf()];
    }
    // A link to a folder may lead back.
    let inner = entries(path).into_iter().filter(|inner| !(inner.is_dir() && inner.is_symlink()));
    inner.flat_map(|inner| files(&inner)).collect()
}

/// Entries of a folder, sorted, without hidden files and files made by an interpreter.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let names = fs::read_dir(here).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let made = |name: &str| name.starts_with('.') || name.starts_with("__pycache__");
    let names = names.filter(|name| !made(&name.to_string_lossy()));
    let mut found: Vec<PathBuf> = names.map(|name| folder.join(name)).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_script_counts_with_what_it_imports() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("bin/run", "interpreter");
        write("a.py", "from helper import f\nimport package\n # other, other.py\n");
        write("helper.py", "from more import g\n");
        write("more.py", "x = 1\n");
        write("other.py", "x = 1\n");
        write("data.csv", "1\n");
        write("package/part.py", "x = 1\n");
        write("package/__pycache__/part.py", "x = 1\n");
        let command = command(&["bin/run", "a.py", "5"]);
        let digests = || digests(&command, &Value::Null, dir.path());
        let before = digests();
        let names: Vec<&str> = before.keys().map(String::as_str).collect();
        assert_eq!(names, ["a.py", "bin/run", "helper.py", "more.py", "package/part.py"]);
        write("more.py", "x = 2\n");
        let changed: Vec<String> =
            digests().into_iter().filter(|(n, d)| before[n] != *d).map(|(n, _)| n).collect();
        assert_eq!(changed, ["more.py"]);
    }

    #[test]
    fn every_word_that_names_a_file_counts() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("sub")).unwrap();
        for (name, text) in [
            (
                "run.sh",
                "cd \"$(dirname \"$0\")\"\nexec python3 pp.py sub/deep.R </proc/self/stat\n",
            ),
            ("pp.py", "read(open('k.json'), f\"{HERE}/table\")\n"),
            ("sub/deep.R", "read.csv('beside.csv')\n"),
            ("sub/beside.csv", "1\n"),
            ("k.json", "{}"),
            ("table", "1\n"),
            ("k.txt", "1\n"),
            ("option.txt", "1\n"),
            ("unnamed.txt", "1\n"),
        ] {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let names = |words: &[&str], options: Value| {
            digests(&command(words), &options, dir.path()).into_keys().collect::<Vec<_>>()
        };
        let wrapped = ["k.json", "pp.py", "run.sh", "sub/beside.csv", "sub/deep.R", "table"];
        assert_eq!(names(&["no-such-program", "run.sh"], Value::Null), wrapped);
        let options = serde_json::json!({ "deep": ["option.txt", 1], "x": "nothing" });
        assert_eq!(names(&["no-such-program", "--k=k.txt"], options), ["k.txt", "option.txt"]);
        let text = ["no-such-program", "-c", "python3 sub/deep.R"];
        assert_eq!(names(&text, Value::Null), ["sub/beside.csv", "sub/deep.R"]);
    }

    #[test]
    fn a_module_counts_with_what_it_imports() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("package/inner")).unwrap();
        for name in ["one.py", "helper.py", "package/__main__.py", "package/inner/part.py"] {
            fs::write(dir.path().join(name), "import helper\n").unwrap();
        }
        fs::write(dir.path().join("package/data.csv"), "1\n").unwrap();
        let names = |module: &str| {
            let words = command(&["no-such-program", "-m", module]);
            digests(&words, &Value::Null, dir.path()).into_keys().collect::<Vec<_>>()
        };
        assert_eq!(names("one"), ["helper.py", "one.py"]);
        let parts = ["helper.py", "package/__main__.py", "package/inner/part.py"];
        assert_eq!(names("package"), parts);
        assert_eq!(names("package.inner"), [parts[0], parts[2]]);
        assert_eq!(names("installed"), [""; 0]);
    }

    #[test]
    fn a_program_is_looked_for_as_the_system_does() {
        assert_eq!(program("no-such-program-here", Path::new(".")), None);
        assert_eq!(program("./no-such-program-here", Path::new(".")), None);
        #[cfg(unix)]
        let words = command(&["sh", "-c", "true"]);
        #[cfg(unix)]
        assert_eq!(digests(&words, &Value::Null, Path::new(".")).len(), 1);
    }
}
