//! The catalogue of all plugins.
//!
//! typetag builds a plugin from its tag; the catalogue here describes it: role, summary, options
//! with ranges, references, source file. One [`register!`](crate::register) line per plugin feeds
//! it. Everything that lists plugins (the command line, the manual, schemas, suggestions, the laws)
//! reads the catalogue, always sorted.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{OnceLock, RwLock};

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::kind::{Kind, Opt, flat};
pub use crate::role::Role;
use crate::roles::RoleObject;

/// Description of a plugin in the catalogue.
pub struct Descriptor {
    /// Its role.
    pub role: Role,
    /// Its name in configs.
    pub tag: &'static str,
    /// Other names under which people look for it: accepted in its place, never written.
    pub aliases: &'static [&'static str],
    /// Its Rust type.
    pub type_name: &'static str,
    /// Citation keys into the manual's bibliography.
    pub references: &'static [&'static str],
    /// Keys that are cited only if an option has a certain value: key, option, value.
    pub cited_if: &'static [(&'static str, &'static str, &'static str)],
    /// Changes when the same input may give another result.
    pub version: u32,
    /// Laws this plugin is excused from, each with the reason.
    pub waivers: &'static [(&'static str, &'static str)],
    /// Digest of the sources of its crate. It is empty in released packages of mustlink, in which
    /// [`version`](Self::version) shows that results changed.
    pub sources: fn() -> &'static str,
    /// Source file.
    pub file: &'static str,
    /// Line of the registration.
    pub line: u32,
    /// Crate that holds it.
    pub package: &'static str,
    /// Its options, as a table.
    pub kind: &'static Kind,
    /// Its options at their defaults, without the tag.
    pub default: fn() -> Value,
    /// Plain facts at the default options, as JSON.
    pub properties: fn() -> Value,
    /// Program in another language, if the plugin is one; it also defines the schema and the two fields above.
    pub script: Option<Script>,
}

/// A plugin in another language, as it described itself.
pub struct Script {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Folder at which relative paths in the command start.
    pub base: PathBuf,
    /// JSON Schema of its options.
    pub schema: &'static Value,
    /// Its options at their defaults, without the tag.
    pub default: Value,
    /// Plain facts as JSON.
    pub properties: Value,
    /// The facts it declares, as options of the plugin that runs commands.
    pub facts: Map<String, Value>,
    /// All that it said.
    pub hello: Value,
}

impl Script {
    /// The words of its command, files by their whole paths.
    fn words(&self) -> Vec<PathBuf> {
        let word = |word: &String| {
            let file = self.base.join(word);
            if file.is_file() { file } else { word.into() }
        };
        self.command.iter().map(word).collect()
    }
}

inventory::collect!(Descriptor);

impl Descriptor {
    /// First paragraph of the type's documentation.
    pub fn summary(&self) -> String {
        let doc = self.documentation();
        doc.split("\n\n").next().unwrap_or_default().replace('\n', " ").trim().to_string()
    }

    /// The type's documentation.
    pub fn documentation(&self) -> String {
        let Kind::Table(table) = self.kind else { return String::new() };
        table.doc.trim().to_string()
    }

    /// Its options in the order of the source.
    pub fn options(&self) -> Vec<&'static Opt> {
        match self.kind {
            Kind::Table(table) => flat(table.options),
            _ => Vec::new(),
        }
    }

    /// Plain facts at the default options, as JSON.
    pub fn facts(&self) -> Value {
        self.script.as_ref().map_or_else(self.properties, |script| script.properties.clone())
    }

    /// The option of this name, or of this alias.
    pub fn option(&self, name: &str) -> Option<&'static Opt> {
        let options = self.options();
        let named = options.iter().find(|option| option.name == name);
        named.or_else(|| options.iter().find(|option| option.alias == Some(name))).copied()
    }

    /// Options that change nothing on the small problems of the laws, each with the reason
    /// (`#[option(inert = "…")]`).
    pub fn inert(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.options().into_iter().filter_map(|option| Some((option.name, option.inert?)))
    }

    /// Its default configuration, tag included.
    pub fn default_config(&self) -> Value {
        let script = self.script.as_ref();
        let mut value = script.map_or_else(self.default, |script| script.default.clone());
        if let Value::Object(map) = &mut value {
            map.insert("type".into(), self.tag.into());
        } else {
            value = serde_json::json!({ "type": self.tag });
        }
        value
    }
}

/// The catalogue with plugins in other languages, once there are any.
static GROWN: RwLock<Option<&'static Catalogue>> = RwLock::new(None);

/// All plugins linked into this program, sorted by role and tag.
pub struct Catalogue {
    entries: Vec<&'static Descriptor>,
}

