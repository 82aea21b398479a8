//! Tests of several methods on several data sets.
//!
//! Tables are N data sets × k methods of scores, more is better. Demšar (2006); García et al. (2010).

use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor};

use super::paired::standard;
use super::ranks::{average_ranks, ties};
pub use super::ranks::{rounded, unit};

fn ranked(values: impl Iterator<Item = f64>) -> Vec<f64> {
    // Rank 1 is the best.
    let negated: Vec<f64> = values.map(|v| -rounded(v)).collect();
    average_ranks(&negated)
}

/// Friedman's test.
#[derive(Debug, Clone, PartialEq)]
pub struct Friedman {
    /// Mean rank of each method; 1 is the best.
    pub ranks: Vec<f64>,
    /// χ², corrected for ties.
    pub chi_squared: f64,
    /// Its p, of k − 1 degrees.
    pub p: f64,
    /// F of Iman and Davenport; infinite where all data sets rank the methods alike.
    pub f: f64,
    /// Its p, of (k − 1, (k − 1)(N − 1)) degrees; of an infinite F the chance that rankings drawn at random
    /// are all alike, for the distribution of F would make two data sets a proof.
    pub f_p: f64,
    /// Number of data sets.
    pub sets: usize,
}

/// Friedman's test of `rows`, one per data set; `None` with fewer than two data sets or methods, or when
/// rows differ in length.
pub fn friedman(rows: &[Vec<f64>]) -> Option<Friedman> {
    let (n, k) = shape(rows)?;
    let ranks: Vec<Vec<f64>> = rows.iter().map(|row| ranked(row.iter().copied())).collect();
    let (nf, kf) = (n as f64, k as f64);
    let mean: Vec<f64> = (0..k).map(|j| ranks.iter().map(|r| r[j]).sum::<f64>() / nf).collect();
    let squares: f64 = mean.iter().map(|r| r * r).sum();
    let tied: f64 = ranks.iter().map(|r| ties(r)).sum();
    let correction = 1.0 - tied / (nf * kf * (kf * kf - 1.0));
    let plain = 12.0 * nf / (kf * (kf + 1.0)) * (squares - kf * (kf + 1.0).powi(2) / 4.0);
    let chi_squared = if correction > 0.0 { (plain / correction).max(0.0) } else { 0.0 };
    let p = ChiSquared::new(kf - 1.0).ok()?.sf(chi_squared);
    let rest = nf * (kf - 1.0) - chi_squared;
    let (f, f_p) = if rest > 1e-9 {
        let f = (nf - 1.0) * chi_squared / rest;
        (f, FisherSnedecor::new(kf - 1.0, (kf - 1.0) * (nf - 1.0)).ok()?.sf(f))
    } else {
        (f64::INFINITY, chance_of_agreement(&ranks[0], n))
    };
    Some(Friedman { ranks: mean, chi_squared, p, f, f_p, sets: n })
}

/// The chance that `n` rows whose ranks are those of `row` in random order all have the same order: one over
/// their number, k! / Π t! with t of each rank, for each row after the first.
fn chance_of_agreement(row: &[f64], n: usize) -> f64 {
    let mut sorted = row.to_vec();
    mustlink_core::order::sort_values(&mut sorted);
    let (mut orders, mut placed) = (1.0, 0u32);
    for group in sorted.chunk_by(|a, b| a == b) {
        for at in 1..=group.len() {
            placed += 1;
            orders *= f64::from(placed) / at as f64;
        }
    }
    f64::powi(orders, 1 - n as i32)
}

fn shape(rows: &[Vec<f64>]) -> Option<(usize, usize)> {
    let k = rows.first()?.len();
    (rows.len() >= 2 && k >= 2 && rows.iter().all(|r| r.len() == k)).then_some((rows.len(), k))
}

/// Friedman's test on aligned ranks.
#[derive(Debug, Clone, PartialEq)]
pub struct Aligned {
    /// Sum of the aligned ranks of each method; small is good.
    pub totals: Vec<f64>,
    /// Sum of those of each data set.
    pub rows: Vec<f64>,
    /// The statistic, of k − 1 degrees.
    pub t: f64,
    /// Its p.
    pub p: f64,
    /// The statistic with the constant as printed, which takes no notice of ties.
    pub t_printed: f64,
    /// Its p.
    pub p_printed: f64,
    /// Number of data sets.
    pub sets: usize,
}

