//! Base clusterers: what groups objects. One file each.

mod parts;

pub use parts::seeds::Unseeded;

automod::dir!(pub "src");
