//! Labels read from a file and written to one.

use std::collections::{HashMap, HashSet};

use mustlink_core::clustering::NONE;
use mustlink_core::roles::Scene;
use mustlink_core::text::count;
use mustlink_core::{Error, Result};

use crate::bytes::{bad, write_rows};
use crate::columns::{column, says_class, shell_word};
use crate::dataset::{Classes, Dataset};
use crate::records::Records;
use crate::table::{ONCE, classes_of, ids};

/// Labels of objects, read from one column of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelColumn {
    /// Ids, where a column holds them.
    pub ids: Option<Vec<String>>,
    /// Labels, unknown where the cell is empty, `?`, `NA` or `-1`.
    pub labels: Classes,
    /// Name of the column.
    pub column: String,
    place: String,
    /// Columns whose cells all differ: ids, if any.
    candidates: Vec<(String, Vec<String>)>,
    /// Some label is -1.
    minus_one: bool,
}

impl LabelColumn {
    /// Number of objects.
    pub fn n(&self) -> usize {
        self.labels.labels.len()
    }

    /// The labels as classes of objects.
    ///
    /// # Errors
    /// `Data` without any class, and for -1 together with a single class: -1 may then be the second one.
    pub fn truth(&self) -> Result<&Classes> {
        let minus_one = self.minus_one.then_some("-1").into_iter();
        let names = self.labels.names.iter().map(String::as_str);
        let cells: Vec<&str> = names.chain(minus_one).collect();
        classes_of(&cells, &self.column, &self.place)?;
        Ok(&self.labels)
    }

    /// True if the ids are row numbers from 0 in order, as labels of objects without ids have them.
    fn counted(&self) -> bool {
        self.ids.iter().flatten().enumerate().all(|(i, id)| *id == i.to_string())
    }

    /// The labels in the order of the objects of `other`: by id where both have ids; row by row where
    /// neither has any but row numbers in order. How it was done comes with them.
    ///
    /// # Errors
    /// `Data` when the two are not about the same objects, or when only one has ids.
    pub fn in_order_of(self, other: &LabelColumn) -> Result<(LabelColumn, &'static str)> {
        if self.n() != other.n() {
            return Err(bad(
                &self.place,
                format!("{}, but {} has {}", count(self.n(), "object"), other.place, other.n()),
            ));
        }
        let (own, wanted) = match (&self.ids, &other.ids) {
            (Some(own), Some(wanted)) => (own, wanted),
            _ if self.counted() && other.counted() => return Ok((self, "row by row")),
            (Some(_), None) => return Err(other.without_ids(&self)),
            _ => return Err(self.without_ids(other)),
        };
        if own == wanted {
            return Ok((self, "by id"));
        }
        let rows: HashMap<&str, usize> = own.iter().map(String::as_str).zip(0..).collect();
        let mut order = Vec::with_capacity(wanted.len());
        for id in wanted {
            let Some(&row) = rows.get(id.as_str()) else {
                let message = format!("no object has the id \"{id}\", which {} has", other.place);
                return Err(bad(&self.place, message));
            };
            order.push(row);
        }
        let labels = self.labels.of_rows(&order);
        Ok((LabelColumn { ids: other.ids.clone(), labels, ..self }, "by id"))
    }

    /// This has no ids and `other` has some: positions would be a guess.
    fn without_ids(&self, other: &LabelColumn) -> Error {
        let wanted: HashSet<&str> = other.ids.iter().flatten().map(String::as_str).collect();
        let same = |cells: &[String]| cells.iter().all(|c| wanted.contains(c.as_str()));
        let found = self.candidates.iter().find(|(_, cells)| same(cells));
        let way = match found {
            Some((name, _)) => {
                format!("its column \"{name}\" holds the same: --id {}", shell_word(name))
            }
            None => "name its column by --id, or leave the ids of the other out".into(),
        };
        bad(&self.place, format!("has no ids, and {} has; {way}", other.place))
    }
}

impl Dataset {
    /// The classes as a column with the ids of the objects, to compare labels with; `None` where no
    /// class is known.
    pub fn label_column(&self) -> Option<LabelColumn> {
        let classes = self.classes.as_ref()?;
        Some(LabelColumn {
            ids: self.ids.as_ref().map(|ids| ids.to_vec()),
            labels: classes.clone(),
            column: self.reading.class.clone().unwrap_or_default(),
            place: self.name.clone(),
            candidates: Vec::new(),
            minus_one: false,
        })
    }
}

/// Reads a column of labels; `-` is the standard input.
///
/// The column is `named`, otherwise the one called `label` or `class`, or the only one with a name for
/// classes, or the only one besides the ids. The column `id_column`, or one called `id`, holds the ids. So
/// labels written by this program and data files with classes can both be read.
///
/// # Errors
/// `Data`, with the line and what is wrong on it.
pub fn read_labels(
    path: &str,
    named: Option<&str>,
    id_column: Option<&str>,
) -> Result<LabelColumn> {
    parse(&Records::open(path, EXPECTED)?, named, id_column)
}

