//! Cells that become a CSV in memory, and errors about a place in a file.

use mustlink_core::{Error, Result};

/// The message about a file without rows.
pub const NO_ROWS: &str = "the file has a header and no rows";

/// The cells of a file that is not a text, as CSV.
#[cfg_attr(not(any(feature = "parquet", feature = "xlsx")), allow(dead_code))]
pub(crate) struct Converted {
    pub text: Vec<u8>,
    /// The part of the file that they are from.
    pub part: Option<String>,
    pub note: Option<String>,
}

/// An error about a place in a file.
pub fn bad(place: impl std::fmt::Display, message: impl Into<String>) -> Error {
    Error::Data { place: place.to_string(), message: message.into() }
}

/// The CSV that `write` makes; an error names `place`.
pub fn csv_text(
    place: impl std::fmt::Display,
    write: impl FnOnce(&mut csv::Writer<Vec<u8>>) -> csv::Result<()>,
) -> Result<Vec<u8>> {
    let mut out = csv::Writer::from_writer(Vec::new());
    write(&mut out).map_err(|e| bad(&place, e.to_string()))?;
    out.into_inner().map_err(|e| bad(&place, e.to_string()))
}
