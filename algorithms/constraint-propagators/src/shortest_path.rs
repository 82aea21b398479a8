//! Distances along shortest paths, with must-linked objects at one place.

use mustlink_core::prelude::*;
use mustlink_core::soft_marks::obeying;
use ndarray::Array2;

/// Distance given to cannot-linked objects.
#[options]
pub enum ClValue {
    /// The largest distance + 1: above every other pair.
    #[default]
    Above,
    /// The largest distance.
    Max,
}

/// Shortest paths through must-links: linked objects coincide and pull their surroundings together.
///
/// # Method
/// Distances of must-linked objects become 0. Then every distance becomes the length of the shortest path whose inner
/// stops are must-linked objects, so that the triangle inequality holds again. Finally, pairs that must be apart (the
/// closure of the cannot-links) are put farther apart than any other.
/// # Input and output
/// Dense or sparse objects (Euclidean) or distances; n × n distances.
/// # Errors
/// `InconsistentConstraints`; `BadParam` when n exceeds `max_objects`.
/// # Cost and randomness
/// O(n²·d + components²·linked components), memory 16·n² bytes; must-link components of at least two objects are
/// contracted to one node. Not random.
/// # References
/// [Klein2002] §3. [Eaton2005] puts cannot-links at the largest distance (`cl_value = "max"`).
#[options]
pub struct ShortestPath {
    /// Distance given to cannot-linked objects.
    pub cl_value: ClValue,
    /// Maximum number of objects; the result holds a number for every pair.
    #[option(default = 20_000, min = 1)]
    pub max_objects: usize,
}

#[plugin("shortest_path", cites = ["Klein2002", "Eaton2005"])]
impl ConstraintPropagator for ShortestPath {
    fn propagate(
        &self,
        constraints: &Constraints,
        _: Option<&Clustering>,
        problem: &Problem,
        ctx: &Context,
    ) -> Result<Propagated> {
        let given = problem.clone().with_constraints(constraints.clone());
        obeying("shortest_path", &given, ctx, |problem| self.spread(problem, ctx))
    }

