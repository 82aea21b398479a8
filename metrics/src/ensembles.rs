//! The quality, diversity and certainty of the members of an ensemble.
//!
//! These look at the ensemble a method holds (the first generator in its configuration), not at the
//! labels it arrived at, except `anmi`. Objects outside the scope, and for scores against classes
//! those of unknown class, are taken out of every member; labellings that have fewer than two objects in common
//! are not compared.

use mustlink_core::prelude::*;
use mustlink_kernels::agreement::contingency::{Average, Contingency};
use mustlink_kernels::ensemble::co_association::{CoAssociation, Normalise};
use mustlink_kernels::ensemble::imputation::{Imputed, Tally, Thresholds, impute};

use crate::parts::agreement::{check_scope, in_scope, within};

/// Members up to which all pairs of them are compared.
const ALL_PAIRS_UP_TO: usize = 500;
/// Pairs of members that are compared where there are more.
const SAMPLED_PAIRS: usize = 100_000;

/// The members over the objects that count, with the classes of these.
struct Judged {
    ensemble: Ensemble,
    classes: Vec<u32>,
    labels: Vec<u32>,
    ctx: Context,
}

/// Input of the scores of this file; `None` without an ensemble or objects.
fn judged(input: &MetricInput, with_classes: bool) -> Result<Option<Judged>> {
    check_scope(input)?;
    let Some(ensemble) = input.ensemble else { return Ok(None) };
    let n = input.labels.len();
    if ensemble.n() != n {
        let given = format!("{} objects", ensemble.n());
        return Err(Error::bad_param("ensemble", given, format!("{n} objects")));
    }
    let class = |i: usize| match (with_classes, input.truth) {
        (false, _) => Ok(Some(0)),
        (true, None) => Ok(None),
        (true, Some(truth)) if truth.len() != n => {
            let given = format!("{} classes", truth.len());
            Err(Error::bad_param("truth", given, format!("one class per object ({n})")))
        }
        (true, Some(truth)) => Ok(truth[i]),
    };
    let mut kept = Vec::new();
    let mut classes = Vec::new();
    for i in 0..n {
        if let Some(class) = class(i)?.filter(|_| in_scope(input, i)) {
            kept.push(i);
            classes.push(class);
        }
    }
    if kept.is_empty() {
        return Ok(None);
    }
    let some = |labels: &[u32]| kept.iter().map(|&i| labels[i]).collect::<Vec<u32>>();
    let members = ensemble.members().iter().map(|m| Member::from_labels(&some(&m.labels)));
    let labels = some(input.labels);
    let ensemble = Ensemble::new(kept.len(), members.collect())?;
    Ok(Some(Judged { ensemble, classes, labels, ctx: input.context() }))
}

/// The contingency table of two labellings over the objects that both label; `None` for fewer than two such objects
/// among several, when scores are undefined.
fn table(a: &[u32], b: &[u32]) -> Option<Contingency> {
    let both = a.iter().copied().zip(b.iter().copied());
    let both = both.filter(|&(a, b)| a != NONE && b != NONE);
    (a.len() == 1 || both.clone().nth(1).is_some()).then(|| Contingency::new(both))
}

fn nmi(a: &[u32], b: &[u32]) -> Option<f64> {
    Some(within(table(a, b)?.normalised_mutual_information(Average::Geometric), 0.0, 1.0))
}

fn ari(a: &[u32], b: &[u32]) -> Option<f64> {
    Some(table(a, b)?.adjusted_rand())
}

/// NMI of each member with `labels`, where it can be compared.
fn with_members(j: &Judged, labels: &[u32]) -> Result<Vec<f64>> {
    let members = j.ensemble.members();
    let values = reduce::try_map(members.len(), |t| -> Result<Option<f64>> {
        j.ctx.check()?;
        Ok(nmi(&members[t].labels, labels))
    })?;
    Ok(values.into_iter().flatten().collect())
}