impl Catalogue {
    /// The catalogue of this program.
    ///
    /// # Errors
    /// No plugin is linked, or two have one tag: both are mistakes of the program.
    pub fn get() -> Result<&'static Catalogue> {
        let grown = GROWN.read().unwrap_or_else(|e| e.into_inner());
        grown.map_or_else(Catalogue::linked, Ok)
    }

    fn linked() -> Result<&'static Catalogue> {
        static CATALOGUE: OnceLock<std::result::Result<Catalogue, String>> = OnceLock::new();
        CATALOGUE
            .get_or_init(|| {
                Catalogue::from_entries(inventory::iter::<Descriptor>.into_iter().collect())
            })
            .as_ref()
            .map_err(|m| Error::Usage(m.clone()))
    }

    /// Adds a plugin in another language, in place of what its command described before.
    ///
    /// # Errors
    /// Another plugin has its name.
    pub fn add(descriptor: Descriptor) -> Result<()> {
        let mut grown = GROWN.write().unwrap_or_else(|e| e.into_inner());
        let now = grown.map_or_else(Catalogue::linked, Ok)?;
        // One file may be several plugins, by what stands behind it.
        let same = |d: &&'static Descriptor| match (&d.script, &descriptor.script) {
            (Some(a), Some(b)) => {
                let as_written = (&a.command, &a.base) == (&b.command, &b.base);
                as_written || (d.file == descriptor.file && a.words() == b.words())
            }
            _ => false,
        };
        let mut entries: Vec<_> = now.entries.iter().copied().filter(|d| !same(d)).collect();
        // Entries live as long as the program, as those do that are linked.
        entries.push(Box::leak(Box::new(descriptor)));
        let catalogue = Catalogue::from_entries(entries).map_err(Error::Usage)?;
        *grown = Some(Box::leak(Box::new(catalogue)));
        Ok(())
    }

    fn from_entries(
        mut entries: Vec<&'static Descriptor>,
    ) -> std::result::Result<Catalogue, String> {
        if entries.is_empty() {
            return Err("registry is empty: no plugin crate is linked; add \
                        \"use mustlink_base_clusterers as _;\" or depend on the facade mustlink"
                .into());
        }
        entries.sort_by_key(|d| (d.role, d.tag, d.file));
        let mut by_tag: Vec<_> = entries.clone();
        by_tag.sort_by_key(|d| (d.tag, d.package, d.file));
        if let Some(pair) = by_tag.windows(2).find(|w| w[0].tag == w[1].tag) {
            let who = |d: &Descriptor| match &d.script {
                Some(_) => format!("the program {}", d.file),
                None => format!("{} in {} ({}:{})", d.type_name, d.package, d.file, d.line),
            };
            return Err(format!(
                "registry: the tag \"{}\" is taken twice: by {} and by {}; rename one",
                pair[0].tag,
                who(pair[0]),
                who(pair[1])
            ));
        }
        let mut names: Vec<(&str, &str)> = entries
            .iter()
            .flat_map(|d| d.aliases.iter().chain([&d.tag]).map(|name| (*name, d.tag)))
            .collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|w| w[0].0 == w[1].0) {
            return Err(format!(
                "registry: the name \"{}\" is taken twice: by {} and by {}; rename one, or drop the alias",
                pair[0].0, pair[0].1, pair[1].1
            ));
        }
        Ok(Catalogue { entries })
    }

    /// All plugins, sorted.
    pub fn all(&self) -> &[&'static Descriptor] {
        &self.entries
    }

    /// The plugins of one role, sorted.
    pub fn role(&self, role: Role) -> impl Iterator<Item = &'static Descriptor> + '_ {
        self.entries.iter().copied().filter(move |d| d.role == role)
    }

    /// The plugin with this tag, otherwise with this alias.
    pub fn find(&self, name: &str) -> Option<&'static Descriptor> {
        let entries = || self.entries.iter().copied();
        entries().find(|d| d.tag == name).or_else(|| entries().find(|d| d.aliases.contains(&name)))
    }
}

/// The nearest of `names` to `word`, when it is near enough to be a slip; of several the one that
/// begins like it.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_of(word, &mut names.into_iter())
}

fn nearest_of<'a>(word: &str, names: &mut dyn Iterator<Item = &'a str>) -> Option<&'a str> {
    let flat = |s: &str| s.to_lowercase().replace(['_', '-', ' '], "");
    let word_flat = flat(word);
    names
        .map(|name| {
            let name_flat = flat(name);
            let distance = strsim::damerau_levenshtein(&word_flat, &name_flat);
            let pairs = word_flat.chars().zip(name_flat.chars());
            (distance, std::cmp::Reverse(pairs.take_while(|(a, b)| a == b).count()), name)
        })
        .filter(|&(distance, _, name)| distance <= 3 && distance * 2 <= name.len())
        .min()
        .map(|(_, _, name)| name)
}

/// `; did you mean "x"?`, or nothing.
pub fn suggestion<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, names).map(|n| format!("; did you mean \"{n}\"?")).unwrap_or_default()
}

