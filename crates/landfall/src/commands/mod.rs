//! One file per command.

pub(crate) mod completion;
pub(crate) mod create;
pub(crate) mod demo;
pub(crate) mod destroy;
pub(crate) mod dns;
pub(crate) mod docs;
pub(crate) mod explain;
pub(crate) mod gather;
pub(crate) mod graph;
pub(crate) mod machines;
pub(crate) mod nodes;
pub(crate) mod plan;
pub(crate) mod powervm;
pub(crate) mod sim;
pub(crate) mod status;
pub(crate) mod upi;
pub(crate) mod version;
pub(crate) mod wait_for;
