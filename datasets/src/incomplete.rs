//! What stands between a file and numbers, and what can be done about it?

use mustlink_core::Error;

use crate::bytes::bad;
use crate::columns::{Roles, option_word};
use crate::dates::is_date;
use crate::thousands;

/// Places shown of cells that are no numbers.
const SHOWN: usize = 5;

/// What spreadsheets write where a formula has no value.
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
    /// How many cells are no numbers, with the first places.
    pub words: Option<String>,
    /// What is said of a column that holds nothing, of which nothing makes numbers.
    pub empty: Option<String>,
    /// What can be done about it.
    pub ways: Vec<Way>,
}

/// What can be done about cells that are no numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum Way {
    /// They are numbers that have to be written, or read, in another way.
    Read(String),
    /// They are dates, of which words make nothing.
    Dates(String),
    /// A transform makes numbers of them, or the column is no feature.
    Other(String),
}

impl NotNumbers {
    /// All of it as an error.
    pub fn error(&self) -> Error {
        let ways = self.ways.iter().map(|way| match way {
            Way::Read(text) | Way::Dates(text) | Way::Other(text) => text.as_str(),
        });
        let ways: Vec<&str> = ways.collect();
        bad(&self.place, format!("{}; {}", self.told(), ways.join("; ")))
    }

    /// What is missing and what is no number.
    pub fn told(&self) -> String {
        let told: Vec<&str> =
            [&self.missing, &self.words].into_iter().flatten().map(String::as_str).collect();
        told.join("; ")
    }

    /// What no transform of words and gaps should be given, as an error; `None` where there is nothing of it.
    pub fn no_words(&self) -> Option<Error> {
        let ways = self.ways.iter().filter_map(|way| match way {
            Way::Read(text) | Way::Dates(text) => Some(text.as_str()),
            Way::Other(_) => None,
        });
        let ways: Vec<&str> = self.empty.as_deref().into_iter().chain(ways).collect();
        let told = || format!("{}; {}", self.told(), ways.join("; "));
        (!ways.is_empty()).then(|| bad(&self.place, told()))
    }
}

/// A feature without a number.
pub(crate) struct Odd {
    pub row: usize,
    pub line: u64,
    pub feature: usize,
    /// What stands there; empty where the value is missing.
    pub word: String,
}

/// Missing values: how many each feature has, and line and feature of the first ones. A file may hold millions.
#[derive(Default)]
pub(crate) struct Gaps {
    of: Vec<usize>,
    first: Vec<(u64, usize)>,
}

impl Gaps {
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

    pub fn len(&self) -> usize {
        self.of.iter().sum()
    }
}

/// A table of a CSV that may be no matrix of numbers.
pub(crate) struct Incomplete<'a> {
    pub gaps: &'a Gaps,
    pub words: &'a [Odd],
    pub rows: usize,
    pub roles: &'a Roles,
    pub header: &'a [String],
    pub separator: char,
    pub decimal: Option<char>,
}

impl<'a> Incomplete<'a> {
    /// What is missing and what is no number, with the first places and the ways out; `None` where everything is
    /// one.
    pub fn found(&self, place: &str) -> Option<NotNumbers> {
        let (missing, words) = self.told();
        if missing.is_none() && words.is_none() {
            return None;
        }
        let (empty, ways) = (self.empty(), self.ways());
        Some(NotNumbers { place: place.into(), missing, words, empty, ways })
    }

    /// Whether nothing stands in a feature.
    fn is_empty(&self, feature: usize) -> bool {
        self.gaps.of(feature) == self.rows
    }

    fn empty(&self) -> Option<String> {
        let feature = (0..self.roles.features.len()).find(|&f| self.is_empty(f))?;
        let (at, name) = (self.roles.features[feature], self.name(feature));
        let word = option_word([(at, name)]);
        Some(format!("column \"{name}\" holds nothing: leave it out by --ignore {word}"))
    }

