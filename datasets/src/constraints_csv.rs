//! Constraints read from a file and written to one.
//!
//! A CSV with the columns `i`, `j`, `type` (`must_link` or `cannot_link`) and, where given,
//! `weight` and `strength` (`hard` or `soft`). Objects are row numbers from 0, or ids. A row of type
//! `cannot_link_group` says that object `i` is in the group that `j` names, whose members must all be
//! apart: a group has a row for each member, not for each pair.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use mustlink_core::constraints::{Group, Strength};
use mustlink_core::registry::suggestion;
use mustlink_core::{Constraint, Constraints, Error, Kind, Result};

use crate::bytes::{self, Input, bad};
use crate::columns::column;
use crate::dataset::Dataset;
use crate::options::within;
use crate::sheet::Sheet;

const EXPECTED: &str = "the header i,j,type,weight and one row per pair";

/// The type of a row that puts an object into a group.
const GROUP: &str = "cannot_link_group";

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
                let message = "has no ids; name their column with --id, or use row numbers";
                return Err(bad(&dataset.name, message));
            }
        };
        Ok(Objects { by_id, dataset })
    }

    /// True if an object has this id.
    pub fn has(&self, id: &str) -> bool {
        self.by_id.as_ref().is_some_and(|ids| ids.contains_key(id))
    }

    /// The index of the object in `cell`, which is an id or a row number from 0.
    ///
    /// # Errors
    /// `Data` with `place` if the id or the row number does not exist.
    pub fn find(&self, cell: &str, place: &str) -> Result<usize> {
        let n = self.dataset.n();
        match &self.by_id {
            Some(ids) => ids.get(cell).map(|&i| i as usize).ok_or_else(|| {
                let mut near = same_number(cell, ids.keys().copied());
                if near.is_empty() {
                    // Only near slips are worth the search in long lists.
                    let most = if n <= 10_000 { n } else { 0 };
                    near = suggestion(cell, ids.keys().copied().take(most));
                }
                // Blanks and marks that do not show are written out.
                bad(place, format!("no object has the id {cell:?}{near}"))
            }),
            None => {
                let last = n.saturating_sub(1);
                let message = match cell.parse::<usize>() {
                    Ok(i) if i < n => return Ok(i),
                    Ok(i) => {
                        let next = next_step(i, n);
                        format!("object {i} does not exist; row numbers are 0 to {last}{next}")
                    }
                    Err(_) => format!(
                        "\"{cell}\" is not a row number from 0 to {last}; are these ids? (--id)"
                    ),
                };
                Err(bad(place, message))
            }
        }
    }

    /// The id of object `i`, or its row number from 0.
    pub fn name(&self, i: u32) -> String {
        if self.by_id.is_some() { self.dataset.id(i as usize) } else { i.to_string() }
    }
}

/// Spreadsheets take zeros in front of an id for those of a number, and programs add decimals to it.
fn same_number<'a>(cell: &str, ids: impl Iterator<Item = &'a str>) -> String {
    let number = |text: &str| text.parse::<f64>().ok().filter(|v| v.is_finite());
    let Some(value) = number(cell) else { return String::new() };
    let same = ids.filter(|id| number(id) == Some(value)).min();
    same.map_or(String::new(), |id| {
        format!("; \"{id}\" is the same number, and ids are compared as they are written")
    })
}

/// The remedy for a row number that is not below `n`: counted from 1 the last is `n`; larger ones may be ids.
fn next_step(i: usize, n: usize) -> &'static str {
    if i == n {
        "; if they are counted from 1, subtract 1 from each; or are these ids? (--id)"
    } else {
        "; are these ids? (--id)"
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
    read_constraints_and_unused(path, dataset, by_id, None).map(|(constraints, _)| constraints)
}

