//! The laws of every plugin of this crate.

use outside_plugin as _;

fn main() {
    mustlink::contract::main_of(env!("CARGO_PKG_NAME"));
}
