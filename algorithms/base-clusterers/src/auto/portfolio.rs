//! The portfolio: the candidates that `auto` tries.

use mustlink_core::prelude::*;
use mustlink_core::roles::cost_of_steps;
use serde_json::json;

/// A way to cluster: optional transforms, then a clusterer.
#[options]
pub struct Candidate {
    /// Transforms applied to the data first, in order. They must not drop or merge rows.
    pub transforms: Vec<Box<dyn Transform>>,
    /// Clusterer that groups the objects.
    #[option(slot = "kmeans")]
    pub clusterer: Option<Box<dyn BaseClusterer>>,
}

impl Candidate {
    /// Its plugins in order.
    fn plugins(&self) -> Vec<(&'static str, Value)> {
        let transforms = self.transforms.iter().map(|t| (t.typetag_name(), t.to_value()));
        let clusterer = self.clusterer.as_ref().map(|c| (c.typetag_name(), c.to_value()));
        transforms.chain([clusterer.unwrap_or(("kmeans", Value::Null))]).collect()
    }

    /// True if constraints change what it does.
    pub fn reads_constraints(&self) -> bool {
        let clusterer = self.clusterer.as_ref().is_some_and(|c| c.properties().reads_constraints);
        clusterer || self.transforms.iter().any(|t| t.properties().reads_constraints)
    }

    /// Operations of all its runs on data of this shape, roughly.
    pub fn operations(&self, shape: &Shape) -> f64 {
        let steps = cost_of_steps(&self.transforms, shape);
        // Twenty sweeps from each of ten starts if nothing else is declared, and some of the starts.
        let sweeps = 320.0 * steps.result.sweep(shape.k);
        let clusterer = self.clusterer.as_ref().and_then(|c| c.operations(&steps.result));
        // Most of those that read constraints go no further than two folds.
        let runs = if self.reads_constraints() { 3.0 } else { 1.0 };
        (clusterer.unwrap_or(sweeps) + steps.operations) * runs
    }

    /// True if it finds the number of clusters itself.
    pub fn finds_k(&self) -> bool {
        self.clusterer.as_ref().is_some_and(|c| !c.properties().needs_k)
    }

    fn new(transforms: &[Value], clusterer: Value) -> std::result::Result<Self, String> {
        let transforms: std::result::Result<Vec<_>, String> = transforms
            .iter()
            .map(|t| <dyn Transform as RoleObject>::from_value(t.clone()))
            .collect();
        let clusterer = <dyn BaseClusterer as RoleObject>::from_value(clusterer)?;
        Ok(Candidate { transforms: transforms?, clusterer: Some(clusterer) })
    }
}

/// The plugins of each candidate in order, with the options in which those of the same plugins differ.
pub fn names(candidates: &[Candidate]) -> Vec<String> {
    let all: Vec<Vec<(&str, Value)>> = candidates.iter().map(Candidate::plugins).collect();
    let same =
        |a: &[(&str, Value)], b: &[(&str, Value)]| a.iter().map(|p| p.0).eq(b.iter().map(|p| p.0));
    let name = |own: &Vec<(&str, Value)>| {
        let alike: Vec<_> = all.iter().filter(|other| same(own, other)).collect();
        let part = |(at, (tag, config)): (usize, &(&str, Value))| {
            let options = config.as_object().into_iter().flatten();
            let differ = |(key, value): &(&String, &Value)| {
                let of =
                    |other: &&Vec<(&str, Value)>| other[at].1.get(key.as_str()) != Some(*value);
                alike.iter().any(of)
            };
            let shown: Vec<String> =
                options.filter(differ).map(|(key, value)| format!("{key} = {value}")).collect();
            match shown[..] {
                [] => tag.to_string(),
                _ => format!("{tag} ({})", shown.join(", ")),
            }
        };
        own.iter().enumerate().map(part).collect::<Vec<_>>().join(" + ")
    };
    all.iter().map(name).collect()
}

fn plugin(tag: &str) -> Value {
    json!({ "type": tag })
}

/// Data that a portfolio is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum For {
    /// Dense data of up to [`MOST`] features.
    Dense,
    /// Dense data of more features, clustered by principal components.
    Wide,
    /// Term vectors, compared by angles.
    Sparse,
}

/// Features above which dense data are clustered by principal components.
const MOST: usize = 100;
/// Number of these components.
const COMPONENTS: usize = 50;

impl For {
    /// Dense data of `d` features.
    pub fn dense(d: usize) -> Self {
        if d > MOST { For::Wide } else { For::Dense }
    }

    fn methods(self) -> Vec<(Vec<Value>, Value)> {
        match self {
            For::Dense => of_dense(),
            For::Wide => of_wide(),
            For::Sparse => of_sparse(),
        }
    }
}

/// Candidates that are tried if none are given.
///
/// # Errors
/// `Plugin` for a plugin that is not linked.
pub fn portfolio(data: For) -> Result<Vec<Candidate>> {
    let candidate = |(transforms, clusterer): (Vec<Value>, Value)| {
        let tag = clusterer["type"].as_str().unwrap_or_default().to_string();
        Candidate::new(&transforms, clusterer).map_err(|message| Error::Plugin { tag, message })
    };
    data.methods().into_iter().map(candidate).collect()
}

