//! Tests of the whole workspace through the facade.

mod campaign;
mod defaults;
mod groups;
mod imports;
mod messages;
mod meta;
mod prose;
mod ranges;
