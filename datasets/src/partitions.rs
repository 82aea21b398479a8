//! How are partitions that somebody already has read from a file?

use std::collections::HashMap;
use std::path::Path;

use mustlink_core::clustering::NONE;
use mustlink_core::ensemble::{Ensemble, Member};
use mustlink_core::{Data, Result};
use ndarray::Array2;

use crate::bytes::{self, bad, place};
use crate::dataset::{Classes, Dataset};
use crate::table::{Records, column, ids, unknown};

/// Partitions of the same objects, one per column of a file.
#[derive(Debug, Clone)]
pub struct Partitions {
    /// The objects: ids and classes where the file has them. Their only feature is 0.
    pub objects: Dataset,
    /// The partitions in the order of the columns, each named after its column.
    pub ensemble: Ensemble,
}

/// Reads a CSV of partitions: one row per object, one column per partition, any text as label; an
/// empty cell or `?` is a missing label. `-` is the standard input.
///
/// The column `id`, or the one called `id_column`, holds the ids; the last one if it is called `class`,
/// or the one called `class_column`, the classes.
///
/// # Errors
/// `Data`, with the line and what is wrong on it.
pub fn read_partitions(
    path: &str,
    id_column: Option<&str>,
    class_column: Option<&str>,
) -> Result<Partitions> {
    let path = Path::new(path);
    let name = path.file_stem().map_or("-".into(), |s| s.to_string_lossy().into_owned());
    parse(&bytes::read(path)?, &place(path), &name, id_column, class_column)
}

fn parse(
    content: &[u8],
    place: &str,
    name: &str,
    id_column: Option<&str>,
    class_column: Option<&str>,
) -> Result<Partitions> {
    let records = Records::read(content, place)?;
    let header = records.header(place, "a header row and one column of labels per partition")?;
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (at, name) in header.iter().enumerate() {
        if let Some(before) = seen.insert(name, at) {
            let message =
                format!("columns {} and {} are both named \"{name}\"", before + 1, at + 1);
            return Err(bad(format!("{place}, line 1"), message));
        }
    }
    let id = match id_column {
        Some(name) => Some(column(header, name, place)?),
        None => header.iter().position(|c| c == "id"),
    };
    let class = match class_column {
        Some(name) => Some(column(header, name, place)?),
        None => header.iter().next_back().filter(|&last| last == "class").map(|_| header.len() - 1),
    };
    if id.is_some() && id == class {
        return Err(bad(place, "one column cannot be both the class and the id"));
    }
    let rows = records.rows();
    if rows.is_empty() {
        return Err(bad(place, "the file has a header and no rows"));
    }
    let labels = |c: usize| {
        let cells = rows.iter().map(move |r| &r.cells[c]);
        Classes::from_values(cells.map(|cell| Some(cell).filter(|c| !unknown(c))))
    };
    let mut members = Vec::new();
    for c in (0..header.len()).filter(|&c| ![id, class].contains(&Some(c))) {
        let column = labels(c);
        if column.k() == 0 {
            return Err(bad(place, format!("column \"{}\" holds no label", &header[c])));
        }
        let numbers: Vec<u32> = column.labels.iter().map(|l| l.unwrap_or(NONE)).collect();
        members.push(Member { provenance: header[c].into(), ..Member::from_labels(&numbers) });
    }
    if members.is_empty() {
        return Err(bad(place, "no column is left as a partition"));
    }
    let n = rows.len();
    let objects = Dataset {
        ids: id.map(|c| ids(rows.iter().map(|r| (r.line, &r.cells[c])), place)).transpose()?,
        classes: class.map(labels).filter(|c| c.k() > 0),
        ..Dataset::new(name, Data::dense(Array2::zeros((n, 1)))?)
    };
    Ok(Partitions { objects, ensemble: Ensemble::new(n, members)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Partitions> {
        parse(text.as_bytes(), "p.csv", "p", None, None)
    }

    #[test]
    fn any_text_is_a_label_and_an_empty_cell_is_none() {
        let p = of("id,one,two,class\na,x,7,p\nb,y,,p\nc,x,-1,q\n").unwrap();
        let labels: Vec<&[u32]> = p.ensemble.members().iter().map(|m| &m.labels[..]).collect();
        assert_eq!(labels, [&[0, 1, 0][..], &[0, NONE, 1]]);
        assert_eq!(p.ensemble.members()[1].provenance, "two");
        assert_eq!((p.objects.id(2), p.objects.k()), ("c".into(), Some(2)));
        let bare = of("one\n3\n3\n").unwrap();
        assert_eq!((bare.objects.id(1), bare.objects.k()), ("1".into(), None));
    }

    #[test]
    fn what_is_no_table_of_partitions_is_refused() {
        let error = |text: &str| of(text).unwrap_err().to_string();
        assert_eq!(error("one,two\n1,\n2,?\n"), "p.csv: column \"two\" holds no label");
        assert_eq!(
            error("one,one\n1,1\n"),
            "p.csv, line 1: columns 1 and 2 are both named \"one\""
        );
        assert_eq!(error("id\na\n"), "p.csv: no column is left as a partition");
        assert_eq!(error("one\n"), "p.csv: the file has a header and no rows");
        assert_eq!(
            error("id,one\na,1\na,2\n"),
            "p.csv, line 3: the id \"a\" stands on line 2 already"
        );
    }
}
