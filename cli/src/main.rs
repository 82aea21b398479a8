//! The program `mustlink`.

fn main() -> std::process::ExitCode {
    mustlink_cli::main()
}
