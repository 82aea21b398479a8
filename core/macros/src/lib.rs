//! The two attributes of a plugin file, `#[options]` and `#[plugin]`, and the digest of the sources of a crate.
//!
//! They write nothing that could not be written by hand: derives, a table of options,
//! `Default`, and one `register!` call. The chapter "Add a method in one file" of the manual shows
//! what a file expands to. Both need the prelude in scope (`use mustlink::prelude::*;`), which
//! names the crates that the generated code refers to.

mod declared;
mod described;
mod options;
mod plugin;
mod sources;

use std::path::Path;
use std::sync::OnceLock;

use proc_macro::TokenStream;

/// Options of a plugin, each with its meaning, default and range in one place.
///
/// On a struct with named fields, every field is an option. `#[option(…)]` accepts:
///
/// | word | meaning |
/// |---|---|
/// | `default = EXPR` | the value when absent; without it `Default::default()`. A number outside the range does not compile. An `Option` with a default is written out even when it is `None` |
/// | `min = N`, `max = N` | bounds that are legal themselves |
/// | `above = N`, `below = N` | bounds that are not |
/// | `units = N` | the power of the data's unit that the number is in: 1 for a distance, 2 for its square |
/// | `origin = true` | the origin of the data matters: with this variant of an enum, this `bool` if it is true, this `Option` if it is given, or any other option always |
/// | `program = true` | a command: results are kept by the content of its files |
/// | `file = true` | the path of a file: results are kept by its content |
/// | `slot = "tag"` | an `Option<Box<dyn Role>>`; absent means that plugin, and the method of the same name gives the one to use |
/// | `alias = "old_name"` | another name that configurations may use |
/// | `inert = "reason"` | why it changes nothing on the small problems of the laws |
/// | `laws = EXPR` | the value that the laws use instead of the default |
/// | `absent = EXPR` | the meaning of an absent value, as a table by kind of data |
/// | `nonempty = true` | a list that needs an item |
/// | `kind = EXPR` | the `Kind` of its values, if it is not the one of its type |
/// | `flatten` | a struct of options that several plugins share, written without a table of its own; used alone |
///
/// `#[options(origin = true)]` at the struct declares that the origin always matters, as to a method that compares
/// angles.
///
/// On an enum, the options are words in snake_case. An enum whose variants hold values is distinguished
/// by their kind (a number or a word). `#[default]` marks the default; more derives may follow.
#[proc_macro_attribute]
pub fn options(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let made = options::expand(arguments.into(), item.into());
    made.unwrap_or_else(syn::Error::into_compile_error).into()
}

/// The table of a type that serde reads, by the attributes of serde and by `#[option(…)]` as in [`macro@options`].
/// The module `kind` of the core has to be in scope.
#[proc_macro_derive(Described, attributes(option, serde))]
pub fn described(item: TokenStream) -> TokenStream {
    let made = described::derive(item.into());
    made.unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Registers the implementation of a role: `#[plugin("purity", cites = ["ZhaoKarypis2004"])]`.
///
/// The tag is the plugin's name in configurations. `cites` lists keys of the bibliography, one with
/// `if option = "value"` where only that cites it; `aliases = ["other_name"]` are accepted in place of the tag;
/// `version = 2` declares that results changed; `waives = ["law" => "reason"]` excuses from a law.
/// Options out of their declared range are an error before the plugin runs.
#[proc_macro_attribute]
pub fn plugin(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let made = plugin::expand(arguments.into(), item.into());
    made.unwrap_or_else(syn::Error::into_compile_error).into()
}

/// The digest of the sources of the crate being compiled and of those it depends on by path, as a
/// string; empty in a release of ours.
#[proc_macro]
pub fn crate_sources(_: TokenStream) -> TokenStream {
    // Each plugin of a crate asks for the digest, and one process compiles one crate.
    static DIGEST: OnceLock<String> = OnceLock::new();
    let variable = |name| std::env::var(name).unwrap_or_default();
    let digest = DIGEST.get_or_init(|| {
        let folder = variable("CARGO_MANIFEST_DIR");
        sources::of_crate(&variable("CARGO_PKG_NAME"), Path::new(&folder))
    });
    quote::quote!(#digest).into()
}
