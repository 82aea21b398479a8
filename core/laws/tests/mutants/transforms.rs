//! Values shifted and stretched, sound but for one flaw.

use mustlink_core::prelude::*;
use mustlink_laws::memory;
use ndarray::Axis;
use serde_json::{Value, json};

use crate::shared::{Caught, HOLDS, KEEPS, checked, clock, flaws, tried};

/// Every value is stretched and shifted.
#[options]
pub struct FlawedTransform {
    /// Name of the flaw.
    pub flaw: String,
    /// Value that is added at the end.
    #[option(default = 1.0, min = 0.0, max = 9.0)]
    pub shift: f64,
    /// Times that values are halved.
    #[option(default = 1, min = 1)]
    pub rounds: usize,
}

const FLAWS: [(&str, &str); 28] = [
    ("counts calls", "same_input_same_bits"),
    ("counts calls of what is fitted", "applies_the_same_twice"),
    ("adds up by thread", "any_number_of_threads"),
    ("keeps other values in a model", "saved_is_restored"),
    ("forgets lists of rows", "a_list_of_rows_is_a_copy"),
    ("centres by what it is applied to", "objects_stand_for_themselves"),
    ("chooses a feature that is not there", "features_are_as_said"),
    ("takes nothing", "accepts_what_it_says"),
    ("declares affinities and cannot read them", "accepts_what_it_says"),
    ("panics on one object", "awkward_data_has_an_outcome"),
    ("divides by the range", "awkward_data_has_an_outcome"),
    ("panics when all objects are must-linked", "awkward_data_has_an_outcome"),
    ("divides by the free partners of an object", "awkward_data_has_an_outcome"),
    ("loses a far outlier", "awkward_data_has_an_outcome"),
    ("panics on other data", "other_data_never_panics"),
    ("loses a row", "keeps_rows"),
    ("maps nowhere", "row_map_fits"),
    ("reads constraints", "ignores_constraints"),
    ("never reads constraints", "reads_constraints"),
    ("reads stored entries", "sparse_as_dense"),
    ("looks at the cancel flag before its loop alone", "looks_every_sweep"),
    ("ignores the shift", "every_option_changes_something"),
    ("ignores the rounds", "every_option_changes_something"),
    ("needs no memory", "memory_covers_the_result"),
    ("needs less memory for more objects", "memory_covers_the_result"),
    ("says fewer features than it makes", "shape_covers_the_result"),
    (HOLDS, memory::LAW),
    (KEEPS, memory::LAW),
];

pub fn caught(complaints: &mut Vec<String>) -> Caught {
    let sound = [json!({ "type": "flawed_transform" })];
    tried::<dyn Transform>(&sound, &flaws("flawed_transform", &FLAWS), complaints)
}

struct Applied {
    flaw: String,
    d: usize,
    scale: f64,
    shift: f64,
}

impl Applied {
    fn has(&self, flaw: &str) -> bool {
        self.flaw == flaw
    }
}

impl Fitted for Applied {
    fn apply(&self, data: &Data) -> Result<Data> {
        if self.has("panics on other data") {
            assert_eq!(data.d(), self.d);
        }
        let mut x = match (self.flaw.as_str(), data.as_array()) {
            // Only a whole matrix is an array: forgets what a list of rows is.
            ("forgets lists of rows", None) => data.to_dense() * 2.0,
            _ => data.to_dense(),
        };
        let (n, far) = (data.n(), x.iter().any(|v| *v > 1e8));
        x.mapv_inplace(|v| v * self.scale + self.shift);
        match self.flaw.as_str() {
            "counts calls of what is fitted" => x.mapv_inplace(|v| v + clock() as f64),
            "centres by what it is applied to" => {
                let mean = x.sum() / x.len() as f64;
                x.mapv_inplace(|v| v - mean);
            }
            "reads stored entries" if data.kind() == DataKind::Csr => x[[0, 0]] += 1.0,
            "loses a row" if n > 1 => {
                let rows: Vec<usize> = (1..n).collect();
                x = x.select(Axis(0), &rows);
            }
            "panics when all objects are must-linked" => assert!(self.shift < 1e6, "one group"),
            "divides by the range" => {
                let range = x.iter().fold(0.0f64, |m, v| m.max((v - x[[0, 0]]).abs()));
                assert!(range > 0.0, "attempt to divide by zero");
            }
            "loses a far outlier" => assert!(!far, "the outlier is gone"),
            _ => {}
        }
        Data::dense(x)
    }

