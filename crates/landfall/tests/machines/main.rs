//! `landfall machines`, as a program, on a real API server.

#![allow(clippy::disallowed_methods, reason = "tests write what need not survive")]
#![allow(clippy::unwrap_used, reason = "tests")]

mod controller;
mod listing;
mod place;
