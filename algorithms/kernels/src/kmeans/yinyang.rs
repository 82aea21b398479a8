//! Bounds that save distances to centres that moved little.
//!
//! Centres that lie together form groups. For each object and group a lower bound of the distance to
//! every centre of the group but its own is kept; when centres move, it falls by as much as the one
//! that moved farthest. Only groups whose bound reaches the distance to the own centre are looked at
//! again, by the same kernel and the same exact decisions as in `nearest::assign`: labels are those of
//! the plain sweep. One group is Hamerly's algorithm, several are Yinyang's.
//!
//! Bounds are Euclidean distances, for cosine those between unit vectors, in single precision and
//! rounded towards the safe side. They are stored with all that their group had moved until then, so
//! that nothing is written when centres move.
//!
//! Sources: [Ding2015]; with one group [Hamerly2010].

use ndarray::Array2;
use rayon::prelude::*;

use mustlink_core::clustering::NONE;
use mustlink_core::order;

use crate::distance::points::{Distortion, Points, row, squared_distance};
use crate::kmeans::nearest::assign::exact;
use crate::kmeans::nearest::few_rows::Smallest;
use crate::kmeans::nearest::scores::{PanelScores, panel_width};

/// Objects in a block.
const ROWS: usize = 512;
/// By how much a bound must be on the safe side to count: more than all rounding of distances, and
/// less than what would matter.
const MARGIN: f64 = 1e-6;

/// The state between two sweeps.
pub(crate) struct Bounds {
    /// Centres group by group.
    order: Vec<u32>,
    /// Panels in a group.
    panels: usize,
    /// The group of each centre.
    group: Vec<u32>,
    /// n × groups: lower bounds, with the drift of the group when it was stored.
    lower: Vec<f32>,
    /// Lower bounds for all centres but the own, with the farthest drift when stored.
    all: Vec<f32>,
    /// The labels the bounds hold for.
    known: Vec<u32>,
    /// How far the centres of each group have moved in all sweeps together, at most.
    drift: Vec<f64>,
    /// The same for all centres.
    farthest: f64,
}

/// Working memory of one block.
#[derive(Default)]
struct Scratch {
    /// Row of the block and group that must be scored, by row.
    wanted: Vec<(u32, u32)>,
    /// Position of the scores of each in `found`.
    place: Vec<u32>,
    /// Rows by group.
    rows: Vec<u32>,
    /// The start of each group in `rows`.
    starts: Vec<usize>,
    /// Scores by group.
    found: Vec<Smallest>,
    /// Least bound of the groups that need no scores, by row.
    rest: Vec<f32>,
}

/// Number of groups of `size` centres that `k` centres form, if a panel holds `width` of them.
fn size_of_group(k: usize, groups: usize, width: usize) -> usize {
    k.div_ceil(groups.max(1)).next_multiple_of(width)
}

impl Bounds {
    /// Bounds for about so many groups of centres.
    pub(crate) fn new(points: &Points, centres: &Array2<f64>, groups: usize) -> Self {
        let (n, k) = (points.n(), centres.nrows());
        let width = panel_width(points);
        let size = size_of_group(k, groups, width);
        let mut order: Vec<u32> = (0..k as u32).collect();
        gather_neighbours(centres, &mut order, size);
        let groups = k.div_ceil(size);
        let mut group = vec![0; k];
        order.iter().enumerate().for_each(|(at, &h)| group[h as usize] = (at / size) as u32);
        Bounds {
            order,
            panels: size / width,
            group,
            lower: vec![0.0; n * groups],
            all: vec![0.0; n],
            known: vec![NONE; n],
            drift: vec![0.0; groups],
            farthest: 0.0,
        }
    }

    /// Adds how far centres moved to the drifts.
    pub(crate) fn follow(&mut self, before: &Array2<f64>, after: &Array2<f64>) {
        let mut steps = vec![0.0f64; self.drift.len()];
        for h in 0..after.nrows() {
            let step = squared_distance(row(before, h), row(after, h)).sqrt() * (1.0 + MARGIN);
            let most = &mut steps[self.group[h] as usize];
            *most = most.max(step);
        }
        self.drift.iter_mut().zip(&steps).for_each(|(total, step)| *total += step);
        self.farthest += steps.iter().copied().fold(0.0, f64::max);
    }

    /// Forgets all bounds.
    pub(crate) fn forget(&mut self) {
        self.known.fill(NONE);
    }

