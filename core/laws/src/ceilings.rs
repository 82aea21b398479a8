//! Plugins with words and the smallest and largest legal numbers: they may only take long.

use serde_json::Value;

use super::choices::{REMEDY, broken};
use super::law::Verdict;
use mustlink_config::{Accepted, Form};
use mustlink_core::context::Context;
use mustlink_core::error::Error;
use mustlink_core::kind::{Kind, Range};
use mustlink_core::random::SeedPath;
use mustlink_core::registry::Catalogue;
use mustlink_core::roles::RoleObject;
use mustlink_core::run::guarded;

/// Seconds after which a run with such a number is ended.
const SHORT: f64 = 0.2;

/// Address space of the laws: an allocation by the number of an option does not fit.
const ADDRESS_SPACE: u64 = 16 << 30;

/// Sets the limit of address space for this process, so that what is allocated by a number fails on
/// any machine.
pub(super) fn limit_address_space() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::As);
        limit.current = Some(limit.current.map_or(ADDRESS_SPACE, |l| l.min(ADDRESS_SPACE)));
        // Without a limit the law says less, and nothing wrong.
        let _ = setrlimit(Resource::As, limit);
    }
}

/// Values of an option: all words, the smallest number, and the largest if it is a whole number.
fn ends(accepted: Accepted) -> Vec<Value> {
    let of_form = |form| match form {
        Form::Word(word) => vec![word.into()],
        Form::Value(accepted) => {
            let range = accepted.declared();
            match accepted.kind {
                Kind::Flag => vec![false.into(), true.into()],
                Kind::Whole(_) => {
                    let both = [range.min, range.max].into_iter().flatten();
                    both.map(|bound| Value::from(bound as i64)).collect()
                }
                Kind::Real => range.min.into_iter().map(Value::from).collect(),
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    };
    accepted.forms().into_iter().flat_map(of_form).collect()
}

/// Runs `p` with each word of its options, each number at its smallest and each whole number at its largest:
/// it may take too long, or say no, but neither panic nor allocate by the number.
pub(super) fn are_harmless<R: RoleObject + ?Sized, T>(
    p: &R,
    run: impl Fn(&R, &Context) -> Result<T, Error>,
) -> Verdict {
    let catalogue = Catalogue::get().map_err(|e| e.to_string())?;
    let descriptor = catalogue.find(p.tag()).ok_or("not in the catalogue")?;
    // What a program in another language promises is not in the hands of this plugin.
    let promises = |name: &str| name.starts_with("hard_");
    for option in descriptor.options().into_iter().filter(|option| !promises(option.name)) {
        let name = option.name;
        for value in ends(Accepted::from(*option)) {
            let mut config = p.to_value();
            config[name] = value.clone();
            let plugin = R::from_value(config).map_err(|e| format!("{name} = {value}: {e}"))?;
            let ctx = Context::builder(SeedPath::new(1)).time_limit(Some(SHORT)).build();
            if let Err(e) = guarded(p.tag(), || run(&plugin, &ctx))
                && let Some(broken) = broken(&e)
            {
                return Err(format!("{name} = {value}: {broken}; {REMEDY}"));
            }
        }
    }
    Ok(())
}

/// The places of the numbers that `is_open` picks, by their kind and range. Those in lists are names of objects, or
/// one choice of many: nothing is made so many times.
pub(super) fn numbers(accepted: Accepted, is_open: fn(&Kind, Range) -> bool) -> Vec<String> {
    let mut open = Vec::new();
    for form in accepted.forms() {
        if let Form::Value(value) = form
            && is_open(value.kind, value.declared())
        {
            open.push(String::new());
        }
        for option in form.options().into_iter().flat_map(|options| options.all) {
            let below = numbers(Accepted::from(option), is_open);
            open.extend(below.into_iter().map(|path| format!(".{}{path}", option.name)));
        }
    }
    open
}

/// True for a number without a smallest value.
pub(super) fn without_floor(kind: &Kind, range: Range) -> bool {
    matches!(kind, Kind::Whole(_) | Kind::Real) && range.min.or(range.above).is_none()
}

/// True for a count without a largest value.
pub(super) fn without_ceiling(kind: &Kind, range: Range) -> bool {
    matches!(kind, Kind::Whole(_)) && range.max.or(range.below).is_none()
}

#[cfg(test)]
mod tests {
    use mustlink_core::kind::Kind;
    use mustlink_core::prelude::*;
    use serde_json::json;

    use super::*;

    #[derive(Described)]
    #[allow(dead_code)] // Its table is all there is to it.
    struct Open {
        #[option(max = 3)]
        a: i64,
        b: Option<AutoOr<i64>>,
        c: Vec<i64>,
        d: f64,
        #[option(min = 0.5)]
        e: f64,
        f: Option<Either>,
    }

    #[derive(Described)]
    #[serde(untagged)]
    #[allow(dead_code)] // As well.
    enum Either {
        Flag(bool),
        Word(OnConflict),
    }

    #[test]
    fn numbers_without_a_ceiling_are_found() {
        assert_eq!(numbers(Open::KIND.into(), without_ceiling), [".b"]);
        assert_eq!(numbers(Open::KIND.into(), without_floor), [".a", ".b", ".d"]);
        let Kind::Table(table) = Open::KIND else { panic!("a struct") };
        let ends_of = |at: usize| ends(Accepted::from(table.options[at]));
        assert_eq!(
            (ends_of(0), ends_of(1), ends_of(4)),
            (vec![json!(3)], vec![json!("auto")], vec![json!(0.5)])
        );
        let all = ["error", "keep", "drop_cl", "drop_weakest"].map(Value::from);
        assert_eq!(ends_of(5), [&[json!(false), json!(true)][..], &all[..]].concat());
    }
}
