//! A finished figure and its files.

use std::collections::BTreeSet;
use std::path::Path;

use mustlink_core::Result;
use rayon::prelude::*;

use crate::render::save_figure;
use mustlink_experiments::Format;

/// A finished figure.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    /// Its file name without an ending.
    pub name: String,
    /// What stands below it.
    pub caption: String,
    /// Its text.
    pub svg: String,
    /// Exactly the numbers drawn, as CSV.
    pub numbers: Vec<u8>,
}

impl Figure {
    /// A figure whose file is called something like `name`.
    pub fn new(name: &str, caption: impl Into<String>, svg: String, numbers: Vec<u8>) -> Figure {
        let keep = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        let name = name.chars().map(keep).collect();
        Figure { name, caption: caption.into(), svg, numbers }
    }
}

/// Gives each figure a file name of its own and writes it: its SVG, its numbers, and what else is asked
/// for.
///
/// # Errors
/// `Data` when a file cannot be written or a format not be made.
pub(crate) fn save(dir: &Path, figures: &mut [&mut Figure], formats: &[Format]) -> Result<()> {
    let mut names = BTreeSet::new();
    for figure in figures.iter_mut() {
        while !names.insert(figure.name.clone()) {
            figure.name.push('_');
        }
    }
    if figures.is_empty() {
        return Ok(());
    }
    let folder = dir.join("figures");
    figures.par_iter().try_for_each(|figure| {
        save_figure(&folder, &figure.name, &figure.svg, &figure.numbers, formats)
    })
}

/// Lines as CSV under a head.
pub(crate) fn csv<'a>(head: &[&str], lines: impl IntoIterator<Item = Vec<String>> + 'a) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory, with lines of one length, cannot fail.
    let mut write = |line: Vec<String>| writer.write_record(line).is_ok();
    write(head.iter().map(|h| h.to_string()).collect());
    for line in lines {
        write(line);
    }
    writer.into_inner().unwrap_or_default()
}

/// A number for a CSV; nothing for one that is absent.
pub(crate) fn cell(value: Option<f64>) -> String {
    value.map_or(String::new(), |v| v.to_string())
}
