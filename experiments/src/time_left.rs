//! How long will the rest of a run take? From the operations of what is left, and from how long those
//! took that are over.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::schedule::Task;

/// The operations that were counted are trusted as much as so many seconds of work that was timed.
const TRUST: f64 = 10.0;

/// The time a run still takes.
pub(crate) struct TimeLeft {
    /// Operations of each task that has not begun, roughly.
    waiting: BTreeMap<Task, f64>,
    /// Those of the tasks under way, when each began, and its threads.
    under_way: BTreeMap<Task, (f64, Instant, usize)>,
    /// Operations that are over, and the seconds of one thread they took.
    over: (f64, f64),
    /// Seconds of one thread an operation is thought to take.
    each: f64,
    /// Threads of the run.
    threads: usize,
}

impl TimeLeft {
    /// Of a run that begins, from the operations of its tasks.
    pub fn new(waiting: BTreeMap<Task, f64>, each: f64, threads: usize) -> Self {
        let (under_way, over) = (BTreeMap::new(), (0.0, 0.0));
        TimeLeft { waiting, under_way, over, each, threads }
    }

    /// A task begins.
    pub fn begin(&mut self, task: Task, threads: usize, now: Instant) {
        let operations = self.waiting.remove(&task).unwrap_or(0.0);
        self.under_way.insert(task, (operations, now, threads));
    }

    /// A task is over.
    pub fn finish(&mut self, task: Task, now: Instant) {
        if let Some((operations, begun, threads)) = self.under_way.remove(&task) {
            self.over.0 += operations;
            self.over.1 += (now - begun).as_secs_f64() * threads as f64;
        }
    }

    /// Seconds until all is over. A task that takes longer than was thought is thought to be nearly so.
    pub fn seconds(&self, now: Instant) -> f64 {
        let each = (TRUST + self.over.1) / (TRUST / self.each + self.over.0);
        let waiting = self.waiting.values().sum::<f64>() * each;
        let rest = |(operations, begun, threads): &(f64, Instant, usize)| {
            (operations * each - (now - *begun).as_secs_f64() * *threads as f64).max(0.0)
        };
        (waiting + self.under_way.values().map(rest).sum::<f64>()) / self.threads as f64
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_was_timed_counts_for_more_the_longer_it_took() {
        let tasks: BTreeMap<Task, f64> = (0..4).map(|s| (Task::Select(s), 1e9)).collect();
        let start = Instant::now();
        let at = |s: f64| start + Duration::from_secs_f64(s);
        let mut left = TimeLeft::new(tasks, 1e-7, 2);
        assert!((left.seconds(start) - 200.0).abs() < 1e-9, "4 tasks of 100 s on 2 threads");
        left.begin(Task::Select(0), 1, start);
        left.begin(Task::Select(1), 1, start);
        assert!((left.seconds(at(40.0)) - 160.0).abs() < 1e-9, "time under way is not left");
        assert!((left.seconds(at(500.0)) - 100.0).abs() < 1e-9, "nothing takes less than no time");
        // Ten times as fast as was thought: (10 s + 10 s) for (1e8 + 1e9) operations.
        left.finish(Task::Select(0), at(10.0));
        let each = 20.0 / 1.1e9;
        assert!((left.seconds(at(10.0)) - (2e9 * each + 1e9 * each - 10.0) / 2.0).abs() < 1e-9);
        for s in [1, 2, 3] {
            left.begin(Task::Select(s), 1, at(10.0));
            left.finish(Task::Select(s), at(20.0));
        }
        assert_eq!(left.seconds(at(20.0)), 0.0, "nothing is left");
    }
}
