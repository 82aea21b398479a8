//! Programs in other languages as plugins with names of their own.
//!
//! A file names one under `plugins`. It is started once and greeted with the protocol `describe`; its answer
//! (name, role, options, properties, references) becomes an entry of the catalogue. Its options in a
//! configuration are checked like those of any plugin and handed over with each request.
//!
//! A command that only looks at files starts nothing ([`let_start`]): it knows the programs by the answers that
//! a command which started them has left in a cache ([`keep_answers_in`]).

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::Write;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use mustlink_core::kind::{self, Kind, Opt, Table};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::parts::child::Child;
pub use crate::parts::running::let_start;
use crate::parts::{programs, running};
use mustlink_config::{Node, NodeKind, from_schema};
use mustlink_core::context::Context;
use mustlink_core::error::{Diagnostic, Error, Result};
use mustlink_core::registry::{Catalogue, Descriptor, Script, suggestion};
use mustlink_core::role::Role;
use mustlink_core::roles::{BaseClusterer, QuerySelector, RoleObject};

/// Seconds a program has for its description.
const PATIENCE: f64 = 60.0;
/// Options that every such plugin has, or that mean something else in a table of options.
const TAKEN: [&str; 2] = ["type", "timeout_seconds"];
/// Interpreters of files, by their endings; `MUSTLINK_PYTHON` sets another Python.
const INTERPRETERS: [(&str, &str); 6] = [
    ("py", "python3"),
    ("R", "Rscript"),
    ("r", "Rscript"),
    ("jl", "julia"),
    ("sh", "sh"),
    ("js", "node"),
];

/// A plugin in another language: its file, or its command as a list of words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, kind::Described)]
#[serde(untagged)]
pub enum Source {
    /// Path of the file: a Python, R, Julia, shell or JavaScript script (by its ending), otherwise a program.
    File(String),
    /// The program and its arguments.
    Command(Vec<String>),
}

impl Source {
    /// The source as written in the configuration.
    fn words(&self) -> Vec<String> {
        match self {
            Source::File(file) => vec![file.clone()],
            Source::Command(words) => words.clone(),
        }
    }
}

/// Makes the programs under `plugins` in `root` known by name; relative paths start at `base`.
pub fn declare(root: &Node, base: &Path, out: &mut Vec<Diagnostic>) {
    for (node, place, source) in sources(root, out) {
        if let Err(e) = add(&source, base) {
            out.push(node.diagnostic(&place, e.to_string()));
        }
    }
}

/// The commands of the programs under `plugins` in `root`, as far as they are in order.
pub fn commands(root: &Node, base: &Path) -> Vec<Vec<String>> {
    let sources = sources(root, &mut Vec::new());
    sources.iter().filter_map(|(_, _, source)| command(source, &absolute(base)).ok()).collect()
}

/// The programs under `plugins`, each with its place.
fn sources<'a>(root: &'a Node, out: &mut Vec<Diagnostic>) -> Vec<(&'a Node, String, Source)> {
    let Some(list) = root.get("plugins") else { return Vec::new() };
    if !matches!(list.kind, NodeKind::Array(_)) {
        let message = "must be a list of files: plugins = [\"my_method.py\"]";
        out.push(list.diagnostic("plugins", message));
        return Vec::new();
    }
    let mut found = Vec::new();
    for (at, node) in list.items().iter().enumerate() {
        let place = format!("plugins[{at}]");
        // What is neither is refused with the rest of the file.
        let words = node.items().iter().map(Node::as_str).collect::<Option<Vec<_>>>();
        match (node.as_str(), words) {
            (Some(file), _) => found.push((node, place, Source::File(file.into()))),
            (None, Some(words)) if !words.is_empty() => {
                let words = words.into_iter().map(str::to_string).collect();
                found.push((node, place, Source::Command(words)));
            }
            (None, Some(_)) if matches!(node.kind, NodeKind::Array(_)) => {
                let message = "names no program: [\"python3\", \"my_method.py\"]";
                out.push(node.diagnostic(&place, message));
            }
            _ => {}
        }
    }
    found
}

/// A command, and the folder where its relative paths start.
type Program = (Vec<String>, PathBuf);
/// Digests of the files of a program, by name.
type Files = BTreeMap<String, String>;
/// Digests of the files of a program at the time when it described itself, and its name.
type Described = (Files, &'static str);

/// Makes one program known by name, and gives the name; relative paths start at `base`.
///
/// # Errors
/// A missing file, a program that does not start or does not describe itself, a name that
/// another plugin has.
pub fn add(source: &Source, base: &Path) -> Result<&'static str> {
    let base = absolute(base);
    start(source, &base).or_else(|e| {
        let remembered = REMEMBERED.lock().unwrap_or_else(|e| e.into_inner());
        remembered.get(&(source.words(), base)).cloned().unwrap_or(Err(e))
    })
}

