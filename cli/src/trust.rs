//! The user's consent to start programs that are named by `mustlink.toml` or by results of somebody else.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use mustlink::scripts;
use mustlink_datasets::shell_word;
use mustlink_experiments::{Experiment, programs};
use serde_json::json;

use crate::failure::Failure;
use crate::{program, term};

/// The flag `--trust`.
static GIVEN: AtomicBool = AtomicBool::new(false);

/// Stores the flag, and sets the cache for descriptions of programs.
pub(crate) fn begin(trust: bool) {
    GIVEN.store(trust, Ordering::Relaxed);
    if let Some(folder) = user_folder("XDG_CACHE_HOME", ".cache") {
        scripts::keep_answers_in(folder.join("plugins"));
    }
}

/// The folder of mustlink below one of the user's standard folders.
fn user_folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let at_home = || absolute("HOME").map(|home| home.join(below_home));
    let folder = absolute(variable).or_else(at_home).or_else(|| absolute("LOCALAPPDATA"))?;
    Some(folder.join("mustlink"))
}

/// A program, and the key under which the user's consent is stored.
struct Program {
    shown: String,
    key: String,
}

/// The programs of these commands with the current content of their files; relative paths start at `base`.
fn programs_at<'a>(
    base: &Path,
    commands: impl IntoIterator<Item = &'a Vec<String>>,
) -> Vec<Program> {
    let program = |command: &Vec<String>| {
        let words: Vec<_> = command.iter().map(|word| shell_word(word)).collect();
        let key = json!([base, command, mustlink::programs::code(command, base)]).to_string();
        Program { shown: words.join(" "), key: blake3::hash(key.as_bytes()).to_hex().to_string() }
    };
    commands.into_iter().map(program).collect()
}

/// Makes sure that the user has allowed the programs of `mustlink.toml` as they are.
pub(crate) fn require_folder(commands: &[Vec<String>]) -> Result<(), Failure> {
    require("mustlink.toml", &programs_at(&std::env::current_dir().unwrap_or_default(), commands))
}

/// Makes sure that the user has allowed the programs that made the results in `dir`, as they are now. If the user ran
/// the experiment here with these programs, they are allowed already.
pub(crate) fn require_results(dir: &Path) -> Result<(), Failure> {
    let named = dir.join("config.json").display().to_string();
    require(&named, &of_experiment(&Experiment::from_directory(dir)?))
}

/// Stores consent to the programs of an experiment that the user runs.
pub(crate) fn run(experiment: &Experiment) {
    remember(&of_experiment(experiment));
}

fn of_experiment(experiment: &Experiment) -> Vec<Program> {
    let base = experiment.base();
    let base = if base.as_os_str().is_empty() { Path::new(".") } else { base };
    let base = base.canonicalize().unwrap_or_else(|_| base.to_path_buf());
    programs_at(&base, &programs(experiment))
}

fn store() -> Option<PathBuf> {
    user_folder("XDG_STATE_HOME", ".local/state").map(|folder| folder.join("trusted"))
}

fn remember(programs: &[Program]) {
    let Some(store) = store() else { return };
    for program in programs {
        // If consent cannot be stored, the user is asked again next time.
        let _ = std::fs::create_dir_all(&store)
            .and_then(|()| std::fs::write(store.join(&program.key), &program.shown));
    }
}

fn require(place: &str, programs: &[Program]) -> Result<(), Failure> {
    let store = store();
    let is_known =
        |program: &Program| store.as_ref().is_some_and(|s| s.join(&program.key).is_file());
    let new: Vec<&Program> = programs.iter().filter(|program| !is_known(program)).collect();
    if new.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> = new.iter().map(|program| format!("`{}`", program.shown)).collect();
    let shown = shown.join(", ");
    if !GIVEN.load(Ordering::Relaxed)
        && !confirmed(&format!("{place} names programs that you have not allowed yet: {shown}"))
    {
        return Err(Failure::usage(format!(
            "{place} names programs that you have not allowed yet: {shown}. Read them, then run: mustlink --trust{}",
            program::options(|_| true)
        )));
    }
    remember(programs);
    Ok(())
}

/// Asks the user at the terminal. Without a terminal the result is false.
fn confirmed(text: &str) -> bool {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return false;
    }
    term::tell(&format!("{text}\nStart them, now and from now on? [y/N]"));
    let mut reply = String::new();
    std::io::stdin().read_line(&mut reply).is_ok() && matches!(reply.trim(), "y" | "Y" | "yes")
}
