//! Does a plugin of one's own keep the laws, and how is one begun?

use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueEnum};
use mustlink::Error;
use mustlink::config::{self, Document, Node};
use mustlink::contract::{Lawful, laws_for, shrink};
use mustlink::prelude::{BaseClusterer, JsonSchema, QuerySelector};
use mustlink::registry::Catalogue;
use mustlink::scripts;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::failure::Failure;
use crate::term;

/// Test a plugin in another language, or begin a crate with a plugin of your own
#[derive(Debug, clap::Args)]
#[command(before_help = "Example: mustlink plugin test -- python3 my_method.py")]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Test(Test),
    New(New),
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    match &args.what {
        What::Test(test) => match test.role {
            External::Clusterer => try_laws::<dyn BaseClusterer>(test),
            External::Selector => try_laws::<dyn QuerySelector>(test),
        },
        What::New(new) => begin(new),
    }
}

/// Try the laws of a role on a command; exit status 4 when it breaks one
///
/// A broken law is shown on the smallest problem found that still breaks it.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Example: mustlink plugin test --set reads_constraints=true -- python3 my_method.py"
)]
struct Test {
    /// What the command is
    #[arg(long, value_enum, default_value_t = External::Clusterer)]
    role: External,
    /// Seconds for each reply
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = seconds)]
    timeout: f64,
    /// An option of external_clusterer or external_selector, such as hard_must=true or options.step=3
    #[arg(long = "set", value_name = "OPTION=VALUE")]
    sets: Vec<String>,
    /// The program and its arguments
    #[arg(
        value_name = "CMD",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    command: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum External {
    Clusterer,
    Selector,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(s) if s > 0.0 && s < 1e9 => Ok(s),
        _ => Err(format!("must be a number of seconds above 0, got {text}")),
    }
}

fn try_laws<R: Lawful + ?Sized>(test: &Test) -> Result<u8, Failure>
where
    Box<R>: DeserializeOwned + JsonSchema,
{
    let tag = format!("external_{}", R::ROLE.key());
    let mut document = Document::parse("the command", "")?;
    for (option, value) in [
        ("type", json!(tag)),
        ("command", json!(test.command)),
        ("timeout_seconds", json!(test.timeout)),
    ] {
        document.root_mut().insert(option, Node::synthetic(&value));
    }
    // Its properties and the defaults of its options, if it describes itself.
    let described = scripts::describe(&test.command, Path::new(""), test.timeout).ok();
    if let Some(script) = described.filter(|d| d.role == R::ROLE).and_then(|d| d.script) {
        for (fact, value) in &script.facts {
            document.root_mut().insert(fact, Node::synthetic(value));
        }
        document.root_mut().insert("options", Node::synthetic(&script.default));
        document.root_mut().get_mut("options").map(|options| options.remove("timeout_seconds"));
    }
    for set in &test.sets {
        document.set(set)?;
    }
    let plugin: Box<R> = config::build(document.root(), "")?;
    let mut broken = 0;
    let laws = laws_for(&*plugin);
    for law in &laws {
        let Some(small) = shrink(law, &*plugin) else {
            term::print(&format!("kept    {}", law.name))?;
            continue;
        };
        broken += 1;
        term::print(&format!("broken  {}: {small}", law.name))?;
        if law.name == "ends_in_time" {
            term::tell("the other laws are not tried before this one is kept");
            break;
        }
    }
    match broken {
        0 => term::tell(&format!("all {} laws are kept", laws.len())),
        _ => term::tell(&format!("{broken} of {} laws are broken", laws.len())),
    }
    Ok(if broken == 0 { 0 } else { 4 })
}