/// Programs that are known without being started, by command and base.
static REMEMBERED: Mutex<BTreeMap<Program, Result<&'static str>>> = Mutex::new(BTreeMap::new());

/// Registers a program with its earlier description, unless it is known already, and starts nothing. Results that it
/// made can then be read without it, together with results that a copy of it made.
///
/// # Errors
/// The description is not one of a plugin, or another plugin has the same name.
pub fn remember(source: &Source, base: &Path, hello: &Value) -> Result<()> {
    let _still = Still::start();
    if add(source, base).is_ok() {
        return Ok(());
    }
    let base = absolute(base);
    let command = command(source, &base).unwrap_or_else(|_| source.words());
    let tag = described(&command, &base, hello).and_then(|descriptor| {
        let tag = descriptor.tag;
        if !is_copied(tag, source, &base, hello) {
            Catalogue::add(descriptor)?;
        }
        Ok(tag)
    });
    let mut remembered = REMEMBERED.lock().unwrap_or_else(|e| e.into_inner());
    remembered.insert((source.words(), base), tag.clone());
    tag.map(drop)
}

/// True if the catalogue has a copy of a program by this name: a file of the same name with the same description.
/// If the files of both exist here, they have the same content.
fn is_copied(tag: &str, source: &Source, base: &Path, hello: &Value) -> bool {
    let found = Catalogue::get().ok().and_then(|catalogue| catalogue.find(tag));
    let Some(other) = found.and_then(|d| d.script.as_ref()) else { return false };
    let words = command(source, base).unwrap_or_else(|_| source.words());
    let file = |words: &[String]| words.last().map(|w| w.trim_start_matches("./").to_string());
    let here = programs::code(&words, base);
    let there = programs::code(&other.command, &other.base);
    let agrees = |(name, digest): (&String, &String)| there.get(name).is_none_or(|d| d == digest);
    other.hello == *hello && file(&words) == file(&other.command) && here.iter().all(agrees)
}

/// Description that a program gives of itself; absent when it was not asked or does not answer.
pub fn hello(source: &Source, base: &Path) -> Option<&'static Value> {
    let tag = add(source, base).ok()?;
    Some(&Catalogue::get().ok()?.find(tag)?.script.as_ref()?.hello)
}

fn absolute(base: &Path) -> PathBuf {
    let here = if base.as_os_str().is_empty() { Path::new(".") } else { base };
    std::path::absolute(here).unwrap_or_else(|_| here.to_path_buf())
}

/// The folder in which the descriptions of programs are kept.
static CACHE: OnceLock<PathBuf> = OnceLock::new();

/// Keeps the answers of programs in this folder from now on, by the content of their files.
pub fn keep_answers_in(folder: PathBuf) {
    // The first call counts, as long as the process lives.
    let _ = CACHE.set(folder);
}

thread_local! {
    /// The number of [`Still`] values that this thread holds.
    static STILL: Cell<usize> = const { Cell::new(0) };
}

/// While a value of this type lives, its thread starts no program to get its description.
#[derive(Debug)]
pub struct Still(PhantomData<*const ()>);

impl Still {
    /// Starts no program from now on.
    pub fn start() -> Self {
        STILL.set(STILL.get() + 1);
        Still(PhantomData)
    }
}

impl Drop for Still {
    fn drop(&mut self) {
        STILL.set(STILL.get() - 1);
    }
}

/// The answer of a program to `describe`. If no program may be started, it is taken from the cache.
fn answer(command: &[String], base: &Path, digests: &Files) -> Result<Value> {
    let content = json!([command, digests]).to_string();
    let name = format!("{}.json", blake3::hash(content.as_bytes()).to_hex());
    let file = CACHE.get().map(|folder| folder.join(name));
    if STILL.get() == 0 && running::may_start() {
        let answer = asked(command, base, PATIENCE)?;
        if let Some(file) = file {
            // If the answer is not kept, commands that start nothing report that the program is unknown.
            let _ = keep(&file, &answer);
        }
        return Ok(answer);
    }
    let kept = file.and_then(|file| std::fs::read(file).ok());
    kept.and_then(|text| serde_json::from_slice(&text).ok()).ok_or_else(|| {
        Error::Usage(format!(
            "`{}` has not been started here since it was last changed, so its name and options are unknown. Add \
             --trust to start it now",
            command.join(" ")
        ))
    })
}

fn keep(file: &Path, answer: &Value) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new(""));
    std::fs::create_dir_all(folder)?;
    let mut whole = tempfile::NamedTempFile::new_in(folder)?;
    whole.write_all(answer.to_string().as_bytes())?;
    whole.persist(file)?;
    Ok(())
}

