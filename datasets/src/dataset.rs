//! A data set: objects with everything that is known about them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use mustlink_core::random::SeedPath;
use mustlink_core::roles::Scene;
use mustlink_core::text::count;
use mustlink_core::{Constraint, Constraints, Context, Data, DataKind, Group, Result};

use crate::incomplete::NotNumbers;

/// Classes of objects, for oracles and metrics. Methods never see them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes {
    /// Names in order: by value when all are integers, otherwise by their characters.
    pub names: Vec<String>,
    /// For each object the place of its class in `names`; `None` = unknown.
    pub labels: Arc<[Option<u32>]>,
}

impl Classes {
    /// The message about names that are numbers with decimals, such as those of a measurement.
    pub fn measurements(&self) -> Option<String> {
        let real =
            |name: &&String| name.parse::<f64>().is_ok_and(|v| v.is_finite() && v.fract() != 0.0);
        let (name, k) = (self.names.iter().find(real)?, self.k());
        (k > 2).then(|| format!("{name} is one of {k} classes: is the column a measurement?"))
    }

    /// Classes from one name per object, `None` where it is unknown. Names that are equal numbers are one class
    /// ([`Scene::label_key`]).
    pub fn from_values<'a>(values: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        let mut met: HashMap<&str, u32> = HashMap::new();
        let mut met_as = |name| {
            let next = met.len() as u32;
            *met.entry(name).or_insert(next)
        };
        let values: Vec<Option<u32>> = values.into_iter().map(|v| v.map(&mut met_as)).collect();
        let mut names: Vec<&str> = met.keys().copied().collect();
        // If several names are the same number, keep the shortest.
        names.sort_unstable_by_key(|name| (name.len(), *name));
        let mut kept: HashMap<Cow<'_, str>, &str> = HashMap::with_capacity(names.len());
        for name in names {
            kept.entry(Scene::label_key(name)).or_insert(name);
        }
        let mut names: Vec<&str> = kept.values().copied().collect();
        names.sort_unstable();
        let numbers: Option<Vec<i64>> = names.iter().map(|n| n.parse().ok()).collect();
        if let Some(numbers) = numbers {
            let mut order: Vec<(i64, &str)> = numbers.into_iter().zip(names).collect();
            order.sort_unstable();
            names = order.into_iter().map(|(_, name)| name).collect();
        }
        let at: HashMap<&str, u32> = names.iter().copied().zip(0..).collect();
        let mut place = vec![0; met.len()];
        for (name, &met) in &met {
            place[met as usize] = at[kept[&Scene::label_key(name)]];
        }
        let labels = values.iter().map(|v| v.map(|met| place[met as usize])).collect();
        Classes { names: names.into_iter().map(str::to_string).collect(), labels }
    }

    /// Number of classes.
    pub fn k(&self) -> usize {
        self.names.len()
    }

    /// Name of the class of object `i`.
    pub fn of(&self, i: usize) -> Option<&str> {
        self.labels[i].map(|c| self.names[c as usize].as_str())
    }

    /// Objects per class, in the order of `names`.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.k()];
        self.labels.iter().flatten().for_each(|&c| sizes[c as usize] += 1);
        sizes
    }

    /// The classes of `rows`; a class of which none is left is gone.
    pub(crate) fn of_rows(&self, rows: &[usize]) -> Self {
        Classes::from_values(rows.iter().map(|&i| self.of(i)))
    }
}

/// Number of characters of a text that people need to recognise an object.
const GLIMPSE: usize = 30;

/// Objects with what is known about them. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// Its name: as built in, as in the manifest, or the stem of the file.
    pub name: String,
    /// The data as methods see them.
    pub data: Data,
    /// One id per object, where the source has them; otherwise row numbers from 0.
    pub ids: Option<Arc<[String]>>,
    /// Text shown to people, per object.
    pub display: Option<Arc<[String]>>,
    /// Columns as they were read, for people: name and one cell per object.
    pub shown: Arc<[(String, Vec<String>)]>,
    /// Classes, where known.
    pub classes: Option<Classes>,
    /// The known classes of some objects, as a method may see them.
    pub known: Option<Classes>,
    /// Groups of rows that must all be apart, as they were read.
    pub apart: Arc<[Group]>,
    /// One name per feature; empty where the source has none.
    pub feature_names: Vec<String>,
    /// The origin of the numbers, for people.
    pub provenance: String,
    /// How its file was read.
    pub reading: Reading,
}