/// Write a crate with one plugin, its laws, and a program that knows it
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Example: mustlink plugin new my_method --role clusterer --path ../mustlink"
)]
struct New {
    /// Name of the plugin in configs, in snake_case
    name: String,
    /// What the plugin is
    #[arg(long, value_enum)]
    role: Template,
    /// Folder to write; default: the name
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// A checkout of mustlink to depend on; default: the published version of this program
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Template {
    Clusterer,
    Selector,
    Metric,
}

impl Template {
    /// Tag, type and text of the plugin that is copied.
    fn plugin(self) -> (&'static str, &'static str, &'static str) {
        macro_rules! outside {
            ($tag:literal) => {
                include_str!(concat!("../../../tests/outside-plugin/src/", $tag, ".rs"))
            };
        }
        match self {
            Template::Clusterer => ("stripes", "Stripes", outside!("stripes")),
            Template::Selector => ("chain", "Chain", outside!("chain")),
            Template::Metric => ("largest_share", "LargestShare", outside!("largest_share")),
        }
    }
}

fn begin(new: &New) -> Result<u8, Failure> {
    check_name(&new.name)?;
    let dir = new.dir.clone().unwrap_or_else(|| PathBuf::from(new.name.replace('_', "-")));
    if dir.exists() {
        return Err(Failure::usage(format!("--dir: {} is there already", dir.display())));
    }
    let checkout = match &new.path {
        None => None,
        Some(path) => Some(checkout(path)?),
    };
    for (name, text) in files(&new.name, new.role, checkout.as_deref()) {
        let path = dir.join(&name);
        let written = match path.parent() {
            Some(parent) => std::fs::create_dir_all(parent),
            None => Ok(()),
        };
        written.and_then(|()| std::fs::write(&path, text)).map_err(|e| Error::Data {
            place: path.display().to_string(),
            message: e.to_string(),
        })?;
        term::print(&path.display().to_string())?;
    }
    term::tell(&format!(
        "in {}: cargo test tries the laws, cargo run -- describe {} shows the plugin",
        dir.display(),
        new.name
    ));
    Ok(0)
}

fn check_name(name: &str) -> Result<(), Failure> {
    let snake = name.starts_with(|c: char| c.is_ascii_lowercase())
        && !name.ends_with('_')
        && !name.contains("__")
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    const TAKEN: [&str; 14] = [
        "as", "crate", "enum", "fn", "impl", "lib", "main", "mod", "mustlink", "serde", "struct",
        "test", "trait", "type",
    ];
    if !snake || TAKEN.contains(&name) {
        let legal = "must be snake_case, such as my_method, and no word of Rust";
        return Err(Failure::usage(format!("NAME: {legal}, got \"{name}\"")));
    }
    match Catalogue::get()?.find(name) {
        Some(d) => Err(Failure::usage(format!(
            "NAME: \"{name}\" is a {} of {}; tags are unique, choose another",
            d.role.name(),
            d.package
        ))),
        None => Ok(()),
    }
}

/// The absolute path of a checkout.
fn checkout(path: &Path) -> Result<PathBuf, Failure> {
    let wrong = |why: &str| {
        Failure::usage(format!("--path: must be a checkout of mustlink, {} {why}", path.display()))
    };
    let found = path.canonicalize().map_err(|_| wrong("is not there"))?;
    match found.join("cli/Cargo.toml").is_file() && found.join("src/lib.rs").is_file() {
        true => Ok(found),
        false => Err(wrong("holds no cli/Cargo.toml")),
    }
}

fn type_name(name: &str) -> String {
    let capital = |word: &str| {
        let (first, rest) = word.split_at(1);
        first.to_uppercase() + rest
    };
    name.split('_').map(capital).collect()
}

/// Everything a crate consists of: path and text.
fn files(name: &str, role: Template, checkout: Option<&Path>) -> Vec<(String, String)> {
    let (tag, type_of, text) = role.plugin();
    let plugin = text.replace(tag, name).replace(type_of, &type_name(name));
    let package = name.replace('_', "-");
    let source = |sub: &str| match checkout {
        Some(path) => {
            let path = toml::Value::String(path.join(sub).display().to_string());
            format!("path = {path}")
        }
        None => format!("version = \"{}\"", env!("CARGO_PKG_VERSION")),
    };
    let (library, program) = (source(""), source("cli"));
    let manifest = format!(
        "[package]
name = \"{package}\"
version = \"0.1.0\"
edition = \"2024\"

[dependencies]
mustlink = {{ {library} }}
# For src/main.rs alone.
mustlink-cli = {{ {program} }}

[dev-dependencies]
mustlink = {{ {library}, features = [\"contract\"] }}

[[test]]
name = \"laws\"
harness = false

# Part of no other workspace.
[workspace]
"
    );
    let library = format!("//! A plugin of mustlink.\n\npub mod {name};\n");
    let program = format!(
        "//! The program `mustlink` with the plugin of this crate.

use {name} as _;

fn main() -> std::process::ExitCode {{
    mustlink_cli::main()
}}
"
    );
    let laws = format!(
        "//! The laws of the plugin of this crate.

use {name} as _;

fn main() {{
    mustlink::contract::main_of(env!(\"CARGO_PKG_NAME\"));
}}
"
    );
    vec![
        ("Cargo.toml".into(), manifest),
        ("src/lib.rs".into(), library),
        ("src/main.rs".into(), program),
        (format!("src/{name}.rs"), plugin),
        ("tests/laws.rs".into(), laws),
        (".gitignore".into(), "/target\n".into()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_types() {
        assert_eq!(type_name("my_method2"), "MyMethod2");
        for wrong in ["", "My", "my-method", "_a", "a_", "a__b", "2a", "é", "type"] {
            assert!(check_name(wrong).is_err(), "{wrong}");
        }
        assert!(check_name("my_method").is_ok());
        assert!(check_name("kmeans").is_err());
    }

    #[test]
    fn a_crate_names_its_plugin_everywhere() {
        for role in Template::value_variants() {
            let (tag, type_of, _) = role.plugin();
            for (path, text) in files("my_method", *role, None) {
                assert!(!text.contains(tag) && !text.contains(type_of), "{path}: {text}");
            }
            let all = files("my_method", *role, Some(Path::new("/a \"b\"")));
            let manifest: toml::Value = toml::from_str(&all[0].1).expect("TOML");
            assert_eq!(manifest["package"]["name"].as_str(), Some("my-method"));
            let path = manifest["dependencies"]["mustlink-cli"]["path"].as_str();
            assert_eq!(path, Some("/a \"b\"/cli"));
            assert!(all[3].1.contains("#[plugin(\"my_method\")]\nimpl "), "{}", all[3].1);
            assert!(all[3].1.contains(" for MyMethod {"), "{}", all[3].1);
        }
    }
}
