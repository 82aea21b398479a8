//! The clusters so far, with the objects in the middle and at the border of each.

use mustlink_core::clustering::NONE;
use mustlink_core::data::Data;
use mustlink_core::order;
use mustlink_kernels::agreement::contingency::Contingency;
use serde::Serialize;

/// Objects shown at the border of a cluster.
const BORDER: usize = 3;
/// Typical objects of a cluster.
const TYPICAL: usize = 4;

/// One cluster.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cluster {
    /// Its number in the labels.
    pub number: u32,
    /// Its objects, ascending.
    pub members: Vec<u32>,
    /// The object nearest to its mean.
    pub medoid: u32,
    /// The objects nearest to its mean, the nearest first.
    pub typical: Vec<u32>,
    /// Those that are nearly as close to the mean of another cluster, the doubtful first.
    pub border: Vec<u32>,
}

/// A clustering as it stands.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    labels: Vec<u32>,
    pub clusters: Vec<Cluster>,
    /// Number of answers it rests on.
    pub answers: usize,
}

impl Found {
    /// The clusters that `labels` make of the objects, after so many answers.
    pub fn new(data: &Data, labels: Vec<u32>, answers: usize) -> Self {
        Found { clusters: clusters(data, &labels), labels, answers }
    }

    /// True if the clustering puts two objects together; `None` if one is in no cluster.
    pub fn says(&self, i: u32, j: u32) -> Option<bool> {
        let (a, b) = (self.labels[i as usize], self.labels[j as usize]);
        (a != NONE && b != NONE).then_some(a == b)
    }

    /// The objects that have a cluster in both clusterings.
    pub fn compared(&self, other: &Found) -> Contingency {
        let both = self.labels.iter().copied().zip(other.labels.iter().copied());
        Contingency::new(both.filter(|&(a, b)| a != NONE && b != NONE))
    }

    pub fn noise(&self) -> usize {
        self.labels.iter().filter(|&&l| l == NONE).count()
    }
}

/// The clusters of a partition, in the order of their numbers.
fn clusters(data: &Data, labels: &[u32]) -> Vec<Cluster> {
    let k = labels.iter().filter(|&&l| l != NONE).max().map_or(0, |&l| l as usize + 1);
    let mut members: Vec<(u32, Vec<u32>)> = (0..k as u32).map(|k| (k, Vec::new())).collect();
    for (i, &label) in labels.iter().enumerate().filter(|(_, l)| **l != NONE) {
        members[label as usize].1.push(i as u32);
    }
    members.retain(|(_, m)| !m.is_empty());
    let means: Vec<Mean> = members.iter().map(|(_, m)| Mean::of(data, m)).collect();
    let of = |(own, (number, members)): (usize, (u32, Vec<u32>))| {
        let to = |o: u32, at: usize| means[at].squared_distance(data, o as usize);
        let mut near: Vec<(f64, u32)> = members.iter().map(|&o| (to(o, own), o)).collect();
        order::sort_objects(&mut near);
        let typical: Vec<u32> = near.into_iter().take(TYPICAL).map(|(_, o)| o).collect();
        let medoid = typical.first().copied().unwrap_or_default();
        let margin = |o: u32| {
            let others = (0..means.len()).filter(|&at| at != own).map(|at| to(o, at));
            others.fold(f64::INFINITY, f64::min) - to(o, own)
        };
        let mut doubtful: Vec<(f64, u32)> =
            members.iter().filter(|&&o| o != medoid).map(|&o| (margin(o), o)).collect();
        order::sort_objects(&mut doubtful);
        let border = doubtful.into_iter().take(BORDER).map(|(_, o)| o).collect();
        Cluster { number, members, medoid, typical, border }
    };
    members.into_iter().enumerate().map(of).collect()
}

struct Mean {
    at: Vec<f64>,
    norm2: f64,
}

impl Mean {
    fn of(data: &Data, members: &[u32]) -> Self {
        let mut at = vec![0.0; data.d()];
        let part = 1.0 / members.len() as f64;
        members.iter().for_each(|&o| data.row(o as usize).add_to(&mut at, part));
        let norm2 = at.iter().map(|v| v * v).sum();
        Mean { at, norm2 }
    }

    fn squared_distance(&self, data: &Data, object: usize) -> f64 {
        data.norm2(object) - 2.0 * data.row(object).dot(&self.at) + self.norm2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An object in no cluster has no row in a table of clusters.
    #[test]
    fn noise_is_in_no_cluster() {
        let data = mustlink_datasets::open("iris", &Default::default()).unwrap().data;
        let of = |labels: [u32; 3]| {
            let labels: Vec<u32> = (0..150).map(|i| labels[i / 50]).collect();
            Found::new(&data, labels, 0)
        };
        let (one, other) = (of([0, 1, NONE]), of([1, 0, 0]));
        let both = one.compared(&other);
        assert_eq!((one.noise(), one.clusters.len(), both.adjusted_rand()), (50, 2, 1.0));
        assert_eq!(both.n() - both.matching(), 0);
        // A number without objects is left out.
        let numbers: Vec<u32> = of([0, 2, 2]).clusters.iter().map(|c| c.number).collect();
        assert_eq!(numbers, [0, 2]);
        assert_eq!((one.says(0, 1), one.says(0, 149)), (Some(true), None));
    }
}
