//! The message of each error.
//!
//! Place, value, what is accepted and, where one is known, the next step.

use super::{Error, bytes};
use crate::constraint::Constraint;
use crate::role::Role;
use crate::text::{count, form};
use crate::witness::{Contradictions, Infeasible};

/// Gives the name of an object.
type Naming<'a> = &'a dyn Fn(usize) -> String;

impl Error {
    /// The message, with objects named by `id`; of contradicting constraints it says where each comes from, as far as
    /// `source` knows.
    pub fn render_with_sources(
        &self,
        id: &dyn Fn(usize) -> String,
        source: &dyn Fn(&Constraint) -> String,
    ) -> String {
        match self {
            Error::InconsistentConstraints(all) => contradicting(all, id, source),
            Error::At { place, source: error } => {
                format!("{place}: {}", error.render_with_sources(id, source))
            }
            other => other.render(id),
        }
    }

    /// The message, with objects named by `id`.
    pub fn render(&self, id: &dyn Fn(usize) -> String) -> String {
        match self {
            Error::EmptyData => "data: no rows or no columns".into(),
            Error::BadK => "k: must be at least 1, got 0".into(),
            Error::TooManyClusters { k, n } => {
                format!("k: must be between 1 and {n} (the number of objects), got {k}")
            }
            Error::MissingK { plugin } => {
                format!("{plugin} needs the number of clusters; give --k or the option k")
            }
            Error::NonFinite { row, col } => format!(
                "data: row {}, column {col}: NaN or infinite; fill or drop missing values first",
                id(*row)
            ),
            Error::Magnitude { column, value } => {
                let place = column.map(|c| format!(" column {c}:")).unwrap_or_default();
                format!(
                    "data:{place} the largest value in size is {value:e}, methods accept 1e-100 to 1e100; \
                     put min_max first among the transforms"
                )
            }
            Error::Feature { feature, message } => format!("data: feature {feature}: {message}"),
            Error::Named { message, .. } => message.clone(),
            Error::MalformedCsr { row, reason } => format!("data: sparse row {row}: {reason}"),
            Error::NotSymmetric { row, col } => {
                format!(
                    "data: entry ({row}, {col}) differs from entry ({col}, {row}); distances and \
                     affinities must be symmetric"
                )
            }
            Error::IndexOutOfRange { index, n } => {
                format!(
                    "constraints: object {index} does not exist; objects are 0 to {}",
                    n.saturating_sub(1)
                )
            }
            Error::SelfCannotLink { object } => {
                format!(
                    "constraints: cannot-link of object {} with itself; it must be between two objects",
                    id(*object)
                )
            }
            Error::BadWeight { i, j, weight } => format!(
                "constraints: weight of ({}, {}) must be between 0 and 1e100, got {weight}",
                id(*i),
                id(*j)
            ),
            Error::DuplicateConstraint { i, j } => {
                format!(
                    "constraints: the pair ({}, {}) is given twice; leave one of them out",
                    id(*i),
                    id(*j)
                )
            }
            Error::HardNotSupported { plugin, role, kind, i, j } => {
                let instead = match role {
                    Role::ConsensusFunction => " or mark it soft",
                    _ => {
                        ", mark it soft, or give hard_as_soft = WEIGHT if the method has that option"
                    }
                };
                format!(
                    "constraints: the {0} ({1}, {2}) is marked hard, and {plugin} does not promise \
                     to hold a {0}; use a method that does (`mustlink list {3}`){instead}",
                    kind,
                    id(*i),
                    id(*j),
                    role.plural()
                )
            }
            Error::InconsistentConstraints(all) => contradicting(all, id, &|_| String::new()),
            Error::InfeasibleConstraints { k, witness } => infeasible(*k, witness, id),
            Error::UndecidedConstraints { k, node_limit } => format!(
                "constraints: whether {} can satisfy them is not known after node_limit = {node_limit} \
                 nodes; raise node_limit or choose a method that weighs constraints",
                count(*k, "cluster")
            ),
            Error::ClosureTooLarge { pairs, limit } => format!(
                "constraints: the closure has {pairs} pairs, more than the limit of {limit}; give \
                 entail = \"off\" if the method has it, view = \"neighbourhood\" for answers, or raise \
                 max_pairs of the propagator closure"
            ),
            Error::TooManyGroupPairs { what, pairs, limit } => format!(
                "constraints: {what} takes groups pair by pair, and {pairs} pairs are more than \
                 {limit}; use a method that takes groups whole (cop_kmeans), or smaller groups"
            ),
            Error::TooManyPropagated { pairs, limit } => format!(
                "constraints: propagation makes at least {pairs} pairs, more than \
                 max_pairs = {limit}; raise the threshold or the limit"
            ),
            Error::TooLarge { n } => {
                format!("data: {n} objects, at most {} are supported", u32::MAX - 1)
            }
            Error::BadParam { name, value, legal } => {
                format!("{name}: must be {legal}, got {value}")
            }
            Error::NumericalFailure { place } => format!("numerical failure in {place}"),
            Error::UnsupportedData { plugin, kind, accepts } => {
                let hint = if *kind == "csr" && accepts.contains("dense") {
                    "; add the transform densify, or choose a method that takes csr"
                } else if *kind == "table" {
                    "; a table has missing values or words: the transforms impute_missing and one_hot \
                     make dense data of it"
                } else {
                    ""
                };
                format!("{plugin} takes {accepts} data, got {kind}{hint}")
            }
            Error::UnsupportedWeights { plugin, others } => format!(
                "weights: {plugin} counts every object once; leave the weights out, or use a method that \
                 takes them ({})",
                others.join(", ")
            ),
            Error::Memory { needed, limit } => format!(
                "memory: about {} is needed, more than the limit {}; raise --memory-limit, or choose a \
                 method that takes less (`mustlink describe` shows what each needs)",
                bytes(*needed),
                bytes(*limit)
            ),
            Error::NotLinked { role, tag } => format!(
                "no {} \"{tag}\" is linked; add the crate that holds it (use {} as _;)",
                role.map_or("plugin", Role::name),
                role.map_or_else(|| "mustlink".into(), Role::crate_name)
            ),
            Error::Contract { plugin, broken } => {
                format!("{plugin} broke its contract: {broken}; this is a defect of the plugin")
            }
            Error::Config(diagnostics) => {
                diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
            }
            Error::Data { place, message } => format!("{place}: {message}"),
            Error::Usage(message) => message.clone(),
            Error::Oracle(message) => format!("oracle: {message}"),
            Error::Cancelled => "interrupted".into(),
            Error::TimedOut { seconds } => format!("stopped after the time limit of {seconds} s"),
            Error::Plugin { tag, message } => format!("{tag}: {message}"),
            Error::At { place, source } => format!("{place}: {}", source.render(id)),
        }
    }
}

