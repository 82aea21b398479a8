//! Conversion of sparse data for methods that accept only dense rows; it never happens silently.

use mustlink_core::prelude::*;

/// Turns sparse rows into dense ones, with zeros written out.
///
/// # Method
/// Values are copied. Dense data do not change.
/// # Input and output
/// n × d, sparse or dense; n × d dense.
/// # Cost and randomness
/// 8·n·d bytes; not random.
#[options]
pub struct Densify {}

#[plugin("densify")]
impl Transform for Densify {
    fn fit(&self, _: &Problem, _: &Context) -> Result<Box<dyn Fitted>> {
        Ok(Box::new(Copied))
    }

    fn memory(&self, shape: &Shape) -> u64 {
        8 * shape.n as u64 * shape.d as u64
    }

    fn shape_of_result(&self, shape: &Shape) -> Shape {
        Shape { entries: shape.n * shape.d, ..*shape }
    }

    fn restore(&self, saved: &Value) -> Result<Box<dyn Fitted>> {
        restored::<Copied>("densify", saved)
    }
}

#[derive(Serialize, Deserialize)]
struct Copied;

impl Fitted for Copied {
    fn apply(&self, data: &Data) -> Result<Data> {
        match data.kind() {
            DataKind::Csr => Data::dense(data.to_dense()),
            _ => Ok(data.clone()),
        }
    }

    fn saved(&self) -> Option<Value> {
        kept(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_laws::fixtures::to_csr;
    use ndarray::array;

    #[test]
    fn zeros_are_written_out() {
        let x = array![[0.0, 2.0, 0.0], [1.0, 0.0, 0.0]];
        let sparse = Problem::new(Data::csr(to_csr(&x)).unwrap());
        let fitted = Densify {}.fit(&sparse, &Context::new(1)).unwrap();
        let dense = fitted.apply(&sparse.data).unwrap();
        assert_eq!(dense.as_array(), Some(x.view()));
        assert_eq!(fitted.apply(&dense).unwrap().digest(), dense.digest());
    }
}
