//! Every law of every plugin of the library, one test each: `role/plugin/law`.

use mustlink as _;

fn main() {
    mustlink::contract::main();
}
