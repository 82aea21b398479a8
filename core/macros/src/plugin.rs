//! `#[plugin]`: one tag for typetag and the catalogue, and the check of ranges before every run.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Ident, ImplItem, ItemImpl, LitInt, LitStr, Result, Token, bracketed};

/// The roles, each with its one required method.
const ROLES: [(&str, &str); 8] = [
    ("BaseClusterer", "cluster"),
    ("EnsembleGenerator", "generate"),
    ("ConsensusFunction", "combine"),
    ("ConstraintPropagator", "propagate"),
    ("QuerySelector", "start"),
    ("Oracle", "open"),
    ("Metric", "score"),
    ("Transform", "fit"),
];

/// Arguments of `#[plugin(…)]`.
struct Arguments {
    tag: LitStr,
    cites: Vec<Cited>,
    aliases: Vec<LitStr>,
    version: Option<LitInt>,
    waives: Vec<Waiver>,
}

/// `"key"`, or `"key" if option = "value"`.
struct Cited {
    key: LitStr,
    only: Option<(Ident, LitStr)>,
}

impl Parse for Cited {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let key = input.parse()?;
        if !input.peek(Token![if]) {
            return Ok(Cited { key, only: None });
        }
        input.parse::<Token![if]>()?;
        let option = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok(Cited { key, only: Some((option, input.parse()?)) })
    }
}

impl ToTokens for Cited {
    fn to_tokens(&self, to: &mut TokenStream) {
        self.key.to_tokens(to);
        if let Some((option, value)) = &self.only {
            to.extend(quote!(if #option = #value));
        }
    }
}

/// `"law" => "reason"`.
struct Waiver {
    law: LitStr,
    reason: LitStr,
}

impl Parse for Waiver {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let law = input.parse()?;
        input.parse::<Token![=>]>()?;
        Ok(Waiver { law, reason: input.parse()? })
    }
}

fn list<T: Parse>(input: ParseStream<'_>) -> Result<Vec<T>> {
    let inside;
    bracketed!(inside in input);
    Ok(Punctuated::<T, Token![,]>::parse_terminated(&inside)?.into_iter().collect())
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let tag: LitStr = input
            .parse()
            .map_err(|e| Error::new(e.span(), "begins with the tag: #[plugin(\"my_means\")]"))?;
        let (cites, aliases, waives) = (Vec::new(), Vec::new(), Vec::new());
        let mut made = Arguments { tag, cites, aliases, version: None, waives };
        let mut words: Vec<Ident> = Vec::new();
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let word: Ident = input.parse()?;
            if words.contains(&word) {
                return Err(Error::new(word.span(), format!("`{word}` occurs twice")));
            }
            words.push(word.clone());
            input.parse::<Token![=]>()?;
            match word.to_string().as_str() {
                "cites" => made.cites = list(input)?,
                "aliases" => made.aliases = list(input)?,
                "version" => made.version = Some(input.parse()?),
                "waives" => made.waives = list(input)?,
                _ => {
                    let message =
                        format!("no word `{word}` here; accepted: cites, aliases, version, waives");
                    return Err(Error::new(word.span(), message));
                }
            }
        }
        Ok(made)
    }
}

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let Arguments { tag, cites, aliases, version, waives } = syn::parse2(arguments)?;
    let mut item: ItemImpl = syn::parse2(item)?;
    let roles = || ROLES.map(|(role, _)| role).join(", ");
    let Some(path) = item.trait_.as_ref().map(|(path, _)| path.clone()) else {
        let message = format!("needs the implementation of a role: {}", roles());
        return Err(Error::new(item.self_ty.span(), message));
    };
    let role = path.segments.last().expect("a trait has a name").ident.clone();
    let Some((_, required)) = ROLES.iter().find(|(name, _)| role == name) else {
        return Err(Error::new(role.span(), format!("`{role}` is not a role; roles: {}", roles())));
    };
    for inner in &mut item.items {
        if let ImplItem::Fn(method) = inner
            && method.sig.ident == required
        {
            method.block.stmts.insert(0, syn::parse_quote!(__mustlink::options::check(self)?;));
        }
    }
    let aliases = (!aliases.is_empty()).then(|| quote!(, aliases: [#(#aliases),*]));
    let version = version.map(|version| quote!(, version: #version));
    let (laws, reasons): (Vec<_>, Vec<_>) = waives.into_iter().map(|w| (w.law, w.reason)).unzip();
    let waives = (!laws.is_empty()).then(|| quote!(, waives: [#(#laws => #reasons),*]));
    let plugin = &item.self_ty;
    Ok(quote! {
        #[__mustlink::typetag::serde(name = #tag)]
        #item

        __mustlink::register!(#role, #plugin, #tag, references: [#(#cites),*] #aliases #version #waives);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(arguments: TokenStream, item: TokenStream) -> String {
        expand(arguments, item).unwrap_err().to_string()
    }

    #[test]
    fn what_is_wrong_is_named() {
        let item = quote!(
            impl Metrik for Purity {}
        );
        let text = message(quote!("purity"), item);
        assert!(text.starts_with("`Metrik` is not a role; roles: BaseClusterer, "), "{text}");
        let text = message(quote!("purity", cite = []), quote!(impl Metric for Purity {}));
        assert_eq!(text, "no word `cite` here; accepted: cites, aliases, version, waives");
        let twice = quote!("purity", cites = ["A"], version = 2, cites = ["B"]);
        let text = message(twice, quote!(impl Metric for Purity {}));
        assert_eq!(text, "`cites` occurs twice");
        let text = message(quote!(purity), quote!(impl Metric for Purity {}));
        assert_eq!(text, "begins with the tag: #[plugin(\"my_means\")]");
        let text = message(quote!("purity"), quote!(impl Purity {}));
        assert!(text.starts_with("needs the implementation of a role: "), "{text}");
    }

    #[test]
    fn ranges_are_checked_before_the_required_method() {
        let item = quote!(
            impl Metric for Purity {
                fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
                    Ok(None)
                }
                fn properties(&self) -> MetricProperties {
                    MetricProperties::default()
                }
            }
        );
        let cites = quote!("purity", cites = ["Z", "A" if form = "new"], version = 2);
        let made = expand(cites, item).unwrap();
        let text = made.to_string();
        assert_eq!(text.matches("options :: check (self) ?").count(), 1, "{text}");
        let check = text.find("options :: check").unwrap();
        assert!(text.find("fn score").unwrap() < check && check < text.find("Ok (None)").unwrap());
        let register = "register ! (Metric , Purity , \"purity\" , references : [\"Z\" , \"A\" if form = \"new\"] , version : 2)";
        assert!(text.contains(register), "{text}");
    }
}
