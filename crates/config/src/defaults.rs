//! What is assumed where nothing is said.

use std::net::IpAddr;

use crate::{Architecture, Distribution, InstallConfig, NetworkType, Platform, Role};

/// The Kubernetes that is installed when no version is given; digests of its programs are built in.
pub const DEFAULT_KUBERNETES_VERSION: &str = "1.36.4";

impl InstallConfig {
    /// Fills in everything that has a default. Doing it twice changes nothing more.
    #[must_use]
    pub fn with_defaults(mut self) -> Self {
        let default_type =
            if self.distribution.is_openshift() { NetworkType::OvnKubernetes } else { NetworkType::Routed };
        self.networking.network_type.get_or_insert(default_type);
        for network in &mut self.networking.cluster_network {
            let by_family = if network.cidr.addr().is_ipv4() { 23 } else { 64 };
            network.host_prefix.get_or_insert(by_family);
        }
        if self.distribution == Distribution::Kubernetes {
            self.version.get_or_insert_with(|| DEFAULT_KUBERNETES_VERSION.to_owned());
        }
        let vips = match &mut self.platform {
            Platform::Ovirt(ovirt) => Some((&mut ovirt.api_vips, &mut ovirt.ingress_vips)),
            Platform::Powervm(powervm) => Some((&mut powervm.api_vips, &mut powervm.ingress_vips)),
            Platform::Packet(_) | Platform::Powervs(_) => None,
        };
        if let Some((api, ingress)) = vips {
            // The IPv4 address of each is the primary one, as the cluster's networks are ordered.
            api.sort_by_key(IpAddr::is_ipv6);
            ingress.sort_by_key(IpAddr::is_ipv6);
        }
        let architecture = self.architecture();
        for (role, pool) in std::iter::once((Role::Master, &mut self.control_plane))
            .chain(self.compute.iter_mut().map(|pool| (Role::Worker, pool)))
        {
            pool.architecture.get_or_insert(architecture);
            if pool.name.is_empty() {
                role.name().clone_into(&mut pool.name);
            }
        }
        self
    }

    /// The architecture of all machines: that of the first pool which names one, otherwise the platform's usual one.
    pub fn architecture(&self) -> Architecture {
        std::iter::once(&self.control_plane).chain(&self.compute).find_map(|pool| pool.architecture).unwrap_or(
            match self.platform {
                Platform::Ovirt(_) | Platform::Packet(_) => Architecture::Amd64,
                Platform::Powervm(_) | Platform::Powervs(_) => Architecture::Ppc64le,
            },
        )
    }

    /// Number of machines in all pools.
    pub fn machines(&self) -> u64 {
        std::iter::once(&self.control_plane).chain(&self.compute).map(|pool| u64::from(pool.replicas)).sum()
    }

    /// The version of Kubernetes to install, without a leading `v`. Only meaningful for distribution `kubernetes`.
    pub fn kubernetes_version(&self) -> &str {
        self.version.as_deref().unwrap_or(DEFAULT_KUBERNETES_VERSION)
    }

    /// The addresses of the API that are known before anything is made; empty where there are none or somebody else balances
    /// the traffic.
    pub fn api_vips(&self) -> &[IpAddr] {
        match &self.platform {
            Platform::Ovirt(ovirt) => &ovirt.api_vips,
            Platform::Packet(packet) => packet.api_address.as_slice(),
            Platform::Powervm(powervm) => &powervm.api_vips,
            Platform::Powervs(_) => &[],
        }
    }

    /// The addresses of the ingress, as those of the API.
    pub fn ingress_vips(&self) -> &[IpAddr] {
        match &self.platform {
            Platform::Ovirt(ovirt) => &ovirt.ingress_vips,
            Platform::Packet(packet) => packet.ingress_address.as_slice(),
            Platform::Powervm(powervm) => &powervm.ingress_vips,
            Platform::Powervs(_) => &[],
        }
    }

    /// The configuration as YAML, as `install-config.yaml` holds it.
    pub fn to_yaml(&self) -> String {
        // Keys and secrets are long words: broken over lines they are hard to read and to search for.
        let options = serde_saphyr::ser_options! { folded_wrap_chars: usize::MAX };
        serde_saphyr::to_string_with_options(self, options)
            .expect("the types have only text keys, so YAML can hold them")
    }
}