    fn row_map(&self) -> Option<&[Option<u32>]> {
        self.has("maps nowhere").then_some(&[])
    }

    fn features(&self) -> Features {
        if self.has("chooses a feature that is not there") {
            Features::Chosen((1..=self.d).collect())
        } else {
            Features::New
        }
    }

    fn saved(&self) -> Option<Value> {
        Some(json!([self.scale, self.shift, self.d]))
    }
}

impl FlawedTransform {
    fn has(&self, flaw: &str) -> bool {
        self.flaw == flaw
    }
}

register!(Transform, FlawedTransform, "flawed_transform", references: []);

#[typetag::serde(name = "flawed_transform")]
impl Transform for FlawedTransform {
    fn fit(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Fitted>> {
        checked(self, &self.flaw)?;
        let n = problem.n();
        let pairs = problem.constraints.pairs();
        let must = problem.constraints.count(Kind::MustLink);
        let busy = n > 1 && pairs.iter().filter(|c| c.i == 0).count() == n - 1;
        let mut shift = if self.has("ignores the shift") { 1.0 } else { self.shift };
        match self.flaw.as_str() {
            "panics on one object" => assert!(n > 1, "no second object"),
            "panics when all objects are must-linked" => {
                assert!(n < 3 || must + 1 != n, "one group");
            }
            "divides by the free partners of an object" => {
                assert!(n < 4 || !busy, "attempt to divide by zero");
            }
            "declares affinities and cannot read them"
                if problem.data.kind() == DataKind::Affinity =>
            {
                return Err(Error::NumericalFailure { place: "no features".into() });
            }
            "counts calls" => shift += clock() as f64,
            "reads constraints" => shift += pairs.len() as f64,
            "adds up by thread" => shift += rayon::current_num_threads() as f64,
            _ => {}
        }
        let mut scale = 1.0;
        let rounds = if self.has("ignores the rounds") { 1 } else { self.rounds };
        for _ in 0..rounds.min(60) {
            if !self.has("looks at the cancel flag before its loop alone") {
                ctx.check()?;
            }
            scale *= 0.5;
        }
        let (flaw, d) = (self.flaw.clone(), problem.d());
        Ok(Box::new(Applied { flaw, d, scale, shift }))
    }

    fn restore(&self, saved: &Value) -> Result<Box<dyn Fitted>> {
        let number = |at: usize| saved[at].as_f64().unwrap_or_default();
        let off = f64::from(u8::from(self.has("keeps other values in a model")));
        let (scale, shift) = (number(0), number(1) + off);
        Ok(Box::new(Applied { flaw: self.flaw.clone(), d: number(2) as usize, scale, shift }))
    }

    fn properties(&self) -> TransformProperties {
        let mut properties = TransformProperties {
            reads_constraints: self.has("never reads constraints"),
            changes_rows: self.has("maps nowhere"),
            ..TransformProperties::default()
        };
        match self.flaw.as_str() {
            "takes nothing" => properties.accepts.clear(),
            "declares affinities and cannot read them" => {
                properties.accepts.push(DataKind::Affinity);
            }
            _ => {}
        }
        properties
    }

    fn memory(&self, shape: &Shape) -> u64 {
        match self.flaw.as_str() {
            "needs no memory" => 0,
            "needs less memory for more objects" => u64::MAX / shape.n as u64,
            _ => (16 * shape.n * shape.d) as u64,
        }
    }

    fn shape_of_result(&self, shape: &Shape) -> Shape {
        let d = shape.d - usize::from(self.has("says fewer features than it makes"));
        Shape { d, entries: shape.n * shape.d, ..*shape }
    }
}
