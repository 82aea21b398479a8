//! A random tree, and the leaf of each object.

use std::ops::Range;

use mustlink_core::random::Stream;

use super::columns::{Column, Columns};
use super::split::{Cut, Drawn, Node, Splitter};

/// The leaf of every object.
pub(super) struct Tree {
    pub leaves: Vec<u32>,
    /// Number of leaves.
    pub count: usize,
}

/// A node that may be divided: its part of the bag, and of the objects outside.
struct Open {
    drawn: Range<usize>,
    rest: Range<usize>,
}

/// Grows a tree on n objects drawn with replacement, without limit of depth; the objects that were
/// not drawn follow the thresholds. Leaves are numbered from left to right.
///
/// At every node features are drawn one by one without replacement: `per_split` of them, and
/// further ones while all drawn so far have a single value there. A node is a leaf when it is of one
/// class, when no feature divides it, or when none of the `wanted` objects falls into it.
pub(super) fn grow(
    columns: &Columns,
    labels: &[u32],
    classes: usize,
    per_split: usize,
    wanted: Option<&[bool]>,
    stream: &mut Stream,
) -> Tree {
    let (n, d) = (columns.n(), columns.d());
    let mut times = vec![0u32; n];
    (0..n).for_each(|_| times[stream.below(n)] += 1);
    let (mut drawn, mut rest) = (Vec::new(), Vec::new());
    for (object, &times) in (0..).zip(&times) {
        match times {
            0 => rest.push(object),
            _ => drawn.push(Drawn { object, class: labels[object as usize], times }),
        }
    }
    let mut place = vec![u32::MAX; n];
    (0..).zip(&drawn).for_each(|(at, d)| place[d.object as usize] = at);
    let mut features: Vec<usize> = (0..d).collect();
    let mut totals = vec![0.0; classes];
    let mut splitter = Splitter::new(classes);
    let mut tree = Tree { leaves: vec![0; n], count: 0 };
    let mut open = vec![Open { drawn: 0..drawn.len(), rest: 0..rest.len() }];
    while let Some(node) = open.pop() {
        let objects = &drawn[node.drawn.clone()];
        let first_class = objects[0].class;
        let pure = objects.iter().all(|o| o.class == first_class);
        let idle = wanted.is_some_and(|wanted| {
            let mut inside = objects.iter().map(|o| o.object);
            let mut outside = rest[node.rest.clone()].iter();
            !inside.any(|i| wanted[i as usize]) && !outside.any(|&i| wanted[i as usize])
        });
        let found = if pure || idle {
            None
        } else {
            objects.iter().for_each(|o| totals[o.class as usize] += f64::from(o.times));
            let at = Node {
                drawn: objects,
                place: &place,
                first: node.drawn.start,
                totals: &totals,
                all: objects.iter().map(|o| f64::from(o.times)).sum(),
                // Σ t² over the classes is Σ t over what was drawn.
                squares: objects
                    .iter()
                    .map(|o| f64::from(o.times) * totals[o.class as usize])
                    .sum(),
            };
            let found = best(columns, at, per_split, &mut features, &mut splitter, stream);
            objects.iter().for_each(|o| totals[o.class as usize] = 0.0);
            found
        };
        let Some((feature, cut)) = found else {
            let leaf = tree.count as u32;
            drawn[node.drawn].iter().for_each(|o| tree.leaves[o.object as usize] = leaf);
            rest[node.rest].iter().for_each(|&i| tree.leaves[i as usize] = leaf);
            tree.count += 1;
            continue;
        };
        let column = columns.column(feature);
        let highest = column.cut(cut.low, cut.high);
        let part = &mut drawn[node.drawn.clone()];
        let middle = node.drawn.start + divide(part, |o| o.object, column, highest);
        (node.drawn.start..).zip(&*part).for_each(|(at, o)| place[o.object as usize] = at as u32);
        let part = &mut rest[node.rest.clone()];
        let rest_middle = node.rest.start + divide(part, |&i| i, column, highest);
        open.push(Open { drawn: middle..node.drawn.end, rest: rest_middle..node.rest.end });
        open.push(Open { drawn: node.drawn.start..middle, rest: node.rest.start..rest_middle });
    }
    tree
}

/// The best cut by features drawn at random; of equally good ones that of the first feature.
fn best(
    columns: &Columns,
    node: Node<'_>,
    per_split: usize,
    features: &mut [usize],
    splitter: &mut Splitter,
    stream: &mut Stream,
) -> Option<(usize, Cut)> {
    let mut best: Option<(usize, Cut)> = None;
    for at in 0..features.len() {
        if at >= per_split && best.is_some() {
            break;
        }
        features.swap(at, at + stream.below(features.len() - at));
        let feature = features[at];
        if let Some(cut) = splitter.best(columns.column(feature), node)
            && best.is_none_or(|(_, old)| cut.purity > old.purity)
        {
            best = Some((feature, cut));
        }
    }
    best
}

/// Brings the objects whose rank is at most `highest` to the front and says how many they are.
fn divide<T: Copy>(
    items: &mut [T],
    object: impl Fn(&T) -> u32,
    column: &Column,
    highest: u32,
) -> usize {
    let mut left = 0;
    for at in 0..items.len() {
        if column.rank(object(&items[at])) <= highest {
            items.swap(left, at);
            left += 1;
        }
    }
    left
}
