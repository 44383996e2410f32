//! Light guests with the assets of a whole cluster: what boots, what joins, and what does not come up.

mod client;
mod cluster;
mod crowd;
mod install;
mod network;
mod power;
mod refusals;
mod rig;
