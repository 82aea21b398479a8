//! Tests of the whole workspace through the facade.

mod campaign;
mod defaults;
mod groups;
mod messages;
mod meta;
mod ranges;
