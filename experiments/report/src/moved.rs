//! The changes since the previous report.
//!
//! The means and ranks of the files that are about to be overwritten, compared with the new ones. The last changes
//! are kept in a file, so that a second report of the same results shows the same changes. The file is written by
//! every report of a finished study, even if it has only a header, and by no other report. So its existence shows
//! that the last report was of a finished study.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use maud::html;
use mustlink_core::Result;
use mustlink_datasets::csv_text;
use serde::{Deserialize, Serialize};

use crate::section::Section;
use crate::sheet::{Cell, Line, Sheet, difference};
use mustlink_experiments::{Experiment, remove, write_whole};

const FILE: &str = "moved.csv";
/// At most so many means are listed on the page.
const LISTED: usize = 40;
/// The level of tests.
const LEVEL: f64 = 0.05;
const ADDED: &str = "method added";

/// A number that is another now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Move {
    /// `mean rank`, `p (Holm)` where it crossed 5 %, `mean`, or `method added`, `method left out`.
    what: String,
    pub metric: String,
    /// Empty where it is about all together.
    pub dataset: String,
    pub method: String,
    before: Option<f64>,
    after: Option<f64>,
}

/// Numbers by metric, data set and method.
type Numbers = BTreeMap<(String, String, String), Option<f64>>;

/// Key of a number: metric, data set and method, and the point if any; then the number.
type Point = ((String, String, String), String, Option<f64>);

fn lines(text: &[u8], name: &str) -> Vec<Point> {
    let mut reader = csv::Reader::from_reader(text);
    let Ok(heads) = reader.headers().cloned() else { return Vec::new() };
    let at = |name: &str| heads.iter().position(|h| h == name);
    let (Some(metric), Some(method), Some(value)) = (at("metric"), at("method"), at(name)) else {
        return Vec::new();
    };
    let (dataset, point) = (at("dataset"), at("p"));
    let line = |r: csv::StringRecord| {
        let get = |at: usize| r.get(at).unwrap_or_default().to_string();
        let optional = |at: Option<usize>| at.map_or(String::new(), get);
        let key = (get(metric), optional(dataset), get(method));
        (key, optional(point), get(value).parse().ok())
    };
    reader.records().flatten().map(line).collect()
}

fn column(text: &[u8], name: &str) -> Numbers {
    lines(text, name).into_iter().map(|(key, _, value)| (key, value)).collect()
}

/// The means at the last points of curves, before and now; only where there was that point before.
fn means(before: &[u8], after: &[u8]) -> (Numbers, Numbers) {
    let before: BTreeMap<_, _> =
        lines(before, "mean").into_iter().map(|(key, p, mean)| ((key, p), mean)).collect();
    // Points of a curve follow one another: the last one stays.
    let last: BTreeMap<_, _> =
        lines(after, "mean").into_iter().map(|(key, p, mean)| (key, (p, mean))).collect();
    let (mut old, mut new) = (Numbers::new(), Numbers::new());
    for (key, (p, mean)) in last {
        if let Some(was) = before.get(&(key.clone(), p)) {
            old.insert(key.clone(), *was);
            new.insert(key, mean);
        }
    }
    (old, new)
}

/// The metrics of numbers.
fn metrics(numbers: &Numbers) -> BTreeSet<&str> {
    numbers.keys().map(|key| key.0.as_str()).collect()
}

/// The numbers that are not the same in both, of metrics that both have; those of time never are, and say nothing.
fn moves(
    what: &str,
    before: &Numbers,
    after: &Numbers,
    matters: impl Fn(f64, f64) -> bool,
) -> Vec<Move> {
    let both: BTreeSet<&str> = &metrics(before) & &metrics(after);
    let keys: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let keys = keys.into_iter().filter(|key| both.contains(key.0.as_str()));
    let moved = keys.filter_map(|key| {
        let get = |numbers: &Numbers| numbers.get(key).copied().flatten();
        let (before, after) = (get(before), get(after));
        let same = match (before, after) {
            (Some(a), Some(b)) => !matters(a, b),
            (None, None) => true,
            _ => false,
        };
        let (metric, dataset, method) = key.clone();
        (!same && !metric.starts_with("time_")).then(|| Move {
            what: what.into(),
            metric,
            dataset,
            method,
            before,
            after,
        })
    });
    moved.collect()
}

/// The methods of a summary.
fn methods(summary: &[u8]) -> BTreeSet<String> {
    column(summary, "mean").into_keys().map(|(_, _, method)| method).collect()
}

