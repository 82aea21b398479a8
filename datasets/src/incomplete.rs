//! Cells that are not numbers, and remedies for them.

use std::collections::BTreeSet;

use mustlink_core::text::{count, form};
use mustlink_core::{Data, Error, Result};

use crate::bytes::bad;
use crate::columns::{Roles, option_word};
use crate::dates::is_date;
use crate::thousands;

/// Places shown of cells that are not numbers.
const SHOWN: usize = 5;

/// Maximum number of different whole numbers in a column of codes.
const MOST_CODES: usize = 10;
/// A column of codes has a word in at least one of this number of cells; rarer words are typing errors.
const CODES_TO_A_WORD: usize = 20;

/// Cells that spreadsheets write if a formula has no value.
const ERRORS: [&str; 11] = [
    "#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#NV", "#WERT!", "#BEZUG!",
    "#ZAHL!",
];

/// Why the data of a file are a table and no matrix of numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct NotNumbers {
    /// The file.
    pub place: String,
    /// How many values are missing, with the first places.
    pub missing: Option<String>,
    /// How many cells are not numbers, with the first places.
    pub words: Option<String>,
    /// An empty column, which no transform can turn into numbers.
    pub empty: Option<String>,
    /// Cells that are not numbers in columns of numbers, with the remedies. `one_hot` would turn each number into a
    /// column of 0 and 1.
    pub among_numbers: Option<String>,
    /// The remedies.
    pub ways: Vec<Way>,
}

/// A remedy for cells that are not numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum Way {
    /// They are numbers that have to be written, or read, in another way.
    Read(String),
    /// They are dates, of which words make nothing.
    Dates(String),
    /// A transform turns such words into numbers, or they are typing errors.
    Words(String),
    /// A transform fills them in, or the column is not a feature.
    Other(String),
    /// The option that turns all words and missing values of the file into numbers.
    All(String),
}

impl Way {
    /// The text of the remedy.
    pub fn text(&self) -> &str {
        match self {
            Way::Read(text)
            | Way::Dates(text)
            | Way::Words(text)
            | Way::Other(text)
            | Way::All(text) => text,
        }
    }
}

impl NotNumbers {
    /// All of it as an error. An option that is enough for all cells comes first, on a line of its own.
    pub fn error(&self) -> Error {
        let (all, ways): (Vec<&Way>, Vec<&Way>) =
            self.ways.iter().partition(|way| matches!(way, Way::All(_)));
        let ways: Vec<&str> = ways.into_iter().map(Way::text).collect();
        let ways = ways.join("; ");
        let message = match all.first() {
            Some(all) => format!(
                "add\n  {}\nto fill in missing values and turn words into columns of 0 and 1.\n{}\n\
                 Alternatives: {ways}",
                all.text(),
                self.parts().join("\n")
            ),
            None => format!("{}; {ways}", self.told()),
        };
        bad(&self.place, message)
    }

    /// The missing values and the cells that are not numbers, as text.
    pub fn told(&self) -> String {
        self.parts().join("; ")
    }

    fn parts(&self) -> Vec<&str> {
        [&self.missing, &self.words].into_iter().flatten().map(String::as_str).collect()
    }

    /// Refuses cells that no transform of words and gaps should be given.
    ///
    /// # Errors
    /// `Data` for a column without a value, and for cells that are not numbers in a column of numbers.
    pub fn refuse_as_words(&self) -> Result<()> {
        match self.empty.as_ref().or(self.among_numbers.as_ref()) {
            Some(message) => Err(bad(&self.place, message)),
            None => Ok(()),
        }
    }
}

/// A feature without a number.
pub(crate) struct Odd {
    pub row: usize,
    pub line: u64,
    pub feature: usize,
    /// Content of the cell; empty if the value is missing.
    pub word: String,
}

/// Missing values: how many each feature has, and line and feature of the first ones. A file may hold millions.
#[derive(Default)]
pub(crate) struct Gaps {
    of: Vec<usize>,
    first: Vec<(u64, usize)>,
}

