//! Figures of an ensemble.
//!
//! Three figures, each an SVG and a CSV with the numbers drawn: co-association of all objects as a heat
//! map, how many pairs have each co-association, and how good and how different the members are.

use std::fmt::Write;
use std::path::Path;

use mustlink_core::prelude::*;
use mustlink_core::text::count;
use mustlink_experiments::Format;
use mustlink_experiments::partition_support::{Reading, Supported};
use mustlink_kernels::agreement::contingency::nmi_geometric;
use mustlink_kernels::ensemble::co_association::CoAssociation;
use mustlink_kernels::ensemble::imputation::histogram;
use rayon::prelude::*;

use crate::axis::{Axis, Marked};
use crate::chart::{Chart, Panel};
use crate::figure::csv;
use crate::legend::{Key, Legend};
use crate::marks::{At, Mark};
use crate::palette::{COLOURS, Filling, GREY, Pen, shade};
use crate::render::save_figure;
use crate::scale::{Scale, number, span, ticks};

/// Rows and columns of a heat map at most; more objects are averaged.
const BINS: usize = 120;
/// Bars of a histogram at most.
const BARS: usize = 50;
/// Other members that a member is compared with at most.
const OTHERS: usize = 100;
/// Steps of colour of the heat map.
const STEPS: usize = 32;
/// Pixels of each side of a plot.
const SIDE: f64 = 480.0;
const SAME: &str = COLOURS[0];
const OTHER: &str = COLOURS[1];

/// Writes the figures of `ensemble` into a folder, in these formats in addition to SVG, with objects in the order of
/// `labels`; their names begin with `prefix`. Members are judged by the classes, or by the labels without
/// them.
///
/// # Errors
/// A file that cannot be written; cancellation.
pub fn save_ensemble(
    (folder, prefix, formats): (&Path, &str, &[Format]),
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
    figures.iter().try_for_each(|(name, (chart, csv))| {
        save_figure(folder, &format!("{prefix}-{name}"), &chart.svg(), csv.as_bytes(), formats)
    })
}

/// Writes the figure of the cumulative distributions of consensus matrices, in the same way: a line for each number of
/// clusters, or one line if there is one matrix.
///
/// # Errors
/// A file that cannot be written.
pub fn save_distributions(
    (folder, prefix, formats): (&Path, &str, &[Format]),
    supported: &Supported,
) -> Result<()> {
    let drawn = match supported.reading {
        Reading::EachNumber => &supported.found[..],
        Reading::OneMatrix => &supported.found[..supported.found.len().min(1)],
    };
    let drawn: Vec<_> = drawn.iter().filter(|support| !support.cdf.is_empty()).collect();
    let mut csv = String::from("k,consensus_index,share_of_pairs\n");
    let (mut marks, mut entries) = (Vec::new(), Vec::new());
    for (at, support) in drawn.into_iter().enumerate() {
        let (k, name) = match supported.reading {
            Reading::EachNumber => (support.k.to_string(), count(support.k, "cluster")),
            Reading::OneMatrix => ("all".into(), "all partitions".into()),
        };
        let steps = (support.cdf.len() - 1) as f64;
        let points: Vec<At> =
            support.cdf.iter().enumerate().map(|(step, v)| (step as f64 / steps, *v)).collect();
        for (index, share) in &points {
            let _ = writeln!(csv, "{k},{index},{share}");
        }
        marks.push(Mark::Line { points, pen: Pen::series(at) });
        entries.push((Key::Line(Pen::series(at)), name));
    }
    let axis = |name: &str| Axis::exact(name, (0.0, 1.0), 5);
    let mut chart = square(
        "Distribution of the consensus index",
        "A line for each number of clusters: the share of pairs up to each consensus index. The flatter it is between \
         0.1 and 0.9, the fewer pairs are ambiguous.",
        axis("consensus index"),
        axis("share of pairs up to this index"),
        marks,
    );
    chart.legend = Legend { entries, beside: false };
    let name = format!("{prefix}-distribution");
    save_figure(folder, &name, &chart.svg(), csv.as_bytes(), formats)
}

