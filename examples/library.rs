//! A study in a page: read a file, ask about twenty pairs, cluster with the answers, score.
//!
//! `cargo run --release --example library`

#![allow(clippy::print_stdout)]

use mustlink::datasets::{OpenOptions, open};
use mustlink::plugins::base_clusterers::pck_means::PckMeans;
use mustlink::plugins::metrics::ari::Ari;
use mustlink::plugins::query_selectors::explore_consolidate::ExploreConsolidate;
use mustlink::prelude::*;
use mustlink::selection::{self, ConstraintView};
use mustlink::{registry, run};

fn main() -> Result<()> {
    // A name of a built-in set, or the path of a CSV.
    let set = open("iris", &OpenOptions::default())?;
    let problem = Problem::new(set.data.clone()).with_k(3);
    let ctx = Context::new(7);

    // The classes of the file answer here; a person could answer as well.
    let oracle = registry::build_default::<dyn Oracle>("truth")?;
    let mut answers = oracle.open(&set.scene(ctx.clone()))?;
    let selector = ExploreConsolidate::default();
    let asked = selection::run(&selector, &problem, &mut *answers, Some(20), &[], None, &ctx)?;
    let known = asked.at(asked.asked(), ConstraintView::Neighbourhood)?;

    let method = PckMeans { weight: AutoOr::Auto, ..PckMeans::default() };
    let truth = set.classes.as_ref().map(|classes| &*classes.labels);
    for (name, constraints) in [("without", Constraints::default()), ("with", known)] {
        let problem = problem.clone().with_constraints(constraints);
        let found = run::cluster(&method, &problem, &ctx)?;
        let labels = &found.clustering.labels;
        let ari = Ari::default().score(&MetricInput { labels, truth, ..MetricInput::default() })?;
        let ari = ari.expect("classes are known");
        println!("{name} the answers: {} broken, ARI {ari:.3}", found.violations.total());
    }
    Ok(())
}
