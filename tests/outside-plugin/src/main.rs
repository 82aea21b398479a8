//! The program `mustlink` with the plugins of this crate.

use outside_plugin as _;

fn main() -> std::process::ExitCode {
    mustlink_cli::main()
}
