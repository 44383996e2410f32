//! The assets of a small cluster on loopback addresses, rendered as for a user.

use std::net::Ipv4Addr;

use jiff::Timestamp;
use landfall_assets::{Certificates, Cluster, Credentials, Secrets, ignition_configs, manifests, with_hostname};
use landfall_config::{InstallConfig, MachineNetwork, Platform, Role, parse};
use landfall_machine_api::{Subject, with_credential};
use landfall_platform::{FileSet, InfraId};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::network::Network;

const EXAMPLE: &str = include_str!("../../../../examples/ovirt/install-config.yaml");

/// What the install directory of a cluster holds.
pub(crate) struct Assets {
    pub(crate) vip: Ipv4Addr,
    pub(crate) infra_id: InfraId,
    pub(crate) files: FileSet,
    pub(crate) secrets: Secrets,
    pub(crate) certificates: Certificates,
}

impl Assets {
    /// A cluster with the example's three masters and two workers.
    pub(crate) fn render(network: &Network) -> Self {
        let vip = network.address(0, 5);
        let config = config(network, vip);
        let infra_id: InfraId = "demo-x7k2p".parse().unwrap();
        let cluster = Cluster { config: &config, infra_id: &infra_id };
        let secrets = Secrets::generate(&cluster, Timestamp::now(), &mut ChaCha8Rng::seed_from_u64(1)).unwrap();
        let certificates = Certificates::issue(&cluster, &secrets, Timestamp::now()).unwrap();
        let credentials: Credentials = [("ovirt_password".to_owned(), "s3cret".to_owned())].into();
        let manifests = manifests(&cluster, &secrets, Some(&credentials)).unwrap();
        let files = ignition_configs(&cluster, &secrets, &certificates, &manifests, &FileSet::default()).unwrap();
        Self { vip, infra_id, files, secrets, certificates }
    }

    pub(crate) fn bootstrap(&self) -> String {
        self.text("bootstrap.ign")
    }

    /// What a machine of a role that the installer makes gets from its platform.
    pub(crate) fn pointer(&self, role: &str, hostname: &str) -> String {
        self.pointer_with(role, hostname, &Subject::named(hostname))
    }

    /// What a machine gets that shows the credential of `subject`.
    pub(crate) fn pointer_with(&self, role: &str, hostname: &str, subject: &Subject) -> String {
        let pointer = self.text(&format!("{role}.ign"));
        let named = with_hostname(role, pointer.as_bytes(), hostname).unwrap();
        let own = with_credential(&named, role, &self.credential(role, subject)).unwrap();
        String::from_utf8(own).unwrap()
    }

    pub(crate) fn credential(&self, role: &str, subject: &Subject) -> String {
        let role = if role == "master" { Role::Master } else { Role::Worker };
        subject.credential(self.secrets.machine_root(role).expose())
    }

    fn text(&self, path: &str) -> String {
        String::from_utf8(self.files.get(path).unwrap().contents.clone()).unwrap()
    }
}

fn config(network: &Network, vip: Ipv4Addr) -> InstallConfig {
    let mut config = parse(EXAMPLE.as_bytes()).unwrap().config;
    config.networking.machine_network = vec![MachineNetwork { cidr: network.cidr().parse().unwrap() }];
    let Platform::Ovirt(platform) = &mut config.platform else { unreachable!() };
    platform.api_vips = vec![vip.into()];
    platform.ingress_vips = vec![network.address(0, 6).into()];
    config
}
