//! Who brings traffic to the API and the ingress: a property of platform and install-config together.

use super::{InstallConfig, LoadBalancer, Platform};

/// Who brings traffic to the API and the ingress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointHolder {
    /// The cluster's own machines, with virtual addresses on a segment that they share.
    Machines,
    /// The platform, with addresses or load balancers of its own.
    Platform,
    /// The user.
    User,
}

impl InstallConfig {
    /// Who brings traffic to the API and the ingress.
    pub fn endpoint_holder(&self) -> EndpointHolder {
        match (self.load_balancer, &self.platform) {
            (LoadBalancer::UserManaged, _) => EndpointHolder::User,
            (LoadBalancer::Managed, Platform::Ovirt(_) | Platform::Powervm(_)) => EndpointHolder::Machines,
            (LoadBalancer::Managed, Platform::Packet(_) | Platform::Powervs(_)) => EndpointHolder::Platform,
        }
    }
}