    /// Gives every object the label of its nearest centre, as `nearest::assign` does. `own` holds
    /// the distortion of each object with a label to its centre.
    pub(crate) fn sweep(
        &mut self,
        points: &Points,
        centres: &Array2<f64>,
        norms: &[f64],
        labels: &mut [u32],
        own: &[f64],
    ) -> usize {
        let groups = self.drift.len();
        let scores = PanelScores::new(points, centres, norms, &self.order);
        let sweep = Sweep {
            points,
            centres,
            norms,
            scores: &scores,
            panels: self.panels,
            group: &self.group,
            drift: &self.drift,
            low_drift: self.drift.iter().map(|&d| round_up(d * (1.0 + 1e-12))).collect(),
            farthest: self.farthest,
            own,
        };
        labels
            .par_chunks_mut(ROWS)
            .zip(self.known.par_chunks_mut(ROWS))
            .zip(self.all.par_chunks_mut(ROWS))
            .zip(self.lower.par_chunks_mut(ROWS * groups))
            .enumerate()
            .map_init(Scratch::default, |scratch, (b, (((labels, known), all), lower))| {
                sweep.block(b * ROWS, labels, known, all, lower, scratch)
            })
            .sum()
    }
}

/// The data that all blocks of a sweep share.
struct Sweep<'a> {
    points: &'a Points,
    centres: &'a Array2<f64>,
    norms: &'a [f64],
    scores: &'a PanelScores<'a>,
    panels: usize,
    group: &'a [u32],
    drift: &'a [f64],
    /// `drift`, rounded up.
    low_drift: Vec<f32>,
    farthest: f64,
    own: &'a [f64],
}

impl Sweep<'_> {
    /// Between which values the distance of object `i` to its own centre lies.
    fn own(&self, i: usize) -> (f64, f64) {
        let own = self.own[i];
        let square = match self.points.distortion() {
            Distortion::SquaredEuclidean => (own, own),
            Distortion::Cosine => {
                let slack = 16.0 * (self.points.d() as f64 + 8.0) * f64::EPSILON;
                let square = 2.0 * own + self.points.norm(i) - 1.0;
                (square - slack, square + slack)
            }
        };
        (square.0.max(0.0).sqrt() * (1.0 - MARGIN), square.1.max(0.0).sqrt() * (1.0 + MARGIN))
    }

    fn block(
        &self,
        first: usize,
        labels: &mut [u32],
        known: &mut [u32],
        all: &mut [f32],
        lower: &mut [f32],
        scratch: &mut Scratch,
    ) -> usize {
        let groups = self.drift.len();
        let Scratch { wanted, place, rows, starts, found, rest } = scratch;
        wanted.clear();
        starts.clear();
        starts.resize(groups + 1, 0);
        rest.clear();
        rest.resize(labels.len(), f32::INFINITY);
        let farthest = round_up(self.farthest * (1.0 + 1e-12));
        for (r, (&label, bounds)) in labels.iter().zip(lower.chunks_exact(groups)).enumerate() {
            if label != known[r] || label == NONE {
                wanted.extend((0..groups as u32).map(|g| (r as u32, g)));
                starts[1..].iter_mut().for_each(|s| *s += 1);
                continue;
            }
            let most = round_up(self.own(first + r).1);
            if all[r] - farthest > most {
                continue;
            }
            let least = least_difference(bounds, &self.low_drift);
            if least > most {
                rest[r] = least;
                all[r] = round_down(f64::from(least) * (1.0 - MARGIN) + self.farthest);
                continue;
            }
            for (g, (bound, drift)) in bounds.iter().zip(&self.low_drift).enumerate() {
                let bound = bound - drift;
                if bound > most {
                    rest[r] = rest[r].min(bound);
                } else {
                    wanted.push((r as u32, g as u32));
                    starts[g + 1] += 1;
                }
            }
        }
        if wanted.is_empty() {
            return 0;
        }
        for g in 0..groups {
            starts[g + 1] += starts[g];
        }
        let mut next = starts.clone();
        rows.clear();
        rows.resize(wanted.len(), 0);
        place.clear();
        for &(r, g) in wanted.iter() {
            let at = &mut next[g as usize];
            rows[*at] = r;
            place.push(*at as u32);
            *at += 1;
        }
        found.clear();
        found.resize(wanted.len(), Smallest::NONE);
        let panels = self.scores.panels();
        for g in 0..groups {
            let span = starts[g]..starts[g + 1];
            if span.is_empty() {
                continue;
            }
            let rows = &rows[span.clone()];
            let these = g * self.panels..((g + 1) * self.panels).min(panels);
            self.scores.smallest(these, |q| first + rows[q] as usize, &mut found[span]);
        }
        let mut moved = 0;
        let mut at = 0;
        while at < wanted.len() {
            let r = wanted[at].0 as usize;
            let end =
                at + wanted[at..].iter().take_while(|(other, _)| *other as usize == r).count();
            let scored = || (at..end).map(|a| (wanted[a].1 as usize, &found[place[a] as usize]));
            let i = first + r;
            let bounds = &mut lower[r * groups..(r + 1) * groups];
            let label = labels[r];
            let error = self.scores.error(i);
            let new = self.decide(i, label, error, scored().map(|(_, s)| s));
            let mut least = f64::from(rest[r]) * (1.0 - MARGIN);
            for (g, s) in scored() {
                let other = if s.centre == new { s.second } else { s.score };
                let bound = self.scores.square(i, other, error).0.max(0.0).sqrt();
                bounds[g] = round_down(bound + self.drift[g]);
                least = least.min(bound);
            }
            if new != label && label != NONE {
                let g = self.group[label as usize] as usize;
                let bound = self.own(i).0;
                bounds[g] = bounds[g].min(round_down(bound + self.drift[g]));
                least = least.min(bound);
            }
            all[r] = round_down(least + self.farthest);
            moved += usize::from(new != label);
            (labels[r], known[r]) = (new, new);
            at = end;
        }
        moved
    }

    /// The nearest centre of object `i`, which is either that of `label` or among those scored.
    fn decide<'s>(
        &self,
        i: usize,
        label: u32,
        error: f64,
        scored: impl Iterator<Item = &'s Smallest>,
    ) -> u32 {
        let mut best = Smallest::NONE;
        for s in scored {
            if s.score < best.score {
                best = Smallest { second: best.score.min(s.second), ..*s };
            } else {
                best.second = best.second.min(s.score);
            }
        }
        let alone = best.second > best.score + 2.0 * error;
        if alone && (label == NONE || best.centre == label) {
            return best.centre;
        }
        if label != NONE {
            let (least, most) = self.own(i);
            let square = self.scores.square(i, best.score, error);
            if best.centre != label && most * most < square.0 {
                return label;
            }
            if alone && square.1 < least * least {
                return best.centre;
            }
        }
        exact(self.points, self.centres, self.norms, i, label, 0..self.centres.nrows())
    }
}

