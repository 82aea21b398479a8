//! The declared ranges of the options of all plugins.
//!
//! A range is declared once, at the option. The loader checks it in a configuration and reports the
//! line; [`check`] checks the same declaration of a plugin built in Rust, before it runs. Both give
//! the same message.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::error::{Diagnostic, Error, Result};
use crate::kind::{Described, Kind, flat};
pub use crate::range::{Range, plain};

/// Values whose numbers have declared ranges: `#[options]` implements it for a struct of options and
/// for an enum that an option may be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not declare its options: `#[options]` is missing",
    note = "put `#[options]` above the struct, also if it has no fields"
)]
pub trait Options {
    /// Goes through all numbers below `path`; what is declared at the option counts before what its
    /// type declares.
    fn look(&self, _path: &str, _declared: &Range, _found: &mut Found) {}
}

/// Result of going through the options of a plugin.
#[derive(Debug, Default)]
pub struct Found {
    /// The numbers that are out of range.
    pub errors: Vec<Error>,
    /// True if the plugin or some value makes the origin of the data matter (`origin = true`).
    pub origin_matters: bool,
    /// True if the default plugins of slots are visited as well. Their numbers are in range.
    pub defaults: bool,
}

fn number(x: f64, shown: String, path: &str, declared: &Range, found: &mut Found) {
    if !x.is_finite() {
        let legal = match declared.words() {
            _ if declared.auto => format!("\"auto\" or {}", declared.number("a number")),
            words => words.unwrap_or_else(|| "a number".into()),
        };
        found.errors.push(Error::bad_param(path, "NaN or an infinity", legal));
    } else if let Some(legal) = declared.refusal(x) {
        found.errors.push(Error::bad_param(path, shown, legal));
    }
}

impl Options for f64 {
    fn look(&self, path: &str, declared: &Range, found: &mut Found) {
        number(*self, plain(*self), path, declared, found);
    }
}

macro_rules! whole_numbers {
    ($($type:ty),*) => {$(
        impl Options for $type {
            fn look(&self, path: &str, declared: &Range, found: &mut Found) {
                // A type without a sign begins at 0.
                let least = (<$type>::MIN == 0 && declared.above.is_none()).then_some(0.0);
                let declared = Range { min: declared.min.or(least), ..*declared };
                number(*self as f64, self.to_string(), path, &declared, found);
            }
        }
    )*};
}
whole_numbers!(u8, u16, u32, u64, usize, i32, i64);

impl<T: Options> Options for Option<T> {
    fn look(&self, path: &str, declared: &Range, found: &mut Found) {
        self.iter().for_each(|value| value.look(path, declared, found));
    }
}

impl<T: Options> Options for Vec<T> {
    fn look(&self, path: &str, _: &Range, found: &mut Found) {
        for (at, value) in self.iter().enumerate() {
            value.look(&format!("{path}[{at}]"), &Range::ANY, found);
        }
    }
}

impl<T: Options + ?Sized> Options for Box<T> {
    fn look(&self, path: &str, declared: &Range, found: &mut Found) {
        (**self).look(path, declared, found);
    }
}

/// A struct of options as a table: `#[options]` implements it. Reading and writing go through this one
/// kind of value, whatever the format, so that little of serde is compiled again for each plugin.
#[doc(hidden)]
pub trait Table: Sized {
    /// Takes the options out of `table`; those that are absent have their defaults.
    fn take(table: &mut Map) -> Fits<Self>;
    fn put(&self, table: &mut Map) -> Fits<()>;
}

#[doc(hidden)]
pub use serde_json::Error as Unfit;
#[doc(hidden)]
pub type Map = serde_json::Map<String, Value>;
type Fits<T> = std::result::Result<T, Unfit>;

/// The option of the first of these names, which the others are aliases of.
#[doc(hidden)]
pub fn take<T: DeserializeOwned>(table: &mut Map, names: &[&str]) -> Fits<Option<T>> {
    given(table, names)?.map(T::deserialize).transpose()
}

fn given(table: &mut Map, names: &[&str]) -> Fits<Option<Value>> {
    let mut given = names.iter().filter_map(|name| table.remove(*name)).collect::<Vec<_>>();
    if given.len() > 1 {
        return Err(Unfit::custom(format!("duplicate field `{}`", names[0])));
    }
    Ok(given.pop())
}

#[doc(hidden)]
pub fn put(table: &mut Map, name: &str, value: &impl Serialize) -> Fits<()> {
    table.insert(name.into(), serde_json::to_value(value)?);
    Ok(())
}

/// Options out of any format; one that is not known is an error.
#[doc(hidden)]
pub fn read<'de, T: Table + Described, D: Deserializer<'de>>(
    from: D,
) -> std::result::Result<T, D::Error> {
    let mut table = Map::deserialize(from)?;
    let made = T::take(&mut table).map_err(D::Error::custom)?;
    unknown(&table, T::KIND).map_or(Ok(made), |message| Err(D::Error::custom(message)))
}

/// The message about an option that is left in `table`.
fn unknown(table: &Map, kind: &Kind) -> Option<String> {
    let unknown = table.keys().next()?;
    let options = match kind {
        Kind::Table(table) => flat(table.options),
        _ => Vec::new(),
    };
    let names = options.iter().map(|option| option.name).collect::<Vec<_>>().join("`, `");
    Some(format!("unknown field `{unknown}`, accepted: `{names}`"))
}

#[doc(hidden)]
pub fn write<S: Serializer>(options: &impl Table, to: S) -> std::result::Result<S::Ok, S::Error> {
    let mut table = Map::new();
    options.put(&mut table).map_err(serde::ser::Error::custom)?;
    table.serialize(to)
}

