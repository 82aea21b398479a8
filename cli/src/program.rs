//! The command that started this program, and the one that starts it again.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use mustlink_datasets::shell_word;

/// The name by which this process was called.
static NAME: OnceLock<OsString> = OnceLock::new();

/// The arguments of this command as words of a shell.
static WORDS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Stores the words of this command; the first one is the program.
pub(crate) fn started_as(args: &[OsString]) {
    if let Some(name) = args.first() {
        // The first call counts: another one means the same process.
        let _ = NAME.set(name.clone());
    }
    let words = args.iter().skip(1).map(|word| shell_word(&word.to_string_lossy()).to_string());
    *WORDS.lock().unwrap_or_else(PoisonError::into_inner) = words.collect();
}

/// The program to start for the same again: what was called, where that is a file, since a command that
/// is part of a Python package runs in the process of another program; else the program of this process.
pub(crate) fn path() -> std::io::Result<PathBuf> {
    match NAME.get().map(Path::new).filter(|name| name.components().count() > 1 && name.is_file()) {
        Some(file) => std::path::absolute(file),
        None => std::env::current_exe(),
    }
}

/// Options about the data, which many commands have.
const DATA: &str = "--data --distances --affinities --id --class --labels --display --name --features --ignore --sep \
                    --decimal --na --no-header --transpose --data-dir";

/// The options of this command that `keep` accepts, with their values and a space before each word. What comes before
/// the first option counts as an option without a name.
pub(crate) fn options(keep: impl Fn(&str) -> bool) -> String {
    let is_name = |c: char| c == '-' || c.is_alphabetic();
    let (mut kept, mut text) = (keep(""), String::new());
    for word in WORDS.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        if word.strip_prefix('-').is_some_and(|rest| rest.starts_with(is_name)) {
            kept = keep(word.split('=').next().unwrap_or_default());
        }
        if kept {
            text += &format!(" {word}");
        }
    }
    text
}

/// This command again, as a command to paste: without the options `left_out`, and with `more`.
pub(crate) fn again(left_out: &[&str], more: &str) -> String {
    format!("mustlink{}{more}", options(|option| !left_out.contains(&option)))
}

/// The data directories, for another command.
pub(crate) fn data_dirs() -> String {
    options(|option| option == "--data-dir")
}

/// The options about the data, for another command.
pub(crate) fn about_data() -> String {
    options(|option| DATA.split(' ').any(|of_data| of_data == option))
}
