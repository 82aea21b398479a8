//! Tests of a program in another language against the laws of its role.

use std::path::Path;

use clap::ValueEnum;
use mustlink::Error;
use mustlink::config::{self, Document, Node};
use mustlink::contract::{Lawful, laws_for, shrink};
use mustlink::prelude::{BaseClusterer, Described, QuerySelector};
use mustlink::registry::{Descriptor, Role};
use mustlink::scripts;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::failure::Failure;
use crate::options::seconds;
use crate::term;

/// Run the laws of a role on a command; exit status 4 if one fails
///
/// A broken law is shown on the smallest problem found that still breaks it.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Example: mustlink plugin test --set reads_constraints=true -- python3 my.py"
)]
pub(crate) struct Test {
    /// Role of the command [default: what it reports, otherwise clusterer]
    #[arg(long, value_enum)]
    role: Option<External>,
    /// Seconds for each reply
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = seconds)]
    timeout: f64,
    /// An option of external_clusterer or external_selector, such as hard_must=true
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

pub(crate) fn run(test: &Test) -> Result<u8, Failure> {
    let described = described(test)?;
    let says = match described.as_ref().map(|d| d.role) {
        Some(Role::QuerySelector) => External::Selector,
        _ => External::Clusterer,
    };
    match test.role.unwrap_or(says) {
        External::Clusterer => try_laws::<dyn BaseClusterer>(test, described),
        External::Selector => try_laws::<dyn QuerySelector>(test, described),
    }
}

/// The description that the program gives of itself; absent if it only greets, under whatever name.
fn described(test: &Test) -> Result<Option<Descriptor>, Failure> {
    let base = Path::new("");
    let Ok(hello) = scripts::asked(&test.command, base, test.timeout) else { return Ok(None) };
    match scripts::described(&test.command, base, &hello) {
        Ok(descriptor) => Ok(Some(descriptor)),
        // It could not be named under `plugins`, and what it promises would not be tried.
        Err(e) if ["role", "options", "properties"].iter().any(|key| !hello[*key].is_null()) => {
            Err(e.into())
        }
        Err(_) => Ok(None),
    }
}

fn try_laws<R: Lawful + ?Sized>(test: &Test, described: Option<Descriptor>) -> Result<u8, Failure>
where
    Box<R>: DeserializeOwned + Described,
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
    let script = described.filter(|d| d.role == R::ROLE);
    let script = script.and_then(|d| Some((d.script?, d.kind)));
    if let Some((script, _)) = &script {
        for (fact, value) in &script.facts {
            document.root_mut().insert(fact, Node::synthetic(value));
        }
        document.root_mut().insert("options", Node::synthetic(&script.default));
        document.root_mut().get_mut("options").map(|options| options.remove("timeout_seconds"));
    }
    for set in &test.sets {
        document.set(set)?;
    }
    if let Some((_, kind)) = script
        && let Some(options) = document.root().get("options").map(Node::to_value)
    {
        // Null is an absent option.
        let options = config::without_null(&options);
        let mut wrong = config::complaints(&options, kind);
        wrong.iter_mut().for_each(|d| d.path = format!("--set options.{}", d.path));
        if !wrong.is_empty() {
            return Err(Error::Config(wrong).into());
        }
    }
    let plugin: Box<R> = config::build(document.root(), "")?;
    // What does not greet breaks every law, on every problem.
    scripts::greets(&test.command, R::ROLE.key(), test.timeout)?;
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
            term::tell("the other laws run only after this one passes");
            break;
        }
    }
    if broken == 0 {
        term::tell(&format!("all {} laws pass", laws.len()));
        return Ok(0);
    }
    term::tell(&format!("{broken} of {} laws fail", laws.len()));
    Ok(4)
}
