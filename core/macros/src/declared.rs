//! The declarations of `#[option(…)]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Error, Expr, GenericArgument, Ident, LitStr, PathArguments, Result, Token, Type,
};

/// Words accepted in `#[option(…)]`.
pub(crate) const WORDS: [&str; 17] = [
    "default", "min", "max", "above", "below", "units", "origin", "program", "file", "slot",
    "alias", "flatten", "inert", "kind", "nonempty", "laws", "absent",
];

/// The words that bound a number.
pub(crate) const RANGE: [&str; 4] = ["min", "max", "above", "below"];

/// One word of `#[option(…)]` with its value, if it has one.
#[derive(Clone)]
pub(crate) struct Setting {
    pub word: Ident,
    pub value: Option<Expr>,
}

impl Parse for Setting {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let word: Ident = input.parse()?;
        let known = WORDS.iter().any(|w| word == w);
        if !known {
            let message = format!("no word `{word}` here; accepted: {}", WORDS.join(", "));
            return Err(Error::new(word.span(), message));
        }
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            Some(input.parse::<Expr>()?)
        } else {
            None
        };
        match (word == "flatten", &value) {
            (true, Some(value)) => Err(Error::new(value.span(), "`flatten` takes no value")),
            (false, None) => {
                let message = format!("`{word}` needs a value: {word} = …");
                Err(Error::new(word.span(), message))
            }
            _ => Ok(Setting { word, value }),
        }
    }
}

/// Declarations of `#[option(…)]` for one option.
#[derive(Clone, Default)]
pub(crate) struct Declared {
    pub settings: Vec<Setting>,
}

impl Declared {
    /// Takes the `#[option(…)]` attributes out of `attributes`.
    pub fn take(attributes: &mut Vec<Attribute>) -> Result<Declared> {
        let mut settings: Vec<Setting> = Vec::new();
        for attribute in attributes.extract_if(.., |a| a.path().is_ident("option")) {
            let list = Punctuated::<Setting, Token![,]>::parse_terminated;
            for setting in attribute.parse_args_with(list)? {
                if settings.iter().any(|s| s.word == setting.word) {
                    let message = format!("`{}` occurs twice", setting.word);
                    return Err(Error::new(setting.word.span(), message));
                }
                settings.push(setting);
            }
        }
        let declared = Declared { settings };
        for [a, b] in [["min", "above"], ["max", "below"], ["slot", "default"]] {
            if let (Some(_), Some(second)) = (declared.find(a), declared.find(b)) {
                let message = format!("`{a}` and `{b}` exclude each other");
                return Err(Error::new(second.word.span(), message));
            }
        }
        let other = declared.settings.iter().find(|s| s.word != "flatten");
        if let (Some(_), Some(other)) = (declared.find("flatten"), other) {
            let message = format!("`flatten` and `{}` exclude each other", other.word);
            return Err(Error::new(other.word.span(), message));
        }
        for word in ["origin", "program", "file", "nonempty"] {
            if let Some(value) = declared.value(word)
                && quote!(#value).to_string() != "true"
            {
                let message = format!("`{word}` can only be true");
                return Err(Error::new(value.span(), message));
            }
        }
        Ok(declared)
    }

    /// Rejects declarations that have no effect at an option of this type, and a default outside its range.
    pub fn at_option(self, ty: &Type) -> Result<Self> {
        let list = argument_of(option_of(ty).unwrap_or(ty), "Vec").is_some();
        let range = self.settings.iter().find(|s| RANGE.iter().any(|word| s.word == word));
        if let Some(range) = range.filter(|_| list) {
            let message = "a list has no range: check its values where the plugin begins";
            return Err(Error::new(range.word.span(), message));
        }
        // Numbers that are written out; the value of another expression is not known here.
        let text = |word: &str| self.value(word).map(|v| quote!(#v).to_string().replace(' ', ""));
        let number = |word: &str| text(word)?.replace('_', "").parse::<f64>().ok();
        let excludes = |word: &str, default: f64| {
            number(word).is_some_and(|bound| match word {
                "min" => default < bound,
                "max" => default > bound,
                "above" => default <= bound,
                _ => default >= bound,
            })
        };
        if let (Some(value), Some(default)) = (self.value("default"), number("default"))
            && let Some(word) = RANGE.into_iter().find(|&word| excludes(word, default))
        {
            let [shown, bound] = ["default", word].map(|word| text(word).unwrap_or_default());
            let message = format!("default = {shown} is outside the range: {word} = {bound}");
            return Err(Error::new(value.span(), message));
        }
        // The schema of a type without a sign begins at 0 by itself, so no law can see what was forgotten.
        if self.find("min").is_none() && self.find("above").is_none() && is_count(ty) {
            let message = "a count without a smallest value: add #[option(min = 1)], or min = 0 if 0 is legal";
            return Err(Error::new(ty.span(), message));
        }
        Ok(self)
    }

    pub fn has(&self, word: &str) -> bool {
        self.find(word).is_some()
    }

    pub fn find(&self, word: &str) -> Option<&Setting> {
        self.settings.iter().find(|s| s.word == word)
    }

    /// Adds a word without a value.
    pub fn add(&mut self, word: &str) {
        self.settings.push(Setting { word: format_ident!("{word}"), value: None });
    }

    pub fn value(&self, word: &str) -> Option<&Expr> {
        self.find(word)?.value.as_ref()
    }

    pub fn text(&self, word: &str) -> Result<Option<LitStr>> {
        self.value(word).map(|value| syn::parse2(quote!(#value))).transpose()
    }

    /// Gives a count without a ceiling of its own the one that all counts have.
    pub fn with_ceiling(mut self, ty: &Type) -> Self {
        let ty = number_of(ty);
        let named = |name: &str| is_named(ty, name);
        let ceiling: Expr = match (named("usize") || named("u32"), named("u64")) {
            (true, _) => syn::parse_quote!(1_000_000_000),
            // Bytes and pairs: whole numbers up to here, and a little above, are exact in every format.
            (_, true) => syn::parse_quote!(4_503_599_627_370_496u64),
            _ => return self,
        };
        if self.find("max").is_none() && self.find("below").is_none() {
            let word = format_ident!("max");
            self.settings.push(Setting { word, value: Some(ceiling) });
        }
        self
    }

    /// The range of a number, as an expression.
    pub fn range(&self, root: &TokenStream) -> TokenStream {
        let bounds = RANGE.map(|word| {
            let (name, bound) = (format_ident!("{word}"), self.value(word));
            bound.map(|bound| quote!(#name: ::std::option::Option::Some((#bound) as f64),))
        });
        quote!(#root::Range { #(#bounds)* ..#root::Range::ANY })
    }
}

pub(crate) fn option_of(ty: &Type) -> Option<&Type> {
    argument_of(ty, "Option")
}

pub(crate) fn is_named(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident(name))
}

/// The number in an option that may be absent, or "auto".
pub(crate) fn number_of(ty: &Type) -> &Type {
    let ty = option_of(ty).unwrap_or(ty);
    argument_of(ty, "AutoOr").unwrap_or(ty)
}

pub(crate) fn is_count(ty: &Type) -> bool {
    ["usize", "u64", "u32", "u16", "u8"].iter().any(|name| is_named(number_of(ty), name))
}

/// The argument of a generic type of this name: `T` of `Option<T>`.
pub(crate) fn argument_of<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|s| s.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(inner) => Some(inner),
        _ => None,
    }
}