fn start(source: &Source, base: &Path) -> Result<&'static str> {
    static KNOWN: Mutex<BTreeMap<Program, Described>> = Mutex::new(BTreeMap::new());
    let base = base.to_path_buf();
    let command = command(source, &base)?;
    let digests = programs::code(&command, &base);
    let mut known = KNOWN.lock().unwrap_or_else(|e| e.into_inner());
    let key = (command, base);
    if let Some((as_it_was, tag)) = known.get(&key)
        && *as_it_was == digests
    {
        return Ok(tag);
    }
    let descriptor = described(&key.0, &key.1, &answer(&key.0, &key.1, &digests)?)?;
    let tag = descriptor.tag;
    Catalogue::add(descriptor)?;
    known.insert(key, (digests, tag));
    Ok(tag)
}

fn command(source: &Source, base: &Path) -> Result<Vec<String>> {
    let file = match source {
        Source::Command(words) => return Ok(words.clone()),
        Source::File(file) => file,
    };
    let path = base.join(file);
    if !path.is_file() {
        let entries = path.parent().and_then(|p| std::fs::read_dir(p).ok());
        let near: Vec<String> = entries
            .into_iter()
            .flatten()
            .flatten()
            .map(|e| e.file_name().to_string_lossy().into_owned())
            .collect();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let near = suggestion(&name, near.iter().map(String::as_str));
        return Err(Error::Usage(format!("no file {}{near}", path.display())));
    }
    let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
    let interpreter = INTERPRETERS.iter().find(|(e, _)| *e == ending).map(|(_, program)| {
        let python = std::env::var("MUSTLINK_PYTHON").ok().filter(|_| ending == "py");
        let python = python.map(|program| from_here(program, base));
        python.unwrap_or_else(|| program.to_string())
    });
    let own = match Path::new(file).components().count() {
        1 => format!("./{file}"),
        _ => file.clone(),
    };
    Ok(match interpreter {
        Some(program) => vec![program, file.clone()],
        None => vec![own],
    })
}

/// A program that the environment names: its path starts in the working directory, unless it is one below `base`.
fn from_here(program: String, base: &Path) -> String {
    let path = Path::new(&program);
    if path.components().count() < 2 || base.join(path).is_file() {
        return program;
    }
    std::path::absolute(path).map_or(program.clone(), |path| path.display().to_string())
}

/// Checks that a program starts and greets with this protocol within `seconds`.
///
/// # Errors
/// A description of the fault.
pub fn greets(command: &[String], protocol: &str, seconds: f64) -> Result<()> {
    let greeted = Child::spawn(command, seconds, Path::new("")).and_then(|mut child| {
        child.hello(protocol, json!({ "n": 1, "d": 1 }), &Context::new(0))?;
        child.bye("greeted");
        Ok(())
    });
    greeted.map_err(|e| Error::Usage(e.to_string()))
}

/// Description that a program gives of itself within `seconds`; relative paths start at `base`.
///
/// # Errors
/// A program that does not start or does not describe itself.
pub fn describe(command: &[String], base: &Path, seconds: f64) -> Result<Descriptor> {
    described(command, base, &asked(command, base, seconds)?)
}

/// The hello of a program that is asked to describe itself, whatever its content.
///
/// # Errors
/// A program that does not start or does not greet.
pub fn asked(command: &[String], base: &Path, seconds: f64) -> Result<Value> {
    let ctx = Context::new(0);
    let mut child =
        Child::spawn(command, seconds, base).map_err(|e| Error::Usage(e.to_string()))?;
    let reply = child.hello("describe", Value::Null, &ctx);
    let reply = reply.map_err(|e| Error::Usage(e.to_string()))?;
    child.bye("described");
    Ok(reply)
}

