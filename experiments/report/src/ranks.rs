//! Which methods do the ranks separate? The critical-difference diagram of Demšar (2006).

use std::fmt::Write;

use crate::figure::{Figure, csv};
use crate::significance::Significance;
use crate::statistics::multiple::holm;
use crate::statistics::paired::{Null, Zeros, signed_rank};
use crate::svg::{self, escape};

const SIDE: f64 = 190.0;
const AXIS: f64 = 420.0;
const LINE: f64 = 22.0;

/// Runs of methods, in the order of their ranks, of which no two are farther apart than `difference`;
/// as first and last, only those that no other run holds, of at least two methods.
fn groups(ranks: &[f64], difference: f64) -> Vec<(usize, usize)> {
    let mut out: Vec<(usize, usize)> = Vec::new();
    for first in 0..ranks.len() {
        let reach = ranks.iter().rposition(|r| r - ranks[first] <= difference);
        let last = reach.unwrap_or(first);
        if last > first && out.last().is_none_or(|(_, before)| last > *before) {
            out.push((first, last));
        }
    }
    out
}

/// Mean ranks on an axis, the best at the left; bars join methods whose mean ranks are no farther apart
/// than the critical difference.
pub(crate) fn diagram(found: &Significance) -> Figure {
    let ranks: Vec<f64> = found.methods.iter().map(|m| m.rank).collect();
    let k = ranks.len();
    let groups = groups(&ranks, found.critical_difference);
    let longest = found.methods.iter().map(|m| svg::width_of(&m.method)).fold(0.0, f64::max);
    let side = SIDE.max(longest + 60.0);
    let (left, right) = (side, side + AXIS);
    let x = |rank: f64| left + (rank - 1.0) / (k as f64 - 1.0) * AXIS;
    let axis = 78.0;
    let bars = axis + 14.0;
    let labels = bars + 9.0 * groups.len() as f64 + 18.0;
    let half = k.div_ceil(2);
    let height = labels + LINE * half as f64 + 10.0;
    let width = right + side;
    let title = format!("Mean ranks: {}", found.title());
    let order: Vec<String> =
        found.methods.iter().map(|m| format!("{} {:.2}", m.method, m.rank)).collect();
    let description = format!(
        "Critical-difference diagram over {} data sets, best mean rank first: {}. Ranks {:.2} apart differ.",
        found.sets.len(),
        order.join(", "),
        found.critical_difference
    );
    let mut s = svg::head(&title, &description, width, height, 20.0);
    let _ = writeln!(
        s,
        "<path d=\"M{left:.1} {axis}H{right:.1}\" stroke=\"#555\"/>\n\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">best</text>",
        left - 10.0,
        axis + 4.0
    );
    for rank in 1..=k {
        let at = x(rank as f64);
        let _ = writeln!(
            s,
            "<path d=\"M{at:.1} {axis}v-5\" stroke=\"#555\"/><text x=\"{at:.1}\" y=\"{:.1}\" \
             text-anchor=\"middle\">{rank}</text>",
            axis - 9.0
        );
    }
    // The length that has to be between two methods for them to differ.
    let reach = (found.critical_difference / (k as f64 - 1.0) * AXIS).min(AXIS);
    let _ = writeln!(
        s,
        "<path d=\"M{left:.1} 46v8m0-4h{reach:.1}m0-4v8\" fill=\"none\" stroke=\"#555\" \
         stroke-width=\"1.5\"/><text x=\"{:.1}\" y=\"54\">CD {:.2}</text>",
        left + reach + 8.0,
        found.critical_difference
    );
    for (at, (first, last)) in groups.iter().enumerate() {
        let y = bars + 9.0 * at as f64;
        let _ = writeln!(
            s,
            "<path d=\"M{:.1} {y:.1}H{:.1}\" stroke=\"#555\" stroke-width=\"4\"/>",
            x(ranks[*first]) - 3.0,
            x(ranks[*last]) + 3.0
        );
    }
    for (at, m) in found.methods.iter().enumerate() {
        let here = x(m.rank);
        // The better half hangs to the left, the worse to the right, the outermost lowest but last drawn.
        let (row, to, anchor, text_at) = if at < half {
            (at, left - 14.0, "end", left - 18.0)
        } else {
            (k - 1 - at, right + 14.0, "start", right + 18.0)
        };
        let y = labels + LINE * row as f64;
        let _ = writeln!(
            s,
            "<g class=\"rank\"><path d=\"M{here:.1} {axis}V{y:.1}H{to:.1}\" fill=\"none\" stroke=\"#555\"/>\
             <text x=\"{text_at:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{} ({:.2})</text></g>",
            y + 4.0,
            escape(&m.method),
            m.rank
        );
    }
    s.push_str("</svg>\n");
    let lines = found.methods.iter().enumerate().map(|(at, m)| {
        let mine = groups.iter().enumerate().filter(|(_, g)| (g.0..=g.1).contains(&at));
        let mine: Vec<String> = mine.map(|(g, _)| (g + 1).to_string()).collect();
        vec![
            found.metric.clone(),
            m.method.clone(),
            m.rank.to_string(),
            found.critical_difference.to_string(),
            found.sets.len().to_string(),
            mine.join(" "),
        ]
    });
    let head = ["metric", "method", "mean_rank", "critical_difference", "data_sets", "bars"];
    let numbers = csv(&head, lines);
    let caption = format!(
        "Mean ranks over {} data sets, the best at the left; bars join methods that Nemenyi's test does not \
         separate at 5 %.",
        found.sets.len()
    );
    Figure::new(&format!("ranks-{}", found.metric), caption, s, numbers)
}

