//! Judged pairs of objects in a CSV: probabilities, scores or verdicts. The objects are the ids in it.

use std::collections::HashMap;
use std::path::Path;

use mustlink_core::clustering::NONE;
use mustlink_core::roles::Reply;
use mustlink_core::{Data, Group, Kind, Result};
use ndarray::Array2;

use crate::answers_csv::reply_in;
use crate::bytes::{Input, bad};
use crate::converted::NO_ROWS;
use crate::dataset::Dataset;
use crate::options::within;
use crate::sheet::Sheet;

const EXPECTED: &str = "a header such as i,j,probability and one row per pair";

/// Names of the columns of the two objects, as other programs write them too.
const ENDS: [(&str, &str); 8] = [
    ("i", "j"),
    ("left", "right"),
    ("id_l", "id_r"),
    ("unique_id_l", "unique_id_r"),
    ("source", "target"),
    ("id_1", "id_2"),
    ("id1", "id2"),
    ("left_id", "right_id"),
];

/// Endings of the names of two columns with the same property of the two objects.
const SIDES: [(&str, &str); 4] = [("_i", "_j"), ("_l", "_r"), ("_left", "_right"), ("_1", "_2")];

/// Start of the names of columns in which programs write the source of a record.
const SOURCE: &str = "source_dataset";

/// How a file of pairs is read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PairOptions {
    /// The scores that mean "certainly different" and "certainly the same"; absent: 0 and 1.
    pub score_range: Option<(f64, f64)>,
    /// Property of which a cluster holds each value at most once: `source` for the columns `source_i` and `source_j`.
    pub apart: Option<String>,
    /// Maximum size in bytes. Absent: no limit.
    pub memory_limit: Option<u64>,
}

/// One opinion about a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// The probability that both objects are the same.
    Probability(f64),
    /// An answer.
    Answer {
        /// Number of the annotator.
        annotator: u32,
        /// True if both objects are the same.
        same: bool,
    },
    /// No opinion.
    Unsure,
}

/// Judged pairs, and the objects that they are about.
#[derive(Debug, Clone)]
pub struct JudgedPairs {
    /// The objects with their ids, in the order of the file, and with the groups of `apart`. Their only feature is 0.
    pub objects: Dataset,
    /// The pairs in the order of the file, the smaller object first.
    pub verdicts: Vec<(u32, u32, Verdict)>,
    /// Names of the annotators. Without a column `annotator`, one without a name.
    pub annotators: Vec<String>,
}

/// Reads judged pairs; `-` is the standard input.
///
/// # Errors
/// `Data`, with the line and what is wrong on it; `Memory` above the limit.
pub fn read_pairs(path: &str, options: &PairOptions) -> Result<JudgedPairs> {
    let name = Path::new(path).file_stem().map_or("-".into(), |s| s.to_string_lossy());
    parse(Input::open(Path::new(path))?, &name, options)
}

/// The same from the text of such a file.
///
/// # Errors
/// Returns the errors of [`read_pairs`].
pub fn pairs_of_text(text: &str, options: &PairOptions) -> Result<JudgedPairs> {
    parse(Input::of(text.as_bytes(), "pairs"), "pairs", options)
}

