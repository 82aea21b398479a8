//! The page of kept verdicts: a line for each claim, counts by paper on top.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use mustlink::{Error, Result};
use mustlink_experiments::{Criterion, Experiment, io, write_whole};
use mustlink_report::{Judgement, three_digits};

use crate::kept::{Line, fail, kept_verdicts};
use crate::markdown::cell;

/// No line of the page is longer.
const LONGEST: usize = 300;
/// At most so many letters of numbers that no criterion asked to show.
const LETTERS: usize = 56;

/// The columns of the counts: what a claim came to.
const KINDS: [&str; 6] =
    ["reproduced", "sets missing", "partly", "not reproduced", "no data", "waits for a run"];

/// Text for a data set without results.
const NOT_HERE: &str = "not here";

/// A claim with what is kept of it.
struct Claim {
    criterion: Criterion,
    lines: Vec<Line>,
    kind: usize,
}

/// Claims in the same words about the same data sets.
struct Group<'a> {
    claims: Vec<&'a Claim>,
}

/// Keeps the verdicts of results directories in `dir`, the folder of their experiment files, and writes the page of all
/// that are kept there.
///
/// # Errors
/// `Usage` if `dir` has another README.md; the errors of [`kept_verdicts`].
pub fn keep_verdicts(results: &[PathBuf], dir: &Path) -> Result<()> {
    let page = dir.join("README.md");
    if std::fs::read(&page).is_ok_and(|there| !there.starts_with(b"# Verdicts")) {
        return Err(Error::Usage(format!(
            "{}: is not a page of verdicts and would be overwritten",
            page.display()
        )));
    }
    // Nothing is written before all of it is there.
    let mut kept = Vec::new();
    for from in results {
        kept.push((Experiment::from_directory(from)?.head.name, kept_verdicts(from, dir)?));
    }
    let folder = dir.join("verdicts");
    std::fs::create_dir_all(&folder).map_err(io(&folder))?;
    for (name, verdicts) in &kept {
        write_whole(&folder.join(format!("{name}.csv")), ".part", verdicts)?;
    }
    write_whole(&page, ".part", verdicts_page(dir)?.as_bytes())
}

/// The page of a folder of experiments: counts by paper, then its claims, from the verdicts kept in its
/// folder `verdicts`.
///
/// # Errors
/// `Data` for a file that cannot be read.
pub fn verdicts_page(folder: &Path) -> Result<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(io(folder))? {
        let name = entry.map_err(io(folder))?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(".toml").map(str::to_string));
    }
    names.sort();
    let mut papers: BTreeMap<String, [usize; 6]> = BTreeMap::new();
    let (mut body, mut own) = (String::new(), String::new());
    let (mut null, mut chosen, mut firm) = (0, 0, 0);
    for name in &names {
        let file = Experiment::load(&folder.join(format!("{name}.toml")), &[])?;
        let kept = kept(&folder.join("verdicts").join(format!("{name}.csv")))?;
        let changed = kept.first().map_or("", |l| &*l.changed).to_string();
        let claims: Vec<Claim> = file.criteria.iter().map(|c| Claim::new(c, &kept)).collect();
        let paper = name.split('-').next().unwrap_or(name).to_string();
        let counts = papers.entry(paper).or_default();
        for claim in claims.iter().filter(|c| !c.criterion.own) {
            counts[claim.kind] += 1;
            if claim.kind < 2 {
                let (by_any, by_choice) =
                    (claim.criterion.null.is_some(), claim.criterion.chosen.is_some());
                null += usize::from(by_any);
                chosen += usize::from(by_choice);
                firm += usize::from(!by_any && !by_choice);
            }
        }
        let mut note = String::new();
        let mut missing: Vec<&str> = Vec::new();
        for line in kept.iter().filter(|l| l.numbers == NOT_HERE) {
            if !missing.contains(&&*line.dataset) {
                missing.push(&line.dataset);
            }
        }
        if !missing.is_empty() {
            let _ = write!(note, " Not here: {}.", missing.join(", "));
        }
        if !changed.is_empty() {
            let _ = write!(note, " For this run: {changed}.");
        }
        let link = if kept.is_empty() {
            "not run yet".to_string()
        } else {
            format!("[numbers](verdicts/{}.csv)", linked(name))
        };
        let about = cell(&file.head.description);
        let head = |level: &str| {
            let mut out = format!("\n{level} {name}\n");
            let file = linked(name);
            wrap(&mut out, format!("{about} [File]({file}.toml), {link}.{note}").trim_start());
            out
        };
        let (mine, theirs): (Vec<&Claim>, Vec<&Claim>) =
            claims.iter().partition(|c| c.criterion.own);
        if !theirs.is_empty() || mine.is_empty() {
            body += &head("##");
            table(&mut body, theirs.iter().copied());
            if !mine.is_empty() {
                let _ = writeln!(own, "\n### Own: {name}");
            }
        } else {
            own += &head("###");
        }
        if !mine.is_empty() {
            table(&mut own, mine.into_iter());
        }
    }
    let all = papers.values().fold([0; 6], |mut all, one| {
        all.iter_mut().zip(one).for_each(|(a, b)| *a += b);
        all
    });
    let row = |name: &str, counts: &[usize; 6]| {
        let each = counts.map(|n| n.to_string()).join(" | ");
        format!("| {name} | {} | {each} |\n", counts.iter().sum::<usize>())
    };
    let mut rows = row("**all**", &all);
    papers.iter().for_each(|(paper, counts)| rows += &row(paper, counts));
    let held = all[0] + all[1];
    let at_end = if own.is_empty() { "" } else { "; our own checks are at the end" };
    if !own.is_empty() {
        let head = "\n## Checks of our own\n\nNo claims of a paper, or true by construction.\n";
        own.insert_str(0, head);
    }
    Ok(format!(
        "# Verdicts\n\n\
         Each experiment of this folder runs with `mustlink run NAME.toml`; its claims are in the file, with the\n\
         reasons where one fails. `cargo run -p mustlink-authors -- keep FOLDER RESULTS...` writes this page, from\n\
         results kept under `verdicts/`.\n\n\
         **{firm} claims hold that could have failed.** Of the {held} that hold, k-means with random pairs also meets\n\
         {null}, and the file says why it may; {chosen} are judged on numbers by which something was chosen. Only\n\
         claims of the papers are counted{at_end}. *Sets missing*: it holds on all data sets that are here.\n\n\
         | paper | claims | {} |\n|---|---|---|---|---|---|---|---|\n{rows}\n\
         Numbers are ours, in brackets the printed ones; **bold** is what does not hold. Claims in the same words\n\
         share a line, those without data are named below a table.\n{body}{own}",
        KINDS.join(" | ")
    ))
}