/// Aligned ranks: each data set's mean is subtracted, then all scores are ranked together.
pub fn aligned(rows: &[Vec<f64>]) -> Option<Aligned> {
    let (n, k) = shape(rows)?;
    let (nf, kf) = (n as f64, k as f64);
    let flat = rows.iter().flat_map(|row| {
        let mean = row.iter().sum::<f64>() / kf;
        row.iter().map(move |v| v - mean)
    });
    let ranks = ranked(flat);
    let rank = |i: usize, j: usize| ranks[i * k + j];
    let totals: Vec<f64> = (0..k).map(|j| (0..n).map(|i| rank(i, j)).sum()).collect();
    let by_row: Vec<f64> = (0..n).map(|i| (0..k).map(|j| rank(i, j)).sum()).collect();
    let within: f64 = by_row.iter().map(|r| r * r).sum::<f64>() / kf;
    let spread = ranks.iter().map(|r| r * r).sum::<f64>() - within;
    let all = kf * nf;
    let printed = all * (all + 1.0) * (2.0 * all + 1.0) / 6.0 - within;
    let between =
        totals.iter().map(|r| r * r).sum::<f64>() - kf * nf * nf / 4.0 * (all + 1.0).powi(2);
    let chi = ChiSquared::new(kf - 1.0).ok()?;
    let of =
        |spread: f64| if spread > 0.0 { ((kf - 1.0) * between / spread).max(0.0) } else { 0.0 };
    let (t, t_printed) = (of(spread), of(printed));
    let (p, p_printed) = (chi.sf(t), chi.sf(t_printed));
    Some(Aligned { totals, rows: by_row, t, p, t_printed, p_printed, sets: n })
}

impl Friedman {
    /// z and two-sided p of every method against number `control`, by mean ranks.
    pub fn against(&self, control: usize) -> Vec<(f64, f64)> {
        let k = self.ranks.len() as f64;
        against(&self.ranks, control, (k * (k + 1.0) / (6.0 * self.sets as f64)).sqrt())
    }
}

impl Aligned {
    /// z and two-sided p of every method against number `control`, by mean aligned ranks. By chance two
    /// of them differ as two means of N ranks drawn from 1 ..= kN do; the error that García et al. (2010)
    /// print rejects far more often.
    pub fn against(&self, control: usize) -> Vec<(f64, f64)> {
        let (k, n) = (self.totals.len() as f64, self.sets as f64);
        let means: Vec<f64> = self.totals.iter().map(|r| r / n).collect();
        against(&means, control, (k * (k * n + 1.0) / 6.0).sqrt())
    }

    /// The same with the error that García et al. (2010) print, √(k(N + 1)/6).
    pub fn against_as_printed(&self, control: usize) -> Vec<(f64, f64)> {
        let (k, n) = (self.totals.len() as f64, self.sets as f64);
        let means: Vec<f64> = self.totals.iter().map(|r| r / n).collect();
        against(&means, control, (k * (n + 1.0) / 6.0).sqrt())
    }
}

