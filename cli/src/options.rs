//! Options that several verbs share.

use std::num::IntErrorKind;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, ValueEnum};
use mustlink::Error;
use mustlink_datasets::OpenOptions;
use mustlink_experiments::{Format as FigureFormat, Source, thread_pool};

/// In which formats figures are written.
#[derive(Debug, clap::Args)]
pub(crate) struct PlotFormats {
    /// Formats of figures in addition to SVG: png, pdf
    ///
    /// For programs that were built with the feature figures.
    #[arg(
        long = "plot-format",
        value_name = "FORMATS",
        value_delimiter = ',',
        requires = "plot",
        value_parser = PossibleValuesParser::new(["svg", "png", "pdf"]).try_map(|f| figure_format(&f))
    )]
    pub plot_formats: Vec<FigureFormat>,
}

fn figure_format(word: &str) -> Result<FigureFormat, Error> {
    let format = match word {
        "png" => FigureFormat::Png,
        "pdf" => FigureFormat::Pdf,
        _ => FigureFormat::Svg,
    };
    mustlink_report::check_formats(&[format]).map(|()| format)
}

/// The places of named data sets.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct DataDir {
    /// Directory of named data sets (repeatable)
    ///
    /// The default is the environment variable MUSTLINK_DATA, a list like PATH.
    #[arg(long, value_name = "DIR")]
    pub data_dir: Vec<PathBuf>,
}

impl DataDir {
    pub fn open_options(&self) -> OpenOptions {
        let mut options = OpenOptions::from_env();
        if !self.data_dir.is_empty() {
            options.data_dirs = self.data_dir.clone();
        }
        options
    }

    pub fn source(&self) -> Source {
        Source { data_dirs: self.data_dir.clone(), ..Source::default() }
    }
}

/// For listings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listing {
    Table,
    Json,
}

/// For results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

/// Reads `4GiB`, `500MB`, `1073741824`.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("must be a size such as 4GiB, 500MB or 1073741824, got {text}");
    let text_trimmed = text.trim();
    let end = text_trimmed.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = text_trimmed.split_at(end.unwrap_or(text_trimmed.len()));
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1000,
        "m" | "mb" => 1000_u64.pow(2),
        "g" | "gb" => 1000_u64.pow(3),
        "t" | "tb" => 1000_u64.pow(4),
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        "tib" => 1 << 40,
        _ => return Err(wrong()),
    };
    let value = number.parse::<f64>().map_err(|_| wrong())? * factor as f64;
    // Below 2^63 the conversion is exact enough for a limit, and never saturates.
    if (1.0..9.0e18).contains(&value) { Ok(value as u64) } else { Err(wrong()) }
}

/// Runs `work` in a pool of so many threads; absent: one per core.
pub(crate) fn in_pool<T: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> T + Send,
) -> mustlink::Result<T> {
    Ok(thread_pool(threads)?.install(work))
}

/// Reads a number that counts something. The message lists the legal values, for numbers with a sign too.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    text.parse::<usize>().map_err(|e| match e.kind() {
        IntErrorKind::PosOverflow => {
            format!("is too large: must be at most {}, got {text}", usize::MAX)
        }
        _ => format!("must be a whole number of at least 0, got {text}"),
    })
}

/// An error about a parameter that one of these options gives, by the name of the option.
pub(crate) fn as_given(error: Error, options: &[&str]) -> Error {
    match error {
        Error::BadParam { name, value, legal } if options.contains(&&*name) => {
            Error::BadParam { name: format!("--{name}"), value, legal }
        }
        other => other,
    }
}

/// Reads a seed.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("must be a whole number between 0 and {}, got {text}", u64::MAX))
}

/// Reads a number of threads.
pub(crate) fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads @ 1..=4096) => Ok(threads),
        _ => Err(format!("must be between 1 and 4096, got {text}")),
    }
}

/// A number of seconds.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(s) if s > 0.0 && s < 1e9 => Ok(s),
        _ => Err(format!("must be a number of seconds above 0, got {text}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(bytes("4GiB"), Ok(4 << 30));
        assert_eq!(bytes("1.5 kB"), Ok(1500));
        assert_eq!(bytes("7"), Ok(7));
        for wrong in ["", "GiB", "4 X", "-1", "0", "1e40", "1.2.3", "99999999TiB"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn counts_that_are_too_large_are_not_called_negative() {
        assert_eq!(count("0"), Ok(0));
        let large = count("99999999999999999999").unwrap_err();
        assert!(large.starts_with("is too large: must be at most 18446744073709551615"), "{large}");
        for wrong in ["-1", "-99999999999999999999", "1.5", ""] {
            assert!(
                count(wrong).unwrap_err().starts_with("must be a whole number of at least 0"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn thread_counts() {
        assert_eq!(threads("2"), Ok(2));
        assert!(threads("0").is_err() && threads("x").is_err());
    }
}