/// Compares the files in `dir`, before they are overwritten, with their new contents. The list is empty in a
/// directory without a report. If nothing changed, it contains the changes of the last time. Cells that
/// were still missing do not count as changes: the list is empty unless the study was and is `finished`.
///
/// # Errors
/// `Data` when the list cannot be written.
pub(crate) fn since_last(
    dir: &Path,
    summary: &[u8],
    statistics: &[u8],
    finished: bool,
) -> Result<Vec<Move>> {
    let path = dir.join(FILE);
    if !finished {
        remove(&path)?;
        return Ok(Vec::new());
    }
    let (Ok(old), true) = (fs::read(dir.join("summary.csv")), path.exists()) else {
        keep(&path, &[])?;
        return Ok(Vec::new());
    };
    let old_statistics = fs::read(dir.join("statistics.csv")).unwrap_or_default();
    if old == summary && (old_statistics == statistics || statistics.is_empty()) {
        let reader = csv::Reader::from_path(&path);
        return Ok(reader.map(|mut r| r.deserialize().flatten().collect()).unwrap_or_default());
    }
    let apart = |a: f64, b: f64| (a - b).abs() > 1e-12;
    let (before, after) = (methods(&old), methods(summary));
    let event = |what: &str, method: &String| Move {
        what: what.into(),
        metric: String::new(),
        dataset: String::new(),
        method: method.clone(),
        before: None,
        after: None,
    };
    let added = after.difference(&before).map(|m| event(ADDED, m));
    let mut out: Vec<Move> =
        added.chain(before.difference(&after).map(|m| event("method left out", m))).collect();
    // Ranks and adjusted p are among all methods: among others they move without any news.
    if !statistics.is_empty() && out.is_empty() {
        let both = |name: &str| (column(&old_statistics, name), column(statistics, name));
        let (before, after) = both("mean_rank");
        out.extend(moves("mean rank", &before, &after, apart));
        let (before, after) = both("p_holm");
        // The control has none: that another method is it by now says its rank.
        let significant = |p: Option<f64>| p.is_some_and(|p| p < LEVEL);
        let crossed = |m: &Move| significant(m.before) != significant(m.after);
        out.extend(moves("p (Holm)", &before, &after, apart).into_iter().filter(crossed));
    }
    let (before, after) = means(&old, summary);
    let mut means = moves("mean", &before, &after, apart);
    let size = |m: &Move| (m.before.unwrap_or(0.0) - m.after.unwrap_or(0.0)).abs();
    means.sort_by(|a, b| size(b).total_cmp(&size(a)));
    out.extend(means);
    keep(&path, &out)?;
    Ok(out)
}

/// Writes the list, with its header where it is empty, too.
fn keep(path: &Path, moved: &[Move]) -> Result<()> {
    let content = csv_text(path.display(), |out| {
        // The first line that is serialized brings the header with it.
        if moved.is_empty() {
            out.write_record(["what", "metric", "dataset", "method", "before", "after"])?;
        }
        moved.iter().try_for_each(|m| out.serialize(m))
    })?;
    write_whole(path, ".part", &content)
}

