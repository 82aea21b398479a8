//! The columns of a CSV: features, ids or classes.
//!
//! Options decide first. A last column called `class` holds classes. Every other column is a feature,
//! unless its name or its values look like ids or classes: then the file is rejected with both remedies,
//! because clustering on ids or classes gives wrong results without a warning.

use std::collections::{HashMap, HashSet};

use mustlink_core::Result;
use mustlink_core::registry::suggestion;

use crate::bytes::bad;
use crate::options::OpenOptions;

/// Rows from which numbers that rise by row are taken for ids: fewer rise by chance.
const RISING: usize = 8;

/// The use of each column.
#[derive(Debug, Default)]
pub(crate) struct Roles {
    pub class: Option<usize>,
    pub known: Option<usize>,
    pub apart: Option<usize>,
    pub weights: Option<usize>,
    pub id: Option<usize>,
    pub display: Option<usize>,
    /// Kept as they stand; the image, where there is one, last.
    pub shown: Vec<usize>,
    pub features: Vec<usize>,
    /// Left out, whatever they hold.
    pub ignored: Vec<usize>,
    /// Columns of categories: all their cells are words, even numbers.
    pub categories: Vec<usize>,
    /// True if the names are 0, 1, 2 … or 1, 2, 3 … and no option uses one; the header may be a row of data.
    pub counted: bool,
    /// No option declares the features.
    pub guessed: bool,
}

/// The other things that a feature may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Suspicion {
    Id,
    Class,
    /// Classes, unless there is a column `x`: then perhaps a coordinate.
    Y,
}

/// The column that a person calls `name`. Blanks around it, as in "a, b", do not belong to it.
pub(crate) fn column(header: &[String], name: &str, place: &str) -> Result<usize> {
    column_beside(header, name, place, &[])
}

/// The same if the columns `used` are asked for, too: none of them is meant.
fn column_beside(header: &[String], name: &str, place: &str, used: &[&str]) -> Result<usize> {
    let name = name.trim();
    if let Some(at) = header.iter().position(|c| c == name) {
        return Ok(at);
    }
    let number = name.strip_prefix('#').and_then(|n| n.parse::<usize>().ok());
    if let Some(at) = number.filter(|n| (1..=header.len()).contains(n)) {
        return Ok(at - 1);
    }
    let mut columns = header.iter().take(20).map(String::as_str).collect::<Vec<_>>().join(", ");
    if header.len() > 20 {
        columns.push_str(&format!(", … ({} in all)", header.len()));
    }
    if let Some(title) = title(header) {
        return Err(bad(place, format!("no column \"{name}\"; {title}")));
    }
    // A list of columns was parted within a name.
    let whole =
        |column: &&String| column.contains(',') && column.split(',').any(|c| c.trim() == name);
    if let Some((at, whole)) = header.iter().enumerate().find(|(_, column)| whole(column)) {
        let message = format!(
            "no column \"{name}\"; \"{whole}\" contains a comma, which separates the columns of a list: refer to it \
             by its position, #{}",
            at + 1
        );
        return Err(bad(place, message));
    }
    let free = header.iter().map(String::as_str).filter(|column| !used.contains(column));
    let near = suggestion(name, free);
    Err(bad(place, format!("no column \"{name}\"; columns: {columns}{near}")))
}

/// The message about a first row with one cell and several empty ones, such as a title above a table in a spreadsheet.
fn title(header: &[String]) -> Option<String> {
    let (one, others) = header.split_first()?;
    let alone = !one.is_empty() && others.len() > 1 && others.iter().all(String::is_empty);
    let says =
        "is alone in the first row, which must name the columns: remove the rows above the names";
    alone.then(|| format!("\"{one}\" {says}"))
}

/// A word of a command line, in quotes where a shell would part it.
pub fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./+=:,@".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_string()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// Columns by their places and names, as an option takes them: by its place where a name has a comma, since
/// commas part the columns of a list.
pub(crate) fn option_word<'a>(columns: impl IntoIterator<Item = (usize, &'a str)>) -> String {
    let own = |(at, name): (usize, &str)| {
        if name.contains(',') { format!("#{}", at + 1) } else { name.to_string() }
    };
    shell_word(&columns.into_iter().map(own).collect::<Vec<_>>().join(","))
}

