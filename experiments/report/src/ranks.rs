//! The critical-difference diagram of Demšar (2006): methods that the ranks separate.

use crate::axis::{Axis, Marked, width_of};
use crate::chart::{Chart, Panel};
use crate::figure::{Figure, csv};
use crate::learning_curve::mean_text;
use crate::legend::{Key, Legend};
use crate::marks::{self, At, END, MIDDLE, Mark, START};
use crate::palette::{COLOURS, GREY, Pen};
use crate::significance::{LEVEL, Significance, shown_p};
use crate::statistics::effect::{Effect, effect_in};
use crate::statistics::multiple::holm;
use crate::statistics::paired::signed_rank;

/// Pixels at least on both sides of the axis of ranks, for names.
const SIDE: f64 = 190.0;
/// Length of the axis of ranks.
const AXIS: f64 = 420.0;
/// Pixels from name to name.
const LINE: f64 = 22.0;
/// Width and height of a cell of the matrix. Four stand side by side on a phone.
const SIZE: (f64, f64) = (74.0, 50.0);
/// Height of the line with a name above the cells of a row.
const HEADING: f64 = 20.0;

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

/// Mean ranks on an axis, the best at the left. Bars join methods whose mean ranks differ by at most
/// the critical difference.
pub(crate) fn diagram(found: &Significance) -> Figure {
    let ranks: Vec<f64> = found.methods.iter().map(|m| m.rank).collect();
    let k = ranks.len();
    let last = k as f64;
    let groups = groups(&ranks, found.critical_difference);
    let side = SIDE.max(longest(found) + 60.0);
    // Ranks to the right, pixels downwards.
    let pixel = (last - 1.0) / AXIS;
    let axis = 44.0;
    let bars = axis + 14.0;
    let labels = bars + 9.0 * groups.len() as f64 + 18.0;
    let half = k.div_ceil(2);
    let line = |points: &[At], width: f64| Mark::Line {
        points: points.to_vec(),
        pen: Pen::new(GREY, width),
    };
    let mut marks = vec![
        line(&[(1.0, axis), (last, axis)], 1.0),
        Mark::text((1.0 - 10.0 * pixel, axis), "best", END),
    ];
    for rank in 1..=k {
        let at = rank as f64;
        marks.push(line(&[(at, axis), (at, axis - 5.0)], 1.0));
        marks.push(Mark::text((at, axis - 13.0), rank.to_string(), MIDDLE));
    }
    // The length that has to be between two methods for them to differ.
    let reach = 1.0 + found.critical_difference.min(last - 1.0);
    for end in [1.0, reach] {
        marks.push(line(&[(end, 12.0), (end, 20.0)], 1.5));
    }
    marks.push(line(&[(1.0, 16.0), (reach, 16.0)], 1.5));
    let name = format!("CD {:.2}", found.critical_difference);
    marks.push(Mark::text((reach + 8.0 * pixel, 16.0), name, START));
    for (at, (first, last)) in groups.iter().enumerate() {
        let y = bars + 9.0 * at as f64;
        let ends = (ranks[*first] - 3.0 * pixel, ranks[*last] + 3.0 * pixel);
        marks.push(line(&[(ends.0, y), (ends.1, y)], 4.0));
    }
    for (at, m) in found.methods.iter().enumerate() {
        // The better half hangs to the left, the worse to the right, the outermost lowest but last drawn.
        let (row, end, outwards, anchor) =
            if at < half { (at, 1.0, -pixel, END) } else { (k - 1 - at, last, pixel, START) };
        let y = labels + LINE * row as f64;
        let elbow = line(&[(m.rank, axis), (m.rank, y), (end + 14.0 * outwards, y)], 1.0);
        let name = format!("{} ({:.2})", m.method, m.rank);
        let name = Mark::text((end + 18.0 * outwards, y), name, anchor);
        marks.push(Mark::Group { series: Some(m.number), marks: vec![elbow, name] });
    }
    let height = labels + LINE * half as f64;
    let x = Axis::hidden(1.0 - side * pixel, last + side * pixel);
    let panels = vec![Panel::new(x, Axis::hidden(height, 0.0), height, marks)];
    let order: Vec<String> =
        found.methods.iter().map(|m| format!("{} {:.2}", m.method, m.rank)).collect();
    let description = format!(
        "Critical-difference diagram over {} data sets, best mean rank first: {}. Ranks {:.2} apart differ.",
        found.sets.len(),
        order.join(", "),
        found.critical_difference
    );
    let title = format!("Mean ranks: {}", found.title());
    let width = AXIS + 2.0 * side;
    let svg = Chart::new(&title, &description, width, 1, panels).svg();
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
    let head = "metric,method,mean_rank,critical_difference,data_sets,bars";
    let numbers = csv(head, lines);
    let caption = format!(
        "Mean ranks over {} data sets, the best at the left; bars join methods that Nemenyi's test does not \
         separate at 5 %.",
        found.sets.len()
    );
    Figure::new(&["ranks", &found.metric], caption, svg, numbers)
}

