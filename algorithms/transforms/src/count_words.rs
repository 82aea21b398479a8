//! Counts of the words of texts.

use std::collections::{BTreeMap, HashMap};
use std::iter::once;

use mustlink_core::data::Words;
use mustlink_core::prelude::*;
use mustlink_core::text::{count, form};

use crate::parts::refused::misfit;

/// Stored counts that are expected of a text, for the estimate of memory: texts of 100 words repeat some.
const COUNTS_OF_A_TEXT: u64 = 80;
/// Bytes of a stored count: once for its text, once for its row.
const BYTES_OF_A_COUNT: u64 = 32;

/// Counts the words of texts: one column per word, sparse.
///
/// # Method
/// A word is a run of at least two letters, digits and underscores of any script, in lower case. The value of a row
/// is the number of times that the word occurs in its text. A missing or empty text gives a row of zeros, and words
/// that did not occur when the transform was fitted are not counted. Columns of numbers are left out, with a warning.
/// `tf_idf` and `l2_rows` usually follow.
///
/// With `ngrams`, pieces of words are counted instead. They suit short texts, compound words and misspelt words. Here
/// blanks alone separate words, and one blank is added before and after each word. If a word with its blanks is not
/// longer than a length, it is counted whole, once. Pieces are in lower case, too.
/// # Input and output
/// n × d, a table with at least one column of texts; n × words, sparse. The new columns are named by column and word:
/// `body_court`. They follow the order of the columns, then of the characters of the words.
/// # Errors
/// `Data` if no column contains texts, or no word is in enough and in few enough rows; `BadParam` for 0 in `ngrams`.
/// # Cost and randomness
/// O(characters), each different text once; not random.
/// # References
/// Counts are those of CountVectorizer in scikit-learn with its defaults, and with `analyzer="char_wb"` for `ngrams`.
/// Differs: a combining vowel sign, as in Devanagari, belongs to its word and does not split it.
#[options]
pub struct CountWords {
    /// Smallest number of rows that a word must be in. With 2, words of a single text are left out.
    #[option(default = 1, min = 1, inert = "the small tables have two words, each in many rows")]
    pub min_rows: usize,
    /// Largest share of the rows that a word may be in. With 0.5, most words like "the" are left out, in any language.
    #[option(default = 1.0, above = 0.0, max = 1.0)]
    pub max_share: f64,
    /// Numbers of characters of the pieces to count, such as [3, 4]. Empty: whole words.
    pub ngrams: Vec<usize>,
}

