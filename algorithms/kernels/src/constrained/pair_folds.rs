//! Folds of pairs in which no held-out pair follows from the pairs that are kept.
//!
//! A must-link that lies on no cycle of must-links (a bridge) follows from nothing else and is held
//! back alone; must-links that lie on common cycles follow from one another and are held back as one.
//! So are the cannot-links between the same two components of must-links. With two clusters every
//! chain of pairs determines the relation of its ends, so cycles of all pairs count. If such a unit is
//! too large for one fold, as with pairs made of labels, its objects are divided: every pair that
//! touches one of them is held back. Held-back pairs that still follow from others are not tested.

use std::collections::BTreeMap;

use mustlink_core::closure::UnionFind;
use mustlink_core::prelude::*;

use crate::constrained::sides::Sides;

/// Pairs by their place in the constraints.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fold {
    /// Those a method is given.
    pub kept: Vec<usize>,
    /// Those it is judged by: held back, and not entailed by those kept.
    pub tested: Vec<usize>,
}

/// The pairs in `count` folds; fewer where there are fewer units, none where nothing can be tested. The pairs in
/// `always` are kept in every fold.
///
/// # Errors
/// No errors: contradictions are kept as they are.
pub fn folds(
    pairs: &[Constraint],
    always: &[Constraint],
    n: usize,
    k: Option<usize>,
    count: usize,
    stream: &mut Stream,
) -> Result<Vec<Fold>> {
    let mut units = units(pairs, n, k);
    stream.shuffle(&mut units);
    // The longest first: what is short then fills up what is missing.
    units.sort_by_key(|unit| std::cmp::Reverse(unit.len()));
    let most = pairs.len().div_ceil(count).max(1);
    let large = units.iter().filter(|unit| unit.len() > most).flatten();
    let fold_of = dealt(large.map(|&p| pairs[p]), count, stream);
    let mut held = vec![vec![false; pairs.len()]; count];
    // An object that is held back has no pair left that something could follow from.
    let by_object =
        |&p: &usize| [pairs[p].i, pairs[p].j].into_iter().filter_map(|o| fold_of.get(&o));
    (0..pairs.len()).for_each(|p| by_object(&p).for_each(|&f| held[f][p] = true));
    // How many pairs of each kind a fold holds back.
    let count_kinds = |held: &Vec<bool>| {
        let mut kinds = [0; 2];
        let held = pairs.iter().zip(held).filter(|(_, held)| **held);
        held.for_each(|(c, _)| kinds[c.kind as usize] += 1);
        kinds
    };
    let mut loads: Vec<[usize; 2]> = held.iter().map(count_kinds).collect();
    for unit in units {
        let unit: Vec<usize> = unit.into_iter().filter(|p| by_object(p).next().is_none()).collect();
        // Each kind is spread evenly: must-links are often few.
        let must = unit.iter().filter(|&&p| pairs[p].kind == Kind::MustLink).count();
        let kind = if 2 * must >= unit.len() { Kind::MustLink } else { Kind::CannotLink };
        let load = |&f: &usize| (loads[f][kind as usize], loads[f].iter().sum::<usize>());
        let fold = (0..count).min_by_key(load).unwrap_or(0);
        for p in unit {
            held[fold][p] = true;
            loads[fold][pairs[p].kind as usize] += 1;
        }
    }
    let mut made = Vec::new();
    for held in held {
        let (mut tested, kept): (Vec<usize>, Vec<usize>) = (0..pairs.len()).partition(|&p| held[p]);
        let given: Vec<Constraint> =
            kept.iter().map(|&p| pairs[p]).chain(always.iter().copied()).collect();
        let mut known = Known::new(&given, n, k)?;
        tested.retain(|&p| !known.settles(pairs[p].i, pairs[p].j));
        if !tested.is_empty() {
            made.push(Fold { kept, tested });
        }
    }
    Ok(made)
}

/// Pairs in `count` folds by their objects, as CVCP makes them: the objects that have a pair are dealt to the
/// folds; a fold is tested by the pairs within it, methods are given those without an object of it, and pairs
/// across are in neither. None where nothing can be tested.
pub fn folds_of_objects(pairs: &[Constraint], count: usize, stream: &mut Stream) -> Vec<Fold> {
    let fold_of = dealt(pairs.iter().copied(), count, stream);
    let inside = |p: &usize, fold: usize| {
        [pairs[*p].i, pairs[*p].j].iter().filter(|o| fold_of[o] == fold).count()
    };
    let fold = |f: usize| {
        let having = |ends: usize| (0..pairs.len()).filter(|p| inside(p, f) == ends).collect();
        Fold { kept: having(0), tested: having(2) }
    };
    (0..count).map(fold).filter(|fold| !fold.tested.is_empty()).collect()
}

