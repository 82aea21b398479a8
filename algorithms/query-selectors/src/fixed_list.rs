//! Pairs from a list, asked in its order.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use mustlink_core::prelude::*;

use crate::parts::pair_list::PairList;

/// Pairs in a given order.
///
/// # Method
/// The pairs of `pairs`, then those of the file, are asked in order. Repeated pairs are asked once. Pairs with an
/// object that may not be asked about are skipped.
/// # Input and output
/// Any data: features are not used. The file is a constraints file `i,j,type,weight`, such as
/// `mustlink select --set 'view="queried"' --out` writes if objects have no ids. Rows are numbered from 0, in their
/// order after transforms that drop or merge some; types and weights are ignored. To repeat recorded replies,
/// including questions without an answer, use the oracle `replay`, which reads ledgers.
/// # Errors
/// `BadParam` without pairs and for a file that cannot be read; `IndexOutOfRange`.
/// # Cost and randomness
/// O(1) per query; not random.
/// # References
/// None.
#[options]
pub struct FixedList {
    /// Pairs of row numbers, from 0.
    pub pairs: Vec<(u32, u32)>,
    /// A constraints file with further pairs.
    #[option(file = true)]
    pub file: Option<PathBuf>,
    /// Skip pairs whose answer follows from earlier replies, instead of asking them.
    pub skip_entailed: bool,
}

impl FixedList {
    /// The pairs of the options and of the file.
    fn read(&self, base: &Path) -> Result<Vec<(u32, u32)>> {
        let mut pairs = self.pairs.clone();
        let Some(file) = &self.file else { return Ok(pairs) };
        let file = base.join(file);
        let shown = file.display();
        let text = std::fs::read_to_string(&file).map_err(|e| {
            Error::bad_param("file", shown.to_string(), format!("a readable file ({e})"))
        })?;
        for (at, line) in text.lines().enumerate() {
            let mut fields = line.split(',').map(str::trim);
            let (i, j) = (fields.next().unwrap_or(""), fields.next().unwrap_or(""));
            match (i.parse(), j.parse()) {
                (Ok(i), Ok(j)) => pairs.push((i, j)),
                // The header, or a blank line.
                _ if at == 0 || line.trim().is_empty() => {}
                _ => {
                    let given = format!("\"{line}\" in line {} of {shown}", at + 1);
                    return Err(Error::bad_param("file", given, "lines \"i,j\" of row numbers"));
                }
            }
        }
        Ok(pairs)
    }
}

#[plugin("fixed_list")]
impl QuerySelector for FixedList {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        if self.pairs.is_empty() && self.file.is_none() {
            return Err(Error::bad_param("pairs", "an empty list", "given, or a file"));
        }
        let n = problem.n();
        let mut seen = HashSet::new();
        let mut pairs = Vec::new();
        for (i, j) in self.read(ctx.base())? {
            let index = i.max(j) as usize;
            if index >= n {
                return Err(Error::IndexOutOfRange { index, n });
            }
            let eligible = problem.is_eligible(i as usize) && problem.is_eligible(j as usize);
            if i != j && eligible && seen.insert((i.min(j), i.max(j))) {
                pairs.push((i, j));
            }
        }
        Ok(PairList::start(problem, pairs, self.skip_entailed, "listed"))
    }

    fn properties(&self) -> SelectorProperties {
        SelectorProperties {
            skips_entailed: self.skip_entailed,
            accepts_sparse: true,
            needs_setup: self.pairs.is_empty() && self.file.is_none(),
            ..SelectorProperties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        (64 * shape.n + 32 * self.pairs.len()) as u64
    }
}
