//! Ends the process, with the name of plugin and law, if a law runs without end.

use std::io::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The environment variable with the most seconds that a law may take.
const LIMIT: &str = "MUSTLINK_LAW_SECONDS";

/// Without it: some thirty times as long as the slowest law takes.
const SECONDS: u64 = 300;

/// Time between two checks of the watchdog.
const TURN: Duration = Duration::from_millis(250);

/// A law that waits instead of computing may take so many times as long.
const WAITING: u32 = 10;

/// A law that runs.
struct Running {
    name: String,
    place: String,
    /// Processor time of the process while it ran, at most the time of the clock.
    computed: Duration,
    /// Turns of the watchdog: none pass while the machine sleeps.
    waited: Duration,
}

static RUNNING: Mutex<Vec<Running>> = Mutex::new(Vec::new());

/// Does `work` under the eyes of the watchdog, if there is one.
pub(crate) fn watched<T>(name: &str, place: &str, work: impl FnOnce() -> T) -> T {
    let running = || RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let (name_of_it, place, none) = (name.to_string(), place.to_string(), Duration::ZERO);
    running().push(Running { name: name_of_it, place, computed: none, waited: none });
    let made = work();
    running().retain(|law| law.name != name);
    made
}

/// Begins to watch. Without it, laws run as long as they like.
pub(crate) fn begin() {
    let seconds = std::env::var(LIMIT).ok().and_then(|text| text.parse().ok()).unwrap_or(SECONDS);
    std::thread::spawn(move || watch(seconds));
}

/// Processor time of this process so far; absent where the system does not say.
fn processor_time() -> Option<Duration> {
    // Linux counts in hundredths of a second; the name before the fields may contain anything but this bracket.
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (ticks(11)? + ticks(12)?)))
}

/// Ends the process if a law has computed for so many seconds, or waited much longer: a thread that runs
/// without end cannot be ended by itself. Processor time keeps a busy machine from ending a sound law.
fn watch(seconds: u64) {
    let limit = Duration::from_secs(seconds);
    let mut before = processor_time();
    loop {
        std::thread::sleep(TURN);
        let now = processor_time();
        let spent =
            now.zip(before).map_or(TURN, |(now, before)| now.saturating_sub(before)).min(TURN);
        before = now;
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        for law in running.iter_mut() {
            let was_short = law.computed < limit / 10;
            law.computed += spent;
            law.waited += TURN;
            let has_run = format!("{} has run for {} s", law.name, law.waited.as_secs());
            let mut err = std::io::stderr();
            if was_short && law.computed >= limit / 10 {
                let _ =
                    writeln!(err, "note: {has_run}; the limit is {seconds} s of processor time");
            }
            if law.computed >= limit || law.waited >= WAITING * limit {
                let _ = writeln!(
                    err,
                    "error: {has_run}; the limit is {seconds} s of processor time. Call ctx.check() in each \
                     loop, and make sure that each ends. {LIMIT}=N sets another limit\n  in {}",
                    law.place
                );
                std::process::exit(101);
            }
        }
    }
}
