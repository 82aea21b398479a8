//! The page: one document with its style and its script inside, and nothing from elsewhere.

/// The page, whose style and script carry `nonce`.
pub(crate) fn page(nonce: &str) -> String {
    include_str!("page/page.html")
        .replace("NONCE", nonce)
        .replace("/*STYLE*/", include_str!("page/page.css"))
        .replace("/*SCRIPT*/", include_str!("page/page.js"))
}

/// What the page may do.
pub(crate) fn policy(nonce: &str) -> String {
    format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}
