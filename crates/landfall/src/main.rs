//! The `landfall` program.
fn main() {}
