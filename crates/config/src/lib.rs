//! The install-config: its types, defaults, validation and documentation.
//!
//! Pure data: nothing here reads a file, a clock or the environment.
//!
//! The way of a file: [`parse`](parse()) checks the bytes, reads them into a generic tree, accepts old spellings with a
//! notice, compares the tree with the JSON Schema of the types, makes the types, fills in defaults and judges the whole.
//! Every step that can find more than one problem reports all of them.

mod defaults;
mod explain;
mod format;
mod normalize;
pub mod parse;
mod path;
mod problem;
mod reference;
mod report;
mod resolve;
mod schema;
mod schema_walk;
mod spelling;
pub mod tree;
mod types;
mod validate;
mod yaml;

pub use defaults::DEFAULT_KUBERNETES_VERSION;
pub use explain::{UnknownField, explain};
pub use parse::{Parsed, parse, parse_tree, parse_yaml};
pub use problem::{ConfigError, Notice, Problem, Problems};
pub use reference::reference;
pub use resolve::{DEFAULT_POWERVS_MEMORY_GIB, PacketPool, PowervmPool, PowervsPool, ResolvedPool, Size};
pub use schema::schema;
pub use types::*;
