//! Files that survive a crash.
//!
//! A file that is written in place is empty or cut short after a loss of power, and a renamed one may have its old name: the name is stored
//! in the directory, which has an fsync of its own. So whatever must be found again is written here, in four operations: a new file beside
//! the old one, its fsync, the rename, and the directory's fsync. `clippy.toml` refuses the functions that leave one of them out.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests write what need not survive"))]

mod disk;
#[cfg(test)]
mod model;
mod replace;
mod tree;

pub use replace::{Access, remove, rename, write};
pub use tree::{sync_files, sync_tree};
