//! The command line of mustlink: thin verbs over the libraries.
//!
//! [`main`] is the whole program, [`run`] the same for arguments that are given. A program with plugins of
//! its own is therefore
//!
//! ```no_run
//! // use my_plugins as _;
//! fn main() -> std::process::ExitCode {
//!     mustlink_cli::main()
//! }
//! ```
//!
//! Standard output is data only; notes, warnings, progress and errors go to standard error. Exit
//! status: 0 good, 1 finished with failed cells (or `diff --exit-code` found a difference), 2 usage or
//! configuration, 3 data or constraints, 4 a plugin broke its contract, 130 interrupted, 143 and 129 ended by
//! SIGTERM and SIGHUP.

mod broken;
mod candidates;
mod complaint;
mod complete;
mod data_file;
mod dry_run;
mod failure;
mod feature_weights;
mod file_kind;
mod files;
mod help;
mod interrupt;
mod job;
mod job_args;
mod judged_pairs;
mod memory;
mod method_file;
mod model;
mod options;
mod plot;
mod profile;
mod program;
mod progress;
mod schema;
mod term;
mod toml_text;
mod trust;
mod validation;
mod verbs;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ColorChoice, CommandFactory, FromArgMatches, Parser};
use clap_complete::CompleteEnv;
use mustlink::kept_children::Keep;
use mustlink::registry::Catalogue;
use mustlink::scripts;

#[doc(hidden)]
pub use crate::broken::Sources;
#[doc(hidden)]
pub use crate::memory::default_limit;
#[doc(hidden)]
pub use crate::method_file::MethodFile;
use crate::verbs::Verb;
#[doc(hidden)]
pub use crate::verbs::describe;

#[derive(Debug, Parser)]
#[command(
    name = "mustlink",
    version,
    about = "Cluster data with the help of a few answers about pairs of objects",
    before_help = "Example: mustlink cluster --data iris --selector explore_consolidate --budget 50",
    arg_required_else_help = true
)]
struct CommandLine {
    /// Start programs that mustlink.toml or these files name, now and later
    #[arg(long, global = true, hide_short_help = true)]
    trust: bool,
    #[command(subcommand)]
    verb: Verb,
}

/// The place of the last panic, for the message of [`main`].
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    ExitCode::from(run(std::env::args_os()))
}

/// Runs the program with `args`, the first of which is its name, and gives its exit status.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    program::started_as(&args);
    term::set_colours(&args);
    // A shell that wants to complete a command gets that and nothing else.
    if std::env::var_os(complete::VARIABLE).is_some() {
        trust::begin(false);
        scripts::let_start(false);
        // A mistake in it is reported when a command runs.
        let _ = file_kind::own_plugins(false);
    }
    let folder = std::env::current_dir().ok();
    let completing = CompleteEnv::with_factory(command).var(complete::VARIABLE);
    let line = match completing.try_complete(&args, folder.as_deref()) {
        Ok(true) => return 0,
        Ok(false) => command()
            .try_get_matches_from(&args)
            .and_then(|matches| CommandLine::from_arg_matches(&matches)),
        Err(e) => Err(e),
    };
    let line = match line {
        Ok(line) => line,
        Err(mut e) => {
            name_the_data(&mut e);
            // A reader that left early needs no help text.
            let _ = e.print();
            return u8::try_from(e.exit_code()).unwrap_or(2);
        }
    };
    interrupt::watch();
    quiet_panics();
    trust::begin(line.trust);
    let starts = line.trust || line.verb.starts_programs();
    scripts::let_start(starts);
    // Programs that take one request after another go on until everything is done.
    let _keep = Keep::start();
    let work = || {
        mustlink_kernels::check_simd()?;
        Catalogue::get()?;
        file_kind::own_plugins(starts)?
            .iter()
            .for_each(|note| term::tell(&format!("note: {note}")));
        line.verb.run()
    };
    let done = catch_unwind(AssertUnwindSafe(work));
    // A program that this command is part of goes on.
    scripts::let_start(true);
    interrupt::status(match done {
        Ok(Ok(status)) => status,
        Ok(Err(failure)) => complaint::tell(&failure),
        Err(_) => {
            let place = PANIC.lock().ok().and_then(|mut p| p.take()).unwrap_or_default();
            complaint::show(&format!("a defect of mustlink, please report it: {place}"), None);
            4
        }
    })
}

/// The command line, with its help arranged.
fn command() -> clap::Command {
    // It is read before the command line is, so that errors in it have the same colours.
    let colour = Arg::new("color").long("color").value_name("WHEN").global(true);
    let colour = colour.value_parser(clap::value_parser!(ColorChoice)).default_value("auto");
    let colour = colour.help("When to use colours").hide_short_help(true);
    help::arranged(CommandLine::command().arg(colour))
}

/// Names the option --data if an argument without an option looks like a data set.
fn name_the_data(error: &mut clap::Error) {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return };
    let named_by_option =
        error.get(ContextKind::Usage).is_some_and(|usage| usage.to_string().contains("--data"));
    if error.kind() == ErrorKind::UnknownArgument && !word.starts_with('-') && named_by_option {
        let tip = format!("data are named by an option: --data {word}");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
}

/// Hides the usual text of a panic: the panic of a plugin becomes an error with its name.
fn quiet_panics() {
    if std::env::var_os("RUST_BACKTRACE").is_some_and(|v| v != "0") {
        return;
    }
    std::panic::set_hook(Box::new(|info| {
        if let Ok(mut last) = PANIC.lock() {
            *last = Some(info.to_string().replace('\n', " "));
        }
    }));
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let command = CommandLine::command();
        let visible = command.get_subcommands().filter(|c| !c.is_hide_set());
        let mut names: Vec<&str> = visible.map(Command::get_name).collect();
        let mut grouped: Vec<&str> = help::GROUPS.iter().flat_map(|g| g.1.split(' ')).collect();
        names.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(names, grouped);
    }

    /// Two lines of a doc comment without an empty line between them become one sentence.
    #[test]
    fn the_list_of_commands_shows_one_sentence_for_each() {
        for verb in command().get_subcommands() {
            let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
            let count = about.split_whitespace().count();
            assert!(count <= 14, "{}: {about}", verb.get_name());
        }
    }

    /// A long text goes into a paragraph of its own, and rare options are left out; only `--help` shows them.
    #[test]
    fn short_help_is_short() {
        for verb in command().get_subcommands() {
            for arg in verb.get_arguments().filter(|a| !a.is_hide_set()) {
                let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
                let words = help.split(" [default").next().unwrap_or_default();
                let count = words.split_whitespace().count();
                assert!(count <= 12, "{} {}: {help}", verb.get_name(), arg.get_id());
                let rest = help.split_once(" [default").and_then(|(_, rest)| rest.split_once(']'));
                let rest = rest.map_or("", |(_, rest)| rest);
                assert!(rest.is_empty() || rest.starts_with(';'), "{}: {help}", verb.get_name());
            }
            let long = verb.clone().render_long_help().to_string();
            assert!(!long.contains("see --help"), "{}: {long}", verb.get_name());
            let hides =
                |a: &Arg| a.is_positional() || a.is_hide_set() || a.is_hide_short_help_set();
            let shown = verb.get_arguments().filter(|arg| !hides(arg)).count();
            assert!(shown <= 10, "{}: -h shows {shown} options", verb.get_name());
        }
    }
}
