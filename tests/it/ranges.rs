//! Every declared bound of every option, tried from both sides: a configuration file, `--set` and a
//! plugin built in Rust refuse the same values with the same message.

use mustlink::Error;
use mustlink::config::{self, Accepted, Document, Form};
use mustlink::contract::fixtures;
use mustlink::kind::Kind;
use mustlink::options;
use mustlink::prelude::*;
use mustlink::registry::{Catalogue, Descriptor, Role};
use mustlink::roles::RoleObject;
use serde_json::{Map, Value, json};

/// A number that an option may or may not have, with the options of the plugin around it.
struct Case {
    /// `annotators[0].flip_rate`.
    path: String,
    value: Value,
    options: Value,
    legal: bool,
}

/// Puts a value of a part of the options into the options of the whole.
type Around<'a> = &'a dyn Fn(Value) -> Value;

/// All cases below the values that are accepted at `path`.
fn collect(accepted: Accepted, path: &str, around: Around<'_>, out: &mut Vec<Case>) {
    for form in accepted.forms() {
        for option in form.options().into_iter().flat_map(|options| options.all) {
            let around = |value| {
                let mut table = Map::from_iter([(option.name.to_string(), value)]);
                table.extend(form.word().map(|(tag, word)| (tag.to_string(), word.into())));
                around(Value::Object(table))
            };
            collect(Accepted::from(option), &options::below(path, option.name), &around, out);
        }
        let Form::Value(accepted) = form else { continue };
        let whole = match accepted.kind {
            Kind::Whole(_) => true,
            Kind::Real => false,
            Kind::List(each) => {
                let around = |value| around(json!([value]));
                collect(Accepted::from(*each), &format!("{path}[0]"), &around, out);
                continue;
            }
            _ => continue,
        };
        let mut case = |x: f64, legal: bool| {
            let value = if whole { (x as i64).into() } else { Value::from(x) };
            out.push(Case { path: path.into(), options: around(value.clone()), value, legal });
        };
        let range = accepted.declared();
        for (bound, outwards, inclusive) in [
            (range.min, -1.0, true),
            (range.max, 1.0, true),
            (range.above, -1.0, false),
            (range.below, 1.0, false),
        ] {
            let Some(bound) = bound else { continue };
            // The smallest step by which a number of this kind passes the bound.
            let step = outwards * if whole { 1.0 } else { 1e-9 * bound.abs().max(1.0) };
            if inclusive {
                case(bound, true);
                case(bound + step, false);
            } else {
                case(bound, false);
                case(bound - step, true);
            }
        }
    }
}

fn cases(plugin: &Descriptor) -> Vec<Case> {
    let mut out = Vec::new();
    collect(plugin.kind.into(), "", &|options| options, &mut out);
    out
}

fn with_tag(plugin: &Descriptor, options: &Value) -> Value {
    let mut config = options.clone();
    config["type"] = plugin.tag.into();
    config
}

/// A configuration that holds one plugin of a role.
#[derive(Debug, Deserialize, Described)]
struct Holder<T> {
    plugin: T,
}

/// The complaint of the loader about `path` in a document, if any.
fn complaint<R: RoleObject + ?Sized>(document: &Document, path: &str) -> Option<String>
where
    Box<R>: serde::de::DeserializeOwned + Described,
{
    match config::build::<Holder<Box<R>>>(document.root(), "") {
        Err(Error::Config(list)) => {
            list.into_iter().find(|d| d.path == format!("plugin.{path}")).map(|d| d.message)
        }
        Err(other) => panic!("{path}: {other}"),
        Ok(held) => {
            let _ = held.plugin;
            None
        }
    }
}

/// Runs the required method of a role on something small.
trait Attempt: RoleObject {
    fn attempt(&self) -> Result<()>;
}

fn problem() -> Problem {
    let (problem, classes) = fixtures::dense(1);
    problem.with_constraints(fixtures::true_constraints(&classes, 10, 1))
}

impl Attempt for dyn BaseClusterer {
    fn attempt(&self) -> Result<()> {
        self.cluster(&problem(), &fixtures::context(1)).map(drop)
    }
}

impl Attempt for dyn EnsembleGenerator {
    fn attempt(&self) -> Result<()> {
        self.generate(&problem(), &fixtures::context(1)).map(drop)
    }
}

impl Attempt for dyn ConsensusFunction {
    fn attempt(&self) -> Result<()> {
        let (problem, classes) = fixtures::dense(1);
        let member = Member { k: 3, labels: classes, ..Member::default() };
        let ensemble = Ensemble::new(problem.n(), vec![member; 3])?;
        self.combine(&ensemble, &problem, &fixtures::context(1)).map(drop)
    }
}

