//! The definition of a law, and the shared code of the laws of all roles.

use std::sync::{PoisonError, RwLock};

use peak_alloc::PeakAlloc;

use super::fixtures;
use mustlink_core::context::Context;
use mustlink_core::error::Error;
use mustlink_core::registry::Descriptor;
use mustlink_core::roles::RoleObject;
use mustlink_core::run::STACK;

/// Result of a law: an error describes how it is broken.
pub type Verdict = Result<(), String>;

/// One law of a role.
pub struct Law<R: ?Sized> {
    /// Its name in test names and waivers.
    pub name: &'static str,
    /// True if it applies to this plugin.
    pub applies: fn(&R) -> bool,
    /// The check.
    pub check: fn(&R) -> Verdict,
}

/// A role with laws.
pub trait Lawful: RoleObject + 'static {
    /// All of them.
    fn laws() -> Vec<Law<Self>>;

    /// Builds a plugin from its configuration as TOML, which has NaN and infinities, without the
    /// checks of the loader.
    ///
    /// # Errors
    /// The message of the deserialiser.
    fn from_toml(text: &str) -> Result<Box<Self>, String>;

    /// True if the plugin needs setup to run; then only the error that it reports is checked.
    fn needs_setup(&self) -> bool {
        false
    }
}

/// A role whose plugins run on a small setting of the laws.
pub(crate) trait Runs: Lawful {
    /// Result type.
    type Made;

    /// Runs the plugin on it.
    fn run_small(&self, ctx: &Context) -> Result<Self::Made, Error>;

    /// The same plugin doing less, where as it stands it takes long.
    ///
    /// # Errors
    /// The message of the deserialiser.
    fn smaller(&self) -> Result<Option<Box<Self>>, String> {
        Ok(None)
    }
}

/// The law of plugins that cannot run as they stand.
pub(crate) const MISSING_SETUP: &str = "missing_setup_is_named";

/// The laws that apply to `plugin`, in the best order for trying them.
pub fn laws_for<R: Lawful + ?Sized>(plugin: &R) -> Vec<Law<R>> {
    let stands = |law: &Law<R>| !plugin.needs_setup() || law.name == MISSING_SETUP;
    R::laws().into_iter().filter(|law| (law.applies)(plugin) && stands(law)).collect()
}

impl<R: ?Sized> Law<R> {
    /// A law about every plugin of the role.
    pub(crate) fn always(name: &'static str, check: fn(&R) -> Verdict) -> Self {
        Law { name, applies: |_| true, check }
    }

    /// A law about the plugins that `applies` picks.
    pub(crate) fn when(
        name: &'static str,
        applies: fn(&R) -> bool,
        check: fn(&R) -> Verdict,
    ) -> Self {
        Law { name, applies, check }
    }
}

impl<R: Lawful + ?Sized> Law<R> {
    /// Checks that `plugin` keeps it. A panic breaks it.
    ///
    /// # Errors
    /// A description of the broken law.
    pub fn try_on(&self, plugin: &R) -> Verdict {
        if !is_counted() {
            return self.tried(plugin);
        }
        if self.name == MEASURED {
            let _alone = MEASURING.write().unwrap_or_else(PoisonError::into_inner);
            return self.tried(plugin);
        }
        beside_others(|| self.tried(plugin))
    }

    fn tried(&self, plugin: &R) -> Verdict {
        fixtures::forget();
        let check = std::panic::AssertUnwindSafe(|| (self.check)(plugin));
        std::panic::catch_unwind(check).unwrap_or_else(|panic| {
            let text = mustlink_core::panic::message(&*panic);
            Err(format!("panicked: {text}"))
        })
    }
}

/// The law of plugins that declare memory, which is tried alone.
pub(crate) const MEASURED: &str = "memory_is_declared";

/// True if [`PeakAlloc`] is the allocator of this program: something is always held.
pub(crate) fn is_counted() -> bool {
    PeakAlloc.current_usage() > 0
}

/// The configuration under which the laws are tried: the defaults, with those that the plugin gives
/// (`#[option(laws = …)]`) because its own would take hours.
pub(crate) fn as_tried(descriptor: &Descriptor) -> serde_json::Value {
    let mut config = descriptor.default_config();
    for option in descriptor.options() {
        if let Some(value) = option.laws {
            config[option.name] = value();
        }
    }
    config
}

/// A measurement of memory runs alone, because the memory of others would be measured too.
static MEASURING: RwLock<()> = RwLock::new(());

/// Does `work` while no memory is measured. For work outside of laws, such as building plugins.
pub fn beside_others<T>(work: impl FnOnce() -> T) -> T {
    let _not_measured = MEASURING.read().unwrap_or_else(PoisonError::into_inner);
    work()
}

/// Fails with a message unless the condition holds.
#[macro_export]
#[doc(hidden)]
macro_rules! ensure {
    ($holds:expr, $($message:tt)*) => {
        let holds: bool = $holds;
        if !holds {
            return Err(format!($($message)*));
        }
    };
}

/// Runs `work` in a pool of `threads` threads.
pub(crate) fn in_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK).build();
    pool.expect("a small pool can be made").install(work)
}
