//! Entailed relations between links, and contradictions among links.

use std::collections::VecDeque;

use mustlink_core::closure::UnionFind;
use mustlink_core::clustering::compact;
use mustlink_core::prelude::*;

/// A must-link or cannot-link between two nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// The first node.
    pub a: usize,
    /// The second node.
    pub b: usize,
    /// Must-link or cannot-link.
    pub kind: Kind,
    /// The answer it is, by its place; `None` for what is given.
    pub told: Option<usize>,
}

/// Conclusions from links.
pub struct Relations {
    component: Vec<u32>,
    /// Which components are apart: a bit for each two.
    apart: Vec<u64>,
    components: usize,
    contradiction: bool,
}

impl Relations {
    /// Conclusions from `links` between `nodes` nodes.
    pub fn of(nodes: usize, links: &[Link]) -> Self {
        let mut found = together(nodes, links.iter());
        let roots: Vec<u32> = (0..nodes as u32).map(|node| found.find(node)).collect();
        let (component, components) = compact(&roots);
        let mut made = Relations {
            component,
            apart: vec![0; (components * components).div_ceil(64)],
            components,
            contradiction: false,
        };
        for link in links.iter().filter(|link| link.kind == Kind::CannotLink) {
            let (a, b) = (made.component(link.a), made.component(link.b));
            made.contradiction |= a == b;
            for at in [a * components + b, b * components + a] {
                made.apart[at / 64] |= 1 << (at % 64);
            }
        }
        made
    }

    /// The number of the component of a node.
    pub fn component(&self, node: usize) -> usize {
        self.component[node] as usize
    }

    /// True if links contradict each other.
    pub fn contradiction(&self) -> bool {
        self.contradiction
    }

    /// Relation that follows for two nodes.
    pub fn between(&self, a: usize, b: usize) -> Option<Kind> {
        let (a, b) = (self.component(a), self.component(b));
        if a == b {
            return Some(Kind::MustLink);
        }
        let at = a * self.components + b;
        (self.apart[at / 64] >> (at % 64) & 1 == 1).then_some(Kind::CannotLink)
    }

    /// A cannot-link among the links numbered `some` and a shortest path of must-links among them that it
    /// contradicts, if there is one; the cannot-link stands last.
    pub fn cycle(nodes: usize, links: &[Link], some: &[usize]) -> Option<Vec<usize>> {
        let mut found = together(nodes, some.iter().map(|&at| &links[at]));
        let broken = some.iter().copied().find(|&at| {
            let link = &links[at];
            let (a, b) = (found.find(link.a as u32), found.find(link.b as u32));
            link.kind == Kind::CannotLink && a == b
        })?;
        let mut around: Vec<Vec<usize>> = vec![Vec::new(); nodes];
        for &at in some.iter().filter(|&&at| links[at].kind == Kind::MustLink) {
            around[links[at].a].push(at);
            around[links[at].b].push(at);
        }
        let (start, end) = (links[broken].a, links[broken].b);
        let mut through: Vec<Option<usize>> = vec![None; nodes];
        let mut queue = VecDeque::from([start]);
        let other = |at: usize, node: usize| links[at].a + links[at].b - node;
        while let Some(node) = queue.pop_front() {
            for &at in &around[node] {
                let next = other(at, node);
                if next != start && through[next].is_none() {
                    through[next] = Some(at);
                    queue.push_back(next);
                }
            }
        }
        let (mut path, mut node) = (Vec::new(), end);
        while node != start {
            let at = through[node]?;
            path.push(at);
            node = other(at, node);
        }
        path.push(broken);
        Some(path)
    }
}

/// The components of the must-links.
fn together<'a>(nodes: usize, links: impl Iterator<Item = &'a Link>) -> UnionFind {
    let mut found = UnionFind::new(nodes);
    for link in links.filter(|link| link.kind == Kind::MustLink) {
        found.union(link.a as u32, link.b as u32);
    }
    found
}
