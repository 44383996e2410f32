//! One file per command.

pub(crate) mod completion;
pub(crate) mod create;
pub(crate) mod docs;
pub(crate) mod explain;
pub(crate) mod graph;
pub(crate) mod status;
pub(crate) mod version;
