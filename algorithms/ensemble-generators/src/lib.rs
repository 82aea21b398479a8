//! Ensemble generators: what makes many base clusterings. One file each.

automod::dir!(pub "src");