const EXPECTED: &str = "a header row with the columns id,label";

/// The remedy in the error about several columns that may hold the labels.
pub const RENAME: &str = "give one of them the name label";

fn parse(records: &Records, named: Option<&str>, id_column: Option<&str>) -> Result<LabelColumn> {
    let Records { header, place, .. } = records;
    let id = match id_column {
        // Two files are read with one name: that of the other may be the usual one.
        Some(name) => {
            Some(column(header, name, place).or_else(|e| records.by_name("id").ok_or(e))?)
        }
        None => records.called_id(),
    };
    let others: Vec<usize> = (0..header.len()).filter(|&c| Some(c) != id).collect();
    let label = match named {
        Some(name) => column(header, name, place)?,
        None => the_label(records, &others)?,
    };
    records.not_empty()?;
    let name = &header[label];
    // Programs call a column without a name 0.
    let is_value = named.is_none() && name != "0" && records.cells(label).any(|l| l == name);
    if is_value {
        let message = format!(
            "the first row must name the columns, and \"{name}\" is a label below; write label above it"
        );
        return Err(bad(format!("{place}, line 1"), message));
    }
    let ids =
        id.filter(|&id| id != label).map(|id| ids(records.column(id), place, ONCE)).transpose()?;
    let cells = |c: usize| -> Vec<String> { records.cells(c).map(str::to_string).collect() };
    let differ = |c: &usize| records.cells(*c).collect::<HashSet<_>>().len() == records.len();
    let candidates = others.into_iter().filter(|&c| c != label && ids.is_none()).filter(differ);
    Ok(LabelColumn {
        candidates: candidates.map(|c| (header[c].clone(), cells(c))).collect(),
        minus_one: records.cells(label).any(|l| l.starts_with("-1") && Scene::is_unknown(l)),
        labels: Classes::from_values(
            records.cells(label).map(|l| Some(l).filter(|l| !Scene::is_unknown(l))),
        ),
        column: header[label].clone(),
        place: place.clone(),
        ids: ids.map(|ids| ids.to_vec()),
    })
}

/// The column of labels if the user does not name it.
fn the_label(records: &Records, others: &[usize]) -> Result<usize> {
    let Records { header, place, .. } = records;
    if let Some(label) = records.by_name("label").or_else(|| records.by_name("class")) {
        return Ok(label);
    }
    let says: Vec<usize> = others.iter().copied().filter(|&c| says_class(&header[c])).collect();
    match (&says[..], others) {
        ([one], _) | ([], [one]) => Ok(*one),
        _ => {
            let names: Vec<&str> = others.iter().map(|&c| header[c].as_str()).collect();
            Err(bad(
                place,
                format!(
                    "which column holds the labels? none is called label or class; {RENAME}: {}",
                    names.join(", ")
                ),
            ))
        }
    }
}

/// Writes `id,label` for all objects of `dataset`. The label is empty if it is unknown and -1 for noise
/// (`clustering::NONE`); `-` is the standard output.
///
/// # Errors
/// `Data` when the file cannot be written; nothing is left of it then.
pub fn write_labels(path: &str, dataset: &Dataset, labels: &[Option<u32>]) -> Result<()> {
    write_rows(path, rows(dataset, labels)?)
}

/// As [`write_labels`], with one more column called `name`. A cell is empty if there is no value.
///
/// # Errors
/// As [`write_labels`].
pub fn write_labels_with(
    path: &str,
    dataset: &Dataset,
    labels: &[Option<u32>],
    (name, values): (&str, &[Option<f64>]),
) -> Result<()> {
    let cell = |value: &Option<f64>| value.map(|v| v.to_string()).unwrap_or_default();
    let cells = std::iter::once(name.to_string()).chain(values.iter().map(cell));
    let wider = |([id, label], cell): ([String; 2], String)| [id, label, cell];
    write_rows(path, rows(dataset, labels)?.zip(cells).map(wider))
}