impl Gaps {
    /// Counts one missing value, with its line in the file and its feature.
    pub fn push(&mut self, line: u64, feature: usize) {
        self.add(feature, 1);
        if self.first.len() <= SHOWN {
            self.first.push((line, feature));
        }
    }

    /// These and then `next`.
    pub fn append(&mut self, next: Gaps) {
        for (feature, many) in next.of.into_iter().enumerate() {
            self.add(feature, many);
        }
        let room = (SHOWN + 1).saturating_sub(self.first.len());
        self.first.extend(next.first.into_iter().take(room));
    }

    fn add(&mut self, feature: usize, many: usize) {
        self.of.resize(self.of.len().max(feature + 1), 0);
        self.of[feature] += many;
    }

    fn of(&self, feature: usize) -> usize {
        self.of.get(feature).copied().unwrap_or(0)
    }

    /// Number of missing values in all features.
    pub fn len(&self) -> usize {
        self.of.iter().sum()
    }
}

/// A table of a CSV that need not be a matrix of numbers.
pub(crate) struct Incomplete<'a> {
    pub gaps: &'a Gaps,
    pub words: &'a [Odd],
    pub data: &'a Data,
    pub roles: &'a Roles,
    pub header: &'a [String],
    pub separator: char,
    pub decimal: Option<char>,
}

impl<'a> Incomplete<'a> {
    /// Missing values and cells that are not numbers, with the first places and the remedies. `None` if every cell
    /// is a number.
    pub fn found(&self, place: &str) -> Option<NotNumbers> {
        let all: Vec<&Odd> = self.words.iter().collect();
        let (missing, words) = (self.told_gaps(), self.told_words(&all));
        if missing.is_none() && words.is_none() {
            return None;
        }
        let (empty, among_numbers) = (self.empty(), self.among_numbers());
        let ways = self.ways(all, among_numbers.is_none());
        Some(NotNumbers { place: place.into(), missing, words, empty, among_numbers, ways })
    }

    /// The words of columns of numbers, with what can be done about them.
    fn among_numbers(&self) -> Option<String> {
        let mut columns: Vec<Vec<&Odd>> = vec![Vec::new(); self.roles.features.len()];
        self.words.iter().for_each(|odd| columns[odd.feature].push(odd));
        let is_numeric: Vec<bool> = columns.iter().map(|words| self.is_numeric(words)).collect();
        let words: Vec<&Odd> = self.words.iter().filter(|odd| is_numeric[odd.feature]).collect();
        let name = words.first().map(|odd| self.name(odd.feature))?;
        let told = self.told_words(&words)?;
        let written = |odd: &&Odd| {
            is_written_number(&odd.word, self.decimal) || have_units(&columns[odd.feature])
        };
        let plain = !words.iter().all(written);
        let mut ways = self.word_ways(words, &[], true);
        if plain {
            ways.push(Way::Other(format!(
                "if its numbers are codes of categories, declare this with --set \
                 'transforms=[{{type=\"one_hot\",columns=[{name:?}]}}]'"
            )));
        }
        let ways: Vec<&str> = ways.iter().map(Way::text).collect();
        Some(format!("{told}; {}", ways.join("; ")))
    }

    /// True if these words are typing errors in a column of numbers that is not declared to be one of categories.
    fn is_numeric(&self, words: &[&Odd]) -> bool {
        let Some(&&Odd { feature, .. }) = words.first() else { return false };
        let filled = self.data.n() - self.gaps.of(feature);
        let list = self.data.words(feature).map(|list| &list[..]).unwrap_or_default();
        let is_category = self.roles.categories.contains(&self.roles.features[feature]);
        is_numeric(filled, words, list, self.decimal) && !is_category
    }

    /// True if all values of a feature are missing.
    fn is_empty(&self, feature: usize) -> bool {
        self.gaps.of(feature) == self.data.n()
    }

    fn empty(&self) -> Option<String> {
        let feature = (0..self.roles.features.len()).find(|&f| self.is_empty(f))?;
        let (at, name) = (self.roles.features[feature], self.name(feature));
        let word = option_word([(at, name)]);
        Some(format!("column \"{name}\" is empty: leave it out with --ignore {word}"))
    }

