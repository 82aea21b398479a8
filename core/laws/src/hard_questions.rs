//! The laws of [`QuerySelector`] on options, other kinds of data and problems that are not easy.

use super::asking::{
    Replies, begin, check_pairs, drive, drive_on, nearest_of_three, some_eligible, text,
};
use super::law::{Law, Runs, Verdict};
use super::{choices, fixtures, hard, looks, memory, numbers};
use mustlink_core::clustering::{Clustering, NONE};
use mustlink_core::constraints::{Constraints, Kind};
use mustlink_core::context::Context;
use mustlink_core::data::{Data, DataKind};
use mustlink_core::error::Error;
use mustlink_core::kind;
use mustlink_core::problem::Problem;
use mustlink_core::registry::{Catalogue, Descriptor, Role};
use mustlink_core::roles::{Event, QuerySelector, RoleObject};
use mustlink_core::selection;
use mustlink_core::union_find::UnionFind;

type Plugin = dyn QuerySelector;

pub(super) fn laws() -> Vec<Law<Plugin>> {
    let mut laws = vec![
        Law::always("looks_every_sweep", |s| {
            let (problem, truth) = some_eligible(1);
            looks::grow_with_the_work(s, |s, ctx| asked(s, &problem, &truth, ctx))
        }),
        Law::always(choices::LAW, options_count),
        Law::always("other_kinds_are_refused", other_kinds_are_refused),
        Law::always("hard_problems_are_asked_about", hard_problems),
        Law::always("memory_covers_the_objects", |s| {
            // An inquiry knows each object by a number at least.
            let (problem, _) = hard::unstructured(1);
            let least = 4 * problem.n() as u64;
            hard::memory_covers(&problem, |shape| s.memory(shape), least)
        }),
    ];
    laws.push(memory::law(memory::of_selector));
    laws.extend(numbers::laws(|_| true));
    laws
}

impl Runs for Plugin {
    type Made = ();

    fn run_small(&self, ctx: &Context) -> Result<(), Error> {
        begin(self, &some_eligible(1).0, ctx).map(drop)
    }
}

/// The selector with an ensemble of few members where it would make one of a hundred by default: on many
/// problems, these would be most of the work.
pub(super) fn with_few_members(s: &Plugin) -> Result<Box<Plugin>, String> {
    let catalogue = Catalogue::get().map_err(text)?;
    let descriptor = catalogue.find(s.tag()).ok_or("not in the catalogue")?;
    let mut options = RoleObject::to_value(s);
    for option in descriptor.options() {
        let (name, kind) = (option.name, option.kind);
        let slot = matches!(kind, kind::Kind::Maybe(kind::Kind::Slot(Role::EnsembleGenerator)));
        if !slot || options.get(name).is_some_and(|value| !value.is_null()) {
            continue;
        }
        let tag = option.slot.unwrap_or("random_init");
        let mut few = catalogue.find(tag).map(Descriptor::default_config).unwrap_or_default();
        if few.get("members").is_some() {
            few["members"] = 6.into();
            options[name] = few;
        }
    }
    <Plugin as RoleObject>::from_value(options)
}

/// All events in 40 queries, and the clusterings of the selector on the way.
type Asked = (Vec<Event>, Vec<(usize, Clustering)>);

fn asked(s: &Plugin, problem: &Problem, truth: &Replies, ctx: &Context) -> Result<Asked, Error> {
    fixtures::tried(problem);
    let provide = |_: &Constraints, _: u64| Ok(nearest_of_three(problem));
    let (oracle, points) = (&mut truth.clone(), [5, 40]);
    let made = selection::run(s, problem, oracle, Some(40), &points, Some(&provide), ctx)?;
    Ok((made.events, made.snapshots))
}

fn options_count(s: &Plugin) -> Verdict {
    let (noise, classes) = hard::noise(60, 4, 4, 1);
    let (few, few_classes) = hard::noise(14, 2, 2, 2);
    // Some are not known, some pairs are given, and objects are as far from each other as others.
    let (grid, mut doubted) = hard::grid(3);
    let given = Problem { constraints: grid.constraints.clone(), ..grid.clone() };
    let free = Problem { constraints: Default::default(), ..grid };
    let known = Replies(Some(doubted.clone()));
    doubted.iter_mut().step_by(4).for_each(|class| *class = NONE);
    let worlds = [
        some_eligible(1),
        (noise, Replies(Some(classes))),
        (few, Replies(Some(few_classes))),
        (some_eligible(3).0, Replies(None)),
        (given, known),
        (free, Replies(Some(doubted))),
    ];
    choices::each_changes_something(s, worlds.len(), |s, world, ctx| {
        let (problem, truth) = &worlds[world];
        asked(s, problem, truth, ctx)
    })
}

/// Data of other kinds are refused as such, or asked about like any.
fn other_kinds_are_refused(s: &Plugin) -> Verdict {
    let (dense, classes) = fixtures::dense(1);
    let x = dense.data.to_dense();
    let words = vec![None; x.ncols()];
    let table = Data::table(x, words).map_err(text)?;
    let others = [
        Problem { data: table, ..dense.clone() },
        fixtures::sparse(1).0,
        fixtures::pairwise(&dense, DataKind::Distances),
        fixtures::pairwise(&dense, DataKind::Affinity),
    ];
    let truth = Replies(Some(classes));
    for other in others {
        let kind = other.data.kind().name();
        let made = mustlink_core::run::guarded(s.typetag_name(), || {
            asked(s, &other, &truth, &fixtures::context(1))
        });
        match made {
            Err(e) if matches!(e.root(), Error::UnsupportedData { .. }) => {}
            Err(e) => return Err(format!("{kind} data: {}", hard::said(&e))),
            Ok(_) => check_pairs(&other, &drive(s, &other, &truth, 1, 40)?)
                .map_err(|e| format!("{kind} data: {e}"))?,
        }
    }
    Ok(())
}

/// Replies that agree with the constraints of a problem: objects are alike if must-links join them.
fn consistent(problem: &Problem) -> Replies {
    let mut groups = UnionFind::new(problem.n());
    for c in problem.constraints.pairs().iter().filter(|c| c.kind == Kind::MustLink) {
        groups.union(c.i, c.j);
    }
    Replies(Some((0..problem.n() as u32).map(|i| groups.find(i)).collect()))
}

/// Problems that are legal and not easy are asked about, as far as there is something to ask, or
/// an option is named that does not fit them.
fn hard_problems(s: &Plugin) -> Verdict {
    let small = with_few_members(s)?;
    for (name, problem) in hard::hard(1) {
        let inquiry = match begin(&*small, &problem, &fixtures::context(1)) {
            // An option that the problem is too small for is named.
            Err(Error::BadParam { .. }) => continue,
            result => result.map_err(|e| format!("{name}: {}", hard::said(&e)))?,
        };
        let log = drive_on(inquiry, &problem, &consistent(&problem), 25);
        check_pairs(&problem, &log.map_err(|e| format!("{name}: {e}"))?)
            .map_err(|e| format!("{name}: {e}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_agree_with_the_constraints() {
        for (name, problem) in hard::hard(3) {
            let Replies(Some(classes)) = consistent(&problem) else { panic!("there are classes") };
            let broken = problem.constraints.pairs().iter().find(|c| c.is_violated(&classes));
            assert_eq!(broken, None, "{name}");
        }
    }
}
