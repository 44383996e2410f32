//! Checks and generators of the workspace itself. Run as `cargo run -p xtask -- <task>`; the Makefile does.

mod docs;
mod layers;

use clap::Parser;

/// Checks and generators of the workspace.
#[derive(Parser)]
enum Task {
    /// Fail if a crate depends on one that its layer must not know.
    Layers,
    /// Write the generated pages of the book.
    Docs {
        /// Only fail if a page on disk differs from what would be written.
        #[arg(long)]
        check: bool,
    },
}

fn main() -> anyhow::Result<()> {
    match Task::parse() {
        Task::Layers => layers::check(),
        Task::Docs { check } => docs::write(check),
    }
}
