//! How are constraints read from a file and written to one?
//!
//! A CSV with the columns `i`, `j`, `type` (`must_link` or `cannot_link`) and, where given,
//! `weight` and `strength` (`hard` or `soft`). Objects are row numbers from 0, or ids.

use std::collections::HashMap;
use std::path::Path;

use mustlink_core::constraints::Strength;
use mustlink_core::registry::suggestion;
use mustlink_core::{Constraint, Constraints, Kind, Result};

use crate::bytes::{self, bad};
use crate::columns::column;
use crate::dataset::Dataset;
use crate::records::Records;

const EXPECTED: &str = "the header i,j,type,weight and one row per pair";

/// Objects by what a file calls them.
pub(crate) struct Objects<'a> {
    by_id: Option<HashMap<&'a str, u32>>,
    dataset: &'a Dataset,
}

impl<'a> Objects<'a> {
    /// `by_id`: objects are named by id, not by row number.
    pub fn new(dataset: &'a Dataset, by_id: bool) -> Result<Self> {
        let by_id = match (by_id, &dataset.ids) {
            (false, _) => None,
            (true, Some(ids)) => Some(ids.iter().map(String::as_str).zip(0..).collect()),
            (true, None) => {
                let message = "has no ids; name their column by --id, or use row numbers";
                return Err(bad(&dataset.name, message));
            }
        };
        Ok(Objects { by_id, dataset })
    }

    pub fn find(&self, cell: &str, place: &str) -> Result<usize> {
        let n = self.dataset.n();
        match &self.by_id {
            Some(ids) => ids.get(cell).map(|&i| i as usize).ok_or_else(|| {
                // Only near slips are worth the search in long lists.
                let near =
                    suggestion(cell, ids.keys().copied().take(if n <= 10_000 { n } else { 0 }));
                bad(place, format!("no object has the id \"{cell}\"{near}"))
            }),
            None => match cell.parse::<usize>() {
                Ok(i) if i < n => Ok(i),
                Ok(i) => Err(bad(
                    place,
                    format!(
                        "object {i} does not exist; accepted are the row numbers 0..={}",
                        n - 1
                    ),
                )),
                Err(_) => Err(bad(
                    place,
                    format!(
                        "\"{cell}\" is not a row number in 0..={}; are these ids? (--id)",
                        n - 1
                    ),
                )),
            },
        }
    }

    fn name(&self, i: u32) -> String {
        if self.by_id.is_some() { self.dataset.id(i as usize) } else { i.to_string() }
    }
}

/// Reads constraints over the objects of `dataset`; `-` is the standard input.
///
/// A must-link of an object with itself names it as a neighbourhood, from which a cluster may start.
/// A pair given twice keeps the larger weight; contradictions are left for the method to judge.
///
/// # Errors
/// `Data`, with the line and what is wrong on it.
pub fn read_constraints(path: &str, dataset: &Dataset, by_id: bool) -> Result<Constraints> {
    parse(&Records::open(path, EXPECTED)?, dataset, by_id)
}

