//! `#[options]`: the table of options, reading, writing, defaults and slots from one declaration.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{Attribute, Error, Field, Fields, Ident, Item, ItemEnum, ItemStruct, LitStr};
use syn::{Result, Type};

use crate::declared::{Declared, RANGE, Setting, argument_of, is_named, option_of};
use crate::described::{self, Opt, Serde, Table};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let origin = match arguments.to_string().as_str() {
        "" => false,
        "origin = true" => true,
        _ => {
            let message = "takes `origin = true` at most; write defaults and ranges at the options: \
                           #[option(default = 3, min = 1)]";
            return Err(Error::new(arguments.span(), message));
        }
    };
    match syn::parse2::<Item>(item)? {
        Item::Struct(item) => of_struct(item, origin),
        Item::Enum(_) if origin => {
            let message =
                "`origin = true` of an enum belongs to its variants: #[option(origin = true)]";
            Err(Error::new(arguments.span(), message))
        }
        Item::Enum(item) => of_enum(item),
        other => Err(Error::new(other.span(), "#[options] needs a struct or an enum")),
    }
}

/// The module with the types of tables, as a file of a plugin has it in scope.
fn root() -> TokenStream {
    quote!(__mustlink::kind)
}

fn of_struct(mut item: ItemStruct, origin: bool) -> Result<TokenStream> {
    let Fields::Named(fields) = &mut item.fields else {
        return Err(Error::new(item.ident.span(), "options are named: use a struct with { … }"));
    };
    let mut defaults = Vec::new();
    let mut slots = Vec::new();
    let mut looks = Vec::new();
    looks.extend(origin.then(|| quote!(found.origin_matters = true;)));
    let (mut takes, mut puts, mut options) = (Vec::new(), Vec::new(), Vec::new());
    let root = root();
    for field in &mut fields.named {
        let declared = Declared::take(&mut field.attrs)?.at_option(&field.ty)?;
        let declared = declared.with_ceiling(&field.ty);
        let name = field.ident.clone().expect("a named field");
        let (range, text) = (declared.range(&root), name.to_string());
        looks.push(match declared.find("flatten") {
            Some(_) => {
                quote!(__mustlink::options::Options::look(&self.#name, path, declared, found);)
            }
            None => quote! {
                let at = __mustlink::options::below(path, #text);
                (&&__mustlink::options::Look(&self.#name)).look(&at, &#range, found);
            },
        });
        if declared.find("origin").is_some() {
            let is_set = match &field.ty {
                ty if is_named(ty, "bool") => quote!(self.#name),
                ty if option_of(ty).is_some() => quote!(self.#name.is_some()),
                _ => quote!(true),
            };
            looks.push(quote!(found.origin_matters |= #is_set;));
        }
        let default = declared.value("default");
        // Absent in a configuration means the default: where that is something, nothing is written out.
        let unwritten = option_of(&field.ty).is_some() && default.is_none();
        let alias = declared.text("alias")?;
        let also = alias.iter();
        if declared.find("flatten").is_some() {
            takes.push(quote!(made.#name = __mustlink::options::Table::take(table)?;));
            puts.push(quote!(__mustlink::options::Table::put(&self.#name, table)?;));
        } else {
            takes.push(quote! {
                if let ::std::option::Option::Some(value) =
                    __mustlink::options::take(table, &[#text, #(#also)*])?
                {
                    made.#name = value;
                }
            });
            let put = quote!(__mustlink::options::put(table, #text, &self.#name)?;);
            puts.push(if unwritten { quote!(if self.#name.is_some() { #put }) } else { put });
        }
        defaults.push(match default {
            Some(value) => quote!(#name: #value),
            None => quote!(#name: ::std::default::Default::default()),
        });
        if let Some(tag) = declared.text("slot")? {
            slots.push(slot(field, &tag)?);
            // A plugin that is not named sees the same data as one that is.
            looks.push(quote! {
                if found.defaults && self.#name.is_none() {
                    if let ::std::result::Result::Ok(held) = self.#name() {
                        __mustlink::options::Options::look(&**held, path, declared, found);
                    }
                }
            });
        }
        let (ty, attributes, declared) = (&field.ty, field.attrs.as_slice(), &declared);
        let option = Opt { name: text, ty, attributes, declared, default: None, required: false };
        options.push(option.entry(&root));
    }
    let name = &item.ident;
    let accessors = (!slots.is_empty()).then(|| quote!(impl #name { #(#slots)* }));
    let ranges = ranges(name, &quote!(#(#looks)*));
    let attributes = item.attrs.as_slice();
    let table = Table { name, attributes, closed: true, ordered: true, default: true, options };
    let none = TokenStream::new();
    let described = described::described(&root, name, (&none, &none), &table.kind(&root));
    Ok(quote! {
        #[derive(Debug, Clone)]
        #item

        #described

        impl __mustlink::options::Table for #name {
            fn take(
                table: &mut __mustlink::options::Map,
            ) -> ::std::result::Result<Self, __mustlink::options::Unfit> {
                let mut made = <Self as ::std::default::Default>::default();
                #(#takes)*
                ::std::result::Result::Ok(made)
            }

            fn put(
                &self,
                table: &mut __mustlink::options::Map,
            ) -> ::std::result::Result<(), __mustlink::options::Unfit> {
                #(#puts)*
                ::std::result::Result::Ok(())
            }
        }

        impl<'de> __mustlink::serde::Deserialize<'de> for #name {
            fn deserialize<D: __mustlink::serde::Deserializer<'de>>(
                from: D,
            ) -> ::std::result::Result<Self, D::Error> {
                __mustlink::options::read(from)
            }
        }

        impl __mustlink::serde::Serialize for #name {
            fn serialize<S: __mustlink::serde::Serializer>(
                &self,
                to: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                __mustlink::options::write(self, to)
            }
        }

        impl ::std::default::Default for #name {
            fn default() -> Self {
                #name { #(#defaults),* }
            }
        }

        #ranges

        #accessors
    })
}

/// The check of ranges, of which this is the body.
fn ranges(name: &Ident, body: &TokenStream) -> TokenStream {
    quote! {
        impl __mustlink::options::Options for #name {
            #[allow(unused_variables, clippy::unnecessary_cast)]
            fn look(
                &self,
                path: &str,
                declared: &__mustlink::options::Range,
                found: &mut __mustlink::options::Found,
            ) {
                #[allow(unused_imports)]
                use __mustlink::options::{Ranged as _, Unranged as _};
                #body
            }
        }
    }
}

/// The method that gives the plugin in a slot, or its default.
fn slot(field: &Field, tag: &LitStr) -> Result<TokenStream> {
    let name = field.ident.as_ref().expect("a named field");
    let boxed = option_of(&field.ty).filter(|inner| argument_of(inner, "Box").is_some());
    let Some(boxed) = boxed else {
        let message = "a slot is an Option<Box<dyn Role>>: absent means the plugin it names";
        return Err(Error::new(field.ty.span(), message));
    };
    let role = argument_of(boxed, "Box");
    let visibility = &field.vis;
    let doc = format!("The plugin in the slot `{name}`; absent: `{}`.", tag.value());
    Ok(quote! {
        #[doc = #doc]
        ///
        /// # Errors
        /// `NotLinked` when that one is not in the program.
        #[allow(dead_code)]
        #visibility fn #name(&self) -> __mustlink::error::Result<::std::borrow::Cow<'_, #boxed>> {
            __mustlink::registry::slot::<#role>(&self.#name, #tag)
        }
    })
}

fn of_enum(mut item: ItemEnum) -> Result<TokenStream> {
    let plain = item.variants.iter().all(|v| v.fields.is_empty());
    let marked = |v: &syn::Variant| v.attrs.iter().any(|a| a.path().is_ident("default"));
    let default = item.variants.iter().any(marked).then(|| format_ident!("Default")).into_iter();
    let root = root();
    let (mut looks, mut values) = (Vec::new(), Vec::new());
    for variant in &mut item.variants {
        let declared = of_value(&mut variant.attrs, None)?;
        let origin = declared.find("origin").map(|_| quote!(found.origin_matters = true;));
        let (mut names, mut inside, mut held) = (Vec::new(), Vec::new(), Vec::new());
        for (at, field) in variant.fields.iter_mut().enumerate() {
            let ty = field.ty.clone();
            held.push(of_value(&mut field.attrs, Some(&ty))?);
            let range = held[at].range(&root);
            let bound = field.ident.clone().unwrap_or_else(|| format_ident!("value{at}"));
            inside.push(quote! {
                (&&__mustlink::options::Look(#bound)).look(path, &declared.over(&#range), found);
            });
            names.push(bound);
        }
        let name = &variant.ident;
        let pattern = match &variant.fields {
            Fields::Unit => quote!(Self::#name),
            Fields::Unnamed(_) => quote!(Self::#name(#(#names),*)),
            Fields::Named(_) => quote!(Self::#name { #(#names),* }),
        };
        looks.push(quote!(#pattern => { #origin #(#inside)* }));
        values.push(held);
    }
    // Words are told apart by name, values by their kind.
    let (more, form) = if plain {
        (quote!(Copy, Eq,), quote!(rename_all = "snake_case"))
    } else {
        (quote!(), quote!(untagged))
    };
    let serde = Serde::from_attributes(&[syn::parse_quote!(#[serde(#form)])])?;
    let variants: Vec<_> = item.variants.iter().zip(values).collect();
    let name = &item.ident;
    let kind = described::choice(&root, (name, &item.attrs), &variants, &serde)?;
    let none = TokenStream::new();
    let described = described::described(&root, name, (&none, &none), &kind);
    let ranges = ranges(name, &quote!(match self { #(#looks)* }));
    Ok(quote! {
        #[derive(
            Debug, Clone, PartialEq, #more #(#default,)*
            __mustlink::serde::Serialize, __mustlink::serde::Deserialize,
        )]
        #[serde(crate = "__mustlink::serde", #form)]
        #item

        #described

        #ranges
    })
}

/// Declarations of a variant, or of the value in one.
fn of_value(attributes: &mut Vec<Attribute>, ty: Option<&Type>) -> Result<Declared> {
    let mut declared = Declared::take(attributes)?;
    let other = |s: &&Setting| !RANGE.iter().chain(&["origin", "units"]).any(|word| s.word == word);
    if let Some(setting) = declared.settings.iter().find(other) {
        let message = "a value of an enum has a range at most: min, max, above, below";
        return Err(Error::new(setting.word.span(), message));
    }
    if let Some(ty) = ty {
        if let Some(origin) = declared.find("origin") {
            let message = "`origin` belongs to the variant, not to the value in it";
            return Err(Error::new(origin.word.span(), message));
        }
        declared = declared.at_option(ty)?.with_ceiling(ty);
    }
    Ok(declared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declared::WORDS;

    fn message(item: TokenStream) -> String {
        expand(TokenStream::new(), item).unwrap_err().to_string()
    }

    #[test]
    fn what_is_wrong_is_named() {
        let text = message(quote!(
            struct S {
                #[option(mini = 1)]
                k: usize,
            }
        ));
        let accepted = format!("accepted: {}", WORDS.join(", "));
        assert_eq!(text, format!("no word `mini` here; {accepted}"));
        let text = message(quote!(
            struct S {
                #[option(min = 1, above = 0)]
                k: usize,
            }
        ));
        assert_eq!(text, "`min` and `above` exclude each other");
        let text = message(quote!(
            struct S {
                #[option(min = 1, min = 0)]
                k: usize,
            }
        ));
        assert_eq!(text, "`min` occurs twice");
        let text = message(quote!(
            struct S {
                #[option(min)]
                k: usize,
            }
        ));
        assert_eq!(text, "`min` needs a value: min = …");
        // What would be passed over.
        for (option, said) in [
            (
                quote!(#[option(flatten, min = 1)] k: Shared),
                "`flatten` and `min` exclude each other",
            ),
            (quote!(k: usize), "a count without a smallest value: add #[option(min = 1)]"),
            (quote!(#[option(max = 9)] k: Option<AutoOr<u32>>), "a count without a smallest value"),
            (quote!(#[option(origin = false)] k: f64), "`origin` can only be true"),
            (quote!(#[option(program = false)] k: Vec<String>), "`program` can only be true"),
            (quote!(#[option(min = 1)] k: Vec<usize>), "a list has no range: "),
            (
                quote!(#[option(default = 0, min = 1)] k: usize),
                "default = 0 is outside the range: min = 1",
            ),
            (
                quote!(#[option(default = 0.0, above = 0)] x: f64),
                "default = 0.0 is outside the range: above = 0",
            ),
            (
                quote!(#[option(default = -1_000, min = -1)] x: i64),
                "default = -1_000 is outside the range: min = -1",
            ),
            (
                quote!(#[option(slot = "a", default = None)] k: Option<Box<dyn Metric>>),
                "`slot` and `default` exclude each other",
            ),
        ] {
            let text = message(quote!(struct S { #option, }));
            assert!(text.starts_with(said), "{text}");
        }
        let text = message(quote!(
            struct S {
                #[option(slot = "kmeans")]
                clusterer: Box<dyn BaseClusterer>,
            }
        ));
        assert!(text.starts_with("a slot is an Option<Box<dyn Role>>"), "{text}");
        let text = message(quote!(
            struct S(usize);
        ));
        assert!(text.starts_with("options are named"), "{text}");
        let text = message(quote!(
            enum E {
                Number(#[option(default = 1)] f64),
            }
        ));
        assert!(text.starts_with("a value of an enum has a range at most"), "{text}");
        let text = expand(
            quote!(version = 1),
            quote!(
                struct S {}
            ),
        )
        .unwrap_err()
        .to_string();
        assert!(text.starts_with("takes `origin = true` at most"), "{text}");
    }

    #[test]
    fn the_origin_may_matter_to_a_type_a_value_or_an_option() {
        let written = |arguments, item| expand(arguments, item).unwrap().to_string();
        let always = "found . origin_matters = true ;";
        let text = written(
            quote!(origin = true),
            quote!(
                struct S {}
            ),
        );
        assert!(text.contains(always), "{text}");
        let text = written(
            quote!(),
            quote!(
                struct S {}
            ),
        );
        assert!(!text.contains("origin_matters"), "{text}");
        for (ty, condition) in [
            (quote!(bool), "self . x"),
            (quote!(Option<f64>), "self . x . is_some ()"),
            (quote!(f64), "true"),
        ] {
            let item = quote!(struct S { #[option(origin = true, min = 0.0)] x: #ty });
            let text = written(quote!(), item);
            let condition = format!("found . origin_matters |= {condition} ;");
            assert!(text.contains(&condition), "{text}");
        }
        let text = written(
            quote!(),
            quote!(
                enum E {
                    #[option(origin = true)]
                    A,
                    B,
                }
            ),
        );
        assert!(text.contains(&format!("Self :: A => {{ {always}")), "{text}");
        // What would be passed over.
        let refused = |arguments, item| expand(arguments, item).unwrap_err().to_string();
        let text = refused(
            quote!(origin = true),
            quote!(
                enum E {
                    A,
                }
            ),
        );
        assert!(text.starts_with("`origin = true` of an enum belongs to its variants"), "{text}");
        let text = refused(
            quote!(origin = false),
            quote!(
                struct S {}
            ),
        );
        assert!(text.starts_with("takes `origin = true` at most"), "{text}");
        let text = refused(
            quote!(),
            quote!(
                enum E {
                    A(#[option(origin = true)] f64),
                }
            ),
        );
        assert!(text.starts_with("`origin` belongs to the variant"), "{text}");
    }

    #[test]
    fn everything_is_written_once() {
        let item = quote!(
            struct S {
                #[option(default = 9, min = 1, max = 9)]
                k: usize,
                #[option(default = FEW, min = 1)]
                l: usize,
                #[option(slot = "kmeans")]
                clusterer: Option<Box<dyn BaseClusterer>>,
            }
        );
        let made = expand(TokenStream::new(), item).unwrap().to_string();
        for part in [
            "closed : true",
            "min : :: std :: option :: Option :: Some ((1) as f64)",
            "max : :: std :: option :: Option :: Some ((9) as f64)",
            "k : 9",
            "l : FEW",
            "slot : :: std :: option :: Option :: Some (\"kmeans\")",
            "registry :: slot :: < dyn BaseClusterer > (& self . clusterer , \"kmeans\")",
        ] {
            assert!(made.contains(part), "{part} is missing in\n{made}");
        }
    }
}
