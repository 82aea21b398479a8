//! Which methods differ over the data sets? Mean ranks on an axis, best at the left, joined where the test
//! does not tell them apart (Demšar 2006), and who wins against whom.

use std::fmt::Write;

use super::significance::Significance;
use crate::svg::{self, COLOURS, escape};

const LEFT: f64 = 180.0;
const AXIS: f64 = 420.0;
const TOP: f64 = 84.0;
const LINE: f64 = 22.0;

/// Runs of neighbouring ranks that span less than the critical difference, as first and last place; a
/// run inside another is left out.
fn groups(ranks: &[f64], critical: f64) -> Vec<(usize, usize)> {
    let mut out: Vec<(usize, usize)> = Vec::new();
    for first in 0..ranks.len() {
        let last = (first..ranks.len()).rev().find(|&l| ranks[l] - ranks[first] < critical);
        let last = last.unwrap_or(first);
        if last > first && out.last().is_none_or(|&(_, before)| last > before) {
            out.push((first, last));
        }
    }
    out
}

/// The critical-difference diagram of one metric.
pub(super) fn diagram(s: &Significance) -> String {
    let ranks: Vec<f64> = s.methods.iter().map(|m| m.rank).collect();
    let k = ranks.len();
    let x = |rank: f64| LEFT + AXIS * (rank - 1.0) / (k as f64 - 1.0).max(1.0);
    let groups = groups(&ranks, s.critical_difference);
    let below = TOP + 16.0 + 9.0 * groups.len() as f64;
    let half = k.div_ceil(2);
    let height = below + LINE * half as f64 + 24.0;
    let width = 2.0 * LEFT + AXIS;
    let title = format!("{}: mean ranks over {} data sets", s.metric, s.sets.len());
    let mut out = svg::head(&title, width, height, 20.0);
    let _ = writeln!(
        out,
        "<desc>Best at the left. Methods joined by a bar are less than the critical difference of {:.2} \
         apart (Nemenyi, 5 %).</desc>",
        s.critical_difference
    );
    // The critical difference as a length, above the axis.
    let end = (LEFT + AXIS * s.critical_difference / (k as f64 - 1.0).max(1.0)).min(width - 20.0);
    let _ = writeln!(
        out,
        "<path d=\"M{LEFT} 46v8M{LEFT} 50H{end:.1}M{end:.1} 46v8\" fill=\"none\" stroke=\"#222\"/>\
         <text x=\"{:.1}\" y=\"42\" text-anchor=\"middle\">CD {:.2}</text>",
        (LEFT + end) / 2.0,
        s.critical_difference
    );
    let _ = writeln!(out, "<path d=\"M{LEFT} {TOP}H{:.1}\" stroke=\"#222\"/>", LEFT + AXIS);
    for rank in 1..=k {
        let at = x(rank as f64);
        let _ = writeln!(
            out,
            "<path d=\"M{at:.1} {TOP}v-6\" stroke=\"#222\"/><text x=\"{at:.1}\" y=\"{:.1}\" \
             text-anchor=\"middle\">{rank}</text>",
            TOP - 10.0
        );
    }
    for (at, &(first, last)) in groups.iter().enumerate() {
        let y = TOP + 10.0 + 9.0 * at as f64;
        let _ = writeln!(
            out,
            "<path class=\"group\" d=\"M{:.1} {y}H{:.1}\" stroke=\"{}\" stroke-width=\"4\"/>",
            x(ranks[first]) - 3.0,
            x(ranks[last]) + 3.0,
            COLOURS[6]
        );
    }
    // The better half is named at the left, from the top; the other at the right, from the bottom.
    for (place, method) in s.methods.iter().enumerate() {
        let at = x(method.rank);
        let left = place < half;
        let row = if left { place } else { k - 1 - place };
        let y = below + LINE * (row as f64 + 0.5);
        let (edge, anchor) = if left { (LEFT - 8.0, "end") } else { (LEFT + AXIS + 8.0, "start") };
        let short: String = method.method.chars().take(26).collect();
        let _ = writeln!(
            out,
            "<path d=\"M{at:.1} {TOP}V{y:.1}H{edge:.1}\" fill=\"none\" stroke=\"{}\"/>\
             <text class=\"method\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{} ({:.2})\
             <title>{}</title></text>",
            COLOURS[0],
            if left { edge - 4.0 } else { edge + 4.0 },
            y + 4.0,
            escape(&short),
            method.rank,
            escape(&method.method)
        );
    }
    out.push_str("</svg>\n");
    out
}