/// The same within a memory limit, with the number of rows of weight 0, which constrain nothing.
///
/// # Errors
/// Returns the errors of [`read_constraints`]; `Memory` if the constraints take more than `limit` bytes.
pub fn read_constraints_and_unused(
    path: &str,
    dataset: &Dataset,
    by_id: bool,
    limit: Option<u64>,
) -> Result<(Constraints, usize)> {
    let sheet = Sheet::open(Input::open(Path::new(path))?, None, EXPECTED)?;
    let read = parse(sheet, &Objects::new(dataset, by_id)?, Unknown::Refused, limit)?;
    Ok((read.constraints, read.unused))
}

/// Reads constraints on the objects of `dataset`, and an unknown id of each other row.
///
/// # Errors
/// Returns the errors of [`read_constraints`], except for unknown ids.
pub fn read_known_constraints(path: &str, dataset: &Dataset) -> Result<(Constraints, Vec<String>)> {
    let sheet = Sheet::open(Input::open(Path::new(path))?, None, EXPECTED)?;
    let read = parse(sheet, &Objects::new(dataset, true)?, Unknown::Ignored, None)?;
    Ok((read.constraints, read.unknown))
}

/// Treatment of rows about ids that no object has.
#[derive(Clone, Copy, PartialEq)]
enum Unknown {
    Refused,
    Ignored,
}

/// The content of a file.
struct Read {
    constraints: Constraints,
    /// Number of rows of weight 0.
    unused: usize,
    /// An unknown id of each row that has one.
    unknown: Vec<String>,
}

/// The place of each cell in a row.
struct Columns {
    i: usize,
    j: usize,
    kind: usize,
    weight: Option<usize>,
    strength: Option<usize>,
}

/// The constraints of some rows. There may be millions: no cell is kept.
#[derive(Default)]
struct Part {
    pairs: Vec<Constraint>,
    alone: Vec<Vec<u32>>,
    members: Vec<Member>,
    unknown: Vec<String>,
}

/// An object in a group.
struct Member {
    line: u64,
    object: usize,
    name: String,
    weight: f64,
    strength: Option<Strength>,
}

impl Part {
    fn take(
        &mut self,
        columns: &Columns,
        (objects, unknown): (&Objects<'_>, Unknown),
        (place, line): (&str, u64),
        cells: &[&str],
    ) -> Result<()> {
        // Spreadsheets write empty rows below a table.
        if cells.iter().all(|cell| cell.is_empty()) {
            return Ok(());
        }
        let (i, j, kind) = (cells[columns.i], cells[columns.j], cells[columns.kind]);
        let ids = if kind == GROUP { &[i][..] } else { &[i, j] };
        if unknown == Unknown::Ignored
            && let Some(id) = ids.iter().find(|id| !objects.has(id))
        {
            self.unknown.push(id.to_string());
            return Ok(());
        }
        let a = objects.find(i, place)?;
        let cell = |c: Option<usize>| c.map(|c| cells[c]);
        let (weight, strength) = (cell(columns.weight), cell(columns.strength));
        let said = || {
            let (weight, strength) =
                (weight_of(weight, objects, place)?, strength_of(strength, place)?);
            if weight == 0.0 && strength == Some(Strength::Hard) {
                let message = "a weight of 0 removes the row, but strength hard requires it: give it a weight above \
                               0, or leave the row out";
                return Err(bad(place, message));
            }
            Ok((weight, strength))
        };
        if kind == GROUP {
            let (weight, strength) = said()?;
            self.members.push(Member { line, object: a, name: j.into(), weight, strength });
            return Ok(());
        }
        let b = objects.find(j, place)?;
        let kind = match kind {
            "must_link" => Kind::MustLink,
            "cannot_link" => Kind::CannotLink,
            other => {
                let near = suggestion(other, ["must_link", "cannot_link", GROUP]);
                let message = format!(
                    "type must be must_link, cannot_link or {GROUP}, got \"{other}\"{near}"
                );
                return Err(bad(place, message));
            }
        };
        if a == b && kind == Kind::CannotLink {
            return Err(bad(place, format!("a cannot-link of object {i} with itself")));
        }
        if a == b {
            self.alone.push(vec![a as u32]);
        }
        let (weight, strength) = said()?;
        self.pairs.push(Constraint { strength, ..Constraint::new(a, b, kind).weighing(weight) });
        Ok(())
    }

    fn append(&mut self, mut next: Part) {
        self.pairs.append(&mut next.pairs);
        self.alone.append(&mut next.alone);
        self.members.append(&mut next.members);
        self.unknown.append(&mut next.unknown);
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.pairs[..]) + size_of_val(&self.alone[..]) + size_of_val(&self.members[..])
    }
}