#[plugin("count_words")]
impl Transform for CountWords {
    fn fit(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Fitted>> {
        let data = &problem.data;
        let failed = |message: String| Err(Error::Data { place: "count_words".into(), message });
        let texts = (0..data.d()).filter(|&s| data.words(s).is_some()).count();
        if texts == 0 {
            return failed("no column contains texts; leave this transform out".into());
        }
        if texts < data.d() {
            let left = data.d() - texts;
            let (columns, are) = (count(left, "column"), form(left, "is", "are"));
            ctx.warn(format!("count_words: {columns} without texts {are} left out"));
        }
        let mut ngrams = self.ngrams.clone();
        ngrams.sort_unstable();
        ngrams.dedup();
        if ngrams.first() == Some(&0) {
            return Err(Error::bad_param("ngrams", 0, "numbers of at least 1"));
        }
        let most = self.max_share * data.n() as f64;
        let mut found = 0;
        let mut terms = Vec::with_capacity(data.d());
        for s in 0..data.d() {
            let Some(list) = data.words(s) else {
                terms.push(None);
                continue;
            };
            let rows_of_text = rows_of_each(data, s, list.len());
            let mut rows: HashMap<String, usize> = HashMap::new();
            for (text, many) in list.iter().zip(rows_of_text).filter(|(_, many)| *many > 0) {
                ctx.check()?;
                for term in counts_of(text, &ngrams).into_keys() {
                    *rows.entry(term).or_default() += many;
                }
            }
            found += rows.len();
            rows.retain(|_, &mut many| many >= self.min_rows && many as f64 <= most);
            let mut kept: Vec<String> = rows.into_keys().collect();
            kept.sort_unstable();
            terms.push(Some(kept));
        }
        if terms.iter().flatten().all(Vec::is_empty) {
            return failed(match found {
                0 => "the texts contain no words; ngrams = [1] counts all characters".into(),
                _ => format!(
                    "none of {} is in at least {} and at most {most} of {} rows; lower min_rows or raise max_share",
                    count(found, "word"),
                    self.min_rows,
                    data.n()
                ),
            });
        }
        Ok(Box::new(Terms { terms, ngrams }))
    }

    fn properties(&self) -> TransformProperties {
        TransformProperties { accepts: vec![DataKind::Table], ..TransformProperties::default() }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        shape.entries as u64 * COUNTS_OF_A_TEXT * BYTES_OF_A_COUNT
    }

    fn operations(&self, shape: &Shape) -> f64 {
        shape.entries as f64 * (COUNTS_OF_A_TEXT * BYTES_OF_A_COUNT) as f64
    }

    fn restore(&self, saved: &Value) -> Result<Box<dyn Fitted>> {
        restored::<Terms>("count_words", saved)
    }
}

/// The number of rows of a column with each of its `len` texts.
fn rows_of_each(data: &Data, column: usize, len: usize) -> Vec<usize> {
    let mut rows = vec![0; len];
    for i in 0..data.n() {
        if let Some(at) = place(data, i, column) {
            rows[at] += 1;
        }
    }
    rows
}

/// The value of a cell, unless it is missing.
fn value(data: &Data, row: usize, column: usize) -> Option<f64> {
    let (Row::Dense(x) | Row::Sparse(_, x)) = data.row(row);
    Some(x[column]).filter(|v| !v.is_nan())
}

/// The place of the text of a cell in the list of its column.
fn place(data: &Data, row: usize, column: usize) -> Option<usize> {
    value(data, row, column).map(|v| v as usize)
}

/// How often each word is in a text, or each piece with one of these numbers of characters, which are sorted.
fn counts_of(text: &str, ngrams: &[usize]) -> BTreeMap<String, u32> {
    let text = text.to_lowercase();
    let mut counts = BTreeMap::new();
    let mut add = |term: String| *counts.entry(term).or_default() += 1;
    if ngrams.is_empty() {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.filter(|word| word.chars().nth(1).is_some()).for_each(|word| add(word.into()));
        return counts;
    }
    for word in text.split_whitespace() {
        let word: Vec<char> = once(' ').chain(word.chars()).chain(once(' ')).collect();
        for &length in ngrams {
            if word.len() <= length {
                add(word.iter().collect());
                break;
            }
            word.windows(length).for_each(|piece| add(piece.iter().collect()));
        }
    }
    counts
}

#[derive(Serialize, Deserialize)]
struct Terms {
    /// Per column its words or pieces, sorted, if it contains texts.
    terms: Vec<Option<Vec<String>>>,
    /// Numbers of characters of the pieces, sorted.
    ngrams: Vec<usize>,
}

/// The features of a text and its counts.
type Counts = Vec<(u32, f64)>;

impl Terms {
    /// The counts of a text, in the order of the features; `known` has the feature of each word.
    fn counts(&self, text: &str, known: &HashMap<&str, u32>) -> Counts {
        let all = counts_of(text, &self.ngrams).into_iter();
        all.filter_map(|(term, many)| Some((*known.get(&*term)?, f64::from(many)))).collect()
    }
}

impl Fitted for Terms {
    fn apply(&self, data: &Data) -> Result<Data> {
        let d = self.terms.len();
        if data.d() != d || !matches!(data.kind(), DataKind::Table | DataKind::Dense) {
            return Err(misfit("count_words", format_args!("{d} columns of a table"), data.d()));
        }
        let mut rows: Vec<Counts> = vec![Vec::new(); data.n()];
        let mut columns = 0;
        for (s, list) in self.terms.iter().enumerate() {
            let Some(list) = list else { continue };
            let known: HashMap<&str, u32> =
                list.iter().map(String::as_str).zip(columns..).collect();
            columns += list.len() as u32;
            let own: Option<&Words> = data.words(s);
            let texts: Vec<Counts> = own
                .into_iter()
                .flat_map(|own| own.iter())
                .map(|text| self.counts(text, &known))
                .collect();
            for (i, row) in rows.iter_mut().enumerate() {
                let Some(v) = value(data, i, s) else { continue };
                match own {
                    Some(_) => row.extend_from_slice(&texts[v as usize]),
                    // All texts of these rows look like numbers, and were read as such.
                    None => row.extend(self.counts(&v.to_string(), &known)),
                }
            }
        }
        let mut csr = Csr {
            indptr: vec![0],
            indices: Vec::new(),
            values: Vec::new(),
            columns: columns as usize,
        };
        for row in rows {
            csr.indices.extend(row.iter().map(|(at, _)| at));
            csr.values.extend(row.iter().map(|(_, many)| many));
            csr.indptr.push(csr.indices.len());
        }
        Data::csr(csr)
    }

