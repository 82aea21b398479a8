//! The commands that use the answers after a session.

use std::path::Path;

use mustlink_datasets::shell_word;

use crate::job_args::JobArgs;
use crate::program;

/// Options that only a session has, or that the commands after it replace.
const OF_SESSION: &str = "--web --port --annotators --show --show-text --image --series --show-guess --import --keys \
                          --out --violations --ledger --budget --selection-only --quiet -q";

/// The commands that merge the answers and cluster with them, with the options of this session.
pub(super) fn commands<'a>(
    job: &JobArgs,
    ledgers: impl Iterator<Item = &'a Path>,
    (show_text, image): (Option<&String>, Option<&String>),
) -> Vec<String> {
    let ledgers = ledgers.map(|path| format!(" {}", shell_word(&path.to_string_lossy())));
    let ledgers: String = ledgers.collect();
    let merge = format!("mustlink ledger merge{ledgers}{} --out pairs.csv", program::about_data());
    if job.constraints.is_some() {
        // "mustlink cluster" takes one file of constraints.
        return vec![merge];
    }
    let mut more = String::new();
    let columns = [("--display", show_text), ("--ignore", image)];
    for (option, column) in columns.iter().filter_map(|(o, c)| Some((o, (*c)?))) {
        more += &format!(" {option} {}", shell_word(column));
    }
    // A selector that comes from elsewhere than --selector would ask the classes.
    let is_set = |set: &String| set.trim_start().starts_with("selector");
    let has_selector = job.method.is_some() || job.sets.iter().any(is_set);
    if has_selector {
        more += " --oracle none";
    }
    let keep = |option: &str| match option {
        "" => false,
        "--selector" => has_selector,
        "--clusterer" => job.clusterer.as_deref() != Some("none"),
        option => !OF_SESSION.split(' ').any(|of_session| of_session == option),
    };
    let options = program::options(keep);
    let cluster =
        format!("mustlink cluster{options}{more} --constraints pairs.csv --out clusters.csv");
    vec![merge, cluster]
}
