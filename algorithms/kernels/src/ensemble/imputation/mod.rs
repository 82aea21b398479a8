//! Imputation: the pairs that almost all members agree on.
//!
//! Pairs that nearly all members put together are imputed must-links, pairs that nearly none puts together
//! imputed cannot-links. The pairs themselves are usually too many to list: they are counted, scored
//! against classes, and united to neighbourhoods as they go by. They are knowledge about the ensemble,
//! not supervision.
//!
//! Source: [Greene2007] Fig. 3, Eq. 2.

mod blocks;
mod constraints;
mod neighbourhoods;
mod tally;
mod thresholds;

pub use constraints::imputed_constraints;
pub use neighbourhoods::{MAX_CANDIDATES, neighbourhoods};
pub use tally::{Histogram, Imputed, Tally, histogram, impute};
pub use thresholds::Thresholds;

#[cfg(test)]
mod tests {
    use super::blocks::{blocks, must_links_by_blocks};
    use super::*;
    use crate::ensemble::co_association::tests::ensembles;
    use crate::ensemble::co_association::{CoAssociation, Normalise};
    use crate::ensemble::signatures::Signatures;
    use crate::ensemble::signatures::tests::e12;
    use mustlink_core::ensemble::{Ensemble, Member};
    use mustlink_core::random::SeedPath;
    use mustlink_core::{Context, Kind};
    use proptest::prelude::*;

    fn context() -> Context {
        Context::new(1)
    }

    fn forms(e: &Ensemble) -> [CoAssociation; 2] {
        [CoAssociation::dense(e, &context()).unwrap(), CoAssociation::implicit(e)]
    }

    fn classes() -> Vec<Option<u32>> {
        [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2].map(Some).to_vec()
    }

    #[test]
    fn e12_imputed() {
        for (must, cannot, expected) in [
            (0.98, 0.0, (5, 5, 19, 32, 32, 47)),
            (0.80, 0.0, (13, 13, 19, 32, 32, 47)),
            (0.80, 0.20, (13, 13, 19, 40, 40, 47)),
        ] {
            let t = Thresholds::new(must, cannot, 5).unwrap();
            for co in forms(&e12()) {
                let i = impute(&co, &t, Some(&classes()), &context()).unwrap();
                let (m, c) = (i.must, i.cannot);
                let found = (m.selected, m.correct, m.wanted, c.selected, c.correct, c.wanted);
                assert_eq!(found, expected);
                assert_eq!((m.precision(), m.recall()), (Some(1.0), Some(m.correct as f64 / 19.0)));
                let all = [Kind::MustLink, Kind::CannotLink];
                let listed = imputed_constraints(&co, &t, &all, 100, &context()).unwrap();
                assert_eq!(listed.count(Kind::MustLink) as u64, m.selected);
                assert_eq!(listed.count(Kind::CannotLink) as u64, c.selected);
                assert!(listed.facts().is_empty(), "nothing follows from a guess");
                assert!(imputed_constraints(&co, &t, &all, 10, &context()).is_err());
            }
        }
    }

    #[test]
    fn e12_histogram() {
        for co in forms(&e12()) {
            let h = histogram(&co, Some(&classes()), &context()).unwrap();
            // 5 must-links, 13 from four members on, 32 pairs that nobody puts together.
            assert_eq!((h.pairs[5], h.pairs[4] + h.pairs[5], h.pairs[0]), (5, 13, 32));
            assert_eq!((h.pairs.iter().sum::<u64>(), h.alike.iter().sum::<u64>()), (66, 19));
            let apart: Vec<u64> = h.pairs.iter().zip(&h.alike).map(|(p, a)| p - a).collect();
            assert_eq!(h.apart, apart);
        }
    }

    #[test]
    fn e12_neighbourhoods() {
        let t = Thresholds::new(0.8, 0.0, 5).unwrap();
        for co in forms(&e12()) {
            let sets = neighbourhoods(&co, &t, MAX_CANDIDATES, &context()).unwrap();
            assert_eq!(sets, [vec![0, 1, 2, 3], vec![5, 6, 7, 8], vec![9, 10, 11]]);
        }
        let one = Thresholds::new(1.0, 0.0, 5).unwrap();
        for co in forms(&e12()) {
            let sets = neighbourhoods(&co, &one, MAX_CANDIDATES, &context()).unwrap();
            assert_eq!(sets, [vec![0, 1, 2], vec![5, 6], vec![10, 11]]);
        }
        let few = neighbourhoods(&CoAssociation::implicit(&e12()), &t, 2, &context());
        assert!(few.unwrap_err().to_string().starts_with("max_candidates: must be larger here"));
    }

    #[test]
    fn e12_block_filter() {
        let e = e12();
        let s = Signatures::new(&e);
        let t = Thresholds::new(0.8, 0.0, 5).unwrap();
        // Members 1 to 3 and 4 to 5: one may dissent.
        assert_eq!(blocks(&s, &t), [0..3, 3..5]);
        let found = must_links_by_blocks(&s, &t, u64::MAX, &context()).unwrap().unwrap();
        assert_eq!((found.candidates, found.verified), (13, 13));
        // The same pairs, all of them, in the first block they agree in.
        let co = CoAssociation::dense(&e, &context()).unwrap();
        let listed = |co: &CoAssociation, kinds: &[Kind]| {
            imputed_constraints(co, &t, kinds, u64::MAX, &context()).unwrap()
        };
        let by_blocks = listed(&CoAssociation::implicit(&e), &[Kind::MustLink]);
        assert_eq!(by_blocks, listed(&co, &[Kind::MustLink]));
        assert_eq!(by_blocks.len(), 13);
    }

