//! Requests to the API.

use std::net::{IpAddr, SocketAddr};

use landfall_platform::ErrorClass;
use landfall_wire::{Client, Identity, Limits, Method, Reply, Request, Trust};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use url::Url;

use crate::{Bootstrap, Error, Kubeconfig, bootstrap::ConfigMap};

/// The API of one cluster.
pub struct Api {
    client: Client,
    server: Url,
    kubeconfig: Kubeconfig,
    limits: Limits,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Whether it is ready for workloads.
    pub ready: bool,
    /// Whether it runs the control plane.
    pub control_plane: bool,
    /// Version of its kubelet.
    pub version: String,
    /// Its address inside of the cluster.
    pub address: String,
}

impl Api {
    /// The API that a kubeconfig leads to. If `address` is given, the API's name is not looked up: before the cluster's DNS
    /// records exist, its virtual address is all there is.
    pub fn new(kubeconfig: &Kubeconfig, address: Option<IpAddr>) -> Result<Self, Error> {
        Self::with_limits(kubeconfig, address, Limits::default())
    }

    /// The same with limits of its own, for callers that would rather ask somebody else than wait.
    pub fn with_limits(kubeconfig: &Kubeconfig, address: Option<IpAddr>, limits: Limits) -> Result<Self, Error> {
        let failed = |source| Error::Request { attempt: "preparing to call the cluster", source: Box::new(source) };
        let server = kubeconfig.server.clone();
        let mut client = Client::builder(&Trust::Only(kubeconfig.authority.clone()), limits)
            .map_err(failed)?
            .identity(&Identity { certificate: &kubeconfig.certificate, key: &kubeconfig.key })
            .map_err(failed)?;
        if let (Some(address), Some(host)) = (address, server.host_str()) {
            let port = server.port_or_known_default().unwrap_or(6443);
            client = client.resolve(host, SocketAddr::new(address, port));
        }
        let client = client.build().map_err(failed)?;
        Ok(Self { client, server, kubeconfig: kubeconfig.clone(), limits })
    }

    /// The same API at another address, once that is known.
    pub fn at(&self, address: IpAddr) -> Result<Self, Error> {
        Self::with_limits(&self.kubeconfig, Some(address), self.limits)
    }

    /// Whether the API is ready to serve.
    pub async fn is_ready(&self) -> Result<bool, Error> {
        let reply = self.client.send(Request::get(self.url("readyz"))).await;
        let reply = reply.map_err(|source| Error::Request {
            attempt: "asking the API whether it is ready",
            source: Box::new(source),
        })?;
        Ok(reply.status() == 200)
    }

    /// How far the bootstrap machine is; none if it has not said yet. `complete` means that the control plane has moved to the
    /// masters.
    pub async fn bootstrap(&self) -> Result<Option<Bootstrap>, Error> {
        let path = "api/v1/namespaces/kube-system/configmaps/bootstrap";
        let found: Option<ConfigMap> = self.get("reading ConfigMap kube-system/bootstrap", path).await?;
        Ok(found.map(Bootstrap::from))
    }

    /// All nodes, by name.
    pub async fn nodes(&self) -> Result<Vec<Node>, Error> {
        let list: Option<NodeList> = self.get("listing the nodes", "api/v1/nodes").await?;
        let mut nodes: Vec<_> = list.map(|list| list.items).unwrap_or_default().into_iter().map(Node::from).collect();
        nodes.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(nodes)
    }

    /// Reads a resource as it is, for people who look for what went wrong. The answer's status stands in its first line if it
    /// is not a good one.
    pub async fn text(&self, path: &str) -> Result<String, Error> {
        let failed = |source| Error::Request { attempt: "reading a resource of the API", source: Box::new(source) };
        let reply = self.client.send(Request::get(self.url(path)).accept_json()).await.map_err(failed)?;
        let body = String::from_utf8_lossy(reply.contents());
        Ok(if reply.status() == 200 { body.into_owned() } else { format!("status {}\n{body}", reply.status()) })
    }

