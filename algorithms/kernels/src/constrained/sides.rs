//! Conclusions from pairs if there are two clusters.

/// Which objects are on the same side of two, as far as pairs say.
#[derive(Debug, Clone)]
pub struct Sides {
    /// The object that each object was joined to, and true if it is on the same side.
    above: Vec<(u32, bool)>,
}

impl Sides {
    /// Nothing is known of n objects.
    pub fn new(n: usize) -> Self {
        Sides { above: (0..n as u32).map(|i| (i, true)).collect() }
    }

    /// The root of an object, and whether it is on the side of its root.
    pub fn of(&mut self, i: u32) -> (u32, bool) {
        let (mut root, mut same) = (i, true);
        while self.above[root as usize].0 != root {
            let (next, with) = self.above[root as usize];
            (root, same) = (next, same == with);
        }
        // Objects on the way get the root, too: chains are long if each object has two constraints.
        let (mut at, mut rest) = (i, same);
        while at != root {
            let (next, with) = std::mem::replace(&mut self.above[at as usize], (root, rest));
            (at, rest) = (next, rest == with);
        }
        (root, same)
    }

    /// Takes two objects to be on one side, or not; false if the opposite is known.
    pub fn join(&mut self, i: u32, j: u32, one_side: bool) -> bool {
        let ((a, i_with), (b, j_with)) = (self.of(i), self.of(j));
        if a == b {
            return (i_with == j_with) == one_side;
        }
        self.above[b as usize] = (a, (i_with == j_with) == one_side);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_chains_are_followed_once() {
        // From each object separately they would take 2 · 10¹⁰ steps.
        let n = 200_000;
        let mut sides = Sides::new(n as usize);
        (1..n).rev().for_each(|i| assert!(sides.join(i - 1, i, false)));
        (0..n).rev().for_each(|i| assert_eq!(sides.of(i), (0, i % 2 == 0)));
    }

    #[test]
    fn sides_follow_chains() {
        let mut sides = Sides::new(6);
        assert!(sides.join(0, 1, false) && sides.join(1, 2, false) && sides.join(3, 4, true));
        assert!(sides.join(4, 0, false));
        let of = |sides: &mut Sides, i, j| {
            let (a, b) = (sides.of(i), sides.of(j));
            (a.0 == b.0).then_some(a.1 == b.1)
        };
        assert_eq!(of(&mut sides, 0, 2), Some(true));
        assert_eq!(of(&mut sides, 3, 2), Some(false));
        assert_eq!(of(&mut sides, 3, 1), Some(true));
        assert_eq!(of(&mut sides, 5, 1), None);
        assert!(!sides.join(3, 2, true) && sides.join(3, 2, false));
    }
}
