//! The page: one document with its style and its script inside, and nothing from elsewhere.

use crate::keys::Keys;

/// The page of annotator `own` besides `others`, whose style and script carry `nonce`. Each column of numbers has a
/// range.
pub(crate) fn page(
    nonce: &str,
    keys: &Keys,
    ranges: &[Option<(f64, f64)>],
    (own, others): (&str, Vec<&str>),
) -> String {
    // A key is text inside a script: nothing in it may end that.
    let keys = serde_json::to_string(keys).unwrap_or_default().replace('<', "\\u003c");
    let ranges = serde_json::to_string(ranges).unwrap_or_default();
    let annotators =
        serde_json::to_string(&(own, others)).unwrap_or_default().replace('<', "\\u003c");
    include_str!("page/page.html")
        .replace("NONCE", nonce)
        .replace("/*STYLE*/", include_str!("page/page.css"))
        .replace("/*SCRIPT*/", concat!(include_str!("page/page.js"), include_str!("page/more.js")))
        .replace("/*KEYS*/", &keys)
        .replace("/*RANGES*/", &ranges)
        .replace("/*ANNOTATORS*/", &annotators)
}

/// The content security policy of the page.
pub(crate) fn policy(nonce: &str) -> String {
    format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src 'self'; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}