    /// The name of a feature.
    fn name(&self, feature: usize) -> &'a str {
        &self.header[self.roles.features[feature]]
    }

    fn place(&self, line: u64, feature: usize) -> String {
        format!("line {line}, column \"{}\"", self.name(feature))
    }

    fn told_gaps(&self) -> Option<String> {
        let gaps = self.gaps.first.iter().map(|&(line, feature)| self.place(line, feature));
        let (n, values) = (self.gaps.len(), count(self.gaps.len(), "value"));
        (n > 0).then(|| format!("{values} {} missing: {}", form(n, "is", "are"), first_of(gaps)))
    }

    fn told_words(&self, words: &[&Odd]) -> Option<String> {
        let word = |odd: &&Odd| format!("{} (\"{}\")", self.place(odd.line, odd.feature), odd.word);
        let places = words.iter().map(word);
        let (n, cells) = (words.len(), count(words.len(), "cell"));
        let are = form(n, "is not a number", "are not numbers");
        (n > 0).then(|| format!("{cells} {are}: {}", first_of(places)))
    }

    /// The name of a column as an option takes it.
    fn option(&self, name: &str) -> String {
        let at = self.header.iter().position(|c| c == name).unwrap_or_default();
        option_word([(at, name)])
    }

    /// The remedies. `are_categories` if no word is a typing error among numbers.
    fn ways(&self, words: Vec<&Odd>, are_categories: bool) -> Vec<Way> {
        use Way::Other;
        let features = 0..self.roles.features.len();
        let mut ways: Vec<Way> = self.empty().map(Other).into_iter().collect();
        // A column that is mostly empty is what somebody knows of some objects, not a measurement; one that was
        // chosen as a feature is one.
        let mostly_empty = |&f: &usize| {
            self.roles.guessed && 2 * self.gaps.of(f) > self.data.n() && !self.is_empty(f)
        };
        let sparse: Vec<&str> =
            features.clone().filter(mostly_empty).map(|f| self.name(f)).collect();
        if let Some(name) = sparse.first().map(|&name| self.option(name)) {
            ways.push(Other(format!(
                "if the column contains known classes of some objects, give --labels {name}, otherwise leave it out \
                 with --ignore {name}"
            )));
        }
        let fits = |f: usize| {
            self.gaps.of(f) > 0
                && !self.is_empty(f)
                && (!sparse.contains(&self.name(f)) || words.iter().all(|odd| odd.feature != f))
        };
        if features.clone().any(fits) {
            ways.push(Other(
                "fill in with --set 'transforms=[\"impute_missing\"]', or drop the rows".into(),
            ));
        }
        let only_gaps = sparse.is_empty() && self.gaps.len() > 0 && self.empty().is_none();
        let both = only_gaps && are_categories && !words.is_empty();
        let of_words = self.word_ways(words, &sparse, !both);
        if both && of_words.iter().any(|way| matches!(way, Way::Words(_))) {
            // Neither of the two steps is enough alone.
            ways = vec![Way::All(self.steps(&["impute_missing", "one_hot"]))];
        }
        ways.extend(of_words);
        ways
    }

    /// The option that carries out these steps. `z_score` comes last if there are numbers: on their own scale they
    /// would outweigh the words.
    fn steps(&self, steps: &[&str]) -> String {
        let numbers = (0..self.roles.features.len()).any(|f| self.data.words(f).is_none());
        let last = numbers.then_some("z_score");
        let steps: Vec<String> =
            steps.iter().copied().chain(last).map(|step| format!("{step:?}")).collect();
        format!("--set 'transforms=[{}]'", steps.join(","))
    }

    /// The remedies for these words; a column of `sparse` words has its own remedy. With `alone`, `one_hot` is among
    /// them.
    fn word_ways(&self, mut words: Vec<&Odd>, sparse: &[&str], alone: bool) -> Vec<Way> {
        use Way::{Dates, Other, Read};
        let features = 0..self.roles.features.len();
        let of = |words: &[&Odd], feature: usize| {
            words.iter().filter(|odd| odd.feature == feature).count()
        };
        let mut ways: Vec<Way> = Vec::new();
        // Whole columns of them: as words they would become columns of 0 and 1. Where commas part the cells, one
        // before three digits is between thousands.
        let mark = |odd: &Odd| {
            let undecided = thousands::undecided(&odd.word);
            let plain = self.separator == ',' && self.decimal.is_none() && undecided;
            if plain { Some(',') } else { thousands::mark(&odd.word, self.decimal) }
        };
        let signed = take(&mut words, |odd| thousands::without_sign(&odd.word).is_some());
        if let Some(word) = signed.first().map(|odd| odd.word.as_str()) {
            let bare = thousands::without_sign(word).unwrap_or_default();
            ways.push(Read(format!(
                "units are not supported: write {word} as {bare}, in every cell of the column"
            )));
        }
        let point = |odd: &Odd| self.decimal.is_some() && odd.word.parse::<f64>().is_ok();
        let with_points = words.iter().any(|&odd| point(odd) && mark(odd).is_none());
        let points = take(&mut words, |odd| with_points && point(odd));
        if let (false, Some(sign)) = (points.is_empty(), self.decimal) {
            ways.push(Read(format!("to read a decimal point, omit --decimal {sign}")));
        }
        let grouped = take(&mut words, |odd| mark(odd).is_some());
        if let Some((first, mark)) = grouped.first().and_then(|&odd| Some((odd, mark(odd)?))) {
            ways.push(Read(thousands::told(&first.word, mark)));
        }
        let commas = take(&mut words, |odd| {
            odd.word.contains(',') && odd.word.replacen(',', ".", 1).parse::<f64>().is_ok()
        });
        if let Some(first) = commas.first() {
            if commas.iter().all(|odd| thousands::undecided(&odd.word)) {
                ways.push(Read(thousands::told(&first.word, ',')));
            }
            ways.push(Read("a decimal comma is read with --decimal ,".into()));
        }
        words.retain(|odd| !sparse.contains(&self.name(odd.feature)));
        let errors = take(&mut words, |odd| ERRORS.contains(&odd.word.as_str()));
        if !errors.is_empty() {
            let there = |error: &&&str| errors.iter().any(|odd| odd.word == **error);
            let list: Vec<&str> = ERRORS.iter().filter(there).copied().collect();
            ways.push(Other(format!(
                "cells with {} are errors of a spreadsheet: correct them there, or read them as missing with --na \
                 '{}'",
                list[0],
                list.join(",")
            )));
        }
        let mut columns: Vec<Vec<&Odd>> = vec![Vec::new(); features.len()];
        words.iter().for_each(|&odd| columns[odd.feature].push(odd));
        let in_units: Vec<bool> = columns.iter().map(|own| have_units(own)).collect();
        let dated = |own: &Vec<&Odd>| {
            2 * own.len() >= self.data.n() && own.iter().all(|odd| is_date(&odd.word))
        };
        let dated: Vec<bool> = columns.iter().map(dated).collect();
        let measured = take(&mut words, |odd| in_units[odd.feature]);
        if let Some(word) = measured.first().map(|odd| odd.word.as_str()) {
            let bare = thousands::with_unit(word).map_or(word, |(number, _)| number);
            ways.push(Read(format!(
                "units after numbers are not supported: write {word} as {bare}, in every cell of the column and in \
                 one unit"
            )));
        }
        let dates = take(&mut words, |odd| dated[odd.feature]);
        if let Some(odd) = dates.first() {
            ways.push(Dates(format!(
                "dates and times are not supported: write a number instead, for example of days, or leave the column \
                 out with --ignore {}",
                self.option(self.name(odd.feature))
            )));
        }
        if let Some(&Odd { feature, .. }) = words.first().copied() {
            let name = self.option(self.name(feature));
            let steps =
                format!(", or turn it into columns of 0 and 1 with {}", self.steps(&["one_hot"]));
            let steps = if alone { &*steps } else { "" };
            if 2 * of(&words, feature) < self.data.n() {
                ways.push(Way::Words(format!(
                    "correct the cells, or give the text of missing values with --na, or leave the column out with \
                     --ignore {name}"
                )));
            } else {
                ways.push(Way::Words(format!(
                    "if the column contains classes or ids, give --class {name} or --id {name}, otherwise leave it \
                     out with --ignore {name}{steps}"
                )));
            }
        }
        ways
    }
}