/// The columns of a file.
struct Columns {
    ends: [usize; 2],
    /// The column of the verdict, its name, and its values for "different" and "same" if they are numbers.
    verdict: (usize, &'static str, Option<(f64, f64)>),
    annotator: Option<usize>,
    apart: Option<[usize; 2]>,
    /// Columns of the sources of both objects, if not `apart`.
    source: Option<[usize; 2]>,
}

/// A row of a file.
struct Row {
    line: u64,
    ids: [Box<str>; 2],
    verdict: Verdict,
    annotator: Box<str>,
    apart: Option<[Box<str>; 2]>,
    source: Option<[Box<str>; 2]>,
}

impl Columns {
    fn new(header: &[String], options: &PairOptions, place: &str) -> Result<Self> {
        let at = |name: &str| header.iter().position(|c| c.eq_ignore_ascii_case(name));
        let two = |(i, j): (&str, &str)| Some([at(i)?, at(j)?]);
        let missing = |what: &str| bad(place, format!("{what}; columns: {}", header.join(", ")));
        let ends = ENDS.into_iter().find_map(two);
        let ends =
            ends.ok_or_else(|| missing("no two columns for the objects, such as i and j"))?;
        let range = Some(options.score_range.unwrap_or((0.0, 1.0)));
        let names = [
            ("probability", Some((0.0, 1.0))),
            ("match_probability", Some((0.0, 1.0))),
            ("score", range),
            ("verdict", None),
            ("answer", None),
        ];
        let verdict = names.into_iter().find_map(|(name, range)| Some((at(name)?, name, range)));
        let verdict =
            verdict.ok_or_else(|| missing("no column probability, score, verdict or answer"))?;
        let of_sides = |name: &str| {
            let of_side =
                |(i, j): (&str, &str)| two((&format!("{name}{i}"), &format!("{name}{j}")));
            SIDES.into_iter().find_map(of_side)
        };
        let apart = options.apart.as_ref().map(|name| {
            let none = || missing(&format!("no columns {name}_i and {name}_j"));
            of_sides(name).ok_or_else(none)
        });
        let apart = apart.transpose()?;
        let source = of_sides(SOURCE).filter(|columns| apart != Some(*columns));
        Ok(Columns { ends, verdict, annotator: at("annotator"), apart, source })
    }

    fn row(&self, line: u64, place: &str, cells: &[&str]) -> Result<Row> {
        let ids = self.ends.map(|c| cells[c]);
        if ids[0] == ids[1] || ids.contains(&"") {
            let [i, j] = ids;
            return Err(bad(
                place,
                format!("a pair needs two different ids, got \"{i}\" and \"{j}\""),
            ));
        }
        let (column, name, range) = self.verdict;
        let cell = cells[column];
        let verdict = match range {
            None => match reply_in(cell, name, place)?.and_then(Reply::kind) {
                None => Verdict::Unsure,
                Some(kind) => Verdict::Answer { annotator: 0, same: kind == Kind::MustLink },
            },
            Some(_) if cell.is_empty() => Verdict::Unsure,
            Some((different, same)) => {
                let share = |v: f64| (v - different) / (same - different);
                let p = cell.parse().ok().map(share).filter(|p| (0.0..=1.0).contains(p));
                let wrong = || {
                    let (least, most) = (different.min(same), different.max(same));
                    let hint = if name == "score" { "; give --score-range LOW,HIGH" } else { "" };
                    let accepted = format!("{name} must be a number between {least} and {most}");
                    bad(place, format!("{accepted}, got \"{cell}\"{hint}"))
                };
                Verdict::Probability(p.ok_or_else(wrong)?)
            }
        };
        let annotator = self.annotator.map_or("", |c| cells[c]).into();
        let both = |columns: Option<[usize; 2]>| columns.map(|of| of.map(|c| cells[c].into()));
        let (apart, source) = (both(self.apart), both(self.source));
        Ok(Row { line, ids: ids.map(Into::into), verdict, annotator, apart, source })
    }
}

/// Names, numbered as they come.
#[derive(Default)]
struct Names(HashMap<Box<str>, u32>);

impl Names {
    fn number(&mut self, name: Box<str>) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(name).or_insert(next)
    }

    /// Slow look-up by number.
    fn name(&self, number: u32) -> &str {
        let found = self.0.iter().find(|(_, at)| **at == number);
        found.map_or("", |(name, _)| name)
    }

    fn in_order(self) -> Vec<String> {
        let mut names = vec![String::new(); self.0.len()];
        self.0.into_iter().for_each(|(name, at)| names[at as usize] = name.into());
        names
    }
}

/// A property with at most one value per object.
struct Property<'a> {
    name: &'a str,
    values: Names,
    /// Number of the value of each object, or [`NONE`].
    of: Vec<u32>,
}

impl<'a> Property<'a> {
    fn new(name: &'a str) -> Self {
        Property { name, values: Names::default(), of: Vec::new() }
    }

