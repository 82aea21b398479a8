//! Progress: a bar on a terminal, otherwise a line from time to time.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use mustlink::context::Progress;
use mustlink::text::count;
pub(crate) use mustlink_experiments::duration;
use mustlink_experiments::{Best, ProgressSnapshot, RunOptions, RunProgress, Standing};

use crate::{interrupt, term};

/// Without a terminal the first line comes soon, the others now and then.
const FIRST_LINE: Duration = Duration::from_secs(5);
const NEXT_LINES: Duration = Duration::from_secs(30);

/// Columns of a line before the text of the bar, and one that stays free.
const BEFORE_TEXT: usize = 14;

/// The progress at one moment.
struct Step {
    /// The part of the work that is done.
    done: String,
    /// The best result so far, after a comma; empty if it is not known.
    best: String,
    /// Seconds to go.
    left: Option<f64>,
    at: Instant,
}

/// The last step, if there was one.
type Stood = Option<Step>;

/// The steps done after `elapsed`, the time left, and the best so far, in at most `most` characters: a bar of several
/// lines flickers. If that is too little, the time so far gives way first.
fn line(stood: &Stood, elapsed: Duration, most: usize) -> String {
    let so_far = format!("{} so far", duration(elapsed.as_secs_f64()));
    let Some(Step { done, best, left, at }) = stood else {
        return cut(format!("at work, {so_far}"), most);
    };
    let left = left.map(|left| left - at.elapsed().as_secs_f64()).filter(|left| *left > 0.0);
    let left = left.map_or_else(String::new, |left| format!(", about {} left", duration(left)));
    let whole = format!("{done}, {so_far}{left}{best}");
    if whole.chars().count() <= most { whole } else { cut(format!("{done}{left}{best}"), most) }
}

/// `text` cut to `most` characters.
fn cut(text: String, most: usize) -> String {
    if text.chars().count() <= most {
        return text;
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows how far an experiment or a single method is.
pub(crate) struct Meter {
    shown: bool,
    bar: Option<ProgressBar>,
    stood: Arc<Mutex<Stood>>,
    /// The first count of each part of a method, and its time.
    begun: Mutex<BTreeMap<String, (u64, Instant)>>,
    /// Ends the thread that prints lines.
    lines: Mutex<Option<(Sender<()>, JoinHandle<()>)>>,
}

impl Meter {
    /// Shows nothing unless `shown`, which is false if it is not wanted or if a person answers in the terminal.
    pub fn start(shown: bool) -> Arc<Self> {
        let terminal = std::io::stderr().is_terminal();
        let stood: Arc<Mutex<Stood>> = Arc::default();
        let last = stood.clone();
        let bar = (shown && terminal).then(|| {
            let text = move |state: &ProgressState, to: &mut dyn Write| {
                // A terminal that takes no text has no bar.
                let most = usize::from(term::width()).saturating_sub(BEFORE_TEXT);
                let _ = to.write_str(&line(&locked(&last), state.elapsed(), most));
            };
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5));
            let style = ProgressStyle::with_template("{spinner} {bar:10} {text}");
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            bar.set_style(style.with_key("text", text));
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        });
        let last = stood.clone();
        let lines = (shown && !terminal).then(|| {
            let (stop, stopped) = mpsc::channel();
            let start = Instant::now();
            let printing = std::thread::spawn(move || {
                let mut wait = FIRST_LINE;
                while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                    wait = NEXT_LINES;
                    term::tell(&line(&locked(&last), start.elapsed(), usize::MAX));
                }
            });
            (stop, printing)
        });
        let (begun, lines) = (Mutex::default(), Mutex::new(lines));
        Arc::new(Meter { shown, bar, stood, begun, lines })
    }

    /// Takes the bar away, ends the lines.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let lines = locked(&self.lines).take();
        if let Some((stop, printing)) = lines {
            drop(stop);
            // It only waits and prints: there is nothing to learn from how it ended.
            let _ = printing.join();
        }
    }

    fn set(&self, (done, total): (u64, Option<u64>), step: Step) {
        *locked(&self.stood) = Some(step);
        if let Some(bar) = &self.bar {
            total.map_or_else(|| bar.unset_length(), |total| bar.set_length(total));
            bar.set_position(done);
        }
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
    let meter = Meter::start(!quiet);
    let done = work(&RunOptions { progress: meter.clone(), cancel: interrupt::flag(), ..options });
    meter.finish();
    done
}

