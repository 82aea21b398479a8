//! Helpers for options in the units of the data, and for code of other crates that cannot be interrupted.

use std::sync::mpsc;
use std::time::Duration;

use mustlink_core::prelude::*;

/// Time between looks at the flag that ends a run.
const LOOK: Duration = Duration::from_millis(50);

/// Does `work`, which cannot be interrupted, on a thread that is left behind when the run is to end:
/// it goes on to its end and its result is dropped. Uses as many threads as this one may.
///
/// # Errors
/// `Cancelled`, `TimedOut`; `Contract` when `work` panics.
pub(crate) fn interruptible<T: Send + 'static>(
    tag: &'static str,
    ctx: &Context,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    ctx.check()?;
    let failed = |e: String| Error::Plugin { tag: tag.into(), message: e };
    let threads = rayon::current_num_threads();
    let (done, result) = mpsc::channel();
    let thread = std::thread::Builder::new().name(tag.into()).spawn(move || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let made = match pool {
            Ok(pool) => mustlink_core::run::guarded(tag, || pool.install(work)),
            Err(e) => Err(Error::Plugin { tag: tag.into(), message: e.to_string() }),
        };
        // Nobody listens any more where the run has ended.
        let _ = done.send(made);
    });
    thread.map_err(|e| failed(e.to_string()))?;
    loop {
        match result.recv_timeout(LOOK) {
            Ok(made) => return made,
            Err(mpsc::RecvTimeoutError::Timeout) => ctx.check()?,
            Err(e) => return Err(failed(e.to_string())),
        }
    }
}

/// Data whose squares neither overflow nor vanish: a copy divided by the factor that comes with it, unless values are
/// of ordinary magnitude.
///
/// # Errors
/// Returns no error for data that was checked when it was made.
pub(crate) fn bounded(data: &Data) -> Result<(Data, f64)> {
    let matrix = data.matrix();
    let largest = matrix.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    if largest == 0.0 || (1e-60..=1e60).contains(&largest) {
        return Ok((data.clone(), 1.0));
    }
    Ok((Data::dense(matrix.mapv(|v| v / largest))?, largest))
}

/// The value at the given share of sorted values, the smallest at 0.
pub(crate) fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    order::sort_values(&mut values);
    let at = (share * values.len() as f64).ceil() as usize;
    values.get(at.saturating_sub(1)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn only_data_of_strange_magnitude_is_copied() {
        let plain = Data::dense(array![[1.0, -3.0]]).unwrap();
        let (x, factor) = bounded(&plain).unwrap();
        assert_eq!((x.matrix()[[0, 1]], factor), (-3.0, 1.0));
        let large = Data::dense(array![[1e200, -2e200]]).unwrap();
        let (x, factor) = bounded(&large).unwrap();
        assert_eq!((x.matrix()[[0, 0]], factor), (0.5, 2e200));
    }

    #[test]
    fn quantiles_are_values() {
        assert_eq!(quantile(vec![3.0, 1.0, 2.0], 0.0), 1.0);
        assert_eq!(quantile(vec![3.0, 1.0, 2.0], 0.9), 3.0);
        assert_eq!(quantile((1..=10).map(f64::from).collect(), 0.9), 9.0);
    }
}