/// Objects by their names, with something between every two.
fn list(objects: &[u32], between: &str, id: Naming<'_>) -> String {
    objects.iter().map(|&o| id(o as usize)).collect::<Vec<_>>().join(between)
}

/// The first objects by their names.
fn some(objects: &[u32], id: Naming<'_>) -> String {
    let more = if objects.len() > 20 { ", …" } else { "" };
    format!("{}{more}", list(&objects[..objects.len().min(20)], ", ", id))
}

/// The first contradictions with their chains, and how many more there are.
fn contradicting(
    Contradictions { shown, count: number }: &Contradictions,
    id: Naming<'_>,
    source: &dyn Fn(&Constraint) -> String,
) -> String {
    let of = |mut sources: Vec<String>| {
        sources.retain(|source| !source.is_empty());
        sources.dedup();
        if sources.is_empty() { String::new() } else { format!(" ({})", sources.join(", ")) }
    };
    if shown.is_empty() {
        let verb = form(*number, "contradicts", "contradict");
        return format!("constraints: {} {verb} must-links", count(*number, "cannot-link"));
    }
    let mut text = String::from("constraints: ");
    for (at, w) in shown.iter().take(Contradictions::SHOWN).enumerate() {
        if at > 0 {
            text.push_str("; ");
        }
        let group = w.group.as_ref().map(|g| format!(" of the group \"{g}\""));
        let (i, j) = (w.cannot.0 as usize, w.cannot.1 as usize);
        text.push_str(&format!(
            "cannot-link {}–{}{}{}",
            id(i),
            id(j),
            group.unwrap_or_default(),
            of(vec![source(&Constraint::cannot(i, j))])
        ));
        if w.links.is_empty() {
            text.push_str(": its rows are equal, and a transform made one object of them");
            continue;
        }
        let link = |ends: &[u32]| source(&Constraint::must(ends[0] as usize, ends[1] as usize));
        let (path, sources) = (list(&w.path, "–", id), w.path.windows(2).map(link).collect());
        text.push_str(&format!(" contradicts must-links {path}{}", of(sources)));
    }
    if *number > Contradictions::SHOWN {
        let more = number - Contradictions::SHOWN;
        text.push_str(&format!("; and {more} more"));
    }
    text
}