/// Record of how a file was read into a data set, for people.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reading {
    /// Column of the ids.
    pub id: Option<String>,
    /// Column of the classes.
    pub class: Option<String>,
    /// Columns left out.
    pub ignored: Vec<String>,
    /// Missing values.
    pub missing: usize,
    /// The separator of cells, unless it is a comma.
    pub separator: Option<char>,
    /// The decimal mark of its numbers, unless it is a point.
    pub decimal: Option<char>,
    /// The file next to it that gave some of the options.
    pub described_by: Option<String>,
    /// Notes for a reader: features that may be classes.
    pub notes: Vec<String>,
    /// Why its data is a table and not numbers, with the first places and the ways out.
    pub(crate) incomplete: Option<NotNumbers>,
    /// Opened by a name that stands for its content: one built in, or one of a manifest.
    pub listed: bool,
}

impl Dataset {
    /// Data with a name and nothing else.
    pub fn new(name: impl Into<String>, data: Data) -> Self {
        Dataset {
            name: name.into(),
            data,
            ids: None,
            display: None,
            shown: Arc::default(),
            classes: None,
            known: None,
            apart: Arc::default(),
            feature_names: Vec::new(),
            provenance: String::new(),
            reading: Reading::default(),
        }
    }

    /// The data set in one line: objects, features, ids, classes, missing values.
    pub fn summary(&self) -> String {
        let reading = &self.reading;
        let mut features = named(&self.feature_names, 6);
        if !features.is_empty() {
            features = format!(" ({features})");
        }
        let ids = match (&reading.id, &self.ids) {
            (Some(column), _) => format!("ids {column}"),
            (None, Some(_)) => "with ids".into(),
            (None, None) => "no ids".into(),
        };
        let mut classes = match (&reading.class, self.k()) {
            (Some(column), Some(k)) => format!("classes {column} ({k}"),
            (None, Some(k)) => format!("classes known ({k}"),
            (_, None) => "no classes".into(),
        };
        if let Some(known) = &self.classes {
            classes += match known.labels.iter().filter(|l| l.is_none()).count() {
                0 => ")".into(),
                unknown => format!(", {} of unknown class)", count(unknown, "object")),
            }
            .as_str();
        }
        let missing = match reading.missing {
            0 => "nothing missing".into(),
            many => format!("{} missing", count(many, "value")),
        };
        let numbers = match self.data.kind() {
            DataKind::Distances => "distances of all pairs".into(),
            DataKind::Affinity => "affinities of all pairs".into(),
            _ => count(self.d(), "feature"),
        };
        let objects = count(self.n(), "object");
        let mut text = format!("{objects}, {numbers}{features}; {ids}; {classes}; {missing}");
        match self.data.weights().map_or(0, |all| all.iter().filter(|&&w| w == 0.0).count()) {
            0 => {}
            some => text += &format!("; {} of weight 0", count(some, "object")),
        }
        if !reading.ignored.is_empty() {
            text += &format!("; left out: {}", named(&reading.ignored, 6));
        }
        match reading.separator {
            Some('\t') => text += "; cells separated by tabs",
            Some(other) => text += &format!("; cells separated by {other}"),
            None => {}
        }
        if let Some(file) = &reading.described_by {
            text += &format!("; options of {file}");
        }
        // Names of columns may have lines of their own, as those of spreadsheets do.
        text.replace(char::is_control, " ")
    }

    /// The objects about which classes can answer, where these are some and not all.
    pub fn answerable(&self) -> Option<Vec<bool>> {
        let classes = self.classes.as_ref()?;
        let known: Vec<bool> = classes.labels.iter().map(Option::is_some).collect();
        let count = known.iter().filter(|&&k| k).count();
        (2 <= count && count < self.n()).then_some(known)
    }

    /// A warning about k as the number of classes, or of those that are known, if only some objects have one: there may
    /// be more classes.
    pub fn part_of_classes(&self) -> Option<String> {
        let classes = self.classes.as_ref().or(self.known.as_ref())?;
        let (known, n, k) = (classes.sizes().iter().sum::<usize>(), self.n(), classes.k());
        (known < n).then(|| {
            format!(
                "k = {k}, the number of classes of the {known} of {n} objects whose class is known; there may be more"
            )
        })
    }