fn parse(records: &Records, dataset: &Dataset, by_id: bool) -> Result<Constraints> {
    let (header, place) = (&records.header, records.place.as_str());
    let (i, j) = (column(header, "i", place)?, column(header, "j", place)?);
    let kind = column(header, "type", place)?;
    let (weight, strength) = (records.by_name("weight"), records.by_name("strength"));
    let known = ["i", "j", "type", "weight", "strength"];
    if let Some(other) = header.iter().find(|c| !known.contains(&c.as_str())) {
        let near = suggestion(other, known);
        let message = format!("unknown column \"{other}\"{near}; accepted: {}", known.join(", "));
        return Err(bad(format!("{place}, line 1"), message));
    }
    let objects = Objects::new(dataset, by_id)?;
    let mut pairs = Vec::with_capacity(records.rows.len());
    let mut alone: Vec<Vec<u32>> = Vec::new();
    for record in &records.rows {
        let place = format!("{place}, line {}", record.line);
        let cell = |c: usize| record.cells[c].as_str();
        let (a, b) = (objects.find(cell(i), &place)?, objects.find(cell(j), &place)?);
        let kind = match cell(kind) {
            "must_link" => Kind::MustLink,
            "cannot_link" => Kind::CannotLink,
            other => {
                let near = suggestion(other, ["must_link", "cannot_link"]);
                let message =
                    format!("type must be must_link or cannot_link, got \"{other}\"{near}");
                return Err(bad(place, message));
            }
        };
        if a == b && kind == Kind::CannotLink {
            let message = format!("a cannot-link of object {} with itself", cell(i));
            return Err(bad(place, message));
        }
        if a == b {
            alone.push(vec![a as u32]);
        }
        let weight = match weight.map(cell).unwrap_or_default() {
            "" => 1.0,
            text => match text.parse::<f64>() {
                Ok(w) if w.is_finite() && w >= 0.0 => w,
                _ => {
                    let message = format!("weight must be a finite number >= 0, got \"{text}\"");
                    return Err(bad(place, message));
                }
            },
        };
        let strength = match strength.map(cell).unwrap_or_default() {
            "" => None,
            "hard" => Some(Strength::Hard),
            "soft" => Some(Strength::Soft),
            other => {
                return Err(bad(place, format!("strength must be hard or soft, got \"{other}\"")));
            }
        };
        pairs.push(Constraint { strength, ..Constraint::new(a, b, kind).weighing(weight) });
    }
    Ok(Constraints::new(dataset.n(), pairs)?.with_neighbourhoods(alone))
}

/// Writes constraints as [`read_constraints`] reads them; `-` is the standard output.
///
/// # Errors
/// `Data` when the file cannot be written; nothing is left of it then.
pub fn write_constraints(
    path: &str,
    constraints: &Constraints,
    dataset: &Dataset,
    by_id: bool,
) -> Result<()> {
    let text = format(constraints, &Objects::new(dataset, by_id)?)?;
    bytes::write(Path::new(path), &text)
}

