//! What calls do, one file for each subject.

pub(crate) mod console;
pub(crate) mod disk;
pub(crate) mod host;
pub(crate) mod lifetime;
pub(crate) mod migration;
pub(crate) mod network;
pub(crate) mod power;
pub(crate) mod shape;
pub(crate) mod snapshot;
pub(crate) mod volume;
pub(crate) mod watch;