impl Attempt for dyn ConstraintPropagator {
    fn attempt(&self) -> Result<()> {
        let (problem, (_, labels)) = (problem(), fixtures::dense(1));
        let clustering = Clustering { labels, k: 3, ..Clustering::default() };
        let constraints = problem.constraints.clone();
        let ctx = fixtures::context(1);
        self.propagate(&constraints, Some(&clustering), &problem, &ctx).map(drop)
    }
}

impl Attempt for dyn QuerySelector {
    fn attempt(&self) -> Result<()> {
        self.start(&problem(), &fixtures::context(1)).map(drop)
    }
}

impl Attempt for dyn Oracle {
    fn attempt(&self) -> Result<()> {
        let labels = fixtures::dense(1).1.into_iter().map(Some).collect();
        self.open(&Scene::with_labels(labels, fixtures::context(1))).map(drop)
    }
}

impl Attempt for dyn Metric {
    fn attempt(&self) -> Result<()> {
        let labels = fixtures::dense(1).1;
        self.score(&MetricInput { labels: &labels, ..MetricInput::default() }).map(drop)
    }
}

impl Attempt for dyn Transform {
    fn attempt(&self) -> Result<()> {
        self.fit(&problem(), &fixtures::context(1)).map(drop)
    }
}

/// Tries all bounds of a role; returns how many were tried in a file and in Rust.
fn try_role<R: Attempt + ?Sized>() -> (usize, usize)
where
    Box<R>: serde::de::DeserializeOwned + Described,
{
    let (mut in_files, mut in_rust) = (0, 0);
    for plugin in Catalogue::get().unwrap().role(R::ROLE) {
        for Case { path, value, options, legal } in cases(plugin) {
            let place = format!("{} {path} = {value}", plugin.tag);
            let config = with_tag(plugin, &options);
            let text = toml::to_string(&json!({ "plugin": config })).unwrap();
            let document = Document::parse("m.toml", &text).unwrap();
            in_files += 1;
            if legal {
                // What else the plugin needs is of no interest: without it, only the file is tried.
                if let Ok(built) = R::from_value(config) {
                    assert_eq!(options::check(&*built), Ok(()), "{place}");
                }
                let said = complaint_about_range::<R>(&document, &path);
                assert_eq!(said, None, "{place}");
                continue;
            }
            let in_file = complaint::<R>(&document, &path).unwrap_or_else(|| {
                panic!("{place} is accepted in a file");
            });
            assert!(
                in_file.starts_with("must be ") && in_file.contains(", got "),
                "{place}: {in_file}"
            );
            // Lists cannot be reached into by --set where they are not there yet.
            if !path.contains('[') {
                let bare = format!("plugin = {{ type = \"{}\" }}", plugin.tag);
                let mut document = Document::parse("m.toml", &bare).unwrap();
                for (name, option) in leaves(&options, "plugin") {
                    document.set(&format!("{name}={option}")).unwrap();
                }
                assert_eq!(complaint::<R>(&document, &path).as_ref(), Some(&in_file), "{place}");
            }
            // A type that cannot hold the value is refused by the compiler.
            let Ok(built) = R::from_value(config) else { continue };
            if !holds(&built.to_value(), &options) {
                continue;
            }
            match built.attempt() {
                Err(error @ Error::BadParam { .. }) => {
                    assert_eq!(error.to_string(), format!("{path}: {in_file}"), "{place}");
                }
                other => panic!("{place} in Rust: {other:?}"),
            }
            in_rust += 1;
        }
    }
    (in_files, in_rust)
}

/// True if a plugin has these very options: a negative count may have been read as a share.
fn holds(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(name, v)| whole.get(name).is_some_and(|w| holds(w, v)))
        }
        (Value::Array(whole), Value::Array(part)) => {
            whole.len() == part.len() && whole.iter().zip(part).all(|(w, v)| holds(w, v))
        }
        _ => whole == part,
    }
}

/// As [`complaint`], for values that are legal: what else the plugin needs is of no interest.
fn complaint_about_range<R: RoleObject + ?Sized>(document: &Document, path: &str) -> Option<String>
where
    Box<R>: serde::de::DeserializeOwned + Described,
{
    let mut out = Vec::new();
    config::validate::<Holder<Box<R>>>(document.root(), "", config::Check::default(), &mut out);
    out.into_iter().find(|d| d.path == format!("plugin.{path}")).map(|d| d.message)
}

/// The plain values of a table with the way to each.
fn leaves(options: &Value, path: &str) -> Vec<(String, Value)> {
    match options {
        Value::Object(table) => {
            table.iter().flat_map(|(name, v)| leaves(v, &format!("{path}.{name}"))).collect()
        }
        other => vec![(path.into(), other.clone())],
    }
}

