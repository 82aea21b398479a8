//! The objects in the records of a CSV.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use mustlink_core::data::Words;
use mustlink_core::roles::Scene;
use mustlink_core::text::{count, form};
use mustlink_core::{Data, Error, Group, Result, Row};
use ndarray::Array2;

use crate::bytes::{Input, bad, csv_text};
use crate::columns::{Roles, first_row};
use crate::converted::NO_ROWS;
use crate::dataset::{Classes, Dataset, Reading};
use crate::incomplete::{Gaps, Incomplete, Odd, Way};
use crate::options::{OpenOptions, within};
use crate::pairwise::HEADER;
use crate::records::Records;
use crate::sheet::Sheet;

/// The content of some records: values row by row, and the cells of columns that hold text.
#[derive(Default)]
struct Part {
    rows: usize,
    values: Vec<f64>,
    /// Bytes of the cells that are kept as text.
    text_bytes: usize,
    /// As [`text_columns`] has them.
    texts: [Vec<String>; 4],
    weights: Vec<f64>,
    ids: Vec<(u64, String)>,
    shown: Vec<Vec<String>>,
    gaps: Gaps,
    words: Vec<Odd>,
}

/// The columns of classes, of what is known of them, of groups, and of text for people.
fn text_columns(roles: &Roles) -> [Option<usize>; 4] {
    [roles.class, roles.known, roles.apart, roles.display]
}

/// How cells are read.
struct Cells<'a> {
    decimal: Option<char>,
    missing: &'a [String],
}

impl Cells<'_> {
    fn is_missing(&self, cell: &str) -> bool {
        match self.missing {
            _ if cell.is_empty() => true,
            [] => matches!(
                cell.to_ascii_lowercase().as_str(),
                "?" | "na" | "n/a" | "nan" | "null" | "none" | "-nan" | "+nan"
            ),
            own => own.iter().any(|m| m == cell),
        }
    }

    fn number(&self, cell: &str) -> Option<f64> {
        match self.decimal {
            None | Some('.') => cell.parse().ok(),
            // A point stands between thousands there, and is no part of a number.
            Some(decimal) if !cell.contains('.') => cell.replace(decimal, ".").parse().ok(),
            Some(_) => None,
        }
    }
}

impl Part {
    fn take(
        &mut self,
        line: u64,
        record: &[&str],
        header: &[String],
        roles: &Roles,
        cells: &Cells<'_>,
        place: &str,
    ) -> Result<()> {
        for (feature, &c) in roles.features.iter().enumerate() {
            let cell = record[c];
            // Most cells are numbers; a number may be named as missing.
            let number = cells.number(cell).filter(|_| {
                (cells.missing.is_empty() || !cells.is_missing(cell))
                    && (roles.categories.is_empty() || !roles.categories.contains(&c))
            });
            match number {
                Some(v) if v.is_finite() => self.values.push(v),
                _ if cells.is_missing(cell) => {
                    self.values.push(f64::NAN);
                    self.gaps.push(line, feature);
                }
                Some(_) => {
                    let place = format!("{place}, line {line}, column \"{}\"", header[c]);
                    return Err(bad(
                        place,
                        format!("{cell} is not a finite number; --na {cell} reads it as missing"),
                    ));
                }
                None => {
                    self.values.push(f64::NAN);
                    self.words.push(Odd { row: self.rows, line, feature, word: cell.into() });
                }
            }
        }
        for (cells, c) in self.texts.iter_mut().zip(text_columns(roles)) {
            cells.extend(c.map(|c| record[c].to_string()));
        }
        if let Some(c) = roles.weights {
            let legal = |w: &f64| *w >= 0.0 && w.is_finite();
            let Some(weight) = cells.number(record[c]).filter(legal) else {
                let place = format!("{place}, line {line}, column \"{}\"", header[c]);
                let message = "is not a weight, which is a number of at least 0";
                return Err(bad(place, format!("\"{}\" {message}", record[c])));
            };
            self.weights.push(weight);
        }
        if let Some(c) = roles.id {
            self.ids.push((line, record[c].into()));
        }
        self.shown.resize_with(roles.shown.len(), Vec::new);
        for (cells, &c) in self.shown.iter_mut().zip(&roles.shown) {
            cells.push(record[c].into());
        }
        let columns = text_columns(roles).into_iter().flatten().chain(roles.id);
        let kept = columns.chain(roles.shown.iter().copied());
        self.text_bytes += kept.map(|c| size_of::<String>() + record[c].len()).sum::<usize>();
        self.rows += 1;
        Ok(())
    }

