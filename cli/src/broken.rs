//! Constraints that a clustering breaks, and their sources.

use std::collections::HashMap;

use mustlink::constraints::{Constraint, Constraints, Kind, Origin};
use mustlink_datasets::{Dataset, write_rows};
use mustlink_experiments::Single;
use serde::Serialize;

/// Maximum number of pairs in a summary; a file contains all.
const MOST: usize = 1000;

/// A violated pair.
#[derive(Debug, Serialize)]
pub(crate) struct Broken {
    i: String,
    j: String,
    r#type: &'static str,
    weight: f64,
    /// `broken`: the clustering violates it. `overruled`: it was left out because other answers contradict it.
    status: &'static str,
    /// A file, a column with a group, or the answers.
    source: String,
}

/// The constraints that `labels` violate, followed by all `overruled` ones, with the ids of rows of `set`.
pub(crate) fn broken<'a>(
    constraints: &'a Constraints,
    labels: &'a [u32],
    overruled: &'a [Constraint],
    sources: Sources<'a>,
    set: &'a Dataset,
) -> impl Iterator<Item = Broken> + 'a {
    let left_out = overruled.iter().map(|c| ("overruled", *c));
    let all = constraints.violated(labels).map(|c| ("broken", c)).chain(left_out);
    all.map(move |(status, c)| {
        let (source, rows) = sources.of(&c);
        let [i, j] = rows.map(|row| set.id(row as usize));
        Broken { i, j, r#type: c.kind.name(), weight: c.weight, status, source }
    })
}

/// Writes the pairs as CSV, if a file is given. Returns the first [`MOST`] for a summary, and the number of the others.
/// Groups can have more pairs than fit into memory, so no others are kept.
pub(crate) fn write(
    path: Option<&str>,
    all: impl Iterator<Item = Broken>,
) -> mustlink::Result<(Vec<Broken>, usize)> {
    let (mut first, mut left_out) = (Vec::new(), 0);
    let mut keep = |b: Broken| if first.len() < MOST { first.push(b) } else { left_out += 1 };
    let Some(path) = path else {
        all.for_each(keep);
        return Ok((first, left_out));
    };
    let head = ["i", "j", "type", "weight", "status", "source"].map(String::from);
    let row = |b: Broken| {
        let (weight, [kind, status]) =
            (b.weight.to_string(), [b.r#type, b.status].map(String::from));
        let cells = [b.i.clone(), b.j.clone(), kind, weight, status, b.source.clone()];
        keep(b);
        cells
    };
    write_rows(path, std::iter::once(head).chain(all.map(row)))?;
    Ok((first, left_out))
}

/// The sources of constraints.
#[derive(Default)]
pub struct Sources<'a> {
    /// The name of the file, its pairs, and its groups by object.
    file: Option<(&'a str, Pairs, Groups<'a>)>,
    /// The source of known classes, and the class of each object with the first row that has it.
    known: Option<(String, FirstOfClass)>,
    /// The column of groups.
    apart: Option<(&'a str, Groups<'a>)>,
    /// The run. If it has a selector, a pair without another source is an answer.
    run: Option<&'a Single>,
}

/// The rows of each pair of objects of a kind, the smaller object first.
type Pairs = HashMap<(u32, u32, Kind), [u32; 2]>;

/// For each object its class, with the first row that has it.
type FirstOfClass = Vec<Option<(u32, u32)>>;

/// For each object the groups that it is in, by name, with its first row there.
type Groups<'a> = HashMap<u32, Vec<(&'a str, u32)>>;

impl<'a> Sources<'a> {
    /// Adds the constraints `given` of the file `name`; `object` maps a row to its object.
    pub fn of_file(
        mut self,
        name: Option<&'a str>,
        given: &'a Constraints,
        object: &dyn Fn(u32) -> Option<u32>,
    ) -> Self {
        let pair = |c: &Constraint| {
            let (i, j) = (object(c.i)?, object(c.j)?);
            let rows = if i < j { [c.i, c.j] } else { [c.j, c.i] };
            Some(((i.min(j), i.max(j), c.kind), rows))
        };
        let groups = given.groups().iter().map(|g| (g.name.as_str(), &g.members[..]));
        // If several rows give the same pair, keep the first.
        let pairs = || given.listed().iter().rev().filter_map(pair).collect();
        self.file = name.map(|name| (name, pairs(), by_object(groups, object)));
        self
    }

