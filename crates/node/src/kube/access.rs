//! Ways to the API.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

use landfall_cluster::{Api, Kubeconfig};
use landfall_platform::{ErrorClass, error_chain};
use landfall_wire::Limits;
use serde_json::Value;
use url::Url;

use super::ClusterNode;
use crate::{Error, machine::Machine};

/// The administrator's kubeconfig on machines of the control plane, where kubeadm puts it.
pub const ADMIN_CONFIG: &str = "/etc/kubernetes/admin.conf";
/// The kubelet's kubeconfig on every node.
pub const KUBELET_CONFIG: &str = "/etc/kubernetes/kubelet.conf";

/// Short ones: there is another way, and the next round comes soon.
const LIMITS: Limits = Limits { connect: Duration::from_secs(2), exchange: Duration::from_secs(10), answer: 64 << 20 };

/// Ways from a machine to the API, the preferred one first.
#[derive(Clone, Debug)]
pub struct Access {
    ways: Vec<Way>,
    virtual_addresses: Vec<IpAddr>,
}

/// A kubeconfig, and a server other than the one that it names.
#[derive(Clone, Debug)]
struct Way {
    kubeconfig: PathBuf,
    server: Option<Url>,
    address: Option<IpAddr>,
}

impl Access {
    /// The ways of a machine. One of the control plane asks its own API server first, so that it does not depend on the
    /// virtual address that it helps to hold; a worker has only the kubelet's identity.
    pub fn of(machine: &Machine) -> Self {
        let local = local_server(machine.facts.api.port);
        let ways = [(ADMIN_CONFIG, Some(local)), (ADMIN_CONFIG, None), (KUBELET_CONFIG, None)];
        Self {
            ways: ways.map(|(path, server)| Way { kubeconfig: path.into(), server, address: None }).into(),
            virtual_addresses: machine.virtual_addresses(),
        }
    }

    /// One way only. `local` asks the API server of this machine instead of the one that the kubeconfig names.
    pub fn only(machine: &Machine, kubeconfig: &Path, local: bool) -> Self {
        let server = local.then(|| local_server(machine.facts.api.port));
        Self::one(machine, Way { kubeconfig: kubeconfig.to_owned(), server, address: None })
    }

    /// Whoever listens at an address, who must show that it serves the cluster's API: it is called by the API's name.
    pub fn at(machine: &Machine, kubeconfig: &Path, address: SocketAddr) -> Self {
        let server = url(&machine.facts.api.internal_name, address.port());
        let way = Way { kubeconfig: kubeconfig.to_owned(), server: Some(server), address: Some(address.ip()) };
        Self::one(machine, way)
    }

    fn one(machine: &Machine, way: Way) -> Self {
        Self { ways: vec![way], virtual_addresses: machine.virtual_addresses() }
    }

    /// All nodes of the cluster, by the first way that works.
    pub async fn nodes(&self) -> Result<Vec<ClusterNode>, Error> {
        // From the API server's cache: every machine asks every few seconds.
        let list = self.get("listing the nodes", "api/v1/nodes?resourceVersion=0").await?;
        Ok(ClusterNode::read_list(&list.unwrap_or_default(), &self.virtual_addresses))
    }

    /// One node, if it is there.
    pub async fn node(&self, name: &str) -> Result<Option<Value>, Error> {
        self.get("reading a node", &format!("api/v1/nodes/{name}")).await
    }

    /// Whether the API is ready.
    pub async fn is_ready(&self) -> Result<bool, Error> {
        Ok(self.call(Call::IsReady).await?.is_some())
    }

    /// Reads an object or a list, if it is there.
    pub async fn get(&self, attempt: &'static str, path: &str) -> Result<Option<Value>, Error> {
        self.call(Call::Get(attempt, path)).await
    }

    /// Makes an object be as told.
    pub async fn apply(&self, attempt: &'static str, path: &str, object: &Value) -> Result<(), Error> {
        self.call(Call::Apply(attempt, path, object)).await.map(drop)
    }

