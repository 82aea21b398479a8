//! The file of a finished cell, with its checksum.
//!
//! The first line names the cell, counts the rows and holds a checksum of everything; the rows
//! follow, one JSON line each. A line lost or doubled, files that changed places and values that were
//! edited are found before a row is used.

use std::collections::BTreeMap;

use mustlink_core::Error;
use serde::{Deserialize, Serialize};

use crate::config::Experiment;
use crate::hash::digest;
use crate::identity::{Build, of_metrics};
use crate::row::{Row, RowStatus};

/// Which rows of a cell an experiment asks for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    /// The curve points; absent when another method decides.
    pub points: Option<Vec<usize>>,
    /// Columns of scores, and what each depends on.
    pub metrics: BTreeMap<String, String>,
    /// Scores of a metric whose code has changed will do.
    pub any_build: bool,
}

impl Wanted {
    /// Rows that an experiment asks for, of this build.
    ///
    /// # Errors
    /// `Data` for metrics that cannot be written down.
    pub fn by(experiment: &Experiment) -> Result<Wanted, Error> {
        Ok(Wanted {
            points: experiment.points.numbers().ok(),
            metrics: of_metrics(experiment)?,
            any_build: false,
        })
    }

    /// True if scores made with `there` are those of a metric that is `here` now.
    fn same(&self, there: Option<&String>, here: &str) -> bool {
        let said = |text: &str| text.split('.').next().map(str::to_string);
        let Some(there) = there else { return false };
        there == here || self.any_build && said(there) == said(here)
    }
}

/// The rows of a finished cell, as its file holds them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct CellFile {
    /// Identity of the cell in every build, and the code that made the rows; empty in files of an
    /// earlier form.
    pub of_any_build: String,
    pub build: Build,
    /// Columns of scores, and what each depends on.
    pub metrics: BTreeMap<String, String>,
    /// By ascending point.
    pub rows: Vec<Row>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    format: u32,
    identity: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    of_any_build: String,
    #[serde(default, skip_serializing_if = "Build::is_empty")]
    build: Build,
    rows: usize,
    metrics: BTreeMap<String, String>,
    /// Checksum of this line (with an empty checksum) and of the rows.
    checksum: String,
}

impl Head {
    fn checksum_with(&self, rows: &str) -> serde_json::Result<String> {
        let bare = Head {
            identity: self.identity.clone(),
            of_any_build: self.of_any_build.clone(),
            build: self.build.clone(),
            metrics: self.metrics.clone(),
            checksum: String::new(),
            ..*self
        };
        Ok(digest(format!("{}\n{rows}", serde_json::to_string(&bare)?).as_bytes()))
    }
}

impl CellFile {
    /// The text of the file of this cell.
    pub fn encode(&self, identity: &str) -> serde_json::Result<String> {
        let mut rows = String::new();
        for row in &self.rows {
            rows += &serde_json::to_string(row)?;
            rows.push('\n');
        }
        let mut head = Head {
            format: 2,
            identity: identity.into(),
            of_any_build: self.of_any_build.clone(),
            build: self.build.clone(),
            rows: self.rows.len(),
            metrics: self.metrics.clone(),
            checksum: String::new(),
        };
        head.checksum = head.checksum_with(&rows)?;
        Ok(format!("{}\n{rows}", serde_json::to_string(&head)?))
    }

    /// Reads the text of the file of the cell `identity`.
    ///
    /// # Errors
    /// Describes the fault.
    pub fn decode(text: &str, identity: &str) -> Result<CellFile, String> {
        let (first, rows) = text.split_once('\n').ok_or("it is cut off in its first line")?;
        let head: Head = serde_json::from_str(first)
            .map_err(|e| format!("its first line does not name a cell ({e})"))?;
        if head.identity != identity {
            return Err(format!("it holds the rows of the cell {}", head.identity));
        }
        let count = rows.lines().count();
        if count != head.rows {
            return Err(format!("it was written with {} rows and has {count}", head.rows));
        }
        if head.checksum_with(rows).ok().as_ref() != Some(&head.checksum) {
            return Err("its checksum does not fit: something in it was changed".into());
        }
        let Head { of_any_build, build, metrics, .. } = head;
        Ok(CellFile { of_any_build, build, metrics, rows: parse(rows)? })
    }

    /// The requested rows, in order, and the points that lack one; where another method
    /// decides on the point, all or nothing.
    pub fn select(&self, wanted: &Wanted) -> (Vec<&Row>, Vec<usize>) {
        let same = |c: &String, here: &str| wanted.same(self.metrics.get(c), here);
        let scored = |row: &&Row| {
            wanted.metrics.iter().all(|(c, d)| row.scores.contains_key(c) && same(c, d))
        };
        let Some(points) = &wanted.points else {
            return (self.rows.iter().filter(scored).collect(), Vec::new());
        };
        let (mut rows, mut missing) = (Vec::new(), Vec::new());
        for &p in points {
            match self.rows.iter().filter(scored).find(|r| r.p_requested == Some(p)) {
                Some(row) => rows.push(row),
                None => missing.push(p),
            }
        }
        (rows, missing)
    }

    /// The rows at the requested points, whatever metrics they have.
    pub fn at_points<'a>(&'a self, wanted: &'a Wanted) -> impl Iterator<Item = &'a Row> {
        let points = wanted.points.as_deref();
        let asked = move |row: &&Row| {
            points.is_none_or(|points| row.p_requested.is_some_and(|p| points.contains(&p)))
        };
        self.rows.iter().filter(asked)
    }

