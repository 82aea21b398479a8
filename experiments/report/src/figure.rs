//! A finished figure: its files, and its place on the page.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;

use maud::{Markup, PreEscaped, html};
use mustlink_core::Result;
use mustlink_experiments::{Experiment, Format, io};
use rayon::prelude::*;

use crate::render::save_figure;

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
        Figure { name: file_name(name), caption: caption.into(), svg, numbers }
    }

    /// For the page, with its links; `wide` ones are moved sideways where there is no room.
    pub fn html(&self, experiment: &Experiment, wide: bool) -> Markup {
        let file = format!("{}.svg", self.name);
        html! {
            figure {
                @if wide {
                    div class="scroll" { (PreEscaped(&self.svg)) }
                } @else {
                    (PreEscaped(&self.svg))
                }
                figcaption {
                    (self.caption) " " (self.numbers_link()) " · "
                    a class="svg" download=(file) href={ "figures/" (file) } { "SVG" }
                    (self.pictures(experiment))
                }
            }
            "\n"
        }
    }

    /// Its numbers, within the page.
    pub fn numbers_link(&self) -> Markup {
        let url = data_url("text/csv", &self.numbers);
        html! { a download={ (self.name) ".csv" } href=(url) { "numbers" } }
    }

    /// Links to its files, where it is not on the page itself.
    pub fn file_links(&self, experiment: &Experiment) -> Markup {
        html! {
            a href={ "figures/" (self.name) ".svg" } { "SVG" }
            (self.pictures(experiment)) " · " (self.numbers_link())
        }
    }

    /// Links to its files in the other formats.
    fn pictures(&self, experiment: &Experiment) -> Markup {
        let formats = experiment.plot.formats.iter().filter(|format| **format != Format::Svg);
        html! {
            @for end in formats.map(|format| format.ending()) {
                " · " a href={ "figures/" (self.name) "." (end) } { (end.to_uppercase()) }
            }
        }
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

/// The files of the figures that a page links to. A page may have come from anywhere: what is not a plain
/// name leads out of the folder.
fn files(page: &str) -> BTreeSet<&str> {
    let links = page.split("href=\"figures/").skip(1);
    let names = links.filter_map(|rest| Some(rest.split_once('"')?.0));
    names.filter(|name| !name.starts_with('.') && !name.contains(['/', '\\'])).collect()
}

/// Removes a file, if there is one.
///
/// # Errors
/// `Data` when it cannot be removed.
pub(crate) fn remove(file: &Path) -> Result<()> {
    match std::fs::remove_file(file) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(io(file)(e)),
        _ => Ok(()),
    }
}

/// Bytes as a link that needs no file.
pub(crate) fn data_url(kind: &str, bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = format!("data:{kind};charset=utf-8;base64,");
    for three in bytes.chunks(3) {
        let part = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = part(0) << 16 | part(1) << 8 | part(2);
        for at in 0..4 {
            out.push(if at <= three.len() {
                LETTERS[(bits >> (18 - 6 * at) & 63) as usize] as char
            } else {
                '='
            });
        }
    }
    out
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

    #[test]
    fn links_hold_their_bytes() {
        // The examples of RFC 4648.
        for (text, expected) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            let url = data_url("text/csv", text.as_bytes());
            assert_eq!(url, format!("data:text/csv;charset=utf-8;base64,{expected}"));
        }
    }
}
