//! The values that options accept, as data.
//!
//! `#[options]` and `#[derive(Described)]` write one table for each type: names, documentation, kinds, ranges and
//! marks. Code that reads, checks, lists or documents options reads the tables.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Map, Value};

pub use mustlink_macros::Described;

pub use crate::range::Range;
use crate::role::Role;

/// A type whose values are described by a table.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not describe the values that it accepts",
    note = "put `#[options]` or `#[derive(Described)]` above the type"
)]
pub trait Described {
    /// Its values.
    const KIND: &'static Kind;
}

/// The values that an option accepts.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// True or false.
    Flag,
    /// A whole number, with the name of its format in a JSON Schema: `uint32`.
    Whole(&'static str),
    /// A number.
    Real,
    /// One of these numbers.
    Listed {
        /// True if they are whole numbers.
        whole: bool,
        /// The numbers.
        numbers: &'static [f64],
    },
    /// A text.
    Text,
    /// One character.
    Character,
    /// Any value.
    Any,
    /// A value, or the word "auto".
    Auto(&'static Kind),
    /// A value that may be absent.
    Maybe(&'static Kind),
    /// A list.
    List(&'static Kind),
    /// A list with one value for each place.
    Tuple(&'static [&'static Kind]),
    /// A table whose keys are free.
    Map(&'static Kind),
    /// A plugin of a role.
    Slot(Role),
    /// A table of options.
    Table(Table),
    /// One of several words or values.
    Choice(Choice),
}

/// A struct of options.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// Its type with the path of its module.
    pub id: &'static str,
    /// Its type.
    pub name: &'static str,
    /// Its documentation, as in the source.
    pub doc: &'static str,
    /// True if unknown options are an error.
    pub closed: bool,
    /// True if a schema lists its options in the order of the source.
    pub ordered: bool,
    /// All options at their defaults, if they are optional as a whole.
    pub default: Option<fn() -> Value>,
    /// Its options, in the order of the source.
    pub options: &'static [Opt],
}

/// An option: a field of a struct.
#[derive(Debug, Clone, Copy)]
pub struct Opt {
    /// Its name.
    pub name: &'static str,
    /// Another name that is accepted.
    pub alias: Option<&'static str>,
    /// Its documentation, as in the source.
    pub doc: &'static str,
    /// The values that it accepts.
    pub kind: &'static Kind,
    /// The range that is declared at the option.
    pub range: Range,
    /// Its default, if it has one of its own. The default of a whole table is [`Table::default`].
    pub default: Option<fn() -> Option<Value>>,
    /// True if it has to be given.
    pub required: bool,
    /// True if its own options are written directly in the parent's table.
    pub flatten: bool,
    /// The plugin that an empty slot means.
    pub slot: Option<&'static str>,
    /// The power of the data's unit that the number is in.
    pub units: Option<i64>,
    /// True if it is a command.
    pub program: bool,
    /// True if it is the path of a file.
    pub file: bool,
    /// True if the list needs an item.
    pub nonempty: bool,
    /// Why it changes nothing on the small problems of the laws.
    pub inert: Option<&'static str>,
    /// The value that the laws use instead of the default.
    pub laws: Option<fn() -> Value>,
    /// The meaning of an absent value, by the kind of data.
    pub absent: Option<fn() -> Value>,
}

impl Opt {
    /// An option without any declaration.
    pub const PLAIN: Opt = Opt {
        name: "",
        alias: None,
        doc: "",
        kind: &Kind::Any,
        range: Range::ANY,
        default: None,
        required: false,
        flatten: false,
        slot: None,
        units: None,
        program: false,
        file: false,
        nonempty: false,
        inert: None,
        laws: None,
        absent: None,
    };
}

/// An enum of words or values.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    /// Its type with the path of its module.
    pub id: &'static str,
    /// Its type.
    pub name: &'static str,
    /// Its documentation, as in the source.
    pub doc: &'static str,
    /// The option that names the variant in a table: `type`.
    pub tag: Option<&'static str>,
    /// True if unknown options of a variant are an error.
    pub closed: bool,
    /// Its variants, in the order of the source.
    pub variants: &'static [Variant],
}

/// A variant of an enum.
#[derive(Debug, Clone, Copy)]
pub struct Variant {
    /// Its word.
    pub name: &'static str,
    /// Its documentation, as in the source.
    pub doc: &'static str,
    /// True if its value is written without the word.
    pub untagged: bool,
    /// Its content.
    pub content: Content,
}

impl Variant {
    /// A word without documentation.
    pub const PLAIN: Variant =
        Variant { name: "", doc: "", untagged: false, content: Content::Nothing };
}

/// Content of a variant.
#[derive(Debug, Clone, Copy)]
pub enum Content {
    /// The word alone.
    Nothing,
    /// One value.
    One(Opt),
    /// A table of options.
    Options(&'static [Opt]),
}

/// The options of a table, those of flattened structs in their places.
pub fn flat(options: &'static [Opt]) -> Vec<&'static Opt> {
    let inner = |option: &'static Opt| match option.kind {
        Kind::Table(table) if option.flatten => flat(table.options),
        _ => vec![option],
    };
    options.iter().flat_map(inner).collect()
}

/// The defaults of the options of a table that have one, by name. `whole` gives those of the table as a whole.
pub fn defaults(options: &[Opt], whole: Option<fn() -> Value>) -> Map<String, Value> {
    let mut all = Map::new();
    for option in options {
        if let Kind::Table(inner) = option.kind
            && option.flatten
        {
            all.extend(defaults(inner.options, inner.default));
        }
    }
    if let Some(Value::Object(whole)) = whole.map(|whole| whole()) {
        all.extend(whole);
    }
    let own = |option: &Opt| Some((option.name.to_string(), option.default?()?));
    all.extend(options.iter().filter_map(own));
    all
}

/// A value of an option as plain JSON.
pub fn value<T: Serialize + ?Sized>(value: &T) -> Value {
    serde_json::to_value(value).expect("options are plain values")
}

macro_rules! described {
    ($($type:ty => $kind:expr;)*) => {$(
        impl Described for $type {
            const KIND: &'static Kind = &$kind;
        }
    )*};
}
described! {
    bool => Kind::Flag;
    u8 => Kind::Whole("uint8");
    u16 => Kind::Whole("uint16");
    u32 => Kind::Whole("uint32");
    u64 => Kind::Whole("uint64");
    usize => Kind::Whole("uint");
    i32 => Kind::Whole("int32");
    i64 => Kind::Whole("int64");
    f64 => Kind::Real;
    String => Kind::Text;
    PathBuf => Kind::Text;
    char => Kind::Character;
    Value => Kind::Any;
    Map<String, Value> => Kind::Map(&Kind::Any);
}

impl<T: Described> Described for Option<T> {
    const KIND: &'static Kind = &Kind::Maybe(T::KIND);
}

impl<T: Described> Described for Vec<T> {
    const KIND: &'static Kind = &Kind::List(T::KIND);
}

impl<T: Described> Described for BTreeMap<String, T> {
    const KIND: &'static Kind = &Kind::Map(T::KIND);
}

impl<A: Described, B: Described> Described for (A, B) {
    const KIND: &'static Kind = &Kind::Tuple(&[A::KIND, B::KIND]);
}
