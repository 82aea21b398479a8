//! The agreement of the members of an ensemble.

use mustlink_core::prelude::*;
use mustlink_kernels::agreement::members::{nmi, weighted_mean};

/// For every member the mean normalised mutual information with the others that saw two objects which it
/// saw, each of these counting as much as it weighs; 0 without such, 1 for all where no two can be compared.
///
/// # Errors
/// Cancellation.
pub fn mean_nmi(ensemble: &Ensemble, ctx: &Context) -> Result<Vec<f64>> {
    let members = ensemble.members();
    let tau = members.len();
    let pairs: Vec<(usize, usize)> = (0..tau).flat_map(|s| (0..s).map(move |t| (s, t))).collect();
    let values = reduce::try_map(pairs.len(), |at| -> Result<Option<f64>> {
        ctx.check()?;
        let (s, t) = pairs[at];
        Ok(nmi(&members[s].labels, &members[t].labels))
    })?;
    let mut all = vec![Vec::with_capacity(tau); tau];
    for (&(s, t), v) in pairs.iter().zip(values) {
        let Some(v) = v else { continue };
        all[s].push((v, members[t].weight));
        all[t].push((v, members[s].weight));
    }
    let alone = if all.iter().all(Vec::is_empty) { 1.0 } else { 0.0 };
    Ok(all.into_iter().map(|values| weighted_mean(values).unwrap_or(alone)).collect())
}

/// Operations of that for `members` members of `n` objects.
pub(crate) fn operations(n: usize, members: usize) -> f64 {
    8.0 * n as f64 * (members as f64).powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::e12::{E12_CLASSES, e12};
    use mustlink_kernels::agreement::contingency::{adjusted_rand, nmi_geometric};

    #[test]
    fn agreement_of_e12() {
        let (ensemble, _) = e12();
        let anmi = mean_nmi(&ensemble, &Context::new(1)).unwrap();
        assert!((anmi.iter().sum::<f64>() / 5.0 - 0.655795).abs() < 1e-6);
        let to_classes = ensemble.members().iter().filter_map(|m| nmi(&m.labels, &E12_CLASSES));
        assert!((to_classes.sum::<f64>() / 5.0 - 0.774125).abs() < 1e-6);
        let members = ensemble.members();
        let mut ari = Vec::new();
        for s in 0..5 {
            for t in 0..s {
                let (a, b) = (&members[s].labels, &members[t].labels);
                ari.push(adjusted_rand(a, b));
            }
        }
        assert!((ari.iter().sum::<f64>() / 10.0 - 0.478804).abs() < 1e-6);
    }

    #[test]
    fn every_pair_of_members_looks_at_the_flag() {
        let (ensemble, _) = e12();
        let ctx = Context::builder(SeedPath::new(1)).count_looks().build();
        mean_nmi(&ensemble, &ctx).unwrap();
        assert_eq!(ctx.looks(), 10);
        let ctx = Context::builder(SeedPath::new(1)).cancel_after(5).build();
        assert_eq!(mean_nmi(&ensemble, &ctx), Err(Error::Cancelled));
    }

    #[test]
    fn members_that_share_too_little_are_not_compared() {
        let member = |labels: &[u32]| Member::from_labels(labels);
        let members =
            vec![member(&[0, 0, 1, NONE]), member(&[0, 1, 1, NONE]), member(&[NONE, NONE, 0, 1])];
        let ensemble = Ensemble::new(4, members).unwrap();
        let found = mean_nmi(&ensemble, &Context::new(1)).unwrap();
        assert_eq!(found[0], nmi_geometric(&[0, 0, 1], &[0, 1, 1]));
        assert_eq!((found[1], found[2]), (found[0], 0.0));
    }
}
