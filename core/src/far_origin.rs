//! Dense data far from the origin are centred before a method gets them.
//!
//! A squared norm of values around 1e12 loses differences of 4. So methods get dense data that are this
//! far out relative to their middle, and centres are moved back in the result. A plugin to which the origin
//! matters, such as for angles (`#[options(origin = true)]`, `#[option(origin = true)]`), gets the original
//! data. So does a plugin that holds such a plugin, also by default.

use std::sync::Arc;

use ndarray::Array2;

use crate::clustering::{Clustering, Extras, Geometry};
use crate::data::{Data, DataKind};
use crate::ensemble::{Ensemble, Member};
use crate::error::Result;
use crate::options::{Found, Options, Range};
use crate::problem::{Problem, Start};

/// Data that lie further from the origin than 2 to this times their extent are moved: a sum of squares
/// has 53 bits, of which 13 would be left.
const FAR: i32 = 20;

/// The middle of data that lie far out: a value x of the user is seen as x − middle.
#[derive(Debug, Clone, PartialEq)]
pub struct FarOrigin(Arc<[f64]>);

/// True if `plugin`, one of its options or a plugin inside it declares that the origin of the data matters.
pub fn origin_matters(plugin: &(impl Options + ?Sized)) -> bool {
    let mut found = Found { defaults: true, ..Found::default() };
    plugin.look("", &Range::ANY, &mut found);
    found.origin_matters
}

/// The exponent of the largest power of two that is not above `x` > 0.
fn exponent(x: f64) -> i32 {
    ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023
}

impl FarOrigin {
    /// The origin around which `plugin` is to see `data`; `None`: that of the user.
    pub fn of(data: &Data, plugin: &(impl Options + ?Sized)) -> Option<FarOrigin> {
        if data.kind() != DataKind::Dense {
            return None;
        }
        let ranges = data.ranges();
        let reach = ranges.iter().fold(0.0f64, |m, r| m.max(r.0.abs()).max(r.1.abs()));
        // Halves, since the difference of two finite numbers may be none.
        let half = ranges.iter().fold(0.0f64, |m, r| m.max(r.1 / 2.0 - r.0 / 2.0));
        if half == 0.0 || exponent(reach) <= exponent(half) + 1 + FAR {
            return None;
        }
        let middle = || ranges.iter().map(|r| r.0 / 2.0 + r.1 / 2.0).collect();
        (!origin_matters(plugin)).then(|| FarOrigin(middle()))
    }

    fn moved(&self, at: &Array2<f64>, sign: f64) -> Array2<f64> {
        Array2::from_shape_fn(at.dim(), |(row, f)| at[[row, f]] + sign * self.0[f])
    }

    /// A problem of the user as methods see it.
    ///
    /// # Errors
    /// Returns the errors of [`Data`].
    pub fn problem(&self, problem: &Problem) -> Result<Problem> {
        let mut data = problem.data.to_dense();
        for mut row in data.rows_mut() {
            row.iter_mut().zip(&*self.0).for_each(|(x, middle)| *x -= middle);
        }
        let data = Data::dense(data)?.weighted_as(&problem.data);
        let start = problem.start.as_ref().map(|start| match &**start {
            Start::Centroids(at) => Arc::new(Start::Centroids(self.moved(at, -1.0))),
            Start::Labels(_) => start.clone(),
            Start::Clustering(c) => Arc::new(Start::Clustering(Arc::new(self.seen(c)))),
        });
        Ok(Problem { data, start, ..problem.clone() })
    }

    /// A clustering of the user as a method sees it.
    pub fn seen(&self, c: &Clustering) -> Clustering {
        let mut c = c.clone();
        self.move_centres(&mut c.extras, -1.0);
        c
    }

    /// Moves the result of a method to the user's origin.
    pub fn shown(&self, mut c: Clustering) -> Clustering {
        self.move_centres(&mut c.extras, 1.0);
        c
    }

    /// An ensemble around the user's origin.
    ///
    /// # Errors
    /// Returns the errors of [`Ensemble::new`], which has accepted these members before.
    pub fn shown_ensemble(&self, ensemble: Ensemble) -> Result<Ensemble> {
        let n = ensemble.n();
        let shown = |mut m: Member| {
            self.move_centres(&mut m.extras, 1.0);
            m
        };
        Ensemble::new(n, ensemble.into_members().into_iter().map(shown).collect())
    }

    fn move_centres(&self, extras: &mut Extras, sign: f64) {
        if let Some(at) = extras.centers.as_mut().filter(|_| extras.geometry != Geometry::Cosine) {
            *at = self.moved(at, sign);
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    struct Angles(bool);
    impl Options for Angles {
        fn look(&self, _: &str, _: &Range, found: &mut Found) {
            found.origin_matters = self.0;
        }
    }

    fn origin(x: Array2<f64>) -> Option<FarOrigin> {
        FarOrigin::of(&Data::dense(x).unwrap(), &Angles(false))
    }

    #[test]
    fn everyday_data_are_seen_where_they_are() {
        // Years, seconds since 1970 over a week, metres of a map.
        for (origin_at, spread) in [(2020.0, 10.0), (1.7e9, 6e5), (5.4e6, 1e3), (0.0, 1e-30)] {
            assert_eq!(origin(array![[origin_at], [origin_at + spread]]), None, "{origin_at}");
        }
        assert_eq!(origin(Array2::zeros((3, 2))), None);
        assert_eq!(origin(Array2::from_elem((3, 2), 7e12)), None);
    }

    #[test]
    fn what_lies_far_out_is_seen_around_its_middle() {
        let x = array![[1e12, 1e12 + 4.0], [1e12 + 1.0, 1e12 + 2.0]];
        let data = Data::dense(x.clone()).unwrap();
        assert_eq!(FarOrigin::of(&data, &Angles(true)), None);
        let origin = origin(x).expect("far out");
        let seen = origin.problem(&Problem::new(data)).unwrap().data;
        assert_eq!(seen.to_dense(), array![[-0.5, 1.0], [0.5, -1.0]]);
    }
}
