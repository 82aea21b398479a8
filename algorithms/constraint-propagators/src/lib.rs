//! Constraint propagators: what spreads a few constraints over more of the data. One file each.

automod::dir!(pub "src");