fn parse(
    sheet: Sheet<'_>,
    objects: &Objects<'_>,
    unknown: Unknown,
    limit: Option<u64>,
) -> Result<Read> {
    let (header, place) = (sheet.header().to_vec(), sheet.place().to_string());
    let answers = header.iter().any(|c| c == "answer");
    let needed =
        |name| column(&header, name, &place).map_err(|e| with_what_is_expected(e, answers));
    let (i, j, kind) = (needed("i")?, needed("j")?, needed("type")?);
    let by_name = |name: &str| header.iter().position(|c| c == name);
    let (weight, strength) = (by_name("weight"), by_name("strength"));
    let known = ["i", "j", "type", "weight", "strength"];
    // Programs write row numbers in front, in a column without a name; elsewhere a name was forgotten.
    let index = usize::from(header[0].is_empty());
    if let Some(other) = header[index..].iter().find(|c| !known.contains(&c.as_str())) {
        let near = suggestion(other, known);
        let message = format!("unknown column \"{other}\"; accepted: {}{near}", known.join(", "));
        return Err(bad(format!("{place}, line 1"), message));
    }
    if let Some(twice) = (1..header.len()).find(|&c| header[..c].contains(&header[c])) {
        let message = format!("two columns are named \"{}\"", header[twice]);
        return Err(bad(format!("{place}, line 1"), message));
    }
    let columns = Columns { i, j, kind, weight, strength };
    let mut all = Part::default();
    let take = |part: &mut Part, line: u64, cells: &[&str]| {
        let place = format!("{place}, line {line}");
        part.take(&columns, (objects, unknown), (place.as_str(), line), cells)
    };
    sheet.each(take, |part| {
        all.append(part);
        within(limit, all.bytes() as u64, &place)
    })?;
    let Part { pairs, alone, members, unknown } = all;
    let unused = pairs.iter().filter(|c| c.weight == 0.0 && c.i != c.j).count()
        + members.iter().filter(|m| m.weight == 0.0).count();
    let mut groups = Groups::default();
    for member in members {
        let place = format!("{place}, line {}", member.line);
        groups.add(member, &place)?;
    }
    let n = objects.dataset.n();
    let listed = Constraints::new(n, pairs)?;
    let constraints = listed.with_groups(n, groups.all)?.with_neighbourhoods(alone);
    Ok(Read { constraints, unused, unknown })
}

/// `answers`: the file is a sheet of questions, answered or not.
fn with_what_is_expected(error: Error, answers: bool) -> Error {
    let hint = if answers {
        "; import answers with \"mustlink label --import\", and make constraints of them with \"mustlink ledger \
         merge\""
    } else {
        ""
    };
    match error {
        Error::Data { place, message } => {
            bad(place, format!("{message}; expected {EXPECTED}{hint}"))
        }
        other => other,
    }
}

/// A weight, with the decimal comma of the data or a point.
fn weight_of(cell: Option<&str>, objects: &Objects<'_>, place: &str) -> Result<f64> {
    let text = cell.unwrap_or_default();
    if text.is_empty() {
        return Ok(1.0);
    }
    let is_weight = |w: &f64| (0.0..=Constraint::MAX_WEIGHT).contains(w);
    let number = |text: &str| text.parse().ok().filter(is_weight);
    let decimal = objects.dataset.reading.decimal;
    // A point stands between thousands where decimals are after a comma.
    let own = decimal.filter(|_| !text.contains('.')).map(|comma| text.replace(comma, "."));
    number(text).or_else(|| number(&own?)).ok_or_else(|| {
        let comma = decimal.is_none() && number(&text.replace(',', ".")).is_some();
        let hint = if comma {
            "; a decimal comma is accepted if the data have one (--decimal ,)"
        } else {
            ""
        };
        bad(place, format!("weight must be a number between 0 and 1e100, got \"{text}\"{hint}"))
    })
}

