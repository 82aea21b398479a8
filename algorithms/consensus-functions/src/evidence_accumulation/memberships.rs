//! Similarities of objects that belong to clusters by shares.

use std::ops::Range;

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::inner_product;

use crate::parts::canonical_ensemble::{CanonicalEnsemble, order};

/// Objects whose rows are held near while they are compared with a batch of others.
const TILE: usize = 64;

/// The memberships of all objects in the clusters of all members, object by object.
pub(super) struct Memberships {
    n: usize,
    width: usize,
    rows: Vec<f64>,
    /// The columns of each member, and how much it counts.
    members: Vec<(Range<usize>, f64)>,
}

impl Memberships {
    /// The memberships of the members of `view`; an object that a member misses is in none of its
    /// clusters.
    ///
    /// # Errors
    /// `BadParam` for members without memberships, or with others than finite numbers >= 0 for each
    /// object and cluster.
    pub(super) fn new(view: &CanonicalEnsemble, tag: &str) -> Result<Self> {
        let refused = |what: String| {
            let legal = format!("used with memberships >= 0 in each cluster; a member has {what}");
            Error::bad_param("consensus", tag, legal)
        };
        let mut tables = Vec::with_capacity(view.len());
        let mut width = 0;
        for (t, member) in view.members.iter().enumerate() {
            let table = member.extras.memberships.as_ref();
            let table = table.ok_or_else(|| refused("none".into()))?;
            let clusters = view.columns(t).len();
            if table.nrows() != view.n || table.ncols() < clusters {
                let (rows, columns) = table.dim();
                let of = format!("{rows} × {columns} for {} objects in {clusters}", view.n);
                return Err(refused(of));
            }
            if let Some(other) = table.iter().find(|u| !u.is_finite() || **u < 0.0) {
                return Err(refused(other.to_string()));
            }
            // Clusters in an order that forgets their names; those that are nobody's most come last.
            let mut columns = order(member, table.ncols());
            let rest: Vec<usize> = (0..table.ncols()).filter(|l| !columns.contains(l)).collect();
            columns.extend(rest);
            tables.push((table, columns, width..width + table.ncols()));
            width += table.ncols();
        }
        let mut rows = vec![0.0; view.n * width];
        reduce::rows(&mut rows, width, |i, row| {
            for (t, (table, columns, place)) in tables.iter().enumerate() {
                if view.labels[t][i] != NONE {
                    let own = columns.iter().map(|&l| table[[i, l]]);
                    row[place.clone()].iter_mut().zip(own).for_each(|(to, u)| *to = u);
                }
            }
        });
        let places = tables.into_iter().map(|(_, _, place)| place);
        let members = places.zip(view.given.iter().copied()).collect();
        Ok(Memberships { n: view.n, width, rows, members })
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.rows[i * self.width..(i + 1) * self.width]
    }

    /// For each object of `batch` the sum over all members of weight × inner product with the
    /// memberships of every object: the same bits from whichever of two objects it is asked for, as the row
    /// of the first of them is the one that is weighed.
    pub(super) fn products(&self, batch: Range<usize>) -> Vec<Vec<f64>> {
        let weighed = |i: usize| {
            let mut row = self.row(i).to_vec();
            for (place, weight) in &self.members {
                row[place.clone()].iter_mut().for_each(|u| *u *= weight);
            }
            row
        };
        let own: Vec<Vec<f64>> = batch.clone().map(weighed).collect();
        let all_alike = self.members.iter().all(|(_, weight)| *weight == 1.0);
        // Tile by tile, so that the table goes by once for the whole batch.
        let tiles = reduce::map(self.n.div_ceil(TILE), |tile| {
            let others = tile * TILE..((tile + 1) * TILE).min(self.n);
            // Those that may come before one of the batch.
            let end = if all_alike { others.start } else { others.end.min(batch.end) };
            let firsts: Vec<Vec<f64>> = (others.start..end).map(weighed).collect();
            let mut out = Vec::with_capacity(own.len() * others.len());
            for (i, row) in batch.clone().zip(&own) {
                let product = |j: usize| match firsts.get(j - others.start) {
                    Some(first) if j < i => inner_product(first, self.row(i)),
                    _ => inner_product(row, self.row(j)),
                };
                out.extend(others.clone().map(product));
            }
            out
        });
        let of = |at: usize| {
            let part = |tile: &Vec<f64>| {
                let len = tile.len() / own.len();
                tile[at * len..(at + 1) * len].to_vec()
            };
            tiles.iter().flat_map(part).collect()
        };
        (0..own.len()).map(of).collect()
    }
}
