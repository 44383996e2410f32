//! The tables of the API's types, grouped as its documentation groups them.
//!
//! Element names and kinds follow the public model of version 4 of the API. Elements of services that are not simulated
//! (Gluster, `OpenStack` providers, Katello, image import) are left out: a reader skips what it does not know.

mod access;
mod activity;
mod compute;
mod hardware;
mod network;
mod storage;
mod vm;
pub(crate) mod words;

pub(crate) use access::*;
pub(crate) use activity::*;
pub(crate) use compute::*;
pub(crate) use hardware::*;
pub(crate) use network::*;
pub(crate) use storage::*;
pub(crate) use vm::*;

use super::schema::Type;

/// The types from which all others can be reached.
pub(super) static ROOTS: &[&Type] = &[
    &API,
    &ACTION,
    &CREATION,
    &VM,
    &SNAPSHOT,
    &EVENT,
    &AFFINITY_GROUP,
    &IMAGE_TRANSFER,
    &QUOTA,
    &BOOKMARK,
    &OS_INFO,
    &CLUSTER_LEVEL,
    &SYSTEM_OPTION,
    &SCHEDULING_POLICY_UNIT,
];

/// The type whose element has that name.
#[cfg(test)]
pub(crate) fn by_element(name: &str) -> Option<&'static Type> {
    super::schema::reachable().into_iter().find(|kind| kind.element == name)
}
