//! Parquet files as the CSV of their cells (feature `parquet`).

#![cfg(feature = "parquet")]

use bytes::Bytes;
use mustlink_core::Error;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use crate::converted::{Converted, csv_text};

/// The name that pandas gives to the column of an index without a name.
const INDEX: &str = "__index_level_0__";

/// The cells of a Parquet file. Truth values are 1 and 0, times are texts, and null is an empty cell.
pub(crate) fn to_csv(content: Vec<u8>) -> Result<Converted, String> {
    let reader = SerializedFileReader::new(Bytes::from(content)).map_err(|e| fault(&e))?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let fields = schema.root_schema().get_fields();
    if let Some(nested) = fields.iter().find(|field| !field.is_primitive()) {
        return Err(format!(
            "column \"{}\" contains lists or tables; save one column for each number",
            nested.name()
        ));
    }
    let names = fields.iter().map(|f| if f.name() == INDEX { "index" } else { f.name() });
    let rows = reader.get_row_iter(None).map_err(|e| fault(&e))?;
    let mut wrong = None;
    let text = csv_text("", |out| {
        out.write_record(names)?;
        for row in rows {
            match row {
                Ok(row) => out.write_record(row.get_column_iter().map(|(_, cell)| shown(cell)))?,
                Err(e) => {
                    wrong = Some(fault(&e));
                    break;
                }
            }
        }
        Ok(())
    });
    match (wrong, text) {
        (Some(wrong), _) => Err(wrong),
        (None, Ok(text)) => Ok(Converted { text, part: None, note: None }),
        (None, Err(Error::Data { message, .. })) => Err(message),
        (None, Err(e)) => Err(e.to_string()),
    }
}

fn shown(cell: &Field) -> String {
    match cell {
        Field::Null => String::new(),
        Field::Bool(value) => u8::from(*value).to_string(),
        // As every program reads single precision.
        Field::Float(value) => f64::from(*value).to_string(),
        Field::Float16(value) => value.to_f64().to_string(),
        Field::Double(value) => value.to_string(),
        Field::Str(text) => text.clone(),
        Field::Bytes(bytes) => String::from_utf8_lossy(bytes.data()).into_owned(),
        other => other.to_string(),
    }
}

fn fault(e: &ParquetError) -> String {
    let text = e.to_string();
    if text.contains("Disabled feature") {
        return format!("{text}; save the file with the compression snappy, gzip or none");
    }
    format!("the Parquet file is damaged: {text}")
}