/// The fold of each object of some pairs, in random order one after the other.
fn dealt(
    pairs: impl Iterator<Item = Constraint>,
    count: usize,
    stream: &mut Stream,
) -> BTreeMap<u32, usize> {
    let mut objects: Vec<u32> = pairs.flat_map(|c| [c.i, c.j]).collect();
    objects.sort_unstable();
    objects.dedup();
    stream.shuffle(&mut objects);
    objects.into_iter().enumerate().map(|(at, o)| (o, at % count)).collect()
}

/// Conclusions from pairs about other pairs.
enum Known {
    Closure(Box<Closure>),
    /// With two clusters every chain of pairs says something about its ends.
    Sides(Sides),
}

impl Known {
    fn new(pairs: &[Constraint], n: usize, k: Option<usize>) -> Result<Self> {
        if k != Some(2) {
            let all = Constraints::new(n, pairs.iter().copied())?;
            return Ok(Known::Closure(Box::new(Closure::new(&all, n, OnConflict::Keep)?)));
        }
        let mut sides = Sides::new(n);
        for c in pairs {
            sides.join(c.i, c.j, c.kind == Kind::MustLink);
        }
        Ok(Known::Sides(sides))
    }

    /// True if it follows how the two are placed.
    fn settles(&mut self, i: u32, j: u32) -> bool {
        match self {
            Known::Closure(closure) => closure.relation(i as usize, j as usize).is_some(),
            Known::Sides(sides) => sides.of(i).0 == sides.of(j).0,
        }
    }
}

/// Pairs that follow from one another, as far as a unit can say.
fn units(pairs: &[Constraint], n: usize, k: Option<usize>) -> Vec<Vec<usize>> {
    let must = |p: &usize| pairs[*p].kind == Kind::MustLink;
    if k == Some(2) {
        return blocks(pairs, n, (0..pairs.len()).collect());
    }
    let mut units = blocks(pairs, n, (0..pairs.len()).filter(must).collect());
    let mut together = UnionFind::new(n);
    (0..pairs.len()).filter(must).for_each(|p| {
        together.union(pairs[p].i, pairs[p].j);
    });
    let mut between: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
    for p in (0..pairs.len()).filter(|p| !must(p)) {
        let (a, b) = (together.find(pairs[p].i), together.find(pairs[p].j));
        between.entry((a.min(b), a.max(b))).or_default().push(p);
    }
    units.extend(between.into_values());
    units
}

