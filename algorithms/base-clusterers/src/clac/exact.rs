//! The cheapest proper colouring of a small graph.

use mustlink_core::{Context, Result};

/// Vertices of a component up to which it is coloured exactly.
pub(super) const MOST_VERTICES: usize = 12;
/// Nodes after which the search ends with the cheapest colouring so far, and between two looks at the flag.
const NODE_LIMIT: u64 = 10_000_000;
const NODES_PER_CHECK: u64 = 1024;

/// The colours of least total cost such that no edge joins equal ones; `None` where k colours do not
/// do. `costs` is m × k, row by row; `neighbours` are those of each vertex; of equal costs `current`
/// is tried first, then the lowest colour.
///
/// Branch and bound: what vertices without a colour cost at least is what each costs by itself.
///
/// # Errors
/// Cancellation.
pub(super) fn cheapest_colouring(
    costs: &[f64],
    k: usize,
    neighbours: &[Vec<usize>],
    current: &[u32],
    ctx: &Context,
) -> Result<Option<Vec<u32>>> {
    let m = neighbours.len();
    let row = |v: usize| &costs[v * k..][..k];
    // A vertex with g neighbours never needs more than its g + 1 cheapest colours: one of those is
    // free, whatever colours the neighbours have.
    let colours: Vec<Vec<u32>> = (0..m)
        .map(|v| {
            let mut all: Vec<u32> = (0..k as u32).collect();
            all.sort_by(|&a, &b| {
                let (x, y) = (row(v)[a as usize], row(v)[b as usize]);
                x.total_cmp(&y).then((b == current[v]).cmp(&(a == current[v]))).then(a.cmp(&b))
            });
            all.truncate(neighbours[v].len() + 1);
            all
        })
        .collect();
    // What the vertices from each on cost at least.
    let mut rest = vec![0.0; m + 1];
    for v in (0..m).rev() {
        rest[v] = rest[v + 1] + row(v)[colours[v][0] as usize];
    }
    let mut search = Search { costs, k, neighbours, colours, rest, best: None, nodes: 0, ctx };
    search.extend(0.0, &mut Vec::with_capacity(m))?;
    Ok(search.best.map(|(_, colouring)| colouring))
}

struct Search<'a> {
    costs: &'a [f64],
    k: usize,
    neighbours: &'a [Vec<usize>],
    colours: Vec<Vec<u32>>,
    rest: Vec<f64>,
    best: Option<(f64, Vec<u32>)>,
    nodes: u64,
    ctx: &'a Context,
}

impl Search<'_> {
    /// Colours the next vertex after those in `given`, which cost `spent`. At most
    /// [`MOST_VERTICES`] deep.
    fn extend(&mut self, spent: f64, given: &mut Vec<u32>) -> Result<()> {
        let v = given.len();
        self.nodes += 1;
        if self.nodes.is_multiple_of(NODES_PER_CHECK) {
            self.ctx.check()?;
        }
        if self.nodes > NODE_LIMIT {
            return Ok(());
        }
        if self.best.as_ref().is_some_and(|(least, _)| spent + self.rest[v] >= *least) {
            return Ok(());
        }
        if v == self.neighbours.len() {
            self.best = Some((spent, given.clone()));
            return Ok(());
        }
        for at in 0..self.colours[v].len() {
            let colour = self.colours[v][at];
            if self.neighbours[v].iter().all(|&u| given.get(u) != Some(&colour)) {
                given.push(colour);
                self.extend(spent + self.costs[v * self.k + colour as usize], given)?;
                given.pop();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::random::SeedPath;
    use proptest::prelude::*;

    /// The least cost over all kᵐ colourings.
    fn naive(costs: &[f64], k: usize, neighbours: &[Vec<usize>]) -> Option<f64> {
        let m = neighbours.len();
        let mut least: Option<f64> = None;
        for code in 0..k.pow(m as u32) {
            let colour = |v: usize| code / k.pow(v as u32) % k;
            if (0..m).all(|v| neighbours[v].iter().all(|&u| colour(u) != colour(v))) {
                let cost = (0..m).map(|v| costs[v * k + colour(v)]).sum();
                least = Some(least.map_or(cost, |l: f64| l.min(cost)));
            }
        }
        least
    }

    #[test]
    fn worked_example() {
        // A path of three, each cheapest in colour 0: the middle one gives way at a price of 1, where
        // placing it first would cost both ends 5.
        let costs = [0.0, 5.0, 0.0, 1.0, 0.0, 5.0];
        let path = [vec![1], vec![0, 2], vec![1]];
        let free = [u32::MAX; 3];
        let ctx = Context::new(1);
        let found = cheapest_colouring(&costs, 2, &path, &free, &ctx).unwrap();
        assert_eq!(found, Some(vec![0, 1, 0]));
        let triangle = [vec![1, 2], vec![0, 2], vec![0, 1]];
        assert_eq!(cheapest_colouring(&costs, 2, &triangle, &free, &ctx).unwrap(), None);
    }

    #[test]
    fn cancelling_is_heard_on_the_way() {
        // A crown of twelve whose vertices all prefer the same colour: that is no bound, and many
        // colourings are looked at.
        let (m, k) = (6, 6);
        let others = |i: usize| (0..m).filter(move |&j| j != i);
        let left = (0..m).map(|i| others(i).map(|j| m + j).collect());
        let crown: Vec<Vec<usize>> = left.chain((0..m).map(|i| others(i).collect())).collect();
        let cost = |colour: usize| if colour == 0 { 0.0 } else { 1.0 + colour as f64 / 100.0 };
        let costs: Vec<f64> = (0..2 * m * k).map(|at| cost(at % k)).collect();
        let current = [u32::MAX; 12];
        let looks = Context::builder(SeedPath::new(1)).count_looks().build();
        assert!(cheapest_colouring(&costs, k, &crown, &current, &looks).unwrap().is_some());
        assert!(looks.looks() > 1, "{}", looks.looks());
        let ctx = Context::builder(SeedPath::new(1)).cancel_after(1).build();
        let ended = cheapest_colouring(&costs, k, &crown, &current, &ctx);
        assert_eq!(ended, Err(mustlink_core::Error::Cancelled));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn nothing_is_cheaper(seed: u64, m in 1usize..7, k in 1usize..4, density in 0usize..10) {
            let mut s = SeedPath::new(seed).stream("colouring");
            let mut neighbours = vec![vec![]; m];
            for v in 0..m {
                for u in 0..v {
                    if s.below(10) < density {
                        neighbours[v].push(u);
                        neighbours[u].push(v);
                    }
                }
            }
            // Whole numbers: ties are frequent, and sums are exact.
            let costs: Vec<f64> = (0..m * k).map(|_| s.below(5) as f64).collect();
            let ctx = Context::new(1);
            let found = cheapest_colouring(&costs, k, &neighbours, &vec![0; m], &ctx).unwrap();
            let cost = found.as_ref().map(|c| {
                c.iter().enumerate().map(|(v, &h)| costs[v * k + h as usize]).sum::<f64>()
            });
            prop_assert_eq!(cost, naive(&costs, k, &neighbours));
            for (v, near) in neighbours.iter().enumerate().take(found.as_ref().map_or(0, Vec::len)) {
                let c = found.as_ref().unwrap();
                prop_assert!(near.iter().all(|&u| c[u] != c[v]));
            }
        }
    }
}
