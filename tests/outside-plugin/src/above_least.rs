//! Values above the least value of their feature.

use mustlink::prelude::*;

/// Every feature starts at 0: its least value is subtracted.
///
/// # Input and output
/// n × d dense; the same shape.
/// # Errors
/// `NumericalFailure` where a difference exceeds the largest number; `Plugin` for data of another shape.
/// # Cost and randomness
/// O(n·d); nothing random.
#[options]
pub struct AboveLeast {}

#[plugin("above_least")]
impl Transform for AboveLeast {
    fn fit(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Fitted>> {
        ctx.check()?;
        let mut least = vec![f64::INFINITY; problem.d()];
        for i in 0..problem.n() {
            if let Row::Dense(x) = problem.data.row(i) {
                least.iter_mut().zip(x).for_each(|(least, &x)| *least = least.min(x));
            }
        }
        Ok(Box::new(Above { least }))
    }

    fn restore(&self, saved: &Value) -> Result<Box<dyn Fitted>> {
        restored::<Above>("above_least", saved)
    }

    fn properties(&self) -> TransformProperties {
        TransformProperties { accepts: vec![DataKind::Dense], ..TransformProperties::default() }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        (8 * (shape.n + 1) * shape.d) as u64
    }
}

#[derive(Serialize, Deserialize)]
#[serde(crate = "mustlink::serde")]
struct Above {
    least: Vec<f64>,
}

impl Fitted for Above {
    fn apply(&self, data: &Data) -> Result<Data> {
        if data.kind() != DataKind::Dense || data.d() != self.least.len() {
            let message =
                format!("fitted to {} dense features, applied to {}", self.least.len(), data.d());
            return Err(Error::Plugin { tag: "above_least".into(), message });
        }
        let mut x = data.to_dense();
        for mut row in x.rows_mut() {
            row.iter_mut().zip(&self.least).for_each(|(x, least)| *x -= least);
        }
        if x.iter().all(|v| v.is_finite()) {
            Data::dense(x)
        } else {
            Err(Error::NumericalFailure { place: "above_least: a difference".into() })
        }
    }

    fn saved(&self) -> Option<Value> {
        kept(self)
    }
}
