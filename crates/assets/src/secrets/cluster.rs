//! The secrets of a cluster.

use jiff::Timestamp;
use landfall_config::Role;
use landfall_machine_api::{Subject, with_credential};
use rand::Rng;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Token;
use crate::{
    Cluster, Error,
    pki::{Authority, PrivateKey},
};

/// What must stay the same from the first run to the last.
///
/// Made once per cluster, stored with [`Secrets::to_files`], read back with [`Secrets::from_files`].
#[derive(Debug)]
pub struct Secrets {
    pub(super) cluster_ca: Authority,
    pub(super) front_proxy_ca: Authority,
    pub(super) etcd_ca: Authority,
    pub(super) service_account_key: PrivateKey,
    pub(super) config_server_key: PrivateKey,
    pub(super) admin_key: PrivateKey,
    pub(super) tokens: Tokens,
}

/// Random texts, stored together in one file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Tokens {
    cluster_id: Uuid,
    machine: PerRole,
    bootstrap: PerRole,
    certificate_key: Token,
}

/// One token for each role whose machines join the cluster.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PerRole {
    master: Token,
    worker: Token,
}

impl Secrets {
    /// Makes the secrets of a new cluster. Keys get their randomness from the operating system, tokens from `rng`.
    pub fn generate(cluster: &Cluster<'_>, now: Timestamp, rng: &mut impl Rng) -> Result<Self, Error> {
        let pki = &cluster.config.pki;
        let names = ["cluster-ca", "front-proxy-ca", "etcd-ca", "service-account", "config-server", "admin"];
        let [cluster_ca, front_proxy_ca, etcd_ca, service_account_key, config_server_key, admin_key] =
            PrivateKey::generate_all(names, pki.key_algorithm)?;
        let authority =
            |suffix, key| Authority::create(&format!("{}-{suffix}", cluster.infra_id), key, now, pki.ca_validity_days);
        Ok(Self {
            cluster_ca: authority("cluster-ca", cluster_ca)?,
            front_proxy_ca: authority("front-proxy-ca", front_proxy_ca)?,
            etcd_ca: authority("etcd-ca", etcd_ca)?,
            service_account_key,
            config_server_key,
            admin_key,
            tokens: Tokens {
                cluster_id: uuid::Builder::from_random_bytes(rng.random()).into_uuid(),
                machine: PerRole { master: Token::machine(rng), worker: Token::machine(rng) },
                bootstrap: PerRole { master: Token::bootstrap(rng), worker: Token::bootstrap(rng) },
                certificate_key: Token::certificate_key(rng),
            },
        })
    }

    /// Signs everything of the Kubernetes API, and the config server.
    pub fn cluster_ca(&self) -> &Authority {
        &self.cluster_ca
    }

    /// Signs the client with which the API server forwards requests to extension servers.
    pub fn front_proxy_ca(&self) -> &Authority {
        &self.front_proxy_ca
    }

    /// Signs everything of etcd.
    pub fn etcd_ca(&self) -> &Authority {
        &self.etcd_ca
    }

    /// Signs the tokens of service accounts.
    pub fn service_account_key(&self) -> &PrivateKey {
        &self.service_account_key
    }

    /// The config server's key.
    pub fn config_server_key(&self) -> &PrivateKey {
        &self.config_server_key
    }

    /// The administrator's key.
    pub fn admin_key(&self) -> &PrivateKey {
        &self.admin_key
    }

    /// The cluster's unique id.
    pub fn cluster_id(&self) -> Uuid {
        self.tokens.cluster_id
    }

    /// Root of the credentials of a role's machines. It is in no machine's user data.
    pub fn machine_root(&self, role: Role) -> &Token {
        self.tokens.machine.get(role)
    }

    /// Returns what the installer shows the config server of the bootstrap machine.
    pub fn installer_credential(&self) -> SecretString {
        Subject::Installer.credential(self.machine_root(Role::Worker).expose()).into()
    }

    /// Returns the config that one machine is started with, made from the config at `path` that all machines of its role have in common. `run` is when
    /// the run of the installer began that makes the machine; none if a user makes it.
    pub fn with_credential(
        &self,
        role: Role,
        machine: &str,
        run: Option<Timestamp>,
        path: &str,
        config: &[u8],
    ) -> Result<Vec<u8>, Error> {
        let began = run.map(|run| u64::try_from(run.as_second()).unwrap_or_default());
        let subject = began.map_or_else(|| Subject::named(machine), |began| Subject::of_run(machine, began));
        let credential = subject.credential(self.machine_root(role).expose());
        with_credential(config, role.name(), &credential)
            .map_err(|source| Error::ReadIgnition { name: path.to_owned(), source: source.into() })
    }

    /// The kubeadm token with which a machine of a role joins.
    pub fn bootstrap_token(&self, role: Role) -> &Token {
        self.tokens.bootstrap.get(role)
    }

    /// Encrypts the authorities' keys on their way from the first control plane to the masters.
    pub fn certificate_key(&self) -> &Token {
        &self.tokens.certificate_key
    }
}

impl PerRole {
    fn get(&self, role: Role) -> &Token {
        match role {
            Role::Master => &self.master,
            Role::Worker => &self.worker,
        }
    }
}
