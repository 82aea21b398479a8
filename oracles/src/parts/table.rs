//! Tables of replies, prices or classes.
//!
//! A CSV with a header, its cells parted by commas, semicolons or tabs. Objects are row numbers from 0, or ids.

use std::collections::HashMap;
use std::path::Path;

use mustlink_core::prelude::*;
use mustlink_core::registry::suggestion;

/// A CSV in memory.
#[derive(Debug)]
pub struct Table {
    place: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// Line and cells of each row, as many cells as columns.
    pub rows: Vec<(u64, Vec<String>)>,
}

/// Two objects, smaller first, with the line and the cells that contain them.
pub type Pair<'a> = ((u32, u32), u64, &'a [String]);

impl Table {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// `Data` for a file that cannot be read or whose rows are of different lengths.
    pub fn read(path: &Path) -> Result<Self> {
        let shown = path.display().to_string();
        let text = std::fs::read(path)
            .map_err(|e| Error::Data { place: shown.clone(), message: e.to_string() })?;
        let (start, named) = beginning(&text);
        let (above, text) = text.split_at(start);
        // A record is said to begin where the one before it ends, blank lines and half of a line end included.
        let line = |at: &csv::Position| {
            let rest = &text[text.len().min(at.byte() as usize)..];
            let ends = rest.iter().take_while(|&b| is_end(b));
            at.line() + above.iter().chain(ends).filter(|&&b| b == b'\n').count() as u64
        };
        let bad = |e: csv::Error| {
            let place = match e.position() {
                Some(at) => format!("{shown}, line {}", line(at)),
                None => shown.clone(),
            };
            let message = match e.kind() {
                csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                    format!("{len} cells, but the header has {expected_len}")
                }
                _ => "is not a CSV in UTF-8".into(),
            };
            Error::Data { place, message }
        };
        let header = text.split(is_end).next().unwrap_or_default();
        let many = |separator: &u8| header.iter().filter(|&b| b == separator).count();
        // Of equals the last: a comma.
        let fits = [b'\t', b';', b','].into_iter().max_by_key(many).unwrap_or(b',');
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .delimiter(named.unwrap_or(fits))
            .from_reader(text);
        let header = reader.headers().map_err(bad)?.iter().map(str::to_string).collect();
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(bad)?;
            let at = record.position().map_or(0, line);
            rows.push((at, record.iter().map(str::to_string).collect()));
        }
        Ok(Table { place: shown, header, rows })
    }

    /// The rows in which anything stands: spreadsheets write empty ones below a table.
    pub fn filled(&self) -> impl Iterator<Item = &(u64, Vec<String>)> {
        self.rows.iter().filter(|(_, cells)| cells.iter().any(|cell| !cell.is_empty()))
    }

    /// Number of the column called `name`.
    ///
    /// # Errors
    /// `Data` naming the columns there are.
    pub fn column(&self, name: &str) -> Result<usize> {
        self.header.iter().position(|c| c == name).ok_or_else(|| {
            let near = suggestion(name, self.header.iter().map(String::as_str));
            let has = self.header.join(", ");
            self.bad(1, format!("no column \"{name}\"; its columns are {has}{near}"))
        })
    }

    /// A complaint about a line.
    pub fn bad(&self, line: u64, message: impl Into<String>) -> Error {
        Error::Data { place: format!("{}, line {line}", self.place), message: message.into() }
    }

    /// The two different objects in the columns `i` and `j`, smaller first, with the line and the
    /// cells of each row.
    ///
    /// # Errors
    /// `Data` for a missing column, an object that does not exist, an object with itself.
    pub fn pairs(&self, scene: &Scene, by_id: bool) -> Result<Vec<Pair<'_>>> {
        let (i, j) = (self.column("i")?, self.column("j")?);
        let objects = self.objects(scene, by_id)?;
        let pair = |(line, cells): &(u64, Vec<String>)| objects.pair(*line, &cells[i], &cells[j]);
        self.filled().map(|row| Ok((pair(row)?, row.0, &*row.1))).collect()
    }

    /// The objects of `scene` by what cells call them.
    ///
    /// # Errors
    /// `BadParam` for ids that the data has not.
    pub fn objects<'t>(&'t self, scene: &'t Scene, by_id: bool) -> Result<Objects<'t>> {
        let ids = match (by_id, &scene.ids) {
            (false, _) => None,
            (true, Some(ids)) => Some(ids.iter().map(String::as_str).zip(0..).collect()),
            (true, None) => {
                return Err(Error::bad_param("by_id", true, "false if the data have no ids"));
            }
        };
        Ok(Objects { table: self, ids, n: scene.n })
    }
}

fn is_end(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Start of the header, after blank lines and a line `sep=;` (as written by spreadsheets), and the separator
/// from that line.
fn beginning(text: &[u8]) -> (usize, Option<u8>) {
    let mut start = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut named = None;
    if let [s, e, p, b'=', separator, end, ..] = &text[start..]
        && [s, e, p].map(u8::to_ascii_lowercase) == *b"sep"
        && matches!(separator, b',' | b';' | b'\t' | b'|')
        && is_end(end)
    {
        (start, named) = (start + 5, Some(*separator));
    }
    start += text[start..].iter().take_while(|b| is_end(b)).count();
    (start, named)
}

/// Objects by their ids, otherwise by row numbers.
pub struct Objects<'t> {
    table: &'t Table,
    ids: Option<HashMap<&'t str, u32>>,
    n: usize,
}

impl Objects<'_> {
    /// The two different objects in two cells of a line, the smaller first.
    ///
    /// # Errors
    /// Returns the errors of [`Objects::find`]; `Data` for an object with itself.
    pub fn pair(&self, line: u64, i: &str, j: &str) -> Result<(u32, u32)> {
        let (a, b) = (self.find(line, i)?, self.find(line, j)?);
        if a == b {
            return Err(self.table.bad(line, format!("object {i} with itself")));
        }
        Ok((a.min(b), a.max(b)))
    }

    /// The object in a cell of a line.
    ///
    /// # Errors
    /// `Data` for one that does not exist.
    pub fn find(&self, line: u64, cell: &str) -> Result<u32> {
        match &self.ids {
            Some(ids) => {
                let none = || self.table.bad(line, format!("no object has the id {cell:?}"));
                ids.get(cell).copied().ok_or_else(none)
            }
            None => cell.parse().ok().filter(|&o: &u32| (o as usize) < self.n).ok_or_else(|| {
                let last = self.n.saturating_sub(1);
                let message = format!("\"{cell}\" is not a row number from 0 to {last}");
                let next = match cell.parse::<usize>() {
                    Ok(count) if count == self.n => {
                        "if they are counted from 1, subtract 1 from each; or "
                    }
                    _ => "",
                };
                self.table.bad(line, format!("{message}; {next}are these ids? (by_id = true)"))
            }),
        }
    }
}
