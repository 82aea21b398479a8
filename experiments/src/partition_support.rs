//! The number of clusters that existing partitions support, for the command line and Python.

use std::collections::BTreeMap;
use std::sync::Arc;

use mustlink_core::prelude::*;
use mustlink_core::run::combine;
use mustlink_kernels::ensemble::co_association::CoAssociation;
use mustlink_kernels::ensemble::consensus_matrix::{Distribution, ItemConsensus};
use ndarray::Array2;
use serde_json::json;

use crate::number_of_clusters::sample;

/// Largest number of objects, of whose pairs the hierarchy keeps a table.
const MOST: usize = 20_000;
/// Lifetime below which a number of clusters is not supported.
const SHORTEST: f64 = 0.1;
/// Agreement of partitions with k clusters below which k is not supported.
const LEAST: f64 = 0.2;
/// The same of partitions whose numbers of clusters may differ.
const LEAST_OF_ALL: f64 = 0.1;
/// Agreement of partitions with k clusters from which on k can be clearly supported.
const GOOD: f64 = 0.5;

/// How partitions are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// The partitions with k clusters have a consensus matrix of their own, as in ConsensusClusterPlus. The best number
    /// has the smallest PAC.
    EachNumber,
    /// All partitions have one consensus matrix, whose hierarchy is cut at each k. The matrix does not depend on k, so
    /// the best number has the longest lifetime (Fred & Jain 2005).
    OneMatrix,
}

/// The consensus of partitions about one number of clusters.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Support {
    /// Number of clusters.
    pub k: usize,
    /// Number of partitions that were compared.
    pub partitions: usize,
    /// Consensus index of pairs in one cluster of the consensus, larger is better. As in ConsensusClusterPlus, the
    /// consensus is the hierarchy of the consensus matrix with average linkage, cut at k.
    pub within: Option<f64>,
    /// Consensus index of pairs in different clusters, smaller is better.
    pub between: Option<f64>,
    /// Area under the cumulative distribution of the consensus matrix.
    pub area: Option<f64>,
    /// Relative change of the area from k - 1 clusters, if these are known; the area itself for 2 clusters.
    pub change: Option<f64>,
    /// Proportion of ambiguously clustered pairs, smaller is better: consensus index above .1 and below .9.
    pub pac: Option<f64>,
    /// Agreement of the partitions about pairs (Fleiss' kappa): 1 if they are equal, about 0 if they are unrelated.
    pub agreement: Option<f64>,
    /// How far the consensus index falls until two of the k clusters merge, larger is better.
    pub lifetime: Option<f64>,
    /// Shares of the pairs whose consensus index is at most 0, .01, .02, …, 1.
    pub cdf: Vec<f64>,
    /// Cluster of each object in the consensus.
    #[serde(skip)]
    pub labels: Vec<u32>,
    /// The partitions that were compared.
    #[serde(skip)]
    pub ensemble: Arc<Ensemble>,
}

impl Support {
    /// The value by which numbers of clusters are compared; smaller is better.
    fn criterion(&self, reading: Reading) -> Option<f64> {
        match reading {
            Reading::EachNumber => self.pac,
            Reading::OneMatrix => self.lifetime.map(|lifetime| -lifetime),
        }
    }
}

/// The number of clusters that partitions support, with all values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Supported {
    /// How the partitions were compared.
    pub reading: Reading,
    /// Number of objects that were used.
    pub objects: usize,
    /// Numbers of clusters in order.
    pub found: Vec<Support>,
    /// Numbers of clusters that only one partition has. They are left out, because nothing can be compared.
    pub left_out: Vec<usize>,
    /// The number that the partitions support, if there is one.
    pub k: Option<usize>,
    /// The result as a sentence.
    pub result: String,
}

impl Supported {
    /// The number of clusters with the best value; of equal ones the smallest.
    pub fn best(&self) -> Option<&Support> {
        ranked(self.reading, &self.found).first().map(|(_, support)| *support)
    }
}

