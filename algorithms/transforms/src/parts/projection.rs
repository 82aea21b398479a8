//! Shared code of the transforms that project to a few directions.

use std::ops::Range;

use mustlink_core::prelude::*;
use ndarray::{Array2, ArrayView1, Axis};

use crate::parts::refused::{misfit, no_such_step};

/// Some rows of dense data, less `mean` where there is one.
pub(crate) fn dense_rows(data: &Data, rows: Range<usize>, mean: Option<&[f64]>) -> Array2<f64> {
    let mut x = Array2::zeros((rows.len(), data.d()));
    for (i, mut to) in rows.zip(x.axis_iter_mut(Axis(0))) {
        if let Row::Dense(v) = data.row(i) {
            to.assign(&ArrayView1::from(v));
        }
        if let Some(mean) = mean {
            to -= &ArrayView1::from(mean);
        }
    }
    x
}

/// Inner products of some rows, dense or sparse, with the columns of `directions` (d × c).
pub(crate) fn onto(data: &Data, rows: Range<usize>, directions: &Array2<f64>) -> Array2<f64> {
    if data.kind() == DataKind::Dense {
        return dense_rows(data, rows, None).dot(directions);
    }
    let mut out = Array2::zeros((rows.len(), directions.ncols()));
    for (i, mut to) in rows.zip(out.axis_iter_mut(Axis(0))) {
        if let Row::Sparse(columns, values) = data.row(i) {
            for (&s, &v) in columns.iter().zip(values) {
                to.scaled_add(v, &directions.row(s as usize));
            }
        }
    }
    out
}

/// Objects become their coordinates along a few directions.
#[derive(Serialize, Deserialize)]
pub(crate) struct Projection {
    /// The transform that found them; a model keeps the others.
    #[serde(skip)]
    pub(crate) tag: &'static str,
    /// Mean that is subtracted first (dense data only), if any.
    pub(crate) mean: Option<Vec<f64>>,
    /// d × c, a direction per column.
    pub(crate) directions: Array2<f64>,
}

impl Projection {
    /// The projection that a model keeps.
    pub(crate) fn restored(tag: &'static str, saved: &Value) -> Result<Box<dyn Fitted>> {
        let projection = Projection::deserialize(saved).map_err(|e| no_such_step(tag, e))?;
        let (d, c) = projection.directions.dim();
        if d == 0 || c == 0 {
            return Err(no_such_step(tag, format_args!("{c} directions of {d} features")));
        }
        if let Some(mean) = projection.mean.as_ref().filter(|mean| mean.len() != d) {
            let why = format!("a mean of {} features, but directions of {d}", mean.len());
            return Err(no_such_step(tag, why));
        }
        Ok(Box::new(Projection { tag, ..projection }))
    }
}

impl Fitted for Projection {
    fn apply(&self, data: &Data) -> Result<Data> {
        let (d, c) = self.directions.dim();
        let kind = data.kind();
        let known = kind == DataKind::Dense || (kind == DataKind::Csr && self.mean.is_none());
        if !known || data.d() != d {
            let applied = format!("{} {}", data.d(), kind.name());
            return Err(misfit(self.tag, format_args!("{d} features"), applied));
        }
        let n = data.n();
        let mut out = vec![0.0; n * c];
        reduce::over(out.chunks_mut(reduce::BLOCK * c), |b, out| {
            let rows = reduce::block(b, n);
            let y = match &self.mean {
                Some(mean) => dense_rows(data, rows, Some(mean)).dot(&self.directions),
                None => onto(data, rows, &self.directions),
            };
            out.iter_mut().zip(y.iter()).for_each(|(to, v)| *to = *v);
        });
        Data::dense(Array2::from_shape_vec((n, c), out).expect("n times c values"))
    }

    fn features(&self) -> Features {
        Features::New
    }

    fn saved(&self) -> Option<Value> {
        kept(self)
    }
}
