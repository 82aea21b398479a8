//! Every law of every plugin in the program, ready to run.

use std::sync::Arc;

use mustlink_core::registry::{Catalogue, Descriptor, Role};
use mustlink_core::roles::{
    BaseClusterer, ConsensusFunction, ConstraintPropagator, EnsembleGenerator, Metric, Oracle,
    QuerySelector, Transform,
};

use super::law::{Lawful, Verdict, as_tried, beside_others, laws_for};
use super::shrink::{Small, shrink};
use super::{any, watchdog};

/// One law for one plugin, ready to run.
pub struct Case {
    /// `role/plugin/law`.
    pub name: String,
    /// File and line of the plugin.
    pub place: String,
    /// Reason why the plugin is excused from the law.
    pub waiver: Option<&'static str>,
    run: Box<dyn Fn() -> Verdict + Send + Sync>,
    /// The smallest problem on which the law is broken.
    small: Box<dyn Fn() -> Option<Small> + Send + Sync>,
}

impl Case {
    /// Runs the check.
    ///
    /// # Errors
    /// Describes the broken law.
    pub fn run(&self) -> Verdict {
        (self.run)()
    }

    /// As [`Case::run`]; what is broken is shown on the smallest problem found.
    ///
    /// # Errors
    /// Describes the broken law, with the problem if the law has one.
    pub fn run_and_show(&self) -> Verdict {
        self.run().map_err(|complaint| match (self.small)() {
            Some(small) if small.problem.is_some() => small.to_string(),
            _ => complaint,
        })
    }
}

fn cases_of<R: Lawful + ?Sized>(descriptor: &'static Descriptor, out: &mut Vec<Case>)
where
    Box<R>: Clone,
{
    let prefix = format!("{}/{}", descriptor.role.plural(), descriptor.tag);
    let place = format!("{}:{}", descriptor.file, descriptor.line);
    for (name, check) in any::laws::<R>() {
        let excused = name != any::WAIVERS;
        out.push(Case {
            name: format!("{prefix}/{name}"),
            place: place.clone(),
            waiver: waiver(descriptor, name).filter(|_| excused),
            run: Box::new(move || {
                let check = || beside_others(|| check(descriptor));
                if excused { waived(descriptor, name, check) } else { check() }
            }),
            small: Box::new(|| None),
        });
    }
    let Ok(plugin) = R::from_value(as_tried(descriptor)) else { return };
    for law in laws_for(&*plugin) {
        let (law, plugin) = (Arc::new(law), plugin.clone());
        let (again, copy) = (law.clone(), plugin.clone());
        out.push(Case {
            name: format!("{prefix}/{}", law.name),
            place: place.clone(),
            waiver: waiver(descriptor, law.name),
            run: Box::new(move || waived(descriptor, law.name, || law.try_on(&*plugin))),
            small: Box::new(move || shrink(&again, &*copy)),
        });
    }
}

/// Reason why the plugin is excused from a law, if it is.
fn waiver(descriptor: &Descriptor, law: &str) -> Option<&'static str> {
    descriptor.waivers.iter().find(|(name, _)| *name == law).map(|(_, reason)| *reason)
}

fn waived(descriptor: &Descriptor, law: &str, check: impl FnOnce() -> Verdict) -> Verdict {
    match (waiver(descriptor, law), check()) {
        (None, verdict) => verdict,
        (Some(reason), _) if reason.trim().is_empty() => {
            Err(format!("waiver of {law} gives no reason"))
        }
        (Some(_), Err(complaint)) if complaint.contains("panicked: ") => {
            Err(format!("{complaint}; a waiver does not excuse a panic"))
        }
        (Some(_), Err(_)) => Ok(()),
        (Some(reason), Ok(())) => {
            Err(format!("the waiver of {law} (\"{reason}\") is no longer needed; remove it"))
        }
    }
}

/// Every law of every plugin linked into this program, in order.
pub fn cases() -> Vec<Case> {
    cases_for(|_| true)
}

/// The laws of the plugins that `wanted` picks.
pub fn cases_for(wanted: impl Fn(&Descriptor) -> bool) -> Vec<Case> {
    let catalogue = Catalogue::get().unwrap_or_else(|e| panic!("{e}"));
    let mut out = Vec::new();
    for d in catalogue.all().iter().copied().filter(|d| wanted(d)) {
        let name = format!("{}/{}, to find out which laws apply,", d.role.plural(), d.tag);
        watchdog::watched(&name, &format!("{}:{}", d.file, d.line), || match d.role {
            Role::BaseClusterer => cases_of::<dyn BaseClusterer>(d, &mut out),
            Role::EnsembleGenerator => cases_of::<dyn EnsembleGenerator>(d, &mut out),
            Role::ConsensusFunction => cases_of::<dyn ConsensusFunction>(d, &mut out),
            Role::ConstraintPropagator => cases_of::<dyn ConstraintPropagator>(d, &mut out),
            Role::QuerySelector => cases_of::<dyn QuerySelector>(d, &mut out),
            Role::Oracle => cases_of::<dyn Oracle>(d, &mut out),
            Role::Metric => cases_of::<dyn Metric>(d, &mut out),
            Role::Transform => cases_of::<dyn Transform>(d, &mut out),
        });
    }
    out
}
