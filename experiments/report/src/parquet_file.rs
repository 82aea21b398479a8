//! All rows as one Parquet file, next to `results.csv` (feature `parquet`).
//!
//! The same columns with types: text, whole numbers, numbers, true or false. A missing value is null.

use std::path::Path;

use mustlink_core::{Error, Result};
use mustlink_experiments::results::{Finished, cells, columns};
use mustlink_experiments::write_whole;
use serde_json::Value;

use mustlink_experiments::row::{Kind, Row};

/// Writes every row into `results.parquet` of the directory `dir`.
///
/// # Errors
/// `Data` when it cannot be written.
pub(crate) fn write(dir: &Path, finished: &Finished) -> Result<()> {
    let path = dir.join("results.parquet");
    let place = path.display().to_string();
    let table = to_parquet(&finished.rows(), finished.experiment.columns());
    write_whole(&path, ".part", &table.map_err(|message| Error::Data { place, message })?)
}

/// Rows as Parquet, in the order given.
fn to_parquet(rows: &[Row], metrics: &[String]) -> std::result::Result<Vec<u8>, String> {
    use std::sync::Arc;

    use parquet::basic::{LogicalType, Repetition, Type as Physical};
    use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::types::Type;

    fn said(e: parquet::errors::ParquetError) -> String {
        e.to_string()
    }
    let columns = columns(rows, metrics);
    let mut fields = Vec::with_capacity(columns.len());
    for (name, kind) in &columns {
        let (physical, logical) = match kind {
            Kind::Text | Kind::Nested => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Whole => (Physical::INT64, None),
            Kind::Real => (Physical::DOUBLE, None),
            Kind::Flag => (Physical::BOOLEAN, None),
        };
        let field = Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical);
        fields.push(Arc::new(field.build().map_err(said)?));
    }
    let schema = Type::group_type_builder("results").with_fields(fields).build().map_err(said)?;
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer =
        SerializedFileWriter::new(Vec::new(), Arc::new(schema), properties).map_err(said)?;
    let values = rows.iter().map(cells).collect::<std::result::Result<Vec<_>, _>>();
    let values = values.map_err(|e| e.to_string())?;
    let mut group = writer.next_row_group().map_err(said)?;
    for (name, kind) in &columns {
        let there: Vec<Option<&Value>> =
            values.iter().map(|row| row.get(*name).filter(|v| !v.is_null())).collect();
        let levels: Vec<i16> = there.iter().map(|v| i16::from(v.is_some())).collect();
        let present = || there.iter().flatten();
        let levels = Some(&levels[..]);
        let mut column =
            group.next_column().map_err(said)?.ok_or("fewer columns than the schema has")?;
        match kind {
            Kind::Text | Kind::Nested => {
                let text = |v: &&Value| v.as_str().map_or_else(|| v.to_string(), str::to_string);
                let texts: Vec<ByteArray> =
                    present().map(|v| ByteArray::from(text(v).into_bytes())).collect();
                column.typed::<ByteArrayType>().write_batch(&texts, levels, None)
            }
            Kind::Whole => {
                let whole: Vec<i64> = present().filter_map(|v| v.as_i64()).collect();
                column.typed::<Int64Type>().write_batch(&whole, levels, None)
            }
            Kind::Real => {
                let real: Vec<f64> = present().filter_map(|v| v.as_f64()).collect();
                column.typed::<DoubleType>().write_batch(&real, levels, None)
            }
            Kind::Flag => {
                let flags: Vec<bool> = present().filter_map(|v| v.as_bool()).collect();
                column.typed::<BoolType>().write_batch(&flags, levels, None)
            }
        }
        .map_err(said)?;
        column.close().map_err(said)?;
    }
    group.close().map_err(said)?;
    writer.into_inner().map_err(said)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::*;
    use mustlink_experiments::results::to_csv;

    /// The reader returns the content of the CSV.
    #[test]
    fn the_file_says_what_the_csv_says() {
        let metrics = ["ari".to_string(), "ami[average=max]".to_string()];
        let scores =
            |ari| BTreeMap::from([(metrics[0].clone(), ari), (metrics[1].clone(), Some(0.1))]);
        let rows = [
            Row {
                dataset: "iris".into(),
                n: 150,
                k_found: Some(3),
                converged: Some(true),
                objective: Some(0.1 + 0.2),
                message: Some("a \"word\", a comma".into()),
                scores: scores(Some(-0.5)),
                ..Row::default()
            },
            Row { dataset: "wine".into(), n: 178, scores: scores(None), ..Row::default() },
        ];
        let bytes = to_parquet(&rows, &metrics).unwrap();
        assert_eq!(to_parquet(&rows, &metrics).unwrap(), bytes);
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        let mut csv = csv::Reader::from_reader(&*to_csv(&rows, &metrics).unwrap().leak());
        let heads = csv.headers().unwrap().clone();
        let mut count = 0;
        for (row, line) in reader.get_row_iter(None).unwrap().zip(csv.records()) {
            let (row, line) = (row.unwrap(), line.unwrap());
            assert_eq!(row.len(), line.len());
            for (((name, field), head), cell) in row.get_column_iter().zip(&heads).zip(&line) {
                assert_eq!(name, head);
                use parquet::record::Field::{Bool, Double, Long, Null, Str};
                let text = match field {
                    Null => String::new(),
                    Bool(b) => b.to_string(),
                    Long(n) => n.to_string(),
                    Double(x) => serde_json::json!(x).to_string(),
                    Str(s) => s.clone(),
                    other => panic!("{name}: {other:?}"),
                };
                assert_eq!(text, cell, "{name}");
            }
            count += 1;
        }
        assert_eq!(count, 2);
    }
}
