//! The law that a clusterer finds the same groups for any unit and origin of the data.

use ndarray::Array2;

use super::fixtures;
use super::law::Verdict;
use crate::ensure;
use mustlink_core::clustering::{Clustering, Geometry, canonical};
use mustlink_core::constraints::Constraints;
use mustlink_core::data::{Data, DataKind};
use mustlink_core::problem::Problem;
use mustlink_core::registry::Catalogue;
use mustlink_core::roles::{BaseClusterer, RoleObject};
use mustlink_core::run;

type Plugin = dyn BaseClusterer;

/// Powers of two that the data are multiplied by: about 1e−96 to 1e96, where values reach 8.
const UNITS: [i32; 8] = [-320, -100, -40, -10, 10, 100, 210, 320];

/// Exponents of what is added to data whose values differ by up to 8.
const ORIGINS: [i32; 4] = [6, 23, 30, 40];

/// Three groups with values that are multiples of 1/64: other units and origins change no digit.
fn groups(seed: u64) -> (Array2<f64>, Vec<u32>) {
    let (x, classes) = fixtures::groups(15, 4, 0.8, seed);
    (x.mapv(|v| (64.0 * v).round() / 64.0), classes)
}

/// The problem on `x`, as a kind of data the plugin takes.
fn problem(p: &Plugin, x: Array2<f64>, classes: &[u32]) -> Result<Problem, String> {
    let rows = Data::dense(x.clone()).map_err(|e| e.to_string())?;
    let data = match p.properties().accepts.first() {
        None | Some(DataKind::Dense) => Ok(rows),
        Some(DataKind::Csr) => Data::csr(fixtures::to_csr(&x)),
        Some(_) => Data::distances(distances(&x)),
    };
    let problem = fixtures::cut(Problem::new(data.map_err(|e| e.to_string())?).with_k(3));
    let classes = &classes[..problem.n()];
    let constraints = fixtures::true_constraints(classes, 20, 1);
    Ok(if p.properties().reads_constraints {
        problem.with_constraints(constraints)
    } else {
        problem
    })
}

/// City block distances, which no unit overflows.
fn distances(x: &Array2<f64>) -> Array2<f64> {
    let n = x.nrows();
    let of = |i: usize, j: usize| x.row(i).iter().zip(x.row(j)).map(|(a, b)| (a - b).abs()).sum();
    Array2::from_shape_fn((n, n), |(i, j)| of(i, j))
}

fn found(p: &Plugin, x: Array2<f64>, classes: &[u32]) -> Result<Clustering, String> {
    let problem = problem(p, x, classes)?;
    fixtures::tried(&problem);
    let run = run::cluster(p, &problem, &fixtures::context(3));
    run.map(|r| r.clustering).map_err(|e| e.to_string())
}

/// In another unit, a power of two, the partition is the same over the whole range of values that methods take, and
/// centres are where they were.
pub(super) fn any_unit(p: &Plugin) -> Verdict {
    let (x, classes) = groups(1);
    let plain = found(p, x.clone(), &classes)?;
    for unit in UNITS {
        let scaled = x.mapv(|v| v * 2f64.powi(unit));
        let c = found(p, scaled, &classes).map_err(|e| format!("in a unit of 2^{unit}: {e}"))?;
        same(&c, &plain).map_err(|e| format!("in a unit of 2^{unit} {e}"))?;
        centres(&c, &plain, |v| v * 2f64.powi(-unit))
            .map_err(|e| format!("in a unit of 2^{unit} {e}"))?;
    }
    Ok(())
}

/// Far from the origin the partition is the same, and centres have moved with the data.
pub(super) fn any_origin(p: &Plugin) -> Verdict {
    let (x, classes) = groups(2);
    let plain = found(p, x.clone(), &classes)?;
    for origin in ORIGINS.map(|e| 2f64.powi(e)).into_iter().flat_map(|o| [o, -o]) {
        let moved = x.mapv(|v| v + origin);
        let c = found(p, moved, &classes).map_err(|e| format!("around {origin}: {e}"))?;
        same(&c, &plain).map_err(|e| format!("around {origin} {e}"))?;
        centres(&c, &plain, |v| v - origin).map_err(|e| format!("around {origin} {e}"))?;
    }
    Ok(())
}

fn same(c: &Clustering, plain: &Clustering) -> Verdict {
    let (now, before) = (canonical(&c.labels), canonical(&plain.labels));
    let differ = now.iter().zip(&before).filter(|(a, b)| a != b).count();
    ensure!(differ == 0, "{differ} of {} objects are in another cluster", now.len());
    Ok(())
}