    /// The name of a feature.
    fn name(&self, feature: usize) -> &'a str {
        &self.header[self.roles.features[feature]]
    }

    fn told(&self) -> (Option<String>, Option<String>) {
        let place =
            |line: u64, feature: usize| format!("line {line}, column \"{}\"", self.name(feature));
        let gaps = self.gaps.first.iter().map(|&(line, feature)| place(line, feature));
        let word = |odd: &Odd| format!("{} (\"{}\")", place(odd.line, odd.feature), odd.word);
        let words = self.words.iter().map(word);
        let missing = match self.gaps.len() {
            0 => None,
            1 => Some(format!("1 value is missing: {}", first_of(gaps))),
            many => Some(format!("{many} values are missing: {}", first_of(gaps))),
        };
        let words = match self.words.len() {
            0 => None,
            1 => Some(format!("1 cell is not a number: {}", first_of(words))),
            many => Some(format!("{many} cells are not numbers: {}", first_of(words))),
        };
        (missing, words)
    }

    fn ways(&self) -> Vec<Way> {
        use Way::{Dates, Other, Read};
        let features = 0..self.roles.features.len();
        let of = |words: &[&Odd], feature: usize| {
            words.iter().filter(|odd| odd.feature == feature).count()
        };
        let option = |name: &str| {
            let at = self.header.iter().position(|c| c == name).unwrap_or_default();
            option_word([(at, name)])
        };
        let mut ways: Vec<Way> = self.empty().map(Other).into_iter().collect();
        // A column that is mostly empty is what somebody knows of some objects, not a measurement; one that was
        // chosen as a feature is one.
        let mostly_empty =
            |&f: &usize| self.roles.guessed && 2 * self.gaps.of(f) > self.rows && !self.is_empty(f);
        let sparse: Vec<&str> =
            features.clone().filter(mostly_empty).map(|f| self.name(f)).collect();
        if let Some(name) = sparse.first().map(|&name| option(name)) {
            ways.push(Other(format!(
                "a column with the known classes of some objects is named by --labels {name}, one that is of no \
                 use left out by --ignore {name}"
            )));
        }
        let words: Vec<&Odd> = self.words.iter().collect();
        let fits = |f: usize| {
            self.gaps.of(f) > 0
                && !self.is_empty(f)
                && (!sparse.contains(&self.name(f)) || of(&words, f) == 0)
        };
        if features.clone().any(fits) {
            ways.push(Other(
                "fill in by --set 'transforms=[\"impute_missing\"]', or drop the rows".into(),
            ));
        }
        // Whole columns of them: as words they would become columns of 0 and 1. Where commas part the cells, one
        // before three digits is between thousands.
        let mark = |odd: &Odd| {
            let undecided = thousands::undecided(&odd.word);
            let plain = self.separator == ',' && self.decimal.is_none() && undecided;
            if plain { Some(',') } else { thousands::mark(&odd.word, self.decimal) }
        };
        let (signed, words): (Vec<&Odd>, Vec<&Odd>) =
            words.into_iter().partition(|odd| thousands::without_sign(&odd.word).is_some());
        if let Some(word) = signed.first().map(|odd| odd.word.as_str()) {
            let bare = thousands::without_sign(word).unwrap_or_default();
            ways.push(Read(format!(
                "signs beside numbers are not read: write {word} as {bare}, in every cell of the column"
            )));
        }
        let point = |odd: &Odd| self.decimal.is_some() && odd.word.parse::<f64>().is_ok();
        let with_points = words.iter().any(|&odd| point(odd) && mark(odd).is_none());
        let (points, words): (Vec<&Odd>, Vec<&Odd>) =
            words.into_iter().partition(|&odd| with_points && point(odd));
        if let (false, Some(sign)) = (points.is_empty(), self.decimal) {
            ways.push(Read(format!("a decimal point is read without --decimal {sign}")));
        }
        let (grouped, words): (Vec<&Odd>, Vec<&Odd>) =
            words.into_iter().partition(|&odd| mark(odd).is_some());
        if let Some((first, mark)) = grouped.first().and_then(|&odd| Some((odd, mark(odd)?))) {
            ways.push(Read(thousands::told(&first.word, mark)));
        }
        let comma = |odd: &&Odd| {
            odd.word.contains(',') && odd.word.replacen(',', ".", 1).parse::<f64>().is_ok()
        };
        let (commas, words): (Vec<&Odd>, Vec<&Odd>) = words.into_iter().partition(comma);
        if let Some(first) = commas.first() {
            if commas.iter().all(|odd| thousands::undecided(&odd.word)) {
                ways.push(Read(thousands::told(&first.word, ',')));
            }
            ways.push(Read("a decimal comma is read by --decimal ,".into()));
        }
        let is_dense = |odd: &&Odd| !sparse.contains(&self.name(odd.feature));
        let words: Vec<&Odd> = words.into_iter().filter(is_dense).collect();
        let (errors, words): (Vec<&Odd>, Vec<&Odd>) =
            words.into_iter().partition(|odd| ERRORS.contains(&odd.word.as_str()));
        if !errors.is_empty() {
            let there = |error: &&&str| errors.iter().any(|odd| odd.word == **error);
            let list: Vec<&str> = ERRORS.iter().filter(there).copied().collect();
            ways.push(Other(format!(
                "cells with {} are errors of a spreadsheet: mend them there, or read them as missing by --na '{}'",
                list[0],
                list.join(",")
            )));
        }
        let mut columns: Vec<Vec<&Odd>> = vec![Vec::new(); features.len()];
        words.iter().for_each(|&odd| columns[odd.feature].push(odd));
        let in_units: Vec<bool> = columns.iter().map(|own| have_units(own)).collect();
        let dated = |own: &Vec<&Odd>| {
            2 * own.len() >= self.rows && own.iter().all(|odd| is_date(&odd.word))
        };
        let dated: Vec<bool> = columns.iter().map(dated).collect();
        let (measured, words): (Vec<&Odd>, Vec<&Odd>) =
            words.into_iter().partition(|odd| in_units[odd.feature]);
        if let Some(word) = measured.first().map(|odd| odd.word.as_str()) {
            let bare = thousands::with_unit(word).map_or(word, |(number, _)| number);
            ways.push(Read(format!(
                "units beside numbers are not read: write {word} as {bare}, in every cell of the column and in \
                 one unit"
            )));
        }
        let (dates, words): (Vec<&Odd>, Vec<&Odd>) =
            words.into_iter().partition(|odd| dated[odd.feature]);
        if let Some(odd) = dates.first() {
            ways.push(Dates(format!(
                "dates and times are not read: put a number in their place, of days for example, or leave the \
                 column out by --ignore {}",
                option(self.name(odd.feature))
            )));
        }
        if let Some(&Odd { feature, .. }) = words.first().copied() {
            let name = option(self.name(feature));
            if 2 * of(&words, feature) < self.rows {
                ways.push(Other(format!(
                    "correct the cells, or name what stands for a missing value by --na, or leave the \
                     column out by --ignore {name}"
                )));
            } else {
                ways.push(Other(format!(
                    "a column of classes or ids is named by --class {name} or --id {name}, left out by \
                     --ignore {name}, or turned into columns of 0 and 1 by --set \
                     'transforms=[\"one_hot\"]'"
                )));
            }
        }
        if self.gaps.len().min(words.len()) > 0 && commas.is_empty() && sparse.is_empty() {
            ways.push(Other("both: --set 'transforms=[\"impute_missing\",\"one_hot\"]'".into()));
        }
        ways
    }
}

/// Whether the words of a feature are numbers with units: all with the same one, or with a blank before it.
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