/// Takes the words of one kind out of the others.
fn take<'a>(words: &mut Vec<&'a Odd>, is_one: impl Fn(&Odd) -> bool) -> Vec<&'a Odd> {
    words.extract_if(.., |odd| is_one(odd)).collect()
}

/// The position of the first of these filled cells of a column that is not a number, if most cells are numbers: it is a
/// typing error then, and not a category.
///
/// ```
/// use mustlink_datasets::typing_error;
///
/// assert_eq!(typing_error(&["1.5", "12o.5", "3", "4"]), Some(1));
/// // Words, numbers alone, and few whole numbers together with words that are not rare.
/// assert_eq!(typing_error(&["red", "blue", "3"]), None);
/// assert_eq!(typing_error(&["94103", "10001"]), None);
/// assert_eq!(typing_error(&["0", "1", "3+", "0", "1", "0"]), None);
/// ```
pub fn typing_error<S: AsRef<str>>(cells: &[S]) -> Option<usize> {
    let (mut words, mut numbers) = (Vec::new(), BTreeSet::new());
    for (row, cell) in cells.iter().enumerate() {
        let word = cell.as_ref().trim().to_string();
        match word.parse::<f64>() {
            Ok(number) if number.is_finite() => {
                numbers.insert(number.to_string());
            }
            _ => words.push(Odd { row, line: 0, feature: 0, word }),
        }
    }
    let first = words.first()?.row;
    let words: Vec<&Odd> = words.iter().collect();
    let numbers: Vec<String> = numbers.into_iter().collect();
    is_numeric(cells.len(), &words, &numbers, None).then_some(first)
}