fn format(constraints: &Constraints, objects: &Objects<'_>) -> Result<Vec<u8>> {
    let strengths = constraints.pairs().iter().any(|c| c.strength.is_some());
    let mut out = csv::Writer::from_writer(Vec::new());
    let fail = |e: csv::Error| bad("constraints", e.to_string());
    let columns = ["i", "j", "type", "weight", "strength"];
    let used = if strengths { 5 } else { 4 };
    out.write_record(&columns[..used]).map_err(fail)?;
    for c in constraints.pairs() {
        let strength = match c.strength {
            None => "",
            Some(Strength::Hard) => "hard",
            Some(Strength::Soft) => "soft",
        };
        let weight = c.weight.to_string();
        let (i, j) = (objects.name(c.i), objects.name(c.j));
        let cells = [i.as_str(), j.as_str(), c.kind.name(), weight.as_str(), strength];
        out.write_record(&cells[..used]).map_err(fail)?;
    }
    for alone in constraints.neighbourhoods().iter().filter(|set| set.len() == 1) {
        let name = objects.name(alone[0]);
        let cells = [name.as_str(), name.as_str(), Kind::MustLink.name(), "1", ""];
        out.write_record(&cells[..used]).map_err(fail)?;
    }
    out.into_inner().map_err(|e| bad("constraints", e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Input;
    use mustlink_core::Data;
    use ndarray::Array2;
    use proptest::prelude::*;

    fn set(n: usize) -> Dataset {
        let ids = (0..n).map(|i| format!("o{i},\"{i}\"")).collect();
        let data = Data::dense(Array2::zeros((n, 1))).unwrap();
        Dataset { ids: Some(ids), ..Dataset::new("set", data) }
    }

    fn read(text: &str, set: &Dataset, by_id: bool) -> Result<Constraints> {
        let records = Records::read(Input::of(text.as_bytes(), "c.csv"), EXPECTED)?;
        parse(&records, set, by_id)
    }

    fn of(text: &str) -> Result<Constraints> {
        read(text, &set(5), false)
    }

    fn message(rows: &str) -> String {
        of(&format!("i,j,type,weight\n{rows}\n")).unwrap_err().to_string()
    }

    #[test]
    fn columns_in_any_order() {
        let c =
            of("strength,type,j,i,weight\n,must_link,0,3,\nhard,cannot_link,1,2,2.5\n").unwrap();
        let hard = Constraint { strength: Some(Strength::Hard), ..Constraint::cannot(1, 2) };
        assert_eq!(c.pairs(), [Constraint::must(0, 3), hard.weighing(2.5)]);
        let c = of("i,j,type\n4,0,cannot_link\n").unwrap();
        assert_eq!(c.pairs(), [Constraint::cannot(0, 4)]);
        assert!(of("i,j,type,weight\n").unwrap().is_empty());
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(
            of("").unwrap_err().to_string(),
            "c.csv: the file is empty; expected the header i,j,type,weight and one row per pair"
        );
        assert_eq!(
            of("i,j,kind\n").unwrap_err().to_string(),
            "c.csv: no column \"type\"; columns: i, j, kind"
        );
        assert_eq!(
            of("i,j,type,wieght\n").unwrap_err().to_string(),
            "c.csv, line 1: unknown column \"wieght\"; did you mean \"weight\"?; accepted: i, j, \
             type, weight, strength"
        );
        assert_eq!(
            message("0,1,must_link,1\n0,5,must_link,1"),
            "c.csv, line 3: object 5 does not exist; accepted are the row numbers 0..=4"
        );
        assert_eq!(
            message("a,1,must_link,1"),
            "c.csv, line 2: \"a\" is not a row number in 0..=4; are these ids? (--id)"
        );
        assert_eq!(
            message("0,1,mustlink,1"),
            "c.csv, line 2: type must be must_link or cannot_link, got \"mustlink\"; did you mean \
             \"must_link\"?"
        );
        assert_eq!(
            message("0,0,cannot_link,1"),
            "c.csv, line 2: a cannot-link of object 0 with itself"
        );
        assert_eq!(
            message("0,1,must_link,-1"),
            "c.csv, line 2: weight must be a finite number >= 0, got \"-1\""
        );
        assert_eq!(
            message("0,1,must_link"),
            "c.csv, line 2: expected 4 fields as in the header, got 3"
        );
        let of = |text: &str, set: &Dataset| read(text, set, true);
        assert_eq!(
            of("i,j,type\no1,o2,must_link\n", &set(5)).unwrap_err().to_string(),
            "c.csv, line 2: no object has the id \"o1\""
        );
        let plain = Dataset { ids: None, ..set(5) };
        assert_eq!(
            of("i,j,type\n", &plain).unwrap_err().to_string(),
            "set: has no ids; name their column by --id, or use row numbers"
        );
    }

    #[test]
    fn near_ids_are_suggested_in_a_fixed_order() {
        let ids = (0..50).map(|i| format!("object{i}")).collect();
        let data = Data::dense(Array2::zeros((50, 1))).unwrap();
        let set = Dataset { ids: Some(ids), ..Dataset::new("set", data) };
        for _ in 0..20 {
            let text = "i,j,type\nobjekt7,object1,must_link\n";
            let message = read(text, &set, true).unwrap_err().to_string();
            assert_eq!(
                message,
                "c.csv, line 2: no object has the id \"objekt7\"; did you mean \"object7\"?"
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// What is written is read back, by row number and by ids that need quotes.
        #[test]
        fn written_and_read(
            pairs in proptest::collection::vec((0usize..9, 0usize..9, any::<bool>(), 0.001f64..1e6, 0u8..3), 0..20),
            by_id in any::<bool>(),
        ) {
            let set = set(9);
            let pairs = pairs.into_iter().filter(|p| p.0 != p.1).map(|(i, j, must, w, s)| {
                let kind = if must { Kind::MustLink } else { Kind::CannotLink };
                let strength = [None, Some(Strength::Hard), Some(Strength::Soft)][s as usize];
                Constraint { strength, ..Constraint::new(i, j, kind).weighing(w) }
            });
            let given = Constraints::new(9, pairs).unwrap();
            let text = format(&given, &Objects::new(&set, by_id).unwrap()).unwrap();
            let text = String::from_utf8(text).unwrap();
            prop_assert_eq!(read(&text, &set, by_id).unwrap(), given);
        }
    }
}
