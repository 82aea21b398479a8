//! Plugins that are programs in another language.
//!
//! One file per role contains a plugin that runs the program as a child process. They exchange lines of JSON
//! ([`parts::child`]), and arrays as NumPy files ([`parts::exchange`]). A child is kept from one task
//! to the next ([`parts::kept_children`]). A program that describes itself is a plugin with a name of
//! its own ([`parts::scripts`]); results are kept by the files it consists of ([`parts::programs`]).

pub mod parts;

automod::dir!(pub "src");