/// True if most of the `filled` cells of a column are numbers, so that its `words` are typing errors. Few whole numbers
/// together with words that are not rare are codes instead, such as 0, 1, 2 and 3+. The different texts in the column
/// are in `list`.
fn is_numeric(filled: usize, words: &[&Odd], list: &[String], decimal: Option<char>) -> bool {
    let plain = filled - words.len();
    let written = words.iter().filter(|odd| is_written_number(&odd.word, decimal)).count();
    let written = if have_units(words) { words.len() } else { written };
    let numbers: Vec<f64> = list.iter().filter_map(|word| word.parse().ok()).collect();
    let codes = plain > 0
        && numbers.len() <= MOST_CODES.min(plain / 2)
        && numbers.iter().all(|number| number.fract() == 0.0)
        && CODES_TO_A_WORD * words.len() >= filled;
    2 * (plain + written) > filled && !codes
}

/// True if a word is a number or a date in a notation that is not read as a number.
fn is_written_number(word: &str, decimal: Option<char>) -> bool {
    thousands::without_sign(word).is_some()
        || thousands::mark(word, decimal).is_some()
        || word.replacen(',', ".", 1).parse::<f64>().is_ok()
        || is_date(word)
}

/// True if the words of a feature are numbers with units: all with the same one, or with a blank before it.
fn have_units(words: &[&Odd]) -> bool {
    let parts = words.iter().map(|odd| {
        let (number, unit) = thousands::with_unit(&odd.word)?;
        Some((unit, number.len() + unit.len() < odd.word.len()))
    });
    let parts: Option<Vec<(&str, bool)>> = parts.collect();
    parts.is_some_and(|parts| match &parts[..] {
        [] => false,
        [(_, apart)] => *apart,
        [(first, _), ..] => parts.iter().all(|(unit, apart)| *apart || unit == first),
    })
}

/// The first of some places, and whether there are more.
fn first_of(places: impl Iterator<Item = String>) -> String {
    let mut shown: Vec<String> = places.take(SHOWN + 1).collect();
    if shown.len() > SHOWN {
        shown[SHOWN] = "…".into();
    }
    shown.join("; ")
}
