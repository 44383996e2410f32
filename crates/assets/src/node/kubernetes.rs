//! The machines of a Kubernetes cluster.

use landfall_config::{NetworkType, Role};
use landfall_platform::FileSet;

use super::{
    ConfigSource, NodeConfig, NodeFile, agent, artifacts, containerd, paths, proxy, served_roles, system, trust, units,
};
use crate::{
    Certificates, Cluster, Error, MachineRole, Secrets, kubeadm,
    manifests::is_manifest,
    onprem::{onprem_files, onprem_units},
    pki::Authority,
};

/// The rendered Ignition configs of roles, for machines that serve them.
pub(crate) type ServedConfigs<'a> = &'a [(Role, Vec<u8>)];

/// What the machines of a Kubernetes cluster are made from.
#[derive(Clone, Copy)]
pub(crate) struct KubernetesMachines<'a> {
    /// The cluster.
    pub(crate) cluster: &'a Cluster<'a>,
    /// Its secrets.
    pub(crate) secrets: &'a Secrets,
    /// Its certificates.
    pub(crate) certificates: &'a Certificates,
}

impl KubernetesMachines<'_> {
    /// What is on the bootstrap machine.
    pub(crate) fn bootstrap(self, served: ServedConfigs<'_>, manifests: &FileSet) -> Result<NodeConfig, Error> {
        let mut config = self.machine(MachineRole::Bootstrap, served)?;
        config.files.push(NodeFile::public("/etc/hostname", format!("{}\n", self.cluster.bootstrap_name())));
        config.files.extend(authorities(self.secrets));
        config.files.extend(
            manifests
                .below(crate::manifests::DIRECTORY)
                .filter(|(path, _)| is_manifest(path))
                .map(|(path, file)| NodeFile::private(format!("{}/{path}", paths::MANIFESTS), file.contents.clone())),
        );
        config.units.push(agent::agent_task(self.cluster, "bootstrap", "Bring up the cluster", paths::BOOTSTRAP_DONE));
        Ok(config)
    }

    /// What is on a machine of a pool, beyond its pointer config.
    pub(crate) fn pool(self, role: Role, served: ServedConfigs<'_>) -> Result<NodeConfig, Error> {
        let mut config = self.machine(role.into(), served)?;
        config.units.push(agent::agent_task(self.cluster, "join", "Join the cluster", paths::JOIN_DONE));
        if role == Role::Worker {
            config.files.push(ConfigSource::file(self.cluster, self.secrets, role));
        }
        if role == Role::Master {
            config.units.push(agent::agent_unit(self.cluster, "certificates", "Certificates of the control plane"));
            config.units.push(agent::agent_unit(self.cluster, "etcd", "Members of etcd"));
        }
        Ok(config)
    }

    /// What all machines have in common.
    fn machine(self, role: MachineRole, served: ServedConfigs<'_>) -> Result<NodeConfig, Error> {
        let Self { cluster, secrets, .. } = self;
        let mut files = artifacts::downloads(cluster)?;
        files.push(NodeFile::executable(format!("{}/unpack", paths::SCRIPTS), include_str!("../../templates/unpack")));
        files.extend(containerd::files(cluster.config)?);
        files.extend(system::files(cluster.config));
        files.extend(system::threads(cluster.config, role));
        files.extend(proxy::files(cluster));
        files.extend(onprem_files(cluster, role));
        files.push(NodeFile::private(paths::KUBEADM_CONFIG, kubeadm::config(cluster, secrets, role)?));
        if let Some(pull_secret) = &cluster.config.pull_secret {
            // The kubelet's own place for credentials of registries.
            files.push(NodeFile::private("/var/lib/kubelet/config.json", pull_secret.expose()));
        }

        let mut config = NodeConfig { files, units: vec![units::unpack(), units::containerd(), units::kubelet()] };
        config.units.extend(onprem_units(cluster, role));
        if cluster.config.networking.network_type == Some(NetworkType::Routed) {
            config.units.push(agent::agent_unit(cluster, "network", "Pod network of the cluster"));
        }
        if let Some(bundle) = &cluster.config.additional_trust_bundle {
            config.extend(trust::config(bundle));
        }
        config.extend(self.config_server(role, served));
        Ok(config)
    }

    /// The config server, on machines that serve others.
    fn config_server(self, role: MachineRole, served: ServedConfigs<'_>) -> NodeConfig {
        let roles = served_roles(role);
        if roles.is_empty() {
            return NodeConfig::default();
        }
        let path = |name: &str| format!("{}/{name}", paths::CONFIG_SERVER);
        let mut files = vec![
            NodeFile::public(path("tls.crt"), self.certificates.config_server.pem.as_str()),
            NodeFile::private(path("tls.key"), self.secrets.config_server_key().to_pem()),
        ];
        for (role, config) in served.iter().filter(|(role, _)| roles.contains(role)) {
            files.push(NodeFile::private(path(&format!("{}.ign", role.name())), config.as_slice()));
            let root = format!("{}\n", self.secrets.machine_root(*role).expose());
            files.push(NodeFile::private(path(&format!("{}.root", role.name())), root));
        }
        let unit = agent::agent_unit(self.cluster, "config-server", "Ignition configs for machines that boot");
        NodeConfig { files, units: vec![unit] }
    }
}

/// The authorities and keys that `kubeadm init` takes instead of making its own. Masters get them from there, encrypted.
fn authorities(secrets: &Secrets) -> Vec<NodeFile> {
    let path = |name: &str| format!("{}/{name}", paths::KUBERNETES_PKI);
    let authority = |name: &str, authority: &Authority| {
        [
            NodeFile::public(path(&format!("{name}.crt")), authority.certificate()),
            NodeFile::private(path(&format!("{name}.key")), authority.key().to_pem()),
        ]
    };
    let mut files = Vec::new();
    files.extend(authority("ca", secrets.cluster_ca()));
    files.extend(authority("front-proxy-ca", secrets.front_proxy_ca()));
    files.extend(authority("etcd/ca", secrets.etcd_ca()));
    files.push(NodeFile::private(path("sa.key"), secrets.service_account_key().to_pem()));
    files.push(NodeFile::public(path("sa.pub"), secrets.service_account_key().public_pem()));
    files
}
