//! The context of a run, which every plugin gets.
//!
//! The seed path, a place to report progress and warnings, the cancel flag and the memory limit.
//! There is no global state: two runs in one process share nothing.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::data::Data;
pub use crate::ensemble::EnsembleStore;
use crate::ensemble::Warnings;
use crate::error::{Error, Result};
use crate::random::{SeedPath, Stream};

/// Receives progress. Calls may come from any thread.
pub trait Progress: Send + Sync {
    /// `done` of `total` steps of the work named `place` are over.
    fn report(&self, place: &str, done: u64, total: Option<u64>);
}

struct Silent;
impl Progress for Silent {
    fn report(&self, _: &str, _: u64, _: Option<u64>) {}
}

struct Shared {
    cancel: Arc<AtomicBool>,
    /// Number of checks of the flag until it is raised.
    looks: Option<AtomicU64>,
    keeps_best: bool,
    progress: Arc<dyn Progress>,
    warnings: Mutex<Warnings>,
    memory_limit: Option<u64>,
    ensembles: EnsembleStore,
    ensemble_root: SeedPath,
}

/// The run around a plugin. Cheap to clone.
///
/// ```
/// use mustlink_core::Context;
///
/// let ctx = Context::new(7);
/// // A stream is named by the place and the purpose: the same names, the same numbers.
/// let draw = |ctx: &Context| ctx.child("clusterer").index(2).stream("order").below(1000);
/// assert_eq!(draw(&ctx), draw(&Context::new(7)));
///
/// ctx.child("clusterer").warn("two objects are equal");
/// ctx.child("candidate").for_trial().child("clusterer").warn("a candidate that was not chosen");
/// assert_eq!(ctx.warnings(), ["clusterer: two objects are equal"]);
/// ```
#[derive(Clone)]
pub struct Context {
    shared: Arc<Shared>,
    path: SeedPath,
    place: String,
    base: Arc<Path>,
    labels_only: bool,
    /// Bytes that are held in addition to the data that are worked on.
    held: u64,
    heard_by: Listener,
    /// The end of the time limit, and its length in seconds.
    deadline: Option<(Instant, f64)>,
    /// True if the cancel flag no longer matters.
    finishing: bool,
}

/// Receiver of the warnings of a context.
#[derive(Clone)]
enum Listener {
    /// The run.
    Run,
    /// Discards warnings.
    Nobody,
    /// Warnings of a shared product, repeated wherever it is used.
    Product(Arc<Mutex<Warnings>>),
}

impl Context {
    /// A context with a seed, without progress and limits.
    pub fn new(seed: u64) -> Self {
        Context::builder(SeedPath::new(seed)).build()
    }

    /// A builder of a context rooted at `path`.
    pub fn builder(path: SeedPath) -> ContextBuilder {
        ContextBuilder {
            ensemble_root: path.clone(),
            path,
            cancel: Arc::default(),
            looks: None,
            time_limit: None,
            keeps_best: false,
            progress: Arc::new(Silent),
            memory_limit: None,
            base: PathBuf::new(),
            ensembles: EnsembleStore::default(),
        }
    }

    /// The context of the plugin in slot `slot`.
    pub fn child(&self, slot: &str) -> Self {
        let place =
            if self.place.is_empty() { slot.into() } else { format!("{}.{slot}", self.place) };
        Context { path: self.path.child(slot), place, ..self.clone() }
    }

    /// The context of member, restart or iteration `t`.
    pub fn index(&self, t: usize) -> Self {
        Context { path: self.path.index(t), place: format!("{}[{t}]", self.place), ..self.clone() }
    }

    /// The random stream for one purpose at this place.
    pub fn stream(&self, purpose: &str) -> Stream {
        self.path.stream(purpose)
    }

    /// The seed path of this place.
    pub fn path(&self) -> &SeedPath {
        &self.path
    }

    /// Reports that `done` of `total` steps are finished.
    pub fn progress(&self, done: u64, total: Option<u64>) {
        self.shared.progress.report(&self.place, done, total);
    }

    /// Adds a warning about something that is legal but that the user should know. Warnings are shown sorted, once
    /// per place and text.
    pub fn warn(&self, text: impl Into<String>) {
        let heard = match &self.heard_by {
            Listener::Run => &self.shared.warnings,
            Listener::Nobody => return,
            Listener::Product(warnings) => warnings,
        };
        let mut warnings = heard.lock().expect("no panic while holding it");
        warnings.push((self.place.clone(), text.into()));
    }