    /// True if it has every requested row.
    pub fn has_all(&self, wanted: &Wanted) -> bool {
        let (rows, missing) = self.select(wanted);
        !rows.is_empty() && missing.is_empty()
    }

    /// Seconds of its clusterings.
    pub fn seconds(&self) -> f64 {
        self.rows.iter().filter_map(|row| row.time_cluster_s).sum()
    }

    /// The metrics that the rows lack.
    pub fn lacking<'a>(&self, wanted: &'a Wanted) -> impl Iterator<Item = &'a String> {
        let have = self.metrics.clone();
        let lacks = move |c: &String, d: &str| !wanted.same(have.get(c), d);
        wanted.metrics.iter().filter(move |(c, d)| lacks(c, d)).map(|(c, _)| c)
    }

    /// Takes over from an earlier file what these rows do not replace: points and scores that the
    /// experiment asked for once.
    pub fn keep(&mut self, earlier: CellFile) {
        for (column, digest) in &earlier.metrics {
            self.metrics.entry(column.clone()).or_insert_with(|| digest.clone());
        }
        for mut old in earlier.rows {
            let stale = |c: &String| self.metrics.get(c) != earlier.metrics.get(c);
            old.scores.retain(|c, _| !stale(c));
            match self.rows.iter_mut().find(|r| r.p_requested == old.p_requested) {
                None => self.rows.push(old),
                Some(row) if row.status == RowStatus::Ok && old.status == RowStatus::Ok => {
                    for (column, score) in old.scores {
                        row.scores.entry(column).or_insert(score);
                    }
                }
                Some(_) => {}
            }
        }
        self.rows.sort_by_key(|r| r.p_requested);
    }
}

fn parse(rows: &str) -> Result<Vec<Row>, String> {
    let rows: Vec<Row> = rows
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .map_err(|e| e.to_string())?;
    if rows.is_empty() { Err("it is empty".into()) } else { Ok(rows) }
}

/// True if a cell failed with an error or ran out of time.
pub(crate) fn has_failed<'a>(rows: impl IntoIterator<Item = &'a Row>) -> bool {
    rows.into_iter().any(|r| r.status != RowStatus::Ok)
}

/// True if a row failed for external reasons such as time and memory, so that it cannot be compared.
pub(crate) fn is_cut_off(row: &Row) -> bool {
    row.status != RowStatus::Ok && row.seeded != Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> CellFile {
        let row = |p: usize| Row {
            p_requested: Some(p),
            objective: Some(0.1),
            scores: BTreeMap::from([("ari".to_string(), Some(0.5))]),
            ..Row::default()
        };
        let metrics = BTreeMap::from([("ari".to_string(), "0a".to_string())]);
        let build = Build::from([("kmeans".to_string(), "1".to_string())]);
        let of_any_build = "all".to_string();
        CellFile { of_any_build, build, metrics, rows: vec![row(0), row(10)] }
    }

    #[test]
    fn every_kind_of_damage_is_found() {
        let text = file().encode("abc").unwrap();
        assert_eq!(CellFile::decode(&text, "abc"), Ok(file()));
        let lines: Vec<&str> = text.lines().collect();
        let join = |lines: &[&str]| lines.iter().map(|l| format!("{l}\n")).collect::<String>();
        let wrong = |text: &str, why: &str| {
            let said = CellFile::decode(text, "abc").unwrap_err();
            assert!(said.contains(why), "{said}");
        };
        wrong(&join(&lines[..2]), "written with 2 rows and has 1");
        wrong(&join(&[lines[0], lines[1], lines[2], lines[2]]), "has 3");
        wrong(&join(&[lines[0], lines[2], lines[1]]), "checksum");
        wrong(&text.replace("0.1", "0.2"), "checksum");
        wrong(&text.replace("\"0a\"", "\"0b\""), "checksum");
        wrong(&text.replace("kmeans", "kmedoids"), "checksum");
        wrong(&text.replace("abc", "abd"), "the rows of the cell abd");
        wrong(&join(&lines[1..]), "first line");
        wrong("", "cut off");
        wrong(text.trim_end(), "checksum");
    }

    #[test]
    fn what_is_no_longer_asked_for_is_kept() {
        let mut new = file();
        new.metrics = BTreeMap::from([("nmi".to_string(), "1".to_string())]);
        new.rows[0].scores = BTreeMap::from([("nmi".to_string(), Some(0.7))]);
        new.rows.truncate(1);
        new.keep(file());
        assert_eq!(new.rows.len(), 2);
        assert_eq!(new.rows[0].scores.len(), 2);
        let ask = |column: &str, digest: &str| Wanted {
            points: Some(vec![0, 10]),
            metrics: BTreeMap::from([(column.to_string(), digest.to_string())]),
            any_build: false,
        };
        assert_eq!(new.select(&ask("ari", "0a")).1, Vec::<usize>::new());
        assert_eq!(new.select(&ask("nmi", "1")).1, [10]);
        // The same column of another metric is not this score.
        assert_eq!(new.select(&ask("ari", "0b")).1, [0, 10]);
        // Nor is a score of the metric as it was; for --keep-stale it will do.
        new.metrics = BTreeMap::from([("ari".to_string(), "0a.1".to_string())]);
        let changed = ask("ari", "0a.2");
        assert_eq!(new.select(&changed).1, [0, 10]);
        let any = Wanted { any_build: true, ..changed };
        assert_eq!(new.select(&any).1, Vec::<usize>::new());
        assert_eq!(new.select(&Wanted { any_build: true, ..ask("ari", "0b.1") }).1, [0, 10]);
    }
}
