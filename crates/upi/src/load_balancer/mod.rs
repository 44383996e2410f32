//! The load balancer: HAProxy or nginx, and keepalived for a pair of them.

mod haproxy;
mod keepalived;
mod nginx;

use std::net::{IpAddr, SocketAddr};

use landfall_assets::Cluster;
use landfall_platform::{File, FileSet};

use crate::{Inventory, Machine, MachineKind};

/// The files, relative to the kit.
pub(crate) fn files(cluster: &Cluster<'_>, inventory: &Inventory) -> FileSet {
    let ports = Port::all(cluster, inventory);
    let mut files = FileSet::default();
    files.insert("load-balancer/haproxy.cfg", File::public(haproxy::configuration(inventory, &ports)));
    files.insert("load-balancer/nginx.conf", File::public(nginx::configuration(&ports)));
    for balancer in &inventory.load_balancers {
        let path = format!("load-balancer/keepalived-{}.conf", balancer.name);
        files.insert(path, File::public(keepalived::configuration(cluster, inventory, balancer)));
    }
    files
}

/// Which machines stand behind a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backends {
    /// Those with a control plane: the bootstrap machine, as long as there is one, and the masters.
    ControlPlane,
    /// Those with applications: workers, or masters if there are no workers.
    Ingress,
}

/// A port of the load balancer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// What it is called in configurations.
    pub name: &'static str,
    /// What it is for.
    pub purpose: &'static str,
    /// Its number, before and behind the load balancer.
    pub number: u16,
    /// Which machines stand behind it.
    pub backends: Backends,
    /// Where a backend says by HTTPS whether it is well, if it does.
    pub health: Option<&'static str>,
    /// The addresses of the load balancer.
    pub addresses: Vec<IpAddr>,
    /// The machines behind it, by name.
    pub servers: Vec<(String, SocketAddr)>,
}

impl Port {
    /// All ports of a cluster.
    pub fn all(cluster: &Cluster<'_>, inventory: &Inventory) -> Vec<Self> {
        let (api, ingress) = (cluster.config.api_vips(), cluster.config.ingress_vips());
        let port = |name, purpose, number, backends, health| Self {
            name,
            purpose,
            number,
            backends,
            health,
            addresses: if backends == Backends::ControlPlane { api } else { ingress }.to_vec(),
            servers: servers(inventory, backends, number),
        };
        vec![
            port("api", "the Kubernetes API", 6443, Backends::ControlPlane, Some("/readyz")),
            port("config-server", "configs of machines that boot", 22623, Backends::ControlPlane, Some("/healthz")),
            port("http", "applications by HTTP", 80, Backends::Ingress, None),
            port("https", "applications by HTTPS", 443, Backends::Ingress, None),
        ]
    }

    /// Where it listens.
    pub fn sockets(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        self.addresses.iter().map(|address| SocketAddr::new(*address, self.number))
    }
}

fn servers(inventory: &Inventory, backends: Backends, port: u16) -> Vec<(String, SocketAddr)> {
    let has_workers = inventory.of_role(MachineKind::Worker).next().is_some();
    let stands_behind = |machine: &&Machine| match (backends, machine.role) {
        (Backends::ControlPlane, role) => role != MachineKind::Worker,
        (Backends::Ingress, MachineKind::Worker) => true,
        (Backends::Ingress, MachineKind::Master) => !has_workers,
        (Backends::Ingress, MachineKind::Bootstrap) => false,
    };
    let server = |machine: &Machine| Some((machine.name.clone(), SocketAddr::new(*machine.addresses.first()?, port)));
    inventory.machines.iter().filter(stands_behind).filter_map(server).collect()
}
