//! The score of the objects that no constraint mentions.

use mustlink_core::prelude::*;

use crate::parts::agreement::check_scope;

/// A metric over the objects that appear in no constraint.
///
/// Constraints determine much about the objects in them: a method that obeys them is correct there. The other objects
/// show how well the method generalises from the answers. Without constraints all objects count. Undefined
/// if the clusterer takes no constraints, and if the inner metric is undefined for the objects that are left.
#[options]
pub struct FreeObjects {
    /// Metric that scores these objects.
    #[option(slot = "ari")]
    pub metric: Option<Box<dyn Metric>>,
}

#[plugin(
    "free_objects",
    waives = [
        "the_truth_is_perfect" => "it has no score if constraints name all objects",
        "scope_is_all_that_counts" => "a constraint with one end outside the scope names the other end, too",
    ]
)]
impl Metric for FreeObjects {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        check_scope(input)?;
        let Some(constraints) = input.constraints else { return Ok(None) };
        let n = input.labels.len();
        let mut scope = input.scope.map_or_else(|| vec![true; n], <[bool]>::to_vec);
        for index in constraints.objects() {
            *scope.get_mut(index).ok_or(Error::IndexOutOfRange { index, n })? = false;
        }
        let inner = MetricInput { scope: Some(&scope), ..*input };
        self.metric()?.score(&inner).map_err(|e| e.at("metric"))
    }

    fn properties(&self) -> MetricProperties {
        let inner = self.metric().map(|metric| metric.properties()).unwrap_or_default();
        MetricProperties { needs_constraints: true, symmetric: false, ..inner }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ari::Ari;

    #[test]
    fn objects_with_an_answer_do_not_count() {
        let (labels, truth) = ([0, 0, 1, 1, 0, 1], [0, 0, 1, 1, 1, 0].map(Some));
        let named =
            Constraints::new(6, [Constraint::must(4, 2), Constraint::cannot(5, 2)]).unwrap();
        let score = |metric: &dyn Metric, constraints: Option<&Constraints>| {
            let input = MetricInput {
                labels: &labels,
                truth: Some(&truth),
                constraints,
                ..MetricInput::default()
            };
            metric.score(&input).unwrap().unwrap()
        };
        // The two objects that are elsewhere are among the three that are named.
        assert_eq!(score(&FreeObjects::default(), Some(&named)), 1.0);
        let none = Constraints::default();
        let all = score(&Ari {}, None);
        assert!(all < 1.0);
        assert_eq!(score(&FreeObjects::default(), Some(&none)), all);
    }
}