/// One square plot with strokes outside it.
fn square(title: &str, description: &str, x: Axis, y: Axis, marks: Vec<Mark>) -> Chart {
    let (x, y) = (x.marked(Marked::Outside), y.marked(Marked::Outside));
    Chart::new(title, description, SIDE, 1, vec![Panel::new(x, y, SIDE, marks)])
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
fn heat_map(co: &CoAssociation, labels: &[u32]) -> (Chart, String) {
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
    let mut csv = String::from("row,column,objects_of_row,objects_of_column,co_association\n");
    let mut shades: Vec<Vec<[At; 2]>> = vec![Vec::new(); STEPS + 1];
    // Every bin has the same room, however many objects are in the last one.
    let place = |bin: usize| n as f64 * bin as f64 / bins.len() as f64;
    for p in 0..bins.len() {
        let row: Vec<f64> = (0..bins.len()).map(|q| mean(p, q)).collect();
        let mut q = 0;
        for run in row.chunk_by(|a, b| step(*a) == step(*b)) {
            let corners = [(place(q), place(p)), (place(q + run.len()), place(p + 1))];
            shades[step(run[0])].push(corners);
            q += run.len();
        }
        for (q, v) in row.iter().enumerate() {
            let _ = writeln!(csv, "{p},{q},{},{},{v}", bins[p].len(), bins[q].len());
        }
    }
    let mut marks = Vec::new();
    let shades = shades.into_iter().enumerate();
    for (step, corners) in shades.filter(|(step, c)| *step > 0 && !c.is_empty()) {
        marks.push(Mark::Cells { corners, fill: shade(step as f64 / STEPS as f64) });
    }
    // Where one group ends and the next begins.
    let all = n as f64;
    let ends = (1..n).filter(|&at| labels[order[at] as usize] != labels[order[at - 1] as usize]);
    let ends: Vec<f64> = ends.map(|at| at as f64).collect();
    for &end in ends.iter().filter(|_| ends.len() <= BINS) {
        for points in [vec![(end, 0.0), (end, all)], vec![(0.0, end), (all, end)]] {
            marks.push(Mark::Line { points, pen: Pen { opacity: 0.6, ..Pen::new(GREY, 0.6) } });
        }
    }
    let axis = Axis::exact("objects, group by group", (0.0, all), 5);
    let mut chart = square(
        "Co-association of all pairs of objects",
        "A heat map with a row and a column for each object, group by group; the darker, the more members \
         put the two together.",
        axis.clone(),
        axis.downwards(),
        marks,
    );
    let bar = (Key::Ramp { by_root: false }, "1: together in all members".into());
    chart.legend = Legend { entries: vec![bar], beside: false };
    (chart, csv)
}

/// The step of colour of a co-association.
fn step(v: f64) -> usize {
    (v * STEPS as f64).round() as usize
}

/// Number of pairs with each count, split by classes if they are known.
fn counts(
    co: &CoAssociation,
    classes: Option<&[Option<u32>]>,
    ctx: &Context,
) -> Result<(Chart, String)> {
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
    let series: Vec<(&[u64], &'static str, &str)> = if known {
        vec![(&alike, SAME, "same class"), (&apart, OTHER, "other class")]
    } else {
        vec![(&pairs, SAME, "pairs")]
    };
    // A single pair has a bar as well: the axis begins below 1.
    let lowest = 10f64.powf(-0.3);
    let bar = 0.9 / series.len() as f64;
    let bars = series.iter().enumerate().map(|(number, (counts, colour, _))| {
        let some = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let corners = some.map(|(at, count)| {
            let x = at as f64 + 0.05 + bar * number as f64;
            [(x, lowest), (x + bar, *count as f64)]
        });
        Mark::Cells { corners: corners.collect(), fill: colour.to_string() }
    });
    let most = members as f64;
    let at: Vec<f64> = ticks(0.0, most, 8).into_iter().filter(|t| *t <= most).collect();
    let mut x = Axis::hidden(0.0, pairs.len() as f64);
    let bin = |t: f64| (t / width as f64).floor() + 0.5;
    x.ticks = at.iter().map(|t| (bin(*t), number(*t, &at))).collect();
    x.name = "members".into();
    let largest = pairs.iter().copied().max().unwrap_or(0).max(1) as f64;
    let powers: Vec<f64> =
        (0..=largest.log10().ceil().max(1.0) as i32).map(|d| 10f64.powi(d)).collect();
    let scale = Scale::logarithmic(lowest, powers[powers.len() - 1]);
    let y = Axis::numbers("pairs", scale, &powers);
    let mut chart = square(
        "Pairs by the number of members that put them together",
        "A histogram: the number of pairs for each number of members that put them together; both axes point upwards.",
        x,
        y,
        bars.collect(),
    );
    let entries =
        series.iter().map(|(_, colour, name)| (Key::Colour(colour, 1.0), name.to_string()));
    chart.legend = Legend { entries: entries.collect(), beside: false };
    Ok((chart, csv))
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
) -> (Chart, String) {
    let truth: Vec<u32> = match classes {
        Some(classes) => classes.iter().map(|c| c.unwrap_or(NONE)).collect(),
        None => labels.to_vec(),
    };
    let tau = ensemble.len();
    let all = ensemble.members();
    let ctx = ctx.child("plot");
    let points: Vec<At> = (0..tau)
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
    let lines = points.iter().enumerate().map(|(t, (diversity, quality))| {
        let name = all[t].provenance.clone();
        vec![t.to_string(), name, diversity.to_string(), quality.to_string()]
    });
    let csv = csv("member,name,diversity,quality", lines);
    let csv = String::from_utf8(csv).expect("written from text");
    let judge = if classes.is_some() { "the classes" } else { "the consensus" };
    let axis = |name: &str, pick: fn(&At) -> f64| {
        Axis::round(name, span(points.iter().map(pick)), 6).of_amounts()
    };
    let point = |(at, member): (&At, &Member)| Mark::Point {
        at: *at,
        shape: 0,
        colour: SAME,
        filling: Filling::Full,
        opacity: 0.5,
        tip: Some(member.provenance.clone()).filter(|name| !name.is_empty()),
    };
    let chart = square(
        "Members of the ensemble",
        "A point for each member: how much it differs from the others against how good it is.",
        axis("diversity: 1 − mean NMI with other members", |p| p.0),
        axis(&format!("NMI with {judge}"), |p| p.1),
        points.iter().zip(all).map(point).collect(),
    );
    (chart, csv)
}