    /// The warnings so far, sorted by place and text, each once.
    pub fn warnings(&self) -> Vec<String> {
        let mut all = self.shared.warnings.lock().expect("no panic while holding it").clone();
        all.sort();
        all.dedup();
        all.into_iter().map(|(p, t)| if p.is_empty() { t } else { format!("{p}: {t}") }).collect()
    }

    /// An error if the run was cancelled or is out of time. Call it once a sweep.
    pub fn check(&self) -> Result<()> {
        if let Some(left) = &self.shared.looks
            && left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |l| l.checked_sub(1))
                .is_err()
        {
            self.shared.cancel.store(true, Ordering::Relaxed);
        }
        if self.is_cancelled() && !self.finishing {
            return Err(Error::Cancelled);
        }
        match self.deadline {
            Some((end, seconds)) if Instant::now() >= end => Err(Error::TimedOut { seconds }),
            _ => Ok(()),
        }
    }

    /// True if the run should end.
    pub fn is_cancelled(&self) -> bool {
        self.shared.cancel.load(Ordering::Relaxed)
    }

    /// True if a cancelled run should end with the best result so far, if there is one. Otherwise it ends with
    /// [`Error::Cancelled`].
    pub fn keeps_best(&self) -> bool {
        self.shared.keeps_best
    }

    /// This context for the last steps of a cancelled run that ends with the best result so far.
    pub fn finishing(&self) -> Self {
        Context { finishing: true, ..self.clone() }
    }

    /// This context for work that must end within `seconds` from now on.
    pub fn within(&self, seconds: f64) -> Self {
        let new = deadline(seconds);
        let sooner = match (self.deadline, new) {
            (Some(old), Some(new)) if old.0 <= new.0 => Some(old),
            (old, new) => new.or(old),
        };
        Context { deadline: sooner, ..self.clone() }
    }

    /// Number of checks of the flag, if [`ContextBuilder::count_looks`] asked for it.
    pub fn looks(&self) -> u64 {
        let left = self.shared.looks.as_ref().map(|left| left.load(Ordering::Relaxed));
        u64::MAX - left.unwrap_or(u64::MAX)
    }

    /// The bytes that work on data may use, including the data: the limit minus other memory in use. `None` means no
    /// limit.
    pub fn memory_limit(&self) -> Option<u64> {
        self.shared.memory_limit.map(|limit| limit.saturating_sub(self.held))
    }

    /// The memory limit of the run, and the bytes that are held in addition to the data in use.
    pub(crate) fn memory_of_run(&self) -> (Option<u64>, u64) {
        (self.shared.memory_limit, self.held)
    }

    /// This context for work during which `bytes` more bytes are held.
    pub fn holding(&self, bytes: u64) -> Self {
        Context { held: self.held.saturating_add(bytes), ..self.clone() }
    }

    /// This context for work on data made from `kept`, which stays in memory as well.
    pub fn beside(&self, kept: &Data, data: &Data) -> Self {
        self.holding(if kept.shares(data) { 0 } else { kept.bytes() })
    }

    /// Folder at which relative paths in options start; empty: the working directory.
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// This context for options whose relative paths start at `base`.
    pub fn based(&self, base: &Path) -> Self {
        Context { base: base.into(), ..self.clone() }
    }

    /// True if the ensemble being made was requested for its labels alone: members then need not
    /// keep their centres, which for text are much larger.
    pub fn labels_only(&self) -> bool {
        self.labels_only
    }

    /// This context for a generator inside another, which needs full members even if labels alone
    /// were requested.
    pub fn with_extras(&self) -> Self {
        Context { labels_only: false, ..self.clone() }
    }

    /// This context for an ensemble requested for its labels alone.
    pub(crate) fn for_labels(&self) -> Self {
        Context { labels_only: true, ..self.clone() }
    }

    /// This context for one of several trials. The user did not choose it, so its warnings are not part of
    /// the run.
    pub fn for_trial(&self) -> Self {
        Context { heard_by: Listener::Nobody, ..self.clone() }
    }

    /// Does `work` at this place and returns the warnings together with its result, with places relative to this one;
    /// the
    /// run does not receive them.
    pub(crate) fn listening<T>(&self, work: impl FnOnce(&Context) -> T) -> (T, Warnings) {
        let heard = Arc::default();
        let product = Listener::Product(Arc::clone(&heard));
        let made = work(&Context { place: String::new(), heard_by: product, ..self.clone() });
        let mut warnings = heard.lock().expect("no panic while holding it").clone();
        warnings.sort();
        warnings.dedup();
        (made, warnings)
    }

    /// Repeats warnings from another place.
    pub(crate) fn repeat(&self, warnings: &Warnings) {
        for (place, text) in warnings {
            if place.is_empty() {
                self.warn(text);
            } else {
                self.child(place).warn(text);
            }
        }
    }

    /// The ensembles of the run.
    pub(crate) fn ensembles(&self) -> &EnsembleStore {
        &self.shared.ensembles
    }

    /// This context at the root of the run's ensembles, from which all of them are seeded.
    pub(crate) fn ensemble_root(&self) -> Self {
        Context { path: self.shared.ensemble_root.clone(), ..self.clone() }
    }
}