/// Compares numbers of clusters by the partitions in `ensemble`, from the first number of `range` to the second.
/// Without a second, the range ends at the largest number of the partitions, or 8 above the first for one matrix. Of
/// more than `objects` objects a sample is used.
///
/// If at least two numbers of clusters have two partitions each, the numbers are compared as [`Reading::EachNumber`],
/// otherwise as [`Reading::OneMatrix`]. A pair of objects counts in the partitions that label both.
///
/// Pairs are counted without a table. The hierarchy keeps one of 4 n² bytes, so at most 20 000 objects can be used.
///
/// Sources: Monti et al. 2003; Wilkerson & Hayes 2010; Șenbabaoğlu et al. 2014. How ConsensusClusterPlus and diceR
/// differ is described in [`mustlink_kernels::ensemble::consensus_matrix`].
///
/// # Errors
/// `BadParam` for one partition, for a range without numbers, for fewer than two objects and for more than 20 000;
/// `Memory`; cancellation.
pub fn supported_k(
    ensemble: &Ensemble,
    range: (usize, Option<usize>),
    objects: usize,
    ctx: &Context,
) -> Result<Supported> {
    if ensemble.len() < 2 {
        let legal = "at least 2, because partitions are compared with each other";
        return Err(Error::bad_param("partitions", ensemble.len(), legal));
    }
    let mut numbers: BTreeMap<usize, Vec<&Member>> = BTreeMap::new();
    ensemble.members().iter().for_each(|m| numbers.entry(m.k).or_default().push(m));
    // One cluster puts all pairs together, whatever the data are.
    numbers.retain(|k, _| *k > 1);
    let several = numbers.values().filter(|members| members.len() > 1).count() > 1;
    let reading = if several { Reading::EachNumber } else { Reading::OneMatrix };
    let rows = sample(ensemble.n(), objects, ctx);
    let n = rows.len();
    if !(2..=MOST).contains(&n) {
        let legal =
            format!("at least 2 and at most {MOST}, because the hierarchy compares all pairs");
        return Err(Error::bad_param("objects", n, legal));
    }
    let most = match reading {
        Reading::EachNumber => numbers.keys().next_back().map_or(n, |&k| k.min(n)),
        Reading::OneMatrix => n,
    };
    let (from, to) = limits(range, most, reading)?;
    let (mut found, mut left_out) = (Vec::new(), Vec::new());
    match reading {
        Reading::EachNumber => {
            for (&k, members) in numbers.range(from..=to) {
                if members.len() < 2 {
                    left_out.push(k);
                    continue;
                }
                let some = of_rows(members.iter().copied(), &rows)?;
                let distribution = Distribution::new(&CoAssociation::implicit(&some), ctx)?;
                found.push(support(k, &some, &distribution, ctx)?);
            }
        }
        Reading::OneMatrix => {
            let all = of_rows(ensemble.members().iter(), &rows)?;
            let distribution = Distribution::new(&CoAssociation::implicit(&all), ctx)?;
            for k in from..=to {
                found.push(support(k, &all, &distribution, ctx)?);
            }
        }
    }
    if reading == Reading::EachNumber {
        changes(&mut found);
    }
    let (k, result) = verdict(reading, &found);
    Ok(Supported { reading, objects: n, found, left_out, k, result })
}

/// Some members, with the labels of some objects.
fn of_rows<'a>(members: impl Iterator<Item = &'a Member>, rows: &[usize]) -> Result<Arc<Ensemble>> {
    let of_rows = |m: &Member| {
        let labels: Vec<u32> = rows.iter().map(|&i| m.labels[i]).collect();
        Member { provenance: m.provenance.clone(), ..Member::from_labels(&labels) }
    };
    Ok(Arc::new(Ensemble::new(rows.len(), members.map(of_rows).collect())?))
}

/// The first and the last number of clusters that is tried.
///
/// # Errors
/// `BadParam`.
fn limits(
    (from, to): (usize, Option<usize>),
    most: usize,
    reading: Reading,
) -> Result<(usize, usize)> {
    let whose = match reading {
        Reading::EachNumber => "the largest number of clusters in a partition",
        Reading::OneMatrix => "the number of objects",
    };
    let refused = |name: &str, value: usize, low: usize| {
        let legal = format!("from {low} to {most}, {whose}");
        Err(Error::BadParam { name: name.into(), value: value.to_string(), legal })
    };
    if !(2..=most).contains(&from) {
        return refused("from", from, 2);
    }
    match (to, reading) {
        (Some(to), _) if !(from..=most).contains(&to) => refused("to", to, from),
        (Some(to), _) => Ok((from, to)),
        (None, Reading::EachNumber) => Ok((from, most)),
        (None, Reading::OneMatrix) => Ok((from, (from + 8).min(most))),
    }
}