/// The kept lines of one experiment; none where it was not run.
fn kept(path: &Path) -> Result<Vec<Line>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let mut reader = csv::Reader::from_path(path).map_err(fail(path))?;
    reader.deserialize().collect::<std::result::Result<_, _>>().map_err(fail(path))
}

/// The claims as a table, and below it those without a result.
fn table<'a>(out: &mut String, claims: impl Iterator<Item = &'a Claim>) {
    let (mut groups, mut without, mut waiting): (Vec<Group>, Vec<_>, Vec<_>) = Default::default();
    for claim in claims {
        match claim.kind {
            4 => without.push(claim),
            5 => waiting.push(&*claim.criterion.id),
            _ => match groups.iter_mut().find(|g| g.holds(claim)) {
                Some(group) => group.claims.push(claim),
                None => groups.push(Group { claims: vec![claim] }),
            },
        }
    }
    if !groups.is_empty() {
        let _ = writeln!(out, "\n| claim | here | sets | verdict |\n|-|-|-|-|");
        groups.iter().for_each(|g| *out += &g.row());
    }
    if !without.is_empty() {
        let mut sets: Vec<&str> = Vec::new();
        let lines = without.iter().flat_map(|c| &c.lines).map(|l| match l.dataset.as_str() {
            "" => &*l.numbers,
            set => set,
        });
        for set in lines {
            if !sets.contains(&set) {
                sets.push(set);
            }
        }
        let ids: Vec<&str> = without.iter().map(|c| &*c.criterion.id).collect();
        let which = if groups.is_empty() && waiting.is_empty() {
            format!("all {} claims", ids.len())
        } else {
            joined(&ids)
        };
        wrap(out, &format!("No data ({}): {which}.", sets.join(", ")));
    }
    if !waiting.is_empty() {
        wrap(out, &format!("Wait for a run: {}.", joined(&waiting)));
    }
}

/// A paragraph in lines.
fn wrap(out: &mut String, text: &str) {
    let mut length = 0;
    out.push('\n');
    for word in text.split(' ') {
        if length + word.len() > 110 {
            out.push('\n');
            length = 0;
        } else if length > 0 {
            out.push(' ');
        }
        *out += word;
        length += word.len() + 1;
    }
    out.push('\n');
}

impl Claim {
    fn new(criterion: &Criterion, kept: &[Line]) -> Self {
        let mine = kept.iter().filter(|l| l.criterion == criterion.id);
        // A claim in other words is another claim.
        let lines: Vec<Line> =
            mine.filter(|l| l.statement == criterion.statement).cloned().collect();
        let kind = kind(&lines);
        Claim { criterion: criterion.clone(), lines, kind }
    }