    /// Adds the values of two objects; an empty value is unknown. Fails if an object already has another value.
    fn take(&mut self, objects: [u32; 2], values: Option<[Box<str>; 2]>) -> Result<(), Clash> {
        for (object, value) in objects.into_iter().zip(values.into_iter().flatten()) {
            if value.is_empty() {
                continue;
            }
            let value = self.values.number(value);
            let at = object as usize;
            self.of.resize(self.of.len().max(at + 1), NONE);
            if self.of[at] != NONE && self.of[at] != value {
                return Err(Clash { object, values: [self.of[at], value] });
            }
            self.of[at] = value;
        }
        Ok(())
    }

    fn message(&self, Clash { object, values }: Clash, ids: &Names) -> String {
        let (id, [a, b]) = (ids.name(object), values.map(|value| self.values.name(value)));
        let values = match self.name {
            "source" | SOURCE => "sources".into(),
            name => format!("values of {name}"),
        };
        format!("id {id} has the {values} {a} and {b}. Make the ids unique.")
    }

    /// A group for each value of several objects.
    fn groups(self) -> Vec<Group> {
        let names = self.values.in_order();
        let value = |&value: &u32| names.get(value as usize).map(String::as_str);
        Group::of_column(self.of.iter().map(value))
    }
}

/// An object with two values.
struct Clash {
    object: u32,
    values: [u32; 2],
}

/// Bytes of an object, in addition to its id.
const OBJECT: usize = 100;