/// The consensus about k clusters of partitions whose consensus matrix has this distribution.
fn support(
    k: usize,
    ensemble: &Arc<Ensemble>,
    distribution: &Distribution,
    ctx: &Context,
) -> Result<Support> {
    const TAG: &str = "evidence_accumulation";
    let config = json!({ "type": TAG, "normalise": "co_presence" });
    let function = <dyn ConsensusFunction as RoleObject>::from_value(config)
        .map_err(|message| Error::Plugin { tag: TAG.into(), message })?;
    let objects = Data::dense(Array2::zeros((ensemble.n(), 1)))?;
    let problem = Problem::new(objects).with_k(k);
    let ctx = ctx.child("k").index(k);
    let clustering = combine(&*function, ensemble, &problem, &ctx)?.clustering;
    let consensus = ItemConsensus::new(ensemble, &clustering.labels);
    Ok(Support {
        k,
        partitions: ensemble.len(),
        within: consensus.within(),
        between: consensus.between(),
        area: distribution.area(),
        change: None,
        pac: distribution.pac(),
        agreement: distribution.agreement(),
        lifetime: clustering.extras.diagnostics.get("lifetime").copied(),
        cdf: distribution.cdf(),
        labels: clustering.shown(None).labels,
        ensemble: ensemble.clone(),
    })
}

/// Fills in how much the areas change from one number of clusters to the next.
fn changes(found: &mut [Support]) {
    let areas: Vec<(usize, Option<f64>)> = found.iter().map(|f| (f.k, f.area)).collect();
    for (at, f) in found.iter_mut().enumerate() {
        let before = at.checked_sub(1).and_then(|before| areas.get(before));
        f.change = match before {
            _ if f.k == 2 => f.area,
            Some((k, Some(before))) if k + 1 == f.k && *before > 0.0 => {
                f.area.map(|area| (area - before) / before)
            }
            _ => None,
        };
    }
}

/// The numbers of clusters that have a value, each after it, best first.
fn ranked(reading: Reading, found: &[Support]) -> Vec<(f64, &Support)> {
    let mut ranked: Vec<(f64, &Support)> =
        found.iter().filter_map(|f| Some((f.criterion(reading)?, f))).collect();
    // A stable sort: of equal values the smallest number is first.
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    ranked
}

/// The number of clusters that is supported, and a sentence about it.
///
/// No number is supported if the partitions hardly agree ([`LEAST`], [`LEAST_OF_ALL`]), or if the longest lifetime is
/// below [`SHORTEST`]. A number is clearly supported if the next best one has at least twice as many ambiguous pairs,
/// or a lifetime at most half as long, and if partitions with this number of clusters have an agreement of at least
/// [`GOOD`].
fn verdict(reading: Reading, found: &[Support]) -> (Option<usize>, String) {
    let each = reading == Reading::EachNumber;
    if found.is_empty() {
        return (None, "No number of clusters in this range has two partitions.".into());
    }
    let ranked = ranked(reading, found);
    let Some((best, first)) = ranked.first() else {
        return (None, "No two objects are labelled by the same partition.".into());
    };
    let (k, agreement) = (first.k, first.agreement.unwrap_or(1.0));
    if agreement < if each { LEAST } else { LEAST_OF_ALL } {
        let at = if each { format!("with {k} clusters, the best number, ") } else { String::new() };
        let sentence = format!(
            "The partitions do not support a number of clusters: {at}their agreement is only {agreement:.2} (equal \
             partitions have 1, unrelated ones about 0)."
        );
        return (None, sentence);
    }
    if !each && *best > -SHORTEST {
        let sentence = format!(
            "The partitions do not support a number of clusters: the longest lifetime is only {:.2}, of {k} clusters.",
            -best
        );
        return (None, sentence);
    }
    let Some((next, second)) = ranked.get(1) else {
        return (None, "Only one number of clusters was tried.".into());
    };
    if best == next {
        let equal = ranked.iter().filter(|(value, _)| value == best);
        let numbers = joined(&equal.map(|(_, f)| f.k.to_string()).collect::<Vec<_>>());
        return (None, format!("The partitions support {numbers} clusters equally well."));
    }
    let is_clear = match reading {
        Reading::EachNumber => *next >= 2.0 * best && agreement >= GOOD,
        Reading::OneMatrix => *next >= 0.5 * best,
    };
    let supported = match is_clear {
        true => format!("The partitions clearly support {k} clusters"),
        false => format!("The partitions support {k} clusters, but not clearly"),
    };
    let other = second.k;
    let values = match reading {
        Reading::EachNumber => format!(
            "{:.1} % of the pairs are ambiguous, compared with {:.1} % for {other} clusters, the next best number.",
            100.0 * best,
            100.0 * next
        ),
        Reading::OneMatrix => format!(
            "their lifetime is {:.2}, compared with {:.2} for {other} clusters, the next best number.",
            -best, -next
        ),
    };
    (Some(k), format!("{supported}: {values}"))
}