/// The head, then a row per object, made when it is written.
fn rows<'a>(
    dataset: &'a Dataset,
    labels: &'a [Option<u32>],
) -> Result<impl Iterator<Item = [String; 2]> + 'a> {
    if labels.len() != dataset.n() {
        let message = format!("{} labels for {} objects", labels.len(), dataset.n());
        return Err(bad(&dataset.name, message));
    }
    let head = ["id", "label"].map(String::from);
    let objects = labels.iter().enumerate().map(|(i, label)| {
        let label = match *label {
            None => String::new(),
            Some(NONE) => "-1".into(),
            Some(label) => label.to_string(),
        };
        [dataset.id(i), label]
    });
    Ok(std::iter::once(head).chain(objects))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Input;
    use mustlink_core::Data;
    use ndarray::Array2;

    fn read(text: &str, named: Option<&str>, id: Option<&str>) -> Result<LabelColumn> {
        parse(&Records::read(Input::of(text.as_bytes(), "l.csv"), EXPECTED, None)?, named, id)
    }

    fn of(text: &str) -> LabelColumn {
        read(text, None, None).unwrap()
    }

    fn labels(column: &LabelColumn) -> Vec<Option<&str>> {
        (0..column.n()).map(|i| column.labels.of(i)).collect()
    }

    #[test]
    fn written_and_read() {
        let data = Data::dense(Array2::zeros((3, 1))).unwrap();
        let ids = ["a,b", "c", "d"].map(String::from);
        let set = Dataset { ids: Some(ids.to_vec().into()), ..Dataset::new("set", data) };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("l.csv").display().to_string();
        write_labels(&path, &set, &[Some(1), Some(NONE), Some(0)]).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "id,label\n\"a,b\",1\nc,-1\nd,0\n");
        write_labels(&path, &set, &[Some(1), None, Some(0)]).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(text, "id,label\n\"a,b\",1\nc,\nd,0\n");
        let back = of(&text);
        assert_eq!(back.ids.as_deref(), Some(&ids[..]));
        assert_eq!(labels(&back), [Some("1"), None, Some("0")]);
        assert_eq!(*back.labels.labels, [Some(1), None, Some(0)]);
        assert!(rows(&set, &[]).is_err());
        let sure = ("item_consensus", &[Some(0.75), None, Some(1.0)][..]);
        let path = folder.path().join("sure.csv").display().to_string();
        write_labels_with(&path, &set, &[Some(1), None, Some(0)], sure).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(text, "id,label,item_consensus\n\"a,b\",1,0.75\nc,,\nd,0,1\n");
        assert_eq!(labels(&of(&text)), [Some("1"), None, Some("0")]);
    }

    #[test]
    fn the_column_is_found() {
        assert_eq!(labels(&of("x,class,y\n1,a,2\n")), [Some("a")]);
        assert_eq!(labels(&of("x,Target\n1,2\n")), [Some("2")]);
        assert_eq!(labels(&of("found\n7\n")), [Some("7")]);
        assert_eq!(of("label\n7\n").ids, None);
        let named = read("id,label,class\n1,2,3\n", Some("class"), None).unwrap();
        assert_eq!(labels(&named), [Some("3")]);
        // The last of many is a guess, which gives a score for anything.
        let message = read("width,length\n1,2\n", None, None).unwrap_err().to_string();
        assert!(message.ends_with("; give one of them the name label: width, length"), "{message}");
    }

    #[test]
    fn blank_lines_of_a_single_column_are_objects() {
        assert_eq!(labels(&of("label\na\n\nb\n")), [Some("a"), None, Some("b")]);
    }

    #[test]
    fn unknown_labels() {
        let column = of("label\n-1\nNA\n\n?\n0\n");
        assert_eq!(labels(&column), [None, None, None, None, Some("0")]);
        let message = column.truth().unwrap_err().to_string();
        assert!(message.contains("holds -1 and 0"), "{message}");
        assert_eq!(of("label\n-1\n0\n1\n").truth().unwrap().k(), 2);
    }

    #[test]
    fn two_files_are_brought_together() {
        let (truth, found) = (of("id,label\na,x\nb,y\n"), of("id,label\nb,0\na,1\n"));
        let (found, how) = found.in_order_of(&truth).unwrap();
        assert_eq!((labels(&found), how), (vec![Some("1"), Some("0")], "by id"));
        let other = of("id,label\nb,0\nc,1\n").in_order_of(&truth).unwrap_err().to_string();
        assert_eq!(other, "l.csv: no object has the id \"a\", which l.csv has");
        let short = of("id,label\nb,0\n").in_order_of(&truth).unwrap_err().to_string();
        assert_eq!(short, "l.csv: 1 object, but l.csv has 2");
        let twice = read("id,label\na,0\na,1\n", None, None).unwrap_err().to_string();
        assert_eq!(
            twice,
            "l.csv, line 3: the id \"a\" is also on line 2; 1 row repeats an id in all. Name each object once"
        );
    }

    #[test]
    fn ids_of_one_file_only_are_no_reason_to_match_by_position() {
        let (truth, found) = (of("flower,class\na,x\nb,y\n"), of("id,label\nb,0\na,1\n"));
        for message in [found.clone().in_order_of(&truth), truth.in_order_of(&found)] {
            let message = message.unwrap_err().to_string();
            assert!(
                message.ends_with("its column \"flower\" holds the same: --id flower"),
                "{message}"
            );
        }
        let read = |text: &str| read(text, None, Some("flower")).unwrap();
        let (truth, found) = (read("flower,class\na,x\nb,y\n"), read("id,label\nb,0\na,1\n"));
        assert_eq!(found.in_order_of(&truth).unwrap().0.labels.of(0), Some("1"));
        // Row numbers in order are those of objects without ids.
        let (truth, found) = (of("class\nx\ny\n"), of("id,label\n0,5\n1,6\n"));
        assert_eq!(found.in_order_of(&truth).unwrap().1, "row by row");
        assert!(of("id,label\n1,5\n0,6\n").in_order_of(&truth).is_err());
    }
}