/// Difference of every two methods: mean difference, data sets won, tied and lost, p of the signed-rank
/// test. Each cell depends only on its two methods, so that it stays when a method is added; only the star,
/// which is Holm's over all pairs, may disappear.
pub(crate) fn matrix(found: &Significance) -> Figure {
    let k = found.methods.len();
    let pairs = pairs(found);
    // Names that do not fit above a column are written above the cells of their rows, each with a number.
    let numbered = longest(found) > SIZE.0 - 8.0;
    let row_height = SIZE.1 + if numbered { HEADING } else { 0.0 };
    let pixel = 1.0 / row_height;
    let cells = 1.0 - SIZE.1 * pixel;
    let mut marks = Vec::new();
    for (at, m) in found.methods.iter().enumerate() {
        let (middle, number) = (at as f64 + 0.5, (at + 1).to_string());
        let text = if numbered { &number } else { &m.method }.clone();
        let (above, tip) = ((middle, -14.0 * pixel), Some(m.method.clone()));
        let name =
            Mark::Text { at: above, text, anchor: MIDDLE, bold: false, size: marks::SIZE, tip };
        let mut names = vec![name];
        if numbered {
            // The cell in which the two numbers meet is free.
            let place = (middle, at as f64 + cells + 0.5 * SIZE.1 * pixel);
            names.push(Mark::text(place, number, MIDDLE));
        }
        marks.push(Mark::Group { series: Some(m.number), marks: names });
    }
    let sign = if found.higher_is_better { 1.0 } else { -1.0 };
    // Strong after Holm's adjustment, pale for the pair alone, nothing if it may be chance.
    let depths = [0.0, 0.2, 0.5];
    // Hidden along with either method.
    let of = |at: usize| Some(found.methods[at].number);
    let cell = |pair: &Pair, (row, column, turn): (usize, usize, f64)| {
        let (x, y) = (column as f64, row as f64 + cells);
        let difference = turn * pair.difference;
        let better = sign * difference > 0.0;
        let mut marks = vec![Mark::Cell {
            corners: [(x, y), (x + 1.0, y + SIZE.1 * pixel)],
            fill: COLOURS[if better { 0 } else { 1 }].into(),
            opacity: depths[usize::from(pair.p < LEVEL) + usize::from(pair.adjusted < LEVEL)],
            tip: None,
        }];
        let (won, tied, lost) = found.record(row, column);
        let bold = pair.adjusted < LEVEL;
        let star = if bold { "*" } else { "" };
        let texts = [
            (13.0, 15, format!("{}{star}", signed(difference))),
            (29.0, 11, format!("{won}/{tied}/{lost}")),
            (42.0, 11, p_text(pair.p)),
        ];
        marks.extend(texts.into_iter().map(|(down, size, text)| {
            let at = (x + 0.5, y + down * pixel);
            Mark::Text { at, text, anchor: MIDDLE, bold, size, tip: None }
        }));
        Mark::Group { series: of(column), marks }
    };
    for row in 0..k {
        let others =
            pairs.iter().filter_map(|pair| match (pair.first == row, pair.second == row) {
                (true, _) => Some(cell(pair, (row, pair.second, 1.0))),
                (_, true) => Some(cell(pair, (row, pair.first, -1.0))),
                _ => None,
            });
        marks.push(Mark::Group { series: of(row), marks: others.collect() });
    }
    let description = format!(
        "A row and a column for each of {k} methods. Each cell: mean difference of row less column, data sets \
         won, tied and lost by the row, and p of the pair by itself; a star: below .05 after Holm's adjustment \
         over all pairs."
    );
    let title = format!("Pairs of methods: {}", found.title());
    // Above the cells is a line of names or numbers.
    let above = 25.0 * pixel;
    let names = found.methods.iter().enumerate().map(|(at, m)| match numbered {
        true => format!("{} {}: {}", at + 1, m.method, mean_text(found.mean(at), None)),
        false => m.method.clone(),
    });
    let marked = if numbered { Marked::Above } else { Marked::Bare };
    let mut y = Axis::names(names, marked).downwards();
    y.scale.high = -above;
    // Few columns are narrower than a long name.
    let columns =
        if numbered { (k as f64).max((longest(found) + 110.0) / SIZE.0) } else { k as f64 };
    let x = Axis::hidden(0.0, columns);
    let panels = vec![Panel::new(x, y, row_height * (k as f64 + above), marks)];
    let width = SIZE.0 * columns;
    let mut chart = Chart::new(&title, &description, width, 1, panels);
    chart.note = "row less column: mean, won/tied/lost, p".into();
    if numbered {
        chart.note += "; after each name: its mean";
    }
    if pairs.iter().any(|pair| pair.p < LEVEL) {
        let entry = |at: usize, depth: usize, name: &str| {
            (Key::Colour(COLOURS[at], depths[depth]), name.to_string())
        };
        let entries = vec![
            entry(0, 2, "row significantly better"),
            entry(1, 2, "row significantly worse"),
            entry(0, 1, "better, but not after Holm's adjustment"),
            entry(1, 1, "worse, but not after it"),
        ];
        chart.legend = Legend { entries, beside: false };
    }
    let powerless = found.powerless();
    if let Some(powerless) = &powerless {
        chart.note += &format!("; {powerless}");
    }
    let head = "metric,first,second,mean_difference,shift,shift_low,shift_high,rank_biserial,won,tied,lost,\
                p_signed_rank,p_holm,next_first_better,next_equal,next_second_better";
    let number = |x: Option<f64>| x.map(|x| x.to_string()).unwrap_or_default();
    let lines = pairs.iter().map(|p| {
        let record = found.record(p.first, p.second);
        let next = found.next.get(p.first).and_then(|of| of[p.second]).map(|n| n.probabilities);
        vec![
            found.metric.clone(),
            found.methods[p.first].method.clone(),
            found.methods[p.second].method.clone(),
            p.difference.to_string(),
            number(p.effect.map(|e| e.shift)),
            number(p.effect.and_then(|e| e.interval).map(|i| i.0)),
            number(p.effect.and_then(|e| e.interval).map(|i| i.1)),
            number(p.effect.and_then(|e| e.rank_biserial)),
            record.0.to_string(),
            record.1.to_string(),
            record.2.to_string(),
            p.p.to_string(),
            p.adjusted.to_string(),
            number(next.map(|n| n.first)),
            number(next.map(|n| n.equal)),
            number(next.map(|n| n.second)),
        ]
    });
    let mut caption = String::from(
        "Row less column: mean difference over the data sets, data sets won/tied/lost by the row, p of \
         Wilcoxon's signed-rank test of the pair by itself. Blue: the row is better; orange: it is worse. Strong colour, \
         bold and a star: p is below .05 after Holm's adjustment over all pairs. Pale colour: only before the adjustment. No colour: the \
         difference may be chance.",
    );
    if numbered {
        caption += " After each name: the mean of the method.";
    }
    if let Some(powerless) = powerless {
        caption += &format!(" Too few data sets: {powerless}.");
    }
    Figure::new(&["pairs", &found.metric], caption, chart.svg(), csv(head, lines))
}