fn strength_of(cell: Option<&str>, place: &str) -> Result<Option<Strength>> {
    match cell.unwrap_or_default() {
        "" => Ok(None),
        "hard" => Ok(Some(Strength::Hard)),
        "soft" => Ok(Some(Strength::Soft)),
        other => Err(bad(place, format!("strength must be hard or soft, got \"{other}\""))),
    }
}

/// The groups of a file, in order of their first rows.
#[derive(Default)]
struct Groups {
    all: Vec<Group>,
    places: HashMap<String, usize>,
}

impl Groups {
    fn add(&mut self, member: Member, place: &str) -> Result<()> {
        let Member { object, name, weight, strength, .. } = member;
        if name.is_empty() {
            return Err(bad(place, format!("a {GROUP} needs its name in the column j")));
        }
        let at = *self.places.entry(name.clone()).or_insert(self.all.len());
        if at == self.all.len() {
            self.all.push(Group { weight, strength, ..Group::new(name, Vec::new()) });
        }
        let group = &mut self.all[at];
        if (group.weight, group.strength) != (weight, strength) {
            let message = format!(
                "the rows of the group \"{}\" must have the same weight and the same strength",
                group.name
            );
            return Err(bad(place, message));
        }
        group.members.push(object as u32);
        Ok(())
    }
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
    let strengths = constraints.listed().iter().any(|c| c.strength.is_some())
        || constraints.groups().iter().any(|g| g.strength.is_some());
    let used = if strengths { 5 } else { 4 };
    let marked = |strength| match strength {
        None => "",
        Some(Strength::Hard) => "hard",
        Some(Strength::Soft) => "soft",
    };
    bytes::csv_text("constraints", |out| {
        let mut write = |cells: [&str; 5]| out.write_record(&cells[..used]);
        write(["i", "j", "type", "weight", "strength"])?;
        for c in constraints.listed() {
            let (i, j, weight) = (objects.name(c.i), objects.name(c.j), c.weight.to_string());
            write([&i, &j, c.kind.name(), &weight, marked(c.strength)])?;
        }
        for (name, group) in names_of(constraints.groups()).iter().zip(constraints.groups()) {
            let weight = group.weight.to_string();
            for &i in &group.members {
                write([&objects.name(i), name, GROUP, &weight, marked(group.strength)])?;
            }
        }
        for alone in constraints.neighbourhoods().iter().filter(|set| set.len() == 1) {
            let name = objects.name(alone[0]);
            write([&name, &name, Kind::MustLink.name(), "1", ""])?;
        }
        Ok(())
    })
}