    /// This and then `next`.
    fn append(&mut self, mut next: Part) {
        next.words.iter_mut().for_each(|odd| odd.row += self.rows);
        self.rows += next.rows;
        self.values.append(&mut next.values);
        self.text_bytes += next.text_bytes;
        self.texts.iter_mut().zip(&mut next.texts).for_each(|(own, more)| own.append(more));
        self.weights.append(&mut next.weights);
        self.ids.append(&mut next.ids);
        self.shown.resize_with(next.shown.len().max(self.shown.len()), Vec::new);
        self.shown.iter_mut().zip(&mut next.shown).for_each(|(own, more)| own.append(more));
        self.words.append(&mut next.words);
        self.gaps.append(next.gaps);
    }
}

/// Reads a CSV with a header row; `listed`: a manifest has said what its columns are.
pub(crate) fn read(
    input: Input<'_>,
    name: &str,
    options: &OpenOptions,
    listed: bool,
) -> Result<Dataset> {
    if options.transpose {
        return read_transposed(input, name, options, listed);
    }
    let place = input.place().to_string();
    let sheet = opened(input, options)?;
    let (separator, note) = (sheet.separator(), sheet.note());
    let header = sheet.header().to_vec();
    let hinted = |e: Error| match header.as_slice() {
        [one] => with_hint(e, one),
        _ => e,
    };
    let roles = Roles::of(&header, options, listed, &place).map_err(hinted)?;
    let cells = Cells { decimal: options.decimal, missing: &options.missing };
    let mut all = Part::default();
    sheet.each(
        |part: &mut Part, line, record| part.take(line, record, &header, &roles, &cells, &place),
        |part| {
            all.append(part);
            within(options.memory_limit, (8 * all.values.len() + all.text_bytes) as u64, &place)
        },
    )?;
    if all.rows == 0 {
        return Err(bad(place, NO_ROWS));
    }
    all.values.shrink_to_fit();
    let (n, d) = (all.rows, roles.features.len());
    let mut x = Array2::from_shape_vec((n, d), all.values).expect("n times d values");
    let words = words(&mut x, &all.words);
    let data = Data::table(x, words)?;
    let value = |i: usize, s: usize| match data.row(i) {
        Row::Dense(x) => x[s],
        Row::Sparse(..) => unreachable!("a table is not sparse"),
    };
    roles.judge(&header, n, Some(&value), &place)?;
    let mut notes: Vec<String> = note.into_iter().collect();
    notes.extend(roles.doubtful(&header, n, &value));
    if roles.counted {
        notes.push(first_row(&header, "--no-header reads it as an object"));
    }
    let incomplete = Incomplete {
        gaps: &all.gaps,
        words: &all.words,
        data: &data,
        roles: &roles,
        header: &header,
        separator,
        decimal: options.decimal,
    };
    let mut incomplete = incomplete.found(&place);
    if let (Some(found), [one]) = (&mut incomplete, header.as_slice())
        && one.contains(' ')
    {
        found.ways.push(Way::Other(SPACES.into()));
    }
    let [classes, known, apart, display] = all.texts;
    // What the options call missing is no class either.
    let own = |cell: &String| cells.missing.iter().any(|m| m == cell);
    let classes_in = |all: &[String], c: usize| {
        let all: Vec<&str> = all.iter().map(|cell| if own(cell) { "" } else { cell }).collect();
        classes_of(&all, &header[c], &place)
    };
    let classes = roles.class.map(|c| classes_in(&classes, c)).transpose()?;
    let known = roles.known.map(|c| classes_in(&known, c)).transpose()?;
    let apart = groups(&apart, roles.apart.map(|c| header[c].as_str()), &cells, &place)?;
    let data = match roles.weights {
        None => data,
        Some(c) => {
            let named = |e: Error| bad(&place, format!("column \"{}\": {e}", header[c]));
            data.with_weights(all.weights).map_err(named)?
        }
    };
    let ids = roles.id.map(|_| ids(all.ids, &place, NAMES)).transpose()?;
    let called = |c: usize| match header[c].as_str() {
        "" => format!("column {}", c + 1),
        name => name.to_string(),
    };
    let reading = Reading {
        listed: false,
        id: roles.id.map(called),
        class: roles.class.map(called),
        ignored: roles.ignored.iter().copied().map(called).collect(),
        missing: all.gaps.len(),
        separator: Some(separator).filter(|&s| s != ','),
        decimal: options.decimal.filter(|&d| d != '.'),
        described_by: None,
        notes,
        incomplete,
    };
    Ok(Dataset {
        name: name.into(),
        data,
        ids,
        display: roles.display.map(|_| display.into()),
        shown: roles.shown.iter().copied().map(called).zip(all.shown).collect(),
        classes,
        known,
        apart: apart.into(),
        feature_names: roles.features.iter().copied().map(called).collect(),
        provenance: place,
        reading,
    })
}

