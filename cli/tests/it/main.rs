//! Tests of the program and of the manual.

mod book;
mod cli;
