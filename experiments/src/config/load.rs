//! From text to an experiment: everything is checked at once, and every default is written out.

use std::collections::BTreeSet;
use std::path::Path;

use mustlink::config::{self, Check, Document, Node, Origin};
use mustlink::{Error, Result, scripts};
use serde::Deserialize;
use serde_json::{Value, json};

use super::axes::expand;
use super::columns::metric_columns;
use super::expand::{collect, copy_same, fill, take_methods};
use super::experiment::Experiment;
use super::file::{Curve, ExperimentFile, MethodEntry, Scoring};
use super::resolved::{DatasetSpec, MethodSpec};
use super::{check, stored};

/// Single methods, each with the number of the entry that it was taken from, and the paths of the options
/// that were varied.
type Methods = (Vec<(usize, Node)>, BTreeSet<String>);

impl Experiment {
    /// Reads and checks an experiment file after carrying out `sets` (`a.b[0].c=value`).
    ///
    /// # Errors
    /// `Config` with every complaint, each with its place.
    pub fn load(path: &Path, sets: &[String]) -> Result<Experiment> {
        let base = path.parent().map(Path::to_path_buf).unwrap_or_default();
        Experiment::from_document(Document::read(path)?, &base, sets)
    }

    /// Checks an experiment given as text; relative paths start at `base`.
    ///
    /// # Errors
    /// As [`Experiment::load`].
    pub fn parse(name: &str, text: &str, base: &Path, sets: &[String]) -> Result<Experiment> {
        Experiment::from_document(Document::parse(name, text)?, base, sets)
    }

    /// The experiment a results directory belongs to.
    ///
    /// # Errors
    /// `Data` when it is no results directory; otherwise as [`Experiment::load`].
    pub fn from_directory(dir: &Path) -> Result<Experiment> {
        let stored = stored::read(dir)?;
        stored.declare_scripts();
        let name = dir.join(stored::FILE).display().to_string();
        let parsed = Experiment::parse(&name, &stored.config.to_string(), &stored.base, &[])?;
        Ok(Experiment { varied: stored.varied, ..parsed })
    }

    /// Every value of an experiment, defaults among them, with the place that it comes from.
    ///
    /// # Errors
    /// As [`Experiment::load`].
    pub fn origins(path: &Path, sets: &[String]) -> Result<Vec<Origin>> {
        let base = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let (root, methods) = Experiment::tree(Document::read(path)?, &base, sets)?;
        let mut resolved = Experiment::build(&root, &methods, &base)?.resolved;
        let list = resolved.as_object_mut().and_then(|map| map.remove("method"));
        let mut out = Vec::new();
        config::origins(&resolved, Some(&root), "", &mut out);
        let values = list.as_ref().and_then(Value::as_array).into_iter().flatten();
        for (at, (value, (_, node))) in values.zip(&methods.0).enumerate() {
            config::origins(value, Some(node), &format!("method[{at}]"), &mut out);
        }
        Ok(out)
    }

    fn from_document(document: Document, base: &Path, sets: &[String]) -> Result<Experiment> {
        let (root, methods) = Experiment::tree(document, base, sets)?;
        Experiment::build(&root, &methods, base)
    }

    /// The checked tree without its methods, and these one by one, each with the number of its entry.
    fn tree(mut document: Document, base: &Path, sets: &[String]) -> Result<(Node, Methods)> {
        let mut out = Vec::new();
        for set in sets {
            if let Err(e) = document.set(set) {
                collect(e, &mut out);
            }
        }
        let root = document.root_mut();
        let mut methods = take_methods(root, base, &mut out);
        scripts::declare(root, base, &mut out);
        config::validate::<ExperimentFile>(
            root,
            "",
            Check { classes: true, axes: false },
            &mut out,
        );
        copy_same(&mut methods, &mut out);
        let (mut expanded, mut varied) = (Vec::new(), BTreeSet::new());
        for (at, node) in methods.into_iter().enumerate() {
            expand(node, at, &mut expanded, &mut varied, &mut out);
        }
        for (at, node) in &mut expanded {
            fill(node);
            let path = format!("method[{at}]");
            config::validate::<MethodEntry>(
                node,
                &path,
                Check { classes: true, axes: false },
                &mut out,
            );
        }
        if out.is_empty() {
            return Ok((root.clone(), (expanded, varied)));
        }
        // One slip in a copied section is one complaint.
        let mut seen = BTreeSet::new();
        out.retain(|d| {
            let place =
                d.position.map(|p| (d.source.clone(), p)).unwrap_or((d.path.clone(), (0, 0)));
            seen.insert((place, d.message.clone()))
        });
        Err(Error::Config(out))
    }

    fn build(root: &Node, (methods, varied): &Methods, base: &Path) -> Result<Experiment> {
        let mut resolved = config::resolve::<ExperimentFile>(root)?;
        let mut specs = Vec::with_capacity(methods.len());
        for (_, node) in methods {
            let mut config = config::resolve::<MethodEntry>(node)?;
            let map = config.as_object_mut().expect("a validated method is a table");
            let id = map.get("id").and_then(Value::as_str).unwrap_or_default().to_string();
            specs.push(MethodSpec { id, config });
        }
        // Under their own names, whatever alias a list was given by.
        let own = |path: &String| specs.iter().filter_map(|m| Some(m.option(path)?.0)).collect();
        let varied: BTreeSet<String> = varied.iter().flat_map::<Vec<String>, _>(own).collect();
        let list = specs.iter().map(|m| m.config.clone()).collect();
        resolved["method"] = Value::Array(list);
        let section = |name: &str| resolved.get(name).cloned().unwrap_or_else(|| json!({}));
        fn read<T: for<'a> Deserialize<'a>>(root: &Node, name: &str, value: Value) -> Result<T> {
            config::instantiate(value).map_err(|e| {
                Error::Config(vec![root.get(name).unwrap_or(root).diagnostic(name, e)])
            })
        }
        let entries = section("dataset");
        let entries = entries.as_array().into_iter().flatten().enumerate();
        let datasets = entries
            .map(|(at, value)| read(root, &format!("dataset[{at}]"), value.clone()))
            .collect::<Result<Vec<DatasetSpec>>>()?;
        let mut curve = section("curve");
        if root.get("curve").is_none() {
            curve = json!({});
        }
        let scoring: Scoring = read(root, "scoring", section("scoring"))?;
        let experiment = Experiment {
            columns: metric_columns(&scoring.metrics),
            head: read(root, "experiment", section("experiment"))?,
            datasets,
            methods: specs,
            split: read(root, "split", section("split"))?,
            points: read::<Curve>(root, "curve", curve)?.points,
            scoring,
            stats: read(root, "stats", section("stats"))?,
            plot: read(root, "plot", section("plot"))?,
            run: read(root, "run", section("run"))?,
            criteria: match resolved.get("criterion") {
                Some(list) => read(root, "criterion", list.clone())?,
                None => Vec::new(),
            },
            varied,
            resolved: Value::Null,
            base: base.to_path_buf(),
        };
        let out = check::complaints(&experiment, root, methods);
        match out.is_empty() {
            true => Ok(Experiment { resolved, ..experiment }),
            false => Err(Error::Config(out)),
        }
    }
}
