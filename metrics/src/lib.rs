//! Metrics: one file per family of scores.
//!
//! Scores of agreement with known classes are sums over one contingency table
//! (`parts/agreement.rs`); objects outside the scope or of unknown class are not in it. A score that is not
//! defined is `None`, never NaN.

mod parts;

automod::dir!(pub "src");
