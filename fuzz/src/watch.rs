//! Panics, memory and time while an input is read.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use peak_alloc::PeakAlloc;

/// Bytes that reading one input may hold at most. An input has some tens of KiB; packed ones unpack to a
/// thousand times as much.
const MOST_MEMORY: usize = 256 << 20;

/// Panics so far, of all threads, and what the first that nobody asked for said.
static PANICS: AtomicUsize = AtomicUsize::new(0);
static SAID: Mutex<Option<String>> = Mutex::new(None);

/// Why an input is a defect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broken {
    /// The message of the panic, and its place.
    Panic(String),
    /// The number of bytes that were held.
    Memory(usize),
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Broken::Panic(said) => write!(f, "panic: {said}"),
            Broken::Memory(bytes) => write!(f, "memory: {} MiB held", bytes >> 20),
        }
    }
}

/// The time and memory of one input.
#[derive(Debug, Clone, Default)]
pub struct Taken {
    /// The time.
    pub time: Duration,
    /// Bytes held at most beyond those held before.
    pub memory: usize,
    /// The break, if there was one.
    pub broken: Option<Broken>,
}

/// Runs inputs, and measures the time and memory that they take.
#[derive(Debug)]
pub struct Watch {
    memory: &'static PeakAlloc,
}

impl Watch {
    /// Makes panics quiet, of all threads, and remembers them. `memory` is the allocator of the program.
    pub fn new(memory: &'static PeakAlloc) -> Self {
        std::panic::set_hook(Box::new(|info| {
            PANICS.fetch_add(1, Ordering::SeqCst);
            let mut said = SAID.lock().unwrap_or_else(|e| e.into_inner());
            said.get_or_insert_with(|| info.to_string().replace('\n', " "));
        }));
        Watch { memory }
    }

    /// Runs one input. A panic that something catches and reports is one all the same.
    pub fn run(&self, harness: &mut dyn FnMut(&[u8]), input: &[u8]) -> Taken {
        let panics = PANICS.load(Ordering::SeqCst);
        let before = self.memory.current_usage();
        self.memory.reset_peak_usage();
        let start = Instant::now();
        let ended = catch_unwind(AssertUnwindSafe(|| harness(input)));
        let time = start.elapsed();
        let memory = self.memory.peak_usage().saturating_sub(before);
        let said = SAID.lock().unwrap_or_else(|e| e.into_inner()).take().unwrap_or_default();
        let broken = if ended.is_err() || PANICS.load(Ordering::SeqCst) > panics {
            Some(Broken::Panic(said))
        } else {
            (memory > MOST_MEMORY).then_some(Broken::Memory(memory))
        };
        Taken { time, memory, broken }
    }
}
