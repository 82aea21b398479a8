//! What does an ensemble look like?
//!
//! Three figures, each an SVG and a CSV with the numbers drawn: co-association of all objects as a heat
//! map, how many pairs have each co-association, and how good and how different the members are.

use std::fmt::Write;
use std::path::Path;

use mustlink::prelude::*;
use mustlink_experiments::Format;
use mustlink_kernels::agreement::contingency::nmi_geometric;
use mustlink_kernels::ensemble::co_association::CoAssociation;
use mustlink_kernels::ensemble::imputation::histogram;
use mustlink_report::save_figure;
use mustlink_report::svg::{self, COLOURS, Frame, Mark, Marks, number, ticks};
use rayon::prelude::*;

/// Rows and columns of a heat map at most; more objects are averaged.
const BINS: usize = 120;
/// Bars of a histogram at most.
const BARS: usize = 50;
/// Other members that a member is compared with at most.
const OTHERS: usize = 100;
/// Grey steps of the heat map.
const STEPS: usize = 32;

const LEFT: f64 = 70.0;
const TOP: f64 = 40.0;
const SIDE: f64 = 480.0;
const SAME: &str = COLOURS[0];
const OTHER: &str = COLOURS[1];
const FRAME: Frame =
    Frame { left: LEFT, top: TOP, right: LEFT + SIDE, bottom: TOP + SIDE, marks: Marks::Outside };

/// Writes the figures of `ensemble` into a folder, in these formats beside SVG, with objects in the order of
/// `labels`. Members are judged by the classes, or by the labels without them.
///
/// # Errors
/// A file that cannot be written; cancellation.
pub(crate) fn write(
    (folder, formats): (&Path, &[Format]),
    ensemble: &Ensemble,
    labels: &[u32],
    classes: Option<&[Option<u32>]>,
    ctx: &Context,
) -> Result<()> {
    let co = CoAssociation::implicit(ensemble);
    let figures = [
        ("co-association", heat_map(&co, labels)),
        ("counts", counts(&co, classes, ctx)?),
        ("members", members(ensemble, labels, classes, ctx)),
    ];
    figures
        .iter()
        .try_for_each(|(name, (svg, csv))| save_figure(folder, name, svg, csv.as_bytes(), formats))
}

/// The head of a figure with one square of room for what is drawn.
fn head(title: &str, description: &str) -> String {
    svg::head(title, description, LEFT + SIDE + 30.0, TOP + SIDE + 50.0, LEFT)
}

/// Both axes with their marks.
fn axes(s: &mut String, x_name: &str, y_name: &str, x: &[Mark], y: &[Mark]) {
    FRAME.x_marks(s, x);
    FRAME.y_marks(s, y);
    FRAME.axes(s, x_name, y_name);
}

/// Objects by label, within one by falling co-association with all of its objects.
fn order(co: &CoAssociation, labels: &[u32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..labels.len() as u32).collect();
    order.sort_by_key(|&i| labels[i as usize]);
    let groups = order.chunk_by(|&a, &b| labels[a as usize] == labels[b as usize]);
    let mut sorted = Vec::with_capacity(order.len());
    for group in groups {
        let sums = co.sums(group, group);
        let mut group: Vec<(u64, u32)> = sums.into_iter().zip(group.iter().copied()).collect();
        group.sort_by_key(|&(sum, i)| (std::cmp::Reverse(sum), i));
        sorted.extend(group.into_iter().map(|(_, i)| i));
    }
    sorted
}