/// The portfolios as they are written in a file, by the data that they are for.
pub fn written_out() -> Value {
    let list = |data: For| -> Value {
        let written = |(transforms, clusterer): (Vec<Value>, Value)| match transforms[..] {
            [] => json!({ "clusterer": clusterer }),
            _ => json!({ "transforms": transforms, "clusterer": clusterer }),
        };
        data.methods().into_iter().map(written).collect()
    };
    json!({
        "dense data": list(For::Dense),
        "dense data of more than 100 features": list(For::Wide),
        "sparse data": list(For::Sparse),
    })
}

/// The candidates with which the laws try `auto`: three fast ones.
pub fn of_laws() -> Value {
    let candidate = |tag: &str| json!({ "clusterer": plugin(tag) });
    ["kmeans", "pck_means", "cop_kmeans"].map(candidate).into()
}

/// The consensus function that combines candidates, as part of a file.
pub fn own_consensus() -> Value {
    json!({ "": plugin("evidence_accumulation") })
}

/// The methods for dense data after the scaling, on principal components. Methods that take the components themselves
/// are the same as others then.
fn of_wide() -> Vec<(Vec<Value>, Value)> {
    let own = |step: &Value| step["type"] == "pca";
    let few = of_dense().into_iter().filter(|(steps, _)| !steps.iter().any(own));
    let reduced = few.map(|(mut steps, clusterer)| {
        let scaling = |step: &Value| ["z_score", "min_max"].iter().any(|tag| step["type"] == *tag);
        let at = steps.iter().take_while(|step| scaling(step)).count();
        steps.insert(at, json!({ "type": "pca", "max_components": COMPONENTS }));
        (steps, clusterer)
    });
    reduced.collect()
}

fn of_dense() -> Vec<(Vec<Value>, Value)> {
    let raw = || vec![];
    let z = || vec![plugin("z_score")];
    let learned = |metric: &str| vec![plugin("z_score"), plugin(metric)];
    let hierarchical = |linkage: &str| json!({ "type": "hierarchical", "linkage": linkage });
    let cosc = json!({
        "type": "cosc", "outer_runs": 1, "perturb": false, "gamma": 1.0, "inner_max": 50,
        "on_conflict": "drop_weakest",
    });
    let steps = |tags: &[&str]| tags.iter().map(|tag| plugin(tag)).collect::<Vec<_>>();
    let em = |covariance: &str| json!({ "type": "constrained_em", "covariance": covariance });
    vec![
        // Those that read no constraints.
        (raw(), plugin("kmeans")),
        (z(), plugin("kmeans")),
        (steps(&["min_max"]), plugin("kmeans")),
        (steps(&["z_score", "l2_rows"]), plugin("kmeans")),
        (z(), plugin("gaussian_mixture")),
        (steps(&["z_score", "pca"]), plugin("gaussian_mixture")),
        (raw(), hierarchical("ward")),
        (z(), hierarchical("ward")),
        (steps(&["z_score", "l2_rows"]), hierarchical("ward")),
        (raw(), hierarchical("average")),
        (z(), hierarchical("average")),
        (z(), hierarchical("complete")),
        (z(), plugin("lac")),
        // Those that do.
        (raw(), plugin("pck_means")),
        (z(), plugin("pck_means")),
        (raw(), plugin("mpck_means")),
        (z(), plugin("mpck_means")),
        (z(), json!({ "type": "mpck_means", "metric": "single_full" })),
        (learned("itml"), plugin("kmeans")),
        (learned("itml"), plugin("pck_means")),
        (steps(&["itml"]), plugin("pck_means")),
        (learned("itml"), plugin("cop_kmeans")),
        (learned("itml"), hierarchical("ward")),
        (learned("rca"), plugin("kmeans")),
        (learned("rca"), plugin("pck_means")),
        (z(), em("full")),
        (z(), em("tied")),
        (z(), em("diag")),
        (raw(), em("diag")),
        (steps(&["z_score", "pca"]), em("full")),
        (raw(), cosc.clone()),
        (z(), cosc.clone()),
        (learned("itml"), cosc.clone()),
        (steps(&["z_score", "l2_rows"]), cosc),
        (z(), plugin("cop_kmeans")),
        (z(), plugin("clac")),
        (z(), plugin("constrained_complete_link")),
        (learned("itml"), plugin("constrained_complete_link")),
    ]
}

fn of_sparse() -> Vec<(Vec<Value>, Value)> {
    let raw = || vec![];
    let weighed = || vec![plugin("tf_idf"), plugin("l2_rows")];
    let cosine = |tag: &str| json!({ "type": tag, "distortion": "cosine" });
    let lsi = |more: &[&str]| {
        let mut steps = vec![plugin("tf_idf"), plugin("l2_rows"), plugin("lsi")];
        steps.extend(more.iter().map(|tag| plugin(tag)));
        steps
    };
    vec![
        (raw(), cosine("kmeans")),
        (weighed(), cosine("kmeans")),
        (lsi(&[]), plugin("kmeans")),
        (lsi(&["l2_rows"]), plugin("kmeans")),
        (lsi(&["l2_rows"]), plugin("gaussian_mixture")),
        (raw(), cosine("pck_means")),
        (weighed(), cosine("pck_means")),
        (lsi(&["l2_rows"]), plugin("pck_means")),
        (lsi(&["l2_rows"]), plugin("mpck_means")),
        (lsi(&["l2_rows", "itml"]), plugin("pck_means")),
        (
            weighed(),
            json!({
                "type": "cosc", "distortion": "cosine", "outer_runs": 1, "perturb": false, "gamma": 1.0,
                "inner_max": 50, "on_conflict": "drop_weakest",
            }),
        ),
    ]
}
