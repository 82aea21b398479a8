//! Child processes that are kept for further requests.
//!
//! Starting an interpreter may take longer than an answer. A child whose greeting declares that it
//! accepts several requests is kept while a [`Keep`] exists, and reused by the next run of the same
//! command. When the last [`Keep`] is dropped, all children end.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use mustlink_core::context::Context;
use mustlink_core::problem::Problem;
use serde_json::json;

use crate::parts::child::{Child, ChildError};
pub use crate::parts::running::end_all;

struct Kept {
    holders: usize,
    idle: Vec<Idle>,
}

/// A child with its command, the folder it works in, and the protocol that it was greeted with.
type Idle = (Vec<String>, PathBuf, &'static str, Child);

static KEPT: Mutex<Kept> = Mutex::new(Kept { holders: 0, idle: Vec::new() });

fn kept() -> MutexGuard<'static, Kept> {
    KEPT.lock().unwrap_or_else(|e| e.into_inner())
}

/// Children are kept while one of these exists.
#[derive(Debug)]
pub struct Keep(());

impl Keep {
    /// Keeps children from now on.
    pub fn start() -> Keep {
        kept().holders += 1;
        Keep(())
    }
}

impl Drop for Keep {
    fn drop(&mut self) {
        let mut kept = kept();
        kept.holders -= 1;
        if kept.holders == 0 {
            let idle = std::mem::take(&mut kept.idle);
            drop(kept);
            idle.into_iter().for_each(|(.., mut child)| child.bye("done"));
        }
    }
}

/// A child that is greeted and waits for a request about `problem`, kept from before where there is
/// one; and whether it takes another request after this one.
///
/// # Errors
/// Returns the errors of [`Child::spawn`] and [`Child::hello`].
pub fn greeted(
    command: &[String],
    timeout_seconds: f64,
    protocol: &'static str,
    problem: &Problem,
    ctx: &Context,
) -> Result<(Child, bool), ChildError> {
    if let Some(mut kept) = take(command, ctx.base(), protocol) {
        kept.set_timeout(timeout_seconds);
        kept.set_longest_line(longest_reply(problem.n()));
        // Else its reply before the last would pass for the next one.
        return kept.unasked().map_or(Ok((kept, true)), Err);
    }
    let mut child = Child::spawn(command, timeout_seconds, ctx.base())?;
    child.set_longest_line(longest_reply(problem.n()));
    let reply = child.hello(protocol, json!({ "n": problem.n(), "d": problem.d() }), ctx)?;
    Ok((child, reply["again"] == true))
}

/// Bytes that a reply about n objects may have: labels, or constraints that a few answers made, in text.
fn longest_reply(n: usize) -> usize {
    (16 << 20) + 64 * n
}

/// A child of this command that waits for a request. One that can be a clusterer and a selector is what it was
/// greeted as.
fn take(command: &[String], base: &Path, protocol: &str) -> Option<Child> {
    let mut kept = kept();
    let same = |(c, b, p, _): &Idle| c == command && b == base && *p == protocol;
    while let Some(at) = kept.idle.iter().position(same) {
        let (.., mut child) = kept.idle.swap_remove(at);
        if !child.has_ended() {
            return Some(child);
        }
    }
    None
}

/// Returns a child that was greeted with `protocol` and accepts another request; it ends if children are not
/// kept.
pub fn put(command: &[String], base: &Path, protocol: &'static str, mut child: Child) {
    let mut kept = kept();
    if kept.holders == 0 {
        drop(kept);
        return child.bye("done");
    }
    kept.idle.push((command.to_vec(), base.to_path_buf(), protocol, child));
}