/// Reason why k clusters cannot satisfy the constraints.
fn infeasible(k: usize, witness: &Infeasible, id: Naming<'_>) -> String {
    let clusters = count(k, "cluster");
    match witness {
        Infeasible::Clique(objects) => format!(
            "constraints: {clusters} cannot hold {} objects that must all be apart: {}",
            objects.len(),
            list(objects, ", ", id)
        ),
        Infeasible::Group { name, members } => format!(
            "constraints: {clusters} cannot hold the {} members of the group \"{name}\", which \
             must all be apart: {}; raise k or split the group",
            members.len(),
            some(members, id)
        ),
        Infeasible::OddCycle(objects) => format!(
            "constraints: {clusters} cannot satisfy the odd cycle of cannot-links {}",
            list(objects, "–", id)
        ),
        Infeasible::Exhausted(objects) => format!(
            "constraints: {clusters} cannot hold the cannot-links among {} objects, as a \
             complete search shows: {}",
            objects.len(),
            list(objects, ", ", id)
        ),
        Infeasible::Limits { limits, objects } => match objects[..] {
            [] => format!(
                "{limits}: no clustering into {clusters} satisfies this and the constraints, as a complete search \
                 shows; relax the limit or change k"
            ),
            [object] => format!(
                "{limits}: object {} alone is larger than a cluster may be; raise max_size",
                id(object as usize)
            ),
            _ => format!(
                "{limits}: must-links join more objects than a cluster may hold: {}; raise max_size or remove a \
                 must-link",
                some(objects, id)
            ),
        },
        Infeasible::Blocked(objects) => {
            // A method that finds their number has no k.
            let among = if k == 0 { String::new() } else { format!(" among {k}") };
            let whose = if objects.is_empty() {
                "some objects that the program did not list".into()
            } else {
                list(objects, ", ", id)
            };
            format!("constraints: no admissible cluster{among} for {whose}")
        }
        Infeasible::Surrounded { unit, by } => {
            let by: Vec<String> =
                by.iter().map(|&(o, h)| format!("{} in {h}", id(o as usize))).collect();
            format!(
                "constraints: no attempt found an admissible cluster among {k} for {}, \
                 apart from {}; more restarts may",
                list(unit, ", ", id),
                by.join(", ")
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_steps_can_be_taken() {
        for (error, said) in [
            (
                Error::ClosureTooLarge { pairs: 9, limit: 3 },
                "constraints: the closure has 9 pairs, more than the limit of 3; give entail = \"off\" if the method \
                 has it, view = \"neighbourhood\" for answers, or raise max_pairs of the propagator closure",
            ),
            (
                Error::NotSymmetric { row: 1, col: 2 },
                "data: entry (1, 2) differs from entry (2, 1); distances and affinities must be symmetric",
            ),
            (
                Error::SelfCannotLink { object: 1 },
                "constraints: cannot-link of object 1 with itself; it must be between two objects",
            ),
        ] {
            assert_eq!(error.to_string(), said);
        }
    }

    #[test]
    fn contradictions_are_listed_one_after_the_other() {
        use crate::closure::{Closure, OnConflict};
        use crate::constraints::{Constraint, Constraints};
        let refused = |pairs: usize| {
            let both =
                |p| [Constraint::must(2 * p, 2 * p + 1), Constraint::cannot(2 * p, 2 * p + 1)];
            let given = Constraints::new(2 * pairs, (0..pairs).flat_map(both)).expect("pairs");
            let closure = Closure::new(&given, 2 * pairs, OnConflict::Error);
            closure.err().map(|e| e.to_string()).unwrap_or_default()
        };
        assert_eq!(
            refused(2),
            "constraints: cannot-link 0–1 contradicts must-links 0–1; cannot-link 2–3 contradicts \
             must-links 2–3"
        );
        assert!(refused(5).ends_with("cannot-link 8–9 contradicts must-links 8–9"));
        assert!(refused(7).ends_with("cannot-link 8–9 contradicts must-links 8–9; and 2 more"));
    }

    #[test]
    fn an_oracle_is_named_once() {
        let error = || Error::Oracle("sh: ended".into());
        assert_eq!(error().at("oracle").to_string(), "oracle: sh: ended");
        assert_eq!(error().at("selector").to_string(), "selector: oracle: sh: ended");
    }
}
