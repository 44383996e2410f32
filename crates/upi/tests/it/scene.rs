//! A cluster with a kit.

use std::fs;

use landfall_assets::Cluster;
use landfall_config::InstallConfig;
use landfall_platform::{File, FileSet, InfraId};
use landfall_upi::{Balancer, Inventory, Made, MadeMachine, kit};
use tempfile::TempDir;

/// Address families.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stack {
    /// IPv4 alone.
    Four,
    /// Both.
    Dual,
}

/// A cluster whose machines have been made.
pub(crate) struct Scene {
    pub(crate) config: InstallConfig,
    pub(crate) infra_id: InfraId,
    pub(crate) inventory: Inventory,
    pub(crate) made: Made,
}

impl Scene {
    pub(crate) fn new(masters: u32, workers: u32, stack: Stack) -> Self {
        let config = config(masters, workers, stack);
        let infra_id: InfraId = "demo-x7k2p".parse().unwrap();
        let mut inventory = Inventory::propose(&Cluster { config: &config, infra_id: &infra_id }).unwrap();
        let balancer = |number: u8| Balancer {
            name: format!("lb-{number}"),
            addresses: match stack {
                Stack::Four => vec![[192, 168, 10, 2 + number].into()],
                Stack::Dual => vec![[192, 168, 10, 2 + number].into(), format!("2001:db8::{number}").parse().unwrap()],
            },
            interface: "eth0".to_owned(),
        };
        inventory.load_balancers = vec![balancer(1), balancer(2)];
        let mac = |number: usize| format!("56:6f:1a:00:{:02x}:{:02x}", number / 256, number % 256);
        let machines = inventory.machines.iter().enumerate();
        let machines =
            machines.map(|(number, machine)| MadeMachine { name: machine.name.clone(), mac: mac(number) }).collect();
        Self { config, infra_id, inventory, made: Made { machines } }
    }

    pub(crate) fn cluster(&self) -> Cluster<'_> {
        Cluster { config: &self.config, infra_id: &self.infra_id }
    }

    /// The kit.
    pub(crate) fn kit(&self) -> FileSet {
        kit(&self.cluster(), &self.inventory, &self.made, &configs(), None).unwrap()
    }

    /// The kit in a directory.
    pub(crate) fn written(&self) -> TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (path, file) in self.kit().iter() {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &file.contents).unwrap();
        }
        directory
    }
}

/// Ignition configs as the install directory has them; what is in them is not the kit's business.
pub(crate) fn configs() -> FileSet {
    let names = ["bootstrap.ign", "master.ign", "worker.ign", "config-server/master.ign", "config-server/worker.ign"];
    let config = |name: &str| {
        let secret = format!("data:,secret-of-{}", name.replace('/', "-"));
        format!(
            r#"{{"ignition":{{"version":"3.3.0"}},"storage":{{"files":[{{"path":"/etc/secret","contents":{{"source":"{secret}"}}}}]}}}}"#
        )
    };
    names.into_iter().map(|name| (name.to_owned(), File::private(config(name)))).collect()
}

pub(crate) fn config(masters: u32, workers: u32, stack: Stack) -> InstallConfig {
    let (networks, services, pods, api, ingress) = match stack {
        Stack::Four => (
            "[{cidr: 192.168.10.0/24}]",
            "[172.30.0.0/16]",
            "[{cidr: 10.128.0.0/14}]",
            "[192.168.10.5]",
            "[192.168.10.6]",
        ),
        Stack::Dual => (
            "[{cidr: 192.168.10.0/24}, {cidr: 2001:db8::/64}]",
            "[172.30.0.0/16, 'fd02::/112']",
            "[{cidr: 10.128.0.0/14}, {cidr: 'fd01::/48'}]",
            "[192.168.10.5, '2001:db8::5']",
            "[192.168.10.6, '2001:db8::6']",
        ),
    };
    let text = format!(
        "apiVersion: v1
metadata: {{name: demo}}
baseDomain: example.com
loadBalancer: userManaged
networking:
  machineNetwork: {networks}
  serviceNetwork: {services}
  clusterNetwork: {pods}
controlPlane: {{replicas: {masters}}}
compute: [{{replicas: {workers}}}]
platform:
  ovirt:
    ovirt_cluster_id: 7a5b0000-0000-4000-8000-0000000c1a01
    ovirt_storage_domain_id: 7a5b0000-0000-4000-8000-00000000da7a
    api_vips: {api}
    ingress_vips: {ingress}
    image: {{template: fcos}}
"
    );
    landfall_config::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}")).config
}