/// The plugin that `reply`, a program's hello, describes.
///
/// # Errors
/// Describes the invalid part.
pub fn described(command: &[String], base: &Path, reply: &Value) -> Result<Descriptor> {
    let shown = command.join(" ");
    let wrong = |message: String| Error::Usage(format!("`{shown}`: {message}"));
    let text = |key: &str| reply[key].as_str().map(str::to_string);
    let name = text("name").ok_or_else(|| wrong("its hello has no \"name\"".into()))?;
    if !is_snake(&name) {
        let legal = "its name must be snake_case for use in configurations, such as my_method";
        return Err(wrong(format!("{legal}, got \"{name}\"")));
    }
    let role = match (&reply["role"], text("role").as_deref()) {
        (Value::Null, _) | (_, Some("clusterer")) => Role::BaseClusterer,
        (_, Some("selector")) => Role::QuerySelector,
        (other, _) => {
            return Err(wrong(format!("its role must be clusterer or selector, got {other}")));
        }
    };
    let options = options(&reply["options"]).map_err(wrong)?;
    let facts = match &reply["properties"] {
        Value::Null => Map::new(),
        Value::Object(map) => map.clone(),
        other => return Err(wrong(format!("its properties must be a table, got {other}"))),
    };
    // The limit is an option of every such plugin.
    let own = ["command", "name", "options", "timeout_seconds", "type"];
    if let Some(own) = own.iter().find(|k| facts.contains_key(**k)) {
        return Err(wrong(format!("{own} is not a property")));
    }
    let mut whole = Value::Object(facts.clone());
    whole["type"] = format!("external_{}", role.key()).into();
    whole["command"] = json!(command);
    let properties = match role {
        Role::QuerySelector => <dyn QuerySelector>::from_value(whole)
            .map(|plugin| serde_json::to_value(plugin.properties())),
        _ => <dyn BaseClusterer>::from_value(whole)
            .map(|plugin| serde_json::to_value(plugin.properties())),
    };
    let properties = properties.map_err(|e| wrong(format!("its properties: {e}")))?;
    let keys = reply["references"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let references: Vec<&'static str> = keys.map(leak).collect();
    let summary = text("summary").unwrap_or_else(|| "A plugin in another language.".into());
    let description = format!("{summary}\n\nA program: `{shown}`.");
    let schema = json!({
        "title": name, "description": description, "type": "object", "additionalProperties": false,
        "properties": options,
    });
    let described: Vec<Opt> = options.iter().map(|(name, o)| from_schema(name, o)).collect();
    let kind = Kind::Table(Table {
        id: leak(&name),
        name: leak(&name),
        doc: leak(&description),
        closed: true,
        ordered: false,
        default: None,
        options: described.leak(),
    });
    let default = options.iter().filter_map(|(k, o)| Some((k.clone(), o.get("default")?.clone())));
    let file = command.iter().rev().find(|word| base.join(word).is_file()).unwrap_or(&command[0]);
    Ok(Descriptor {
        role,
        tag: leak(&name),
        aliases: &[],
        type_name: leak(&name),
        references: references.leak(),
        cited_if: &[],
        version: 1,
        waivers: &[],
        sources: || "",
        file: leak(&base.join(file).display().to_string()),
        line: 1,
        package: "a program",
        kind: Box::leak(Box::new(kind)),
        default: || Value::Null,
        properties: || Value::Null,
        script: Some(Script {
            command: command.to_vec(),
            base: base.to_path_buf(),
            schema: Box::leak(Box::new(schema)),
            default: Value::Object(default.collect()),
            properties: properties.unwrap_or_default(),
            facts,
            hello: reply.clone(),
        }),
    })
}

fn leak(text: &str) -> &'static str {
    text.to_string().leak()
}

fn is_snake(name: &str) -> bool {
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(legal)
}

/// The schema of each option: a JSON Schema of a plain value or a list, with its default.
fn options(declared: &Value) -> std::result::Result<Map<String, Value>, String> {
    let mut options = match declared {
        Value::Null => Map::new(),
        Value::Object(map) => map.clone(),
        other => return Err(format!("its options must be a table by name, got {other}")),
    };
    const TYPES: [&str; 5] = ["integer", "number", "string", "boolean", "array"];
    for (name, option) in &options {
        if TAKEN.contains(&name.as_str()) || !is_snake(name) {
            let legal = "must be snake_case, and not type or timeout_seconds";
            return Err(format!("the name of its option \"{name}\" {legal}"));
        }
        if !option["type"].as_str().is_some_and(|t| TYPES.contains(&t)) {
            let legal = TYPES.join(", ");
            return Err(format!("its option {name} needs a type, one of {legal}; got {option}"));
        }
        // Null: absent, where nobody gives one.
        let Some(default) = option.get("default") else {
            return Err(format!("its option {name} needs a default"));
        };
        if let Some(wrong) = mustlink_config::complaints(default, from_schema(name, option)).first()
            && !default.is_null()
        {
            let place = if wrong.path.is_empty() { "" } else { " " };
            let (path, message) = (&wrong.path, &wrong.message);
            return Err(format!("the default of its option {name}{place}{path} {message}"));
        }
    }
    let timeout = json!({
        "type": "number", "default": 0.0, "minimum": 0.0,
        "description": "Seconds for each reply; 0: as long as it takes.",
    });
    options.insert("timeout_seconds".into(), timeout);
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_the_environment_starts_in_the_working_directory() {
        let base = Path::new("no/such/folder");
        assert_eq!(from_here("python3.12".into(), base), "python3.12");
        let here = std::path::absolute("venv/bin/python").unwrap();
        assert_eq!(from_here("venv/bin/python".into(), base), here.display().to_string());
    }
}
