//! The oracle that knows the classes.

use mustlink_core::prelude::*;

use crate::parts::wrapping::{FromClasses, classes};

/// Answers from the classes: must-link exactly where two objects are of one class.
///
/// # Input and output
/// The classes of the scene. An object of unknown class makes every pair with it "don't know".
/// # Errors
/// `Usage` without classes, `BadParam` when there is not one per object.
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
