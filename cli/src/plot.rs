//! The figure of the objects in two dimensions, and its options.

use std::path::Path;

use mustlink::text::count;
use mustlink::{Constraints, Data, Result};
use mustlink_experiments::{Clustered, Format};
use mustlink_report::Projection;

use crate::job::Job;
use crate::profile::Crosstab;
use crate::term;

/// How the figure of the objects looks.
#[derive(Debug, clap::Args)]
pub(crate) struct PlotLook {
    /// Title of the figure of the objects
    #[arg(
        long,
        value_name = "TEXT",
        requires = "plot",
        default_value = "Objects in two dimensions"
    )]
    plot_title: String,
    /// Width of the plot in pixels; the text keeps its size
    #[arg(
        long,
        value_name = "PIXELS",
        requires = "plot",
        default_value = "480",
        value_parser = plot_size
    )]
    plot_size: f64,
    /// Names of clusters 0, 1, … [default: their most frequent classes]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "plot")]
    plot_names: Vec<String>,
    /// Do not draw constraints
    #[arg(long, requires = "plot")]
    plot_no_constraints: bool,
}

impl PlotLook {
    /// Writes the figure of `seen`, the objects as the method saw them, into a folder.
    pub fn draw(
        &self,
        folder: &Path,
        formats: &[Format],
        job: &Job,
        seen: &Data,
        clustered: &Clustered,
        crosstab: Option<&Crosstab>,
    ) -> Result<()> {
        let clustering = &clustered.run.clustering;
        let none = Constraints::default();
        let projection = Projection {
            data: seen,
            labels: &clustering.labels,
            constraints: if self.plot_no_constraints { &none } else { &clustered.constraints },
            ids: &job.ids(),
            set: &job.set,
            names: &self.names(clustering.k, crosstab),
            title: &self.plot_title,
            width: self.plot_size,
        };
        projection.write(folder, formats, job.context())
    }

    /// A name for each of `k` clusters: the one that is given, or its number with its most frequent class.
    fn names(&self, k: usize, crosstab: Option<&Crosstab>) -> Vec<String> {
        let given = &self.plot_names;
        if given.len() > k {
            let (names, clusters) = (count(given.len(), "name"), count(k, "cluster"));
            term::tell(&format!("warning: --plot-names: {names} for {clusters}"));
        }
        let class = |h: usize| Some(format!("{h}: {}", crosstab?.name(h)?.0));
        let name = |h: usize| given.get(h).cloned().or_else(|| class(h));
        (0..k).map(|h| name(h).unwrap_or_else(|| h.to_string())).collect()
    }
}

/// Reads the width of a plot.
fn plot_size(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(size @ 100..=4000_u16) => Ok(size.into()),
        _ => Err(format!("must be a whole number between 100 and 4000, got {text}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plot_sizes() {
        assert_eq!(plot_size("640"), Ok(640.0));
        let wrong = plot_size("20").unwrap_err();
        assert_eq!(wrong, "must be a whole number between 100 and 4000, got 20");
    }
}
