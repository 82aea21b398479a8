//! The plugins that new ones are copied from: one of every role, from a crate that is tested with the
//! sources.

use clap::ValueEnum;

/// The kind of plugin to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Template {
    /// Groups objects
    Clusterer,
    /// A clusterer that reads constraints, holds another plugin, and has an option that may be "auto"
    ConstrainedClusterer,
    /// Makes an ensemble
    Generator,
    /// Combines an ensemble
    Consensus,
    /// Spreads constraints
    Propagator,
    /// Decides what is asked
    Selector,
    /// Answers
    Oracle,
    /// Scores a clustering
    Metric,
    /// Changes the data
    Transform,
}

impl Template {
    /// Tag, type and text of the plugin that is copied.
    pub fn plugin(self) -> (&'static str, &'static str, &'static str) {
        macro_rules! outside {
            ($tag:literal, $type:literal) => {
                ($tag, $type, include_str!(concat!("../../../templates/", $tag, ".rs")))
            };
        }
        match self {
            Template::Clusterer => outside!("stripes", "Stripes"),
            Template::ConstrainedClusterer => outside!("second_thoughts", "SecondThoughts"),
            Template::Generator => outside!("per_feature", "PerFeature"),
            Template::Consensus => outside!("leaders", "Leaders"),
            Template::Propagator => outside!("to_neighbours", "ToNeighbours"),
            Template::Selector => outside!("chain", "Chain"),
            Template::Oracle => outside!("hesitant", "Hesitant"),
            Template::Metric => outside!("largest_share", "LargestShare"),
            Template::Transform => outside!("above_least", "AboveLeast"),
        }
    }

    /// The folder of its role in a checkout.
    pub fn room(self) -> &'static str {
        match self {
            Template::Clusterer | Template::ConstrainedClusterer => "algorithms/base-clusterers",
            Template::Generator => "algorithms/ensemble-generators",
            Template::Consensus => "algorithms/consensus-functions",
            Template::Propagator => "algorithms/constraint-propagators",
            Template::Selector => "algorithms/query-selectors",
            Template::Oracle => "oracles",
            Template::Metric => "metrics",
            Template::Transform => "algorithms/transforms",
        }
    }

    /// The text of a plugin of this name, for a crate that depends on the whole library.
    pub fn text(self, name: &str) -> String {
        let (tag, type_of, text) = self.plugin();
        text.replace(tag, name).replace(type_of, &type_name(name))
    }

    /// The same for a crate of the checkout, which names core and kernels themselves.
    pub fn text_in_tree(self, name: &str) -> String {
        const KERNELS: [(&str, &str); 2] =
            [("distance::points", "{Distortion, Points}"), ("graph::knn", "Neighbours")];
        let mut out = String::new();
        for line in self.text(name).lines() {
            if line.starts_with("use mustlink::kernels::") || line.contains("serde(crate") {
                continue;
            }
            out += &line.replace("use mustlink::", "use mustlink_core::");
            out.push('\n');
            if line == "use mustlink::prelude::*;" && self == Template::Propagator {
                for (module, names) in KERNELS {
                    out += &format!("use mustlink_kernels::{module}::{names};\n");
                }
            }
        }
        out
    }
}

/// `my_method` as a type: `MyMethod`.
pub(super) fn type_name(name: &str) -> String {
    let capital = |word: &str| {
        let (first, rest) = word.split_at(1);
        first.to_uppercase() + rest
    };
    name.split('_').map(capital).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_is_named_everywhere() {
        assert_eq!(type_name("my_method2"), "MyMethod2");
        for role in Template::value_variants() {
            let (tag, type_of, _) = role.plugin();
            for text in [role.text("my_method"), role.text_in_tree("my_method")] {
                assert!(!text.contains(tag) && !text.contains(type_of), "{text}");
                assert!(text.contains("#[plugin(\"my_method\")]\nimpl "), "{text}");
                assert!(text.contains(" for MyMethod {"), "{text}");
            }
            let in_tree = role.text_in_tree("my_method");
            assert!(!in_tree.contains("mustlink::"), "{in_tree}");
            assert!(in_tree.contains("use mustlink_core::prelude::*;"), "{in_tree}");
        }
    }

    #[test]
    fn a_plain_clusterer_has_little_around_its_science() {
        let (_, _, text) = Template::Clusterer.plugin();
        let of_the_method = text.split_once("Result<Clustering> {\n").expect("the method").1;
        let science = of_the_method.split_once("\n    }\n").expect("its end").0;
        let around = text.lines().count() - science.lines().count();
        assert!(around < 60, "{around} lines");
    }
}