    /// Adds an object to a collection. Returns false if there is one of its name.
    pub async fn create(&self, attempt: &'static str, path: &str, object: &Value) -> Result<bool, Error> {
        self.call(Call::Create(attempt, path, object)).await.map(|created| created.is_some())
    }

    /// Replaces an object or a part of it.
    pub async fn replace(&self, attempt: &'static str, path: &str, object: &Value) -> Result<(), Error> {
        self.call(Call::Replace(attempt, path, object)).await.map(drop)
    }

    /// Deletes an object.
    pub async fn delete(&self, attempt: &'static str, path: &str) -> Result<(), Error> {
        self.call(Call::Delete(attempt, path)).await.map(drop)
    }

    /// Calls by the first way that works.
    async fn call(&self, call: Call<'_>) -> Result<Option<Value>, Error> {
        let mut failures = Vec::new();
        let mut is_refused = false;
        for way in self.ways.iter().filter(|way| way.kubeconfig.exists()) {
            let answer = match way.api() {
                Ok(api) => call.send(&api).await,
                Err(error) => Err(error),
            };
            match answer {
                Ok(answer) => return Ok(answer),
                Err(error) => {
                    is_refused |= is_refusal(&error);
                    failures.push(format!("{way}: {}", error_chain(&error)));
                }
            }
        }
        if failures.is_empty() {
            failures.push("there is no kubeconfig on this machine yet".to_owned());
        }
        Err(Error::NoWay { failures, is_refused })
    }
}

/// What is asked of the API: what is attempted, the path, the object.
#[derive(Clone, Copy)]
enum Call<'a> {
    IsReady,
    Get(&'static str, &'a str),
    Apply(&'static str, &'a str, &'a Value),
    Create(&'static str, &'a str, &'a Value),
    Replace(&'static str, &'a str, &'a Value),
    Delete(&'static str, &'a str),
}

impl Call<'_> {
    async fn send(self, api: &Api) -> Result<Option<Value>, landfall_cluster::Error> {
        match self {
            Self::IsReady => Ok(api.is_ready().await?.then_some(Value::Null)),
            Self::Get(attempt, path) => api.get(attempt, path).await,
            Self::Apply(attempt, path, object) => api.apply(attempt, path, object).await.map(|()| None),
            Self::Create(attempt, path, object) => Ok(api.create(attempt, path, object).await?.then_some(Value::Null)),
            Self::Replace(attempt, path, object) => api.replace(attempt, path, object).await.map(|()| None),
            Self::Delete(attempt, path) => api.delete(attempt, path).await.map(|()| None),
        }
    }
}

impl Way {
    fn api(&self) -> Result<Api, landfall_cluster::Error> {
        let mut kubeconfig = Kubeconfig::load(&self.kubeconfig)?;
        if let Some(server) = &self.server {
            kubeconfig.server = server.clone();
        }
        Api::with_limits(&kubeconfig, self.address, LIMITS)
    }
}

impl std::fmt::Display for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.kubeconfig.display())?;
        self.server.iter().try_for_each(|server| write!(f, " at {server}"))?;
        self.address.iter().try_for_each(|address| write!(f, " on {address}"))
    }
}

/// Returns true if the API did not accept the credentials, or they cannot be used at all: a crash may leave an empty file, and authorities
/// change. Asking again does not help then. That nothing answered is no refusal.
fn is_refusal(error: &landfall_cluster::Error) -> bool {
    use landfall_wire::Error as Wire;
    match error {
        landfall_cluster::Error::Kubeconfig(_) => true,
        landfall_cluster::Error::Request { source, .. } => {
            source.class() == ErrorClass::Auth
                || matches!(**source, Wire::Certificate { .. } | Wire::Identity(_) | Wire::Roots(_) | Wire::NoRoots)
        }
        landfall_cluster::Error::Timeout { .. } => false,
    }
}

/// The API server of this machine; its certificate is valid for the address.
fn local_server(port: u16) -> Url {
    url(&Ipv4Addr::LOCALHOST.to_string(), port)
}

fn url(host: &str, port: u16) -> Url {
    Url::parse(&format!("https://{host}:{port}/")).expect("a host and a port make a URL")
}