struct Pair {
    first: usize,
    second: usize,
    difference: f64,
    effect: Option<Effect>,
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
            let unit = found.unit();
            let p = signed_rank(&differences.iter().map(|d| d * unit).collect::<Vec<_>>()).p;
            let effect = effect_in(unit, &differences, found.level);
            out.push(Pair { first, second, difference, effect, p, adjusted: 1.0 });
        }
    }
    let adjusted = holm(&out.iter().map(|p| p.p).collect::<Vec<_>>());
    out.iter_mut().zip(adjusted).for_each(|(pair, p)| pair.adjusted = p);
    out
}

/// Pixels of the longest name.
fn longest(found: &Significance) -> f64 {
    found.methods.iter().map(|m| width_of(&m.method)).fold(0.0, f64::max)
}

fn p_text(p: f64) -> String {
    format!("p {}", shown_p(p))
}

fn signed(v: f64) -> String {
    let text = format!("{:.3}", v.abs());
    match (v < 0.0, text.chars().all(|c| "0.".contains(c))) {
        (_, true) => text,
        (true, _) => format!("−{text}"),
        (false, _) => format!("+{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::significance::tests::significance;

    /// The place at which the line of a method leaves the axis, in pixels from the left.
    fn place(svg: &str, method: &str) -> f64 {
        let label = format!(">{method} (");
        let group = svg.split("<g data-m").find(|g| g.contains(&label)).unwrap();
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
        assert_eq!(svg.matches(&format!(">1 {long}: 0.325</text>")).count(), 1, "{svg}");
        // The name takes no room from the cells, so that a phone shows four of them: after the four colours of the
        // legend comes the cell of the first row and the second column.
        let cell = svg.split("<rect x=\"").nth(5).unwrap();
        assert!(cell.starts_with("94\""), "{svg}");
        assert_eq!(svg.matches(">2</text>").count(), 1);
        assert_eq!(svg.matches("text-anchor=\"middle\">2<title>b</title>").count(), 1);
        let svg = matrix(&significance("ari", &["a", "b"], &[0.2, 0.1])).svg;
        assert!(svg.contains("text-anchor=\"middle\">b<title>b</title>"), "{svg}");
        // However long, names are not cut where they differ.
        let names =
            ["one", "two"].map(|end| format!("a method with a very long name that ends in {end}"));
        let svg = matrix(&significance("ari", &[&names[0], &names[1]], &[0.2, 0.1])).svg;
        assert!(
            (1..).zip(&names).all(|(n, name)| svg.contains(&format!(">{n} {name}: "))),
            "{svg}"
        );
        let width = svg.split(" width=\"").nth(1).unwrap().split('"').next().unwrap();
        assert!(width.parse::<f64>().unwrap() > 1.1 * width_of(&names[0]), "{svg}");
    }

    #[test]
    fn every_pair_stands_in_the_matrix_twice() {
        let found = significance("ari", &["a", "b<", "c"], &[0.1, 0.2, 0.2]);
        let figure = matrix(&found);
        let said = "with 6 data sets no pair can be below p = .0312 × 3 pairs = .0938";
        assert!(figure.svg.contains(said) && figure.caption.contains(said), "{}", figure.svg);
        // A method switched off leaves its row and its column.
        assert_eq!(figure.svg.matches("<g data-m=\"1\"><g data-m").count(), 1);
        assert_eq!(figure.svg.matches("><g data-m=\"1\"><rect").count(), 2);
        assert_eq!(figure.svg.matches("stroke=\"#e4e4e4\"").count(), 6);
        // The legend has the colours of the cells, which are significant by the pair alone.
        assert!(figure.svg.contains(
            "fill-opacity=\"0.2\"></rect><text x=\"15\" y=\"4\">better, but not after Holm's adj"
        ));
        // Beside paper behind the names of rows, which stay when a page moves the rest.
        assert_eq!(figure.svg.matches("<g class=\"rows\"><rect x=").count(), 1);
        assert!(figure.svg.contains("b&lt;") && !figure.svg.contains("NaN"));
        let text = String::from_utf8(figure.numbers).unwrap();
        // Equal scores: 6 ties, nothing to test.
        assert!(text.contains(",0,0,0,0,,0,6,0,1,1"), "{text}");
        assert_eq!(text.lines().count(), 4);
    }
}