/// Names that are not empty, differ, and are names rather than values. `otherwise` is the way out of the last;
/// `called`: one of them was called by its name, so that they are names, years for example.
pub(crate) fn check_names(
    header: &[String],
    place: &str,
    settled: &[usize],
    otherwise: &str,
    called: bool,
) -> Result<()> {
    let line = || format!("{place}, line 1");
    let number = |name: &String| name.parse::<f64>().is_ok();
    let numbers = header.iter().filter(|n| number(n)).count();
    let at = header.iter().position(|n| n.contains('.') && number(n)).or_else(|| {
        let row = 2 * numbers >= header.len() && !counts(header);
        header.iter().position(number).filter(|_| row)
    });
    if let Some(at) = at.filter(|_| !called) {
        // Ids stand in front; a word behind numbers is rather the class of an object.
        let names = header.first().filter(|name| !name.is_empty() && !number(name)).map(|name| {
            let word = option_word([(0, name.as_str())]);
            format!(
                "; if numbers are names here, name a column with an option, such as --id {word}"
            )
        });
        let message = format!(
            "the first row must name the columns, and column {} is {}; {otherwise}{}",
            at + 1,
            header[at],
            names.unwrap_or_default()
        );
        return Err(bad(line(), message));
    }
    let unnamed = (0..header.len()).find(|at| header[*at].is_empty() && !settled.contains(at));
    if let Some(at) = unnamed.map(|at| at + 1) {
        let message = title(header).unwrap_or_else(|| {
            format!(
                "column {at} has no name; refer to it by its position: --id '#{at}' or --ignore '#{at}'"
            )
        });
        return Err(bad(line(), message));
    }
    // There may be a hundred thousand of them.
    let mut places: HashMap<&str, usize> = HashMap::with_capacity(header.len());
    for (at, name) in header.iter().enumerate().filter(|(_, n)| !n.is_empty()) {
        if let Some(before) = places.insert(name, at) {
            let message =
                format!("columns {} and {} are both named \"{name}\"", before + 1, at + 1);
            return Err(bad(line(), message));
        }
    }
    Ok(())
}

/// True if the names count up from 0 or 1, as programs name columns without names. Other numbers are a row of data,
/// which would be lost silently.
pub(crate) fn counts(header: &[String]) -> bool {
    let up_from = |from: usize| header.iter().zip(from..).all(|(name, i)| *name == i.to_string());
    up_from(0) || up_from(1)
}

/// The note about a first row that names the columns and may be an object instead, with the remedy for that case.
pub(crate) fn first_row(header: &[String], remedy: &str) -> String {
    let names = header[..header.len().min(4)].join(",");
    let more = if header.len() > 4 { ",…" } else { "" };
    format!("the first row, {names}{more}, names the columns; {remedy}")
}