/// Words in a row: `2, 3 and 5`.
pub fn joined(words: &[String]) -> String {
    match words {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => words.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    // The functions that are found by name are in crates that only the facade links.
    use mustlink as _;

    fn of(members: &[&[u32]]) -> Ensemble {
        let made = members.iter().map(|labels| Member::from_labels(labels)).collect();
        Ensemble::new(members[0].len(), made).unwrap()
    }

    fn of_all(ensemble: &Ensemble) -> Supported {
        supported_k(ensemble, (2, None), 3000, &Context::new(0)).unwrap()
    }

    /// Three groups of two. The partitions with 3 clusters agree but for one object of one partition; those with 2
    /// clusters join different groups.
    fn three_groups() -> Ensemble {
        of(&[
            &[0, 0, 0, 0, 1, 1],
            &[0, 0, 1, 1, 0, 0],
            &[0, 0, 1, 1, 1, 1],
            &[0, 0, 1, 1, 2, 2],
            &[0, 0, 1, 1, 2, 2],
            &[0, 0, 1, 1, 2, 1],
            &[0, 1, 2, 3, 4, 4],
        ])
    }

    #[test]
    fn partitions_with_the_same_number_of_clusters_are_compared() {
        let found = of_all(&three_groups());
        assert_eq!((found.reading, found.k), (Reading::EachNumber, Some(3)));
        assert_eq!((found.left_out.as_slice(), found.objects), (&[5][..], 6));
        let [two, three] = &found.found[..] else { panic!("{found:?}") };
        assert_eq!((two.k, two.partitions, three.k, three.partitions), (2, 3, 3, 3));
        // Of 15 pairs, 3 are in one group; the 12 others are together in one of three partitions with 2 clusters.
        assert_eq!((two.pac, two.cdf[33], two.cdf[34]), (Some(0.8), 0.0, 0.8));
        assert!((two.area.unwrap() - (12.0 * 67.0 + 3.0) / 1500.0).abs() < 1e-12);
        assert_eq!(two.change, two.area);
        // With 3 clusters, the pairs 45, 25 and 35 are ambiguous; 01 and 23 are always together.
        assert_eq!((three.pac, three.cdf[0]), (Some(3.0 / 15.0), 10.0 / 15.0));
        let area = (10.0 * 100.0 + 2.0 * 67.0 + 34.0 + 2.0) / 1500.0;
        assert!((three.area.unwrap() - area).abs() < 1e-12);
        let change = three.area.unwrap() / two.area.unwrap() - 1.0;
        assert!((three.change.unwrap() - change).abs() < 1e-12);
        assert_eq!(three.labels, [0, 0, 1, 1, 2, 2]);
        // 13/15 agree about a pair; with 10 of 45 comparisons together, 53/81 do by chance.
        assert!((three.agreement.unwrap() - 43.0 / 70.0).abs() < 1e-12);
        // 3 + 3 + 2 of 9 comparisons in clusters; 25 and 35 once each, of 36.
        assert_eq!((three.within, three.between), (Some(8.0 / 9.0), Some(2.0 / 36.0)));
        assert_eq!(
            found.result,
            "The partitions clearly support 3 clusters: 20.0 % of the pairs are ambiguous, compared with 80.0 % for 2 \
             clusters, the next best number."
        );
        assert_eq!(found.best().unwrap().k, 3);
    }

    #[test]
    fn the_hierarchy_of_one_matrix_is_cut() {
        // Objects 0 and 1 are together in all partitions, as are 2 and 3; the pairs meet in one of four.
        let members: [&[u32]; 4] =
            [&[0, 0, 1, 1, 2], &[0, 0, 1, 1, 2], &[0, 0, 1, 1, 2], &[0, 0, 0, 0, 1]];
        let found = of_all(&of(&members));
        assert_eq!((found.reading, found.k), (Reading::OneMatrix, Some(3)));
        let values: Vec<(usize, usize, Option<f64>)> =
            found.found.iter().map(|f| (f.k, f.partitions, f.lifetime)).collect();
        // Merges at 0, 0, 3/4 and 1; five clusters of five objects need no hierarchy.
        let expected = [Some(0.25), Some(0.75), Some(0.0), None];
        let expected: Vec<_> = (2..).zip(expected).map(|(k, lifetime)| (k, 4, lifetime)).collect();
        assert_eq!(values, expected);
        // The matrix is the same at each k.
        assert!(found.found.iter().all(|f| f.pac == Some(0.4) && f.change.is_none()));
        let within: Vec<_> = found.found.iter().map(|f| f.within).collect();
        assert_eq!(within[..2], [Some(12.0 / 24.0), Some(1.0)]);
        assert_eq!(
            found.result,
            "The partitions clearly support 3 clusters: their lifetime is 0.75, compared with 0.25 for 2 clusters, the \
             next best number."
        );
    }

    #[test]
    fn unrelated_partitions_support_no_number() {
        // Two members for 2 and 4 clusters each, which cross each other.
        let halves: Vec<u32> = (0..16).map(|i| i / 8).collect();
        let parity: Vec<u32> = (0..16).map(|i| i % 2).collect();
        let quarters: Vec<u32> = (0..16).map(|i| i / 4).collect();
        let crossing: Vec<u32> = (0..16).map(|i| i % 4).collect();
        let found = of_all(&of(&[&halves, &parity, &quarters, &crossing]));
        assert_eq!((found.reading, found.k), (Reading::EachNumber, None));
        assert!(found.result.starts_with("The partitions do not support a number"), "{found:?}");
        // With one number of clusters, the first of two crossing partitions has a lifetime of .375 by chance.
        let found = of_all(&of(&[&quarters, &crossing]));
        assert_eq!((found.reading, found.k), (Reading::OneMatrix, None));
    }

    #[test]
    fn equal_support_is_said() {
        let (two, four): (&[u32], &[u32]) = (&[0, 0, 0, 0, 1, 1, 1, 1], &[0, 0, 1, 1, 2, 2, 3, 3]);
        let found = of_all(&of(&[two, two, four, four]));
        assert_eq!(found.result, "The partitions support 2 and 4 clusters equally well.");
        assert_eq!((found.k, found.best().map(|f| f.k)), (None, Some(2)));
        // The area of three clusters is not known.
        assert_eq!(found.found[1].change, None);
    }

    #[test]
    fn pairs_count_where_both_objects_are_labelled() {
        let labels = |s: &mut Stream| -> Vec<u32> {
            let label = |i: u32| if s.unit() < 0.3 { NONE } else { i % 3 };
            (0..30).map(label).collect()
        };
        let mut s = SeedPath::new(7).stream("missing");
        let rows: Vec<Vec<u32>> = (0..12).map(|_| labels(&mut s)).collect();
        let found = of_all(&of(&rows.iter().map(|row| &row[..]).collect::<Vec<_>>()));
        // What labels there are agree.
        assert_eq!((found.reading, found.k), (Reading::OneMatrix, Some(3)));
        let three = &found.found[1];
        assert_eq!((three.pac, three.within, three.between), (Some(0.0), Some(1.0), Some(0.0)));
        assert_eq!(three.labels, (0..30).map(|i| i % 3).collect::<Vec<u32>>());
    }

    #[test]
    fn ranges_and_sizes_are_checked() {
        let ensemble = three_groups();
        let with = |range, objects| {
            let found = supported_k(&ensemble, range, objects, &Context::new(0));
            found.map(|f| f.found.iter().map(|f| f.k).collect::<Vec<_>>())
        };
        assert_eq!(with((3, Some(4)), 3000), Ok(vec![3]));
        let refused = with((2, Some(9)), 3000).unwrap_err().to_string();
        assert!(refused.starts_with("to: must be from 2 to 5, the largest number"), "{refused}");
        let refused = with((1, None), 3000).unwrap_err().to_string();
        assert!(refused.starts_with("from: must be from 2 to 5, "), "{refused}");
        let refused = with((2, None), 1).unwrap_err().to_string();
        assert!(refused.starts_with("objects: must be at least 2 and at most 20000"), "{refused}");
        let one = of(&[&[0, 0, 1]]);
        let refused = supported_k(&one, (2, None), 9, &Context::new(0)).unwrap_err().to_string();
        assert!(refused.starts_with("partitions: must be at least 2, "), "{refused}");
        let sampled = supported_k(&ensemble, (2, None), 4, &Context::new(0)).unwrap();
        assert_eq!((sampled.objects, sampled.found[0].labels.len()), (4, 4));
    }
}
