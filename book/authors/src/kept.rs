//! The verdicts on the claims of a folder of experiments, stored in the same folder.

use std::path::Path;

use mustlink::{Error, Result};
use mustlink_experiments::Experiment;
use mustlink_report::report;
use serde::{Deserialize, Serialize};

/// One claim on one data set, as stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Line {
    pub criterion: String,
    pub verdict: String,
    /// Empty where the claim is about all together.
    pub dataset: String,
    /// yes, no, or empty without results.
    pub holds: String,
    pub numbers: String,
    /// The numbers that the page shows, three digits each; those of the comparison where it is empty.
    #[serde(default)]
    pub shown: String,
    pub statement: String,
    /// Changes of the run to its file.
    pub changed: String,
}

pub(crate) fn fail(place: &Path) -> impl Fn(csv::Error) -> Error + '_ {
    |e| Error::Data { place: place.display().to_string(), message: e.to_string() }
}

/// The verdicts of a results directory as CSV, with what its run changed of the file of the same name in
/// `folder`.
///
/// # Errors
/// Returns the errors of [`report`]; an error also if the file does not exist or cannot be read.
pub fn kept_verdicts(dir: &Path, folder: &Path) -> Result<Vec<u8>> {
    let report = report(dir)?;
    let ran = Experiment::from_directory(dir)?;
    let file = Experiment::load(&folder.join(format!("{}.toml", ran.head.name)), &[])?;
    let mut changed = file.differences(&ran);
    let repeats = (file.split.repeats(), ran.split.repeats());
    if repeats.0 != repeats.1 {
        changed.push(format!("split.repeats {} → {}", repeats.0, repeats.1));
    }
    if let Some(limit) = ran.run.cell_timeout_s {
        changed.push(format!("cells end after {limit} s"));
    }
    if report.finished < report.cells {
        changed.push(format!("{} of {} cells are finished", report.finished, report.cells));
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    for verdict in &report.verdicts {
        for f in &verdict.findings {
            let line = Line {
                criterion: verdict.criterion.id.clone(),
                verdict: verdict.judgement.name().into(),
                dataset: f.dataset.clone(),
                holds: f.holds.map_or("", |h| if h { "yes" } else { "no" }).into(),
                numbers: f.numbers.clone(),
                shown: f.shown.clone(),
                statement: verdict.criterion.statement.clone(),
                changed: changed.join("; "),
            };
            writer.serialize(line).map_err(fail(dir))?;
        }
    }
    writer
        .into_inner()
        .map_err(|e| Error::Data { place: dir.display().to_string(), message: e.to_string() })
}
