//! The start of a plugin: a crate around a copy of a small plugin, or one file in a
//! checkout.

use std::path::{Path, PathBuf};

use mustlink::registry::Catalogue;
use mustlink_experiments::{io, write_whole};

use super::checkout::Source;
use super::templates::{Template, type_name};
use crate::failure::Failure;
use crate::term;

/// Write a crate with one plugin, its laws and a program; or one file in a checkout
#[derive(Debug, clap::Args)]
#[command(before_help = "Examples:
  mustlink plugin new my_method --role clusterer
  mustlink plugin new my_score --role metric --in-tree")]
pub(crate) struct New {
    /// Name of the plugin in configs, in snake_case
    name: String,
    /// Role of the plugin
    #[arg(long, value_enum)]
    role: Template,
    /// Folder to write [default: the name]
    ///
    /// If it contains a crate that this command wrote, the plugin is added to that crate.
    #[arg(long, value_name = "DIR", conflicts_with = "in_tree")]
    dir: Option<PathBuf>,
    /// A checkout of mustlink [default: see --help]
    ///
    /// The default is the checkout around the working directory, otherwise the one that this program was
    /// built from.
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
    /// Write only the file of the plugin, in the checkout
    ///
    /// The checkout is the one that contains the working directory, or --path.
    #[arg(long)]
    in_tree: bool,
}

pub(crate) fn run(new: &New) -> Result<u8, Failure> {
    check_name(&new.name)?;
    check_type(&new.name, new.role)?;
    if new.in_tree {
        return in_tree(new, &Source::around(new.path.as_deref())?);
    }
    if let Some(dir) = new.dir.as_deref().filter(|dir| is_begun(dir)) {
        return in_crate(new, dir);
    }
    let source = Source::find(new.path.as_deref())?;
    let dir = new.dir.clone().unwrap_or_else(|| PathBuf::from(&new.name));
    if dir.exists() {
        return Err(Failure::usage(format!("--dir: {} already exists", dir.display())));
    }
    let files = files(&new.name, new.role, &source)?;
    let written = files.iter().try_for_each(|(name, text)| write(&dir.join(name), text));
    if written.is_err() {
        // Half a crate would refuse the same command.
        let _ = std::fs::remove_dir_all(&dir);
    }
    written?;
    term::tell(&format!(
        "in {}: cargo test --features program tries the laws; cargo run --features program -- describe {} \
         shows the plugin and shares the build. For the laws alone, leave out the feature",
        dir.display(),
        new.name
    ));
    Ok(0)
}

/// True if the folder contains a crate of plugins.
fn is_begun(dir: &Path) -> bool {
    ["src/lib.rs", "tests/laws.rs"].iter().all(|file| dir.join(file).is_file())
}

/// One more plugin in a crate that was begun earlier: its file, and a line in `lib.rs`.
fn in_crate(new: &New, dir: &Path) -> Result<u8, Failure> {
    let path = dir.join(format!("src/{}.rs", new.name));
    if path.exists() {
        return Err(Failure::usage(format!("NAME: {} already exists", path.display())));
    }
    let library = dir.join("src/lib.rs");
    let text = std::fs::read_to_string(&library).map_err(io(&library))?;
    let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    write(&path, &new.role.text(&new.name))?;
    write(&library, &format!("{text}{newline}pub mod {};\n", new.name))?;
    term::tell(&format!("in {}: cargo test -- /{}/ tries the laws", dir.display(), new.name));
    Ok(0)
}

/// One file in a checkout; no list is edited.
fn in_tree(new: &New, checkout: &Path) -> Result<u8, Failure> {
    let place = format!("{}/src/{}.rs", new.role.room(), new.name);
    let path = checkout.join(&place);
    if path.exists() {
        return Err(Failure::usage(format!("NAME: {} already exists", path.display())));
    }
    write(&path, &new.role.text_in_tree(&new.name))?;
    term::tell(&format!(
        "in {}: cargo quick {name} tries the laws; cargo run --release -- describe \
         {name} shows the plugin, cargo run -p mustlink-authors -- pages writes its page",
        checkout.display(),
        name = new.name
    ));
    Ok(0)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    folder.map_err(io(path))?;
    write_whole(path, ".part", text.as_bytes())?;
    term::print_data(&path.display().to_string())
}

/// Words of Rust, also those that it keeps for later, and names of crates and targets that are there.
const TAKEN: &str = "abstract alloc as async await become box break const continue core crate do dyn else enum \
                     extern false final fn for gen if impl in let lib loop macro main match mod move mustlink \
                     mustlink_cli mut override priv proc_macro pub ref return self serde static std struct \
                     super test trait true try type typeof union unsafe unsized use virtual where while yield";

