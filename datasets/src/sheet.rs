//! The records in the text of a CSV.
//!
//! The text is read in chunks of some megabytes, each cut after the last record that ends in it, and
//! the records of a chunk without quotes are found on all threads: a file of many gigabytes takes no
//! more memory than what is kept of it. A chunk with quotes goes through the crate `csv`. Both ways
//! give the same records, which a law checks.

use mustlink_core::Result;
use rayon::prelude::*;

use crate::bytes::{Input, NOT_UTF8, bad};

/// Bytes read before they are cut into records.
const CHUNK: usize = 8 << 20;
/// Bytes of a piece of a chunk that one thread takes.
const PIECE: usize = 128 << 10;
/// The longest record: more is a quote left open, or no CSV.
const LONGEST: usize = 64 << 20;
/// First bytes of files that are not UTF-8 text, with the message about each.
const NO_TEXT: [(&[u8], &str); 6] = [
    (b"\xff\xfe", "is UTF-16 text; save it as UTF-8"),
    (b"\xfe\xff", "is UTF-16 text; save it as UTF-8"),
    (
        b"PK\x03\x04",
        "is a workbook or another ZIP archive, and this program is built without xlsx; save the sheet as CSV",
    ),
    (
        b"\xd0\xcf\x11\xe0",
        "is an old workbook, and this program is built without xlsx; save the sheet as CSV",
    ),
    (
        b"PAR1",
        "is a Parquet file, and this program is built without parquet; save the table as CSV",
    ),
    (b"\x93NUMPY", "is an NPY file; its name must end with .npy"),
];
/// The separators of cells that are detected.
const SEPARATORS: [u8; 4] = *b",;\t|";

/// A CSV whose header is read.
pub(crate) struct Sheet<'a> {
    input: Input<'a>,
    separator: u8,
    header: Vec<String>,
    /// The bytes that are read and not yet handed out.
    rest: Vec<u8>,
    /// The line that `rest` starts on, from 1.
    line: u64,
    done: bool,
}

impl<'a> Sheet<'a> {
    /// Reads the header. Without a `separator` that is taken which a line `sep=;` before the header names, as
    /// spreadsheets write it, else that of `, ; tab |` which cuts header and first rows into equally many cells,
    /// the most of them. `expected` says what the file should hold.
    ///
    /// # Errors
    /// `Data` for an empty file, text that is not UTF-8, and what reading gives.
    pub fn open(input: Input<'a>, separator: Option<char>, expected: &str) -> Result<Self> {
        Sheet::open_as(input, separator, expected, true)
    }

    /// As [`Sheet::open`]; without a header the columns are called `#1`, `#2` …
    ///
    /// # Errors
    /// Returns the errors of [`Sheet::open`].
    pub fn open_as(
        input: Input<'a>,
        separator: Option<char>,
        expected: &str,
        has_header: bool,
    ) -> Result<Self> {
        let (separator, given) = match separator {
            None => (b',', false),
            Some(c) if c.is_ascii() && !matches!(c, '"' | '\n' | '\r') => (c as u8, true),
            Some(c) => {
                let message = format!("the separator must be one character of ASCII, got {c:?}");
                return Err(bad(input.place(), message));
            }
        };
        let (header, rest) = (Vec::new(), Vec::new());
        let mut sheet = Sheet { input, separator, header, rest, line: 1, done: false };
        sheet.fill()?;
        if sheet.rest.starts_with(b"\xef\xbb\xbf") {
            sheet.rest.drain(..3);
        }
        if let Some((_, told)) = NO_TEXT.iter().find(|(begin, _)| sheet.rest.starts_with(begin)) {
            return Err(bad(sheet.input.place(), *told));
        }
        let given = given || sheet.input.is_typed();
        let named = said_by_a_line(&sheet.rest).filter(|_| !sheet.input.is_typed());
        if let Some((_, length)) = named {
            sheet.skip(length);
        }
        let blank = sheet.rest.iter().take_while(|b| matches!(b, b'\n' | b'\r')).count();
        if blank == sheet.rest.len() {
            let what = if blank > 0 { "has only blank lines" } else { "is empty" };
            let message = format!("the file {what}; expected {expected}");
            return Err(bad(sheet.input.place(), message));
        }
        sheet.skip(blank);
        match named {
            _ if given => {}
            Some((separator, _)) => sheet.separator = separator,
            None => sheet.separator = sniffed(&sheet.rest),
        }
        let end = record_ends(&sheet.rest, &[sheet.separator]).next().unwrap_or(sheet.rest.len());
        let mut first = sheet.rest[..end].to_vec();
        if first.contains(&b'\r') && !first.ends_with(b"\r\n") {
            // Lines end in \r alone: the first of them is the header.
            let end = first.iter().position(|&b| b == b'\r').map_or(first.len(), |at| at + 1);
            first.truncate(end);
        }
        let text = sheet.text(&first, sheet.line)?.to_string();
        let mut found = None;
        quoted(&text, sheet.separator, sheet.line, sheet.input.place(), false, &mut |_, cells| {
            found.get_or_insert_with(|| cells.iter().map(ToString::to_string).collect());
            Ok(())
        })?;
        sheet.header = found.unwrap_or_default();
        if has_header {
            sheet.skip(first.len());
        } else {
            sheet.header = (1..=sheet.header.len()).map(|at| format!("#{at}")).collect();
        }
        Ok(sheet)
    }