/// The mean; `None` of nothing.
fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Mean over pairs of members that can be compared: all of them up to 500 members, otherwise 100 000 random ones.
fn over_pairs(
    j: &Judged,
    value: impl Fn(&[u32], &[u32]) -> Option<f64> + Sync,
) -> Result<Option<f64>> {
    let tau = j.ensemble.len();
    let pairs: Vec<(usize, usize)> = if tau <= ALL_PAIRS_UP_TO {
        (0..tau).flat_map(|b| (0..b).map(move |a| (a, b))).collect()
    } else {
        let mut s = SeedPath::new(0).stream("pairs of members");
        let mut pair = || {
            let (a, b) = (s.below(tau), s.below(tau - 1));
            (a, if b >= a { b + 1 } else { b })
        };
        (0..SAMPLED_PAIRS).map(|_| pair()).collect()
    };
    let members = j.ensemble.members();
    let values = reduce::try_map(pairs.len(), |at| -> Result<Option<f64>> {
        j.ctx.check()?;
        let (a, b) = pairs[at];
        Ok(value(&members[a].labels, &members[b].labels))
    })?;
    let known: Vec<f64> = values.into_iter().flatten().collect();
    Ok(mean(&known))
}

/// Properties shared by all scores of this file.
fn facts(needs_truth: bool) -> MetricProperties {
    MetricProperties {
        needs_truth,
        needs_ensemble: true,
        perfect: None,
        ..MetricProperties::default()
    }
}

