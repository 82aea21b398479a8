//! The command `schema`: JSON Schemas with which an editor checks files.

use clap_complete::ArgValueCompleter;
use mustlink::registry::{Catalogue, suggestion};

use crate::failure::Failure;
use crate::{complete, schema, term};

/// Print the JSON Schema of experiment files, method files or a plugin
#[derive(Debug, clap::Args)]
#[command(before_help = "Example: mustlink schema experiment > mustlink.schema.json")]
pub(crate) struct Args {
    /// "experiment", "method", or the name of a plugin
    #[arg(value_name = "WHAT", default_value = "experiment")]
    #[arg(add = ArgValueCompleter::new(complete::schemas))]
    what: String,
    /// Only the options of the plugin itself, without those of its parts
    #[arg(long)]
    own: bool,
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let catalogue = Catalogue::get()?;
    if args.own && ["experiment", "method"].contains(&args.what.as_str()) {
        let message = format!("--own: goes with the name of a plugin, got \"{}\"", args.what);
        return Err(Failure::usage(message));
    }
    let schema = match args.what.as_str() {
        "experiment" => schema::experiment(catalogue),
        "method" => schema::method(catalogue),
        name => match catalogue.find(name) {
            Some(d) if args.own => schema::own(catalogue, d),
            Some(d) => schema::plugin(catalogue, d),
            None => {
                let tags = catalogue.all().iter().map(|d| d.tag);
                let near = suggestion(name, tags.chain(["experiment", "method"]));
                return Err(Failure::usage(format!(
                    "no schema \"{name}\"; accepted: experiment, method, and the names that \
                     \"mustlink list\" shows{near}"
                )));
            }
        },
    };
    term::print_json(&schema)?;
    Ok(0)
}