    fn failing(&self) -> impl Iterator<Item = &str> {
        let fails = self.lines.iter().filter(|l| l.holds == "no" && !l.dataset.is_empty());
        fails.map(|l| &*l.dataset)
    }

    /// Numbers, data set by data set.
    fn here(&self) -> String {
        let known = || self.lines.iter().filter(|l| !l.holds.is_empty());
        let mark = |l: &Line, text: String| {
            if l.holds == "no" && !text.is_empty() { format!("**{text}**") } else { text }
        };
        let shown: Vec<String> = known().map(|l| mark(l, l.shown.clone())).collect();
        if shown.iter().any(|s| !s.is_empty()) {
            let between = if shown.iter().any(|s| s.contains(' ')) { "; " } else { " " };
            return shown.join(between);
        }
        let ours = |text: &str| {
            let (ours, rest) = text.strip_prefix("ours ")?.split_once(", printed ")?;
            let first = |t: &str| digits(t.split(' ').next().unwrap_or_default());
            Some((first(ours), first(rest)))
        };
        let pairs: Option<Vec<(String, String)>> = known().map(|l| ours(&l.numbers)).collect();
        if let Some(pairs) = pairs.filter(|p| !p.is_empty()) {
            let ours = known().zip(&pairs).map(|(l, p)| mark(l, p.0.clone()));
            let printed: Vec<&str> = pairs.iter().map(|p| &*p.1).collect();
            // Neighbours that fail share their marks.
            let ours = ours.collect::<Vec<_>>().join(" ").replace("** **", " ");
            return format!("{ours} ({})", printed.join(" "));
        }
        let each = known().map(|l| mark(l, short(&l.numbers)));
        let all = each.collect::<Vec<_>>().join("; ");
        match all.chars().count() {
            0..=LETTERS => all,
            _ => String::new(),
        }
    }

    /// On how many data sets it holds, and, where `named`, on which not.
    fn sets(&self, named: bool) -> String {
        let known = self.lines.iter().filter(|l| !l.holds.is_empty() && !l.dataset.is_empty());
        let (fails, known): (Vec<&str>, usize) = (self.failing().collect(), known.count());
        // Sets that are not here at all stand once above the table.
        let absent = self.lines.iter().filter(|l| l.holds.is_empty() && l.numbers != NOT_HERE);
        let absent = absent.map(|l| &*l.dataset);
        let absent: Vec<&str> = absent.collect();
        let mut text = match (known, fails.len()) {
            (0, _) => String::new(),
            (1, 0) if self.lines.len() == 1 => self.lines[0].dataset.clone(),
            (1, 1) => format!("not **{}**", fails[0]),
            (n, bad) if n == bad => format!("**none** of {n}"),
            (n, 0) => format!("{n} of {n}"),
            (n, bad) if named => format!("{} of {n}, not **{}**", n - bad, fails.join(", ")),
            (n, bad) => format!("**{}** of {n}", n - bad),
        };
        if !absent.is_empty() && named {
            let _ = write!(text, "; no {}", absent.join(", "));
        }
        text
    }
}

impl Group<'_> {
    fn holds(&self, claim: &Claim) -> bool {
        let sets = |c: &Claim| c.lines.iter().map(|l| l.dataset.clone()).collect::<Vec<_>>();
        let first = self.claims[0];
        first.criterion.statement == claim.criterion.statement && sets(first) == sets(claim)
    }

    fn row(&self) -> String {
        let ids: Vec<&str> = self.claims.iter().map(|c| &*c.criterion.id).collect();
        let once = |of: &dyn Fn(&Claim) -> String| {
            let all: Vec<String> = self.claims.iter().map(|c| of(c)).collect();
            if all.iter().all(|one| *one == all[0]) { all[0].clone() } else { all.join(" / ") }
        };
        let verdict = once(&|c| {
            let null = if c.criterion.null.is_some() && c.kind < 3 { ", k-means too" } else { "" };
            let chosen = if c.criterion.chosen.is_some() { ", chosen by it" } else { "" };
            format!("{}{null}{chosen}", KINDS[c.kind])
        });
        let claim = format!("{}: {}", joined(&ids), self.claims[0].criterion.statement);
        let mut here = once(&|c| c.here());
        if here.trim_matches([' ', '/', ';']).is_empty() {
            here.clear();
        }
        let row = |here: &str, named: bool| {
            let sets = once(&|c| c.sets(named));
            format!("| {} | {} | {} | {verdict} |\n", cell(&claim), cell(here), cell(&sets))
        };
        let fits = |row: &String| row.chars().count() <= LONGEST;
        let shorter = [row(&here, true), row("", true)].into_iter().find(fits);
        shorter.unwrap_or_else(|| row("", false))
    }
}

