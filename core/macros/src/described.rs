//! Tables of options, as expressions: what `#[options]` and `#[derive(Described)]` write about a type.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Data, DeriveInput, Error, Expr, Field, Fields, Ident, Lit, LitStr, Result};
use syn::{Token, Type, Variant, parse_quote};

use crate::declared::{Declared, option_of};

/// The table of a struct.
pub(crate) struct Table<'a> {
    pub name: &'a Ident,
    pub attributes: &'a [Attribute],
    pub closed: bool,
    /// True if a schema lists the options in the order of the source.
    pub ordered: bool,
    /// True if all options together have a default.
    pub default: bool,
    pub options: Vec<TokenStream>,
}

impl Table<'_> {
    pub fn kind(&self, root: &TokenStream) -> TokenStream {
        let Table { name, closed, ordered, options, .. } = self;
        let (text, doc) = (name.to_string(), doc(self.attributes));
        let default = optional(
            self.default
                .then(|| quote!(|| #root::value(&<Self as ::std::default::Default>::default()))),
        );
        quote! {
            #root::Kind::Table(#root::Table {
                id: ::std::concat!(::std::module_path!(), "::", #text),
                name: #text,
                doc: #doc,
                closed: #closed,
                ordered: #ordered,
                default: #default,
                options: &[#(#options),*],
            })
        }
    }
}

/// A field, or the value of a variant, as an option.
pub(crate) struct Opt<'a> {
    pub name: String,
    pub ty: &'a Type,
    pub attributes: &'a [Attribute],
    pub declared: &'a Declared,
    pub default: Option<TokenStream>,
    pub required: bool,
}