impl Roles {
    /// The uses of the columns of `header`. `listed`: a manifest has settled them.
    ///
    /// # Errors
    /// `Data` for names that the header does not have, for one column as two things, for a first row of values, for
    /// missing or repeated names, and when no feature is left.
    pub fn of(header: &[String], options: &OpenOptions, listed: bool, place: &str) -> Result<Self> {
        let mut places: HashMap<&str, usize> = HashMap::with_capacity(header.len());
        for (at, name) in header.iter().enumerate() {
            places.entry(name).or_insert(at);
        }
        let words: Vec<&str> = options.named_columns().map(str::trim).collect();
        let one = |name: &String| match places.get(name.as_str()) {
            Some(&at) => Ok(at),
            None => column_beside(header, name, place, &words),
        };
        let named =
            |name: &Option<String>| -> Result<Option<usize>> { name.as_ref().map(one).transpose() };
        let all = |names: &[String]| -> Result<Vec<usize>> { names.iter().map(one).collect() };
        let of_pairs = options.pairs.is_some() && options.features.is_empty();
        let everything = of_pairs || options.features.len() == 1 && options.features[0] == "all";
        let (mut id, display) = (named(&options.id_column)?, named(&options.display_column)?);
        // As R and pandas write the names of rows.
        if of_pairs && id.is_none() && header.first().is_some_and(String::is_empty) {
            id = Some(0);
        }
        let ignored = all(&options.ignore)?;
        let categories = all(&options.categories)?;
        let chosen = if everything { Vec::new() } else { all(&options.features)? };
        let mut class = named(&options.class_column)?;
        let known = named(&options.known_column)?;
        let apart = named(&options.apart_column)?;
        let weights = named(&options.weights_column)?;
        let image = named(&options.image_column)?;
        let shown = all(&options.shown_columns)?.into_iter().chain(image).collect();
        let taken = |c: usize| {
            [id, display, known, apart, weights, image].contains(&Some(c)) || ignored.contains(&c)
        };
        if class.is_none()
            && (of_pairs || !everything)
            && header.last().is_some_and(|last| last == "class")
        {
            class = Some(header.len() - 1).filter(|&c| !taken(c) && !chosen.contains(&c));
        }
        let roles = [
            ("the class", class.into_iter().collect()),
            ("the id", id.into_iter().collect()),
            ("a weight", weights.into_iter().collect()),
            ("ignored", ignored.clone()),
            ("a feature", chosen.clone()),
        ];
        // Classes among the features would be known to every method.
        let beside = [("the labels", known), ("a group", apart), ("an image", image)];
        one_role_each(header, &roles, &beside, &chosen).map_err(|message| bad(place, message))?;
        let others = [display, known, apart, image].into_iter().flatten();
        let settled: Vec<usize> =
            roles.iter().flat_map(|(_, c)| c.iter().copied()).chain(others).collect();
        let without_name: Vec<usize> =
            if everything { (0..header.len()).collect() } else { settled.clone() };
        let called = words.iter().any(|word| places.contains_key(word))
            || (options.class_column.is_none() && class.is_some());
        let otherwise = "--no-header reads a file without names";
        // Row names stand below an empty corner, so that the first row certainly names the columns.
        let cornered = options.pairs.is_some() && header.first().is_some_and(String::is_empty);
        check_names(header, place, &without_name, otherwise, called || cornered)?;
        let counted = !listed && !called && !of_pairs && counts(header);
        let mut is_settled = vec![false; header.len()];
        settled.iter().for_each(|&c| is_settled[c] = true);
        let free = (0..header.len()).filter(|&c| !is_settled[c]);
        let (features, ignored) = if chosen.is_empty() {
            (free.collect(), ignored)
        } else {
            (chosen, ignored.into_iter().chain(free).collect())
        };
        if features.is_empty() {
            return Err(bad(
                place,
                "no column is left as a feature; methods need columns of numbers in addition to ids, classes and \
                 columns that are shown or left out, for texts for example an embedding or word counts",
            ));
        }
        let guessed = options.features.is_empty() && !listed && !of_pairs;
        Ok(Roles {
            class,
            known,
            apart,
            weights,
            id,
            display,
            shown,
            features,
            ignored,
            categories,
            counted,
            guessed,
        })
    }

    /// Refuses features that look like ids or classes. `value(row, feature)` are their values, NaN where
    /// one is missing, the place of a word in a list, or nothing when only the header is known.
    ///
    /// # Errors
    /// `Data` with every such column and the ways out.
    pub fn judge(
        &self,
        header: &[String],
        rows: usize,
        value: Option<&dyn Fn(usize, usize) -> f64>,
        place: &str,
    ) -> Result<()> {
        if !self.guessed {
            return Ok(());
        }
        let beside_x = self.features.iter().any(|&c| header[c].eq_ignore_ascii_case("x"));
        let (mut ids, mut classes) = (Vec::new(), Vec::new());
        for (at, &c) in self.features.iter().enumerate() {
            let column = |value: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
                (0..rows).map(|i| value(i, at)).collect()
            };
            match suspicion(&header[c]) {
                Some(Suspicion::Id) => ids.push(c),
                Some(Suspicion::Class) => classes.push(c),
                Some(Suspicion::Y) if !beside_x => classes.push(c),
                Some(Suspicion::Y) if value.is_some_and(|v| few(&column(v))) => classes.push(c),
                _ if value.is_some_and(|v| rising(rows, &|i| v(i, at))) => ids.push(c),
                _ => {}
            }
        }
        let mut every = [&ids[..], &classes[..]].concat();
        every.sort_unstable();
        let Some(first) = every.first() else { return Ok(()) };
        let say = |columns: &[usize], what: &str| match columns {
            [] => None,
            [one] => Some(format!("column \"{}\" looks like {what}", header[*one])),
            _ => {
                let names: Vec<&str> = columns.iter().map(|&c| header[c].as_str()).collect();
                Some(format!("columns {} look like {what}", names.join(",")))
            }
        };
        let told: Vec<String> =
            [say(&ids, "ids"), say(&classes, "classes")].into_iter().flatten().collect();
        let mut ways: Vec<String> = Vec::new();
        let word = |columns: &[usize]| option_word(columns.iter().map(|&c| (c, &*header[c])));
        ways.extend(ids.first().map(|&c| format!("--id {}", word(&[c]))));
        ways.extend(classes.first().map(|&c| format!("--class {}", word(&[c]))));
        Err(bad(
            format!("{place}, line 1, column {}", first + 1),
            format!(
                "{}; declare this with {}; or leave out with --ignore {}; or cluster on every column with --features \
                 all",
                told.join(" and "),
                ways.join(" "),
                word(&every)
            ),
        ))
    }
}

