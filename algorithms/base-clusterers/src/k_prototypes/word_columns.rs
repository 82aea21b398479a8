//! Columns of 0 and 1 for the words of one column, and the scale on which different words have a given distance.

use std::ops::Range;
use std::sync::Arc;

use mustlink_core::prelude::*;
use ndarray::Array2;

/// Consecutive columns that hold the words of one column each.
pub(super) struct WordColumns {
    groups: Vec<Range<usize>>,
    /// Smallest and largest value of each column.
    ranges: Vec<(f64, f64)>,
    gamma: f64,
}

impl WordColumns {
    /// The columns with two values each, of which exactly one has its larger value in each row. Of overlapping groups,
    /// the first counts.
    pub fn of(data: &Data, gamma: AutoOr<f64>) -> Self {
        let ranges = ranges(data);
        let is_high = |i: usize, s: usize| value(data, i, s) == ranges[s].1;
        // The number of rows with the larger value; `None` if there is only one value, or a third.
        let mut highs: Vec<Option<usize>> =
            ranges.iter().map(|(low, high)| (low < high).then_some(0)).collect();
        for i in 0..data.n() {
            let Row::Dense(x) = data.row(i) else { continue };
            for ((high, range), x) in highs.iter_mut().zip(&ranges).zip(x) {
                *high = high
                    .filter(|_| *x == range.0 || *x == range.1)
                    .map(|n| n + usize::from(*x == range.1));
            }
        }
        let (mut groups, mut start) = (Vec::new(), 0);
        while start < data.d() {
            let (mut end, mut rows) = (start, 0);
            while let Some(Some(high)) = highs.get(end).filter(|_| rows < data.n()) {
                rows += high;
                end += 1;
            }
            let columns = start..end;
            // Columns that share no row, and have all rows together.
            let one_each = |i: usize| columns.clone().filter(|&s| is_high(i, s)).count() == 1;
            if rows == data.n() && (0..data.n()).all(one_each) {
                groups.push(columns);
                start = end;
            } else {
                start += 1;
            }
        }
        let mut words = WordColumns { groups, ranges, gamma: 1.0 };
        words.gamma = gamma.or_find(|| words.usual_gamma(data));
        words
    }

    /// The distance of two different words.
    pub fn gamma(&self) -> f64 {
        self.gamma
    }

    /// The value of a scaled column in rows with its word.
    fn scaled_height(&self) -> f64 {
        (self.gamma / 2.0).sqrt()
    }

    /// Number of columns of words, before they became several columns.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// The range of the larger and the smaller value of a column of words.
    fn height(&self, s: usize) -> f64 {
        self.ranges[s].1 - self.ranges[s].0
    }

    /// True for each column that is part of a column of words.
    fn are_words(&self) -> Vec<bool> {
        let mut are_words = vec![false; self.ranges.len()];
        self.groups.iter().cloned().flatten().for_each(|s| are_words[s] = true);
        are_words
    }

    /// Half the mean standard deviation of the columns of numbers that vary; 1 without such columns. A column with a
    /// single word does not vary.
    fn usual_gamma(&self, data: &Data) -> f64 {
        let (n, d) = (data.n(), data.d());
        let weight = |i: usize| data.weights().map_or(1.0, |weights| weights[i]);
        let total: f64 = (0..n).map(weight).sum();
        let mut moments = [vec![0.0; d], vec![0.0; d]];
        for second in [false, true] {
            let means = moments[0].clone();
            for i in 0..n {
                let Row::Dense(x) = data.row(i) else { continue };
                for (s, x) in x.iter().enumerate() {
                    let value = if second { (x - means[s]).powi(2) } else { *x };
                    moments[usize::from(second)][s] += weight(i) / total * value;
                }
            }
        }
        let are_words = self.are_words();
        let varies = |&s: &usize| !are_words[s] && self.height(s) > 0.0;
        let numbers: Vec<f64> = (0..d).filter(varies).map(|s| moments[1][s].sqrt()).collect();
        let gamma = 0.5 * numbers.iter().sum::<f64>() / numbers.len() as f64;
        if gamma > 0.0 && gamma.is_finite() { gamma } else { 1.0 }
    }

    /// The weight of the squared difference of each column: two different words differ by the height of two columns.
    pub fn weights(&self) -> Vec<f64> {
        let are_words = self.are_words();
        let weight =
            |s: usize| if are_words[s] { self.gamma / 2.0 / self.height(s).powi(2) } else { 1.0 };
        (0..self.ranges.len()).map(weight).collect()
    }

    /// The problem with columns of words that are 0 or √(γ / 2), so that different words have the squared distance
    /// gamma.
    ///
    /// # Errors
    /// Returns the errors of [`Data`].
    pub fn scaled(&self, problem: &Problem) -> Result<Problem> {
        if self.groups.is_empty() {
            return Ok(problem.clone());
        }
        let scale = |mut x: Array2<f64>| {
            for s in self.groups.iter().cloned().flatten() {
                let (low, height) = (self.ranges[s].0, self.height(s));
                // Exactly 0 or the same number, whatever the column was divided by.
                x.column_mut(s).mapv_inplace(|v| (v - low) / height * self.scaled_height());
            }
            x
        };
        let start = problem.start.as_deref().map(|start| match start {
            Start::Centroids(at) => Start::Centroids(scale(at.clone())),
            Start::Clustering(from) => {
                let mut from = Clustering::clone(from);
                from.extras.centers = from.extras.centers.map(scale);
                Start::Clustering(Arc::new(from))
            }
            Start::Labels(labels) => Start::Labels(labels.clone()),
        });
        let data = Data::dense(scale(problem.data.to_dense()))?.weighted_as(&problem.data);
        Ok(Problem { data, start: start.map(Arc::new), ..problem.clone() })
    }

    /// Centres on the columns as they were given.
    pub fn unscaled(&self, mut centres: Array2<f64>) -> Array2<f64> {
        for s in self.groups.iter().cloned().flatten() {
            let (low, high) = self.ranges[s];
            centres.column_mut(s).mapv_inplace(|v| if v > 0.0 { high } else { low });
        }
        centres
    }

    /// Gives each scaled centre the word with its largest share, of equal ones the first.
    pub fn choose(&self, centres: &mut Array2<f64>) {
        for mut centre in centres.rows_mut() {
            let centre = centre.as_slice_mut().expect("standard layout");
            for columns in &self.groups {
                let words = &mut centre[columns.clone()];
                let mut chosen = 0;
                for at in 1..words.len() {
                    chosen = if words[at] > words[chosen] { at } else { chosen };
                }
                words.fill(0.0);
                words[chosen] = self.scaled_height();
            }
        }
    }
}

fn ranges(data: &Data) -> Vec<(f64, f64)> {
    let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); data.d()];
    for i in 0..data.n() {
        let Row::Dense(x) = data.row(i) else { continue };
        ranges.iter_mut().zip(x).for_each(|(range, &x)| *range = (range.0.min(x), range.1.max(x)));
    }
    ranges
}

fn value(data: &Data, i: usize, s: usize) -> f64 {
    let (Row::Dense(x) | Row::Sparse(_, x)) = data.row(i);
    x[s]
}
