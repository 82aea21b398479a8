//! The oracle that knows several classifications of the same objects.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use mustlink_core::prelude::*;

use crate::parts::table::Table;
use crate::parts::wrapping::{FromClasses, classes};

/// Answers from one of several classifications of the objects (by person, by pose …).
///
/// # Input and output
/// `labels` is a CSV with one row per object and one column per classification; `target` names the column to use. A
/// column `id` is matched with the ids of the data, or with row numbers from 0 if the data have no ids. Without it
/// rows are taken in order. An empty cell, `?`, `NA` and `-1` are unknown classes, as in data. Without `labels`,
/// answers come from the classes of the data set, as in `truth`.
/// # Errors
/// `BadParam` for a `target` that is missing or unknown; `Data` when the objects of the file differ from those of the
/// data; `Usage` without any classes.
#[options]
pub struct TruthMulti {
    /// CSV with the classifications. If absent, the classes of the data set.
    #[option(file = true)]
    pub labels: Option<String>,
    /// Column to use for answers. If absent, the only one.
    pub target: Option<String>,
}

#[plugin("truth_multi", version = 4)]
impl Oracle for TruthMulti {
    fn open(&self, scene: &Scene) -> Result<Box<dyn Respondent>> {
        let labels = match (&self.labels, &self.target) {
            (Some(file), target) => read(file, target.as_deref(), scene)?.into(),
            (None, Some(target)) => {
                let legal = "absent unless labels names a file with that column";
                return Err(Error::bad_param("target", target, legal));
            }
            (None, None) => classes(scene, "truth_multi")?,
        };
        Ok(Box::new(FromClasses(labels)))
    }

    fn properties(&self) -> OracleProperties {
        let needs_labels = self.labels.is_none();
        OracleProperties { needs_labels, ..OracleProperties::default() }
    }
}

fn read(file: &str, target: Option<&str>, scene: &Scene) -> Result<Vec<Option<u32>>> {
    let table = Table::read(&scene.ctx.base().join(file))?;
    let id = table.header.iter().position(|c| c == "id");
    let targets: Vec<&str> =
        table.header.iter().map(String::as_str).filter(|&c| c != "id").collect();
    let column = match (target, targets.as_slice()) {
        (Some(target), _) => table.column(target)?,
        (None, [only]) => table.column(only)?,
        (None, _) => {
            let legal = format!("one of the columns {}", targets.join(", "));
            return Err(Error::bad_param("target", "nothing", legal));
        }
    };
    let mut names: BTreeMap<Cow<'_, str>, u32> = BTreeMap::new();
    let mut number = |cell| {
        let next = names.len() as u32;
        (!Scene::is_unknown(cell)).then(|| *names.entry(Scene::label_key(cell)).or_insert(next))
    };
    if let Some(id) = id {
        let mut by_id = HashMap::new();
        for (line, cells) in &table.rows {
            if by_id.insert(cells[id].as_str(), cells[column].as_str()).is_some() {
                return Err(table.bad(*line, format!("the id \"{}\" is there twice", cells[id])));
            }
        }
        let mut label = |id: &str| match by_id.get(id) {
            Some(cell) => Ok(number(cell)),
            None if scene.ids.is_none() => {
                let message = format!(
                    "has ids and no row \"{id}\", and the data has no ids, so that any rows might be \
                     meant; name the column of ids in the data (--id), or leave the column id out here"
                );
                Err(table.bad(1, message))
            }
            None => Err(table.bad(1, format!("no row has the id \"{id}\""))),
        };
        return match &scene.ids {
            Some(ids) => ids.iter().map(|id| label(id)).collect(),
            None => (0..scene.n).map(|row| label(&row.to_string())).collect(),
        };
    }
    if table.rows.len() != scene.n {
        let message = format!("{} rows for {} objects", table.rows.len(), scene.n);
        return Err(Error::Data { place: file.into(), message });
    }
    Ok(table.rows.iter().map(|(_, cells)| number(&*cells[column])).collect())
}