/// The numbers drawn.
pub(super) fn csv(s: &Significance) -> Vec<u8> {
    let mut out = String::from("method,mean_rank,critical_difference\n");
    for m in &s.methods {
        let name = match m.method.contains([',', '"', '\n']) {
            true => format!("\"{}\"", m.method.replace('"', "\"\"")),
            false => m.method.clone(),
        };
        let _ = writeln!(out, "{name},{},{}", m.rank, s.critical_difference);
    }
    out.into_bytes()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::Experiment;
    use crate::report::curves::{CurveSummary, PointSummary};
    use crate::report::significance;
    use crate::statistics::Summary;

    /// Three methods on four data sets, whose scores ascend in this order, under one metric.
    fn of(metric: &str) -> Significance {
        let mut text = format!("[experiment]\nname = \"t\"\n[scoring]\nmetrics = [\"{metric}\"]\n");
        let (sets, methods) = (["q", "r", "s", "u"], ["low", "middle", "high"]);
        sets.iter().for_each(|id| text += &format!("[[dataset]]\nid = \"{id}\"\n"));
        methods
            .iter()
            .for_each(|id| text += &format!("[[method]]\nid = \"{id}\"\nclusterer = \"kmeans\"\n"));
        let experiment = Experiment::parse("t.toml", &text, Path::new("."), &[]).unwrap();
        let mut curves = Vec::new();
        for (a, set) in sets.iter().enumerate() {
            for (b, method) in methods.iter().enumerate() {
                let score = Summary::of(&[0.1 * a as f64 + 0.2 * b as f64], 0.95);
                let point = PointSummary { p: 0.0, score, scored: 1, undefined: 0, failed: 0 };
                curves.push(CurveSummary {
                    dataset: set.to_string(),
                    method: method.to_string(),
                    metric: experiment.columns()[0].clone(),
                    points: vec![point],
                    area: None,
                });
            }
        }
        significance::of(&experiment, &curves).remove(0)
    }

    /// The methods as they stand along the axis, from the left.
    fn along_the_axis(svg: &str) -> Vec<String> {
        let mut found: Vec<(f64, String)> = Vec::new();
        for line in svg.lines().filter(|l| l.contains("class=\"method\"")) {
            let at = line.split("d=\"M").nth(1).unwrap().split(' ').next().unwrap();
            let name = line.split("<title>").nth(1).unwrap().split('<').next().unwrap();
            found.push((at.parse().unwrap(), name.to_string()));
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        found.into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn the_best_is_at_the_left_whichever_way_the_metric_goes() {
        let more = of("ari");
        assert_eq!(along_the_axis(&diagram(&more)), ["high", "middle", "low"]);
        let less = of("error_rate");
        assert_eq!(along_the_axis(&diagram(&less)), ["low", "middle", "high"]);
        assert!(csv(&less).starts_with(b"method,mean_rank,critical_difference\nlow,1,"));
        // Ranks 1, 2, 3 on four sets: 1.66 apart is not enough to tell neighbours apart.
        assert_eq!(diagram(&more).matches("class=\"group\"").count(), 2);
    }

    #[test]
    fn runs_below_the_critical_difference_are_joined_once() {
        assert_eq!(groups(&[1.0, 1.4, 3.0, 3.2], 1.0), [(0, 1), (2, 3)]);
        assert_eq!(groups(&[1.0, 1.5, 2.0, 2.5], 1.1), [(0, 2), (1, 3)]);
        assert_eq!(groups(&[1.0, 2.0], 5.0), [(0, 1)]);
        assert_eq!(groups(&[1.0, 3.0], 1.0), []);
    }
}
