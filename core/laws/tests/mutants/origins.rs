//! Plugins to which the origin of the data matters see far data where they are.

use mustlink_core::prelude::*;
use mustlink_core::run;
use mustlink_laws::laws_for;
use ndarray::array;

/// A clusterer whose objective is the first value that it sees.
macro_rules! sees {
    ($type:ident, $tag:literal) => {
        #[plugin($tag)]
        impl BaseClusterer for $type {
            fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
                ctx.check()?;
                let first = problem.data.to_dense()[[0, 0]];
                let labels = vec![0; problem.n()];
                Ok(Clustering { objective: Some(first), k: 1, labels, ..Clustering::default() })
            }
        }
    };
}

/// Compares distances.
#[options]
pub struct SeesMoved {}
sees!(SeesMoved, "sees_moved");

/// Compares angles.
#[options(origin = true)]
pub struct SeesAngles {}
sees!(SeesAngles, "sees_angles");

/// Compares angles, which an option makes sharper.
#[options]
pub struct SeesSharpAngles {
    /// Sharpness.
    #[option(default = 32.0, above = 0.0, max = 1e6, origin = true)]
    pub sharpness: f64,
}
sees!(SeesSharpAngles, "sees_sharp_angles");

/// Compares angles if the option asks for it.
#[options]
pub struct SeesEither {
    /// Angles instead of distances.
    #[option(origin = true)]
    pub angles: bool,
    /// Angles up to this one.
    #[option(origin = true, min = 0.0, max = 3.0)]
    pub width: Option<f64>,
}
sees!(SeesEither, "sees_either");

/// Returns the result of another clusterer.
#[options]
pub struct SeesByAnother {
    /// The other one.
    #[option(slot = "sees_angles")]
    pub clusterer: Option<Box<dyn BaseClusterer>>,
}

#[plugin("sees_by_another")]
impl BaseClusterer for SeesByAnother {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        self.clusterer()?.cluster(problem, &ctx.child("clusterer"))
    }
}

/// Returns the result of the clusterer in the slot, which contains one itself.
#[options]
pub struct SeesByTwo {
    /// The one in the middle.
    #[option(slot = "sees_by_another")]
    pub clusterer: Option<Box<dyn BaseClusterer>>,
}

#[plugin("sees_by_two")]
impl BaseClusterer for SeesByTwo {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        self.clusterer()?.cluster(problem, &ctx.child("clusterer"))
    }
}

#[test]
fn far_data_are_moved_unless_the_origin_matters() {
    let at = |angles: bool, width: Option<f64>| SeesEither { angles, width };
    let moved = || Some(Box::new(SeesMoved {}) as Box<dyn BaseClusterer>);
    let plugins: [(Box<dyn BaseClusterer>, bool); 9] = [
        (Box::new(SeesMoved {}), true),
        (Box::new(SeesAngles {}), false),
        (Box::new(SeesSharpAngles::default()), false),
        (Box::new(at(false, None)), true),
        (Box::new(at(true, None)), false),
        (Box::new(at(false, Some(1.0))), false),
        (Box::new(SeesByAnother::default()), false),
        (Box::new(SeesByAnother { clusterer: moved() }), true),
        (Box::new(SeesByTwo::default()), false),
    ];
    let far = array![[1e12, 1e12 + 4.0], [1e12 + 1.0, 1e12 + 2.0]];
    let problem = Problem::new(Data::dense(far).unwrap()).with_k(1);
    for (plugin, is_moved) in plugins {
        let run = run::cluster(&*plugin, &problem, &Context::new(1)).unwrap();
        let expected = if is_moved { -0.5 } else { 1e12 };
        assert_eq!(run.clustering.objective, Some(expected), "{plugin:?}");
        let laws = laws_for(&*plugin);
        let held = laws.iter().any(|law| law.name == "any_origin");
        assert_eq!(held, is_moved, "{plugin:?}");
    }
}