impl Opt<'_> {
    pub fn entry(&self, root: &TokenStream) -> TokenStream {
        let Opt { name, ty, declared, required, .. } = self;
        let doc = doc(self.attributes);
        let range = declared.range(root);
        let default = optional(self.default.clone());
        let kind = match declared.value("kind") {
            Some(kind) => quote!(#kind),
            None => quote!(<#ty as #root::Described>::KIND),
        };
        let given = |word| optional(declared.value(word).map(|value| quote!(#value)));
        let [alias, slot, inert, units] = ["alias", "slot", "inert", "units"].map(given);
        let json = |word| {
            let value = declared.value(word);
            optional(value.map(|value| quote!(|| #root::value(&#value))))
        };
        let (laws, absent) = (json("laws"), json("absent"));
        let set = |word: &str| declared.has(word);
        let [flatten, program, file, nonempty] =
            ["flatten", "program", "file", "nonempty"].map(set);
        quote! {
            #root::Opt {
                name: #name,
                alias: #alias,
                doc: #doc,
                kind: #kind,
                range: #range,
                default: #default,
                required: #required,
                flatten: #flatten,
                slot: #slot,
                units: #units,
                program: #program,
                file: #file,
                nonempty: #nonempty,
                inert: #inert,
                laws: #laws,
                absent: #absent,
            }
        }
    }
}

/// The table of an enum. `declared` has the declarations of the values in each variant.
pub(crate) fn choice(
    root: &TokenStream,
    (name, attributes): (&Ident, &[Attribute]),
    variants: &[(&Variant, Vec<Declared>)],
    serde: &Serde,
) -> Result<TokenStream> {
    let (text, doc) = (name.to_string(), doc(attributes));
    let tag = optional(serde.text("tag").map(|tag| quote!(#tag)));
    let closed = serde.has("deny_unknown_fields");
    let variants =
        variants.iter().map(|(variant, declared)| self::variant(root, variant, declared, serde));
    let variants = variants.collect::<Result<Vec<_>>>()?;
    Ok(quote! {
        #root::Kind::Choice(#root::Choice {
            id: ::std::concat!(::std::module_path!(), "::", #text),
            name: #text,
            doc: #doc,
            tag: #tag,
            closed: #closed,
            variants: &[#(#variants),*],
        })
    })
}

fn variant(
    root: &TokenStream,
    variant: &Variant,
    declared: &[Declared],
    serde: &Serde,
) -> Result<TokenStream> {
    let own = Serde::from_attributes(&variant.attrs)?;
    let snake = serde.text("rename_all").is_some();
    let name = variant.ident.to_string();
    let name = if snake { snake_case(&name) } else { name };
    let doc = doc(&variant.attrs);
    let untagged = serde.has("untagged") || own.has("untagged");
    let fields: Vec<(&Field, &Declared)> = variant.fields.iter().zip(declared).collect();
    let content = match (&variant.fields, fields.as_slice()) {
        (Fields::Unit, _) => quote!(#root::Content::Nothing),
        (Fields::Unnamed(_), [(field, declared)]) => {
            let (ty, attributes) = (&field.ty, field.attrs.as_slice());
            let (default, required, name) = (None, false, String::new());
            let value = Opt { name, ty, attributes, declared, default, required }.entry(root);
            quote!(#root::Content::One(#value))
        }
        (Fields::Named(_), fields) => {
            let options =
                fields.iter().map(|(field, declared)| field_entry(root, field, declared, false));
            let options = options.collect::<Result<Vec<_>>>()?;
            quote!(#root::Content::Options(&[#(#options),*]))
        }
        _ => {
            return Err(Error::new(
                variant.ident.span(),
                "a variant holds one value, or options with names",
            ));
        }
    };
    Ok(quote!(#root::Variant { name: #name, doc: #doc, untagged: #untagged, content: #content }))
}

/// `#[derive(Described)]`: the table of a type that serde reads, by the attributes of serde.
pub(crate) fn derive(item: TokenStream) -> Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item)?;
    let root = quote!(kind);
    let serde = Serde::from_attributes(&item.attrs)?;
    let kind = match &item.data {
        Data::Struct(data) => {
            let default = serde.has("default");
            let options = data.fields.iter().map(|field| {
                let declared = Declared::take(&mut field.attrs.clone())?;
                field_entry(&root, field, &declared, default)
            });
            let options = options.collect::<Result<Vec<_>>>()?;
            let closed = serde.has("deny_unknown_fields");
            let (name, attributes, ordered) = (&item.ident, item.attrs.as_slice(), false);
            Table { name, attributes, closed, ordered, default, options }.kind(&root)
        }
        Data::Enum(data) => {
            let take = |field: &Field| Declared::take(&mut field.attrs.clone());
            let declared =
                |variant: &Variant| variant.fields.iter().map(take).collect::<Result<Vec<_>>>();
            let variants = data.variants.iter().map(|variant| Ok((variant, declared(variant)?)));
            let variants = variants.collect::<Result<Vec<_>>>()?;
            choice(&root, (&item.ident, &item.attrs), &variants, &serde)?
        }
        Data::Union(_) => return Err(Error::new(item.ident.span(), "a union has no options")),
    };
    let mut generics = item.generics.clone();
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(#root::Described));
    }
    let (own, arguments, conditions) = generics.split_for_impl();
    Ok(described(&root, &item.ident, (&quote!(#own), &quote!(#arguments #conditions)), &kind))
}

/// The implementation that gives `kind` as the description of a type.
pub(crate) fn described(
    root: &TokenStream,
    name: &Ident,
    (own, arguments): (&TokenStream, &TokenStream),
    kind: &TokenStream,
) -> TokenStream {
    quote! {
        #[allow(clippy::unnecessary_cast, clippy::redundant_closure)]
        impl #own #root::Described for #name #arguments {
            const KIND: &'static #root::Kind = &#kind;
        }
    }
}

/// A field that serde reads, as an option.
fn field_entry(
    root: &TokenStream,
    field: &Field,
    declared: &Declared,
    all_have_defaults: bool,
) -> Result<TokenStream> {
    let serde = Serde::from_attributes(&field.attrs)?;
    let ident =
        field.ident.as_ref().ok_or_else(|| Error::new_spanned(field, "options are named"))?;
    let ty = &field.ty;
    let default = serde.path("default")?;
    let default =
        default.or(serde.has("default").then(|| quote!(<#ty as ::std::default::Default>::default)));
    let optional = all_have_defaults || default.is_some() || option_of(ty).is_some();
    // Absent in a file means the default: where that is nothing, it is not written.
    let skip = serde.path("skip_serializing_if")?;
    let default = default.filter(|_| !serde.has("skip_serializing")).map(|default| match skip {
        Some(skip) => quote! {
            || {
                let default: #ty = #default();
                (!#skip(&default)).then(|| #root::value(&default))
            }
        },
        None => quote!(|| ::std::option::Option::Some(#root::value::<#ty>(&#default()))),
    });
    let mut declared = declared.clone();
    if serde.has("flatten") {
        declared.add("flatten");
    }
    let opt = Opt {
        name: ident.to_string(),
        ty,
        attributes: &field.attrs,
        declared: &declared,
        default,
        required: !optional,
    };
    Ok(opt.entry(root))
}

/// The words of `#[serde(…)]`.
#[derive(Default)]
pub(crate) struct Serde {
    words: Vec<(String, Option<LitStr>)>,
}

impl Serde {
    pub fn from_attributes(attributes: &[Attribute]) -> Result<Serde> {
        let mut serde = Serde::default();
        for attribute in attributes.iter().filter(|a| a.path().is_ident("serde")) {
            attribute.parse_nested_meta(|meta| {
                let word = meta.path.require_ident()?.to_string();
                let given = meta.input.peek(Token![=]);
                let value = given.then(|| meta.value()?.parse::<LitStr>()).transpose()?;
                serde.words.push((word, value));
                Ok(())
            })?;
        }
        Ok(serde)
    }

    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|(own, _)| own == word)
    }

    fn text(&self, word: &str) -> Option<&LitStr> {
        self.words.iter().find(|(own, _)| own == word)?.1.as_ref()
    }

    /// The function that a word names.
    fn path(&self, word: &str) -> Result<Option<TokenStream>> {
        let path = |text: &LitStr| text.parse::<syn::Path>().map(|path| quote!(#path));
        self.text(word).map(path).transpose()
    }
}

/// `Some(value)` or `None`.
fn optional(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(::std::option::Option::Some(#value)),
        None => quote!(::std::option::Option::None),
    }
}

/// The documentation of an item as one text.
fn doc(attributes: &[Attribute]) -> TokenStream {
    let lines = attributes.iter().filter(|a| a.path().is_ident("doc"));
    let lines = lines.filter_map(|a| Some(&a.meta.require_name_value().ok()?.value));
    let lines: Vec<TokenStream> = lines
        .enumerate()
        .map(|(at, line)| {
            let end = if at == 0 { "" } else { "\n" };
            match literal(line) {
                Some(text) => {
                    let text = format!("{end}{}", text.strip_prefix(' ').unwrap_or(&text));
                    quote!(#text)
                }
                None => quote!(#end, #line),
            }
        })
        .collect();
    quote!(::std::concat!(#(#lines),*))
}

fn literal(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Lit(syn::ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        // What a macro hands on.
        Expr::Group(group) => literal(&group.expr),
        _ => None,
    }
}

/// The word of a variant: `min_max` for `MinMax`.
fn snake_case(name: &str) -> String {
    let mut word = String::new();
    for (at, c) in name.char_indices() {
        if at > 0 && c.is_uppercase() {
            word.push('_');
        }
        word.extend(c.to_lowercase());
    }
    word
}
