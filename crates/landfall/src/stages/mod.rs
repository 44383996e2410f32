//! The stages that derive files from the install-config: the same walk for every distribution.

mod certificates;
mod credentials;
mod derive;
mod desk;
mod frozen;
mod generation;
mod kit;
mod kubernetes;
mod openshift;
mod scratch;
mod source;
mod standing;

pub(crate) use certificates::{Certificate, certificates_in};
pub(crate) use derive::{Derived, Request, derive};
pub(crate) use frozen::freeze;
pub(crate) use generation::has_begun;
pub(crate) use kit::KitSource;
pub(crate) use kubernetes::secrets;
pub(crate) use source::Source;
pub(crate) use standing::standings;

use landfall_workdir::{Membership, Stage};

/// The manifests. The user edits, deletes and adds some.
const MANIFESTS: Stage = Stage { name: "manifests", membership: Membership::Open { directories: &["manifests"] } };

/// The same for OpenShift and OKD, whose installer has a second directory for them.
const OPENSHIFT_MANIFESTS: Stage =
    Stage { membership: Membership::Open { directories: &["manifests", "openshift"] }, ..MANIFESTS };

/// What the machines boot with, and what the user needs to reach the cluster.
const IGNITION_CONFIGS: Stage = Stage { name: "ignition-configs", membership: Membership::Closed };

/// What a user with DNS, DHCP and load balancer of their own needs.
const KIT: Stage = Stage { name: "upi", membership: Membership::Closed };

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    Manifests,
    IgnitionConfigs,
    Kit,
}
