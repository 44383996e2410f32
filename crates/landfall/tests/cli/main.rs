//! The real binary, from outside.

#![allow(clippy::disallowed_methods, reason = "tests write what need not survive")]
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test that panics or prints says where and why")]

mod bad_input;
mod canaries;
mod context;
mod crashes;
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