/// The heat map, and its mean co-associations: of an object with itself none.
fn heat_map(co: &CoAssociation, labels: &[u32]) -> (String, String) {
    let n = co.n();
    let order = order(co, labels);
    let bins: Vec<&[u32]> = order.chunks(n.div_ceil(BINS)).collect();
    let mean = |p: usize, q: usize| {
        let (a, b) = (bins[p], bins[q]);
        let own = |i: &u32| u64::from(co.count(*i as usize, *i as usize));
        let (own, pairs) = if p == q {
            (a.iter().map(own).sum::<u64>(), a.len() * (a.len() - 1))
        } else {
            (0, a.len() * b.len())
        };
        let sum = co.sums(a, b).iter().sum::<u64>() - own;
        if pairs == 0 { 1.0 } else { sum as f64 / (pairs * co.members()) as f64 }
    };
    let rows: Vec<Vec<f64>> =
        (0..bins.len()).map(|p| (0..bins.len()).map(|q| mean(p, q)).collect()).collect();
    let mut csv = String::from("row,column,objects_of_row,objects_of_column,co_association\n");
    let mut shades = vec![String::new(); STEPS + 1];
    let cell = SIDE / bins.len() as f64;
    for (p, row) in rows.iter().enumerate() {
        let shade = |v: f64| (v * STEPS as f64).round() as usize;
        let mut q = 0;
        while q < row.len() {
            let run = row[q..].iter().take_while(|&&v| shade(v) == shade(row[q])).count();
            let (x, y) = (LEFT + q as f64 * cell, TOP + p as f64 * cell);
            let _ = write!(
                shades[shade(row[q])],
                "M{x:.2} {y:.2}h{:.2}v{cell:.2}h-{:.2}z",
                run as f64 * cell,
                run as f64 * cell
            );
            q += run;
        }
        for (q, v) in row.iter().enumerate() {
            let _ = writeln!(csv, "{p},{q},{},{},{v}", bins[p].len(), bins[q].len());
        }
    }
    let mut s = head(
        "Co-association of all pairs of objects",
        "A heat map with a row and a column for each object, group by group; the darker, the more members \
         put the two together.",
    );
    for (step, path) in shades.iter().enumerate().filter(|(step, p)| *step > 0 && !p.is_empty()) {
        // From white to a dark blue.
        let level = |low: f64| (255.0 + (low - 255.0) * step as f64 / STEPS as f64).round();
        let (r, g, b) = (level(8.0), level(48.0), level(107.0));
        let _ = writeln!(
            s,
            "<path d=\"{path}\" fill=\"rgb({r} {g} {b})\" shape-rendering=\"crispEdges\"/>"
        );
    }
    // Where one group ends and the next begins.
    let ends = (1..n).filter(|&at| labels[order[at] as usize] != labels[order[at - 1] as usize]);
    let ends: Vec<f64> = ends.map(|at| SIDE * at as f64 / n as f64).collect();
    if ends.len() <= BINS {
        for end in ends {
            let (x, y) = (LEFT + end, TOP + end);
            let _ = writeln!(
                s,
                "<path d=\"M{x:.1} {TOP}v{SIDE}M{LEFT} {y:.1}h{SIDE}\" stroke=\"{OTHER}\" \
                 stroke-width=\"0.6\"/>"
            );
        }
    }
    let marks = ticks(0.0, n as f64, 5).into_iter().filter(|t| *t <= n as f64).collect::<Vec<_>>();
    let at = |start: f64| {
        let mark = |t: &f64| (start + SIDE * t / n as f64, number(*t, &marks));
        marks.iter().map(mark).collect::<Vec<_>>()
    };
    let name = "objects, group by group";
    axes(&mut s, name, name, &at(LEFT), &at(TOP));
    s.push_str("</svg>\n");
    (s, csv)
}

/// How many pairs have each count, split by classes where they are known.
fn counts(
    co: &CoAssociation,
    classes: Option<&[Option<u32>]>,
    ctx: &Context,
) -> Result<(String, String)> {
    let all = histogram(co, classes, ctx)?;
    let members = co.members();
    let width = (members + 1).div_ceil(BARS);
    let known = classes.is_some();
    let bins = |counts: &[u64]| counts.chunks(width).map(|c| c.iter().sum()).collect::<Vec<u64>>();
    let (pairs, alike, apart) = (bins(&all.pairs), bins(&all.alike), bins(&all.apart));
    let mut csv = String::from("members_from,members_to,pairs,same_class,other_class\n");
    for at in 0..pairs.len() {
        let (from, to) = (at * width, ((at + 1) * width - 1).min(members));
        let (same, other) =
            if known { (alike[at].to_string(), apart[at].to_string()) } else { Default::default() };
        let _ = writeln!(csv, "{from},{to},{},{same},{other}", pairs[at]);
    }
    let series: Vec<(&[u64], &str, &str)> = if known {
        vec![(&alike, SAME, "same class"), (&apart, OTHER, "other class")]
    } else {
        vec![(&pairs, SAME, "pairs")]
    };
    let largest = pairs.iter().copied().max().unwrap_or(0).max(1) as f64;
    let decades = largest.log10().ceil().max(1.0);
    let bottom = TOP + SIDE;
    // A single pair has a bar as well.
    let height = |count: u64| match count {
        0 => 0.0,
        count => SIDE * ((count as f64).log10() + 0.3) / (decades + 0.3),
    };
    let mut s = head(
        "Pairs by the number of members that put them together",
        "A histogram: for each number of members how many pairs so many put together; both axes upwards.",
    );
    let slot = SIDE / pairs.len() as f64;
    let bar = slot * 0.9 / series.len() as f64;
    for (number, (counts, colour, name)) in series.iter().enumerate() {
        let mut path = String::new();
        for (at, &count) in counts.iter().enumerate().filter(|(_, c)| **c > 0) {
            let x = LEFT + slot * (at as f64 + 0.05) + bar * number as f64;
            let _ = write!(path, "M{x:.1} {bottom}v-{:.1}h{bar:.1}V{bottom}z", height(count));
        }
        let _ = writeln!(s, "<path d=\"{path}\" fill=\"{colour}\"/>");
        let x = LEFT + SIDE - 110.0 * (series.len() - number) as f64;
        let _ = writeln!(
            s,
            "<rect x=\"{x:.1}\" y=\"28\" width=\"10\" height=\"8\" fill=\"{colour}\"/>\
             <text x=\"{:.1}\" y=\"36\">{name}</text>",
            x + 15.0
        );
    }
    let marks: Vec<f64> =
        ticks(0.0, members as f64, 8).into_iter().filter(|t| *t <= members as f64).collect();
    let place = |t: f64| LEFT + slot * (t / width as f64).floor() + slot / 2.0;
    let x: Vec<(f64, String)> = marks.iter().map(|t| (place(*t), number(*t, &marks))).collect();
    let power = |d: i32| match d {
        0..=3 => 10u32.pow(d as u32).to_string(),
        _ => format!("1e{d}"),
    };
    let y: Vec<(f64, String)> = (0..=decades as i32)
        .map(|d| (bottom - SIDE * (f64::from(d) + 0.3) / (decades + 0.3), power(d)))
        .collect();
    axes(&mut s, "members", "pairs", &x, &y);
    s.push_str("</svg>\n");
    Ok((s, csv))
}

