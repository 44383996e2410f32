//! The real binary, from outside.

mod bad_input;
mod context;
mod disk;
mod edits;
mod help;
mod install_config;
mod interplay;
mod openshift;
mod outputs;
mod secrets;
mod stale;
mod targets;