/// The least bound − drift.
fn least_difference(bounds: &[f32], drift: &[f32]) -> f32 {
    let mut lanes = [f32::INFINITY; 8];
    let (b, d) = (bounds.chunks_exact(8), drift.chunks_exact(8));
    let (rest_b, rest_d) = (b.remainder(), d.remainder());
    let least = |x: f32, y: f32| if x < y { x } else { y };
    for (b, d) in b.zip(d) {
        for l in 0..8 {
            lanes[l] = least(b[l] - d[l], lanes[l]);
        }
    }
    for (l, (b, d)) in rest_b.iter().zip(rest_d).enumerate() {
        lanes[l] = least(b - d, lanes[l]);
    }
    lanes.into_iter().fold(f32::INFINITY, least)
}

/// x in single precision, never larger.
fn round_down(x: f64) -> f32 {
    let y = x as f32;
    if f64::from(y) > x { y.next_down() } else { y }
}

/// x in single precision, never smaller.
fn round_up(x: f64) -> f32 {
    let y = x as f32;
    if f64::from(y) < x { y.next_up() } else { y }
}

/// Sorts the centres in `order` so that runs of `size` lie together: halves them across the line
/// between two that are far apart, again and again.
fn gather_neighbours(centres: &Array2<f64>, order: &mut [u32], size: usize) {
    if order.len() <= size {
        return;
    }
    let far_from = |from: u32| {
        let mut far = (0.0, from);
        for &h in order.iter() {
            let distance = squared_distance(row(centres, h as usize), row(centres, from as usize));
            if distance > far.0 {
                far = (distance, h);
            }
        }
        far.1
    };
    let one = far_from(order[0]);
    let other = far_from(one);
    let (a, b) = (row(centres, one as usize), row(centres, other as usize));
    let mut along: Vec<(f64, u32)> = order
        .iter()
        .map(|&h| {
            let c = row(centres, h as usize);
            (squared_distance(c, a) - squared_distance(c, b), h)
        })
        .collect();
    order::sort_objects(&mut along);
    order.iter_mut().zip(&along).for_each(|(to, (_, h))| *to = *h);
    let half = order.len().div_ceil(size).div_ceil(2) * size;
    let (left, right) = order.split_at_mut(half.min(order.len()));
    gather_neighbours(centres, left, size);
    gather_neighbours(centres, right, size);
}
