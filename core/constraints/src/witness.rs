//! Witnesses: the reasons why a set of constraints cannot be satisfied.

/// A contradiction: a cannot-link whose ends are joined by must-links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// Index of the cannot-link in the canonical list.
    pub index: usize,
    /// Its ends.
    pub cannot: (u32, u32),
    /// A shortest path of must-links between them, both ends included.
    pub path: Vec<u32>,
    /// Indexes of those must-links in the canonical list.
    pub links: Vec<usize>,
    /// Name of the group that the cannot-link is of, if it is not listed by itself.
    pub group: Option<String>,
}

/// Contradictions of one set of constraints, as an error shows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradictions {
    /// The first of them: all, or [`Contradictions::SHOWN`], for each is a search of its own; none where they
    /// are too many for a few to help.
    pub shown: Vec<Witness>,
    /// Number of contradictions.
    pub count: usize,
}

impl Contradictions {
    /// Largest number that a message shows.
    pub const SHOWN: usize = 5;
}

impl From<Vec<Witness>> for Contradictions {
    fn from(shown: Vec<Witness>) -> Self {
        let count = shown.len();
        Contradictions { shown, count }
    }
}

/// Reason why constraints cannot be satisfied with k clusters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Infeasible {
    /// More than k objects, all of which must be in different clusters.
    Clique(Vec<u32>),
    /// A group of more than k components whose members must all be apart.
    Group {
        /// Its name.
        name: String,
        /// One object of each component.
        members: Vec<u32>,
    },
    /// For k = 2: a closed walk of odd length along cannot-links (and must-links).
    OddCycle(Vec<u32>),
    /// Objects, one of each must-link component, for which a complete search found no clusters.
    Exhausted(Vec<u32>),
    /// Limits of the size of clusters, which cannot hold together with the constraints.
    Limits {
        /// Names and values of the limits.
        limits: String,
        /// Objects that must-links join, or a single one, which are too large for any cluster; empty if a complete
        /// search found no clusters.
        objects: Vec<u32>,
    },
    /// The objects that found no admissible cluster in any attempt.
    Blocked(Vec<u32>),
    /// Objects that belong together and found, in the last attempt, something they must be apart
    /// from in every cluster.
    Surrounded {
        /// The objects.
        unit: Vec<u32>,
        /// Objects that blocked it, with their clusters.
        by: Vec<(u32, u32)>,
    },
}