    /// The names of the columns.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The separator of cells.
    pub fn separator(&self) -> char {
        self.separator as char
    }

    /// How the file is called in messages.
    pub fn place(&self) -> &str {
        self.input.place()
    }

    /// The note for people about the part of the file that is read.
    pub fn note(&self) -> Option<String> {
        self.input.note()
    }

    /// Hands every record to `each`, with its line and one trimmed cell per column, in order within a
    /// part, and the parts in order to `done`. Blank lines are records of a sheet with one column only.
    ///
    /// # Errors
    /// `Data` for a record of another length than the header and what is not UTF-8, `each` its own; the
    /// first in the order of the file.
    pub fn each<T: Default + Send>(
        mut self,
        each: impl Fn(&mut T, u64, &[&str]) -> Result<()> + Sync,
        mut done: impl FnMut(T) -> Result<()>,
    ) -> Result<()> {
        while let Some(parts) = self.next_parts(&each)? {
            parts.into_iter().try_for_each(&mut done)?;
        }
        Ok(())
    }

    /// Only the records of the first chunk.
    pub fn first_records<T: Default + Send>(
        mut self,
        each: impl Fn(&mut T, u64, &[&str]) -> Result<()> + Sync,
    ) -> Result<Vec<T>> {
        Ok(self.next_parts(&each)?.unwrap_or_default())
    }

    fn next_parts<T: Default + Send>(
        &mut self,
        each: &(impl Fn(&mut T, u64, &[&str]) -> Result<()> + Sync),
    ) -> Result<Option<Vec<T>>> {
        let Some(chunk) = self.chunk()? else { return Ok(None) };
        let start = self.line;
        self.line += count_lines(&chunk);
        let text = self.text(&chunk, start)?;
        let (header, place) = (&*self.header, self.input.place());
        let columns = header.len();
        let blanks = self.separator == b' ';
        let fit = |part: &mut T, line: u64, cells: &[&str], is_quoted: bool| {
            if cells.len() == columns {
                return each(part, line, cells);
            }
            if cells.len() == 1 && cells[0].is_empty() {
                return Ok(());
            }
            let open = is_quoted && cells.iter().any(|c| c.contains('\n'));
            let got = cells.len();
            let hint = match header {
                _ if open => "; is a quote left open?".into(),
                // A remark above the header, or no CSV.
                [only] if only != "#1" => format!("; the header is \"{only}\""),
                _ if blanks && cells.contains(&"") => {
                    "; there are several spaces in a row: tr -s ' ' < OLD > NEW replaces them by one".into()
                }
                // At the end there may be a separator too many.
                _ if line == 2 && got == columns + 1 && !cells[columns].is_empty() => {
                    "; row names, as R writes them, need a name above, too: write.table(…, col.names = NA)".into()
                }
                _ => String::new(),
            };
            let fields = if columns == 1 { "field" } else { "fields" };
            let message = format!("expected {columns} {fields} as in the header, got {got}{hint}");
            Err(bad(format!("{place}, line {line}"), message))
        };
        if chunk.contains(&b'"') || lone_return(&chunk) {
            let mut part = T::default();
            let mut take = |line, cells: &[&str]| fit(&mut part, line, cells, true);
            quoted(text, self.separator, start, place, columns == 1, &mut take)?;
            return Ok(Some(vec![part]));
        }
        let pieces = pieces(text);
        let mut line = start;
        let starts: Vec<u64> = pieces
            .iter()
            .map(|piece| {
                let here = line;
                line += count_lines(piece.as_bytes());
                here
            })
            .collect();
        let separator = self.separator as char;
        let parts: Vec<Result<T>> = pieces
            .par_iter()
            .zip(starts)
            .map(|(piece, mut line)| {
                let mut part = T::default();
                let mut cells: Vec<&str> = Vec::with_capacity(columns);
                for row in piece.strip_suffix('\n').unwrap_or(piece).split('\n') {
                    cells.clear();
                    cells.extend(row.split(separator).map(str::trim));
                    fit(&mut part, line, &cells, false)?;
                    line += 1;
                }
                Ok(part)
            })
            .collect();
        parts.into_iter().collect::<Result<Vec<T>>>().map(Some)
    }

