//! How is it shown that work goes on? A bar on a terminal, now and then a line elsewhere.

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use mustlink::context::Progress;
use mustlink::text::count;
use mustlink_experiments::{ProgressSnapshot, RunOptions, RunProgress, Standing};

use crate::{interrupt, term};

/// Without a terminal the first line comes soon, the others now and then.
const FIRST_LINE: Duration = Duration::from_secs(5);
const NEXT_LINES: Duration = Duration::from_secs(30);

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Lines that are printed now and then if standard error is not a terminal.
struct Lines(Mutex<Option<(Sender<()>, JoinHandle<()>)>>);

impl Lines {
    /// Tells what `text` makes of the time since now, where `told`.
    fn start(told: bool, text: impl Fn(Duration) -> Option<String> + Send + 'static) -> Self {
        Lines(Mutex::new(told.then(|| {
            let (stop, stopped) = mpsc::channel();
            let start = Instant::now();
            let told = std::thread::spawn(move || {
                let mut wait = FIRST_LINE;
                while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                    wait = NEXT_LINES;
                    if let Some(text) = text(start.elapsed()) {
                        term::tell(&text);
                    }
                }
            });
            (stop, told)
        })))
    }

    fn finish(&self) {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((stop, told)) = lines {
            drop(stop);
            // It only waits and prints: there is nothing to learn from how it ended.
            let _ = told.join();
        }
    }
}

/// Where an experiment stood, and when that was.
type Stood = Arc<Mutex<Option<(ProgressSnapshot, Instant)>>>;

/// The last snapshot, and the text that follows the number of cells.
fn now(last: &Stood) -> Option<(ProgressSnapshot, String)> {
    let (snapshot, at) = (*last.lock().unwrap_or_else(PoisonError::into_inner))?;
    Some((snapshot, rest(&snapshot, at.elapsed())))
}

/// Shows where an experiment stands.
struct Cells {
    quiet: bool,
    bar: Option<ProgressBar>,
    last: Stood,
    lines: Lines,
}

impl Cells {
    /// Shows nothing when `quiet`.
    fn start(quiet: bool) -> Arc<Self> {
        let terminal = std::io::stderr().is_terminal();
        let last = Stood::default();
        let told = last.clone();
        let bar = (!quiet && terminal).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5));
            let template = style("{bar:30} {pos}/{len} cells, {elapsed}{rest}");
            bar.set_style(template.with_key(
                "rest",
                move |_: &ProgressState, to: &mut dyn Write| {
                    // A terminal that takes no text has no bar.
                    let _ = to.write_str(&now(&told).map_or_else(String::new, |(_, rest)| rest));
                },
            ));
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        });
        let told = last.clone();
        let lines = Lines::start(!quiet && !terminal, move |elapsed| {
            let (s, rest) = now(&told)?;
            let so_far = duration(elapsed.as_secs_f64());
            Some(format!("{} of {} cells, {so_far} so far{rest}", s.done, s.total))
        });
        Arc::new(Cells { quiet, bar, last, lines })
    }

    /// Takes the bar away, ends the lines.
    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        self.lines.finish();
    }

    /// Tells something above the bar, where there is one.
    fn above(&self, tell: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(tell),
            None => tell(),
        }
    }
}

/// Does `work`, showing where it stands unless `quiet`; an interrupt cancels it.
pub(crate) fn watched<T>(
    quiet: bool,
    options: RunOptions,
    work: impl FnOnce(&RunOptions) -> T,
) -> T {
    let cells = Cells::start(quiet);
    let done = work(&RunOptions { progress: cells.clone(), cancel: interrupt::flag(), ..options });
    cells.finish();
    done
}

/// Failed cells and the time left, from a snapshot that is `ago` old.
fn rest(s: &ProgressSnapshot, ago: Duration) -> String {
    let failed = match s.failed {
        0 => String::new(),
        failed => format!(", {failed} failed"),
    };
    let left = match s.seconds_left {
        Some(left) if s.done < s.total && left > ago.as_secs_f64() => {
            format!(", about {} left", duration(left - ago.as_secs_f64()))
        }
        _ => String::new(),
    };
    failed + &left
}

/// A duration for people.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.0} h", s / 3600.0),
    }
}

impl RunProgress for Cells {
    fn read(&self, id: &str, summary: &str) {
        self.note(&format!("{id}: {summary}"));
    }

    fn start(&self, standing: &Standing) {
        let mut text = String::new();
        if self.quiet {
            // What is damaged is no progress, and is said in any case.
            text = standing.damaged.iter().map(|d| format!("{d}\n")).collect();
        } else {
            if self.bar.is_none() {
                let new = standing.cells - standing.finished;
                text = format!(
                    "{}: {} finished before, {new} to do\n",
                    count(standing.cells, "cell"),
                    standing.finished
                );
            }
            text += &standing.to_string();
        }
        self.above(|| text.lines().for_each(term::tell));
    }

    fn note(&self, text: &str) {
        if !self.quiet {
            self.above(|| term::tell(text));
        }
    }

    fn update(&self, snapshot: &ProgressSnapshot) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((*snapshot, Instant::now()));
        if let Some(bar) = &self.bar {
            bar.set_length(snapshot.total as u64);
            bar.set_position(snapshot.done as u64);
        }
    }
}

/// Shows what a single method is at.
pub(crate) struct Spinner {
    bar: Option<ProgressBar>,
    last: Arc<Mutex<String>>,
    lines: Lines,
}

impl Spinner {
    /// Shows nothing unless `shown`, which is false if it is not wanted or if a person answers in the terminal.
    pub fn start(shown: bool) -> Arc<Self> {
        let terminal = std::io::stderr().is_terminal();
        let last: Arc<Mutex<String>> = Arc::default();
        let told = last.clone();
        let lines = Lines::start(shown && !terminal, move |elapsed| {
            let last = told.lock().unwrap_or_else(PoisonError::into_inner);
            let at = if last.is_empty() { "at work" } else { &last };
            Some(format!("{at}, {} so far", duration(elapsed.as_secs_f64())))
        });
        let bar = (shown && terminal).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5));
            bar.set_style(style("{spinner} {elapsed} {msg}"));
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Arc::new(Spinner { bar, last, lines })
    }

    /// Takes the line away, ends the lines.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        self.lines.finish();
    }
}

impl Progress for Spinner {
    fn report(&self, place: &str, done: u64, total: Option<u64>) {
        let total = total.map(|t| format!(" of {t}")).unwrap_or_default();
        let text = format!("{place} {done}{total}");
        if let Some(bar) = &self.bar {
            bar.set_message(text.clone());
        }
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_it_stands() {
        let s = ProgressSnapshot { done: 3, total: 9, failed: 1, seconds_left: Some(61.0) };
        let now = Duration::ZERO;
        assert_eq!(rest(&s, now), ", 1 failed, about 61 s left");
        assert_eq!(rest(&s, Duration::from_secs(20)), ", 1 failed, about 41 s left");
        assert_eq!(rest(&s, Duration::from_secs(61)), ", 1 failed");
        assert_eq!(rest(&ProgressSnapshot { done: 9, failed: 0, ..s }, now), "");
    }
}
