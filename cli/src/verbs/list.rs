//! The command `list`: plugins and data sets.

use std::io::IsTerminal;

use clap_complete::ArgValueCompleter;
use mustlink::Error;
use mustlink::registry::{Catalogue, Descriptor, Role, suggestion};
use serde::Serialize;

use crate::complete;
use crate::failure::Failure;
use crate::options::{DataDir, Listing};
use crate::term;

/// List plugins by role, or the named data sets
#[derive(Debug, clap::Args)]
#[command(before_help = "Example: mustlink list query-selectors")]
pub(crate) struct Args {
    /// A role, or "datasets" [default: all roles]
    ///
    /// On a terminal, all roles are listed by name only.
    /// Roles: base-clusterers, ensemble-generators, consensus-functions, constraint-propagators,
    /// query-selectors, oracles, metrics, transforms.
    #[arg(value_name = "ROLE", add = ArgValueCompleter::new(complete::listed))]
    what: Option<String>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Listing::Table)]
    format: Listing,
    #[command(flatten)]
    data: DataDir,
}

/// A plugin in a listing.
#[derive(Debug, Serialize)]
struct Plugin {
    name: &'static str,
    role: &'static str,
    summary: String,
    references: &'static [&'static str],
    package: &'static str,
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let role = match args.what.as_deref().map(asked).transpose()? {
        Some(None) => return datasets(args),
        role => role.flatten(),
    };
    let all = Catalogue::get()?.all().iter().filter(|d| role.is_none_or(|r| d.role == r));
    let plugin = |d: &&'static Descriptor| Plugin {
        name: d.tag,
        role: d.role.name(),
        summary: d.summary(),
        references: d.references,
        package: d.package,
    };
    let plugins: Vec<Plugin> = all.map(plugin).collect();
    match args.format {
        Listing::Json => term::print_json(&plugins)?,
        // Descriptions of all plugins take several screens.
        Listing::Table if args.what.is_none() && std::io::stdout().is_terminal() => {
            let names = |of_role: &[Plugin]| {
                let names: Vec<&str> = of_role.iter().map(|p| p.name).collect();
                (of_role[0].role, names.join(", "))
            };
            let roles = plugins.chunk_by(|a, b| a.role == b.role).map(names).collect();
            let next = Some("mustlink list base-clusterers".into());
            term::print_styled(&term::summary(&[roles], next))?;
        }
        Listing::Table => {
            let mut table = term::table(&["name", "what it is"]);
            for (at, p) in plugins.iter().enumerate() {
                if at == 0 || plugins[at - 1].role != p.role {
                    table.add_row([format!("{}s", p.role)]);
                }
                table.add_row([&format!("  {}", p.name), &p.summary]);
            }
            term::print(&table.trim_fmt())?;
        }
    }
    Ok(0)
}

fn datasets(args: &Args) -> Result<u8, Failure> {
    let listings = mustlink_datasets::available(&args.data.open_options())?;
    match args.format {
        Listing::Json => term::print_json(&listings)?,
        Listing::Table => {
            let mut table =
                term::table(&["name", "objects", "features", "classes", "kind", "notes"]);
            let number = |n: Option<usize>| n.map(|n| n.to_string()).unwrap_or_default();
            for l in &listings {
                let (n, d, k) = (number(l.n), number(l.d), number(l.k));
                table.add_row([&l.name, &n, &d, &k, &l.kind, &l.notes]);
            }
            term::print(&table.trim_fmt())?;
        }
    }
    Ok(0)
}

/// The role that a word of the command line means: a folder, a role in prose, or a config key; `None` for data sets.
fn asked(word: &str) -> mustlink::Result<Option<Role>> {
    let flat = |s: &str| s.to_lowercase().replace(['-', '_', ' '], "");
    let names = |role: Role| [role.plural(), role.name().to_string(), role.key().to_string()];
    let word_flat = flat(word);
    let role = Role::ALL.into_iter().find(|&role| {
        names(role).iter().any(|n| flat(n) == word_flat || flat(n) + "s" == word_flat)
    });
    if role.is_some() || ["dataset", "datasets", "data"].contains(&word_flat.as_str()) {
        return Ok(role);
    }
    let mut plurals: Vec<String> = Role::ALL.into_iter().map(Role::plural).collect();
    plurals.push("datasets".into());
    let all: Vec<String> =
        Role::ALL.into_iter().flat_map(names).chain(["datasets".to_string()]).collect();
    let near = suggestion(word, all.iter().map(String::as_str));
    Err(Error::Usage(format!("no role \"{word}\"; accepted: {}{near}", plurals.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_by_every_name() {
        for word in
            ["base-clusterers", "base_clusterer", "clusterer", "clusterers", "Base Clusterer"]
        {
            assert_eq!(asked(word), Ok(Some(Role::BaseClusterer)), "{word}");
        }
        assert_eq!(asked("metrics"), Ok(Some(Role::Metric)));
        assert_eq!(asked("metric"), Ok(Some(Role::Metric)));
        assert_eq!(asked("datasets"), Ok(None));
        let refused = asked("selektors").unwrap_err().to_string();
        assert!(refused.contains("did you mean \"selector\"?"), "{refused}");
    }
}
