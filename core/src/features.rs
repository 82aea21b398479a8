//! The features of a data set that a method gets, and the weight of each.

use crate::error::Error;

/// Features after a transform.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Features {
    /// Those before it, scaled or shifted at most.
    #[default]
    Same,
    /// Some of those before it, by number from 0.
    Chosen(Vec<usize>),
    /// Each made of one of those before it, by number from 0, with the word that it stands for, if it does.
    Parts(Vec<(usize, Option<String>)>),
    /// New ones, made of several.
    New,
}

impl Features {
    /// Features after these and then `next`.
    #[must_use]
    pub fn then(&self, next: &Features) -> Features {
        match (self, next) {
            (Features::New, _) | (_, Features::New) => Features::New,
            (one, Features::Same) => one.clone(),
            (Features::Same, chosen) => chosen.clone(),
            (Features::Chosen(first), Features::Chosen(of)) => {
                Features::Chosen(of.iter().map(|&s| first[s]).collect())
            }
            (Features::Parts(first), Features::Chosen(of)) => {
                Features::Parts(of.iter().map(|&s| first[s].clone()).collect())
            }
            (Features::Chosen(first), Features::Parts(of)) => {
                Features::Parts(of.iter().map(|(s, word)| (first[*s], word.clone())).collect())
            }
            (Features::Parts(first), Features::Parts(of)) => {
                let both = |(s, word): &(usize, Option<String>)| {
                    let (before, earlier) = &first[*s];
                    let words: Vec<&str> =
                        [earlier, word].into_iter().flatten().map(String::as_str).collect();
                    (*before, (!words.is_empty()).then(|| words.join("_")))
                };
                Features::Parts(of.iter().map(both).collect())
            }
        }
    }

    /// An error about these features, as one about those before them.
    #[must_use]
    pub fn error_before(&self, error: Error) -> Error {
        match self {
            Features::Same => error,
            Features::Chosen(of) => error.with_feature(&|s| of.get(s).copied()),
            Features::Parts(of) => error.with_feature(&|s| of.get(s).map(|(before, _)| *before)),
            Features::New => error.with_feature(&|_| None),
        }
    }

    /// Names of `d` such features of data whose features have these names; without names numbers from 0
    /// stand for them.
    pub fn names(&self, names: &[String], d: usize) -> Vec<String> {
        let name = |s: usize| names.get(s).cloned().unwrap_or_else(|| format!("feature_{s}"));
        match self {
            Features::Same => (0..d).map(name).collect(),
            Features::Chosen(of) => of.iter().map(|&s| name(s)).collect(),
            Features::Parts(of) => {
                let part = |(s, word): &(usize, Option<String>)| match word {
                    Some(word) => format!("{}_{word}", name(*s)),
                    None => name(*s),
                };
                of.iter().map(part).collect()
            }
            Features::New => (0..d).map(|s| format!("component_{s}")).collect(),
        }
    }
}

/// Origin of the features that a clusterer gets.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lineage {
    /// The features themselves.
    pub features: Features,
    /// The metric that the last transform with one learned: what the features before it are, and the
    /// weight of each (the diagonal of TᵀT where x becomes T·x).
    pub metric: Option<(Features, Vec<f64>)>,
}

impl Lineage {
    /// These steps and then `next`.
    #[must_use]
    pub fn then(&self, next: &Lineage) -> Lineage {
        let later = next.metric.as_ref().map(|(at, w)| (self.features.then(at), w.clone()));
        Lineage {
            features: self.features.then(&next.features),
            metric: later.or_else(|| self.metric.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(all: &[&str]) -> Vec<String> {
        all.iter().map(|n| (*n).to_string()).collect()
    }

    #[test]
    fn errors_are_about_the_features_before() {
        let wrong = Error::Magnitude { column: Some(1), value: 1e200 };
        assert_eq!(Features::Same.error_before(wrong.clone()), wrong);
        let before = Features::Chosen(vec![0, 4]).error_before(wrong.clone());
        assert_eq!(before, Error::Magnitude { column: Some(4), value: 1e200 });
        let made = Features::New.error_before(wrong.clone());
        assert_eq!(made.to_string(), wrong.to_string());
        assert_eq!(made.with_feature_names(&names(&["a", "b"])).to_string(), wrong.to_string());
    }

    #[test]
    fn names_follow_the_features() {
        let first = Features::Chosen(vec![0, 2, 3]);
        let then = first.then(&Features::Same).then(&Features::Chosen(vec![2, 0]));
        assert_eq!(then, Features::Chosen(vec![3, 0]));
        assert_eq!(then.names(&names(&["a", "b", "c", "d"]), 2), ["d", "a"]);
        assert_eq!(then.names(&[], 2), ["feature_3", "feature_0"]);
        assert_eq!(then.then(&Features::New).then(&then).names(&[], 1), ["component_0"]);
    }

    #[test]
    fn words_have_the_names_of_their_columns() {
        let word = |w: &str| Some(w.to_string());
        let coded = Features::Parts(vec![(0, None), (1, word("blue")), (1, word("red"))]);
        let said = names(&["size", "colour", "n"]);
        assert_eq!(coded.names(&said, 3), ["size", "colour_blue", "colour_red"]);
        assert_eq!(coded.names(&[], 3), ["feature_0", "feature_1_blue", "feature_1_red"]);
        // Some of the columns first, some of what is made of them afterwards.
        let both = Features::Chosen(vec![2, 1]).then(&coded).then(&Features::Chosen(vec![2, 0]));
        assert_eq!(both.names(&said, 2), ["colour_red", "n"]);
        let wrong = Error::Magnitude { column: Some(1), value: 1e200 };
        let before = both.error_before(wrong);
        assert_eq!(before, Error::Magnitude { column: Some(2), value: 1e200 });
        let again = Features::Parts(vec![(0, word("1")), (2, None)]);
        assert_eq!(coded.then(&again).names(&said, 2), ["size_1", "colour_red"]);
        assert_eq!(again.then(&coded).then(&Features::Same).names(&said, 3)[1], "n_blue");
        assert_eq!(coded.then(&Features::New).names(&said, 1), ["component_0"]);
    }
}
