//! The time limit of `auto`: decides if another run fits into it.

use std::time::Instant;

use mustlink_core::prelude::*;

/// Tells when no further run begins, and ends those that have begun.
pub struct Clock {
    over: Option<Box<dyn Fn() -> bool + Sync>>,
    limit: Option<(Instant, f64)>,
}

impl Clock {
    /// Runs out so many seconds from now on; absent: never.
    pub fn new(seconds: Option<f64>) -> Self {
        let start = Instant::now();
        let over = seconds.map(|s| Box::new(move || start.elapsed().as_secs_f64() >= s) as _);
        Clock { over, limit: seconds.map(|s| (start, s)) }
    }

    /// Runs out once `over` returns true.
    #[cfg(test)]
    pub fn by(over: impl Fn() -> bool + Sync + 'static) -> Self {
        Clock { over: Some(Box::new(over)), limit: None }
    }

    /// True if it can run out.
    pub fn can_run_out(&self) -> bool {
        self.over.is_some()
    }

    /// True if it has run out.
    pub fn is_over(&self) -> bool {
        self.over.as_ref().is_some_and(|over| over())
    }

    /// `ctx` for work that ends when time is over.
    pub fn limited(&self, ctx: &Context) -> Context {
        match self.limit {
            Some((start, seconds)) => ctx.within(seconds - start.elapsed().as_secs_f64()),
            None => ctx.clone(),
        }
    }
}
