//! The time of many runs of spherical k-means on samples of one text collection.
//!
//! `cargo run --release -p mustlink-ensemble-generators --example many_runs -- bbc 2000 5` clusters
//! 2000 samples of four fifths of the documents (rows of unit length), each once from 5 random
//! documents, and gives the others to their nearest centres. `MUSTLINK_DATA` names the data
//! directory, `RAYON_NUM_THREADS` the number of threads.

use std::error::Error;
use std::io::Write;
use std::time::Instant;

use mustlink_base_clusterers as _;
use mustlink_core::clustering::NONE;
use mustlink_core::prelude::*;
use mustlink_core::roles::RoleObject;
use mustlink_core::{Problem, registry, run};
use mustlink_datasets::OpenOptions;
use mustlink_kernels::distance::points::{Distortion, Points};
use mustlink_kernels::kmeans::nearest::assign::assign;
use mustlink_transforms as _;
use rayon::prelude::*;
use serde_json::json;

fn member(
    kmeans: &dyn BaseClusterer,
    problem: &Problem,
    ctx: &Context,
) -> Result<(Vec<u32>, usize)> {
    let n = problem.n();
    let mut rows = ctx.stream("sample").sample(n, n * 4 / 5);
    rows.sort_unstable();
    let mut inside = vec![false; n];
    rows.iter().for_each(|&i| inside[i] = true);
    let rest: Vec<usize> = (0..n).filter(|&i| !inside[i]).collect();
    let found = run::cluster(kmeans, &problem.subset(&rows), ctx)?.clustering;
    let centres = found.extras.centers.expect("k-means gives centres");
    let points = Points::new(&problem.data.subset(&rest), Distortion::Cosine)?;
    let mut others = vec![NONE; rest.len()];
    assign(&points, &centres, &mut others, None);
    let mut labels = vec![NONE; n];
    rows.iter().zip(found.labels).for_each(|(&i, l)| labels[i] = l);
    rest.iter().zip(others).for_each(|(&i, l)| labels[i] = l);
    Ok((labels, found.history.len()))
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(name), Some(members), Some(k)) = (words.next(), words.next(), words.next()) else {
        return Err("expected DATA MEMBERS K".into());
    };
    let (members, k): (usize, usize) = (members.parse()?, k.parse()?);
    let data = mustlink_datasets::open(&name, &OpenOptions::from_env())?.data;
    let unit = [registry::build_default::<dyn Transform>("l2_rows")?];
    let ctx = Context::new(1);
    let problem = run::transform(&unit, &Problem::new(data).with_k(k), &ctx)?.problem;
    let options =
        json!({ "type": "kmeans", "distortion": "cosine", "init": "random", "restarts": 1 });
    let kmeans = <dyn BaseClusterer as RoleObject>::from_value(options)?;
    let begun = Instant::now();
    let all: Vec<(Vec<u32>, usize)> = (0..members)
        .into_par_iter()
        .map(|t| member(&*kmeans, &problem, &ctx.index(t)))
        .collect::<Result<_>>()?;
    let seconds = begun.elapsed().as_secs_f64();
    let sweeps: usize = all.iter().map(|(_, sweeps)| sweeps).sum();
    writeln!(
        std::io::stdout(),
        "{members} members in {seconds:.1} s on {} threads: {:.2} ms each, {:.1} sweeps each",
        rayon::current_num_threads(),
        1e3 * seconds / members as f64,
        sweeps as f64 / members as f64,
    )?;
    Ok(())
}