    /// Adds the known classes of a run, whose source is `known`, its column of groups (`apart`), and its answers.
    pub fn of_run(
        mut self,
        single: &'a Single,
        known: Option<String>,
        apart: Option<&'a str>,
    ) -> Self {
        let set = &single.original;
        let of_objects = |labels: &[Option<u32>]| {
            let mut all = vec![None; single.set.n()];
            for (row, label) in labels.iter().enumerate() {
                if let (Some(object), Some(label)) = (single.object(row), *label) {
                    all[object as usize].get_or_insert((label, row as u32));
                }
            }
            all
        };
        let classes = set.known.as_ref().zip(known);
        self.known = classes.map(|(classes, name)| (name, of_objects(&classes.labels)));
        let groups = set.apart.iter().map(|g| (g.name.as_str(), &g.members[..]));
        self.apart =
            apart.map(|column| (column, by_object(groups, &|row| single.object(row as usize))));
        self.run = Some(single);
        self
    }

    /// The source of a constraint in a few words (empty if it is unknown), and the rows of the pair. If several rows
    /// became one object, these are the rows that the source contains.
    pub fn of(&self, c: &Constraint) -> (String, [u32; 2]) {
        let (mut found, mut rows) = (Vec::new(), Vec::new());
        let shared = |groups: &Groups<'_>| {
            let (of_i, of_j) = (groups.get(&c.i)?, groups.get(&c.j)?);
            let both = |&(name, i): &(&str, u32)| {
                let (_, j) = of_j.iter().find(|(other, _)| *other == name)?;
                Some((name.to_string(), [i, *j]))
            };
            of_i.iter().find_map(both).filter(|_| c.kind == Kind::CannotLink)
        };
        if let Some((name, pairs, groups)) = &self.file {
            if let Some(pair) = pairs.get(&(c.i.min(c.j), c.i.max(c.j), c.kind)) {
                found.push((*name).to_string());
                rows.push(*pair);
            }
            if let Some((group, pair)) = shared(groups) {
                found.push(format!("{name}, group {group}"));
                rows.push(pair);
            }
        }
        if let Some((source, classes)) = &self.known
            && let (Some((a, i)), Some((b, j))) = (classes[c.i as usize], classes[c.j as usize])
            && (a == b) == (c.kind == Kind::MustLink)
        {
            found.push(source.clone());
            rows.push([i, j]);
        }
        if let Some((column, groups)) = &self.apart
            && let Some((group, pair)) = shared(groups)
        {
            found.push(format!("column {column}, group {group}"));
            rows.push(pair);
        }
        let asks = self.run.is_some_and(|run| run.method.selector.is_some());
        match c.origin {
            Origin::Queried => found.push("answer".into()),
            Origin::Entailed => found.push("inferred from answers".into()),
            Origin::Imputed => found.push("an ensemble".into()),
            Origin::Propagated => found.push("propagated".into()),
            Origin::Given if found.is_empty() && asks => found.push("answer".into()),
            Origin::Given => {}
        }
        let row = |i: u32| self.run.map_or(i, |run| run.row(i));
        (found.join("; "), rows.first().copied().unwrap_or([row(c.i), row(c.j)]))
    }
}

fn by_object<'a>(
    groups: impl Iterator<Item = (&'a str, &'a [u32])>,
    object: &dyn Fn(u32) -> Option<u32>,
) -> Groups<'a> {
    let mut all: Groups<'a> = HashMap::new();
    for (name, members) in groups {
        let members = members.iter().filter_map(|&row| Some((object(row)?, row)));
        members.for_each(|(i, row)| all.entry(i).or_default().push((name, row)));
    }
    all
}