/// A unique name for each group: its own, otherwise with a number added.
fn names_of(groups: &[Group]) -> Vec<String> {
    let mut taken: HashSet<&str> = HashSet::with_capacity(groups.len());
    let unique = groups.iter().all(|g| !g.name.is_empty() && taken.insert(&g.name));
    let name = |(at, group): (usize, &Group)| {
        if unique { group.name.clone() } else { format!("{}#{at}", group.name) }
    };
    groups.iter().enumerate().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Reading;
    use mustlink_core::Data;
    use ndarray::Array2;
    use proptest::prelude::*;

    fn set(n: usize) -> Dataset {
        let ids = (0..n).map(|i| format!("o{i},\"{i}\"")).collect();
        let data = Data::dense(Array2::zeros((n, 1))).unwrap();
        Dataset { ids: Some(ids), ..Dataset::new("set", data) }
    }

    fn read(text: &str, set: &Dataset, by_id: bool) -> Result<Constraints> {
        let sheet = Sheet::open(Input::of(text.as_bytes(), "c.csv"), None, EXPECTED)?;
        let read = parse(sheet, &Objects::new(set, by_id)?, Unknown::Refused, None)?;
        Ok(read.constraints)
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
        for text in ["i,j,type\n4,0,cannot_link\n", ",i,j,type\n0,4,0,cannot_link\n"] {
            assert_eq!(of(text).unwrap().pairs(), [Constraint::cannot(0, 4)], "{text}");
        }
        let nameless = of("i,j,type,\n4,0,cannot_link,2\n").unwrap_err().to_string();
        assert!(nameless.contains("unknown column \"\""), "{nameless}");
        assert!(of("i,j,type,weight\n").unwrap().is_empty());
    }

    /// A data file with decimal commas has constraints with decimal commas next to it.
    #[test]
    fn spreadsheets_write_decimal_commas_and_empty_rows() {
        let text = "sep=;\r\ni;j;type;weight\r\n3;0;must_link;1.5\r\n4;0;cannot_link;0,5\r\n;;;\r\n;;;\r\n";
        let reading = Reading { decimal: Some(','), ..Reading::default() };
        let c = read(text, &Dataset { reading, ..set(5) }, false).unwrap();
        let pairs = [Constraint::must(0, 3).weighing(1.5), Constraint::cannot(0, 4).weighing(0.5)];
        assert_eq!(c.pairs(), pairs);
        assert_eq!(
            of(text).unwrap_err().to_string(),
            "c.csv, line 4: weight must be a number between 0 and 1e100, got \"0,5\"; a decimal comma is accepted if \
             the data have one (--decimal ,)"
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(
            of("").unwrap_err().to_string(),
            "c.csv: the file is empty; expected the header i,j,type,weight and one row per pair"
        );
        assert_eq!(
            of("i,j,kind\n").unwrap_err().to_string(),
            "c.csv: no column \"type\"; columns: i, j, kind; expected the header i,j,type,weight and one \
             row per pair"
        );
        let sheet = of("i,j,answer\n0,1,same\n").unwrap_err().to_string();
        assert!(sheet.contains("import answers with \"mustlink label --import\""), "{sheet}");
        assert_eq!(
            of("i,j,type,wieght\n").unwrap_err().to_string(),
            "c.csv, line 1: unknown column \"wieght\"; accepted: i, j, \
             type, weight, strength; did you mean \"weight\"?"
        );
        assert_eq!(
            of("i,j,type,type\n0,1,must_link,cannot_link\n").unwrap_err().to_string(),
            "c.csv, line 1: two columns are named \"type\""
        );
        assert_eq!(
            message("0,1,must_link,1\n0,5,must_link,1"),
            "c.csv, line 3: object 5 does not exist; row numbers are 0 to 4; if they are counted from 1, subtract 1 \
             from each; or are these ids? (--id)"
        );
        assert_eq!(
            message("0,1,must_link,1\n0,1005,must_link,1"),
            "c.csv, line 3: object 1005 does not exist; row numbers are 0 to 4; are these ids? (--id)"
        );
        assert_eq!(
            message("a,1,must_link,1"),
            "c.csv, line 2: \"a\" is not a row number from 0 to 4; are these ids? (--id)"
        );
        assert_eq!(
            message("0,1,mustlink,1"),
            "c.csv, line 2: type must be must_link, cannot_link or cannot_link_group, got \"mustlink\"; \
             did you mean \"must_link\"?"
        );
        assert_eq!(
            message("0,0,cannot_link,1"),
            "c.csv, line 2: a cannot-link of object 0 with itself"
        );
        assert_eq!(
            message("0,1,must_link,-1"),
            "c.csv, line 2: weight must be a number between 0 and 1e100, got \"-1\""
        );
        let large = message("0,1,must_link,1e308");
        assert!(
            large.ends_with("line 2: weight must be a number between 0 and 1e100, got \"1e308\"")
        );
        assert_eq!(
            message("0,1,must_link"),
            "c.csv, line 2: expected 4 fields as in the header, got 3"
        );
        let hard = of("i,j,type,weight,strength\n0,1,must_link,0,hard\n").unwrap_err().to_string();
        assert!(hard.starts_with("c.csv, line 2: a weight of 0 removes the row"), "{hard}");
        let of = |text: &str, set: &Dataset| read(text, set, true);
        assert_eq!(
            of("i,j,type\no1,o2,must_link\n", &set(5)).unwrap_err().to_string(),
            "c.csv, line 2: no object has the id \"o1\""
        );
        let plain = Dataset { ids: None, ..set(5) };
        assert_eq!(
            of("i,j,type\n", &plain).unwrap_err().to_string(),
            "set: has no ids; name their column with --id, or use row numbers"
        );
    }

    #[test]
    fn groups_have_a_row_per_member() {
        let text = "i,j,type,weight,strength\n3,photo,cannot_link_group,2,hard\n0,1,must_link,1,\n\
                    1,photo,cannot_link_group,2,hard\n2,other,cannot_link_group,1,\n\
                    4,photo,cannot_link_group,2,hard\n";
        let c = of(text).unwrap();
        assert_eq!(c.listed(), [Constraint::must(0, 1)]);
        let strength = Some(Strength::Hard);
        let photo = Group { weight: 2.0, strength, ..Group::new("photo", vec![1, 3, 4]) };
        // A group of one says nothing.
        assert_eq!(c.groups(), [photo]);
        let set = set(5);
        let written = format(&c, &Objects::new(&set, false).unwrap()).unwrap();
        assert_eq!(read(&String::from_utf8(written).unwrap(), &set, false).unwrap(), c);
        assert_eq!(
            message("0,a,cannot_link_group,1\n1,a,cannot_link_group,2"),
            "c.csv, line 3: the rows of the group \"a\" must have the same weight and the same strength"
        );
        assert_eq!(
            message("0,,cannot_link_group,1"),
            "c.csv, line 2: a cannot_link_group needs its name in the column j"
        );
    }

    #[test]
    fn rows_of_large_files_are_put_together_in_order() {
        let mut text = String::from("i,j,type,weight\n4,g,cannot_link_group,1\n");
        (0..60_000).for_each(|r| text += &format!("{},{},must_link,{}\n", r % 2, 2 + r % 2, r + 1));
        text += "3,g,cannot_link_group,1\n";
        let c = of(&text).unwrap();
        let pair = |i: usize, weight| Constraint::must(i, i + 2).weighing(weight);
        assert_eq!(c.listed(), [pair(0, 59_999.0), pair(1, 60_000.0)]);
        assert_eq!(c.groups(), [Group::new("g", vec![3, 4])]);
        let refused = of(&format!("{text}0,9,must_link,1\n")).unwrap_err().to_string();
        assert!(refused.starts_with("c.csv, line 60004: object 9 does not exist"), "{refused}");
    }

    #[test]
    fn blanks_that_do_not_show_are_written_out() {
        let set = Dataset { ids: Some(vec!["Anna Bell".to_string()].into()), ..set(1) };
        let message = read("i,j,type\nAnna\u{a0}Bell,o,must_link\n", &set, true).unwrap_err();
        assert_eq!(
            message.to_string(),
            "c.csv, line 2: no object has the id \"Anna\\u{a0}Bell\"; did you mean \"Anna Bell\"?"
        );
    }

    #[test]
    fn ids_that_a_spreadsheet_took_for_numbers_are_named() {
        let ids = ["0071", "1203", "x"].map(String::from).to_vec();
        let set = Dataset { ids: Some(ids.into()), ..set(3) };
        for (cell, id) in [("71", "0071"), ("1203.0", "1203")] {
            let message = read(&format!("i,j,type\nx,{cell},must_link\n"), &set, true).unwrap_err();
            let same =
                format!("\"{id}\" is the same number, and ids are compared as they are written");
            let said = format!("c.csv, line 2: no object has the id \"{cell}\"; ");
            assert_eq!(message.to_string(), said + &same);
        }
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

        /// Written constraints are read back, by row number and by ids that need quotes.
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
