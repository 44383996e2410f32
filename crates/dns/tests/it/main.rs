//! The records of clusters in real zones: BIND and Knot for dynamic updates, moto for Route 53, simulators for Cloudflare and IBM Cloud. What
//! they hold is read by other programs than ours: `dig`, boto3, and the state of the simulator.

#![allow(clippy::disallowed_methods, reason = "tests write what need not survive")]
#![allow(clippy::unwrap_used, reason = "these are tests, all of them")]

mod by_hand;
mod cloudflare;
mod faults;
mod ibm;
mod knot;
mod moto;
mod neighbours;
mod preflight;
mod proxy;
mod route53_answers;
mod scene;
mod suites;
