//! The clusters between two questions of COBRAS.

use mustlink_core::knowledge::Learned;

use super::{Part, Phase, Refining};
use crate::parts::representative_pairs::Near;

impl Refining {
    /// All super-instances, and the number of those, at the beginning, that the last split did not touch.
    pub(super) fn standing(&self) -> (Vec<&Part>, usize) {
        let mut parts: Vec<&Part> = self.parts.iter().collect();
        let mut settled = parts.len();
        match &self.phase {
            Phase::Search(search) => {
                parts.extend(&search.aside);
                parts.push(&search.inside);
            }
            Phase::Merge { first, .. } => settled = *first,
            Phase::Choose | Phase::Merged | Phase::Done => {}
        }
        (parts, settled)
    }

    /// A name for the cluster of each object.
    pub(super) fn clusters(&self) -> Vec<u32> {
        let (parts, settled) = self.standing();
        // Assumptions made from here on never contradict known pairs.
        let mut known = self.knowledge.clone();
        let (old, new) = parts.split_at(settled);
        let rest = |part: &Part| {
            let rest = old.iter().filter(|other| other.cluster == part.cluster);
            rest.map(|other| self.near(part.representative, other.representative)).min()
        };
        let mut back: Vec<Near> = new.iter().filter_map(|&part| rest(part)).collect();
        back.sort_unstable();
        for Near { a, b, .. } in back {
            known.must(a, b);
        }
        // Objects of clusters that have a representative need none; joining them joins no two clusters.
        let mut placed = vec![false; self.problem.n()];
        for part in &parts {
            placed[known.component(part.representative) as usize] = true;
        }
        let mut apart: Vec<u32> = Vec::new();
        for part in &parts {
            for &i in part.members.iter().filter(|&&i| i != part.representative) {
                if placed[known.component(i) as usize] {
                    continue;
                }
                if known.must(i, part.representative) == Learned::Conflict {
                    apart.push(i);
                } else {
                    placed[known.component(i) as usize] = true;
                }
            }
        }
        for i in apart {
            if placed[known.component(i) as usize] {
                continue;
            }
            let open = parts.iter().map(|part| part.representative);
            let open = open.filter(|&r| known.relation(i, r).is_none()).map(|r| self.near(i, r));
            if let Some(Near { a, b, .. }) = open.min() {
                known.must(a, b);
            }
            placed[known.component(i) as usize] = true;
        }
        (0..self.problem.n() as u32).map(|i| known.component(i)).collect()
    }
}
