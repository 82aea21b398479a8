//! The clusters of a hierarchy, at any heights, that agree best with the constraints.

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::{Distortion, Points};
use mustlink_kernels::graph::reachability::{Join, mutual_reachability, optics};
use ndarray::Array2;

use crate::parts::extraction::Extraction;
use crate::parts::linkage::{Linkage, linkage};

/// FOSC: takes from a hierarchy the flat clustering that keeps most constraints or is most stable.
///
/// # Method
/// A cluster of the hierarchy lives until it splits into parts of at least `min_cluster_size` objects, which are
/// clusters of their own; objects in smaller parts fall out. On each path, one of the nested clusters is chosen, so
/// that the total value of the chosen clusters is as large as possible. The value is the weight of the constraints they
/// keep (ties: their stability), their stability, or shares of both. The stability of a cluster is a sum over its
/// objects: 1 / height from the start of the cluster to the place where the object falls out. Objects outside all
/// clusters are noise; such an object keeps its cannot-links and breaks its must-links.
/// # Input and output
/// n × d, dense or sparse, Euclidean distances, or a matrix of distances. The method finds the number of clusters; k is
/// not used. Every object has a label (see `noise`); diagnostics: `noise_objects`, `stability`, and with constraints
/// `satisfaction`, the share of their weight that is kept. Every pair of members of a group counts.
/// # Errors
/// `BadParam`; `HardNotSupported` for constraints marked hard.
/// # Cost and randomness
/// The hierarchy: `single` and `density` as `hdbscan`, `optics` O(n²·d) time and O(n) memory, the others O(n²·d) time
/// and 8·n² bytes. Constraints and members of groups: O(depth of the hierarchy) each. Not random.
/// # References
/// [CampelloFosc2013] §2–3, Eqs. 1 and 3; linkages: [LanceWilliams1967], [Mullner2011]; `density`: [Campello2013];
/// `optics`: [Ankerst1999]. Differs: `optics` starts at the first object and has no largest radius.
#[options]
pub struct Fosc {
    /// Method that builds the hierarchy.
    pub hierarchy: Hierarchy,
    /// Number of neighbours, including itself, that make an object a core (m_pts). Used by `density` and `optics`
    /// only. If absent, `min_cluster_size`.
    #[option(min = 1)]
    pub min_samples: Option<usize>,
    /// Selection of clusters from the hierarchy.
    #[option(flatten)]
    pub extraction: Extraction,
}

/// Method that builds a hierarchy.
#[options]
pub enum Hierarchy {
    /// Single linkage: the smallest distance between two objects.
    Single,
    /// Complete linkage: the largest distance.
    Complete,
    /// The mean over all pairs (UPGMA).
    #[default]
    Average,
    /// The mean over the two clusters last merged, whatever their sizes (WPGMA).
    Weighted,
    /// The growth of the within-cluster sum of squares.
    Ward,
    /// Density, as in `hdbscan`: single linkage on mutual reachability distances.
    Density,
    /// The order of OPTICS: neighbours in the order are joined at the reachability distance.
    Optics,
}

#[plugin("fosc", version = 2, cites = ["CampelloFosc2013", "LanceWilliams1967", "Mullner2011", "Campello2013", "Ankerst1999"])]
impl BaseClusterer for Fosc {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let data = &problem.data;
        let min_samples = self.min_samples.unwrap_or(self.extraction.min_cluster_size);
        let joins = match self.hierarchy {
            Hierarchy::Single => mutual_reachability(data, 1, ctx)?,
            Hierarchy::Density => mutual_reachability(data, min_samples, ctx)?,
            Hierarchy::Optics => optics(data, min_samples, ctx)?,
            Hierarchy::Complete => merges(data, Linkage::Complete, ctx)?,
            Hierarchy::Average => merges(data, Linkage::Average, ctx)?,
            Hierarchy::Weighted => merges(data, Linkage::Weighted, ctx)?,
            Hierarchy::Ward => merges(data, Linkage::Ward, ctx)?,
        };
        ctx.check()?;
        Ok(self.extraction.extract(joins, &problem.constraints))
    }

    fn properties(&self) -> Properties {
        let index_keyed = self.hierarchy == Hierarchy::Optics;
        Properties { index_keyed, ..self.extraction.properties() }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let min_samples = self.min_samples.unwrap_or(self.extraction.min_cluster_size);
        let of_each = match self.hierarchy {
            Hierarchy::Single | Hierarchy::Density if shape.d <= 16 => 16 * shape.d,
            Hierarchy::Single => 24,
            Hierarchy::Density | Hierarchy::Optics => 24 * min_samples.min(shape.n),
            _ => 8 * shape.n,
        };
        // The rows of objects that are not yet reached.
        let in_tree = shape.d <= 16 && self.hierarchy != Hierarchy::Optics;
        let rows = if in_tree { 0 } else { 8 * shape.entries };
        ((240 + of_each) * shape.n + rows + 48 * shape.constraints) as u64
    }

    fn operations(&self, shape: &Shape) -> Option<f64> {
        Some(2.0 * (shape.n as f64).powi(2) * shape.d as f64)
    }
}

