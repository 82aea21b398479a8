//! Constraints that a clustering breaks, and their sources.

use std::collections::{HashMap, HashSet};

use mustlink::constraints::{Constraint, Constraints, Kind, Origin};
use mustlink_datasets::{Dataset, write_rows};
use serde::Serialize;

/// Maximum number of pairs in a summary; a file contains all.
const MOST: usize = 1000;

/// A violated pair.
#[derive(Debug, Clone, Serialize)]
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

/// The first [`MOST`] pairs, for a summary.
pub(crate) fn first(all: &[Broken]) -> Vec<Broken> {
    all[..all.len().min(MOST)].to_vec()
}

/// The constraints that `labels` violate, followed by all `overruled` ones. `id` gives the id of an object.
pub(crate) fn broken(
    constraints: &Constraints,
    labels: &[u32],
    overruled: &[Constraint],
    sources: &Sources<'_>,
    id: &dyn Fn(usize) -> String,
) -> Vec<Broken> {
    let of = |status| {
        move |c: Constraint| Broken {
            i: id(c.i as usize),
            j: id(c.j as usize),
            r#type: c.kind.name(),
            weight: c.weight,
            status,
            source: sources.of(&c),
        }
    };
    let left_out = overruled.iter().copied().map(of("overruled"));
    constraints.violated(labels).map(of("broken")).chain(left_out).collect()
}

/// Writes the pairs as CSV.
pub(crate) fn write(path: &str, all: &[Broken]) -> mustlink::Result<()> {
    let head = ["i", "j", "type", "weight", "status", "source"].map(String::from);
    let row = |b: &Broken| {
        let [kind, status] = [b.r#type, b.status].map(String::from);
        [b.i.clone(), b.j.clone(), kind, b.weight.to_string(), status, b.source.clone()]
    };
    write_rows(path, std::iter::once(head).chain(all.iter().map(row)))
}

/// The sources of constraints.
#[derive(Default)]
pub(crate) struct Sources<'a> {
    /// The name of the file, its pairs, and its groups by object.
    file: Option<(&'a str, Pairs, Groups<'a>)>,
    /// The column of known classes, and the class of each object.
    known: Option<(String, Vec<Option<u32>>)>,
    /// The column of groups.
    apart: Option<(&'a str, Groups<'a>)>,
    /// If true, a pair without another source is an answer.
    asks: bool,
}

/// Pairs with their kind, the smaller object first.
type Pairs = HashSet<(u32, u32, Kind)>;

/// For each object the groups that it is in, by name.
type Groups<'a> = HashMap<u32, Vec<&'a str>>;

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
            Some((i.min(j), i.max(j), c.kind))
        };
        let groups = given.groups().iter().map(|g| (g.name.as_str(), &g.members[..]));
        let pairs = || given.listed().iter().filter_map(pair).collect();
        self.file = name.map(|name| (name, pairs(), by_object(groups, object)));
        self
    }

    /// Adds the columns of known classes and of groups (`apart`). `asks` is true if there are answers, too.
    pub fn of_columns(
        mut self,
        set: &'a Dataset,
        known: Option<&str>,
        apart: Option<&'a str>,
        rows: &[u32],
        asks: bool,
    ) -> Self {
        let of_rows = |labels: &[Option<u32>]| rows.iter().map(|&r| labels[r as usize]).collect();
        let classes = set.known.as_ref().zip(known);
        self.known = classes.map(|(classes, name)| (name.into(), of_rows(&classes.labels)));
        let objects: HashMap<u32, u32> = rows.iter().copied().zip(0..).collect();
        let groups = set.apart.iter().map(|g| (g.name.as_str(), &g.members[..]));
        self.apart = apart.map(|column| (column, by_object(groups, &|r| objects.get(&r).copied())));
        self.asks = asks;
        self
    }

    /// The source of a constraint in a few words; empty if it is not known.
    pub fn of(&self, c: &Constraint) -> String {
        let mut found = Vec::new();
        let shared = |groups: &Groups<'_>| {
            let (of_i, of_j) = (groups.get(&c.i)?, groups.get(&c.j)?);
            let shared = of_i.iter().find(|name| of_j.contains(name)).map(ToString::to_string);
            shared.filter(|_| c.kind == Kind::CannotLink)
        };
        if let Some((name, pairs, groups)) = &self.file {
            let pair = pairs.contains(&(c.i.min(c.j), c.i.max(c.j), c.kind));
            found.extend(pair.then(|| (*name).to_string()));
            found.extend(shared(groups).map(|group| format!("{name}, group {group}")));
        }
        if let Some((column, classes)) = &self.known
            && let (Some(a), Some(b)) = (classes[c.i as usize], classes[c.j as usize])
            && (a == b) == (c.kind == Kind::MustLink)
        {
            found.push(format!("column {column}"));
        }
        if let Some((column, groups)) = &self.apart {
            found.extend(shared(groups).map(|group| format!("column {column}, group {group}")));
        }
        match c.origin {
            Origin::Queried => found.push("answer".into()),
            Origin::Entailed => found.push("inferred from answers".into()),
            Origin::Imputed => found.push("an ensemble".into()),
            Origin::Propagated => found.push("propagated".into()),
            Origin::Given if found.is_empty() && self.asks => found.push("answer".into()),
            Origin::Given => {}
        }
        found.join("; ")
    }
}

fn by_object<'a>(
    groups: impl Iterator<Item = (&'a str, &'a [u32])>,
    object: &dyn Fn(u32) -> Option<u32>,
) -> Groups<'a> {
    let mut all: Groups<'a> = HashMap::new();
    for (name, members) in groups {
        let members = members.iter().filter_map(|&row| object(row));
        members.for_each(|i| all.entry(i).or_default().push(name));
    }
    all
}
