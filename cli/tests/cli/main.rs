//! The program as its users meet it: arguments in; output, messages and exit status out.

mod bad_input;
mod catalogue;
mod consensus;
mod experiments;
mod ledger;
mod methods;
mod plugin;
mod support;