/// The value of an option, of any type. `(&&Look(&value)).look(…)` goes through those that are
/// [`Options`] and leaves all others alone: the method of [`Ranged`] is found before that of
/// [`Unranged`], where the type has both. Only what `#[options]` writes needs this.
#[doc(hidden)]
pub struct Look<'a, T>(pub &'a T);

#[doc(hidden)]
pub trait Ranged {
    fn look(&self, path: &str, declared: &Range, found: &mut Found);
}

impl<T: Options> Ranged for &Look<'_, T> {
    fn look(&self, path: &str, declared: &Range, found: &mut Found) {
        self.0.look(path, declared, found);
    }
}

#[doc(hidden)]
pub trait Unranged {
    fn look(&self, _: &str, _: &Range, _: &mut Found) {}
}

impl<T> Unranged for Look<'_, T> {}

/// The path of an option below `path`.
#[doc(hidden)]
pub fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.into() } else { format!("{path}.{name}") }
}

/// Checks that every number of a plugin, and of the plugins it contains, lies in its declared range.
/// `#[plugin]` puts this before the required method of every role.
///
/// # Errors
/// `BadParam` for one number out of range, `Config` with all of them for more; NaN and infinities
/// are out of every range.
pub fn check(plugin: &(impl Options + ?Sized)) -> Result<()> {
    let mut found = Found::default();
    plugin.look("", &Range::ANY, &mut found);
    outcome(found.errors)
}

fn outcome(mut errors: Vec<Error>) -> Result<()> {
    if errors.len() < 2 {
        return errors.pop().map_or(Ok(()), Err);
    }
    let diagnostic = |e: Error| match e {
        Error::BadParam { name, value, legal } => {
            Diagnostic::new("", name, format!("must be {legal}, got {value}"))
        }
        _ => unreachable!("only numbers out of range are collected"),
    };
    Err(Error::Config(errors.into_iter().map(diagnostic).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With two bounds on one side there were no words for the range, and it was not checked.
    #[test]
    fn a_bound_at_the_option_replaces_that_of_its_type() {
        let declared = Range { above: Some(0.0), ..Range::ANY };
        let inner = Range { min: Some(1.0), max: Some(9.0), ..Range::ANY };
        let both = declared.over(&inner);
        assert_eq!(both.words().as_deref(), Some("above 0 and at most 9"));
        let mut found = Found::default();
        Options::look(&-1.0_f64, "width", &both, &mut found);
        assert_eq!(found.errors.len(), 1);
        assert_eq!(Range::ANY.over(&inner).words().as_deref(), Some("between 1 and 9"));
    }

    #[test]
    fn ranges_hold_what_their_words_say() {
        let both = |low, high| Range { min: low, max: high, ..Range::ANY };
        let open = |low, high| Range { above: low, below: high, ..Range::ANY };
        let (a, b) = (Some(1.0), Some(2.5));
        // Whether 0, 1, 2, 2.5 and 3 are legal.
        for (range, words, legal) in [
            (both(a, b), "between 1 and 2.5", [false, true, true, true, false]),
            (
                Range { min: a, below: b, ..Range::ANY },
                "at least 1 and below 2.5",
                [false, true, true, false, false],
            ),
            (
                Range { above: a, max: b, ..Range::ANY },
                "above 1 and at most 2.5",
                [false, false, true, true, false],
            ),
            (open(a, b), "above 1 and below 2.5", [false, false, true, false, false]),
            (both(a, None), "at least 1", [false, true, true, true, true]),
            (open(a, None), "above 1", [false, false, true, true, true]),
            (both(None, b), "at most 2.5", [true, true, true, true, false]),
            (open(None, b), "below 2.5", [true, true, true, false, false]),
        ] {
            assert_eq!(range.words().as_deref(), Some(words));
            assert_eq!([0.0, 1.0, 2.0, 2.5, 3.0].map(|x| range.holds(x)), legal, "{words}");
        }
        assert_eq!(Range::ANY.words(), None);
        // A ceiling that only keeps values computable is named to those who pass it.
        let wide = both(Some(0.0), Some(1e100));
        assert_eq!(wide.words().as_deref(), Some("at least 0"));
        assert_eq!(wide.refusal(1e200).as_deref(), Some("at most 1e+100"));
        assert_eq!([3.0, 0.5, 1e15, 1e16].map(plain), ["3", "0.5", "1000000000000000", "1e+16"]);
    }

    #[test]
    fn all_that_is_out_of_range_is_named() {
        struct Widths(Vec<f64>);
        impl Options for Widths {
            fn look(&self, path: &str, _: &Range, found: &mut Found) {
                let declared = Range { above: Some(0.0), ..Range::ANY };
                for (at, width) in self.0.iter().enumerate() {
                    let path = format!("{}[{at}]", below(path, "width"));
                    (&&Look(width)).look(&path, &declared, found);
                }
            }
        }
        let said = |widths: &[f64]| check(&Widths(widths.to_vec())).map_err(|e| e.to_string());
        assert_eq!(said(&[1.0, 2.0]), Ok(()));
        assert_eq!(said(&[1.0, 0.0]), Err("width[1]: must be above 0, got 0".into()));
        let both = said(&[-1.0, 1.0, f64::NAN]).unwrap_err();
        assert!(both.contains("width[0]: must be above 0, got -1"), "{both}");
        assert!(both.contains("width[2]: must be above 0, got NaN"), "{both}");
        // Plugins in a list are looked at with their places.
        let found = check(&vec![Widths(vec![0.0]), Widths(vec![1.0]), Widths(vec![1.0, 0.0])]);
        let both = found.unwrap_err().to_string();
        assert!(both.contains("[0].width[0]") && both.contains("[2].width[1]"), "{both}");
    }
}
