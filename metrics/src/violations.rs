//! The constraints that the clustering breaks.
//!
//! Constraints count when both ends are in the scope. Without such constraints the score is undefined.

use mustlink_core::prelude::*;

use crate::parts::constraint_set::{among, groups_inside};

/// (violated, all) of the constraints `given` inside the scope, counted or weighed; `None` without any.
pub(crate) fn tally(
    input: &MetricInput,
    given: Option<&Constraints>,
    labels: &[u32],
    kind: Option<Kind>,
    weighted: bool,
) -> Result<Option<(f64, f64)>> {
    let (mut violated, mut all) = (0.0, 0.0);
    for c in among(input, given.map_or(&[][..], Constraints::listed))? {
        if kind.is_some_and(|kind| kind != c.kind) {
            continue;
        }
        let amount = if weighted { c.weight } else { 1.0 };
        all += amount;
        if c.is_violated(labels) {
            violated += amount;
        }
    }
    if kind != Some(Kind::MustLink) {
        for group in groups_inside(input, given)? {
            let amount = if weighted { group.weight } else { 1.0 };
            all += amount * group.pair_count() as f64;
            violated += amount * group.violated(labels) as f64;
        }
    }
    Ok((all > 0.0).then_some((violated, all)))
}

/// Options of the three metrics of violations.
#[options]
#[derive(Copy)]
pub struct Counting {
    /// Kind of constraints to use: `must_link` or `cannot_link`. If absent, both.
    #[option(default = None)]
    pub kind: Option<Kind>,
    /// Add up weights instead of counting constraints.
    pub weighted: bool,
}

impl Counting {
    fn tally(
        &self,
        input: &MetricInput,
        given: Option<&Constraints>,
    ) -> Result<Option<(f64, f64)>> {
        tally(input, given, input.labels, self.kind, self.weighted)
    }
}

/// Properties shared by the three metrics: the best clustering breaks nothing.
fn facts() -> MetricProperties {
    MetricProperties {
        higher_is_better: false,
        needs_truth: false,
        perfect: Some(0.0),
        ..MetricProperties::default()
    }
}

/// Number of constraints that the clustering breaks.
///
/// Must-links with ends in two clusters and cannot-links with ends in one. Undefined without constraints.
#[options]
pub struct Violations {
    /// Options for counting constraints.
    #[option(flatten)]
    pub counting: Counting,
}

#[plugin("violations")]
impl Metric for Violations {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        let tally = self.counting.tally(input, input.constraints)?;
        Ok(tally.map(|(violated, _)| violated))
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties { max: f64::INFINITY, needs_constraints: true, ..facts() }
    }
}

/// Share of the constraints that the clustering breaks.
///
/// With `weighted`: the weight of the broken ones over the weight of all. Undefined without constraints.
#[options]
pub struct ViolationRate {
    /// Options for counting constraints.
    #[option(flatten)]
    pub counting: Counting,
}

#[plugin("violation_rate")]
impl Metric for ViolationRate {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        let tally = self.counting.tally(input, input.constraints)?;
        Ok(tally.map(|(violated, all)| violated / all))
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties { needs_constraints: true, ..facts() }
    }
}

/// Share of the held-out constraints that the clustering breaks.
///
/// As `violation_rate`, on constraints that the clusterer was not given: in an experiment the given ones that touch
/// test objects. On the constraints between all pairs of known class this is 1 − `rand`. It is meant for constraints
/// from people when classes are unknown. Undefined without any.
#[options]
pub struct ViolationRateHeldout {
    /// Options for counting constraints.
    #[option(flatten)]
    pub counting: Counting,
}

#[plugin("violation_rate_heldout")]
impl Metric for ViolationRateHeldout {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        let tally = self.counting.tally(input, input.heldout)?;
        Ok(tally.map(|(violated, all)| violated / all))
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties { needs_heldout: true, ..facts() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(kind: Option<Kind>, weighted: bool, scope: &[bool]) -> [Option<f64>; 2] {
        // (0,1) and (2,3) hold, (0,2) and (1,4) are broken.
        let pairs = [
            Constraint::must(0, 1),
            Constraint::must(0, 2).weighing(2.0),
            Constraint::cannot(2, 3).weighing(4.0),
            Constraint::cannot(1, 4).weighing(3.0),
        ];
        let constraints = Constraints::new(5, pairs).unwrap();
        let input = MetricInput {
            labels: &[0, 0, 1, 2, 0],
            constraints: Some(&constraints),
            scope: Some(scope),
            ..MetricInput::default()
        };
        let counting = Counting { kind, weighted };
        [
            Violations { counting }.score(&input).unwrap(),
            ViolationRate { counting }.score(&input).unwrap(),
        ]
    }

    #[test]
    fn by_kind_weight_and_scope() {
        let all = [true; 5];
        assert_eq!(scores(None, false, &all), [Some(2.0), Some(0.5)]);
        assert_eq!(scores(None, true, &all), [Some(5.0), Some(0.5)]);
        assert_eq!(scores(Some(Kind::MustLink), true, &all), [Some(2.0), Some(2.0 / 3.0)]);
        assert_eq!(scores(Some(Kind::CannotLink), true, &all), [Some(3.0), Some(3.0 / 7.0)]);
        let four = [true, true, true, true, false];
        assert_eq!(scores(None, false, &four), [Some(1.0), Some(1.0 / 3.0)]);
        assert_eq!(scores(None, false, &[true, false, false, true, false]), [None, None]);
    }

    #[test]
    fn a_pair_beyond_the_labels_is_named() {
        let constraints = Constraints::new(5, [Constraint::must(0, 4)]).unwrap();
        let input = MetricInput {
            labels: &[0; 4],
            constraints: Some(&constraints),
            ..MetricInput::default()
        };
        let refused = ViolationRate::default().score(&input).unwrap_err();
        assert_eq!(refused, Error::IndexOutOfRange { index: 4, n: 4 });
    }
}
