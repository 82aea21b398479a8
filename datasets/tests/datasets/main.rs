//! Data sets as their users see them: files, names, and the real ones.

mod csv;
mod names;
mod npy;
mod pairs;
mod real;
mod transposed;
mod typed;