/// Refuses a plugin whose type would hide a type that its own text uses.
fn check_type(name: &str, role: Template) -> Result<(), Failure> {
    let own = type_name(name);
    let (_, replaced, text) = role.plugin();
    let mut code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let names_it =
        |line: &str| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == own);
    if own != replaced && code.any(names_it) {
        let message =
            format!("NAME: its type would be {own}, which the library has; choose another");
        return Err(Failure::usage(message));
    }
    Ok(())
}

fn check_name(name: &str) -> Result<(), Failure> {
    let snake = name.starts_with(|c: char| c.is_ascii_lowercase())
        && !name.ends_with('_')
        && !name.contains("__")
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !snake || TAKEN.split_whitespace().any(|taken| taken == name) {
        let legal = "must be snake_case, such as my_method, and not a keyword of Rust";
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

/// Everything a crate consists of: path and text.
fn files(name: &str, role: Template, source: &Source) -> Result<Vec<(String, String)>, Failure> {
    let from = |sub: &str| match source {
        Source::Checkout(path) => {
            let path = toml::Value::String(path.join(sub).display().to_string());
            format!("path = {path}")
        }
        Source::Published => format!("version = \"{}\"", env!("CARGO_PKG_VERSION")),
    };
    let manifest = include_str!("../../../templates/plugin.toml")
        .replace("$name", name)
        .replace("$library", &from(""))
        .replace("$program", &from("cli"))
        .replace("$profiles", &profiles());
    let library = format!("//! A plugin of mustlink.\n\npub mod {name};\n");
    let of_crate = |template: &str| template.replace("outside_plugin", name);
    let program = of_crate(include_str!("../../../templates/program.rs"));
    let laws = of_crate(include_str!("../../../templates/laws.rs"));
    let mut files: Vec<(String, String)> = vec![
        ("Cargo.toml".into(), manifest),
        ("src/lib.rs".into(), library),
        ("src/main.rs".into(), program),
        (format!("src/{name}.rs"), role.text(name)),
        ("tests/laws.rs".into(), laws),
        (".gitignore".into(), "/target\n".into()),
    ];
    if let Source::Checkout(path) = source {
        // The versions that mustlink is tested with; Cargo drops what the crate does not need.
        let lock = path.join("Cargo.lock");
        let text = std::fs::read_to_string(&lock).map_err(io(&lock))?;
        files.push(("Cargo.lock".into(), text));
    }
    Ok(files)
}

/// How mustlink itself is built while it is worked on: arithmetic that is not optimised would make the
/// laws take minutes.
fn profiles() -> String {
    let whole = include_str!("../../../templates/workspace.toml");
    let whole: toml::Table = whole.parse().expect("a manifest");
    let mut dev = whole["profile"]["dev"].clone();
    // The crate that is begun computes, too.
    dev.as_table_mut().expect("a table").insert("opt-level".into(), 1.into());
    let dev = toml::Table::from_iter([("dev".into(), dev)]);
    toml::Table::from_iter([("profile".into(), toml::Value::Table(dev))]).to_string()
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn names_are_those_of_modules() {
        for wrong in
            ["", "My", "my-method", "_a", "a_", "a__b", "2a", "é", "type", "async", "gen", "std"]
        {
            assert!(check_name(wrong).is_err(), "{wrong}");
        }
        assert!(check_name("my_method").is_ok());
        assert!(check_name("kmeans").is_err());
        for role in Template::value_variants() {
            assert!(check_type("my_method", *role).is_ok());
            assert!(check_type("result", *role).is_err());
        }
    }

    #[test]
    fn a_crate_names_its_plugin_everywhere() {
        for role in Template::value_variants() {
            let all = files("my_method", *role, &Source::Published).expect("files");
            let manifest: toml::Value = toml::from_str(&all[0].1).expect("TOML");
            assert_eq!(manifest["package"]["name"].as_str(), Some("my_method"));
            let version = manifest["dependencies"]["mustlink"]["version"].as_str();
            assert_eq!(version, Some(env!("CARGO_PKG_VERSION")));
            assert_eq!(manifest["profile"]["dev"]["opt-level"].as_integer(), Some(1));
            assert!(all.iter().all(|(path, _)| path != "Cargo.lock"));
        }
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let all = files("my_method", Template::Metric, &Source::Checkout(here.clone()));
        let all = all.expect("files");
        let manifest: toml::Value = toml::from_str(&all[0].1).expect("TOML");
        let path = manifest["dependencies"]["mustlink-cli"]["path"].as_str().map(Path::new);
        assert_eq!(path, Some(&*here.join("cli")));
        assert!(all.iter().any(|(path, text)| path == "Cargo.lock" && text.contains("serde")));
    }
}
