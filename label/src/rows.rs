//! Objects of a data set as the annotator sees them.

use mustlink_core::data::{Data, Row};
use mustlink_experiments::Single;

use crate::show::Shown;

/// Features that are shown of a sparse object, the largest first.
const LARGEST: usize = 40;

/// Parts of an object to show.
#[derive(Debug, Clone, Copy, Default)]
pub struct Looks {
    /// Columns were chosen; they replace the features.
    pub columns: bool,
    /// The last shown column names an image.
    pub image: bool,
    /// The features are shown as a curve.
    pub series: bool,
}

/// The name of an object: its id and the beginning of what the annotator saw of it. Without ids, the number of its row
/// comes last.
pub fn called(single: &Single, object: u32, looks: &Looks) -> String {
    let (set, row) = (&single.original, single.row(object) as usize);
    // The file of an image is not a name.
    let is_file = looks.image && set.shown.len() == 1;
    match (set.glimpse(row).filter(|_| !is_file), &set.ids) {
        (Some(text), None) => format!("{text} (row {row})"),
        (None, None) => format!("row {row}"),
        (Some(_), Some(_)) => set.called(row),
        (None, Some(_)) => set.id(row),
    }
}

/// The object with this id, or the only one that is called so.
pub fn find(single: &Single, text: &str, looks: &Looks) -> Option<u32> {
    let objects = 0..single.set.n();
    let is_its_id = |&o: &usize| single.id(o) == text || called(single, o as u32, looks) == text;
    let by_id = objects.clone().find(is_its_id);
    let is_called = |&o: &usize| single.original.is_called(single.row(o as u32) as usize, text);
    let mut called = objects.filter(is_called);
    let only = || called.next().filter(|_| called.next().is_none());
    by_id.or_else(only).map(|o| o as u32)
}

/// An object as it was read: its image, its text and the chosen columns. If nothing else is shown, these are its
/// features, for a sparse object as text.
pub fn shown(single: &Single, object: u32, looks: &Looks) -> Shown {
    let set = &single.original;
    let row = single.row(object) as usize;
    let mut text = set.display.as_ref().and_then(|texts| texts.get(row).cloned());
    let mut cells: Vec<(String, String)> =
        set.shown.iter().map(|(name, cells)| (name.clone(), cells[row].clone())).collect();
    let image = looks.image.then(|| cells.pop()).flatten().map(|(_, file)| file);
    let series = looks.series.then(|| match set.data.row(row) {
        Row::Dense(values) => values.to_vec(),
        Row::Sparse(..) => Vec::new(),
    });
    if !looks.columns && text.is_none() && image.is_none() && series.is_none() {
        let name = |feature: usize| {
            let name = set.feature_names.get(feature).cloned();
            name.unwrap_or_else(|| format!("#{}", feature + 1))
        };
        match set.data.row(row) {
            Row::Dense(values) => {
                let named = values.iter().enumerate();
                cells = named.map(|(s, &value)| (name(s), cell(&set.data, s, value))).collect();
            }
            Row::Sparse(columns, values) => {
                let mut terms: Vec<(u32, f64)> =
                    columns.iter().copied().zip(values.iter().copied()).collect();
                terms.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
                let term = |&(s, value): &(u32, f64)| format!("{} {value}", name(s as usize));
                let terms: Vec<String> = terms.iter().take(LARGEST).map(term).collect();
                text = Some(terms.join(", "));
            }
        }
    }
    let id = if set.ids.is_none() { format!("row {row}") } else { set.id(row) };
    Shown { id, cells, text, image, series }
}

/// A value as it was read: a word of a table, or nothing if it is missing.
fn cell(data: &Data, feature: usize, value: f64) -> String {
    match data.words(feature) {
        _ if value.is_nan() => String::new(),
        Some(words) => words[value as usize].clone(),
        None => value.to_string(),
    }
}
