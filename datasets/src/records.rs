//! The records of a small CSV, all at once.

use std::path::Path;

use mustlink_core::Result;

use crate::bytes::{Input, bad};
use crate::sheet::Sheet;

/// A record with the line it starts on.
pub(crate) struct Record {
    pub line: u64,
    pub cells: Vec<String>,
}

/// Header and records, every one as long as the header.
pub(crate) struct Records {
    pub header: Vec<String>,
    pub rows: Vec<Record>,
    /// How the file is called in messages.
    pub place: String,
}

impl Records {
    /// Reads a file; `-` is the standard input. `expected` says what it should hold.
    pub fn open(path: &str, expected: &str) -> Result<Self> {
        Records::read(Input::open(Path::new(path))?, expected)
    }

    /// Reads what `input` gives.
    pub fn read(input: Input<'_>, expected: &str) -> Result<Self> {
        let sheet = Sheet::open(input, None, expected)?;
        let (header, place) = (sheet.header().to_vec(), sheet.place().to_string());
        let mut rows = Vec::new();
        let take = |part: &mut Vec<Record>, line, cells: &[&str]| {
            part.push(Record { line, cells: cells.iter().map(ToString::to_string).collect() });
            Ok(())
        };
        sheet.each(take, |part| rows.extend(part))?;
        Ok(Records { header, rows, place })
    }

    /// At least one record.
    ///
    /// # Errors
    /// `Data` without any.
    pub fn not_empty(&self) -> Result<()> {
        if self.rows.is_empty() {
            Err(bad(&self.place, "the file has a header and no rows"))
        } else {
            Ok(())
        }
    }

    /// The column of that exact name, where there is one.
    pub fn by_name(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|c| c == name)
    }

    /// The cells of column `c` with their lines.
    pub fn column(&self, c: usize) -> Vec<(u64, String)> {
        self.rows.iter().map(|r| (r.line, r.cells[c].clone())).collect()
    }
}
