//! The command `completions`: the script with which a shell completes commands.

use clap_complete::Shell;
use clap_complete::env::Shells;

use crate::failure::Failure;
use crate::{complete, term};

/// Print the completion script of a shell
///
/// The script asks the program, so that names of plugins and data sets are completed, too.
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Example: mustlink completions fish > ~/.config/fish/completions/mustlink.fish"
)]
pub(crate) struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let shells = Shells::builtins();
    let name = args.shell.to_string();
    let shell = shells
        .completer(&name)
        .ok_or_else(|| Failure::usage(format!("no completion script for {name}")))?;
    let mut script = Vec::new();
    shell
        .write_registration(complete::VARIABLE, "mustlink", "mustlink", "mustlink", &mut script)
        .map_err(|e| Failure::usage(e.to_string()))?;
    term::print_data(&String::from_utf8_lossy(&script))?;
    Ok(0)
}
