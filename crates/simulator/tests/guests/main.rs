//! Light guests with the assets of a whole cluster: what boots, what joins, and what does not come up; and real hosts.

#![allow(clippy::disallowed_methods, reason = "tests write what need not survive")]
#![allow(
    clippy::unwrap_used,
    reason = "what tests share is not in test functions itself, which is what the lint looks at"
)]

mod api;
mod client;
mod cluster;
mod crowd;
mod edit;
mod hosts;
mod install;
mod kubectl;
mod network;
mod ovirt;
mod power;
mod powervs;
mod refusals;
mod rig;
