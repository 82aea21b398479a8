//! Oracles from outside: what they promise, how they err, what they leave behind.

mod ledger;
mod promises;
mod simulated;
