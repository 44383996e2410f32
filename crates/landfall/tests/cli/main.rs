//! The real binary, from outside.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test that panics or prints says where and why")]

mod bad_input;
mod context;
mod disk;
mod edits;
mod help;
mod install_config;
mod interplay;
mod openshift;
mod outputs;
mod powervm;
mod reference;
mod secrets;
mod stale;
mod targets;