/// The section of the page.
pub(crate) fn section(moved: &[Move], experiment: &Experiment) -> Option<Section> {
    if moved.is_empty() {
        return None;
    }
    let shown = |v: f64| format!("{v:.3}");
    let mut line = |m: &Move| {
        let change = m.before.zip(m.after).map(|(a, b)| b - a);
        let cells = vec![
            Cell::text(&m.method),
            Cell::text(&m.metric),
            Cell::text(&m.what),
            Cell::text(if m.dataset.is_empty() { "all" } else { &m.dataset }),
            Cell::number(m.before, shown),
            Cell::number(m.after, shown),
            Cell::number(change, |v| {
                if v > 0.0 { format!("+{}", difference(v)) } else { difference(v) }
            }),
        ];
        let method = experiment.methods.iter().position(|e| e.id == m.method);
        // Of a method that has come there is nothing to hide.
        Line { method: method.filter(|_| m.what != ADDED), cells }
    };
    let others = moved.iter().any(|m| m.what.starts_with("method "));
    let head = ["method", "metric", "what", "data set", "before", "after", "change"];
    let means = moved.iter().filter(|m| m.what == "mean").count();
    let ranks = moved.len() - means;
    let sheet = Sheet {
        caption: "Ranks, significance at 5 %, means at the last point".into(),
        head: head.map(|h| (h.to_string(), None)).into(),
        lines: moved.iter().take(ranks + LISTED).map(&mut line).collect(),
        words: vec![1, 2, 3],
        ..Sheet::default()
    };
    let body = html! {
        (sheet.html())
        p class="dim" {
            @if others {
                "Mean ranks and adjusted p are of other methods than last time and are not compared. "
            }
            @if means > LISTED { "The " (LISTED) " means that moved most of " (means) ". " }
            "The file moved.csv next to this page has all of it."
        }
    };
    Some(Section { id: Some("moved"), ..Section::new("What moved since the last report", body) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moved_is_listed_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        let summary = |last: &str| {
            format!(
                "dataset,metric,method,p,mean\niris,ari,a,0,0.1\niris,ari,a,10,{last}\n\
                 iris,time_total_s,a,10,{last}\n"
            )
        };
        let statistics = |rank: &str, p: &str| {
            format!("metric,method,mean_rank,p_holm\nari,a,1,\nari,b,{rank},{p}\n")
        };
        let first = (summary("0.5"), statistics("2", "0.04"));
        let report = |(s, t): &(String, String)| {
            let moved = since_last(dir.path(), s.as_bytes(), t.as_bytes(), true).unwrap();
            fs::write(dir.path().join("summary.csv"), s).unwrap();
            fs::write(dir.path().join("statistics.csv"), t).unwrap();
            moved
        };
        assert!(report(&first).is_empty());
        assert!(report(&first).is_empty());
        let second = (summary("0.7"), statistics("1.5", "0.06"));
        let moved = report(&second);
        let said: Vec<_> =
            moved.iter().map(|m| (m.what.as_str(), m.method.as_str(), m.after)).collect();
        let expected = [
            ("mean rank", "b", Some(1.5)),
            ("p (Holm)", "b", Some(0.06)),
            ("mean", "a", Some(0.7)),
        ];
        assert_eq!(said, expected);
        // Made again it says the same.
        assert_eq!(report(&second), moved);
        let experiment = "[experiment]\nname = \"t\"\n[[dataset]]\nid = \"iris\"\n[scoring]\nmetrics = [\"ari\"]\n\
                          [[method]]\nid = \"a\"\nclusterer = \"kmeans\"\n";
        let experiment = Experiment::parse("t.toml", experiment, Path::new("."), &[]).unwrap();
        let h = section(&moved, &experiment).unwrap().body.into_string();
        assert!(h.contains("<td class=\"l\">iris</td><td data-v=\"0.5\">0.500</td>"), "{h}");
        // Switched off, a method is gone here too.
        assert!(h.contains("<tr data-m=\"0\">"), "{h}");
        // Significance that stays is no news.
        let third = (summary("0.7"), statistics("1.5", "0.07"));
        assert!(report(&third).is_empty());
        // Nor is it that another method is the control.
        let other = "metric,method,mean_rank,p_holm\nari,a,1,0.3\nari,b,1.5,\n";
        assert!(report(&(summary("0.7"), other.to_string())).is_empty());
        // Ranks among other methods are no news; that there is another method is.
        let more = format!("{}iris,ari,c,10,0.9\n", summary("0.7"));
        let fourth = (more, statistics("2.5", "0.07") + "ari,c,1,\n");
        let said: Vec<_> =
            report(&fourth).into_iter().map(|m| (m.what, m.method, m.after)).collect();
        assert_eq!(said, [("method added".to_string(), "c".to_string(), None)]);
        let moved = report(&fourth);
        let h = section(&moved, &experiment).unwrap().body.into_string();
        assert!(h.contains("are not compared"), "{h}");
    }

    #[test]
    fn what_was_not_there_before_has_not_moved() {
        let dir = tempfile::tempdir().unwrap();
        let report = |lines: &[&str], ranks: &str| {
            let summary = format!("dataset,metric,method,p,mean\n{}\n", lines.join("\n"));
            let statistics = format!("metric,method,mean_rank,p_holm\n{ranks}");
            let moved = since_last(dir.path(), summary.as_bytes(), statistics.as_bytes(), true);
            fs::write(dir.path().join("summary.csv"), summary).unwrap();
            fs::write(dir.path().join("statistics.csv"), statistics).unwrap();
            moved.unwrap().into_iter().map(|m| (m.metric, m.before, m.after)).collect::<Vec<_>>()
        };
        assert!(report(&["iris,ari,a,0,0.1", "iris,ari,a,200,0.5"], "ari,a,1,\n").is_empty());
        // Another last point, another metric, another data set.
        let more =
            ["iris,ari,a,0,0.1", "iris,ari,a,40,0.3", "iris,vi,a,40,1.5", "wine,ari,a,40,0.2"];
        assert!(report(&more, "ari,a,1,\nvi,a,1,\n").is_empty());
        let back = ["iris,ari,a,0,0.1", "iris,ari,a,40,0.4"];
        assert_eq!(report(&back, "ari,a,1,\n"), [("ari".to_string(), Some(0.3), Some(0.4))]);
    }

    #[test]
    fn cells_that_were_still_to_come_are_no_news() {
        let dir = tempfile::tempdir().unwrap();
        let report = |mean: &str, finished: bool| {
            let summary = format!("dataset,metric,method,p,mean\niris,ari,a,10,{mean}\n");
            let moved = since_last(dir.path(), summary.as_bytes(), b"", finished).unwrap();
            fs::write(dir.path().join("summary.csv"), summary).unwrap();
            // A study may be called so: what its tables say decides nothing.
            fs::write(dir.path().join("tables.md"), crate::tables::unfinished(1, 2)).unwrap();
            moved.len()
        };
        assert_eq!([report("0.5", false), report("0.6", false), report("0.7", true)], [0, 0, 0]);
        assert_eq!([report("0.8", true), report("0.8", true)], [1, 1]);
        assert_eq!([report("0.9", false), report("0.8", true)], [0, 0]);
        let kept = || fs::read_to_string(dir.path().join(FILE));
        assert_eq!(kept().unwrap(), "what,metric,dataset,method,before,after\n");
        assert_eq!(report("0.7", false), 0);
        assert!(kept().is_err());
    }
}