/// The merges of a linkage that needs all distances.
fn merges(data: &Data, kind: Linkage, ctx: &Context) -> Result<Vec<Join>> {
    // Ward's rule is one of squares; what it gives is a distance again.
    let squared = kind == Linkage::Ward;
    let merges = linkage(distances(data, squared, ctx)?, kind, ctx)?;
    let joins = merges.into_iter().map(|m| {
        let height = if squared { m.height.sqrt() } else { m.height };
        Join { a: m.into as u32, b: m.from as u32, height }
    });
    Ok(joins.collect())
}

/// All distances, n × n, or their squares.
fn distances(data: &Data, squared: bool, ctx: &Context) -> Result<Array2<f64>> {
    let n = data.n();
    ctx.check()?;
    let points = match data.kind() {
        DataKind::Distances => None,
        _ => Some(Points::new(data, Distortion::SquaredEuclidean)?),
    };
    let mut out = vec![0.0; n * n];
    let filled = reduce::over(out.chunks_mut(n), |i, row| {
        ctx.check()?;
        for (j, to) in row.iter_mut().enumerate().filter(|(j, _)| *j != i) {
            *to = match &points {
                Some(points) if squared => points.between(i, j),
                Some(points) => points.between(i, j).sqrt(),
                None if squared => data.pair(i, j).powi(2),
                None => data.pair(i, j),
            };
        }
        Ok(())
    });
    filled.into_iter().collect::<Result<()>>()?;
    if out.iter().any(|v| !v.is_finite()) {
        let place = "distances: their squares are too large; scale the data".into();
        return Err(Error::NumericalFailure { place });
    }
    Ok(Array2::from_shape_vec((n, n), out).expect("n × n values"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_laws::fixtures;
    use ndarray::array;

    fn run(fosc: &Fosc, problem: &Problem) -> Clustering {
        mustlink_core::run::cluster(fosc, problem, &Context::new(1)).unwrap().clustering
    }

    const ALL: [Hierarchy; 7] = [
        Hierarchy::Single,
        Hierarchy::Complete,
        Hierarchy::Average,
        Hierarchy::Weighted,
        Hierarchy::Ward,
        Hierarchy::Density,
        Hierarchy::Optics,
    ];

    #[test]
    fn worked_example() {
        // Two pairs of pairs: free, the pairs part late and are most stable; a must-link joins two of them.
        let x = array![[0.0], [1.0], [3.0], [4.0], [20.0], [21.0], [23.0], [24.0]];
        let problem = Problem::new(Data::dense(x).unwrap());
        let must = Constraints::new(8, [Constraint::must(1, 2), Constraint::cannot(3, 4)]).unwrap();
        for hierarchy in ALL {
            let extraction = Extraction { min_cluster_size: 2, ..Extraction::default() };
            let fosc = Fosc { hierarchy, min_samples: Some(2), extraction };
            let free = run(&fosc, &problem);
            assert_eq!(free.labels, [0, 0, 1, 1, 2, 2, 3, 3], "{hierarchy:?}");
            let c = run(&fosc, &problem.clone().with_constraints(must.clone()));
            assert_eq!(c.labels, [0, 0, 0, 0, 1, 1, 2, 2], "{hierarchy:?}");
            assert_eq!(c.extras.diagnostics["satisfaction"], 1.0);
        }
    }

    #[test]
    fn distances_are_taken_as_they_are() {
        let (dense, classes) = fixtures::dense(4);
        let dense = dense.with_constraints(fixtures::true_constraints(&classes, 10, 4));
        let matrix = fixtures::pairwise(&dense, DataKind::Distances);
        for hierarchy in ALL {
            let fosc = Fosc { hierarchy, ..Fosc::default() };
            assert_eq!(run(&fosc, &dense).labels, run(&fosc, &matrix).labels, "{hierarchy:?}");
        }
    }
}