/// Refuses a column in two of `roles`, in one `beside` the features and among the `chosen` ones, or there twice.
fn one_role_each(
    header: &[String],
    roles: &[(&str, Vec<usize>)],
    beside: &[(&str, Option<usize>)],
    chosen: &[usize],
) -> std::result::Result<(), String> {
    let both = |c: usize, one: &str, other: &str| {
        Err(format!("column \"{}\" cannot be both {one} and {other}", header[c]))
    };
    for (at, (one, columns)) in roles.iter().enumerate() {
        for (other, others) in &roles[at + 1..] {
            if let Some(&c) = columns.iter().find(|c| others.contains(c)) {
                return both(c, one, other);
            }
        }
    }
    for &(what, c) in beside {
        if let Some(c) = c.filter(|c| chosen.contains(c)) {
            return both(c, what, "a feature");
        }
    }
    let mut once = HashSet::with_capacity(chosen.len());
    match chosen.iter().find(|c| !once.insert(**c)) {
        Some(&c) => Err(format!("column \"{}\" is named twice among the features", header[c])),
        None => Ok(()),
    }
}

/// Most values of a column that may hold classes.
const FEW_VALUES: usize = 10;

/// Maximum number of values of a class column that is recognised by its name.
const FEW_OUTCOMES: usize = 20;

impl Roles {
    /// A note about features that were guessed and may be classes, outcomes or ids. A class may be a column of few
    /// whole numbers that is the last one, the only one without decimals, or named like an outcome; next to a known
    /// class, only the name counts. An id counts rows.
    pub fn doubtful(
        &self,
        header: &[String],
        rows: usize,
        value: &dyn Fn(usize, usize) -> f64,
    ) -> Option<String> {
        let d = self.features.len();
        if !self.guessed || d < 2 {
            return None;
        }
        let name = |at: usize| header[self.features[at]].as_str();
        let values = |at: usize, most: usize| -> Option<usize> {
            let mut seen: Vec<f64> = Vec::new();
            for v in (0..rows).map(|i| value(i, at)).filter(|v| !v.is_nan()) {
                if v.fract() != 0.0 || (!seen.contains(&v) && seen.len() == most) {
                    return None;
                }
                if !seen.contains(&v) {
                    seen.push(v);
                }
            }
            (seen.len() >= 2 && 4 * seen.len() <= rows).then_some(seen.len())
        };
        let free = (0..d).filter(|_| self.class.is_none());
        let found: Vec<(usize, usize)> =
            free.filter_map(|at| Some((at, values(at, FEW_VALUES)?))).collect();
        let decimals = |at: &usize| (0..rows).any(|i| !is_whole(value(i, *at)));
        let among = found.len() == 1 && (0..d).filter(decimals).count() + 1 == d;
        let last = |at: usize| among || (at + 1 == d && found.len() <= 3);
        let count = |at: usize| match found.iter().find(|(of, _)| *of == at && last(at)) {
            Some((_, count)) => Some(*count),
            None if says_outcome(name(at)) => values(at, FEW_OUTCOMES),
            None => None,
        };
        let classes: Vec<(usize, usize)> = (0..d).filter_map(|at| Some((at, count(at)?))).collect();
        let ids = (0..d).filter(|&at| count_up(rows, &|i| value(i, at)));
        let what = if self.class.is_none() { "a class" } else { "an outcome" };
        let said = classes
            .iter()
            .map(|&(at, count)| format!("feature {} has {count} values: {what}?", name(at)));
        let counted = |at| format!("feature {} counts up: an id?", name(at));
        let said: Vec<String> = said.chain(ids.clone().map(counted)).collect();
        let all = classes.iter().map(|&(at, _)| at).chain(ids).map(|at| self.features[at]);
        let all: Vec<usize> = all.collect();
        let word = |columns: &[usize]| option_word(columns.iter().map(|&c| (c, &*header[c])));
        // A role that another column has is not proposed.
        let (option, taken) =
            if classes.is_empty() { ("--id", self.id) } else { ("--class", self.class) };
        let role = match (taken, &all[..]) {
            (_, []) => return None,
            (Some(_), _) => String::new(),
            (None, [first, ..]) => format!("{option} {}, or ", word(&[*first])),
        };
        let link = if said.len() == 1 { " " } else { "; for example " };
        Some(format!("{}{link}{role}--ignore {}", said.join("; "), word(&all)))
    }
}