fn against(ranks: &[f64], control: usize, error: f64) -> Vec<(f64, f64)> {
    let z = |r: &f64| if error > 0.0 { (r - ranks[control]) / error } else { 0.0 };
    ranks.iter().map(z).map(|z| (z, 2.0 * standard().sf(z.abs()))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::multiple::holm;
    use super::*;
    use proptest::prelude::*;

    fn table() -> Vec<Vec<f64>> {
        [
            [0.90, 0.85, 0.80],
            [0.70, 0.75, 0.60],
            [0.88, 0.80, 0.79],
            [0.60, 0.50, 0.55],
            [0.95, 0.93, 0.90],
            [0.77, 0.70, 0.66],
        ]
        .map(|row| row.to_vec())
        .to_vec()
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 5e-7, "{a} is not {b}");
    }

    fn all_near(a: &[f64], b: &[f64]) {
        assert_eq!(a.len(), b.len());
        a.iter().zip(b).for_each(|(a, b)| near(*a, *b));
    }

    #[test]
    fn published_values_of_both_tests() {
        let f = friedman(&table()).unwrap();
        all_near(&f.ranks, &[7.0 / 6.0, 2.0, 17.0 / 6.0]);
        near(f.chi_squared, 8.333333333);
        near(f.p, 0.015503853599);
        near(f.f, 11.363636364);
        near(f.f_p, 0.002663489089);
        let a = aligned(&table()).unwrap();
        all_near(&a.totals, &[27.0, 57.5, 86.5]);
        all_near(&a.rows, &[30.0, 26.0, 29.0, 30.0, 27.0, 29.0]);
        near(a.t, 7.423480083857);
        near(a.p, 0.024434968390);
        near(a.t_printed, 7.377083333333);
        near(a.p_printed, 0.025008446113);
    }

    #[test]
    fn published_values_against_a_control() {
        let a = aligned(&table()).unwrap();
        let (z, p): (Vec<f64>, Vec<f64>) = a.against(0).into_iter().skip(1).unzip();
        all_near(&z, &[1.649251, 3.217392]);
        all_near(&p, &[0.099096200, 0.001293619]);
        all_near(&holm(&p), &[0.099096200, 0.002587239]);
        // √(k(N + 1)/6) in place of √(k(kN + 1)/6).
        let larger = (19.0f64 / 7.0).sqrt();
        for (printed, plain) in a.against_as_printed(0).iter().zip(a.against(0)) {
            near(printed.0, plain.0 * larger);
        }
        let (z, p): (Vec<f64>, Vec<f64>) =
            friedman(&table()).unwrap().against(0).into_iter().skip(1).unzip();
        all_near(&z, &[1.443376, 2.886751]);
        all_near(&p, &[0.148914673, 0.003892417]);
    }

    #[test]
    fn agreement_of_few_sets_is_no_proof() {
        let of = |row: &[f64], sets: usize| friedman(&vec![row.to_vec(); sets]).unwrap();
        // A second data set agrees with the first about two methods every other time.
        let two = of(&[0.9, 0.8], 2);
        assert!(two.f.is_infinite());
        near(two.f_p, 0.5);
        near(of(&[0.9, 0.8, 0.7], 3).f_p, 1.0 / 36.0);
        // Three orders where two methods are equal.
        near(of(&[0.9, 0.8, 0.8], 3).f_p, 1.0 / 9.0);
    }

    #[test]
    fn nothing_to_compare_is_no_test() {
        assert!(friedman(&[vec![1.0, 2.0]]).is_none() && aligned(&[]).is_none());
        assert!(friedman(&[vec![1.0], vec![2.0]]).is_none());
        let same = friedman(&vec![vec![0.5, 0.5]; 4]).unwrap();
        assert_eq!((same.ranks, same.p), (vec![1.5, 1.5], 1.0));
        assert_eq!(aligned(&vec![vec![0.5, 0.5]; 4]).unwrap().p, 1.0);
    }

    fn scores() -> impl Strategy<Value = Vec<Vec<f64>>> {
        (2usize..6, 2usize..8).prop_flat_map(|(k, n)| {
            prop::collection::vec(prop::collection::vec((0i32..1000).prop_map(f64::from), k), n)
        })
    }

    proptest! {
        #[test]
        fn ranks_add_up_and_shifts_change_nothing(rows in scores(), by in -50i32..50) {
            let (n, k) = (rows.len() as f64, rows[0].len() as f64);
            let (f, a) = (friedman(&rows).unwrap(), aligned(&rows).unwrap());
            prop_assert!((f.ranks.iter().sum::<f64>() - k * (k + 1.0) / 2.0).abs() < 1e-9);
            prop_assert!((a.totals.iter().sum::<f64>() - k * n * (k * n + 1.0) / 2.0).abs() < 1e-6);
            prop_assert!([f.p, f.f_p, a.p].iter().all(|p| (0.0..=1.0).contains(p)));
            // Any increasing map of a data set leaves Friedman alone, a shift leaves both alone.
            let shifted: Vec<Vec<f64>> = rows.iter().enumerate()
                .map(|(i, row)| row.iter().map(|v| v + f64::from(by) * i as f64).collect()).collect();
            prop_assert_eq!(friedman(&shifted).unwrap(), f.clone());
            prop_assert!((aligned(&shifted).unwrap().t - a.t).abs() < 1e-6 * a.t.max(1.0));
            let bent: Vec<Vec<f64>> =
                rows.iter().map(|row| row.iter().map(|v| v * v * v).collect()).collect();
            prop_assert_eq!(friedman(&bent).unwrap(), f);
        }

        #[test]
        fn of_two_methods_it_is_the_sign_test(pairs in prop::collection::vec((0i32..1000, 1000i32..2000, prop::bool::ANY), 2..12)) {
            let rows: Vec<Vec<f64>> = pairs.iter()
                .map(|&(a, b, swap)| if swap { vec![f64::from(b), f64::from(a)] } else { vec![f64::from(a), f64::from(b)] })
                .collect();
            let n = rows.len() as f64;
            let wins = rows.iter().filter(|r| r[0] > r[1]).count() as f64;
            let sign = (2.0 * wins - n) / n.sqrt();
            prop_assert!((friedman(&rows).unwrap().chi_squared - sign * sign).abs() < 1e-9);
        }
    }
}