fn centres(c: &Clustering, plain: &Clustering, back: impl Fn(f64) -> f64) -> Verdict {
    let (now, before) = (&c.extras.centers, &plain.extras.centers);
    let (Some(now), Some(before)) = (now, before) else { return Ok(()) };
    if plain.extras.geometry == Geometry::Cosine {
        return Ok(());
    }
    // Clusters may have other numbers.
    let near = |row: ndarray::ArrayView1<'_, f64>| {
        let moved = row.mapv(&back);
        let off = |b: ndarray::ArrayView1<'_, f64>| {
            moved.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        before.rows().into_iter().map(off).fold(f64::INFINITY, f64::min)
    };
    let worst = now.rows().into_iter().map(near).fold(0.0, f64::max);
    ensure!(worst < 1e-2, "a centre is off by {worst}");
    Ok(())
}

/// Three groups, the same with one object that is 10^18 times farther off than the others, as fill values are, and the
/// classes of the groups.
fn near_and_far() -> Result<(Problem, Problem, Vec<u32>), String> {
    // The order of the rows does not repeat the groups, so that row numbers alone do not find them.
    let (near, classes) = fixtures::groups(8, 3, 0.2, 5);
    let mut order: Vec<usize> = (0..near.nrows()).collect();
    order.sort_by_key(|&i| (i * i * 5 % 29, i));
    let near = near.select(ndarray::Axis(0), &order);
    let classes = order.iter().map(|&i| classes[i]).collect();
    let far = Array2::from_elem((1, 3), 1e18);
    let all = ndarray::concatenate![ndarray::Axis(0), near, far];
    let problem = |x| Data::dense(x).map(Problem::new).map_err(|e| e.to_string());
    Ok((problem(near)?, problem(all)?, classes))
}

/// Checks that `p` finds the groups with the far object as well, and puts it into none of them. A method that does not
/// find them without it is not judged.
fn finds_groups_beside_far(
    p: &Plugin,
    near: &Problem,
    all: &Problem,
    classes: Vec<u32>,
) -> Verdict {
    let labels = |problem: &Problem| {
        let run = run::cluster(p, problem, &fixtures::context(3)).map_err(|e| e.to_string())?;
        Ok::<_, String>(canonical(&run.clustering.labels))
    };
    if labels(near)? != canonical(&classes) {
        return Ok(());
    }
    fixtures::tried(all);
    let labels = labels(all)?;
    let n = classes.len();
    let expected: Vec<u32> = classes.into_iter().chain([3]).collect();
    ensure!(
        labels == canonical(&expected),
        "beside an object at 10^18, {n} objects in three groups are in clusters {labels:?}"
    );
    Ok(())
}

/// A far object has a cluster of its own, and the others are in the same clusters as without it.
pub(super) fn far_objects_stand_alone(p: &Plugin) -> Verdict {
    let (near, all, classes) = near_and_far()?;
    finds_groups_beside_far(p, &near.with_k(3), &all.with_k(4), classes)
}

/// Without k a far object changes no cluster of the others either, if lengths are fixed: a default may depend on it.
pub(super) fn far_objects_change_no_cluster(p: &Plugin) -> Verdict {
    let (near, all, classes) = near_and_far()?;
    // Objects of one group are nearer to each other, those of two groups are not.
    let plugin = with_length(p, &lengths(p)?, 2.0)?;
    let given = match p.properties().reads_constraints {
        true => fixtures::true_constraints(&classes, 20, 1),
        false => Constraints::default(),
    };
    let (near, all) = (near.with_constraints(given.clone()), all.with_constraints(given));
    finds_groups_beside_far(&*plugin, &near, &all, classes)
}

/// The options in the unit of the data.
fn lengths(p: &Plugin) -> Result<Vec<&'static str>, String> {
    let catalogue = Catalogue::get().map_err(|e| e.to_string())?;
    let descriptor = catalogue.find(p.tag()).ok_or("not in the catalogue")?;
    let lengths = descriptor.options().into_iter().filter(|option| option.units == Some(1));
    Ok(lengths.map(|option| option.name).collect())
}

/// The plugin with these options set to `length`.
fn with_length(p: &Plugin, options: &[&str], length: f64) -> Result<Box<Plugin>, String> {
    let mut config = p.to_value();
    options.iter().for_each(|name| config[name] = length.into());
    <Plugin as RoleObject>::from_value(config)
}

/// Equal rows are nearer than any length: whatever an option in the unit of the data says, they are
/// together. The law does not apply to methods that need k, because k sets their number of clusters.
pub(super) fn equal_rows_are_near(p: &Plugin) -> Verdict {
    let same = Data::dense(Array2::from_elem((20, 3), 2.5)).map_err(|e| e.to_string())?;
    let problem = fixtures::cut(Problem::new(same));
    for name in lengths(p)? {
        for length in [1e-9, 100.0] {
            let plugin = with_length(p, std::slice::from_ref(&name), length)?;
            fixtures::tried(&problem);
            let run = run::cluster(&*plugin, &problem, &fixtures::context(1));
            let k = run.map_err(|e| e.to_string())?.clustering.k;
            ensure!(k == 1, "with {name} = {length} equal rows are {k} clusters");
        }
    }
    Ok(())
}
