//! How are the labels of objects read from a file and written to one?

use std::collections::HashMap;
use std::path::Path;

use mustlink_core::Result;
use mustlink_core::features::FeatureWeights;

use crate::bytes::{self, bad, place};
use crate::dataset::{Classes, Dataset};
use crate::table::{Records, column, unknown};

/// One label per object, as a file has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelColumn {
    /// Ids, where the file has a column `id`.
    pub ids: Option<Vec<String>>,
    /// Labels, `None` where the cell is empty.
    pub labels: Vec<Option<String>>,
    place: String,
}

impl LabelColumn {
    /// The labels as numbers, with their names.
    pub fn classes(&self) -> Classes {
        Classes::from_values(self.labels.iter().map(Option::as_deref))
    }

    /// The labels in the order of the objects of `other`: by id where both have ids, otherwise
    /// row by row.
    ///
    /// # Errors
    /// `Data` when the two are not about the same objects.
    pub fn in_order_of(&self, other: &LabelColumn) -> Result<LabelColumn> {
        if self.labels.len() != other.labels.len() {
            return Err(bad(
                &self.place,
                format!(
                    "{} objects, but {} has {}",
                    self.labels.len(),
                    other.place,
                    other.labels.len()
                ),
            ));
        }
        let (Some(own), Some(wanted)) = (&self.ids, &other.ids) else { return Ok(self.clone()) };
        let rows: HashMap<&str, usize> = own.iter().map(String::as_str).zip(0..).collect();
        let mut labels = Vec::with_capacity(wanted.len());
        for id in wanted {
            let Some(&row) = rows.get(id.as_str()) else {
                let message = format!("no object has the id \"{id}\", which {} has", other.place);
                return Err(bad(&self.place, message));
            };
            labels.push(self.labels[row].clone());
        }
        Ok(LabelColumn { ids: other.ids.clone(), labels, place: self.place.clone() })
    }
}

impl Dataset {
    /// The classes as a column with the ids of the objects, to compare labels with; `None` where no
    /// class is known.
    pub fn label_column(&self) -> Option<LabelColumn> {
        let classes = self.classes.as_ref()?;
        Some(LabelColumn {
            ids: Some((0..self.n()).map(|i| self.id(i)).collect()),
            labels: (0..self.n()).map(|i| classes.of(i).map(str::to_string)).collect(),
            place: self.name.clone(),
        })
    }
}

/// Reads a column of labels; `-` is the standard input.
///
/// The column is `named`, or else one called `label`, one called `class`, or the last. A column
/// called `id` holds the ids. So labels written by this program and data files with classes can
/// both be read.
///
/// # Errors
/// `Data`, with the line and what is wrong on it.
pub fn read_labels(path: &str, named: Option<&str>) -> Result<LabelColumn> {
    let path = Path::new(path);
    parse(&bytes::read(path)?, &place(path), named)
}

fn parse(content: &[u8], place: &str, named: Option<&str>) -> Result<LabelColumn> {
    let records = Records::read(content, place)?;
    let header = records.header(place, "a header row with the columns id,label")?;
    let by_name = |name: &str| header.iter().position(|c| c == name);
    let label = match named {
        Some(name) => column(header, name, place)?,
        None => by_name("label").or_else(|| by_name("class")).unwrap_or(header.len() - 1),
    };
    let id = by_name("id").filter(|&c| c != label);
    let rows = records.rows();
    if rows.is_empty() {
        return Err(bad(place, "the file has a header and no rows"));
    }
    let mut lines: HashMap<&str, u64> = HashMap::new();
    if let Some(c) = id {
        for row in rows {
            if let Some(before) = lines.insert(&row.cells[c], row.line) {
                return Err(bad(
                    format!("{place}, line {}", row.line),
                    format!("the id \"{}\" stands on line {before} already", &row.cells[c]),
                ));
            }
        }
    }
    let text = |c: usize| rows.iter().map(move |r| &r.cells[c]);
    Ok(LabelColumn {
        ids: id.map(|c| text(c).map(str::to_string).collect()),
        labels: text(label).map(|l| Some(l).filter(|l| !unknown(l)).map(str::to_string)).collect(),
        place: place.into(),
    })
}

/// Writes `id,label` for all objects of `dataset`, empty where there is no label; `-` is the
/// standard output.
///
/// # Errors
/// `Data` when the file cannot be written; nothing is left of it then.
pub fn write_labels(path: &str, dataset: &Dataset, labels: &[Option<u32>]) -> Result<()> {
    bytes::write(Path::new(path), &format(dataset, labels)?)
}

