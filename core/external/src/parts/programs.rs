//! Which files does a command consist of, and have they changed?
//!
//! A plugin in another language is a command: an interpreter and a script. Its results depend on
//! their content and on the files that the script imports, so these are what a result is kept by.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

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

/// What a command consists of, each file with a digest of its content: the program, every argument
/// that names a file, the Python module after `-m`, and the files that those import, as far as they lie
/// in their folder.
///
/// A file of the same language counts as imported when its name stands as a word in a file that
/// counts; a folder of that name counts whole. Relative paths start at `base`, and so do the names.
pub fn digests(command: &[String], base: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    if let Some(program) = command.first().and_then(|name| program(name, base)) {
        add(&program, &command[0], &mut found);
        if Path::new(&command[0]).components().count() > 1 {
            add_imports(&program, base, &mut found);
        }
    }
    let modules = command.windows(2).skip(1).filter(|words| words[0] == "-m");
    let modules = modules.flat_map(|words| module(&words[1], base));
    for name in command.iter().skip(1).cloned().chain(modules) {
        let path = base.join(&name);
        if path.is_file() {
            add(&path, &name, &mut found);
            add_imports(&path, base, &mut found);
        }
    }
    found
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

/// A digest of the content of a file; absent where it cannot be read, which is told when a command
/// with it starts.
pub fn digest(path: &Path) -> Option<String> {
    fs::read(path).ok().map(|content| blake3::hash(&content).to_hex()[..16].to_string())
}

fn add(path: &Path, name: &str, found: &mut BTreeMap<String, String>) {
    found.extend(digest(path).map(|digest| (name.to_string(), digest)));
}

fn add_imports(script: &Path, base: &Path, found: &mut BTreeMap<String, String>) {
    if script.extension().is_none() {
        return;
    }
    let near = entries(script.parent().unwrap_or(Path::new("")));
    let (mut seen, mut open) = (BTreeSet::from([script.to_path_buf()]), vec![script.to_path_buf()]);
    while let Some(file) = open.pop() {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let words: BTreeSet<&str> =
            text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').collect();
        let named = |path: &&PathBuf| {
            path.file_stem().and_then(|stem| stem.to_str()).is_some_and(|stem| words.contains(stem))
        };
        let same = |file: &PathBuf| file.extension() == script.extension();
        let files = near.iter().filter(named).flat_map(|path| files(path)).filter(same);
        open.extend(files.filter(|file| seen.insert(file.clone())));
        if file != script {
            add(&file, &file.strip_prefix(base).unwrap_or(&file).display().to_string(), found);
        }
    }
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

/// What stands in a folder, sorted; what is hidden or made by an interpreter is left out.
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
        write("a.py", "from helper import f\nimport package\n# data\n");
        write("helper.py", "from more import g\n");
        write("more.py", "x = 1\n");
        write("other.py", "x = 1\n");
        write("data.csv", "1\n");
        write("package/part.py", "x = 1\n");
        write("package/__pycache__/part.py", "x = 1\n");
        let digests = || digests(&command(&["bin/run", "a.py", "5"]), dir.path());
        let before = digests();
        let names: Vec<&str> = before.keys().map(String::as_str).collect();
        assert_eq!(names, ["a.py", "bin/run", "helper.py", "more.py", "package/part.py"]);
        write("more.py", "x = 2\n");
        let changed: Vec<String> =
            digests().into_iter().filter(|(n, d)| before[n] != *d).map(|(n, _)| n).collect();
        assert_eq!(changed, ["more.py"]);
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
            let all = digests(&command(&["no-such-program", "-m", module]), dir.path());
            all.into_keys().collect::<Vec<_>>()
        };
        assert_eq!(names("one"), ["helper.py", "one.py"]);
        let parts = ["package/__main__.py", "package/inner/part.py"];
        assert_eq!(names("package"), parts);
        assert_eq!(names("package.inner"), parts[1..]);
        assert_eq!(names("installed"), [""; 0]);
    }

    #[test]
    fn a_program_is_looked_for_as_the_system_does() {
        assert_eq!(program("no-such-program-here", Path::new(".")), None);
        assert_eq!(program("./no-such-program-here", Path::new(".")), None);
        #[cfg(unix)]
        assert_eq!(digests(&command(&["sh", "-c", "true"]), Path::new(".")).len(), 1);
    }
}
