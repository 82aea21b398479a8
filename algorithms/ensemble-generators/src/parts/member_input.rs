//! The input of a member: the part of a problem that it gets.

use mustlink_core::prelude::*;

/// Treatment of objects that a member did not get.
#[options]
pub enum OutOfSample {
    /// They join the nearest cluster in the member's own geometry: its centres with their weights or metric,
    /// otherwise the means of its clusters. For distances and affinities: as `nearest_object`.
    #[default]
    NearestCentroid,
    /// They join the cluster of the nearest object that the member got (Euclidean).
    NearestObject,
    /// They get no label.
    LeaveOut,
}

/// In which features a member saw the objects.
#[derive(Debug, Clone, PartialEq)]
pub enum Space {
    /// All of them, as they are.
    Whole,
    /// These.
    Features(Vec<usize>),
    /// Mixtures; what the member says about them means nothing outside.
    Mixtures,
}

/// Part of a problem that a member gets.
pub struct MemberInput {
    /// The problem as the member sees it.
    pub problem: Problem,
    /// Its objects in the whole problem, in order, some perhaps more than once; absent: all.
    pub rows: Option<Vec<usize>>,
    /// Its features.
    pub space: Space,
    /// Treatment of the other objects.
    pub out_of_sample: OutOfSample,
    /// Description of the draw, for the record.
    pub note: String,
}

impl MemberInput {
    /// The whole problem.
    pub fn whole(problem: &Problem) -> Self {
        MemberInput {
            problem: problem.clone(),
            rows: None,
            space: Space::Whole,
            out_of_sample: OutOfSample::default(),
            note: "all objects".into(),
        }
    }
}