#[test]
fn every_bound_is_kept_everywhere_with_one_message() {
    let tried = [
        try_role::<dyn BaseClusterer>(),
        try_role::<dyn EnsembleGenerator>(),
        try_role::<dyn ConsensusFunction>(),
        try_role::<dyn ConstraintPropagator>(),
        try_role::<dyn QuerySelector>(),
        try_role::<dyn Oracle>(),
        try_role::<dyn Metric>(),
        try_role::<dyn Transform>(),
    ];
    assert_eq!(tried.len(), Role::ALL.len());
    for (role, (in_files, in_rust)) in Role::ALL.iter().zip(tried) {
        assert!(in_files > 0 && in_rust > 0, "no bound of a {} was tried", role.name());
    }
    let (in_files, in_rust) = tried.iter().fold((0, 0), |sum, t| (sum.0 + t.0, sum.1 + t.1));
    assert!(in_files > 400 && in_rust > 150, "{in_files} values in files, {in_rust} in Rust");
}

/// Options that two plugins could share.
#[options]
struct Shared {
    /// A factor.
    #[option(default = 0.5, min = 0.0, max = 1.0, alias = "share")]
    factor: f64,
}

/// A metric for these tests.
#[options]
struct Scaled {
    /// The shared part.
    #[option(flatten)]
    shared: Shared,
    /// A count.
    #[option(default = 3, min = 1)]
    count: usize,
    /// Absent by a word of its own alone.
    #[option(default = Some(1.0), min = 0.0)]
    offset: Option<f64>,
    /// Any number of numbers.
    terms: Vec<f64>,
}

#[plugin("scaled")]
impl Metric for Scaled {
    fn score(&self, _: &MetricInput) -> Result<Option<f64>> {
        Ok(Some(self.shared.factor * self.count as f64))
    }
}

fn score(config: &str) -> Result<f64> {
    let document = Document::parse("m.toml", config)?;
    let held: Holder<Box<dyn Metric>> = config::build(document.root(), "")?;
    Ok(held.plugin.score(&MetricInput::default())?.unwrap_or_default())
}

#[test]
fn numbers_that_are_not_finite_are_out_of_every_range() {
    for factor in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let metric = Scaled { shared: Shared { factor }, ..Scaled::default() };
        let error = metric.score(&MetricInput::default()).unwrap_err();
        let text = "factor: must be between 0 and 1, got NaN or an infinity";
        assert_eq!(error.to_string(), text);
        let metric = Scaled { terms: vec![1.0, factor], ..Scaled::default() };
        let error = metric.score(&MetricInput::default()).unwrap_err();
        assert_eq!(error.to_string(), "terms[1]: must be a number, got NaN or an infinity");
    }
}

#[test]
fn what_is_absent_in_spite_of_a_default_stays_absent() {
    let metric = Scaled { offset: None, ..Scaled::default() };
    assert!(metric.score(&MetricInput::default()).is_ok());
    let config = RoleObject::to_value(&metric as &dyn Metric);
    let read = <dyn Metric as RoleObject>::from_value(config.clone()).unwrap();
    assert_eq!((config["offset"].clone(), read.to_value()), (Value::Null, config));
}

#[test]
fn everything_out_of_range_is_named_at_once() {
    let metric = Scaled { shared: Shared { factor: 2.0 }, count: 0, ..Scaled::default() };
    let error = metric.score(&MetricInput::default()).unwrap_err().to_string();
    assert!(error.contains("count: must be at least 1, got 0"), "{error}");
    assert!(error.contains("factor: must be between 0 and 1, got 2"), "{error}");
}

#[test]
fn shared_options_stand_in_the_table_of_the_plugin() {
    assert_eq!(score("plugin = { type = \"scaled\", factor = 0.25, count = 8 }"), Ok(2.0));
    assert_eq!(score("plugin = { type = \"scaled\", share = 1.0 }"), Ok(3.0));
    let error = score("plugin = { type = \"scaled\", facter = 0.25 }").unwrap_err().to_string();
    assert!(
        error.contains("facter: unknown option of scaled; did you mean \"factor\"?"),
        "{error}"
    );
    let by_hand = json!({ "type": "scaled", "facter": 1 });
    assert!(<dyn Metric as RoleObject>::from_value(by_hand).is_err());
    let resolved = config::resolve_plugin(&json!({ "type": "scaled", "share": 1.0 })).unwrap();
    assert_eq!(
        resolved,
        json!({ "type": "scaled", "factor": 1.0, "count": 3, "offset": 1.0, "terms": [] })
    );
}
