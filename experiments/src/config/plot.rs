//! What an experiment file says about its figures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A format of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Lines and text, for pages; always written.
    Svg,
    /// Pixels, 288 to the inch, for slides.
    Png,
    /// For papers.
    Pdf,
}

impl Format {
    /// The ending of its files.
    pub fn ending(self) -> &'static str {
        match self {
            Format::Svg => "svg",
            Format::Png => "png",
            Format::Pdf => "pdf",
        }
    }
}

/// How figures are drawn. Nothing here changes a score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Plot {
    /// Formats of the files beside the CSV of each figure's numbers: svg, which is always written, png,
    /// pdf.
    pub formats: Vec<Format>,
    /// The method that the others are compared with: a panel below each learning curve shows how
    /// confident one can be that they differ from it, and times are drawn against its.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
}

impl Default for Plot {
    fn default() -> Self {
        Plot { formats: vec![Format::Svg], baseline: None }
    }
}
