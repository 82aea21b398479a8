//! Views of the data for single members.
//!
//! Some objects, some features, or mixtures of features: what `subsample`, `bootstrap`, `feature_subspace`
//! and `random_projection` draw, and `compose` puts around any generator.

use mustlink_core::options::Options;
use mustlink_core::prelude::*;

use crate::parts::member_input::MemberInput;

/// View of the data that a generator gives a member.
pub(crate) trait View: Options + Sync {
    /// Part of `problem` that a member with `k` clusters gets.
    ///
    /// # Errors
    /// `BadParam` for more dimensions than features; `UnsupportedData` if features are needed.
    fn draw(&self, problem: &Problem, k: usize, ctx: &Context) -> Result<MemberInput>;

    /// The kinds of data that can be seen so, given those the member takes.
    fn accepts(&self, inner: Vec<DataKind>) -> Vec<DataKind> {
        inner
    }

    /// Bytes of what one member sees, beyond the data: the list of rows, and those of them that are
    /// copied.
    fn memory(&self, shape: &Shape) -> u64 {
        let dense = 8 * shape.n * shape.d;
        let copied = if dense == 8 * shape.entries { Data::MOST_COPIED.min(dense) } else { 0 };
        (16 * shape.n + copied) as u64
    }
}

/// Some objects of a problem: a member reads each of them many times.
pub(crate) fn subset(problem: &Problem, rows: &[usize]) -> Problem {
    let mut some = problem.subset(rows);
    some.data = some.data.contiguous();
    some
}
