//! Questions written to a spreadsheet, and answers read from it.
//!
//! A CSV with the columns `i`, `j` and `answer`; other columns are for people. Objects are row numbers from 0,
//! or ids. Rows with an empty answer are skipped.

use std::cell::RefCell;
use std::path::Path;

use mustlink_core::registry::suggestion;
use mustlink_core::roles::Reply;
use mustlink_core::{Error, Result};

use crate::bytes::{self, bad};
use crate::columns::column;
use crate::constraints_csv::Objects;
use crate::dataset::Dataset;
use crate::records::Records;

const EXPECTED: &str = "the header i,j,answer and one row per question";

/// The words that people write, in lower case.
const WORDS: [(&str, Reply); 14] = [
    ("same", Reply::MustLink),
    ("different", Reply::CannotLink),
    ("unsure", Reply::DontKnow),
    ("must_link", Reply::MustLink),
    ("cannot_link", Reply::CannotLink),
    ("dont_know", Reply::DontKnow),
    ("y", Reply::MustLink),
    ("n", Reply::CannotLink),
    ("yes", Reply::MustLink),
    ("no", Reply::CannotLink),
    ("?", Reply::DontKnow),
    // As the session has it; spreadsheets turn the apostrophe.
    ("don't know", Reply::DontKnow),
    ("don’t know", Reply::DontKnow),
    ("dont know", Reply::DontKnow),
];

/// One answer of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileAnswer {
    /// File and line.
    pub place: String,
    /// Row of the first object.
    pub i: usize,
    /// Row of the second object.
    pub j: usize,
    /// The answer about them.
    pub reply: Reply,
}

/// Reads answers about the objects of `dataset`; `-` is the standard input.
///
/// # Errors
/// `Data`, with the line and what is wrong on it.
pub fn read_answers(path: &str, dataset: &Dataset, by_id: bool) -> Result<Vec<FileAnswer>> {
    let objects = Objects::new(dataset, by_id)?;
    parse(&Records::open(path, EXPECTED)?, &objects, |_| true)
}

/// Reads the answers about objects whose ids `dataset` has, and an unknown id of each other answer.
///
/// # Errors
/// Returns the errors of [`read_answers`], except for unknown ids.
pub fn read_known_answers(path: &str, dataset: &Dataset) -> Result<(Vec<FileAnswer>, Vec<String>)> {
    let objects = Objects::new(dataset, true)?;
    let unknown = RefCell::new(Vec::new());
    let is_known = |ids: [&str; 2]| {
        let other = ids.into_iter().find(|id| !objects.has(id));
        unknown.borrow_mut().extend(other.map(String::from));
        other.is_none()
    };
    let known = parse(&Records::open(path, EXPECTED)?, &objects, is_known)?;
    Ok((known, unknown.into_inner()))
}

/// Rows whose objects are not `wanted` are left out.
fn parse(
    records: &Records,
    objects: &Objects<'_>,
    wanted: impl Fn([&str; 2]) -> bool,
) -> Result<Vec<FileAnswer>> {
    let (header, place) = (&records.header, records.place.as_str());
    let (i, j) = (column(header, "i", place)?, column(header, "j", place)?);
    let constraints = header.iter().any(|c| c == "type");
    let answer = column(header, "answer", place).map_err(|e| match e {
        Error::Data { place, message } if constraints => {
            let way = "to import constraints as answers, rename the column type to answer";
            bad(place, format!("{message}; {way}"))
        }
        other => other,
    })?;
    let mut out = Vec::new();
    for record in 0..records.len() {
        let place = format!("{place}, line {}", records.line(record));
        let cell = |c: usize| records.cell(record, c);
        let Some(reply) = reply_in(cell(answer), "answer", &place)? else { continue };
        if !wanted([cell(i), cell(j)]) {
            continue;
        }
        let (a, b) = (objects.find(cell(i), &place)?, objects.find(cell(j), &place)?);
        if a == b {
            return Err(bad(place, format!("asks about object {} and itself", cell(i))));
        }
        out.push(FileAnswer { place, i: a, j: b, reply });
    }
    Ok(out)
}

