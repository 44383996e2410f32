//! Requests to etcd.

use std::{
    net::{IpAddr, SocketAddr},
    path::Path,
};

use landfall_assets::node::paths;
use landfall_wire::{Client, Identity, Limits, Method, Reply, Request, Trust};
use secrecy::SecretString;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use url::Url;

use super::{EtcdMember, members};
use crate::Error;

const PORT: u16 = 2379;

/// etcd, asked with the identity that kubeadm's health checks use.
pub struct Etcd {
    client: Client,
}

impl Etcd {
    /// etcd of the cluster that this machine is a control-plane node of.
    pub fn of_this_machine() -> Result<Self, Error> {
        let directory = Path::new(paths::KUBERNETES_PKI).join("etcd");
        let read = |name: &str| {
            let path = directory.join(name);
            std::fs::read_to_string(&path).map_err(Error::file("read", path))
        };
        let (ca, certificate) = (read("ca.crt")?, read("healthcheck-client.crt")?);
        let key = SecretString::from(read("healthcheck-client.key")?);
        let client = Client::builder(&Trust::Only(ca), Limits::default())
            .and_then(|builder| builder.identity(&Identity { certificate: &certificate, key: &key }))
            .and_then(landfall_wire::ClientBuilder::build)
            .map_err(|source| Error::Request { attempt: "preparing to call etcd".into(), source: Box::new(source) })?;
        Ok(Self { client })
    }

    /// The members, as one of them knows them.
    pub async fn members(&self, at: IpAddr) -> Result<Vec<EtcdMember>, Error> {
        #[derive(Deserialize)]
        struct List {
            #[serde(default)]
            members: Vec<EtcdMember>,
        }
        let list: List = self.call(at, "listing etcd's members", "cluster/member/list", &json!({})).await?;
        Ok(list.members)
    }

    /// Has the member called `name` on `address` leave, after it has handed over the lead. `others` are the addresses of
    /// `stay` members that must be able to do without it.
    pub async fn leave(&self, name: &str, address: IpAddr, others: &[IpAddr], stay: usize) -> Result<(), Error> {
        let Some(&other) = others.first() else {
            return Err(Error::NotYet("no other etcd member is known".to_owned()));
        };
        match members::departure(&self.members(other).await?, name, stay) {
            members::Departure::Gone => Ok(()),
            members::Departure::NotYet(why) => Err(Error::NotYet(why)),
            members::Departure::MayLeave { leaving, successor } => {
                if self.leader(address).await? == leaving {
                    let target = json!({ "targetID": successor });
                    let _: Value = self
                        .call(address, "handing over etcd's lead", "maintenance/transfer-leadership", &target)
                        .await?;
                }
                let id = json!({ "ID": leaving });
                let _: Value = self.call(other, "removing an etcd member", "cluster/member/remove", &id).await?;
                Ok(())
            }
        }
    }

    /// The id of the leader, as a member knows it.
    async fn leader(&self, at: IpAddr) -> Result<String, Error> {
        #[derive(Deserialize)]
        struct Status {
            #[serde(default)]
            leader: String,
        }
        let status: Status = self.call(at, "asking etcd who leads", "maintenance/status", &json!({})).await?;
        Ok(status.leader)
    }

    async fn call<T: DeserializeOwned>(&self, at: IpAddr, attempt: &str, path: &str, body: &Value) -> Result<T, Error> {
        let at = SocketAddr::new(at, PORT);
        let url = Url::parse(&format!("https://{at}/v3/{path}")).expect("an address and a path make a URL");
        let failed = |source| Error::Request { attempt: format!("{attempt} at {at}"), source: Box::new(source) };
        let reply = self.client.send(Request::json(Method::POST, url, body)).await.and_then(Reply::successful);
        reply.map_err(failed)?.json().map_err(failed)
    }
}