/// How much every two methods differ: mean difference, data sets won, tied and lost, p of the signed-rank
/// test after Holm's adjustment over all pairs.
pub(crate) fn matrix(found: &Significance) -> Figure {
    let k = found.methods.len();
    let pairs = pairs(found);
    let longest = found.methods.iter().map(|m| svg::width_of(&m.method)).fold(0.0, f64::max);
    // Names that do not fit above a column stand for themselves at the rows, with a number for each.
    let size = (84.0, 50.0);
    let numbered = longest > size.0 - 8.0;
    let left = if numbered { 48.0 } else { 24.0 } + longest.min(260.0);
    let top = 76.0;
    let width = left + size.0 * k as f64 + 20.0;
    let height = top + size.1 * k as f64 + 16.0;
    let title = format!("Pairs of methods: {}", found.title());
    let description = format!(
        "A row and a column for each of {} methods. Each cell: mean difference of row less column, data sets \
         won, tied and lost by the row, and p after Holm's adjustment over all pairs.",
        k
    );
    let mut s = svg::head(&title, &description, width, height, 20.0);
    let largest = pairs.iter().map(|p| p.difference.abs()).fold(0.0, f64::max);
    let sign = if found.higher_is_better { 1.0 } else { -1.0 };
    for (at, m) in found.methods.iter().enumerate() {
        let (x, y) = (left + size.0 * at as f64, top + size.1 * at as f64);
        let middle = y + size.1 / 2.0 + 4.0;
        let number = (at + 1).to_string();
        if numbered {
            let _ = write!(
                s,
                "<text x=\"{:.1}\" y=\"{middle:.1}\" text-anchor=\"end\">{number}</text>",
                left - 8.0
            );
        }
        let _ = writeln!(
            s,
            "<text x=\"{:.1}\" y=\"{middle:.1}\" text-anchor=\"end\">{}</text>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}<title>{}</title></text>",
            left - if numbered { 32.0 } else { 8.0 },
            escape(&clipped(&m.method, 34)),
            x + size.0 / 2.0,
            top - 10.0,
            escape(if numbered { &number } else { &m.method }),
            escape(&m.method)
        );
    }
    let _ =
        writeln!(s, "<text x=\"20\" y=\"46\">row less column: mean, won / tied / lost, p</text>");
    for pair in &pairs {
        for (row, column, turn) in [(pair.first, pair.second, 1.0), (pair.second, pair.first, -1.0)]
        {
            let (x, y) = (left + size.0 * column as f64, top + size.1 * row as f64);
            let difference = turn * pair.difference;
            let depth = if largest > 0.0 { 0.5 * difference.abs() / largest } else { 0.0 };
            let better = sign * difference > 0.0;
            let record = found.record(row, column);
            let star = if pair.adjusted < 0.05 { "*" } else { "" };
            let weight = if star.is_empty() { "400" } else { "700" };
            let _ = writeln!(
                s,
                "<g><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{}\" height=\"{}\" fill=\"{}\" \
                 fill-opacity=\"{depth:.3}\" stroke=\"#e4e4e4\"/><g text-anchor=\"middle\" \
                 font-weight=\"{weight}\"><text x=\"{cx:.1}\" y=\"{:.1}\">{}{star}</text>\
                 <text x=\"{cx:.1}\" y=\"{:.1}\">{} / {} / {}</text>\
                 <text x=\"{cx:.1}\" y=\"{:.1}\">{}</text></g></g>",
                size.0,
                size.1,
                if better { svg::COLOURS[0] } else { svg::COLOURS[1] },
                y + 16.0,
                signed(difference),
                y + 30.0,
                record.0,
                record.1,
                record.2,
                y + 44.0,
                escape(&p_text(pair.adjusted)),
                cx = x + size.0 / 2.0,
            );
        }
    }
    s.push_str("</svg>\n");
    let head = [
        "metric",
        "first",
        "second",
        "mean_difference",
        "won",
        "tied",
        "lost",
        "p_signed_rank",
        "p_holm",
    ];
    let lines = pairs.iter().map(|p| {
        let record = found.record(p.first, p.second);
        vec![
            found.metric.clone(),
            found.methods[p.first].method.clone(),
            found.methods[p.second].method.clone(),
            p.difference.to_string(),
            record.0.to_string(),
            record.1.to_string(),
            record.2.to_string(),
            p.p.to_string(),
            p.adjusted.to_string(),
        ]
    });
    let caption = "Row less column: mean difference over the data sets, data sets won / tied / lost by the \
                   row, p of Wilcoxon's signed-rank test after Holm's adjustment over all pairs; bold with a \
                   star below .05. Blue: the row is better.";
    Figure::new(&format!("pairs-{}", found.metric), caption, s, csv(&head, lines))
}