/// Names, a first word that they share said once: 1a g=0.5, g=0.7.
fn joined(ids: &[&str]) -> String {
    let mut out = String::new();
    let mut last = "";
    for id in ids {
        let (first, rest) = id.rsplit_once(' ').unwrap_or(("", id));
        if !out.is_empty() {
            out += ", ";
        }
        out += if !first.is_empty() && first == last { rest } else { id };
        last = first;
    }
    out
}

/// The column of a claim.
fn kind(lines: &[Line]) -> usize {
    let Some(first) = lines.first() else { return 5 };
    let is = |judgement: Judgement| first.verdict == judgement.name();
    let any = |holds: &str| lines.iter().any(|l| l.holds == holds);
    match () {
        () if is(Judgement::Reproduced) => 0,
        () if is(Judgement::Partly) && !any("no") && any("") => 1,
        () if is(Judgement::Partly) => 2,
        () if is(Judgement::NotReproduced) => 3,
        () => 4,
    }
}

/// A comparison with three digits; of a long list of operands the last, which decided.
fn short(numbers: &str) -> String {
    let all: String = numbers.split(' ').map(digits).collect::<Vec<_>>().join(" ");
    match all.chars().count() {
        0..=LETTERS => all,
        _ => all.rsplit("; ").next().unwrap_or_default().to_string(),
    }
}

/// A word as it is, a number with three digits or as many as it has before the point.
fn digits(word: &str) -> String {
    let bare = word.trim_end_matches([';', ',']);
    let rest = &word[bare.len()..];
    bare.parse::<f64>().map_or_else(|_| word.into(), |v| three_digits(v) + rest)
}

/// A name as the target of a link: a blank ends it, and #, % and brackets mean something there.
fn linked(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let written = |byte: u8| {
        if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    name.bytes().map(written).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(dataset: &str, holds: &str, numbers: &str, shown: &str) -> Line {
        let text = |t: &str| t.to_string();
        Line {
            criterion: text("1"),
            verdict: text("partly"),
            dataset: text(dataset),
            holds: text(holds),
            numbers: text(numbers),
            shown: text(shown),
            statement: text("s"),
            changed: String::new(),
        }
    }

    fn claim(lines: Vec<Line>) -> Claim {
        let criterion: Criterion =
            serde_json::from_str(r#"{"id": "1", "statement": "s", "check": "n > 1"}"#).unwrap();
        let kind = kind(&lines);
        Claim { criterion, lines, kind }
    }

    #[test]
    fn any_name_is_a_link() {
        assert_eq!(linked("eaton2005-full_2.1"), "eaton2005-full_2.1");
        assert_eq!(linked("iris (50 %) #1 ä"), "iris%20%2850%20%25%29%20%231%20%C3%A4");
    }

    #[test]
    fn claims_are_one_short_line() {
        let iris = || line("iris", "no", "ours 10.8000 [10.8, 10.8], printed 14.1300 ± 3.2700", "");
        let wine = || line("wine", "yes", "ours 3.5600, printed 4 ± 1", "");
        let none = || line("sonar", "", "not here", "");
        let mixed = claim(vec![iris(), wine(), none()]);
        assert_eq!(mixed.here(), "**10.8** 3.56 (14.1 4)");
        assert_eq!(mixed.sets(true), "1 of 2, not **iris**");
        assert_eq!(mixed.sets(false), "**1** of 2");
        assert_eq!(mixed.kind, 2);
        assert_eq!(claim(vec![wine(), none()]).kind, 1);
        assert_eq!(claim(Vec::new()).kind, 5);
        // What a criterion shows comes before what was compared.
        let shown = claim(vec![
            line("iris", "no", "1 > 2", ".86 .85"),
            line("wine", "yes", "3 > 2", "1 2"),
        ]);
        assert_eq!(shown.here(), "**.86 .85**; 1 2");
        let operands = "iris: 0.0166; ".repeat(30) + "8 > 8";
        assert_eq!(claim(vec![line("", "no", &operands, "")]).here(), "**8 > 8**");
        let two = [claim(vec![wine()]), claim(vec![wine()])];
        let group = Group { claims: two.iter().collect() };
        assert!(group.holds(&two[0]) && !group.holds(&mixed));
        assert_eq!(joined(&["1a g=0.5", "1a g=0.7", "4"]), "1a g=0.5, g=0.7, 4");
    }
}