    /// How much of the data the classes can answer about, where that is not all.
    pub fn partly_known(&self) -> Option<String> {
        let known = self.classes.as_ref()?.labels.iter().flatten().count();
        let n = self.n();
        let unknown = n - known;
        if unknown == 0 {
            return None;
        }
        if known < 2 {
            return Some(format!(
                "{unknown} of {n} objects have no class: no question can be answered; give a column with more \
                 classes, or another oracle"
            ));
        }
        let pairs = |m: usize| m as f64 * (m as f64 - 1.0);
        let share = format!("{:.1} %", 100.0 * pairs(known) / pairs(n));
        Some(format!(
            "{unknown} of {n} objects have no class: {share} of the pairs can be answered, and questions \
             are about the other {known} alone"
        ))
    }

    /// The constraints that follow from what is known of classes: must-links within a class, cannot-links
    /// between classes. All of them where there are at most `most`; else a chain through each class and
    /// one cannot-link for each two, from which the others follow: of very many classes as a group.
    ///
    /// # Errors
    /// No errors are known: objects of one class are never linked to themselves.
    pub fn known_constraints(&self, most: usize) -> Result<Constraints> {
        self.known_constraints_of(most, |_| true)
    }

    /// The same of the objects that are `inside`.
    ///
    /// # Errors
    /// No errors are known: objects of one class are never linked to themselves.
    pub fn known_constraints_of(
        &self,
        most: usize,
        inside: impl Fn(usize) -> bool,
    ) -> Result<Constraints> {
        let Some(known) = &self.known else { return Ok(Constraints::default()) };
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); known.k()];
        for (i, label) in known.labels.iter().enumerate().filter(|(i, _)| inside(*i)) {
            if let Some(label) = label {
                members[*label as usize].push(i);
            }
        }
        let count: usize = members.iter().map(Vec::len).sum();
        let (mut pairs, mut apart) = (Vec::new(), None);
        if count.saturating_mul(count.saturating_sub(1)) / 2 <= most {
            let all: Vec<(usize, usize)> = members
                .iter()
                .enumerate()
                .flat_map(|(c, m)| m.iter().map(move |&i| (c, i)))
                .collect();
            for (at, &(c, i)) in all.iter().enumerate() {
                pairs.extend(all[..at].iter().map(|&(other, j)| {
                    if c == other { Constraint::must(j, i) } else { Constraint::cannot(j, i) }
                }));
            }
        } else {
            // Of some classes nobody is inside.
            members.retain(|own| !own.is_empty());
            let k = members.len();
            let listed = k.saturating_mul(k.saturating_sub(1)) / 2 <= most;
            for (c, own) in members.iter().enumerate() {
                pairs.extend(own.windows(2).map(|w| Constraint::must(w[0], w[1])));
                let before = &members[..if listed { c } else { 0 }];
                pairs.extend(before.iter().map(|other| Constraint::cannot(other[0], own[0])));
            }
            let firsts = || members.iter().map(|own| own[0] as u32).collect();
            apart = (!listed).then(|| Group::new("known classes", firsts()));
        }
        Constraints::new(self.n(), pairs)?.with_groups(self.n(), apart)
    }

    /// Refuses a table that no transform has made numbers of.
    ///
    /// # Errors
    /// `Data` with the places of missing values and words, and the ways out.
    pub fn require_numbers(&self) -> Result<()> {
        self.not_numbers().map_or(Ok(()), |found| Err(found.error()))
    }

    /// Why its data are a table that no transform has made numbers of; `None` where they are numbers.
    pub fn not_numbers(&self) -> Option<&NotNumbers> {
        self.reading.incomplete.as_ref().filter(|_| self.data.kind() == DataKind::Table)
    }

    /// Number of objects.
    pub fn n(&self) -> usize {
        self.data.n()
    }

    /// Number of features.
    pub fn d(&self) -> usize {
        self.data.d()
    }

    /// Number of classes, where known.
    pub fn k(&self) -> Option<usize> {
        self.classes.as_ref().map(Classes::k)
    }

    /// The id of object `i`, its row number where the source has no ids.
    pub fn id(&self, i: usize) -> String {
        self.ids.as_ref().and_then(|ids| ids.get(i).cloned()).unwrap_or_else(|| i.to_string())
    }

    /// The beginning of what the annotator sees of object `i`: the first shown column, otherwise its text. `None` if it
    /// is empty or the same as the id.
    pub fn glimpse(&self, i: usize) -> Option<String> {
        let shown = self.shown.first().map(|(_, cells)| cells.as_slice());
        let cell = shown.or(self.display.as_deref())?.get(i)?;
        let words: Vec<&str> = cell.split(|c: char| c.is_whitespace() || c.is_control()).collect();
        let text = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        let end = text.char_indices().nth(GLIMPSE).map(|(end, _)| end);
        let text = end.map_or(text.clone(), |end| format!("{}…", &text[..end]));
        (!text.is_empty() && text != self.id(i)).then_some(text)
    }

    /// The name of object `i` in messages: its id, followed in brackets by the beginning of what the annotator sees.
    pub fn called(&self, i: usize) -> String {
        let id = self.id(i);
        self.glimpse(i).map_or(id.clone(), |text| format!("{id} ({text})"))
    }

    /// True if the text names object `i`: the whole of [`Dataset::called`], or the part in brackets. Case does not
    /// matter.
    pub fn is_called(&self, i: usize, text: &str) -> bool {
        let text = text.to_lowercase();
        self.glimpse(i).is_some_and(|glimpse| {
            glimpse.to_lowercase() == text || self.called(i).to_lowercase() == text
        })
    }

    /// Class names with their number of objects; empty where no class is known.
    pub fn class_sizes(&self) -> Vec<(String, usize)> {
        let sizes = |c: &Classes| c.names.iter().cloned().zip(c.sizes()).collect();
        self.classes.as_ref().map(sizes).unwrap_or_default()
    }

    /// The part of this data set that an oracle may see, in a run with context `ctx`.
    pub fn scene(&self, ctx: Context) -> Scene {
        Scene {
            name: Some(self.name.clone()),
            n: self.n(),
            labels: self.classes.as_ref().map(|c| c.labels.clone()),
            ids: self.ids.clone(),
            display: self.display.clone(),
            data: Some(self.data.clone()),
            read: Some(self.data.clone()),
            ctx,
        }
    }

    /// The seed of all random numbers about the data. It depends on the name if the name stands for the content
    /// (`listed`, the name that a study gives it), otherwise on the values. So neither the name of a file nor its
    /// form changes the random numbers.
    pub fn seed_path(&self, seed: u64, listed: &str) -> SeedPath {
        if self.reading.listed {
            return SeedPath::new(seed).child(listed);
        }
        let values = blake3::Hash::from(self.data.digest());
        SeedPath::new(seed).child(&values.to_hex())
    }

    /// A hash of values, ids and classes, in hexadecimal: equal content, equal digest.
    pub fn digest(&self) -> String {
        let mut h = blake3::Hasher::new();
        h.update(&self.data.digest());
        let mut texts = |tag: u8, all: &[String]| {
            h.update(&[tag]);
            h.update(&(all.len() as u64).to_le_bytes());
            for text in all {
                h.update(&(text.len() as u64).to_le_bytes());
                h.update(text.as_bytes());
            }
        };
        if let Some(ids) = &self.ids {
            texts(1, ids);
        }
        if let Some(classes) = &self.classes {
            texts(2, &classes.names);
            for label in classes.labels.iter() {
                h.update(&label.unwrap_or(u32::MAX).to_le_bytes());
            }
        }
        h.finalize().to_string()
    }
}

