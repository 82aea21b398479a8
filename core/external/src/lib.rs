//! How does a program in another language take part?
//!
//! It is a child process that is spoken to in lines of JSON ([`child`]), gets arrays as NumPy files
//! ([`exchange`]), is kept from one task to the next ([`kept_children`]), and, where it describes
//! itself, is a plugin with a name of its own ([`scripts`]). Results are kept by the files it consists
//! of ([`programs`]).

pub mod child;
pub mod exchange;
pub mod kept_children;
pub mod programs;
pub mod scripts;