    /// Reads until a chunk is complete, or to the end.
    fn fill(&mut self) -> Result<()> {
        while !self.done && self.rest.len() < CHUNK {
            self.done = !self.input.more(&mut self.rest, CHUNK)?;
        }
        Ok(())
    }

    fn skip(&mut self, bytes: usize) {
        self.line += count_lines(&self.rest[..bytes]);
        self.rest.drain(..bytes);
    }

    /// The next whole records.
    fn chunk(&mut self) -> Result<Option<Vec<u8>>> {
        self.fill()?;
        loop {
            if self.done {
                let all = std::mem::take(&mut self.rest);
                return Ok(Some(all).filter(|all| !all.is_empty()));
            }
            if let Some(end) = last_record_end(&self.rest, self.separator) {
                let rest = self.rest.split_off(end);
                return Ok(Some(std::mem::replace(&mut self.rest, rest)));
            }
            if self.rest.len() > LONGEST {
                let message = format!(
                    "is longer than {} MiB; is a quote left open, or is this no CSV?",
                    LONGEST >> 20
                );
                return Err(bad(format!("{}, line {}", self.input.place(), self.line), message));
            }
            self.done = !self.input.more(&mut self.rest, CHUNK)?;
        }
    }

    fn text<'t>(&self, chunk: &'t [u8], start: u64) -> Result<&'t str> {
        std::str::from_utf8(chunk).map_err(|e| {
            let line = start + count_lines(&chunk[..e.valid_up_to()]);
            bad(format!("{}, line {line}", self.input.place()), NOT_UTF8)
        })
    }
}

fn count_lines(bytes: &[u8]) -> u64 {
    // Sums of bytes over short runs become vector instructions.
    let run = |run: &[u8]| u64::from(run.iter().map(|&b| u8::from(b == b'\n')).sum::<u8>());
    bytes.chunks(255).map(run).sum()
}

/// True if a line ends in \r alone.
fn lone_return(bytes: &[u8]) -> bool {
    bytes.contains(&b'\r') && bytes.windows(2).any(|w| w[0] == b'\r' && w[1] != b'\n')
        || bytes.last() == Some(&b'\r')
}

/// Pieces that each end with a line.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::with_capacity(text.len() / PIECE + 1);
    let mut rest = text;
    while rest.len() > PIECE {
        let Some(end) = rest.as_bytes()[PIECE..].iter().position(|&b| b == b'\n') else { break };
        let (piece, after) = rest.split_at(PIECE + end + 1);
        pieces.push(piece);
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(rest);
    }
    pieces
}

/// The ends of records: a quote opens only at the start of a cell.
fn record_ends<'b>(bytes: &'b [u8], separators: &'b [u8]) -> impl Iterator<Item = usize> + 'b {
    let (mut inside, mut fresh) = (false, true);
    bytes.iter().enumerate().filter_map(move |(at, &b)| {
        let end = !inside && b == b'\n';
        match (inside, b) {
            (false, b'"') if fresh => inside = true,
            (true, b'"') => inside = false,
            _ => {}
        }
        // After a closing quote another may follow: that is a quote in the cell.
        fresh = separators.contains(&b) || matches!(b, b'\n' | b'\r' | b'"');
        end.then_some(at + 1)
    })
}

fn last_record_end(bytes: &[u8], separator: u8) -> Option<usize> {
    if !bytes.contains(&b'"') {
        return bytes.iter().rposition(|&b| b == b'\n').map(|at| at + 1);
    }
    record_ends(bytes, &[separator]).last()
}