    /// Makes an object be as told by server-side apply, in the name of `landfall`. `path` is that of the object.
    pub async fn apply(&self, attempt: &'static str, path: &str, object: &Value) -> Result<(), Error> {
        let url = self.url(&format!("{path}?fieldManager=landfall&force=true"));
        let request = Request::patch(url, "application/apply-patch+yaml", object.to_string().into());
        self.change(attempt, request).await
    }

    /// Adds an object to the collection at `path`. Returns false if there is one of its name.
    pub async fn create(&self, attempt: &'static str, path: &str, object: &Value) -> Result<bool, Error> {
        let failed = |source| Error::Request { attempt, source: Box::new(source) };
        let request = Request::json(Method::POST, self.url(path), object).accept_json();
        let reply = self.client.send(request).await.map_err(failed)?;
        if reply.status() == 409 {
            return Ok(false);
        }
        reply.successful().map(|_| true).map_err(failed)
    }

    /// Replaces an object or a part of it.
    pub async fn replace(&self, attempt: &'static str, path: &str, object: &Value) -> Result<(), Error> {
        self.change(attempt, Request::json(Method::PUT, self.url(path), object)).await
    }

    /// Deletes an object. One that is not there counts as deleted.
    pub async fn delete(&self, attempt: &'static str, path: &str) -> Result<(), Error> {
        match self.change(attempt, Request::delete(self.url(path))).await {
            Err(error) if error.class() == ErrorClass::NotFound => Ok(()),
            result => result,
        }
    }

    async fn change(&self, attempt: &'static str, request: Request) -> Result<(), Error> {
        let failed = |source| Error::Request { attempt, source: Box::new(source) };
        self.client.send(request.accept_json()).await.and_then(Reply::successful).map(drop).map_err(failed)
    }

    /// Reads an object or a list; none if there is no such thing.
    pub async fn get<T: DeserializeOwned>(&self, attempt: &'static str, path: &str) -> Result<Option<T>, Error> {
        let failed = |source| Error::Request { attempt, source: Box::new(source) };
        let reply = self.client.send(Request::get(self.url(path)).accept_json()).await.map_err(failed)?;
        match reply.successful() {
            Ok(reply) => reply.json().map(Some).map_err(failed),
            Err(error) if error.class() == ErrorClass::NotFound => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    fn url(&self, path: &str) -> Url {
        self.server.join(path).expect("a path below a server is a URL")
    }
}

#[derive(Deserialize)]
struct NodeList {
    #[serde(default)]
    items: Vec<NodeObject>,
}

#[derive(Deserialize)]
struct NodeObject {
    metadata: Metadata,
    #[serde(default)]
    status: NodeStatus,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
    #[serde(default)]
    labels: std::collections::BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct NodeStatus {
    #[serde(default)]
    conditions: Vec<Condition>,
    #[serde(default)]
    addresses: Vec<Address>,
    #[serde(default)]
    node_info: NodeInfo,
}

#[derive(Deserialize)]
struct Condition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
}

#[derive(Deserialize)]
struct Address {
    #[serde(rename = "type")]
    kind: String,
    address: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct NodeInfo {
    #[serde(default)]
    kubelet_version: String,
}

impl From<NodeObject> for Node {
    fn from(object: NodeObject) -> Self {
        let NodeObject { metadata, status } = object;
        Self {
            name: metadata.name,
            ready: status.conditions.iter().any(|condition| condition.kind == "Ready" && condition.status == "True"),
            control_plane: metadata.labels.contains_key("node-role.kubernetes.io/control-plane"),
            version: status.node_info.kubelet_version,
            address: status
                .addresses
                .into_iter()
                .find(|address| address.kind == "InternalIP")
                .map(|address| address.address)
                .unwrap_or_default(),
        }
    }
}