    #[test]
    fn thresholds_survive_decimals() {
        let must = |kappa, of| Thresholds::new(kappa, 0.0, of).unwrap().must(of as u32);
        assert_eq!((must(0.98, 2000), must(0.29, 100), must(0.45, 10)), (1960, 29, 5));
        assert_eq!(Thresholds::new(1.0, 0.55, 10).unwrap().cannot(10), 5);
        for (must, cannot) in [(0.2, 0.2), (0.5, -0.1), (1.1, 0.0), (f64::NAN, 0.0)] {
            assert!(Thresholds::new(must, cannot, 10).is_err());
        }
        let text = Thresholds::new(0.1, 0.3, 5).unwrap_err().to_string();
        let legal = "0 <= kappa_cannot < kappa_must <= 1";
        assert_eq!(text, format!("kappa_must: must be {legal}, got 0.1 with kappa_cannot = 0.3"));
    }

    #[test]
    fn pairs_nobody_saw_are_never_imputed() {
        use mustlink_core::clustering::NONE;
        let m = |l: &[u32]| Member::from_labels(l);
        let e = Ensemble::new(3, vec![m(&[0, NONE, 0]), m(&[NONE, 0, NONE])]).unwrap();
        let t = Thresholds::new(1.0, 0.0, 2).unwrap().normalised(Normalise::CoPresence, 1);
        for co in forms(&e) {
            let i = impute(&co, &t, None, &context()).unwrap();
            assert_eq!((i.must.selected, i.cannot.selected), (1, 0));
        }
    }

    #[test]
    fn every_object_of_a_bucket_looks_at_the_flag() {
        // Ten objects to a bucket of the first member; the second tells all apart.
        let (tens, ones): (Vec<u32>, Vec<u32>) = (0..100).map(|i| (i / 10, i)).unzip();
        let members = vec![Member::from_labels(&tens), Member::from_labels(&ones)];
        let e = Ensemble::new(100, members).unwrap();
        let t = Thresholds::new(0.5, 0.0, 2).unwrap();
        let s = Signatures::new(&e);
        let looking = || Context::builder(SeedPath::new(1)).count_looks().build();
        let ctx = looking();
        let found = must_links_by_blocks(&s, &t, u64::MAX, &ctx).unwrap().unwrap();
        assert_eq!(found.verified, 450);
        assert!(ctx.looks() >= 100, "{}", ctx.looks());
        let ctx = looking();
        let sets = neighbourhoods(&CoAssociation::implicit(&e), &t, MAX_CANDIDATES, &ctx).unwrap();
        assert_eq!(sets.len(), 10);
        assert!(ctx.looks() >= 100, "{}", ctx.looks());
    }

    proptest! {
        #[test]
        fn without_a_matrix_the_same_is_imputed(
            e in ensembles(false),
            must in 0usize..9,
            cannot in 0.0f64..0.5,
        ) {
            let must = [0.5001, 0.6, 0.7, 0.75, 0.8, 0.9, 0.98, 0.999, 1.0][must];
            let t = Thresholds::new(must, cannot, e.len()).unwrap();
            let classes: Vec<Option<u32>> =
                (0..e.n() as u32).map(|i| (i % 7 != 3).then_some(i * i % 4)).collect();
            let [dense, implicit] = forms(&e);
            let at = |co| impute(co, &t, Some(&classes), &context()).unwrap();
            prop_assert_eq!(at(&dense), at(&implicit));
            let sets = |co| neighbourhoods(co, &t, MAX_CANDIDATES, &context()).unwrap();
            prop_assert_eq!(sets(&dense), sets(&implicit));
            let listed = |co| {
                imputed_constraints(co, &t, &[Kind::MustLink, Kind::CannotLink], u64::MAX, &context())
            };
            prop_assert_eq!(listed(&dense).unwrap(), listed(&implicit).unwrap());
            let must_links = |co, most| {
                imputed_constraints(co, &t, &[Kind::MustLink], most, &context())
                    .map_err(|e| e.to_string())
            };
            prop_assert_eq!(must_links(&dense, u64::MAX), must_links(&implicit, u64::MAX));
            prop_assert_eq!(must_links(&dense, 3), must_links(&implicit, 3));
            // Slowly: pair by pair.
            let mut slow = Imputed::default();
            for i in 0..e.n() {
                for j in 0..i {
                    let known = u64::from(classes[i].is_some() && classes[j].is_some());
                    let alike = u64::from(known == 1 && classes[i] == classes[j]);
                    slow.add(t.judge(dense.count(i, j), e.len() as u32), (1, known, alike));
                    slow.must.wanted += alike;
                    slow.cannot.wanted += known - alike;
                }
            }
            prop_assert_eq!(at(&dense), slow);
            // A stricter threshold imputes no more, and its neighbourhoods refine these.
            let strict = Thresholds::new(1.0, 0.0, e.len()).unwrap();
            let fewer = impute(&dense, &strict, None, &context()).unwrap();
            prop_assert!(fewer.must.selected <= slow.must.selected);
            prop_assert!(fewer.cannot.selected <= slow.cannot.selected);
            let wide = sets(&dense);
            for set in neighbourhoods(&dense, &strict, MAX_CANDIDATES, &context()).unwrap() {
                prop_assert!(wide.iter().any(|w| set.iter().all(|i| w.contains(i))));
            }
        }
    }
}
