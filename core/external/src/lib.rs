//! Plugins that are programs in another language.
//!
//! Its plugin here, one file per role, speaks to it as a child process in lines of JSON
//! ([`parts::child`]), gives it arrays as NumPy files ([`parts::exchange`]) and keeps it from one task
//! to the next ([`parts::kept_children`]). A program that describes itself is a plugin with a name of
//! its own ([`parts::scripts`]); results are kept by the files it consists of ([`parts::programs`]).

pub mod parts;

automod::dir!(pub "src");
