//! The reader of files with existing partitions.

use std::path::Path;

use mustlink_core::clustering::NONE;
use mustlink_core::ensemble::{Ensemble, Member};
use mustlink_core::roles::Scene;
use mustlink_core::{Data, Result};
use ndarray::Array2;

use crate::bytes::{Input, bad};
use crate::columns::{check_names, column, counts, first_row, option_word};
use crate::dataset::{Classes, Dataset, Reading};
use crate::options::within;
use crate::records::Records;
use crate::table::{ONCE, classes_of, ids};

/// Partitions of the same objects, one per column of a file.
#[derive(Debug, Clone)]
pub struct Partitions {
    /// The objects: ids and classes where the file has them. Their only feature is 0.
    pub objects: Dataset,
    /// The partitions in the order of the columns, each named after its column.
    pub ensemble: Ensemble,
}

/// Reads a CSV of partitions: one row per object, one column per partition, any text as label; an
/// empty cell, `?`, `NA` or `-1` is a missing label. `-` is the standard input.
///
/// The column `id`, or the one called `id_column`, holds the ids; the last one if it is called `class`,
/// or the one called `class_column`, the classes; those in `ignore` are left out. A column without a name
/// is called by its place, `#1` the first.
///
/// # Errors
/// `Memory` if the cells and labels take more than `memory_limit` bytes.
/// `Data`, with the line and what is wrong on it; for a column that holds no partition: values that all
/// differ, or numbers that are not whole.
pub fn read_partitions(
    path: &str,
    id_column: Option<&str>,
    class_column: Option<&str>,
    ignore: &[String],
    memory_limit: Option<u64>,
) -> Result<Partitions> {
    let name = Path::new(path).file_stem().map_or("-".into(), |s| s.to_string_lossy().into_owned());
    let records = Records::read(Input::open(Path::new(path))?, EXPECTED, memory_limit)?;
    let labels = records.len() * (4 * records.header.len() + WHILE_READ);
    within(memory_limit, records.bytes() + labels as u64, &records.place)?;
    parse(&records, &name, id_column, class_column, ignore)
}

/// Bytes of an object while a column is read: its cell, and its label in three forms.
const WHILE_READ: usize = 28;

const EXPECTED: &str = "a header row and one column of labels per partition";

fn parse(
    records: &Records,
    name: &str,
    id_column: Option<&str>,
    class_column: Option<&str>,
    ignore: &[String],
) -> Result<Partitions> {
    let Records { header, place, .. } = records;
    let ignored: Vec<usize> =
        ignore.iter().map(|name| column(header, name, place)).collect::<Result<_>>()?;
    let id = match id_column {
        Some(name) => Some(column(header, name, place)?),
        None => records.called_id(),
    };
    let id = id.filter(|c| id_column.is_some() || !ignored.contains(c));
    let class = match class_column {
        Some(name) => Some(column(header, name, place)?),
        None => header.last().filter(|last| *last == "class").map(|_| header.len() - 1),
    };
    let class = class.filter(|c| class_column.is_some() || !ignored.contains(c));
    if id.is_some() && id == class {
        return Err(bad(place, "one column cannot be both the class and the id"));
    }
    let settled: Vec<usize> = ignored.iter().copied().chain(id).chain(class).collect();
    let by_name = |name: &str| header.iter().any(|column| column == name.trim());
    let mut words =
        id_column.into_iter().chain(class_column).chain(ignore.iter().map(String::as_str));
    // So is a column "id" or "class" that nobody named.
    let called = words.any(by_name)
        || (id_column.is_none() && id.is_some())
        || (class_column.is_none() && class.is_some());
    check_names(header, place, &settled, "write a row of names above", called)?;
    records.not_empty()?;
    let cells = |c: usize| -> Vec<&str> { records.cells(c).collect() };
    let mut members = Vec::new();
    for c in (0..header.len()).filter(|c| !settled.contains(c)) {
        let name = &header[c];
        if ["class", "classes", "target", "truth"].contains(&name.to_lowercase().as_str()) {
            let message = format!(
                "column \"{name}\" looks like classes; declare this with --class {}; if it is a partition, give it \
                 another name",
                option_word([(c, name.as_str())])
            );
            return Err(bad(place, message));
        }
        members.push(member(name, &cells(c), place)?);
    }
    if members.is_empty() {
        return Err(bad(place, "no column is left as a partition"));
    }
    let partitions = (0..header.len()).filter(|c| !settled.contains(c));
    let is_label = |c: usize| records.cells(c).any(|cell| cell == header[c]);
    if !called
        && partitions.clone().all(is_label)
        && let Some(first) = partitions.clone().next()
    {
        let message = format!(
            "the first row must name the columns, and \"{}\" is a label below; write a row of names above",
            header[first]
        );
        return Err(bad(format!("{place}, line 1"), message));
    }
    let n = records.len();
    let may_be_object = !called && (counts(header) || partitions.clone().any(is_label));
    let remedy = "if it is an object, write a row of names above";
    let reading = Reading {
        id: id.map(|c| header[c].clone()),
        class: class.map(|c| header[c].clone()),
        notes: may_be_object.then(|| first_row(header, remedy)).into_iter().collect(),
        ..Reading::default()
    };
    let objects = Dataset {
        ids: id.map(|c| ids(records.column(c), place, ONCE)).transpose()?,
        classes: class.map(|c| classes_of(&cells(c), &header[c], place)).transpose()?,
        reading,
        ..Dataset::new(name, Data::dense(Array2::zeros((n, 1)))?)
    };
    Ok(Partitions { objects, ensemble: Ensemble::new(n, members)? })
}

