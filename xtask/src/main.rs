//! Checks of the workspace itself. Run as `cargo run -p xtask -- <task>`; the Makefile does.

mod layers;
mod waits;

use clap::Parser;

/// Checks of the workspace itself.
#[derive(Parser)]
enum Task {
    /// Fail if a crate depends on one that its layer must not know.
    Layers,
    /// Fail if a loop sleeps again and again and nothing ends it.
    Waits,
}

fn main() -> anyhow::Result<()> {
    match Task::parse() {
        Task::Layers => layers::check(),
        Task::Waits => waits::check(),
    }
}