macro_rules! of_ensembles {
    ($($(#[$doc:meta])* $type:ident, $tag:literal, [$($key:literal),*], $truth:literal, $facts:expr, $score:expr;)*) => {$(
        $(#[$doc])*
        #[options]
        pub struct $type {}

        #[plugin($tag, cites = [$($key),*])]
        impl Metric for $type {
            fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
                let score: fn(&Judged) -> Result<Option<f64>> = $score;
                judged(input, $truth)?.as_ref().map_or(Ok(None), score)
            }

            fn properties(&self) -> MetricProperties {
                let facts: fn(MetricProperties) -> MetricProperties = $facts;
                facts(self::facts($truth))
            }
        }
    )*};
}

of_ensembles! {
    /// Mean NMI (geometric) between the members of the ensemble and the classes.
    ///
    /// # References
    /// "Base NMI" in Table 1 of [Greene2007].
    BaseNmi, "base_nmi", ["Greene2007"], true, |f| f,
        |j| Ok(mean(&with_members(j, &j.classes)?));
    /// Standard deviation of the NMI (geometric) of members and classes, n − 1 in the denominator.
    ///
    /// Undefined for a single member. A large value indicates a diverse ensemble.
    /// # References
    /// [DomeniconiAlRazgan2008].
    MemberSpread, "member_spread", ["DomeniconiAlRazgan2008"], true, |f| f,
        |j| {
            let scores = with_members(j, &j.classes)?;
            let Some(centre) = mean(&scores) else { return Ok(None) };
            let squares: f64 = scores.iter().map(|s| (s - centre) * (s - centre)).sum();
            Ok((scores.len() > 1).then(|| (squares / (scores.len() - 1) as f64).sqrt()))
        };
    /// 1 minus the mean NMI (geometric) over pairs of members.
    ///
    /// All pairs up to 500 members, otherwise 100 000 random ones. Undefined for a single member.
    /// # References
    /// [StrehlGhosh2002].
    DiversityNmi, "diversity_nmi", ["StrehlGhosh2002"], false, |f| f,
        |j| Ok(over_pairs(j, nmi)?.map(|v| 1.0 - v));
    /// 1 minus the mean adjusted Rand index over pairs of members.
    ///
    /// All pairs up to 500 members, otherwise 100 000 random ones. Undefined for a single member.
    /// # References
    /// [HubertArabie1985].
    DiversityAri, "diversity_ari", ["HubertArabie1985"], false,
        |f| MetricProperties { max: 2.0, ..f },
        |j| Ok(over_pairs(j, ari)?.map(|v| 1.0 - v));
    /// Mean NMI (geometric) between the labels and the members of the ensemble that they come from.
    ///
    /// # References
    /// ANMI of [StrehlGhosh2002].
    Anmi, "anmi", ["StrehlGhosh2002"], false, |f| f,
        |j| Ok(mean(&with_members(j, &j.labels)?));
    /// Mean of 4 A (1 − A) over pairs of objects, with A their co-association: 0 when all members agree.
    ///
    /// Pairs that no member saw together do not count. Undefined for a single object.
    Uncertainty, "uncertainty", [], false,
        |f| MetricProperties { higher_is_better: false, ..f },
        |j| {
            let co = CoAssociation::implicit(&j.ensemble);
            let Some(signatures) = co.signatures() else { return Ok(None) };
            let tau = co.members() as u32;
            // The doubt of a pair depends on two counts alone: how often each occurs is exact.
            type Occurrences = std::collections::BTreeMap<(u32, u32), u64>;
            let parts = co.fold(
                Occurrences::new,
                |found, a, first, counts, joints| {
                    for (at, &count) in counts.iter().enumerate() {
                        let joint = joints.map_or(tau, |j| j[at]);
                        let pairs = (signatures.size(a) * signatures.size(first + at)) as u64;
                        *found.entry((count, joint)).or_default() += pairs;
                    }
                },
                &j.ctx,
            )?;
            let mut all = Occurrences::new();
            parts.into_iter().flatten().for_each(|(key, pairs)| *all.entry(key).or_default() += pairs);
            for a in 0..signatures.len() {
                let (size, seen) = (signatures.size(a) as u64, signatures.presence(a));
                *all.entry((seen, seen)).or_default() += size * (size - 1) / 2;
            }
            let known = || all.iter().filter(|((_, joint), pairs)| *joint > 0 && **pairs > 0);
            let doubt = |(&(count, joint), &pairs): (&(u32, u32), &u64)| {
                let a = f64::from(count) / f64::from(joint);
                4.0 * a * (1.0 - a) * pairs as f64
            };
            let pairs: u64 = known().map(|(_, pairs)| pairs).sum();
            Ok((pairs > 0).then(|| known().map(doubt).sum::<f64>() / pairs as f64))
        };
}

/// The imputed constraints of an ensemble.
fn imputed(
    input: &MetricInput,
    (kappa_must, kappa_cannot): (f64, f64),
    co_presence: bool,
    truth: bool,
) -> Result<Option<Imputed>> {
    let Some(j) = judged(input, truth)? else { return Ok(None) };
    let mut thresholds = Thresholds::new(kappa_must, kappa_cannot, j.ensemble.len())?;
    if co_presence {
        thresholds = thresholds.normalised(Normalise::CoPresence, 1);
    }
    let classes: Vec<Option<u32>> = j.classes.iter().map(|&c| Some(c)).collect();
    let co = CoAssociation::implicit(&j.ensemble);
    Ok(Some(impute(&co, &thresholds, Some(&classes), &j.ctx)?))
}

macro_rules! of_imputed {
    ($($(#[$doc:meta])* $type:ident, $tag:literal, $truth:literal, $max:expr, $score:expr;)*) => {$(
        $(#[$doc])*
        /// # References
        /// Equations 2 and 6 and Table 1 of [Greene2007].
        #[options]
        pub struct $type {
            /// Smallest share of members joining a pair for an imputed must-link (κ_m).
            #[option(default = 0.98, min = 0.0, max = 1.0)]
            pub kappa_must: f64,
            /// Largest share of members joining a pair for an imputed cannot-link (κ_c).
            #[option(min = 0.0, max = 1.0)]
            pub kappa_cannot: f64,
            /// Use shares of the members that saw both objects, not of all members.
            #[option(inert = "it matters only if members leave objects out, as none do in small problems")]
            pub co_presence: bool,
        }

        #[plugin($tag, cites = ["Greene2007"])]
        impl Metric for $type {
            fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
                let score: fn(&Imputed) -> Option<f64> = $score;
                let kappa = (self.kappa_must, self.kappa_cannot);
                let imputed = imputed(input, kappa, self.co_presence, $truth)?;
                Ok(imputed.as_ref().and_then(score))
            }

            fn properties(&self) -> MetricProperties {
                // Of a number of pairs neither end is better.
                MetricProperties { max: $max, ranked: $max == 1.0, ..facts($truth) }
            }
        }
    )*};
}

fn count(tally: &Tally) -> Option<f64> {
    Some(tally.selected as f64)
}

of_imputed! {
    /// Number of must-links that the ensemble imputes; neither end is better.
    ///
    ImputeCountMust, "impute_count_must", false, f64::INFINITY, |i| count(&i.must);
    /// Number of cannot-links that the ensemble imputes; neither end is better.
    ///
    ImputeCountCannot, "impute_count_cannot", false, f64::INFINITY, |i| count(&i.cannot);
    /// Share of the imputed must-links that the classes confirm. Undefined without any.
    ///
    ImputePpMust, "impute_pp_must", true, 1.0, |i| i.must.precision();
    /// Share of the imputed cannot-links that the classes confirm. Undefined without any.
    ///
    ImputePpCannot, "impute_pp_cannot", true, 1.0, |i| i.cannot.precision();
    /// Share of the pairs of one class that the ensemble imputes as must-links.
    ///
    ImputePrMust, "impute_pr_must", true, 1.0, |i| i.must.recall();
    /// Share of the pairs of two classes that the ensemble imputes as cannot-links.
    ///
    ImputePrCannot, "impute_pr_cannot", true, 1.0, |i| i.cannot.recall();
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLASSES: [u32; 12] = [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2];

    fn e12() -> Ensemble {
        let members = [
            [0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2],
            [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2],
            [0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2],
            [0, 0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 2],
            [0, 0, 0, 0, 3, 1, 1, 1, 1, 2, 2, 2],
        ];
        Ensemble::new(12, members.iter().map(|m| Member::from_labels(m)).collect()).unwrap()
    }

    fn score(metric: &dyn Metric) -> f64 {
        let (ensemble, truth) = (e12(), CLASSES.map(Some));
        let input = MetricInput {
            labels: &CLASSES,
            truth: Some(&truth),
            ensemble: Some(&ensemble),
            ..MetricInput::default()
        };
        metric.score(&input).unwrap().unwrap()
    }

    #[test]
    fn twelve_objects_and_five_members() {
        let near = |value: f64, expected: f64| assert!((value - expected).abs() < 5e-7, "{value}");
        near(score(&BaseNmi {}), 0.774125);
        near(score(&Anmi {}), 0.774125);
        near(1.0 - score(&DiversityNmi {}), 0.655795);
        near(1.0 - score(&DiversityAri {}), 0.478804);
        assert_eq!(
            score(&ImputeCountMust { kappa_must: 0.8, kappa_cannot: 0.0, co_presence: false }),
            13.0
        );
        assert_eq!(
            score(&ImputeCountCannot { kappa_must: 0.8, kappa_cannot: 0.2, co_presence: true }),
            40.0
        );
        near(score(&ImputePrMust::default()), 5.0 / 19.0);
        near(score(&ImputePrCannot::default()), 32.0 / 47.0);
        assert_eq!(
            (score(&ImputePpMust::default()), score(&ImputePpCannot::default())),
            (1.0, 1.0)
        );
    }

    #[test]
    fn they_hear_that_the_run_is_cancelled() {
        let (ensemble, truth) = (e12(), CLASSES.map(Some));
        let metrics: [&dyn Metric; 6] = [
            &BaseNmi {},
            &DiversityNmi {},
            &DiversityAri {},
            &Anmi {},
            &Uncertainty {},
            &ImputePpMust::default(),
        ];
        for metric in metrics {
            let ctx = Context::builder(SeedPath::new(1)).cancel_after(0).build();
            let input = MetricInput {
                labels: &CLASSES,
                truth: Some(&truth),
                ensemble: Some(&ensemble),
                ctx: Some(&ctx),
                ..MetricInput::default()
            };
            assert_eq!(metric.score(&input), Err(Error::Cancelled), "{}", metric.typetag_name());
        }
    }

    #[test]
    fn uncertainty_is_counted_over_pairs() {
        let e = e12();
        let mut slow = 0.0;
        for i in 0..12 {
            for j in 0..i {
                let same = e.members().iter().filter(|m| m.labels[i] == m.labels[j]).count();
                let a = same as f64 / 5.0;
                slow += 4.0 * a * (1.0 - a) / 66.0;
            }
        }
        assert!((score(&Uncertainty {}) - slow).abs() < 1e-12);
    }

    fn of(ensemble: Ensemble) -> Judged {
        Judged { ensemble, classes: Vec::new(), labels: Vec::new(), ctx: Context::new(0) }
    }

    #[test]
    fn members_that_share_too_little_are_not_compared() {
        let member = |labels: &[u32]| Member::from_labels(labels);
        let members =
            vec![member(&[0, 0, 1, NONE]), member(&[0, 1, 1, NONE]), member(&[NONE, NONE, 0, 1])];
        let e = of(Ensemble::new(4, members).unwrap());
        assert_eq!(over_pairs(&e, nmi).unwrap(), nmi(&[0, 0, 1], &[0, 1, 1]));
        assert_eq!(over_pairs(&e, ari).unwrap(), ari(&[0, 0, 1], &[0, 1, 1]));
        // One that labels no object that counts says nothing of the others.
        assert_eq!(with_members(&e, &[0, 0, NONE, NONE]).unwrap().len(), 2);
    }

    #[test]
    fn members_that_disagree_are_spread() {
        let scores = with_members(&of(e12()), &CLASSES).unwrap();
        let centre = mean(&scores).unwrap();
        let slow: f64 = scores.iter().map(|s| (s - centre).powi(2)).sum::<f64>() / 4.0;
        assert!((score(&MemberSpread {}) - slow.sqrt()).abs() < 1e-12);
    }
}
