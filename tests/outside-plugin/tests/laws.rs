//! The laws of every plugin of this crate.

use outside_plugin as _;

/// Counts memory, for the law `memory_is_declared`.
#[global_allocator]
static MEMORY: mustlink::contract::PeakAlloc = mustlink::contract::PeakAlloc;

fn main() {
    mustlink::contract::main_of(env!("CARGO_PKG_NAME"));
}
