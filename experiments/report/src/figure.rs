//! A finished figure: its files, and its place on the page.

use std::collections::BTreeSet;
use std::path::Path;

use maud::{Markup, PreEscaped, html};
use mustlink_core::Result;
use mustlink_datasets::csv_text;
use mustlink_experiments::{Experiment, Format, Plot, remove};
use rayon::prelude::*;
use serde::Serialize;

use crate::render::save_figure;
use crate::section::file;

/// A finished figure.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    /// Parts of its file name, with labels in place of ids.
    parts: Vec<String>,
    /// Its file name without an ending, once it is written.
    name: String,
    /// Text below the figure.
    pub caption: String,
    /// Its text.
    pub svg: String,
    /// Exactly the numbers drawn, as CSV.
    pub numbers: Vec<u8>,
}

impl Figure {
    /// A figure whose file is called something like `parts`, with ids instead of labels.
    pub fn new(
        parts: &[&str],
        caption: impl Into<String>,
        svg: String,
        numbers: Vec<u8>,
    ) -> Figure {
        let parts = parts.iter().map(|part| part.to_string()).collect();
        Figure { parts, name: String::new(), caption: caption.into(), svg, numbers }
    }

    /// HTML for the page, with its numbers; `wide` figures can be scrolled sideways on small screens.
    pub fn html(&self, experiment: &Experiment, wide: bool) -> Markup {
        html! {
            figure data-files=(self.files(experiment)) {
                @if wide {
                    div class="scroll" { (PreEscaped(&self.svg)) }
                } @else {
                    (PreEscaped(&self.svg))
                }
                figcaption { (self.caption) }
                (file(&format!("{}.csv", self.name), "", &String::from_utf8_lossy(&self.numbers)))
            }
            "\n"
        }
    }

    /// Names of its pictures in the folder `figures`.
    pub fn files(&self, experiment: &Experiment) -> String {
        let mut ends = vec![Format::Svg];
        ends.extend(experiment.plot.formats.iter().filter(|format| **format != Format::Svg));
        let name = |format: &Format| format!("{}.{}", self.name, format.ending());
        ends.iter().map(name).collect::<Vec<_>>().join(" ")
    }
}

/// Bytes of a name that file systems take together with the endings of a file that is being written.
const LONGEST: usize = 200;

/// A name for a file, something like `name`, that no listing hides.
fn file_name(name: &str) -> String {
    let keep = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let mut out: String = name.chars().map(keep).collect();
    if out.starts_with('.') {
        out.replace_range(..1, "_");
    }
    if out.len() > LONGEST {
        // The metric stands at the end.
        let end = out.ceil_char_boundary(out.len() - LONGEST / 4);
        let start = out.floor_char_boundary(LONGEST - LONGEST / 4 - 1);
        out.replace_range(start..end, "_");
    }
    out
}

/// Gives each figure a file name of its own and writes it: its SVG, its numbers, and what else is asked
/// for.
///
/// # Errors
/// `Data` when a file cannot be written or a format not be made.
pub(crate) fn save(dir: &Path, figures: &mut [&mut Figure], plot: &Plot) -> Result<()> {
    let mut names = BTreeSet::new();
    for figure in figures.iter_mut() {
        let ids: Vec<&str> = figure.parts.iter().map(|part| plot.id_of(part)).collect();
        figure.name = file_name(&ids.join("-"));
        while !names.insert(figure.name.clone()) {
            figure.name.push('_');
        }
    }
    if figures.is_empty() {
        return Ok(());
    }
    let folder = dir.join("figures");
    figures.par_iter().try_for_each(|figure| {
        save_figure(&folder, &figure.name, &figure.svg, &figure.numbers, &plot.formats)
    })
}

/// Removes the figures that the page before has and the new one has not.
///
/// # Errors
/// `Data` when one cannot be removed.
pub(crate) fn remove_others(dir: &Path, before: &Path, page: &str) -> Result<()> {
    let before = std::fs::read_to_string(before).unwrap_or_default();
    let (old, new) = (files(&before), files(page));
    for file in old.difference(&new) {
        let path = dir.join("figures").join(file);
        if let Some(name) = file.strip_suffix(".svg") {
            remove(&path.with_file_name(format!("{name}.csv")))?;
        }
        remove(&path)?;
    }
    Ok(())
}

/// The files of the figures that a page names. Paths are ignored, because the page may be from an untrusted source and
/// a path could lead out of the folder.
fn files(page: &str) -> BTreeSet<&str> {
    let lists = page.split("data-files=\"").skip(1);
    let names = lists.filter_map(|rest| Some(rest.split_once('"')?.0)).flat_map(|l| l.split(' '));
    names.filter(|name| !name.starts_with('.') && !name.contains(['/', '\\'])).collect()
}

/// Lines as CSV under a head, whose names have commas between them.
pub(crate) fn csv<'a>(head: &str, lines: impl IntoIterator<Item = Vec<String>> + 'a) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory, with lines of one length, cannot fail.
    let mut write = |line: Vec<String>| writer.write_record(line).is_ok();
    write(head.split(',').map(str::to_string).collect());
    for line in lines {
        write(line);
    }
    writer.into_inner().unwrap_or_default()
}

/// A value of a row of [`named_csv`].
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Value<'a> {
    Text(&'a str),
    Count(usize),
    Number(Option<f64>),
}

/// Rows as CSV for the file `place`, each with the names of its columns.
pub(crate) fn named_csv<'a>(
    place: &str,
    rows: impl IntoIterator<Item = Vec<(&'static str, Value<'a>)>>,
) -> Result<Vec<u8>> {
    csv_text(place, |out| {
        for (at, row) in rows.into_iter().enumerate() {
            let (names, values): (Vec<&str>, Vec<Value<'_>>) = row.into_iter().unzip();
            if at == 0 {
                out.write_record(names)?;
            }
            out.serialize(values)?;
        }
        Ok(())
    })
}

/// A number for a CSV; nothing for one that is absent.
pub(crate) fn cell(value: Option<f64>) -> String {
    value.map_or(String::new(), |v| v.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_id_gives_a_name_that_a_file_can_have() {
        assert_eq!(file_name("../a b-ari"), "_._a_b-ari");
        let long = file_name(&format!("{}-ari", "ü".repeat(200)));
        assert!(
            long.len() <= LONGEST && long.starts_with("üü") && long.ends_with("ü-ari"),
            "{long}"
        );
    }
}