    fn properties(&self) -> PropagatorProperties {
        PropagatorProperties {
            accepts: vec![DataKind::Dense, DataKind::Csr, DataKind::Distances],
            gives: Some(DataKind::Distances),
            ..PropagatorProperties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        16 * (shape.n as u64) * (shape.n as u64)
    }
}

impl ShortestPath {
    /// The distances of a problem whose constraints are all obeyed.
    fn spread(&self, problem: &Problem, ctx: &Context) -> Result<Propagated> {
        let n = problem.n();
        problem.require_at_most(self.max_objects)?;
        let closure = problem.closure(OnConflict::Error)?;
        let nodes = through_links(&closure, &problem.data, ctx)?;
        let mut out = Array2::zeros((n, n));
        spread(&closure, &nodes, &mut out);
        let largest = out.iter().copied().fold(0.0, f64::max);
        let apart = match self.cl_value {
            ClValue::Above => largest + 1.0,
            ClValue::Max => largest,
        };
        for p in 0..closure.components() {
            for &q in closure.apart(p) {
                for &i in closure.members(p) {
                    for &j in closure.members(q as usize) {
                        out[[i as usize, j as usize]] = apart;
                    }
                }
            }
        }
        Ok(Propagated::Distances(out))
    }
}

/// Shortest paths between must-link components: the distance of two is that of their nearest
/// members, inner stops are components of at least two objects.
fn through_links(closure: &Closure, data: &Data, ctx: &Context) -> Result<Array2<f64>> {
    let nodes = closure.components();
    let between = |i: usize, j: usize| match data.kind() {
        DataKind::Distances => data.pair(i, j),
        _ => data.row(i).squared_distance(&data.row(j)).sqrt(),
    };
    let mut d = Array2::<f64>::zeros((nodes, nodes));
    let row_of = |p: usize, row: &mut [f64]| -> Result<()> {
        ctx.check()?;
        for (q, to) in row.iter_mut().enumerate().filter(|(q, _)| *q != p) {
            // Measured from the lower component, so that both directions agree to the bit.
            let (a, b) = (closure.members(p.min(q)), closure.members(p.max(q)));
            let pairs = a.iter().flat_map(|&i| b.iter().map(move |&j| (i, j)));
            *to = pairs.map(|(i, j)| between(i as usize, j as usize)).fold(f64::INFINITY, f64::min);
        }
        Ok(())
    };
    let flat = d.as_slice_mut().expect("standard layout");
    let filled = reduce::over(flat.chunks_mut(nodes), row_of);
    filled.into_iter().collect::<Result<()>>()?;
    for m in (0..nodes).filter(|&m| closure.members(m).len() >= 2) {
        ctx.check()?;
        // Row m does not change while paths go through m.
        let via: Vec<f64> = d.row(m).to_vec();
        let flat = d.as_slice_mut().expect("standard layout");
        reduce::rows(flat, nodes, |p, row| {
            let first = via[p];
            row.iter_mut().zip(&via).for_each(|(to, rest)| *to = to.min(first + rest));
        });
    }
    Ok(d)
}

/// Distances of objects from those of their components.
fn spread(closure: &Closure, nodes: &Array2<f64>, out: &mut Array2<f64>) {
    let n = closure.n();
    let flat = out.as_slice_mut().expect("standard layout");
    reduce::rows(flat, n, |i, row| {
        let p = closure.component(i);
        row.iter_mut().enumerate().for_each(|(j, to)| *to = nodes[[p, closure.component(j)]]);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;
    use proptest::prelude::*;

    fn distances(x: Array2<f64>, given: &[Constraint]) -> Array2<f64> {
        let problem = Problem::new(Data::dense(x).unwrap());
        let given = Constraints::new(problem.n(), given.iter().copied()).unwrap();
        let made = ShortestPath::default().propagate(&given, None, &problem, &Context::new(1));
        match made.unwrap() {
            Propagated::Distances(d) => d,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_link_is_a_bridge() {
        // 0 – 1 – – – – – – 8 – 9 on a line; a must-link joins 1 and 8.
        let x = array![[0.0], [1.0], [8.0], [9.0]];
        let d = distances(x.clone(), &[Constraint::must(1, 2)]);
        assert_eq!(
            d,
            array![[0., 1., 1., 2.], [1., 0., 0., 1.], [1., 0., 0., 1.], [2., 1., 1., 0.]]
        );
        // A cannot-link reaches the whole chain, one above the largest distance.
        let d = distances(x, &[Constraint::must(1, 2), Constraint::cannot(0, 1)]);
        assert_eq!((d[[0, 1]], d[[0, 2]], d[[2, 0]], d[[0, 3]]), (3.0, 3.0, 3.0, 2.0));
    }

    #[test]
    fn too_many_objects_are_named() {
        let problem = Problem::new(Data::dense(Array2::zeros((3, 1))).unwrap());
        let plugin = ShortestPath { max_objects: 2, ..ShortestPath::default() };
        let made = plugin.propagate(&Constraints::default(), None, &problem, &Context::new(1));
        let legal = "at least the number of objects, 3";
        assert_eq!(made.unwrap_err(), Error::bad_param("max_objects", 2, legal));
    }

    /// The procedure as it is written, over objects.
    fn plainly(x: &Array2<f64>, links: &[(usize, usize)]) -> Array2<f64> {
        let n = x.nrows();
        let mut d = Array2::from_shape_fn((n, n), |(i, j)| {
            x.row(i).iter().zip(x.row(j)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
        });
        let given = Constraints::new(n, links.iter().map(|&(i, j)| Constraint::must(i, j)));
        let closure = Closure::new(&given.unwrap(), n, OnConflict::Error).unwrap();
        for i in 0..n {
            for j in 0..n {
                if closure.component(i) == closure.component(j) {
                    d[[i, j]] = 0.0;
                }
            }
        }
        for m in (0..n).filter(|&m| closure.members(closure.component(m)).len() >= 2) {
            for i in 0..n {
                for j in 0..n {
                    d[[i, j]] = d[[i, j]].min(d[[i, m]] + d[[m, j]]);
                }
            }
        }
        d
    }

    proptest! {
        #[test]
        fn properties_of_the_distances(
            values in proptest::collection::vec(-4.0f64..4.0, 2 * 12),
            links in proptest::collection::vec((0usize..12, 0usize..12), 0..8),
        ) {
            let x = Array2::from_shape_vec((12, 2), values).unwrap();
            let links: Vec<_> = links.into_iter().filter(|(i, j)| i != j).collect();
            let given: Vec<_> = links.iter().map(|&(i, j)| Constraint::must(i, j)).collect();
            let d = distances(x.clone(), &given);
            let before = distances(x.clone(), &[]);
            // The contracted form equals the form over objects.
            for (a, b) in d.iter().zip(&plainly(&x, &links)) {
                prop_assert!((a - b).abs() <= 1e-12);
            }
            prop_assert_eq!(&d, &d.t());
            prop_assert!(d.iter().zip(&before).all(|(a, b)| a <= b));
            prop_assert!(links.iter().all(|&(i, j)| d[[i, j]] == 0.0));
            for i in 0..12 {
                for j in 0..12 {
                    for m in 0..12 {
                        prop_assert!(d[[i, j]] <= d[[i, m]] + d[[m, j]] + 1e-12);
                    }
                }
            }
            // Doing it again to the result changes nothing.
            let problem = Problem::new(Data::distances(d.clone()).unwrap());
            let same = Constraints::new(12, given).unwrap();
            let again = ShortestPath::default().propagate(&same, None, &problem, &Context::new(1));
            let Ok(Propagated::Distances(again)) = again else { panic!("no distances") };
            for (a, b) in d.iter().zip(&again) {
                prop_assert!((a - b).abs() <= 1e-12);
            }
        }

        #[test]
        fn without_links_nothing_changes(values in proptest::collection::vec(-4.0f64..4.0, 20)) {
            let x = Array2::from_shape_vec((10, 2), values).unwrap();
            let d = distances(x.clone(), &[]);
            prop_assert_eq!(d, plainly(&x, &[]));
        }
    }
}
