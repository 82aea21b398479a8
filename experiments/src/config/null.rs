//! What would an experiment claim if its methods were nothing special?

use serde_json::{Value, json};

use super::experiment::Experiment;
use super::file::Points;

/// Curve points where a file takes them from another method's run.
const POINTS: [usize; 3] = [0, 50, 100];

impl Experiment {
    /// The same experiment with k-means in place of every method, and random pairs in place of what it
    /// asks. Whatever claim holds here too says nothing about the methods it names.
    ///
    /// k-means keeps the distance of the clusterer it stands for. Points that come from another
    /// method's run become 0, 50, 100.
    pub fn null(&self) -> Experiment {
        let mut null = self.clone();
        null.head.name = format!("{}-null", self.head.name);
        for method in &mut null.methods {
            plain(&mut method.config);
        }
        let list = null.methods.iter().map(|m| m.config.clone()).collect();
        null.resolved["method"] = Value::Array(list);
        null.resolved["experiment"]["name"] = json!(null.head.name);
        if let Points::FromRun(_) = null.points {
            null.points = Points::List(POINTS.to_vec());
            null.resolved["curve"] = json!({ "points": POINTS });
        }
        null
    }

    /// The names of the criteria that speak about a method, and not of the data alone.
    pub fn about_methods(&self) -> Vec<&str> {
        let names =
            |text: &String| self.methods.iter().any(|m| text.contains(&format!("'{}'", m.id)));
        let criteria = self.criteria.iter();
        let about = criteria.filter(|c| c.check.iter().chain(&c.value).any(names));
        about.map(|c| c.id.as_str()).collect()
    }
}

/// A method as k-means on random pairs.
fn plain(method: &mut Value) {
    let Some(map) = method.as_object_mut() else { return };
    let distortion = map.get("clusterer").and_then(|c| c.get("distortion")).cloned();
    let mut kmeans = json!({ "type": "kmeans" });
    if let Some(distortion) = distortion {
        kmeans["distortion"] = distortion;
    }
    map.insert("clusterer".into(), kmeans);
    if map.get("selector").is_some_and(|s| !s.is_null()) {
        map.insert("selector".into(), json!({ "type": "random_pairs" }));
    }
    if map.get("k").is_none_or(|k| k == "unknown") {
        map.insert("k".into(), json!("classes"));
    }
}
