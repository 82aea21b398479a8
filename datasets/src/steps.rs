//! Steps that change the rows of a data set, together with ids and classes.

use std::collections::BTreeMap;
use std::sync::Arc;

use mustlink_core::features::Features;
use mustlink_core::random::SeedPath;
use mustlink_core::registry::suggestion;
use mustlink_core::roles::Transform;
use mustlink_core::run::{self, Steps};
use mustlink_core::text::count;
use mustlink_core::{Context, Data, DataKind, Error, Problem, Result};
use ndarray::Array2;

use crate::bytes::bad;
use crate::dataset::{Classes, Dataset};

/// The new place of each row of a data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowMap {
    /// The new row of each old row; `None` = dropped.
    pub map: Vec<Option<u32>>,
    /// The old row that each new row was: the first that maps to it.
    pub kept: Vec<usize>,
    /// Old rows that are gone.
    pub dropped: usize,
    /// Old rows that became one with an earlier row.
    pub merged: usize,
    /// New rows made of old ones of more than one class.
    pub mixed: usize,
    /// New rows made of old ones that are known to be of more than one class.
    pub mixed_known: usize,
}

impl RowMap {
    fn new(map: Vec<Option<u32>>, n: usize, class: impl Fn(usize) -> Option<u32>) -> Self {
        let mut kept = vec![usize::MAX; n];
        let mut classes: Vec<Option<u32>> = vec![None; n];
        let mut is_mixed = vec![false; n];
        let (mut dropped, mut merged) = (0, 0);
        for (old, new) in map.iter().enumerate() {
            let Some(new) = new.map(|r| r as usize) else {
                dropped += 1;
                continue;
            };
            if kept[new] == usize::MAX {
                kept[new] = old;
            } else {
                merged += 1;
            }
            match (classes[new], class(old)) {
                (Some(one), Some(other)) if one != other => is_mixed[new] = true,
                (None, first) => classes[new] = first,
                _ => {}
            }
        }
        let mixed = is_mixed.into_iter().filter(|&m| m).count();
        RowMap { map, kept, dropped, merged, mixed, mixed_known: 0 }
    }

    /// The values of the new rows, handed out to all old ones; `None` for dropped rows.
    pub fn expand<T: Clone>(&self, new: &[T]) -> Vec<Option<T>> {
        self.map.iter().map(|r| r.map(|r| new[r as usize].clone())).collect()
    }
}

impl Dataset {
    /// The data set restricted to `rows`, in that order, with their ids and classes. A class of
    /// which no row is left is gone.
    ///
    /// # Errors
    /// `EmptyData` when no row is left, `IndexOutOfRange`.
    pub fn with_rows(&self, rows: &[usize]) -> Result<Self> {
        if rows.is_empty() {
            return Err(Error::EmptyData);
        }
        if let Some(&index) = rows.iter().find(|&&r| r >= self.n()) {
            return Err(Error::IndexOutOfRange { index, n: self.n() });
        }
        Ok(self.placed(self.data.subset(rows), rows, &Features::Same))
    }

    /// New data whose rows were the old rows `kept`.
    fn placed(&self, data: Data, kept: &[usize], features: &Features) -> Self {
        let texts = |all: &Arc<[String]>| kept.iter().map(|&r| all[r].clone()).collect();
        let feature_names = match features {
            Features::New => Vec::new(),
            _ if self.feature_names.is_empty() => Vec::new(),
            _ => features.names(&self.feature_names, data.d()),
        };
        Dataset {
            name: self.name.clone(),
            data,
            ids: self.ids.as_ref().map(texts),
            display: self.display.as_ref().map(texts),
            // People are shown rows as they were read.
            shown: Arc::default(),
            classes: self.classes.as_ref().map(|c| c.of_rows(kept)),
            known: self.known.as_ref().map(|c| c.of_rows(kept)),
            // Constraints follow their objects by themselves.
            apart: Arc::default(),
            feature_names,
            provenance: self.provenance.clone(),
            reading: self.reading.clone(),
        }
    }