fn parse(input: Input<'_>, name: &str, options: &PairOptions) -> Result<JudgedPairs> {
    let sheet = Sheet::open(input, None, EXPECTED)?;
    let place = sheet.place().to_string();
    let columns = Columns::new(sheet.header(), options, &place)?;
    let (mut ids, mut annotators) = (Names::default(), Names::default());
    let mut apart = Property::new(options.apart.as_deref().unwrap_or_default());
    let (mut verdicts, mut source) = (Vec::new(), Property::new(SOURCE));
    let take = |rows: &mut Vec<Row>, line: u64, cells: &[&str]| -> Result<()> {
        // Spreadsheets write empty rows below a table.
        if cells.iter().any(|cell| !cell.is_empty()) {
            rows.push(columns.row(line, &format!("{place}, line {line}"), cells)?);
        }
        Ok(())
    };
    sheet.each(take, |rows: Vec<Row>| {
        for row in rows {
            let Row { line, ids: ends, mut verdict, annotator: by, .. } = row;
            let [i, j] = ends.map(|id| ids.number(id));
            if let Verdict::Answer { annotator, .. } = &mut verdict {
                *annotator = annotators.number(by);
            }
            verdicts.push((i.min(j), i.max(j), verdict));
            for (property, values) in [(&mut apart, row.apart), (&mut source, row.source)] {
                let place = || format!("{place}, line {line}");
                let taken = property.take([i, j], values);
                taken.map_err(|clash| bad(place(), property.message(clash, &ids)))?;
            }
        }
        let bytes = size_of_val(&verdicts[..]) + OBJECT * ids.0.len();
        within(options.memory_limit, bytes as u64, &place)
    })?;
    if verdicts.is_empty() {
        return Err(bad(&place, NO_ROWS));
    }
    let ids = ids.in_order();
    let data = Data::dense(Array2::zeros((ids.len(), 1)))?;
    let apart = apart.groups().into();
    let objects = Dataset { ids: Some(ids.into()), apart, ..Dataset::new(name, data) };
    Ok(JudgedPairs { objects, verdicts, annotators: annotators.in_order() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, options: &PairOptions) -> Result<JudgedPairs> {
        pairs_of_text(text, options)
    }

    fn plain(text: &str) -> Vec<(u32, u32, Verdict)> {
        read(text, &PairOptions::default()).unwrap().verdicts
    }

    fn refused(text: &str, options: &PairOptions) -> String {
        read(text, options).unwrap_err().to_string()
    }

    #[test]
    fn columns_have_the_names_in_use() {
        for head in
            ["i,j,probability", "unique_id_l,unique_id_r,match_probability", "Left,Right,score"]
        {
            let found = plain(&format!("{head}\nb,a,0.25\na,c,1\n,,\n"));
            let expected = [(0, 1, Verdict::Probability(0.25)), (1, 2, Verdict::Probability(1.0))];
            assert_eq!(found, expected, "{head}");
        }
        let text =
            "source,target,verdict,annotator\na,b,same,x\nc,a,different,y\nb,c,unsure,x\na,b,,y\n";
        let found = read(text, &PairOptions::default()).unwrap();
        let answer = |annotator, same| Verdict::Answer { annotator, same };
        let expected = [answer(0, true), answer(1, false), Verdict::Unsure, Verdict::Unsure];
        assert_eq!(found.verdicts.iter().map(|v| v.2).collect::<Vec<_>>(), expected);
        assert_eq!(found.annotators, ["x", "y"]);
        assert_eq!(found.objects.ids.as_deref(), Some(&["a", "b", "c"].map(String::from)[..]));
    }

    #[test]
    fn scores_have_a_range_in_either_direction() {
        let range = |different, same| PairOptions {
            score_range: Some((different, same)),
            ..PairOptions::default()
        };
        let text = "i,j,score\na,b,75\n";
        let found = |options| read(text, &options).unwrap().verdicts[0].2;
        assert_eq!(found(range(0.0, 100.0)), Verdict::Probability(0.75));
        assert_eq!(found(range(100.0, 0.0)), Verdict::Probability(0.25));
        assert_eq!(
            refused(text, &PairOptions::default()),
            "pairs, line 2: score must be a number between 0 and 1, got \"75\"; give --score-range LOW,HIGH"
        );
    }

    #[test]
    fn objects_of_one_source_are_a_group() {
        let options = PairOptions { apart: Some("source".into()), ..PairOptions::default() };
        let text = "id_l,id_r,source_l,source_r,probability\na,b,x,y,0.9\nc,a,y,x,0.8\n";
        let found = read(text, &options).unwrap();
        assert_eq!(*found.objects.apart, [Group::new("y", vec![1, 2])]);
        let twice = refused(&format!("{text}a,b,y,y,0.1\n"), &options);
        assert_eq!(twice, "pairs, line 4: id a has the sources x and y. Make the ids unique.");
        let missing = refused("i,j,score\na,b,1\n", &options);
        assert_eq!(missing, "pairs: no columns source_i and source_j; columns: i, j, score");
    }

    #[test]
    fn an_id_has_one_source() {
        let text = "unique_id_l,source_dataset_l,unique_id_r,source_dataset_r,match_probability\n\
                    1,crm,2,shop,0.9\n3,,1,crm,0.2\n1,shop,3,crm,0.8\n";
        let twice = "pairs, line 4: id 1 has the sources crm and shop. Make the ids unique.";
        assert_eq!(refused(text, &PairOptions::default()), twice);
        let apart = |name: &str| PairOptions { apart: Some(name.into()), ..PairOptions::default() };
        assert_eq!(refused(text, &apart("source_dataset")), twice);
        let text = "i,j,town_i,town_j,score\na,b,x,y,1\na,c,z,x,1\n";
        let twice = "pairs, line 3: id a has the values of town x and z. Make the ids unique.";
        assert_eq!(refused(text, &apart("town")), twice);
        assert_eq!(plain(text).len(), 2);
    }

    #[test]
    fn wrong_files_are_rejected_with_the_place() {
        let refused = |text| refused(text, &PairOptions::default());
        assert_eq!(
            refused("a,b,probability\n1,2,0\n"),
            "pairs: no two columns for the objects, such as i and j; columns: a, b, probability"
        );
        assert_eq!(
            refused("i,j,p\n1,2,0\n"),
            "pairs: no column probability, score, verdict or answer; columns: i, j, p"
        );
        assert_eq!(
            refused("i,j,probability\n1,1,0\n"),
            "pairs, line 2: a pair needs two different ids, got \"1\" and \"1\""
        );
        assert_eq!(
            refused("i,j,probability\n1,2,1.5\n"),
            "pairs, line 2: probability must be a number between 0 and 1, got \"1.5\""
        );
        assert!(refused("i,j,verdict\n1,2,sane\n").contains("verdict must be same, different"));
        assert!(refused("i,j,verdict\n").contains(NO_ROWS));
    }
}
