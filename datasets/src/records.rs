//! The records of a small CSV, all at once.

use std::path::Path;

use mustlink_core::Result;

use crate::bytes::{Input, bad};
use crate::converted::NO_ROWS;
use crate::options::within;
use crate::sheet::Sheet;

/// Cells one after the other, as one text: files of labels may have millions of rows.
#[derive(Default)]
struct Cells {
    text: String,
    /// The end of each cell.
    ends: Vec<usize>,
    /// The line that each record starts on.
    lines: Vec<u64>,
}

impl Cells {
    fn push(&mut self, line: u64, cells: &[&str]) {
        self.lines.push(line);
        for cell in cells {
            self.text.push_str(cell);
            self.ends.push(self.text.len());
        }
    }

    fn bytes(&self) -> u64 {
        (self.text.len() + 8 * (self.ends.len() + self.lines.len())) as u64
    }

    fn append(&mut self, next: Cells) {
        let before = self.text.len();
        self.text.push_str(&next.text);
        self.ends.extend(next.ends.into_iter().map(|end| before + end));
        self.lines.extend(next.lines);
    }
}

/// Header and records, every one as long as the header.
pub(crate) struct Records {
    pub header: Vec<String>,
    /// How the file is called in messages.
    pub place: String,
    cells: Cells,
}

impl Records {
    /// Reads a file; `-` is the standard input. `expected` says what it should hold.
    pub fn open(path: &str, expected: &str) -> Result<Self> {
        Records::read(Input::open(Path::new(path))?, expected, None)
    }

    /// Reads what `input` gives, within a memory limit.
    pub fn read(input: Input<'_>, expected: &str, limit: Option<u64>) -> Result<Self> {
        Records::of(Sheet::open(input, None, expected)?, limit)
    }

    /// Reads the records of a sheet, within a memory limit.
    pub fn of(sheet: Sheet<'_>, limit: Option<u64>) -> Result<Self> {
        let (header, place) = (sheet.header().to_vec(), sheet.place().to_string());
        let mut all = Cells::default();
        let take = |part: &mut Cells, line: u64, cells: &[&str]| {
            part.push(line, cells);
            Ok(())
        };
        sheet.each(take, |part| {
            all.append(part);
            within(limit, all.bytes(), &place)
        })?;
        Ok(Records { header, place, cells: all })
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> u64 {
        self.cells.bytes()
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.cells.lines.len()
    }

    /// The line that a record starts on.
    pub fn line(&self, record: usize) -> u64 {
        self.cells.lines[record]
    }

    /// The cell of a record in column `c`.
    pub fn cell(&self, record: usize, c: usize) -> &str {
        let at = record * self.header.len() + c;
        let start = if at == 0 { 0 } else { self.cells.ends[at - 1] };
        &self.cells.text[start..self.cells.ends[at]]
    }

    /// The cells of column `c`.
    pub fn cells(&self, c: usize) -> impl Iterator<Item = &str> {
        (0..self.len()).map(move |record| self.cell(record, c))
    }

    /// At least one record.
    ///
    /// # Errors
    /// `Data` without any.
    pub fn not_empty(&self) -> Result<()> {
        if self.len() == 0 { Err(bad(&self.place, NO_ROWS)) } else { Ok(()) }
    }

    /// The column of that exact name, where there is one.
    pub fn by_name(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|c| c == name)
    }

    /// The column that is called id in letters of any size, where there is one.
    pub fn called_id(&self) -> Option<usize> {
        self.header.iter().position(|c| c.eq_ignore_ascii_case("id"))
    }

    /// The cells of column `c` with their lines.
    pub fn column(&self, c: usize) -> Vec<(u64, String)> {
        self.cells.lines.iter().copied().zip(self.cells(c).map(str::to_string)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each cell was a text of its own: 340 bytes a row.
    #[test]
    fn a_row_takes_little_more_than_its_text() {
        let n = 400_000;
        let mut text = String::from("id,label\n");
        (0..n).for_each(|i| text += &format!("o{i},{}\n", i % 7));
        let records = Records::read(Input::of(text.as_bytes(), "l.csv"), "labels", None).unwrap();
        assert_eq!(records.len(), n);
        let at = n - 3;
        assert_eq!((records.cell(at, 0), records.line(at)), (&*format!("o{at}"), at as u64 + 2));
        assert_eq!(records.cells(1).last().map(str::to_string), Some(((n - 1) % 7).to_string()));
        let Cells { text, ends, lines } = &records.cells;
        let bytes = text.capacity() + 8 * (ends.capacity() + lines.capacity());
        assert!(bytes < 100 * n, "{bytes} bytes");
    }
}