    /// The data set after a step that changed its rows: `data` with the ids of the first old row of each
    /// new one, and the first class of any that has one; names of features as far as `features` says that
    /// they are the same. Where the source had no ids, row numbers start again.
    ///
    /// # Errors
    /// `Contract` when `map` does not lead from the old rows to the new ones.
    pub fn mapped(
        &self,
        data: Data,
        map: Vec<Option<u32>>,
        features: &Features,
    ) -> Result<(Self, RowMap)> {
        let n = data.n();
        let broken = |what: &str| Error::Contract { plugin: "row map".into(), broken: what.into() };
        if map.len() != self.n() {
            return Err(broken("it must have one entry per old row"));
        }
        if map.iter().flatten().any(|&r| r as usize >= n) {
            return Err(broken("it leads to a row that does not exist"));
        }
        let class = |i: usize| self.classes.as_ref().and_then(|c| c.labels[i]);
        let mut rows = RowMap::new(map, n, class);
        if rows.kept.contains(&usize::MAX) {
            return Err(broken("no old row leads to some new row"));
        }
        let mut set = self.placed(data, &rows.kept, features);
        // Where the class of the first is unknown, that of a later one is not.
        let mut classed = rows.kept.clone();
        for (old, new) in rows.map.iter().enumerate() {
            if let Some(of) = new.map(|row| &mut classed[row as usize])
                && class(*of).is_none()
                && class(old).is_some()
            {
                *of = old;
            }
        }
        set.classes = self.classes.as_ref().map(|classes| classes.of_rows(&classed));
        // What somebody knows of any row that became one with others is known of them all.
        let mut differ = vec![false; n];
        set.known = self.known.as_ref().map(|known| {
            let mut names: Vec<Option<&str>> = vec![None; n];
            for (old, new) in rows.map.iter().enumerate() {
                let (Some(new), Some(own)) = (new.map(|row| row as usize), known.of(old)) else {
                    continue;
                };
                differ[new] |= names[new].is_some_and(|first| first != own);
                names[new] = names[new].or(Some(own));
            }
            Classes::from_values(names)
        });
        rows.mixed_known = differ.into_iter().filter(|&d| d).count();
        Ok((set, rows))
    }

    /// The data set after the `transforms` of its own section: none of them may read constraints.
    /// The row map exists if rows were dropped or merged; the steps come as they were fitted.
    ///
    /// # Errors
    /// `Usage` for a transform that reads constraints; what a transform returns, with its place.
    pub fn transformed(
        &self,
        transforms: &[Box<dyn Transform>],
        ctx: &Context,
    ) -> Result<(Self, Option<RowMap>, Steps)> {
        if let Some(at) = transforms.iter().position(|t| t.properties().reads_constraints) {
            let tag = transforms[at].typetag_name();
            return Err(Error::Usage(format!(
                "transforms[{at}]: {tag} learns from constraints, but a data set has none; \
                 move it to the transforms of the method"
            )));
        }
        let made = run::transform(transforms, &Problem::new(self.data.clone()), ctx)
            .map_err(|e| e.with_feature_names(&self.feature_names))?;
        let (data, features) = (made.problem.data, made.lineage.features);
        match made.rows {
            Some(map) => {
                let (dataset, rows) = self.mapped(data, map, &features)?;
                if rows.mixed > 0 {
                    ctx.warn(format!(
                        "{}: {} had objects of more than one class; the class that comes first is kept",
                        self.name,
                        count(rows.mixed, "merged row")
                    ));
                }
                if rows.mixed_known > 0 {
                    ctx.warn(format!(
                        "{}: {} had objects that are known to be of more than one class; the class that comes first \
                         is kept",
                        self.name,
                        count(rows.mixed_known, "merged row")
                    ));
                }
                Ok((dataset, Some(rows), made.steps))
            }
            None => {
                let all: Vec<usize> = (0..self.n()).collect();
                Ok((self.placed(data, &all, &features), None, made.steps))
            }
        }
    }