/// Reads a CSV with one column per object. Its first column names the features, its first row the objects.
fn read_transposed(
    input: Input<'_>,
    name: &str,
    options: &OpenOptions,
    listed: bool,
) -> Result<Dataset> {
    if options.no_header {
        let message =
            "--transpose needs a first row with the names of the objects; leave out --no-header";
        return Err(bad(input.place(), message));
    }
    let records = Records::of(opened(input, options)?, options.memory_limit)?;
    records.not_empty()?;
    let place = format!("{}, transposed", records.place);
    let text = csv_text(&place, |out| {
        out.write_record([HEADER].into_iter().chain(records.cells(0)))?;
        (1..records.header.len()).try_for_each(|c| {
            out.write_record([records.header[c].as_str()].into_iter().chain(records.cells(c)))
        })
    })?;
    drop(records);
    let mut options = OpenOptions { transpose: false, separator: Some(','), ..options.clone() };
    match &options.id_column {
        // Another row of the file holds the ids.
        Some(id) if id != HEADER => options.ignore.push(HEADER.into()),
        _ => options.id_column = Some(HEADER.into()),
    }
    let mut set = read(Input::of(&text, &place), name, &options, listed)?;
    set.reading.separator = None;
    Ok(set)
}
/// The groups that the texts of `column` name.
fn groups(
    texts: &[String],
    column: Option<&str>,
    cells: &Cells<'_>,
    place: &str,
) -> Result<Vec<Group>> {
    let named = texts.iter().map(|cell| (!cells.is_missing(cell)).then_some(cell.as_str()));
    let groups: Vec<Group> = Group::of_column(named);
    if let Some(column) = column.filter(|_| groups.is_empty()) {
        let message = "names no group of two objects or more; equal cells are one group";
        return Err(bad(place, format!("column \"{column}\" {message}")));
    }
    Ok(groups)
}

fn opened<'a>(input: Input<'a>, options: &OpenOptions) -> Result<Sheet<'a>> {
    if input.is_typed() {
        options.refuse_of_text(input.place())?;
    }
    let expected = "a header row and one row per object";
    Sheet::open_as(input, options.separator, expected, !options.no_header)
}

const SPACES: &str = "if spaces separate the columns, add --sep ' '";

/// A single column whose name holds a space may be several.
fn with_hint(e: Error, name: &str) -> Error {
    match e {
        Error::Data { place, message } if name.contains(' ') => {
            bad(place, format!("{message}; {SPACES}"))
        }
        other => other,
    }
}