/// The partition in a column.
fn member(name: &str, cells: &[&str], place: &str) -> Result<Member> {
    let refused = |what: String| {
        Err(bad(
            place,
            format!("column \"{name}\" is not a partition: {what}; give a column of ids with --id"),
        ))
    };
    let labels = cells.iter().map(|cell| (!Scene::is_unknown(cell)).then_some(*cell));
    let column = Classes::from_values(labels);
    if column.k() == 0 {
        return Err(bad(place, format!("column \"{name}\" holds no label")));
    }
    if column.k() > 2 && column.k() == cells.len() {
        return refused("each object has a label of its own".into());
    }
    let broken = |label: &&String| label.parse::<f64>().is_ok_and(|v| v.fract() != 0.0);
    if let Some(label) = column.names.iter().find(broken) {
        return refused(format!("{label} is a measurement, not the name of a cluster"));
    }
    let numbers: Vec<u32> = column.labels.iter().map(|l| l.unwrap_or(NONE)).collect();
    Ok(Member { provenance: name.into(), ..Member::from_labels(&numbers) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Partitions> {
        let records = Records::read(Input::of(text.as_bytes(), "p.csv"), EXPECTED, None)?;
        parse(&records, "p", None, None, &[])
    }

    #[test]
    fn any_text_is_a_label_and_an_empty_cell_is_none() {
        let p = of("id,one,two,class\na,x,7,p\nb,y,,p\nc,x,8,q\nd,y,-1,q\ne,x,NA,NA\n").unwrap();
        let labels: Vec<&[u32]> = p.ensemble.members().iter().map(|m| &m.labels[..]).collect();
        assert_eq!(labels, [&[0, 1, 0, 1, 0][..], &[0, NONE, 1, NONE, NONE]]);
        assert_eq!(p.ensemble.members()[1].provenance, "two");
        assert_eq!((p.objects.id(2), p.objects.k()), ("c".into(), Some(2)));
        // A blank line is an object without a label.
        let bare = of("one\n3\n\n3\n").unwrap();
        assert_eq!((bare.objects.id(1), bare.objects.k()), ("1".into(), None));
        assert_eq!(bare.ensemble.members()[0].labels, [0, NONE, 0]);
        // Candidates are called by their numbers.
        let numbered = of("id,0,1,3\na,x,1,2\nb,x,1,1\nc,y,2,1\n").unwrap();
        assert_eq!(numbered.ensemble.members()[2].provenance, "3");
        assert!(of("2,0,1,3\n2,0,1,2\n").is_err());
    }

    #[test]
    fn what_is_ignored_is_neither_id_nor_class() {
        let text = "id,one,class\na,1,x\nb,1,y\nc,2,y\n";
        let records = Records::read(Input::of(text.as_bytes(), "p.csv"), EXPECTED, None).unwrap();
        let ignored = ["id", "class"].map(String::from);
        let read = parse(&records, "p", None, None, &ignored).unwrap();
        assert!(read.objects.ids.is_none() && read.objects.k().is_none());
        assert_eq!(read.ensemble.len(), 1);
    }

    #[test]
    fn what_is_no_table_of_partitions_is_refused() {
        let error = |text: &str| of(text).unwrap_err().to_string();
        assert_eq!(error("one,two\n1,\n2,?\n"), "p.csv: column \"two\" holds no label");
        assert_eq!(
            error("one,one\n1,1\n"),
            "p.csv, line 1: columns 1 and 2 are both named \"one\""
        );
        assert_eq!(
            error("one\na\nb\nc\n"),
            "p.csv: column \"one\" is not a partition: each object has a label of its own; give a \
             column of ids with --id"
        );
        assert!(error("one\n1.5\n2\n2\n").contains("1.5 is a measurement"));
        assert!(error("class,one\na,1\nb,1\n").contains("looks like classes"));
        assert_eq!(error("id\na\n"), "p.csv: no column is left as a partition");
        assert_eq!(error("one\n"), "p.csv: the file has a header and no rows");
        assert_eq!(
            error("id,one\na,1\na,2\n"),
            "p.csv, line 3: the id \"a\" is also on line 2; 1 row repeats an id in all. Name each object once"
        );
    }
}
