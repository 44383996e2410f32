//! The shell that all simulators share, tried with a toy platform over real sockets.

#![allow(clippy::disallowed_methods, reason = "tests write what need not survive")]
#![allow(
    clippy::unwrap_used,
    reason = "what tests share is not in test functions itself, which is what the lint looks at"
)]

mod admin;
mod client;
mod clock;
mod docs;
mod faults;
mod hook;
mod limits;
mod restart;
mod serving;
mod toy;
