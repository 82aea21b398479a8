//! The numbers of members from which a pair is imputed.
//!
//! Thresholds are integers, so a pair that sits exactly on one is never misplaced by rounding.
//!
//! Source: [Greene2007] Eq. 2 (κ_m and κ_c).

use mustlink_core::{Error, Kind, Result};

use crate::ensemble::co_association::Normalise;

/// When a pair counts as decided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    kappa_must: f64,
    kappa_cannot: f64,
    normalise: Normalise,
    min_presence: u32,
    members: u32,
}

impl Thresholds {
    /// Must-link from a co-association of `kappa_must` on, cannot-link up to `kappa_cannot`, of
    /// `members` members.
    ///
    /// # Errors
    /// `BadParam` unless 0 ≤ kappa_cannot < kappa_must ≤ 1.
    pub fn new(kappa_must: f64, kappa_cannot: f64, members: usize) -> Result<Self> {
        if !(0.0 <= kappa_cannot && kappa_cannot < kappa_must && kappa_must <= 1.0) {
            return Err(Error::bad_param(
                "kappa_must",
                format!("{kappa_must} with kappa_cannot = {kappa_cannot}"),
                "0 <= kappa_cannot < kappa_must <= 1",
            ));
        }
        Ok(Thresholds {
            kappa_must,
            kappa_cannot,
            normalise: Normalise::Members,
            min_presence: 1,
            members: members as u32,
        })
    }

    /// The same, of the members that saw both, at least `min_presence`.
    pub fn normalised(mut self, normalise: Normalise, min_presence: usize) -> Self {
        self.normalise = normalise;
        self.min_presence = min_presence.max(1) as u32;
        self
    }

    /// Fewest of `of` members that make a must-link. The allowance undoes decimals like
    /// 0.29, of which 100 are less than 29.
    pub fn must(&self, of: u32) -> u32 {
        (self.kappa_must * f64::from(of) - 1e-9).ceil().max(1.0) as u32
    }

    /// Most of `of` members that leave a cannot-link.
    pub fn cannot(&self, of: u32) -> u32 {
        (self.kappa_cannot * f64::from(of) + 1e-9).floor() as u32
    }

    /// The constraint imputed for a pair that `count` members put together and `joint` saw, if any.
    pub fn judge(&self, count: u32, joint: u32) -> Option<Kind> {
        let of = match self.normalise {
            Normalise::Members => self.members,
            Normalise::CoPresence if joint < self.min_presence => return None,
            Normalise::CoPresence => joint,
        };
        if count >= self.must(of) {
            Some(Kind::MustLink)
        } else if count <= self.cannot(of) {
            Some(Kind::CannotLink)
        } else {
            None
        }
    }
}