    fn features(&self) -> Features {
        let of_column = |(s, list): (usize, &Option<Vec<String>>)| {
            list.iter().flatten().map(|term| (s, Some(term.clone()))).collect::<Vec<_>>()
        };
        Features::Parts(self.terms.iter().enumerate().flat_map(of_column).collect())
    }

    fn saved(&self) -> Option<Value> {
        kept(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::l2_rows::L2Rows;
    use crate::tf_idf::{DocumentFrequency, TermFrequency, TfIdf};
    use mustlink_core::run;
    use ndarray::{Array2, array};
    use proptest::prelude::*;

    const GAP: f64 = f64::NAN;

    /// A table with these texts as its only column.
    fn table(texts: &[&str]) -> Data {
        let mut words: Vec<String> = texts.iter().map(|text| text.to_string()).collect();
        words.sort();
        words.dedup();
        let at = |text: &str| words.iter().position(|word| word == text).unwrap() as f64;
        let x = Array2::from_shape_fn((texts.len(), 1), |(i, _)| at(texts[i]));
        Data::table(x, vec![Some(words.into())]).unwrap()
    }

    fn plain() -> CountWords {
        CountWords { min_rows: 1, max_share: 1.0, ngrams: Vec::new() }
    }

    fn fitted(plugin: &CountWords, data: &Data) -> Result<Box<dyn Fitted>> {
        plugin.fit(&Problem::new(data.clone()), &Context::new(1))
    }

    /// Per row its words with their counts, as `court:2|the:1`.
    fn counted(plugin: &CountWords, texts: &[&str]) -> Vec<String> {
        let data = table(texts);
        let fitted = fitted(plugin, &data).unwrap();
        let x = fitted.apply(&data).unwrap().to_dense();
        let Features::Parts(parts) = fitted.features() else { panic!("features of columns") };
        let row = |row: ndarray::ArrayView1<'_, f64>| {
            let stored = row.iter().zip(&parts).filter(|(v, _)| **v > 0.0);
            let terms = stored.map(|(v, (_, term))| format!("{}:{v}", term.as_ref().unwrap()));
            terms.collect::<Vec<_>>().join("|")
        };
        x.rows().into_iter().map(row).collect()
    }

    #[test]
    fn by_hand() {
        // Two columns of texts around one of numbers; the second row has a gap, the third an empty text.
        let titles: Words = ["A goal", "The court"].map(String::from).into();
        let bodies: Words = ["", "Court, court!", "the goal_line"].map(String::from).into();
        let x = array![[1.0, 7.0, 1.0], [0.0, 8.0, GAP], [1.0, 9.0, 0.0], [GAP, 1.0, 2.0]];
        let data = Data::table(x, vec![Some(titles), None, Some(bodies)]).unwrap();
        let ctx = Context::new(1);
        let steps: [Box<dyn Transform>; 1] = [Box::new(plain())];
        let made = run::transform(&steps, &Problem::new(data), &ctx).unwrap();
        assert_eq!(made.problem.data.kind(), DataKind::Csr);
        let before = ["title", "price", "body"].map(String::from);
        let names = made.lineage.features.names(&before, 6);
        let expected =
            ["title_court", "title_goal", "title_the", "body_court", "body_goal_line", "body_the"];
        assert_eq!(names, expected);
        let counts = array![
            [1.0, 0.0, 1.0, 2.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
            [1.0, 0.0, 1.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]
        ];
        assert_eq!(made.problem.data.to_dense(), counts);
        assert!(ctx.warnings().iter().any(|w| w.contains("1 column without texts is left out")));
    }

    const TEXTS: [&str; 7] = [
        "The court, the Court & a judge's court_room!",
        "Émile scored 2 goals in 90 minutes; goals win.",
        "",
        "ÜBER-GOALS über alles: the 2nd court",
        "a I ! b",
        "Матч окончен: 2:1, матч!",
        "東京 都 東京都庁 x1",
    ];

    /// The values are those of scikit-learn 1.9.1, printed by `benches/peers/count_words.py`.
    #[test]
    fn counts_of_scikit_learn() {
        let all = [
            "court:2|court_room:1|judge:1|the:2",
            "90:1|goals:2|in:1|minutes:1|scored:1|win:1|émile:1",
            "",
            "2nd:1|alles:1|court:1|goals:1|the:1|über:2",
            "",
            "матч:2|окончен:1",
            "x1:1|東京:1|東京都庁:1",
        ];
        assert_eq!(counted(&plain(), &TEXTS), all);
        let common = CountWords { min_rows: 2, ..plain() };
        let expected = ["court:2|the:2", "goals:2", "", "court:1|goals:1|the:1", "", "", ""];
        assert_eq!(counted(&common, &TEXTS), expected);
        let rare = CountWords { max_share: 0.2, ..plain() };
        let expected = [
            "court_room:1|judge:1",
            "90:1|in:1|minutes:1|scored:1|win:1|émile:1",
            "",
            "2nd:1|alles:1|über:2",
            "",
            "матч:2|окончен:1",
            "x1:1|東京:1|東京都庁:1",
        ];
        assert_eq!(counted(&rare, &TEXTS), expected);
        let pieces = CountWords { ngrams: vec![3], ..common.clone() };
        let expected = [
            " a :1| co:3| th:2|cou:3|he :2|our:3|rt :1|the:2|urt:3",
            "als:2|goa:2|ls :2|oal:2",
            "",
            " co:1| th:1|als:1|cou:1|goa:1|he :1|ls :1|oal:1|our:1|rt :1|the:1|urt:1",
            " a :1",
            "",
            "",
        ];
        assert_eq!(counted(&pieces, &TEXTS), expected);
        let pieces = CountWords { ngrams: vec![6, 4, 5], ..common };
        let expected = [
            " a :1| cou:3| cour:3| court:3| the:2| the :2|cour:3|court:3|court :1|ourt:3|ourt :1|the :2|urt :1",
            "als :2|goal:2|goals:2|goals :2|oals:2|oals :2",
            "",
            " cou:1| cour:1| court:1| the:1| the :1|als :1|cour:1|court:1|court :1|goal:1|goals:1|goals :1|oals:1\
             |oals :1|ourt:1|ourt :1|the :1|urt :1",
            " a :1",
            "",
            "",
        ];
        assert_eq!(counted(&pieces, &TEXTS), expected);
    }

    /// With a smooth idf they are the weights of scikit-learn, from the same script.
    #[test]
    fn weights_of_scikit_learn() {
        let weights = TfIdf { tf: TermFrequency::Log, idf: DocumentFrequency::Smooth };
        let steps: [Box<dyn Transform>; 3] =
            [Box::new(plain()), Box::new(weights), Box::new(L2Rows::default())];
        let problem = Problem::new(table(&TEXTS));
        let made = run::transform(&steps, &problem, &Context::new(1)).unwrap();
        let (rare, often) = (0.40993860641108104, 0.5761513160392335);
        let rows = [vec![often, rare, rare, often], {
            let mut row = vec![0.3541002122266657; 7];
            row[1] = 0.49767282245083666;
            row
        }];
        for (i, expected) in rows.iter().enumerate() {
            let Row::Sparse(_, values) = made.problem.data.row(i) else { panic!("sparse rows") };
            assert_eq!(values.len(), expected.len());
            assert!(values.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14), "{values:?}");
        }
    }

    #[test]
    fn new_texts_have_the_words_of_the_fit() {
        let fitted = fitted(&plain(), &table(&["red 2024", "blue red"])).unwrap();
        let made = |data: Data| fitted.apply(&data).unwrap().to_dense();
        assert_eq!(made(table(&["Red green", "green"])), array![[0.0, 0.0, 1.0], [0.0; 3]]);
        // A file whose only texts look like numbers is read as numbers.
        let numbers = Data::table(array![[2024.0], [GAP]], vec![None]).unwrap();
        assert_eq!(made(numbers), array![[1.0, 0.0, 0.0], [0.0; 3]]);
        let wrong = Data::dense(array![[1.0, 2.0]]).unwrap();
        assert!(fitted.apply(&wrong).is_err());
    }

    #[test]
    fn nothing_to_count_is_an_error() {
        let message = |plugin: &CountWords, texts: &[&str]| {
            fitted(plugin, &table(texts)).err().map(|e| e.to_string()).unwrap_or_default()
        };
        assert_eq!(
            message(&plain(), &["a b", "!"]),
            "count_words: the texts contain no words; ngrams = [1] counts all characters"
        );
        let rare = CountWords { min_rows: 2, max_share: 0.9, ..plain() };
        assert_eq!(
            message(&rare, &["red", "blue", "blue green"]).as_str(),
            "",
            "blue is in two of three rows"
        );
        assert_eq!(
            message(&rare, &["red", "blue"]),
            "count_words: none of 2 words is in at least 2 and at most 1.8 of 2 rows; lower min_rows or raise \
             max_share"
        );
        let numbers = Data::table(array![[1.0], [GAP]], vec![None]).unwrap();
        let refused = fitted(&plain(), &numbers).err().unwrap().to_string();
        assert_eq!(refused, "count_words: no column contains texts; leave this transform out");
    }

    /// The words of a text, character by character.
    fn words(text: &str) -> Vec<String> {
        let (mut words, mut word) = (Vec::new(), String::new());
        for c in text.chars().chain(once(' ')) {
            if c.is_alphanumeric() || c == '_' {
                word.extend(c.to_lowercase());
            } else if word.chars().count() > 1 {
                words.push(std::mem::take(&mut word));
            } else {
                word.clear();
            }
        }
        words
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Every count and every choice of words is what a plain search finds.
        #[test]
        fn as_counted_one_by_one(
            texts in proptest::collection::vec("[aBb1_ éÜ,.都]{0,12}", 1..9),
            min_rows in 1usize..3,
            max_share in prop_oneof![Just(1.0), Just(0.5)],
        ) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let data = table(&texts);
            let plugin = CountWords { min_rows, max_share, ..plain() };
            let of_rows: Vec<Vec<String>> = texts.iter().map(|text| words(text)).collect();
            let mut expected: Vec<String> = of_rows.concat();
            expected.sort();
            expected.dedup();
            expected.retain(|word| {
                let rows = of_rows.iter().filter(|own| own.contains(word)).count();
                rows >= min_rows && rows as f64 <= max_share * texts.len() as f64
            });
            let Ok(fitted) = fitted(&plugin, &data) else {
                prop_assert!(expected.is_empty());
                return Ok(());
            };
            let parts = expected.iter().map(|word| (0, Some(word.clone()))).collect();
            prop_assert_eq!(fitted.features(), Features::Parts(parts));
            let counts = Array2::from_shape_fn((texts.len(), expected.len()), |(i, s)| {
                of_rows[i].iter().filter(|word| **word == expected[s]).count() as f64
            });
            prop_assert_eq!(fitted.apply(&data).unwrap().to_dense(), counts);
        }
    }
}
