//! The oracle that knows the classes.

use mustlink_core::prelude::*;

use crate::parts::wrapping::{FromClasses, classes};

/// Answers from the classes: must-link exactly if two objects have the same class.
///
/// # Input and output
/// The classes of the scene. Every pair with an object of unknown class is answered with "don't know".
/// # Errors
/// `Usage` without classes, `BadParam` if the number of classes is not the number of objects.
/// # References
/// [Basu2004] §4; [Greene2007] §4.2: a natural classification as the oracle.
#[options]
pub struct Truth {}

#[plugin("truth", cites = ["Basu2004", "Greene2007"])]
impl Oracle for Truth {
    fn open(&self, scene: &Scene) -> Result<Box<dyn Respondent>> {
        Ok(Box::new(FromClasses(classes(scene, "truth")?)))
    }
}
