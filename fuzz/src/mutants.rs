//! Inputs made of real files, in which bytes, tokens, lines and other pieces are replaced: by nothing, by random bytes,
//! by pieces of the same or another file, by words of the format, by extreme numbers, and by parts that are repeated
//! until they nest deeply. A few inputs are only noise.

use bolero::{Driver, ValueGenerator};

/// Longest input.
const LONGEST: usize = 96 << 10;
/// Bytes of chance that one input is made of.
const CHANCE: usize = 768;

/// Numbers at which arithmetic ends, with spaces between.
const NUMBERS: &str = "0 -1 1 255 256 65536 2147483647 2147483648 4294967295 4294967296 9007199254740993 \
                       9223372036854775807 -9223372036854775808 18446744073709551615 18446744073709551616 1e-400 \
                       1e308 1e309 -1e308 2e-308 0.1 -0.0 nan inf -inf 1e6 1000000 999999999999 0x7f 1_000";

/// Tokens of all formats read here.
const WORDS: [&str; 40] = [
    "\"", "'", "\n", "\r\n", "\r", "\t", ",", ";", "|", "=", ":", ".", "-", "#", "%", "[", "]",
    "{", "}", "(", ")", "[[", "]]", "\\", "\\u0000", "\\ud800", "\0", "\u{feff}", "null", "true",
    "\"\"\"", "NA", "?", "é", "𝔐", "{}", "[]", "\"\"", "\n\n", " ",
];

/// Makes inputs of a target.
#[derive(Debug, Clone)]
pub struct Mutants {
    corpus: Vec<Vec<u8>>,
    words: &'static [&'static str],
}

/// The chance that the `number`-th input of a target follows from.
fn entropy(seed: u64, target: &str, number: u64) -> Vec<u8> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes()).update(&number.to_le_bytes()).update(target.as_bytes());
    let mut out = vec![0; CHANCE];
    hasher.finalize_xof().fill(&mut out);
    out
}

impl Mutants {
    /// Inputs made of these files, and of the words of their format.
    pub fn new(corpus: Vec<Vec<u8>>, words: &'static [&'static str]) -> Self {
        Mutants { corpus, words }
    }

    /// The `number`-th input.
    pub fn input(&self, seed: u64, target: &str, number: u64) -> Vec<u8> {
        let chance = entropy(seed, target, number);
        let options = bolero::bolero_engine::driver::Options::default();
        let mut driver = bolero::bolero_engine::driver::ByteSliceDriver::new(&chance, &options);
        self.generate(&mut driver).unwrap_or_default()
    }

    /// A word of the format or of any format, or a number.
    fn word<D: Driver>(&self, d: &mut D) -> Option<&str> {
        match below(d, 5)? {
            0 | 1 if !self.words.is_empty() => Some(self.words[below(d, self.words.len())?]),
            2 | 3 => NUMBERS.split(' ').nth(below(d, 30)?),
            _ => Some(WORDS[below(d, WORDS.len())?]),
        }
    }

    /// Bytes that mean nothing, or a row of words.
    fn noise<D: Driver>(&self, d: &mut D) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let words = below(d, 2)? == 0;
        for _ in 0..below(d, 60)? {
            match words {
                true => out.extend(self.word(d)?.bytes()),
                false => out.push(d.produce()?),
            }
        }
        Some(out)
    }

    /// Replaces a piece of the input, which may be empty, by other bytes, which may be none.
    fn change<D: Driver>(&self, d: &mut D, out: &mut Vec<u8>) -> Option<()> {
        let at = below(d, out.len() + 1)?;
        let old = match below(d, 8)? {
            0 | 1 => at..at,
            2 => line_at(out, at),
            3 | 4 => token_at(out, at),
            5 => at..out.len(),
            _ => piece(d, out.len())?,
        };
        let new = match below(d, 16)? {
            0..=3 => Vec::new(),
            4 | 5 => vec![d.produce()?],
            6 | 7 => out[piece(d, out.len())?].to_vec(),
            8 | 9 => {
                let other = &self.corpus[below(d, self.corpus.len())?];
                other[piece(d, other.len())?].to_vec()
            }
            // Deeply nested, or long.
            10 if below(d, 8)? == 0 => {
                let part = out[piece(d, out.len().min(24))?].to_vec();
                let part = if below(d, 2)? == 0 { self.word(d)?.into() } else { part };
                part.repeat(1 << below(d, 15)?)
            }
            _ => self.word(d)?.into(),
        };
        out.splice(old, new);
        out.truncate(LONGEST);
        Some(())
    }
}

impl ValueGenerator for Mutants {
    type Output = Vec<u8>;

    fn generate<D: Driver>(&self, d: &mut D) -> Option<Vec<u8>> {
        if self.corpus.is_empty() || below(d, 24)? == 0 {
            return self.noise(d);
        }
        let mut out = self.corpus[below(d, self.corpus.len())?].clone();
        let most = 1 << below(d, 5)?;
        for _ in 0..=below(d, most)? {
            self.change(d, &mut out)?;
        }
        Some(out)
    }
}

/// A number in `0..n`, 0 where there is none.
fn below<D: Driver>(d: &mut D, n: usize) -> Option<usize> {
    Some(d.produce::<u32>()? as usize % n.max(1))
}

/// A piece of so many bytes, mostly short.
fn piece<D: Driver>(d: &mut D, length: usize) -> Option<std::ops::Range<usize>> {
    let from = below(d, length + 1)?;
    let most = if below(d, 4)? == 0 { length } else { 24 };
    Some(from..(from + below(d, most + 1)?).min(length))
}

/// The line around `at`, with its end.
fn line_at(bytes: &[u8], at: usize) -> std::ops::Range<usize> {
    let end = |b: &u8| *b == b'\n';
    let from = bytes[..at].iter().rposition(end).map_or(0, |p| p + 1);
    let to = bytes[at..].iter().position(end).map_or(bytes.len(), |p| at + p + 1);
    from..to
}

/// The letters and digits around `at`.
fn token_at(bytes: &[u8], at: usize) -> std::ops::Range<usize> {
    let part = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'_';
    let before = bytes[..at].iter().rev().take_while(part).count();
    let after = bytes[at..].iter().take_while(part).count();
    at - before..at + after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_follow_from_the_seed_and_differ() {
        let mutants = Mutants::new(vec![b"a,b\n1,2\n".to_vec(), b"x = 3\n".to_vec()], &["class"]);
        let made: Vec<_> = (0..200).map(|i| mutants.input(1, "t", i)).collect();
        assert!((0..200).all(|i| mutants.input(1, "t", i) == made[i as usize]));
        let distinct: std::collections::BTreeSet<_> = made.iter().collect();
        assert!(distinct.len() > 150, "{}", distinct.len());
        assert!(made.iter().all(|m| m.len() <= LONGEST));
        assert_ne!(mutants.input(2, "t", 0), mutants.input(1, "t", 0));
    }
}