impl RunProgress for Meter {
    fn read(&self, id: &str, summary: &str) {
        self.note(&format!("{id}: {summary}"));
    }

    fn start(&self, standing: &Standing) {
        let text = if !self.shown {
            // What is damaged is no progress, and is said in any case.
            standing.damaged.iter().map(|d| format!("{d}\n")).collect()
        } else {
            let (cells, finished) = (count(standing.cells, "cell"), standing.finished);
            let new = standing.cells - finished;
            match standing.cells {
                0 => standing.to_string(),
                _ => format!("{cells}: {finished} finished before, {new} to do\n{standing}"),
            }
        };
        self.above(|| text.lines().for_each(term::tell));
    }

    fn note(&self, text: &str) {
        if self.shown {
            self.above(|| term::tell(text));
        }
    }

    fn update(&self, s: &ProgressSnapshot) {
        let mut text = format!("{} of {}", s.done, count(s.total, "cell"));
        if s.failed > 0 {
            text += &format!(", {} failed", s.failed);
        }
        let left = s.seconds_left.filter(|_| s.done < s.total);
        let best = s.best.as_ref().filter(|_| s.done < s.total).map(|b| {
            let Best { method, metric, mean, cells, of } = b;
            format!(
                ", best so far {method} (mean {metric} {mean:.3} over {cells} of {of} cells each)"
            )
        });
        let step = Step { done: text, best: best.unwrap_or_default(), left, at: Instant::now() };
        self.set((s.done as u64, Some(s.total as u64)), step);
    }
}

impl Progress for Meter {
    fn report(&self, place: &str, done: u64, total: Option<u64>) {
        // The best so far may follow the name of a part.
        let (part, best) = place.split_at(place.find(", ").unwrap_or(place.len()));
        let now = Instant::now();
        let (first, since) = {
            let mut begun = locked(&self.begun);
            let first = begun.entry(part.into()).or_insert((done, now));
            if done <= first.0 {
                *first = (done, now);
            }
            *first
        };
        let each = (now - since).as_secs_f64() / done.saturating_sub(first).max(1) as f64;
        let left = total.filter(|_| done > first);
        let left = left.map(|total| each * total.saturating_sub(done) as f64);
        let of = total.map_or_else(String::new, |total| format!(" of {total}"));
        let text = format!("{part} {done}{of}");
        self.set((done, total), Step { done: text, best: best.into(), left, at: now });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_what_is_done_and_what_is_left() {
        let meter = Meter::start(false);
        let within =
            |meter: &Meter, most| line(&locked(&meter.stood), Duration::from_secs(20), most);
        let text = |meter: &Meter| within(meter, 47);
        assert_eq!(text(&meter), "at work, 20 s so far");
        let seconds_left = Some(7200.0);
        let s = ProgressSnapshot { done: 3, total: 9, failed: 1, seconds_left, best: None };
        meter.update(&s);
        assert_eq!(within(&meter, 80), "3 of 9 cells, 1 failed, 20 s so far, about 2 h left");
        assert_eq!(text(&meter), "3 of 9 cells, 1 failed, about 2 h left");
        let (method, metric) = ("pck".into(), "ari".into());
        let best = Some(Best { method, metric, mean: 0.5, cells: 1, of: 3 });
        meter.update(&ProgressSnapshot { failed: 0, best, ..s.clone() });
        let line =
            "3 of 9 cells, about 2 h left, best so far pck (mean ari 0.500 over 1 of 3 cells each)";
        assert_eq!(within(&meter, 90), line);
        meter.update(&ProgressSnapshot { done: 9, failed: 0, ..s });
        assert_eq!(text(&meter), "9 of 9 cells, 20 s so far");
        meter.report("auto, best so far kmeans .9", 1, Some(4));
        assert_eq!(text(&meter), "auto 1 of 4, 20 s so far, best so far kmeans .9");
        assert_eq!(within(&meter, 35), "auto 1 of 4, best so far kmeans .9");
        assert_eq!(within(&meter, 27), "auto 1 of 4, best so far k…");
    }
}