/// True if a column is named like an outcome (`status`), or like a grouping made before (`cohort`, `batch`).
fn says_outcome(name: &str) -> bool {
    const WORDS: &str = "status outcome result diagnosis survived survival died death dead alive \
                         event response relapse recurrence churn group cohort batch plate fold \
                         treatment arm";
    words_of(name).last().is_some_and(|last| WORDS.split(' ').any(|word| word == last))
}

/// True if most values are one more than the value in the row before. Sample numbers may start again now and then.
fn count_up(rows: usize, value: &dyn Fn(usize) -> f64) -> bool {
    let mut breaks = 0;
    let goes_on = |i: usize| {
        breaks += usize::from(value(i) != value(i - 1) + 1.0);
        is_whole(value(i)) && 5 * breaks <= rows
    };
    rows >= RISING && (1..rows).all(goes_on)
}

/// The words of a name in lower case; splits names such as customerId and CLASS_LABEL.
fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        let new = !c.is_alphanumeric() || (c.is_uppercase() && before.is_lowercase());
        if new && words.last().is_some_and(|w| !w.is_empty()) {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().expect("never empty").extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|w| !w.is_empty());
    words
}

/// The role that the name of a column suggests.
fn suspicion(name: &str) -> Option<Suspicion> {
    let lower = name.to_lowercase();
    if lower == "y" {
        return Some(Suspicion::Y);
    }
    let words = words_of(name);
    let has = |known: &[&str]| words.iter().any(|w| known.contains(&w.as_str()));
    let is = |known: &[&str]| words.len() == 1 && known.contains(&words[0].as_str());
    if has(&["id", "ids", "uid", "uuid", "guid", "identifier"])
        || is(&["index", "idx", "key", "rowid", "rownames", "rowname", "no", "nr"])
        || lower.starts_with("unnamed")
        || (words.len() > 1 && has(&["index", "idx"]) && has(&["row", "sample", "object", "item"]))
    {
        return Some(Suspicion::Id);
    }
    let class = ["class", "classes", "label", "labels", "target", "targets"];
    let alone = ["cluster", "clusters", "species", "category", "truth", "groundtruth"];
    (has(&class) || is(&alone)).then_some(Suspicion::Class)
}

/// True if the name of a column suggests that it holds classes.
pub(crate) fn says_class(name: &str) -> bool {
    matches!(suspicion(name), Some(Suspicion::Class | Suspicion::Y))
}

/// True if a value is a whole number, or missing.
fn is_whole(value: f64) -> bool {
    value.is_nan() || value.fract() == 0.0
}

/// True if whole numbers rise row by row.
fn rising(rows: usize, value: &dyn Fn(usize) -> f64) -> bool {
    let (mut known, mut before) = (0, f64::NEG_INFINITY);
    let goes_on = |v: f64| {
        known += 1;
        v.fract() == 0.0 && std::mem::replace(&mut before, v) < v
    };
    (0..rows).map(value).filter(|v| !v.is_nan()).all(goes_on) && known >= RISING
}

