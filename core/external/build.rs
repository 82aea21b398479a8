//! Prints where plugin files live, so that a new one is noticed.
fn main() {
    println!("cargo::rerun-if-changed=src");
}