/// The reply in a cell of the column `name`; `None` if the cell is empty.
pub(crate) fn reply_in(cell: &str, name: &str, place: &str) -> Result<Option<Reply>> {
    let said = cell.to_lowercase();
    let reply = WORDS.into_iter().find_map(|(word, reply)| (word == said).then_some(reply));
    if reply.is_some() || said.is_empty() {
        return Ok(reply);
    }
    let near = suggestion(&said, WORDS.map(|(word, _)| word));
    let accepted = "must be same, different or unsure, or empty";
    Err(bad(place, format!("{name} {accepted}, got \"{cell}\"{near}")))
}

/// Writes questions about pairs of rows, to be answered in the column `answer`, with what people are shown of
/// both; `-` is the standard output.
///
/// # Errors
/// `Data` when the file cannot be written; nothing is left of it then.
pub fn write_questions(
    path: &str,
    pairs: &[(u32, u32)],
    dataset: &Dataset,
    by_id: bool,
) -> Result<()> {
    bytes::write(Path::new(path), &format(pairs, dataset, &Objects::new(dataset, by_id)?)?)
}

fn format(pairs: &[(u32, u32)], dataset: &Dataset, objects: &Objects<'_>) -> Result<Vec<u8>> {
    let text = dataset.display.as_deref().map(|cells| ("text", cells));
    let columns = dataset.shown.iter().map(|(name, cells)| (name.as_str(), cells.as_slice()));
    let shown: Vec<(&str, &[String])> = text.into_iter().chain(columns).collect();
    let mut header = vec!["i".to_string(), "j".into(), "answer".into()];
    header.extend(shown.iter().flat_map(|(n, _)| [format!("{n} of i"), format!("{n} of j")]));
    let row = |&(i, j): &(u32, u32)| {
        let cells = |c: &[String]| [c[i as usize].clone(), c[j as usize].clone()];
        let mut row = vec![objects.name(i), objects.name(j), String::new()];
        row.extend(shown.iter().flat_map(|(_, c)| cells(c)));
        row
    };
    bytes::csv_text("questions", |out| {
        out.write_record(&header)?;
        pairs.iter().try_for_each(|pair| out.write_record(row(pair)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Input;
    use mustlink_core::Data;
    use ndarray::Array2;

    fn set() -> Dataset {
        let data = Data::dense(Array2::zeros((3, 1))).unwrap();
        let cells = ["apple", "pear, ripe", "plum"].map(String::from).to_vec();
        let ids = Some(["a", "b", "c"].map(String::from).into());
        Dataset { ids, shown: [("fruit".into(), cells)].into(), ..Dataset::new("set", data) }
    }

    fn read(text: &str) -> Result<Vec<FileAnswer>> {
        let input = Input::of(text.as_bytes(), "pairs.csv");
        parse(&Records::read(input, EXPECTED, None)?, &Objects::new(&set(), true)?, |_| true)
    }

    #[test]
    fn questions_come_back_as_answers() {
        let objects = Objects::new(&set(), true).map(|o| format(&[(0, 1), (2, 0)], &set(), &o));
        let sheet = String::from_utf8(objects.unwrap().unwrap()).unwrap();
        assert_eq!(
            sheet,
            "i,j,answer,fruit of i,fruit of j\na,b,,apple,\"pear, ripe\"\nc,a,,plum,apple\n"
        );
        assert_eq!(read(&sheet).unwrap(), []);
        let answers = read(&sheet.replace("a,b,", "a,b, Same")).unwrap();
        let place = "pairs.csv, line 2".to_string();
        assert_eq!(answers, [FileAnswer { place, i: 0, j: 1, reply: Reply::MustLink }]);
        for word in ["unsure", "?", "don't know", "Don’t know"] {
            let answers = read(&sheet.replace("a,b,", &format!("a,b,{word}"))).unwrap();
            assert_eq!(answers[0].reply, Reply::DontKnow, "{word}");
        }
    }

    #[test]
    fn what_is_no_answer_is_named() {
        let constraints = read("i,j,type\na,b,must_link\n").unwrap_err().to_string();
        assert!(constraints.ends_with("rename the column type to answer"), "{constraints}");
        let refused = |row: &str| read(&format!("i,j,answer\n{row}\n")).unwrap_err().to_string();
        assert!(refused("a,b,sane").contains("line 2"), "{}", refused("a,b,sane"));
        assert!(refused("a,b,sane").contains("\"same\""), "{}", refused("a,b,sane"));
        assert!(refused("a,x,same").contains("no object has the id \"x\""));
        assert!(refused("a,a,same").contains("and itself"));
    }
}
