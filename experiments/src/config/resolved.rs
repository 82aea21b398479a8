//! Methods and data sets of an experiment: with `k` still open, and built for one data set.

use std::collections::BTreeMap;

use mustlink::config;
use mustlink::method::Method;
use mustlink::roles::Transform;
use mustlink::tree::{plugin, visit_tables};
use serde::Deserialize;
use serde_json::Value;

/// One method, checked, with every default written out.
///
/// `k = "classes"` may stand anywhere in it, so its plugins cannot be built before a data set is
/// open: what is built is a [`ResolvedMethod`].
#[derive(Debug, Clone)]
pub struct MethodSpec {
    /// Its name.
    pub id: String,
    /// Its sections as plain values; `k` may still be `"classes"` or `"unknown"`.
    pub config: Value,
}

/// A method as it runs on one data set.
#[derive(Debug, Clone)]
pub(crate) struct ResolvedMethod {
    /// Its name.
    pub id: String,
    /// Its plugins.
    pub method: Method,
    /// Number of clusters; absent where it is not given.
    pub k: Option<usize>,
    /// Its sections, `k` among them, as plain values without the name: what results depend on.
    pub config: Value,
}

impl MethodSpec {
    /// The method on data of `classes` classes.
    ///
    /// # Errors
    /// The message of the deserialiser.
    pub(crate) fn resolve(&self, classes: Option<usize>) -> Result<ResolvedMethod, String> {
        let mut config = self.config.clone();
        config::substitute_k(&mut config, classes);
        let mut sections = config.clone();
        for (value, keys) in [(&mut config, &["id"][..]), (&mut sections, &["id", "k"])] {
            if let Some(map) = value.as_object_mut() {
                keys.iter().for_each(|key| drop(map.remove(*key)));
            }
        }
        let k = config.get("k").cloned().map(config::instantiate).transpose()?;
        let method = config::instantiate(sections)?;
        Ok(ResolvedMethod { id: self.id.clone(), method, k, config })
    }

    /// The option at a path (`selector.super_instances`), with the path by its own name where an alias was
    /// given; `None` where the method has no such option.
    pub(crate) fn option(&self, path: &str) -> Option<(String, &Value)> {
        let (mut own, mut here) = (String::new(), &self.config);
        for step in config::path_steps(path) {
            if let Value::Array(items) = here {
                here = items.get(step.parse::<usize>().ok()?)?;
                own += &format!("[{step}]");
                continue;
            }
            let aliased = || {
                let options = plugin(here)?.schema_value()["properties"].as_object()?;
                options.iter().find(|(_, o)| o["x-alias"] == *step).map(|(name, _)| name.clone())
            };
            let name = if here.get(&step).is_some() { step } else { aliased()? };
            here = here.get(&name)?;
            own += if own.is_empty() { "" } else { "." };
            own += &name;
        }
        Some((own, here))
    }

    /// Whether it reads the number of classes anywhere.
    pub(crate) fn mentions_classes(&self) -> bool {
        let mut found = false;
        visit_tables(&self.config, &mut |table| {
            found |=
                table.get("k").and_then(Value::as_str).and_then(config::classes_offset).is_some();
            !found
        });
        found
    }
}

/// One data set, checked.
#[derive(Debug, Clone, Deserialize)]
pub struct DatasetSpec {
    /// Its name.
    pub id: String,
    /// Where it is, if not found by name.
    pub path: Option<String>,
    /// The name it is found by, if not its own.
    pub source: Option<String>,
    /// Whether the experiment goes on without it.
    #[serde(default)]
    pub optional: bool,
    /// Which class column is the truth.
    pub target: Option<String>,
    /// Column of the ids of its file.
    pub id_column: Option<String>,
    /// Columns to cluster on.
    #[serde(default)]
    pub features: Vec<String>,
    /// Columns to leave out.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// What stands between cells.
    pub sep: Option<char>,
    /// What stands before decimals.
    pub decimal: Option<char>,
    /// What stands for a missing value.
    #[serde(default)]
    pub na: Vec<String>,
    /// Whether the number of each row is a last feature.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub row_number: bool,
    /// Objects to keep per class.
    pub class_sizes: Option<BTreeMap<String, usize>>,
    /// File of given constraints.
    pub constraints: Option<String>,
    /// Its transforms as plain values.
    #[serde(default)]
    pub transforms: Value,
}

impl DatasetSpec {
    /// Its transforms, on data of `classes` classes.
    ///
    /// # Errors
    /// The message of the deserialiser.
    pub(crate) fn build_transforms(
        &self,
        classes: Option<usize>,
    ) -> Result<Vec<Box<dyn Transform>>, String> {
        let mut transforms = self.transforms.clone();
        config::substitute_k(&mut transforms, classes);
        config::instantiate(transforms)
    }
}