/// Some names, the first `most` of them.
fn named(names: &[String], most: usize) -> String {
    if names.len() <= most {
        return names.join(", ");
    }
    // The last too: that is where a column of classes stands which nobody named.
    let (first, last) = (&names[..most - 2], &names[names.len() - 2..]);
    format!("{}, …, {}", first.join(", "), last.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};

    fn three() -> Dataset {
        Dataset::new("three", Data::dense(array![[1.0], [2.0], [3.0]]).unwrap())
    }

    #[test]
    fn classes_that_are_known_make_as_few_constraints_as_they_can() {
        let of = |classes: Vec<usize>| {
            let names: Vec<String> = classes.iter().map(usize::to_string).collect();
            let known = Classes::from_values(names.iter().map(|name| Some(name.as_str())));
            let data = Data::dense(Array2::zeros((names.len(), 1))).unwrap();
            Dataset { known: Some(known), ..Dataset::new("many", data) }
        };
        let sizes = |made: Constraints| -> (usize, Vec<usize>) {
            (made.listed().len(), made.groups().iter().map(|g| g.members.len()).collect())
        };
        let three = of((0..150).map(|i| i % 3).collect());
        assert_eq!(sizes(three.known_constraints(20_000).unwrap()), (150 * 149 / 2, vec![]));
        assert_eq!(sizes(three.known_constraints(1000).unwrap()), (3 * 49 + 3, vec![]));
        // Nobody of the first class is inside.
        let two = three.known_constraints_of(1000, |i| i % 3 != 0).unwrap();
        assert_eq!(sizes(two), (2 * 49 + 1, vec![]));
        // A cannot-link for each two of a thousand classes would be half a million.
        let pairs = of((0..2000).map(|i| i / 2).collect());
        assert_eq!(sizes(pairs.known_constraints(1000).unwrap()), (1000, vec![1000]));
        let fewer = pairs.known_constraints_of(1000, |i| i >= 2).unwrap();
        assert_eq!(sizes(fewer), (999, vec![999]));
    }

    #[test]
    fn names_are_in_order() {
        let c = Classes::from_values(["10", "9", "-1", "9"].map(Some));
        assert_eq!(c.names, ["-1", "9", "10"]);
        assert_eq!(*c.labels, [Some(2), Some(1), Some(0), Some(1)]);
        assert_eq!(c.sizes(), [1, 2, 1]);
        let c = Classes::from_values([Some("10"), Some("b"), None, Some("9")]);
        assert_eq!(c.names, ["10", "9", "b"]);
        assert_eq!((c.of(1), c.of(2)), (Some("b"), None));
        assert_eq!(c.of_rows(&[3, 2]).names, ["9"]);
    }

    /// Regression test: 1 and 1.0 used to be two classes.
    #[test]
    fn equal_numbers_are_one_class() {
        let c = Classes::from_values(["1.0", "10", "1", "2.0", "+1", "2.00", "0", "0.0"].map(Some));
        assert_eq!(c.names, ["0", "1", "10", "2.0"]);
        assert_eq!(*c.labels, [1, 2, 1, 3, 1, 3, 0, 0].map(Some));
        // As ids are compared: codes with zeros in front are text.
        let c = Classes::from_values(["01234", "1234", "1234.0", "007", "07"].map(Some));
        assert_eq!(c.k(), 4);
        assert_eq!((c.of(0), c.of(1), c.of(2)), (Some("01234"), Some("1234"), Some("1234")));
        // If each number is written in only one way, names and their order stay the same. Words are not numbers.
        let c = Classes::from_values(["10.0", "9.0", "v1.0", "v1", "1e1", "-1.5", "1.5"].map(Some));
        assert_eq!(c.names, ["-1.5", "1.5", "10.0", "1e1", "9.0", "v1", "v1.0"]);
    }

    #[test]
    fn row_numbers_serve_as_ids() {
        let plain = three();
        assert_eq!(plain.id(2), "2");
        let named = Dataset { ids: Some(["a", "b", "2"].map(String::from).into()), ..three() };
        assert_eq!((named.id(0), named.id(2)), ("a".into(), "2".into()));
    }

    #[test]
    fn seeds_start_at_a_listed_name_or_at_the_values() {
        let classes = Some(Classes::from_values(["x", "y", "x"].map(Some)));
        let read = Dataset { name: "else".into(), classes, ..three() };
        assert_eq!(read.seed_path(1, "a"), three().seed_path(1, "b"));
        assert_ne!(read.seed_path(1, "a"), read.seed_path(2, "a"));
        let other = Dataset::new("three", Data::dense(array![[1.0], [2.0], [4.0]]).unwrap());
        assert_ne!(other.seed_path(1, "a"), three().seed_path(1, "a"));
        let mut listed = read.clone();
        listed.reading.listed = true;
        assert!(listed.reading.listed && !read.reading.listed);
        assert_eq!(listed.seed_path(1, "a"), SeedPath::new(1).child("a"));
    }

    #[test]
    fn the_digest_sees_values_ids_and_classes() {
        let named = Dataset { ids: Some(["a", "b", "c"].map(String::from).into()), ..three() };
        let classes = Classes::from_values(["x", "y", "x"].map(Some));
        let classed = Dataset { classes: Some(classes), ..three() };
        let other = Dataset {
            classes: Some(Classes::from_values([Some("x"), Some("y"), None])),
            ..three()
        };
        let all = [three().digest(), named.digest(), classed.digest(), other.digest()];
        for i in 0..4 {
            for j in 0..i {
                assert_ne!(all[i], all[j]);
            }
        }
        let renamed = Dataset { name: "else".into(), ..three() };
        assert_eq!(renamed.digest(), three().digest());
    }
}