/// True if these are whole numbers, each of which occurs at least twice on average.
fn few(values: &[f64]) -> bool {
    let mut values: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
    let known = values.len();
    mustlink_core::order::sort_values(&mut values);
    values.dedup();
    known > 0 && values.iter().all(|v| v.fract() == 0.0) && 2 * values.len() <= known
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each name was compared with all before it, which takes minutes.
    #[test]
    fn wide_files_are_read_by_their_names() {
        let header: Vec<String> = (0..200_000).map(|i| format!("expression_{i}")).collect();
        let options = OpenOptions { features: header.clone(), ..OpenOptions::default() };
        for options in [options, OpenOptions::default()] {
            let roles = Roles::of(&header, &options, false, "wide.csv").unwrap();
            assert_eq!(roles.features.len(), header.len());
        }
    }

    #[test]
    fn names_of_a_list_may_have_blanks_after_their_commas() {
        let header = ["name", "height", "weight"].map(String::from);
        let names = ["height", " weight"].map(String::from).to_vec();
        let (features, id_column) = (names, Some("#1 ".to_string()));
        let options = OpenOptions { features, id_column, ..OpenOptions::default() };
        let roles = Roles::of(&header, &options, false, "f.csv").unwrap();
        assert_eq!((roles.id, roles.features), (Some(0), vec![1, 2]));
    }

    #[test]
    fn a_name_with_a_comma_is_called_by_its_place() {
        let header = ["name", "weight, kg", "size"].map(String::from);
        let options = |ignore: &[&str]| OpenOptions {
            ignore: ignore.iter().map(ToString::to_string).collect(),
            ..OpenOptions::default()
        };
        // As the command line parts --ignore "weight, kg".
        let said = Roles::of(&header, &options(&["weight", " kg"]), false, "f.csv").unwrap_err();
        let way = "no column \"weight\"; \"weight, kg\" contains a comma, which separates the columns of a list: \
                   refer to it by its position, #2";
        assert!(said.to_string().ends_with(way), "{said}");
        for name in ["#2", "weight, kg"] {
            let roles = Roles::of(&header, &options(&["name", name]), false, "f.csv").unwrap();
            assert_eq!((roles.ignored, roles.features), (vec![0, 1], vec![2]));
        }
        let said = column(&header, "weihgt", "f.csv").unwrap_err().to_string();
        assert!(said.contains("no column \"weihgt\"") && !said.contains("comma"), "{said}");
    }

    #[test]
    fn columns_in_use_are_not_suggested() {
        let header = ["x0", "x1", "wieght"].map(String::from);
        let said = |names: &[&str]| {
            let features = names.iter().map(ToString::to_string).collect();
            let options = OpenOptions { features, ..OpenOptions::default() };
            Roles::of(&header, &options, false, "f.csv").unwrap_err().to_string()
        };
        let missing = said(&["x0", "x1", "x7"]);
        assert!(
            missing.contains("no column \"x7\"") && !missing.contains("did you mean"),
            "{missing}"
        );
        assert!(said(&["x1", "x7"]).ends_with("did you mean \"x0\"?"));
        assert!(said(&["x0", "x1", "weight"]).ends_with("did you mean \"wieght\"?"));
    }

    #[test]
    fn words_of_commands_are_quoted() {
        assert_eq!(shell_word("results/a-b_1"), "results/a-b_1");
        assert_eq!(shell_word("it's a dir"), "'it'\\''s a dir'");
    }

    #[cfg(unix)]
    #[test]
    fn words_reach_a_shell_as_they_are() {
        for word in ["plain", "it's", "a b", "$HOME `x` \"y\" \\", "''", "a=b", "~"] {
            let said = std::process::Command::new("sh")
                .args(["-c", &format!("printf %s {}", shell_word(word))])
                .output()
                .unwrap();
            assert_eq!(String::from_utf8_lossy(&said.stdout), word);
        }
    }

    #[test]
    fn columns_are_named_as_a_shell_takes_them() {
        let header = ["Class Label", "customer's id", "Größe", "id,class", "no. of eggs"];
        let header = header.map(String::from);
        let words: Vec<String> = (0..5).map(|at| option_word([(at, &*header[at])])).collect();
        assert_eq!(
            words,
            ["'Class Label'", "'customer'\\''s id'", "Größe", "'#4'", "'no. of eggs'"]
        );
        let roles = Roles::of(&header, &OpenOptions::default(), false, "f.csv").unwrap();
        let message = roles.judge(&header, 3, None, "f.csv").unwrap_err().to_string();
        assert!(message.contains("--class 'Class Label'"), "{message}");
        assert!(message.contains("--ignore 'Class Label,customer'\\''s id,#4'"), "{message}");
    }

    #[test]
    fn names_say_what_columns_are() {
        for id in
            ["id", "ID", "Id", "customer_id", "customerId", "Index", "Unnamed: 0", "row_index"]
        {
            assert_eq!(suspicion(id), Some(Suspicion::Id), "{id}");
        }
        for class in ["class", "CLASS", "Class Label", "label", "target", "Species", "true_label"] {
            assert_eq!(suspicion(class), Some(Suspicion::Class), "{class}");
        }
        for feature in
            ["width", "refractive_index", "body mass index", "idle", "classic", "x", "yy"]
        {
            assert_eq!(suspicion(feature), None, "{feature}");
        }
        assert_eq!((suspicion("y"), suspicion("Y")), (Some(Suspicion::Y), Some(Suspicion::Y)));
    }
}