/// Writes feature weights as [`weights_csv`] gives them; `-` is the standard output.
///
/// # Errors
/// `Data` when the file cannot be written; nothing is left of it then.
pub fn write_weights(path: &str, weights: &FeatureWeights) -> Result<()> {
    bytes::write(Path::new(path), &weights_csv(weights)?)
}

/// Feature weights as CSV: `cluster` and a column per feature; the row `all` is that of every cluster.
///
/// # Errors
/// `Data` when the writer fails.
pub fn weights_csv(weights: &FeatureWeights) -> Result<Vec<u8>> {
    let mut out = csv::Writer::from_writer(Vec::new());
    let fail = |e: csv::Error| bad("weights", e.to_string());
    let names = weights.features.iter().map(String::as_str);
    out.write_record(std::iter::once("cluster").chain(names)).map_err(fail)?;
    for (at, row) in weights.rows.iter().enumerate() {
        let name = if weights.rows.len() == 1 { "all".into() } else { at.to_string() };
        let values = row.iter().map(f64::to_string);
        out.write_record(std::iter::once(name).chain(values)).map_err(fail)?;
    }
    out.into_inner().map_err(|e| bad("weights", e.to_string()))
}

fn format(dataset: &Dataset, labels: &[Option<u32>]) -> Result<Vec<u8>> {
    if labels.len() != dataset.n() {
        let message = format!("{} labels for {} objects", labels.len(), dataset.n());
        return Err(bad(&dataset.name, message));
    }
    let mut out = csv::Writer::from_writer(Vec::new());
    let fail = |e: csv::Error| bad("labels", e.to_string());
    out.write_record(["id", "label"]).map_err(fail)?;
    for (i, label) in labels.iter().enumerate() {
        let label = label.map(|l| l.to_string()).unwrap_or_default();
        out.write_record([dataset.id(i), label]).map_err(fail)?;
    }
    out.into_inner().map_err(|e| bad("labels", e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::Data;
    use ndarray::Array2;

    fn of(text: &str) -> LabelColumn {
        parse(text.as_bytes(), "l.csv", None).unwrap()
    }

    #[test]
    fn written_and_read() {
        let data = Data::dense(Array2::zeros((3, 1))).unwrap();
        let ids = ["a,b", "c", "d"].map(String::from);
        let set = Dataset { ids: Some(ids.to_vec().into()), ..Dataset::new("set", data) };
        let text = format(&set, &[Some(1), None, Some(0)]).unwrap();
        assert_eq!(String::from_utf8_lossy(&text), "id,label\n\"a,b\",1\nc,\nd,0\n");
        let back = parse(&text, "l.csv", None).unwrap();
        assert_eq!(back.ids.as_deref(), Some(&ids[..]));
        assert_eq!(back.labels, [Some("1".to_string()), None, Some("0".into())]);
        assert_eq!(*back.classes().labels, [Some(1), None, Some(0)]);
        assert!(format(&set, &[]).is_err());
    }

    #[test]
    fn the_column_is_found() {
        assert_eq!(of("x,class,y\n1,a,2\n").labels, [Some("a".to_string())]);
        assert_eq!(of("x,y\n1,2\n").labels, [Some("2".to_string())]);
        assert_eq!(of("label\n7\n").ids, None);
        let named = parse(b"id,label,class\n1,2,3\n", "l.csv", Some("class")).unwrap();
        assert_eq!(named.labels, [Some("3".to_string())]);
    }

    #[test]
    fn two_files_are_brought_together() {
        let (truth, found) = (of("id,label\na,x\nb,y\n"), of("id,label\nb,0\na,1\n"));
        let found = found.in_order_of(&truth).unwrap();
        assert_eq!(found.labels, [Some("1".to_string()), Some("0".into())]);
        let other = of("id,label\nb,0\nc,1\n").in_order_of(&truth).unwrap_err().to_string();
        assert_eq!(other, "l.csv: no object has the id \"a\", which l.csv has");
        let short = of("id,label\nb,0\n").in_order_of(&truth).unwrap_err().to_string();
        assert_eq!(short, "l.csv: 1 objects, but l.csv has 2");
        let twice = parse(b"id,label\na,0\na,1\n", "l.csv", None).unwrap_err().to_string();
        assert_eq!(twice, "l.csv, line 3: the id \"a\" stands on line 2 already");
    }
}
