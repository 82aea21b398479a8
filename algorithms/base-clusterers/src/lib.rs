//! Base clusterers: what groups objects. One file each.

automod::dir!(pub "src");
