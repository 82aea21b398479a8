//! How does a shell complete commands?

use clap::CommandFactory;
use clap_complete::Shell;

use crate::failure::Failure;
use crate::{CommandLine, term};

/// Print the completion script of a shell
#[derive(Debug, clap::Args)]
#[command(
    before_help = "Example: mustlink completions bash > ~/.local/share/bash-completion/completions/mustlink"
)]
pub(crate) struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut CommandLine::command(), "mustlink", &mut script);
    term::print(&String::from_utf8_lossy(&script))?;
    Ok(0)
}