/// The separator that a line `sep=;` before the header names, and the length of that line.
fn said_by_a_line(bytes: &[u8]) -> Option<(u8, usize)> {
    let word = bytes.get(..4)?;
    let &separator =
        bytes.get(4).filter(|&&b| (b.is_ascii_punctuation() && b != b'"') || b == b'\t')?;
    let end = match &bytes[5..] {
        [b'\r', b'\n', ..] => 7,
        [b'\n' | b'\r', ..] => 6,
        _ => return None,
    };
    word.eq_ignore_ascii_case(b"sep=").then_some((separator, end))
}

/// The separator that fits header and first rows.
fn sniffed(bytes: &[u8]) -> u8 {
    let ends: Vec<usize> = record_ends(bytes, &SEPARATORS).take(6).collect();
    let ends = if ends.is_empty() { vec![bytes.len()] } else { ends };
    let mut start = 0;
    let records: Vec<&[u8]> =
        ends.into_iter().map(|end| &bytes[std::mem::replace(&mut start, end)..end]).collect();
    let cells = |record: &[u8], separator: u8| {
        let mut inside = false;
        let mut count = 1;
        for &b in record {
            inside ^= b == b'"';
            count += usize::from(b == separator && !inside);
        }
        count
    };
    let blank = |record: &&[u8]| record.iter().all(u8::is_ascii_whitespace);
    let score = |separator: u8| {
        let header = cells(records[0], separator);
        let rows = records[1..].iter().filter(|r| !blank(r));
        let fits = header > 1 && rows.clone().all(|r| cells(r, separator) == header);
        (fits, header)
    };
    // Of equals the first: a comma.
    let best = SEPARATORS.into_iter().rev().max_by_key(|&s| score(s));
    best.filter(|&s| score(s).1 > 1).unwrap_or(b',')
}

/// The records of a text as the crate `csv` finds them; `blank`: a blank line is a record of one empty
/// cell.
fn quoted(
    text: &str,
    separator: u8,
    start: u64,
    place: &str,
    blank: bool,
    take: &mut dyn FnMut(u64, &[&str]) -> Result<()>,
) -> Result<()> {
    let written;
    let text = if blank {
        written = with_blank_lines(text, separator);
        &written
    } else {
        text
    };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut record = csv::StringRecord::new();
    loop {
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(e) => {
                let line = start - 1 + e.position().map_or(1, csv::Position::line);
                return Err(bad(format!("{place}, line {line}"), e.to_string()));
            }
        }
        // Blank lines are skipped by the reader, which then names the first of them.
        let line = record.position().map_or(1, |p| {
            let from = usize::try_from(p.byte()).unwrap_or(0).min(text.len());
            let blank = text.as_bytes()[from..].iter().take_while(|b| matches!(b, b'\n' | b'\r'));
            p.line() + blank.filter(|&&b| b == b'\n').count() as u64
        });
        take(start - 1 + line, &record.iter().collect::<Vec<_>>())?;
    }
}

