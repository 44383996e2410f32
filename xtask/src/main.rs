//! Checks of the workspace itself. Run as `cargo run -p xtask -- <task>`; the Makefile does.

mod layers;

use clap::Parser;

/// Checks of the workspace itself.
#[derive(Parser)]
enum Task {
    /// Fail if a crate depends on one that its layer must not know.
    Layers,
}

fn main() -> anyhow::Result<()> {
    match Task::parse() {
        Task::Layers => layers::check(),
    }
}
