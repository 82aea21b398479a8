//! Is there time for another run?

use std::time::Instant;

/// Says when no further run begins; those that have begun end.
pub struct Clock {
    over: Option<Box<dyn Fn() -> bool + Sync>>,
}

impl Clock {
    /// Runs out so many seconds from now on; absent: never.
    pub fn new(seconds: Option<f64>) -> Self {
        let start = Instant::now();
        Clock { over: seconds.map(|s| Box::new(move || start.elapsed().as_secs_f64() >= s) as _) }
    }

    /// Runs out once `over` says so.
    #[cfg(test)]
    pub fn by(over: impl Fn() -> bool + Sync + 'static) -> Self {
        Clock { over: Some(Box::new(over)) }
    }

    /// Whether it can run out.
    pub fn can_run_out(&self) -> bool {
        self.over.is_some()
    }

    /// Whether it has run out.
    pub fn is_over(&self) -> bool {
        self.over.as_ref().is_some_and(|over| over())
    }
}
