//! How is a CSV read into objects, ids and classes?

use std::collections::HashMap;
use std::sync::Arc;

use mustlink_core::registry::suggestion;
use mustlink_core::{Data, Error, Result};
use ndarray::Array2;

use crate::bytes::bad;
use crate::dataset::Classes;
use crate::options::OpenOptions;

/// A record with the line it starts on.
#[derive(Default)]
pub(crate) struct Record {
    pub line: u64,
    pub cells: csv::StringRecord,
}

/// Splits a CSV into records of trimmed cells, every one as long as the first.
struct Reader<'a> {
    content: &'a [u8],
    place: &'a str,
    csv: csv::Reader<&'a [u8]>,
    width: Option<usize>,
}

impl<'a> Reader<'a> {
    fn new(content: &'a [u8], place: &'a str) -> Self {
        let csv = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .from_reader(content);
        Reader { content, place, csv, width: None }
    }

    /// Reads the next record, or says that there is none.
    fn read(&mut self, record: &mut Record) -> Result<bool> {
        let place = self.place;
        // Blank lines are skipped by the reader, which then names the first of them.
        match self.csv.read_record(&mut record.cells) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(e) => {
                let line = e.position().map_or(0, csv::Position::line);
                let message = match e.kind() {
                    csv::ErrorKind::Utf8 { .. } => "is not UTF-8 text".into(),
                    _ => e.to_string(),
                };
                return Err(bad(format!("{place}, line {line}"), message));
            }
        }
        let cells = &record.cells;
        record.line = cells.position().map_or(0, |p| {
            let start = usize::try_from(p.byte()).unwrap_or(0).min(self.content.len());
            let blank = self.content[start..].iter().take_while(|b| matches!(b, b'\n' | b'\r'));
            p.line() + blank.filter(|&&b| b == b'\n').count() as u64
        });
        let (expected, got) = (*self.width.get_or_insert(cells.len()), cells.len());
        if expected != got {
            let open = cells.iter().any(|c| c.contains('\n'));
            let hint = if open { "; is a quote left open?" } else { "" };
            return Err(bad(
                format!("{place}, line {}", record.line),
                format!("expected {expected} fields as in the header, got {got}{hint}"),
            ));
        }
        Ok(true)
    }

    /// The names of the columns, from the first record.
    fn header(&mut self, expected: &str) -> Result<csv::StringRecord> {
        let mut record = Record::default();
        match self.read(&mut record)? {
            true => Ok(record.cells),
            false => Err(empty(self.csv.position().line(), self.place, expected)),
        }
    }
}

/// What a CSV without records is; `line` is where reading ended.
fn empty(line: u64, place: &str, expected: &str) -> Error {
    let what = if line > 1 { "the file has only blank lines" } else { "the file is empty" };
    bad(place, format!("{what}; expected {expected}"))
}

/// The records of a CSV, header first, every one as long as the header.
pub(crate) struct Records {
    reader_line: u64,
    records: Vec<Record>,
}

impl Records {
    /// Splits a CSV into trimmed cells.
    pub fn read(content: &[u8], place: &str) -> Result<Self> {
        let mut reader = Reader::new(content, place);
        let mut records = Vec::new();
        let mut record = Record::default();
        while reader.read(&mut record)? {
            records.push(std::mem::take(&mut record));
        }
        Ok(Records { reader_line: reader.csv.position().line(), records })
    }

    /// The names of the columns.
    pub fn header(&self, place: &str, expected: &str) -> Result<&csv::StringRecord> {
        let first = self.records.first().map(|header| &header.cells);
        first.ok_or_else(|| empty(self.reader_line, place, expected))
    }

    /// The records after the header.
    pub fn rows(&self) -> &[Record] {
        self.records.get(1..).unwrap_or_default()
    }
}

/// The column called `name`.
pub(crate) fn column(header: &csv::StringRecord, name: &str, place: &str) -> Result<usize> {
    header.iter().position(|c| c == name).ok_or_else(|| {
        let mut columns = header.iter().take(20).collect::<Vec<_>>().join(", ");
        if header.len() > 20 {
            columns.push_str(&format!(", … ({} in all)", header.len()));
        }
        bad(
            place,
            format!("no column \"{name}\"{}; columns: {columns}", suggestion(name, header.iter())),
        )
    })
}

/// What a CSV holds.
pub(crate) struct Table {
    pub data: Data,
    pub ids: Option<Arc<[String]>>,
    pub display: Option<Arc<[String]>>,
    pub classes: Option<Classes>,
    pub feature_names: Vec<String>,
}

/// Whether a cell stands for a missing value.
pub(crate) fn is_missing(cell: &str) -> bool {
    matches!(
        cell.to_ascii_lowercase().as_str(),
        "" | "?" | "na" | "n/a" | "nan" | "null" | "none" | "-nan" | "+nan"
    )
}