struct Pair {
    first: usize,
    second: usize,
    difference: f64,
    p: f64,
    adjusted: f64,
}

fn pairs(found: &Significance) -> Vec<Pair> {
    let mut out = Vec::new();
    for first in 0..found.methods.len() {
        for second in first + 1..found.methods.len() {
            let both = found.scores[first].iter().zip(&found.scores[second]);
            let differences: Vec<f64> = both.map(|(a, b)| a - b).collect();
            let difference = differences.iter().sum::<f64>() / differences.len() as f64;
            let p = signed_rank(&differences, Zeros::Drop, Null::Auto).p;
            out.push(Pair { first, second, difference, p, adjusted: 1.0 });
        }
    }
    let adjusted = holm(&out.iter().map(|p| p.p).collect::<Vec<_>>());
    out.iter_mut().zip(adjusted).for_each(|(pair, p)| pair.adjusted = p);
    out
}

fn p_text(p: f64) -> String {
    if p < 0.001 { "p < .001".into() } else { format!("p {p:.3}") }
}

fn signed(v: f64) -> String {
    let text = format!("{:.3}", v.abs());
    match (v < 0.0, text.chars().all(|c| "0.".contains(c))) {
        (_, true) => text,
        (true, _) => format!("−{text}"),
        (false, _) => format!("+{text}"),
    }
}

/// A name of at most so many letters.
fn clipped(name: &str, most: usize) -> String {
    if name.chars().count() > most {
        name.chars().take(most - 1).chain(['…']).collect()
    } else {
        name.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::significance::tests::significance;

    /// Where the line of a method leaves the axis, in pixels from the left.
    fn place(svg: &str, method: &str) -> f64 {
        let label = format!(">{method} (");
        let group = svg.split("<g class=\"rank\">").find(|g| g.contains(&label)).unwrap();
        group.split("<path d=\"M").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap()
    }

    #[test]
    fn the_best_method_is_leftmost_whatever_the_direction() {
        // The scores of `low` are the smallest on every data set.
        for (metric, best, worst) in [("ari", "high", "low"), ("vi", "low", "high")] {
            let found = significance(metric, &["low", "middle", "high"], &[0.1, 0.2, 0.3]);
            assert_eq!(found.methods[0].method, best, "{metric}");
            let svg = diagram(&found).svg;
            let at = |m: &str| place(&svg, m);
            assert!(at(best) < at("middle") && at("middle") < at(worst), "{metric}: {svg}");
            // In the matrix its row has won.
            let matrix = String::from_utf8(matrix(&found).numbers).unwrap();
            assert!(matrix.contains(&format!("{metric},{best},middle,")), "{matrix}");
            assert!(matrix.lines().nth(1).unwrap().contains(",6,0,0,"), "{matrix}");
        }
    }

    #[test]
    fn bars_join_what_is_near() {
        assert_eq!(groups(&[1.0, 1.5, 2.2, 4.0], 1.3), [(0, 2)]);
        assert_eq!(groups(&[1.0, 2.0, 3.0], 1.0), [(0, 1), (1, 2)]);
        assert!(groups(&[1.0, 3.0], 1.0).is_empty());
    }

    #[test]
    fn long_names_stand_at_rows_and_numbers_at_columns() {
        let long = "explore and consolidate";
        let svg = matrix(&significance("ari", &[long, "b", "c"], &[0.3, 0.2, 0.1])).svg;
        assert_eq!(svg.matches(&format!(">{long}</text>")).count(), 1, "{svg}");
        assert_eq!(svg.matches(">2</text>").count(), 1);
        assert_eq!(svg.matches("text-anchor=\"middle\">2<title>b</title>").count(), 1);
        let svg = matrix(&significance("ari", &["a", "b"], &[0.2, 0.1])).svg;
        assert!(svg.contains("text-anchor=\"middle\">b<title>b</title>"), "{svg}");
    }

    #[test]
    fn every_pair_stands_in_the_matrix_twice() {
        let found = significance("ari", &["a", "b<", "c"], &[0.1, 0.2, 0.2]);
        let figure = matrix(&found);
        assert_eq!(figure.svg.matches("<rect x=").count(), 6);
        assert!(figure.svg.contains("b&lt;") && !figure.svg.contains("NaN"));
        let text = String::from_utf8(figure.numbers).unwrap();
        // Equal scores: 6 ties, nothing to test.
        assert!(text.contains(",0,0,6,0,1,1"), "{text}");
        assert_eq!(text.lines().count(), 4);
    }
}