/// Builds a plugin of one role from its tag, at its defaults.
///
/// # Errors
/// `NotLinked` when no such plugin is in the program.
pub fn build_default<R: RoleObject + ?Sized>(tag: &str) -> Result<Box<R>> {
    let found = Catalogue::get()?.find(tag).filter(|d| d.role == R::ROLE);
    let descriptor =
        found.ok_or_else(|| Error::NotLinked { role: Some(R::ROLE), tag: tag.into() })?;
    R::from_value(descriptor.default_config())
        .map_err(|message| Error::Plugin { tag: tag.into(), message })
}

/// Registers a plugin: `register!(BaseClusterer, CopKMeans, "cop_kmeans", references: ["Wagstaff2001"]);`
///
/// After the references may stand `aliases: ["cop"]` (other names that are accepted), `version: 2`
/// (results changed) and `waives: ["law" => "reason"]` (a law that cannot hold for this plugin).
#[macro_export]
macro_rules! register {
    ($role:ident, $type:ty, $tag:literal, references: [$($key:literal $(if $option:ident = $value:literal)?),* $(,)?]
     $(, aliases: [$($alias:literal),* $(,)?])?
     $(, version: $version:literal)? $(, waives: [$($law:literal => $reason:literal),* $(,)?])? $(,)?) => {
        impl $crate::roles::Registered for $type {}
        $crate::inventory::submit! {
            $crate::registry::Descriptor {
                role: $crate::registry::Role::$role,
                tag: $tag,
                aliases: &[$($($alias),*)?],
                type_name: stringify!($type),
                references: &[$($key),*],
                cited_if: &[$($(($key, stringify!($option), $value),)?)*],
                version: { let version = 1; $(let _ = version; let version = $version;)? version },
                waivers: &[$($(($law, $reason)),*)?],
                sources: || $crate::crate_sources!(),
                file: file!(),
                line: line!(),
                package: env!("CARGO_PKG_NAME"),
                kind: <$type as $crate::kind::Described>::KIND,
                default: || {
                    $crate::serde_json::to_value(<$type as Default>::default())
                        .expect("plugins serialise to plain tables")
                },
                properties: || $crate::register!(@properties $role, $type),
                script: None,
            }
        }
    };
    (@properties ConsensusFunction, $type:ty) => {
        $crate::serde_json::to_value($crate::roles::ConsensusFunction::needs(&<$type as Default>::default()))
            .expect("plain facts")
    };
    (@properties $role:ident, $type:ty) => {
        $crate::serde_json::to_value($crate::roles::$role::properties(&<$type as Default>::default()))
            .expect("plain facts")
    };
}

/// The plugin in a slot, or the default of the slot, which is named by its tag.
///
/// # Errors
/// `NotLinked` when the default is not in the program.
pub fn slot<'a, R: RoleObject + ?Sized>(
    filled: &'a Option<Box<R>>,
    default: &str,
) -> Result<Cow<'a, Box<R>>>
where
    Box<R>: Clone,
{
    match filled {
        Some(plugin) => Ok(Cow::Borrowed(plugin)),
        None => Ok(Cow::Owned(build_default(default)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptor(tag: &'static str, package: &'static str) -> &'static Descriptor {
        Box::leak(Box::new(Descriptor {
            role: Role::Metric,
            tag,
            aliases: if tag == "k_means" { &["ari"] } else { &[] },
            type_name: "T",
            references: &[],
            cited_if: &[],
            version: 1,
            waivers: &[],
            sources: || "",
            file: "t.rs",
            line: 1,
            package,
            kind: &Kind::Any,
            default: || Value::Null,
            properties: || Value::Null,
            script: None,
        }))
    }

    #[test]
    fn an_empty_registry_is_loud() {
        let message = Catalogue::from_entries(Vec::new()).err().unwrap();
        assert_eq!(
            message,
            "registry is empty: no plugin crate is linked; add \
             \"use mustlink_base_clusterers as _;\" or depend on the facade mustlink"
        );
    }

    #[test]
    fn a_tag_taken_twice_is_loud() {
        let twice = vec![descriptor("ari", "one"), descriptor("ari", "two")];
        let message = Catalogue::from_entries(twice).err().unwrap();
        assert_eq!(
            message,
            "registry: the tag \"ari\" is taken twice: by T in one (t.rs:1) and by T in two (t.rs:1); \
             rename one"
        );
    }

    #[test]
    fn an_alias_leads_to_its_plugin_and_is_no_tag() {
        let found = Catalogue::from_entries(vec![descriptor("k_means", "one")]).unwrap();
        assert_eq!(found.find("ari").unwrap().tag, "k_means");
        let twice = vec![descriptor("ari", "one"), descriptor("k_means", "two")];
        let message = Catalogue::from_entries(twice).err().unwrap();
        assert!(message.contains("the name \"ari\" is taken twice"), "{message}");
    }

    #[test]
    fn slips_are_found() {
        let names = ["min_max", "pck_means", "kmeans"];
        assert_eq!(nearest("minmax", names), Some("min_max"));
        assert_eq!(nearest("pkmeans", names), Some("pck_means"));
        assert_eq!(nearest("something", names), None);
    }
}
