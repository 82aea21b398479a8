//! Transforms: steps that change the data before clustering. One file each, named like its tag.
//!
//! A step is fitted to all rows of a data set and then applied to them. Nothing is scaled unless a
//! configuration names the step.

mod parts;

automod::dir!(pub "src");