/// The edges `of` a graph: each bridge alone, all edges of a two-edge-connected part as one.
fn blocks(pairs: &[Constraint], n: usize, of: Vec<usize>) -> Vec<Vec<usize>> {
    let mut around: Vec<Vec<(u32, usize)>> = vec![Vec::new(); n];
    for &p in &of {
        around[pairs[p].i as usize].push((pairs[p].j, p));
        around[pairs[p].j as usize].push((pairs[p].i, p));
    }
    // [Tarjan1974]: an edge to a child from which no path leads back above it is a bridge.
    let mut entered = vec![0u32; n];
    let mut lowest = vec![0u32; n];
    let mut bridge = vec![false; pairs.len()];
    let mut clock = 0;
    for root in 0..n {
        if entered[root] > 0 || around[root].is_empty() {
            continue;
        }
        clock += 1;
        (entered[root], lowest[root]) = (clock, clock);
        // Object, the edge it was entered by, how many of its edges were looked at.
        let mut path = vec![(root, usize::MAX, 0)];
        while let Some(&mut (at, by, ref mut looked)) = path.last_mut() {
            if let Some(&(to, edge)) = around[at].get(*looked) {
                *looked += 1;
                let to = to as usize;
                if edge == by {
                    continue;
                }
                if entered[to] > 0 {
                    lowest[at] = lowest[at].min(entered[to]);
                } else {
                    clock += 1;
                    (entered[to], lowest[to]) = (clock, clock);
                    path.push((to, edge, 0));
                }
            } else {
                path.pop();
                if let Some(&(above, ..)) = path.last() {
                    lowest[above] = lowest[above].min(lowest[at]);
                    bridge[by] = lowest[at] > entered[above];
                }
            }
        }
    }
    let mut parts = UnionFind::new(n);
    of.iter().filter(|&&p| !bridge[p]).for_each(|&p| {
        parts.union(pairs[p].i, pairs[p].j);
    });
    let mut inside: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    let mut units = Vec::new();
    for p in of {
        if bridge[p] {
            units.push(vec![p]);
        } else {
            inside.entry(parts.find(pairs[p].i)).or_default().push(p);
        }
    }
    units.extend(inside.into_values());
    units
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn of(n: usize, pairs: Vec<Constraint>, k: Option<usize>) -> (Constraints, Vec<Fold>) {
        let all = Constraints::new(n, pairs).unwrap();
        let mut stream = SeedPath::new(1).stream("folds");
        let made = folds(all.pairs(), &[], n, k, 5, &mut stream).unwrap();
        (all, made)
    }

    #[test]
    fn bridges_stand_alone_and_cycles_together() {
        let pairs = vec![
            Constraint::must(0, 1),
            Constraint::must(1, 2),
            Constraint::must(0, 2),
            Constraint::must(2, 3),
            Constraint::cannot(0, 5),
            Constraint::cannot(3, 5),
            Constraint::cannot(3, 6),
        ];
        let mut found = units(&pairs, 8, Some(3));
        found.sort();
        assert_eq!(found, [vec![0, 1, 2], vec![3], vec![4, 5], vec![6]]);
        // With two clusters 0–2–3–5–0 is a cycle, too, and 3–6 is not.
        let mut found = units(&pairs, 8, Some(2));
        found.sort();
        assert_eq!(found, [vec![0, 1, 2, 3, 4, 5], vec![6]]);
    }

    #[test]
    fn pairs_of_labels_are_tested_nearly_all() {
        let class = |i: usize| i % 3;
        let pair = |(i, j): (usize, usize)| {
            if class(i) == class(j) { Constraint::must(i, j) } else { Constraint::cannot(i, j) }
        };
        let pairs = (0..15).flat_map(|j| (0..j).map(move |i| (i, j))).map(pair).collect();
        let (all, made) = of(15, pairs, Some(3));
        let mut tested = vec![false; all.len()];
        made.iter().flat_map(|f| &f.tested).for_each(|&p| tested[p] = true);
        assert!(tested.iter().filter(|&&t| t).count() * 10 >= 9 * all.len());
        assert!(made.iter().all(|f| f.kept.len() * 2 > all.len()));
    }

    #[test]
    fn an_object_is_in_one_fold() {
        let pairs: Vec<Constraint> =
            (0..30)
                .flat_map(|j| (0..j).map(move |i| (i, j)))
                .filter(|(i, j)| (i * 7 + j * 3) % 4 == 0)
                .map(|(i, j)| {
                    if (i + j) % 3 == 0 { Constraint::must(i, j) } else { Constraint::cannot(i, j) }
                })
                .collect();
        let made = folds_of_objects(&pairs, 5, &mut SeedPath::new(1).stream("folds"));
        let objects = |of: &[usize]| -> BTreeSet<u32> {
            of.iter().flat_map(|&p| [pairs[p].i, pairs[p].j]).collect()
        };
        assert_eq!(made.len(), 5);
        for (at, fold) in made.iter().enumerate() {
            assert!(objects(&fold.kept).is_disjoint(&objects(&fold.tested)));
            // Every pair without an object of the fold is kept: of four fifths of the objects.
            assert!(objects(&fold.kept).len() >= 23, "{}", objects(&fold.kept).len());
            for other in &made[at + 1..] {
                assert!(objects(&fold.tested).is_disjoint(&objects(&other.tested)));
            }
        }
        // One pair leaves nothing to give.
        let one = folds_of_objects(&pairs[..1], 5, &mut SeedPath::new(1).stream("folds"));
        assert_eq!(one, []);
    }

    proptest! {
        #[test]
        fn nothing_tested_follows_from_what_is_kept(
            seed: u64, n in 4usize..40, count in 1usize..80, k in 2usize..4,
        ) {
            let mut s = SeedPath::new(seed).stream("pairs");
            let class: Vec<usize> = (0..n).map(|_| s.below(k)).collect();
            let pairs: Vec<Constraint> = (0..count).filter_map(|_| {
                let (i, j) = (s.below(n), s.below(n));
                let kind = if class[i] == class[j] { Kind::MustLink } else { Kind::CannotLink };
                (i != j).then(|| Constraint::new(i, j, kind))
            }).collect();
            let always = &pairs[..pairs.len() / 4];
            let (all, made) = of(n, pairs.clone(), Some(k));
            let mut stream = SeedPath::new(2).stream("folds");
            let beside = folds(all.pairs(), always, n, Some(k), 5, &mut stream).unwrap();
            let each = made.iter().map(|fold| (fold, &[][..]));
            for (fold, always) in each.chain(beside.iter().map(|fold| (fold, always))) {
                let kept = fold.kept.iter().map(|&p| all.pairs()[p]).chain(always.iter().copied());
                let kept = Constraints::new(n, kept).unwrap();
                let closure = Closure::new(&kept, n, OnConflict::Error).unwrap();
                let mut sides = Sides::new(n);
                for c in kept.pairs() {
                    sides.join(c.i, c.j, c.kind == Kind::MustLink);
                }
                for &p in &fold.tested {
                    prop_assert!(!fold.kept.contains(&p));
                    let c = all.pairs()[p];
                    prop_assert_eq!(closure.relation(c.i as usize, c.j as usize), None);
                    prop_assert!(k > 2 || sides.of(c.i).0 != sides.of(c.j).0);
                }
            }
            // A pair that no other says anything about is tested.
            if let Some(k) = Some(k).filter(|&k| k > 2) {
                for unit in units(all.pairs(), n, Some(k)).iter().filter(|u| u.len() == 1) {
                    let times = made.iter().filter(|f| f.tested.contains(&unit[0])).count();
                    prop_assert!(times >= 1, "never");
                }
            }
        }
    }
}
