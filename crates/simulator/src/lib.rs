//! Simulated platform APIs, served over the network as products of their own.
//!
//! A simulator is a pure, synchronous [`core::Simulation`] (request in, response out, time as an argument) and the shell in
//! [`core`] that every simulator shares: listener and TLS, clock, faults, request log, admin endpoint, state file.
//! No simulator uses a type of the client crates: what it accepts and answers is judged by clients that other people wrote.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests write what need not survive"))]

pub mod cloudflare;
pub mod core;
pub mod guests;
pub mod ovirt;
pub mod packet;
pub mod powervm;
pub mod powervs;
