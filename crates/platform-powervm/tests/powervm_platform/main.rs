//! The platform: plans, the generic suites over them, preflight, and whose is what.

#![allow(clippy::disallowed_methods, reason = "tests write what need not survive")]
#![allow(clippy::unwrap_used, reason = "a test that panics says where and why")]

mod cluster;
mod failures;
mod plans;
mod preflight;
#[path = "../it/scene.rs"]
#[allow(dead_code, reason = "shared with the tests of the client")]
mod scene;
mod strangers;
mod suites;
mod user_data;
