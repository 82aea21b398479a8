//! The smallest problem on which a law is still broken.

use std::fmt;
use std::time::{Duration, Instant};

use super::fixtures::{self, Limits};
use super::law::{Law, Lawful};
use mustlink_core::data::Row;
use mustlink_core::problem::Problem;

/// Longest time for making a failure smaller.
const PATIENCE: Duration = Duration::from_secs(60);

/// A broken law on a small problem.
#[derive(Debug, Clone)]
pub struct Small {
    /// Description of the broken law there.
    pub complaint: String,
    /// The problem the plugin was tried on last, if the law tried it on any.
    pub problem: Option<Problem>,
}

impl fmt::Display for Small {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 12;
        write!(f, "{}", self.complaint)?;
        let Some(problem) = &self.problem else { return Ok(()) };
        let (n, d, m) = (problem.n(), problem.d(), problem.constraints.len());
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let sizes = [count(n, "object"), count(d, "feature"), count(m, "constraint")].join(", ");
        write!(f, "\n  smallest case found: {sizes}")?;
        match problem.k {
            Some(k) => write!(f, ", k = {k}")?,
            None => write!(f, ", no k")?,
        }
        for i in 0..n.min(SHOWN) {
            let Row::Dense(x) = problem.data.row(i) else { break };
            let values: Vec<String> = x.iter().take(SHOWN).map(|v| format!("{v:.4}")).collect();
            let note = if problem.is_eligible(i) { "" } else { "  (not eligible)" };
            write!(f, "\n    object {i}: {}{note}", values.join(" "))?;
        }
        if n > SHOWN {
            write!(f, "\n    … {} more", n - SHOWN)?;
        }
        for c in problem.constraints.pairs().iter().take(SHOWN) {
            write!(f, "\n    {} {} {}", c.kind.name(), c.i, c.j)?;
        }
        if m > SHOWN {
            write!(f, "\n    … {} more", m - SHOWN)?;
        }
        write!(f, "\n    (these data were made by the law)")
    }
}

/// A complaint without its numbers: the same defect says the same on other sizes.
fn kind(complaint: &str) -> String {
    let mut out = String::new();
    let mut number = false;
    for c in complaint.chars() {
        let digit = c.is_ascii_digit();
        if !digit {
            out.push(c);
        } else if !number {
            out.push('#');
        }
        number = digit;
    }
    out
}

/// Tries the broken `law` on fewer objects, features and constraints as long as `plugin` breaks it
/// in the same words (numbers aside). Nothing if the law holds.
pub fn shrink<R: Lawful + ?Sized>(law: &Law<R>, plugin: &R) -> Option<Small> {
    let attempt = |limits: Limits| {
        fixtures::within(limits, || law.try_on(plugin).err()).map(|complaint| {
            let problem = fixtures::last_tried();
            Small { complaint, problem }
        })
    };
    let mut small = attempt(Limits::NONE)?;
    if small.problem.is_none() {
        return Some(small);
    }
    let wanted = kind(&small.complaint);
    let end = Instant::now() + PATIENCE;
    // No fixture of a law is larger.
    let mut limits = Limits { objects: 45, features: 4, constraints: 64 };
    loop {
        let before = limits;
        for (size, least) in [(0, 3), (1, 1), (2, 0)] {
            loop {
                let now = get(limits, size);
                // The smallest first, then half the way, then one less.
                let steps = [least, now.midpoint(least), now.saturating_sub(1)];
                let mut smaller = steps.into_iter().filter(|&s| s >= least && s < now);
                let found = smaller.find_map(|s| {
                    let tried = set(limits, size, s);
                    let again = (Instant::now() < end).then(|| attempt(tried)).flatten()?;
                    (kind(&again.complaint) == wanted).then_some((tried, again))
                });
                let Some((tried, again)) = found else { break };
                (limits, small) = (tried, again);
            }
        }
        if limits == before {
            return Some(small);
        }
    }
}

fn get(limits: Limits, size: usize) -> usize {
    [limits.objects, limits.features, limits.constraints][size]
}

fn set(limits: Limits, size: usize, value: usize) -> Limits {
    match size {
        0 => Limits { objects: value, ..limits },
        1 => Limits { features: value, ..limits },
        _ => Limits { constraints: value, ..limits },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_complaint_on_other_sizes() {
        assert_eq!(kind("44 labels for 45 objects"), kind("2 labels for 3 objects"));
        assert_ne!(kind("k = 3: too few"), kind("k = 3: too many"));
    }
}
