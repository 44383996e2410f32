//! The shell that all simulators share, tried with a toy platform over real sockets.

#![allow(
    clippy::unwrap_used,
    reason = "what tests share is not in test functions itself, which is what the lint looks at"
)]

mod admin;
mod client;
mod clock;
mod docs;
mod faults;
mod limits;
mod restart;
mod serving;
mod toy;
