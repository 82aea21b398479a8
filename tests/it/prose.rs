//! Pages, help, messages and documentation are free of a few habits that make readers stop.

use crate::meta::{files, rust_files, text};

/// Words and phrases to replace by plain ones. Ranges such as `2..=9` are for code, too: write "between 2 and 9".
const HABITS: &str = "an end of which, anew, are none, are said, beside, dear, dearer, heard, hears, in silence, \
                      is none, is said, is told, meanwhile, nobody, say so, says so, so many of, somebody who, \
                      stands at, stands beside, stands in, stands on, stands there, that stand, was said, \
                      were said, whoever, without a word";

/// Every second piece of a line between marks, beginning with the first or with the second piece.
fn pieces(line: &str, mark: char, first: bool) -> String {
    let all: Vec<&str> = line.split(mark).skip(usize::from(!first)).step_by(2).collect();
    all.join(" | ")
}

/// The lines of a page without blocks and spans of code.
fn page(content: &str) -> Vec<String> {
    let mut in_block = false;
    let prose = |line: &str| {
        let is_fence = line.trim_start().starts_with("```");
        in_block ^= is_fence;
        if in_block || is_fence { String::new() } else { pieces(line, '`', true) }
    };
    content.lines().map(prose).collect()
}

/// The string literals of each line before the tests, and the documentation of items if `documented`.
fn code(content: &str, documented: bool) -> Vec<String> {
    let mut in_literal = false;
    let prose = |line: &str| {
        if let Some(comment) = line.strip_prefix("//").filter(|_| !in_literal) {
            let documentation = comment.strip_prefix('/').filter(|_| documented);
            return pieces(&documentation.unwrap_or_default().replace("..=", ""), '`', true);
        }
        let marks = [r"\\", r#"\""#, r"\n", "'\"'", "..="];
        let line = marks.iter().fold(line.to_string(), |line, mark| line.replace(mark, " "));
        let before = in_literal;
        in_literal ^= line.matches('"').count() % 2 == 1;
        pieces(&line, '"', before)
    };
    let lines = content.lines().map(str::trim_start);
    lines.take_while(|line| !line.starts_with("#[cfg(test)]")).map(prose).collect()
}

/// The text for people in each line of a file; empty for other files.
fn for_people(path: &str, content: &str) -> Vec<String> {
    let has = |parts: &[&str]| parts.iter().any(|part| format!("//{path}").contains(part));
    match path.rsplit('.').next().unwrap_or_default() {
        "md" if has(&["/book/", "//README.md", "//CONTRIBUTING.md"]) => page(content),
        "py" if has(&["/python/python/"]) => page(&content.replace("None", "")),
        "rs" if has(&["/src/"]) && !has(&["/tests/", "/fuzz/", "/core/laws/"]) => {
            code(content, !has(&["/src/parts/", "kernels"]))
        }
        _ => Vec::new(),
    }
}

#[test]
fn texts_for_people_are_in_plain_english() {
    let habits: Vec<Vec<&str>> = HABITS.split(", ").map(|h| h.split(' ').collect()).collect();
    let (mut found, mut seen) = (Vec::<String>::new(), 0);
    for path in files() {
        let (name, Some(content)) = (path.to_string_lossy(), text(&path)) else { continue };
        let mut words: Vec<(usize, String)> = Vec::new();
        for (at, line) in (1..).zip(for_people(&name, &content)) {
            found.extend(line.contains("..=").then(|| format!("{name}:{at}: ..=")));
            let bare =
                |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
            words.extend(line.split_whitespace().map(|word| (at, bare(word))));
        }
        seen += words.len();
        for habit in &habits {
            let hits = words.windows(habit.len()).filter(|w| w.iter().map(|w| &w.1).eq(habit));
            found.extend(hits.map(|words| format!("{name}:{}: {}", words[0].0, habit.join(" "))));
        }
    }
    assert!(seen > 200_000, "only {seen} words were read");
    assert!(found.is_empty(), "write in plain English:\n{}", found.join("\n"));
}

/// Messages that tests quote count one thing as one; the tests of the program look at all that it prints.
#[test]
fn one_thing_is_not_counted_as_many() {
    const THINGS: &str = "answers cells classes clusters columns constraints features groups labels lines members \
                          objects pairs partitions questions rows values";
    let mut found = Vec::new();
    for path in rust_files() {
        for (at, line) in (1..).zip(text(&path).unwrap_or_default().lines()) {
            let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
            let is_wrong = |w: &[&str]| {
                let one = w[1].trim_start_matches(['"', '(']) == "1";
                let thing = w[2].trim_end_matches(|c: char| !c.is_alphanumeric());
                let is_term = ["-", "−", "+", "=", "at"].contains(&w[0]);
                one && !is_term && THINGS.split(' ').any(|t| t == thing)
            };
            let wrong = words.windows(3).any(is_wrong);
            found.extend(wrong.then(|| format!("{}:{at}: {line}", path.display())));
        }
    }
    assert!(found.is_empty(), "these count one thing as many:\n{}", found.join("\n"));
}

/// The first line says what a thing is: it is neither a question nor a clause without a noun.
#[test]
fn documentation_begins_with_a_noun_or_a_verb() {
    const WORDS: [&str; 5] = ["What ", "Whether ", "Where ", "Who ", "Of "];
    let mut found = Vec::new();
    for path in rust_files() {
        let content = text(&path).unwrap_or_default();
        let mut before = "";
        for (at, line) in (1..).zip(content.lines().map(str::trim_start)) {
            let is_first = !before.starts_with("//!") && !before.starts_with("///");
            before = line;
            let doc = line.strip_prefix("//! ").or_else(|| line.strip_prefix("/// "));
            let Some(doc) = doc.filter(|_| is_first) else { continue };
            let is_question = line.starts_with("//!") && doc.ends_with('?');
            if is_question || WORDS.iter().any(|word| doc.starts_with(word)) {
                found.push(format!("{}:{at}: {doc}", path.display()));
            }
        }
    }
    assert!(found.is_empty(), "say what it is:\n{}", found.join("\n"));
}
