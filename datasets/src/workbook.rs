//! Workbooks of spreadsheet programs as the CSV of their first sheet (feature `xlsx`).

#![cfg(feature = "xlsx")]

use std::io::Cursor;

use calamine::{Data, Reader, SheetType, open_workbook_auto_from_rs};
use mustlink_core::text::{count, form};

use crate::converted::{Converted, csv_text};

/// The cells of the first sheet. Truth values are 1 and 0, times are texts. Lines are those of the sheet.
pub(crate) fn to_csv(content: Vec<u8>) -> Result<Converted, String> {
    let damaged = |e: calamine::Error| format!("cannot be read as a workbook: {e}");
    let mut book = open_workbook_auto_from_rs(Cursor::new(content)).map_err(damaged)?;
    let sheets = book.sheets_metadata().iter().filter(|s| s.typ == SheetType::WorkSheet);
    let names: Vec<String> = sheets.map(|sheet| sheet.name.clone()).collect();
    let [name, others @ ..] = names.as_slice() else {
        return Err("the workbook has no sheet".into());
    };
    let range = book.worksheet_range(name).map_err(damaged)?;
    let (first, _) = range.start().unwrap_or_default();
    let mut text = vec![b'\n'; first as usize];
    let is_empty = |cell: &Data| matches!(cell, Data::Empty);
    let rows = range.rows().collect::<Vec<_>>();
    let used = rows.iter().rposition(|row| !row.iter().all(is_empty)).map_or(0, |at| at + 1);
    let written = csv_text("", |out| {
        rows[..used].iter().try_for_each(|row| out.write_record(row.iter().map(shown)))
    });
    text.extend(written.map_err(|e| e.to_string())?);
    let (part, note) = match others.len() {
        0 => (None, None),
        n => (
            Some(format!("sheet {name}")),
            Some(format!(
                "the first sheet, {name}, is read; {} {} not: {}",
                count(n, "sheet"),
                form(n, "is", "are"),
                others.join(", ")
            )),
        ),
    };
    Ok(Converted { text, part, note })
}

fn shown(cell: &Data) -> String {
    match cell {
        Data::Bool(value) => u8::from(*value).to_string(),
        Data::DateTime(time) if time.is_duration() => time.as_f64().to_string(),
        Data::DateTime(time) => {
            let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
            let date = format!("{year:04}-{month:02}-{day:02}");
            match (hour, minute, second) {
                (0, 0, 0) => date,
                _ => format!("{date} {hour:02}:{minute:02}:{second:02}"),
            }
        }
        // The mark of a value that is not available.
        Data::Error(calamine::CellErrorType::NA) => String::new(),
        other => other.to_string(),
    }
}
