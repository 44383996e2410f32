//! The install-config: its types, defaults, validation and documentation.
//!
//! Pure data: nothing here reads a file, a clock or the environment.

mod types;

pub use types::*;