/// Agreement of the objects that both label.
fn agreement(a: &[u32], b: &[u32]) -> f64 {
    let both = a.iter().zip(b).filter(|(a, b)| **a != NONE && **b != NONE);
    let (a, b): (Vec<u32>, Vec<u32>) = both.map(|(a, b)| (*a, *b)).unzip();
    nmi_geometric(&a, &b)
}

/// For each member how it agrees with the truth, and how much it differs from the others.
fn members(
    ensemble: &Ensemble,
    labels: &[u32],
    classes: Option<&[Option<u32>]>,
    ctx: &Context,
) -> (String, String) {
    let truth: Vec<u32> = match classes {
        Some(classes) => classes.iter().map(|c| c.unwrap_or(NONE)).collect(),
        None => labels.to_vec(),
    };
    let tau = ensemble.len();
    let all = ensemble.members();
    let ctx = ctx.child("plot");
    let points: Vec<(f64, f64)> = (0..tau)
        .into_par_iter()
        .map(|t| {
            let mut others: Vec<usize> =
                ctx.index(t).stream("others").sample(tau - 1, OTHERS.min(tau - 1));
            others.iter_mut().filter(|o| **o >= t).for_each(|o| *o += 1);
            let with = |o: &usize| agreement(&all[t].labels, &all[*o].labels);
            let mean = others.iter().map(with).sum::<f64>() / others.len().max(1) as f64;
            (1.0 - mean, agreement(&all[t].labels, &truth))
        })
        .collect();
    let mut csv = String::from("member,diversity,quality\n");
    for (t, (diversity, quality)) in points.iter().enumerate() {
        let _ = writeln!(csv, "{t},{diversity},{quality}");
    }
    let span = |pick: fn(&(f64, f64)) -> f64| {
        let values = points.iter().map(pick);
        let (low, high) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        ticks(low, high, 6)
    };
    let (x_marks, y_marks) = (span(|p| p.0), span(|p| p.1));
    let share = |v: f64, marks: &[f64]| (v - marks[0]) / (marks[marks.len() - 1] - marks[0]);
    let x = |v: f64| LEFT + SIDE * share(v, &x_marks);
    let y = |v: f64| TOP + SIDE * (1.0 - share(v, &y_marks));
    let mut s = head(
        "Members of the ensemble",
        "A point for each member: how much it differs from the others against how good it is.",
    );
    for (diversity, quality) in &points {
        let _ = writeln!(
            s,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.2\" fill=\"{SAME}\" fill-opacity=\"0.5\"/>",
            x(*diversity),
            y(*quality)
        );
    }
    let of_x: Vec<_> = x_marks.iter().map(|t| (x(*t), number(*t, &x_marks))).collect();
    let of_y: Vec<_> = y_marks.iter().map(|t| (y(*t), number(*t, &y_marks))).collect();
    let judge = if classes.is_some() { "the classes" } else { "the consensus" };
    let y_name = format!("NMI with {judge}");
    axes(&mut s, "diversity: 1 − mean NMI with other members", &y_name, &of_x, &of_y);
    s.push_str("</svg>\n");
    (s, csv)
}