/// The text with `""` on each blank line outside of quotes.
fn with_blank_lines(text: &str, separator: u8) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for end in record_ends(text.as_bytes(), &[separator]).chain(std::iter::once(text.len())) {
        let line = &text[from..end];
        if !line.is_empty() && line.trim_matches(['\r', '\n']).is_empty() {
            out.push_str("\"\"");
        }
        out.push_str(line);
        from = end;
    }
    out
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;

    type Rows = Vec<(u64, Vec<String>)>;

    fn rows(text: &str, separator: Option<char>) -> Result<(Vec<String>, Rows)> {
        all(Input::of(text.as_bytes(), "s.csv"), separator)
    }

    fn all(input: Input<'_>, separator: Option<char>) -> Result<(Vec<String>, Rows)> {
        let sheet = Sheet::open(input, separator, "rows")?;
        let header = sheet.header().to_vec();
        let mut all = Rows::new();
        let take = |part: &mut Rows, line, cells: &[&str]| {
            part.push((line, cells.iter().map(ToString::to_string).collect()));
            Ok(())
        };
        sheet.each(take, |part| {
            all.extend(part);
            Ok(())
        })?;
        Ok((header, all))
    }

    fn cells(text: &str) -> Vec<Vec<String>> {
        rows(text, None).unwrap().1.into_iter().map(|(_, cells)| cells).collect()
    }

    #[test]
    fn the_separator_is_the_one_that_fits() {
        for text in ["a,b\n1,2\n", "a;b\n1;2\n", "a\tb\n1\t2\n", "a|b\n1|2\n", "a;b\r\n1;2\r\n"] {
            assert_eq!(cells(text), [["1", "2"]], "{text:?}");
        }
        // Decimal commas, and a comma within quotes.
        assert_eq!(cells("a;b\n1,5;2,5\n"), [["1,5", "2,5"]]);
        assert_eq!(cells("\"a, of b\";c\n1;2\n"), [["1", "2"]]);
        assert_eq!(cells("a\n1\n"), [["1"]]);
        assert_eq!(rows("a;b\n1;2\n", Some(',')).unwrap().0, ["a;b"]);
        // A line of spreadsheets names it; what is asked for counts more.
        for text in
            ["sep=;\na,b;c\n1;2\n", "\u{feff}SEP=;\r\na,b;c\r\n1;2\r\n", "sep=;\ra,b;c\r1;2\r"]
        {
            assert_eq!(rows(text, None).unwrap().0, ["a,b", "c"], "{text:?}");
            assert_eq!(cells(text), [["1", "2"]], "{text:?}");
        }
        assert_eq!(rows("sep=;\na,b;c\n1,2\n", Some(',')).unwrap().0, ["a", "b;c"]);
        let nothing = rows("sep=;\n", None).unwrap_err().to_string();
        assert_eq!(nothing, "s.csv: the file is empty; expected rows");
        let refused = rows("a\n", Some('ä')).unwrap_err().to_string();
        assert_eq!(refused, "s.csv: the separator must be one character of ASCII, got 'ä'");
    }

    #[test]
    fn blank_lines_count_where_there_is_one_column() {
        assert_eq!(cells("a\n1\n\n2\n"), [["1"], [""], ["2"]]);
        assert_eq!(cells("a\n1\n\n\"2\"\n\n"), [["1"], [""], ["2"], [""]]);
        assert_eq!(cells("a\r\n1\r\n\r\n\"2\"\r\n"), [["1"], [""], ["2"]]);
        assert_eq!(cells("a,b\n\n1,2\n\n"), [["1", "2"]]);
        assert_eq!(cells("a,b\n \n\"1\",2\n"), [["1", "2"]]);
    }

    #[test]
    fn marks_and_line_ends_of_other_systems() {
        assert_eq!(rows("\u{feff}a,b\n1,2\n", None).unwrap().0, ["a", "b"]);
        assert_eq!(cells("a,b\r1,2\r3,4"), [["1", "2"], ["3", "4"]]);
        let utf16 = Sheet::open(Input::of(b"\xff\xfea\0", "u.csv"), None, "rows").err().unwrap();
        assert_eq!(utf16.to_string(), "u.csv: is UTF-16 text; save it as UTF-8");
        let workbook = Input::of(b"PK\x03\x04\x14\0\x06\0", "w.csv");
        let workbook = Sheet::open(workbook, None, "rows").err().unwrap().to_string();
        assert!(workbook.ends_with("save the sheet as CSV"), "{workbook}");
    }

    #[test]
    fn lines_are_those_of_an_editor() {
        let lines = |text: &str| -> Vec<u64> {
            rows(text, None).unwrap().1.into_iter().map(|(line, _)| line).collect()
        };
        assert_eq!(lines("\n\na,b\n1,2\n\n\n3,4\n"), [4, 7]);
        assert_eq!(lines("sep=;\na;b\n1;2\n"), [3]);
        assert_eq!(lines("a,b\n\"1\n\n\",2\n\n3,4\n"), [2, 6]);
    }

    #[test]
    fn a_remark_above_the_header_is_named() {
        let refused = rows("# by Ann\ni,j\n1,2\n", None).unwrap_err().to_string();
        let expected =
            "s.csv, line 2: expected 1 field as in the header, got 2; the header is \"# by Ann\"";
        assert_eq!(refused, expected);
    }

    #[test]
    fn what_other_programs_write_is_told_how_to_be_written() {
        let refused = |text: &str, sep| rows(text, sep).unwrap_err().to_string();
        let told = "expected 2 fields as in the header, got 3; row names, as R writes them";
        assert!(refused("\"x\",\"y\"\n\"1\",1.5,2\n", None).contains(told));
        assert!(
            refused("x y\n1.5  2\n", Some(' '))
                .contains("got 3; there are several spaces in a row")
        );
        assert!(refused("x,y\n1.5,2,\n", None).ends_with("got 3"));
    }

    #[test]
    fn a_record_has_a_largest_length() {
        let mut text = b"a,b\n1,\"".to_vec();
        text.resize(LONGEST + 2 * CHUNK, b'x');
        let sheet = Sheet::open(Input::of(&text, "long.csv"), None, "rows").unwrap();
        let refused = sheet.each(|(): &mut (), _, _| Ok(()), |()| Ok(())).unwrap_err().to_string();
        let expected = "long.csv, line 2: is longer than 64 MiB; is a quote left open, or is this \
                        no CSV?";
        assert_eq!(refused, expected);
    }

    /// Many pieces and chunks, with and without quotes, each record once and in order.
    #[test]
    fn large_files_are_cut_without_loss() {
        for quote in ["", "\""] {
            let mut text = String::from("a,b\n");
            (0..1_200_000).for_each(|i| text += &format!("{quote}{i}{quote},x\n"));
            assert!(text.len() > CHUNK);
            let sheet = Sheet::open(Input::of(text.as_bytes(), "l.csv"), None, "rows").unwrap();
            let mut found: Vec<(u64, usize)> = Vec::new();
            let take = |part: &mut Vec<(u64, usize)>, line, cells: &[&str]| {
                part.push((line, cells[0].parse().unwrap()));
                Ok(())
            };
            sheet
                .each(take, |part| {
                    found.extend(part);
                    Ok(())
                })
                .unwrap();
            let expected: Vec<(u64, usize)> = (0..1_200_000).map(|i| (i as u64 + 2, i)).collect();
            assert!(found == expected);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        /// Any text gives the records that the crate `csv` finds in it, blank lines of one column aside.
        #[test]
        fn as_a_second_parser(body in "[ab1\",;\n\r ]{0,40}", wide in any::<bool>()) {
            // A last quote that stays open around blank lines alone is a cell to one and none to the other.
            let last = body.rsplit_once('"').map_or("a", |(_, after)| after);
            prop_assume!(!last.trim().is_empty() || !last.contains(['\n', '\r']));
            let text = format!("{}\n{body}", if wide { "h,k" } else { "h" });
            let found = rows(&text, Some(','));
            let mut reader = csv::ReaderBuilder::new()
                .flexible(true)
                .trim(csv::Trim::All)
                .from_reader(text.as_bytes());
            let columns = if wide { 2 } else { 1 };
            let blank = |r: &csv::StringRecord| r.len() == 1 && r[0].is_empty();
            let expected: Vec<Vec<String>> = reader
                .records()
                .map(|r| r.unwrap())
                .filter(|r| !blank(r))
                .map(|r| r.iter().map(str::to_string).collect())
                .collect();
            let good = expected.iter().all(|r| r.len() == columns);
            prop_assert_eq!(found.is_ok(), good, "{:?}", found);
            // Packed, in two members, it is the same.
            let mut packed = Vec::new();
            let (one, two) = text.as_bytes().split_at(text.len() / 2);
            for member in [one, two] {
                let mut out = GzEncoder::new(&mut packed, Compression::default());
                out.write_all(member).unwrap();
                out.finish().unwrap();
            }
            let unpacked = all(Input::new(&packed[..], "s.csv").unwrap(), Some(','));
            prop_assert_eq!(&unpacked, &found);
            if let Ok((_, found)) = found {
                let found: Vec<Vec<String>> = found
                    .into_iter()
                    .map(|(_, cells)| cells)
                    .filter(|cells| !(cells.len() == 1 && cells[0].is_empty()))
                    .collect();
                prop_assert_eq!(found, expected);
            }
        }

        /// Cells written by a second program come back, blank ones of a single column included.
        #[test]
        fn what_is_written_comes_back(
            cells in proptest::collection::vec("[a1\",;\n ]{0,4}", 1..20), wide in any::<bool>(),
        ) {
            let columns = if wide { 2 } else { 1 };
            let mut writer = csv::Writer::from_writer(Vec::new());
            writer.write_record(&["h", "k"][..columns]).unwrap();
            let records: Vec<Vec<String>> = cells
                .chunks_exact(columns)
                .map(|r| r.iter().map(|c| c.trim().to_string()).collect())
                .collect();
            records.iter().for_each(|r| writer.write_record(r).unwrap());
            let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
            let found = rows(&text, Some(',')).unwrap().1;
            let found: Vec<Vec<String>> = found.into_iter().map(|(_, cells)| cells).collect();
            prop_assert_eq!(found, records);
        }
    }
}