    /// The data set with the number of each row, from 0, as a last feature named `row_number`.
    ///
    /// # Errors
    /// `UnsupportedData` for data that is not dense.
    pub fn with_row_number(&self) -> Result<Self> {
        let data = &self.data;
        if data.kind() != DataKind::Dense {
            return Err(Error::UnsupportedData {
                plugin: "row_number".into(),
                kind: data.kind().name(),
                accepts: DataKind::Dense.name().into(),
            });
        }
        let (n, d) = (data.n(), data.d());
        let old = data.to_dense();
        let x =
            Array2::from_shape_fn((n, d + 1), |(i, s)| if s < d { old[[i, s]] } else { i as f64 });
        let mut feature_names = self.feature_names.clone();
        if !feature_names.is_empty() {
            feature_names.push("row_number".into());
        }
        Ok(Dataset { data: Data::dense(x)?, feature_names, ..self.clone() })
    }

    /// The rows of `sizes` objects of the classes named, drawn without repetition, and of all objects of the
    /// others, in order. Each class has a stream of its own below `path`.
    ///
    /// # Errors
    /// `BadParam` for a class that does not exist or has too few objects; `Data` without classes.
    pub fn balanced_rows(
        &self,
        sizes: &BTreeMap<String, usize>,
        path: &SeedPath,
    ) -> Result<Vec<usize>> {
        let Some(classes) = &self.classes else {
            return Err(bad(&self.name, "class_sizes needs classes, and none are known"));
        };
        let known = classes.sizes();
        let mut keep = vec![true; self.n()];
        for (name, &size) in sizes {
            let Some(class) = classes.names.iter().position(|n| n == name) else {
                let names = classes.names.iter().map(String::as_str);
                let near = suggestion(name, names);
                let legal = format!("a class of {} ({})", self.name, classes.names.join(", "));
                return Err(Error::bad_param("class_sizes", format!("\"{name}\"{near}"), legal));
            };
            if !(1..=known[class]).contains(&size) {
                let legal = format!("between 1 and {} (objects of that class)", known[class]);
                return Err(Error::bad_param(&format!("class_sizes.{name}"), size, legal));
            }
            let members: Vec<usize> =
                (0..self.n()).filter(|&i| classes.labels[i] == Some(class as u32)).collect();
            members.iter().for_each(|&i| keep[i] = false);
            let mut stream = path.child("balance").stream(name);
            stream.sample(members.len(), size).into_iter().for_each(|at| keep[members[at]] = true);
        }
        Ok((0..self.n()).filter(|&i| keep[i]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_transforms::deduplicate::Deduplicate;
    use mustlink_transforms::drop_constant::DropConstant;
    use mustlink_transforms::min_max::MinMax;
    use mustlink_transforms::rca::Rca;
    use ndarray::array;
    use proptest::prelude::*;

    fn small() -> Dataset {
        let x = array![[1.0, 4.0], [2.0, 8.0], [1.0, 4.0], [3.0, 4.0], [2.0, 8.0], [1.0, 4.0]];
        let classes = ["a", "b", "a", "c", "a", "?"].map(|c| Some(c).filter(|c| *c != "?"));
        Dataset {
            ids: Some(["p", "q", "r", "s", "t", "u"].map(String::from).into()),
            classes: Some(Classes::from_values(classes)),
            feature_names: vec!["x".into(), "y".into()],
            ..Dataset::new("small", Data::dense(x).unwrap())
        }
    }

    #[test]
    fn merged_rows_keep_the_first_id_and_class() {
        let ctx = Context::new(1);
        let steps: [Box<dyn Transform>; 2] = [Box::new(Deduplicate {}), Box::new(MinMax {})];
        let (after, rows, _) = small().transformed(&steps, &ctx).unwrap();
        assert_eq!(after.data.to_dense(), array![[0.0, 0.0], [0.5, 1.0], [1.0, 0.0]]);
        assert_eq!(after.ids.as_deref().unwrap(), ["p", "q", "s"]);
        assert_eq!(after.class_sizes().len(), 3);
        assert_eq!(after.feature_names, ["x", "y"]);
        let rows = rows.unwrap();
        assert_eq!((rows.merged, rows.dropped, rows.mixed), (3, 0, 1));
        assert_eq!(rows.kept, [0, 1, 3]);
        let labels = rows.expand(&[7, 8, 9]);
        assert_eq!(labels, [7, 8, 7, 9, 8, 7].map(Some));
        assert_eq!(
            ctx.warnings(),
            [
                "small: 1 merged row had objects of more than one class; the class that comes first is kept"
            ]
        );
    }

    #[test]
    fn a_merged_row_has_the_first_class_that_is_not_missing() {
        let classes = [None, None, Some("v"), None, None, Some("u")];
        let set = Dataset { classes: Some(Classes::from_values(classes)), ..small() };
        let steps: [Box<dyn Transform>; 1] = [Box::new(Deduplicate {})];
        let (after, rows, _) = set.transformed(&steps, &Context::new(1)).unwrap();
        let classes = after.classes.unwrap();
        assert_eq!([0, 1, 2].map(|i| classes.of(i)), [Some("v"), None, None]);
        let rows = rows.unwrap();
        assert_eq!((rows.kept, rows.mixed), (vec![0, 1, 3], 1));
    }

    #[test]
    fn what_is_known_of_a_merged_row_stays_known() {
        let known = [None, None, Some("v"), None, Some("w"), Some("u")];
        let set = Dataset { known: Some(Classes::from_values(known)), ..small() };
        let steps: [Box<dyn Transform>; 1] = [Box::new(Deduplicate {})];
        let ctx = Context::new(1);
        let (after, rows, _) = set.transformed(&steps, &ctx).unwrap();
        let known = after.known.unwrap();
        assert_eq!([0, 1, 2].map(|i| known.of(i)), [Some("v"), Some("w"), None]);
        // The first of the three equal rows is unknown, the other two differ.
        assert_eq!(rows.unwrap().mixed_known, 1);
        let said = "small: 1 merged row had objects that are known to be of more than one class; the class that \
                    comes first is kept";
        assert!(ctx.warnings().iter().any(|w| w == said), "{:?}", ctx.warnings());
    }

    #[test]
    fn transforms_that_read_constraints_stand_elsewhere() {
        let steps: [Box<dyn Transform>; 2] = [Box::new(MinMax {}), Box::new(Rca::default())];
        let message = small().transformed(&steps, &Context::new(1)).unwrap_err().to_string();
        assert_eq!(
            message,
            "transforms[1]: rca learns from constraints, but a data set has none; move it to \
             the transforms of the method"
        );
    }

    #[test]
    fn row_maps_are_checked() {
        let data = || Data::dense(array![[1.0], [2.0]]).unwrap();
        let of = |map: &[Option<u32>]| small().mapped(data(), map.to_vec(), &Features::New);
        assert!(of(&[Some(0), Some(1)]).is_err());
        assert!(of(&[Some(0), None, None, None, None, Some(2)]).is_err());
        assert!(of(&[Some(0), None, None, None, None, Some(0)]).is_err());
        let (after, rows) = of(&[None, Some(1), Some(0), None, None, Some(1)]).unwrap();
        assert_eq!(after.ids.as_deref().unwrap(), ["r", "q"]);
        assert_eq!((rows.dropped, rows.merged, after.k()), (3, 1, Some(2)));
        assert!(after.feature_names.is_empty());
    }

    #[test]
    fn a_row_number_is_a_last_feature() {
        let set = small().with_row_number().unwrap();
        assert_eq!(set.feature_names, ["x", "y", "row_number"]);
        assert_eq!((set.d(), set.data.to_dense().row(4).to_vec()), (3, vec![2.0, 8.0, 4.0]));
        assert_eq!(set.classes, small().classes);
    }

    #[test]
    fn names_follow_the_features_that_stay() {
        let x = array![[1.0, 4.0, 0.0], [1.0, 4.0, 2.0]];
        let names = ["x", "y", "z"].map(String::from).to_vec();
        let set = Dataset { feature_names: names, ..Dataset::new("set", Data::dense(x).unwrap()) };
        let steps: [Box<dyn Transform>; 1] = [Box::new(DropConstant {})];
        let after = set.transformed(&steps, &Context::new(1)).unwrap().0;
        assert_eq!((after.feature_names, after.data.d()), (vec!["z".to_string()], 1));
    }

    #[test]
    fn impossible_balances_are_named() {
        let of = |name: &str, size| {
            let sizes = BTreeMap::from([(name.to_string(), size)]);
            small().balanced_rows(&sizes, &SeedPath::new(1)).unwrap_err().to_string()
        };
        assert_eq!(
            of("a", 4),
            "class_sizes.a: must be between 1 and 3 (objects of that class), got 4"
        );
        assert_eq!(
            of("a", 0),
            "class_sizes.a: must be between 1 and 3 (objects of that class), got 0"
        );
        assert_eq!(
            of("other", 1),
            "class_sizes: must be a class of small (a, b, c), got \"other\""
        );
        let plain = Dataset { classes: None, ..small() };
        let refused = plain.balanced_rows(&BTreeMap::new(), &SeedPath::new(1)).unwrap_err();
        assert_eq!(refused.to_string(), "small: class_sizes needs classes, and none are known");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// The sizes asked for, order kept, other classes and unknown ones untouched, the draw of
        /// one class independent of the others.
        #[test]
        fn balanced(classes in proptest::collection::vec(0usize..4, 12..40), seed in 0u64..100) {
            let n = classes.len();
            let x = Array2::from_shape_fn((n, 1), |(i, _)| i as f64);
            let names = ["a", "b", "c"];
            let set = Dataset {
                classes: Some(Classes::from_values(classes.iter().map(|&c| names.get(c).copied()))),
                ..Dataset::new("drawn", Data::dense(x).unwrap())
            };
            let count = |set: &Dataset, name: &str| {
                set.class_sizes().iter().find(|(n, _)| n == name).map_or(0, |(_, s)| *s)
            };
            prop_assume!(count(&set, "a") > 2 && count(&set, "b") > 2);
            let path = SeedPath::new(seed);
            let one = BTreeMap::from([("a".to_string(), 2)]);
            let two = BTreeMap::from([("a".to_string(), 2), ("b".to_string(), 1)]);
            let drawn = |sizes: &BTreeMap<String, usize>| {
                set.with_rows(&set.balanced_rows(sizes, &path).unwrap()).unwrap()
            };
            let (one, two) = (drawn(&one), drawn(&two));
            let of = |set: &Dataset, name: Option<&str>| -> Vec<f64> {
                let classes = set.classes.as_ref().unwrap();
                (0..set.n())
                    .filter(|&i| classes.of(i) == name)
                    .map(|i| set.data.row(i).dot(&[1.0]))
                    .collect()
            };
            prop_assert_eq!((count(&two, "a"), count(&two, "b")), (2, 1));
            prop_assert_eq!(of(&one, Some("a")), of(&two, Some("a")));
            prop_assert_eq!(of(&one, Some("b")), of(&set, Some("b")));
            prop_assert_eq!(of(&two, Some("c")), of(&set, Some("c")));
            prop_assert_eq!(of(&two, None), of(&set, None));
            prop_assert!((0..two.n()).map(|i| two.data.row(i).dot(&[1.0])).is_sorted());
        }
    }
}