/// The end of so many seconds from now on; `None` if no clock can show it.
fn deadline(seconds: f64) -> Option<(Instant, f64)> {
    let left = Duration::try_from_secs_f64(seconds.max(0.0)).ok()?;
    Some((Instant::now().checked_add(left)?, seconds))
}

/// Builds a [`Context`].
pub struct ContextBuilder {
    path: SeedPath,
    ensemble_root: SeedPath,
    cancel: Arc<AtomicBool>,
    looks: Option<u64>,
    time_limit: Option<f64>,
    keeps_best: bool,
    progress: Arc<dyn Progress>,
    memory_limit: Option<u64>,
    base: PathBuf,
    ensembles: EnsembleStore,
}

impl ContextBuilder {
    /// Watch this flag.
    pub fn cancel(mut self, flag: Arc<AtomicBool>) -> Self {
        self.cancel = flag;
        self
    }
    /// End a cancelled run with the best result so far, if the method has one.
    pub fn keep_best(mut self) -> Self {
        self.keeps_best = true;
        self
    }
    /// Raise the flag after this number of checks, as if the user had done so; for tests.
    pub fn cancel_after(mut self, looks: u64) -> Self {
        self.looks = Some(looks);
        self
    }
    /// Count the checks of the flag.
    pub fn count_looks(self) -> Self {
        self.cancel_after(u64::MAX)
    }
    /// Stop after this many seconds from `build`.
    pub fn time_limit(mut self, seconds: Option<f64>) -> Self {
        self.time_limit = seconds;
        self
    }
    /// Report progress here.
    pub fn progress(mut self, sink: Arc<dyn Progress>) -> Self {
        self.progress = sink;
        self
    }
    /// Refuse methods that declare, with their data, more than this many bytes.
    pub fn memory_limit(mut self, bytes: Option<u64>) -> Self {
        self.memory_limit = bytes;
        self
    }
    /// Relative paths in options start here; otherwise where the program was started.
    pub fn base(mut self, base: impl Into<PathBuf>) -> Self {
        self.base = base.into();
        self
    }
    /// Share ensembles with the other contexts of a run, all seeded from `root`.
    pub fn ensembles(mut self, store: EnsembleStore, root: SeedPath) -> Self {
        self.ensembles = store;
        self.ensemble_root = root;
        self
    }
    /// The context.
    pub fn build(self) -> Context {
        let deadline = self.time_limit.and_then(deadline);
        Context {
            shared: Arc::new(Shared {
                cancel: self.cancel,
                looks: self.looks.map(AtomicU64::new),
                keeps_best: self.keeps_best,
                progress: self.progress,
                warnings: Mutex::default(),
                memory_limit: self.memory_limit,
                ensembles: self.ensembles,
                ensemble_root: self.ensemble_root,
            }),
            path: self.path,
            place: String::new(),
            base: self.base.into(),
            labels_only: false,
            held: 0,
            heard_by: Listener::Run,
            deadline,
            finishing: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_seconds_is_a_time_limit() {
        let check = |seconds: f64| {
            Context::builder(SeedPath::new(1)).time_limit(Some(seconds)).build().check()
        };
        for over in [0.0, -1.0, f64::NEG_INFINITY, f64::NAN] {
            let e = check(over).unwrap_err();
            assert!(matches!(e, Error::TimedOut { .. }), "{over}: {e}");
        }
        for never in [1e9, 1e18, 1e300, f64::INFINITY] {
            assert!(check(never).is_ok(), "{never}");
        }
    }
}