/// Checks, from the header and the first rows, that a CSV can be read, with these columns.
pub(crate) fn check(input: Input<'_>, options: &OpenOptions) -> Result<()> {
    let place = input.place().to_string();
    let sheet = opened(input, options)?;
    if options.transpose {
        // The names of the features are in the rows below.
        return Ok(());
    }
    let header = sheet.header().to_vec();
    let roles = Roles::of(&header, options, false, &place)?;
    roles.judge(&header, 0, None, &place)?;
    let cells = Cells { decimal: options.decimal, missing: &options.missing };
    let take = |part: &mut Part, line, record: &[&str]| {
        part.take(line, record, &header, &roles, &cells, &place)
    };
    sheet.first_records(take).map(drop)
}

/// The words of each column that has any: cells become places in the list, numbers among words words.
fn words(x: &mut Array2<f64>, words: &[Odd]) -> Vec<Option<Words>> {
    let mut cells: Vec<HashMap<usize, &str>> = vec![HashMap::new(); x.ncols()];
    for odd in words {
        cells[odd.feature].insert(odd.row, &odd.word);
    }
    let mut lists = vec![None; x.ncols()];
    for (s, cells) in cells.iter().enumerate().filter(|(_, cells)| !cells.is_empty()) {
        let texts: Vec<Option<String>> = x
            .column(s)
            .iter()
            .enumerate()
            .map(|(i, v)| match cells.get(&i) {
                Some(word) => Some((*word).to_string()),
                None => (!v.is_nan()).then(|| v.to_string()),
            })
            .collect();
        let sorted: BTreeSet<&str> = texts.iter().flatten().map(String::as_str).collect();
        let places: HashMap<&str, usize> = sorted.iter().copied().zip(0..).collect();
        for (v, text) in x.column_mut(s).iter_mut().zip(&texts) {
            *v = text.as_deref().map_or(f64::NAN, |text| places[text] as f64);
        }
        lists[s] = Some(sorted.into_iter().map(str::to_string).collect());
    }
    lists
}

/// The classes of a column.
///
/// # Errors
/// `Data` when no class is left, and for −1 together with a single class: −1 may then be the second one.
pub(crate) fn classes_of<S: AsRef<str>>(cells: &[S], name: &str, place: &str) -> Result<Classes> {
    let known = |cell: &S| -> bool { !Scene::is_unknown(cell.as_ref()) };
    let values = cells.iter().map(|cell| Some(cell.as_ref()).filter(|c| !Scene::is_unknown(c)));
    let classes = Classes::from_values(values);
    match classes.k() {
        0 => Err(bad(place, format!("column \"{name}\" holds no class"))),
        1 if cells.iter().any(|c| !known(c) && c.as_ref().starts_with("-1")) => Err(bad(
            place,
            format!(
                "column \"{name}\" holds -1 and {}; -1 stands for an unknown class: if it is a class \
                 here, give it another name",
                classes.names[0]
            ),
        )),
        _ => Ok(classes),
    }
}

/// The remedy for an id column whose names are not unique.
const NAMES: &str = "Use a column without duplicates, or --name instead of --id: rows are then numbered from 0, and \
                     the column says what they are called";

/// The remedy for files that refer to objects of a table.
pub(crate) const ONCE: &str = "Name each object once";

/// Ids, each of which must occur once. The error about a repeated id ends with `remedy`.
pub(crate) fn ids(cells: Vec<(u64, String)>, place: &str, remedy: &str) -> Result<Arc<[String]>> {
    let mut lines: HashMap<&str, u64> = HashMap::with_capacity(cells.len());
    let mut twice: Option<(u64, &str, u64)> = None;
    let mut more = 0;
    for (line, id) in &cells {
        if id.is_empty() {
            let message = "the id is empty; if the whole row is, as spreadsheets leave some below a table, remove it";
            return Err(bad(format!("{place}, line {line}"), message));
        }
        if let Some(before) = lines.insert(id, *line) {
            more += 1;
            twice.get_or_insert((*line, id, before));
        }
    }
    if let Some((line, id, before)) = twice {
        let (rows, repeat) = (count(more, "row"), form(more, "repeats an id", "repeat ids"));
        let message =
            format!("the id \"{id}\" is also on line {before}; {rows} {repeat} in all. {remedy}");
        return Err(bad(format!("{place}, line {line}"), message));
    }
    drop(lines);
    Ok(cells.into_iter().map(|(_, id)| id).collect())
}