/// Reads a CSV with a header row. Cells become numbers as they are read: kept as text, large data would
/// take several times its size.
pub(crate) fn read(content: &[u8], place: &str, options: &OpenOptions) -> Result<Table> {
    let mut reader = Reader::new(content, place);
    let header = &reader.header("a header row and one row per object")?;
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (at, name) in header.iter().enumerate() {
        // "5.1" is no name; the row under it would be lost without a word.
        if name.contains('.') && name.parse::<f64>().is_ok() {
            let message =
                format!("the first row must name the columns, and column {} is {name}", at + 1);
            return Err(bad(format!("{place}, line 1"), message));
        }
        if name.is_empty() {
            let message = format!("column {} has no name", at + 1);
            return Err(bad(format!("{place}, line 1"), message));
        }
        if let Some(before) = seen.insert(name, at) {
            let message =
                format!("columns {} and {} are both named \"{name}\"", before + 1, at + 1);
            return Err(bad(format!("{place}, line 1"), message));
        }
    }
    let class = match &options.class_column {
        Some(name) => Some(column(header, name, place)?),
        None => header.iter().next_back().filter(|&last| last == "class").map(|_| header.len() - 1),
    };
    let named = |name: &Option<String>| match name {
        Some(name) => column(header, name, place).map(Some),
        None => Ok(None),
    };
    let (id, display) = (named(&options.id_column)?, named(&options.display_column)?);
    if id.is_some() && id == class {
        let name = &header[id.unwrap_or_default()];
        return Err(bad(place, format!("column \"{name}\" cannot be both the class and the id")));
    }
    let features: Vec<usize> =
        (0..header.len()).filter(|&c| ![class, id, display].contains(&Some(c))).collect();
    if features.is_empty() {
        return Err(bad(place, "no column is left as a feature"));
    }
    // A guess by lines, so that the values are not moved as they grow; each takes two bytes of text.
    let rows = content.iter().filter(|&&b| b == b'\n').count();
    let most = features.len().saturating_mul(rows).min(content.len() / 2);
    let mut values = Vec::with_capacity(most);
    let (mut lines, mut class_cells) = (Vec::new(), csv::StringRecord::new());
    let (mut id_cells, mut display_cells) = (csv::StringRecord::new(), csv::StringRecord::new());
    let mut record = Record::default();
    let mut n = 0;
    while reader.read(&mut record)? {
        n += 1;
        for &c in &features {
            let cell = &record.cells[c];
            match cell.parse::<f64>() {
                Ok(v) if v.is_finite() => values.push(v),
                parsed => {
                    let place = format!("{place}, line {}, column \"{}\"", record.line, &header[c]);
                    let message = match parsed {
                        _ if is_missing(cell) => "the value is missing, which is not accepted; \
                                                  fill it in or drop the row"
                            .into(),
                        Ok(_) => format!("{cell} is not a finite number"),
                        Err(_) => format!(
                            "\"{cell}\" is not a number; a column of classes or ids is named by \
                             --class or --id"
                        ),
                    };
                    return Err(bad(place, message));
                }
            }
        }
        for (column, kept) in
            [(class, &mut class_cells), (id, &mut id_cells), (display, &mut display_cells)]
        {
            column.into_iter().for_each(|c| kept.push_field(&record.cells[c]));
        }
        id.into_iter().for_each(|_| lines.push(record.line));
    }
    if n == 0 {
        return Err(bad(place, "the file has a header and no rows"));
    }
    let data = Data::dense(
        Array2::from_shape_vec((n, features.len()), values).expect("n times d values"),
    )?;
    let ids = id.map(|_| ids(lines.into_iter().zip(&id_cells), place)).transpose()?;
    let classes = class.map(|_| {
        Classes::from_values(class_cells.iter().map(|cell| Some(cell).filter(|c| !unknown(c))))
    });
    if let (Some(c), Some(0)) = (class, classes.as_ref().map(Classes::k)) {
        return Err(bad(place, format!("column \"{}\" holds no class", &header[c])));
    }
    Ok(Table {
        data,
        ids,
        display: display.map(|_| display_cells.iter().map(str::to_string).collect()),
        classes,
        feature_names: features.iter().map(|&c| header[c].to_string()).collect(),
    })
}

/// Whether a class cell stands for an unknown class.
pub(crate) fn unknown(cell: &str) -> bool {
    cell.is_empty() || cell == "?"
}

/// The ids of rows, each once; `cells` has the line of each.
pub(crate) fn ids<'a>(
    cells: impl Iterator<Item = (u64, &'a str)>,
    place: &str,
) -> Result<Arc<[String]>> {
    let mut lines: HashMap<&str, u64> = HashMap::new();
    let mut ids = Vec::new();
    for (line, id) in cells {
        if id.is_empty() {
            return Err(bad(format!("{place}, line {line}"), "the id is empty"));
        }
        if let Some(before) = lines.insert(id, line) {
            return Err(bad(
                format!("{place}, line {line}"),
                format!("the id \"{id}\" stands on line {before} already"),
            ));
        }
        ids.push(id.to_string());
    }
    Ok(ids.into())
}
