//! Requests to etcd.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::Path,
    time::Duration,
};

use futures::future::join_all;
use landfall_assets::node::paths;
use landfall_wire::{Client, Identity, Limits, Method, Reply, Request, Trust};
use secrecy::SecretString;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use url::Url;

use super::{
    EtcdMember, Leaving,
    members::{self, Departure},
};
use crate::Error;

const PORT: u16 = 2379;
/// A member that does not answer within this time counts as one that does not.
const PATIENCE: Duration = Duration::from_secs(3);

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
        Self::new(ca, &certificate, &SecretString::from(read("healthcheck-client.key")?))
    }

    /// etcd whose certificates an authority has signed, for a client with this identity.
    pub fn new(authority: String, certificate: &str, key: &SecretString) -> Result<Self, Error> {
        let client = Client::builder(&Trust::Only(authority), Limits::default())
            .and_then(|builder| builder.identity(&Identity { certificate, key }))
            .and_then(landfall_wire::ClientBuilder::build)
            .map_err(|source| Error::Request { attempt: "preparing to call etcd".into(), source: Box::new(source) })?;
        Ok(Self { client })
    }

    /// Where the member on this machine listens.
    pub fn local() -> Url {
        Self::on(Ipv4Addr::LOCALHOST.into())
    }

    /// Where the member on a machine listens.
    pub fn on(address: IpAddr) -> Url {
        let at = SocketAddr::new(address, PORT);
        Url::parse(&format!("https://{at}/")).expect("an address and a port make a URL")
    }

    /// The members, as one of them knows them.
    pub async fn members(&self, at: &Url) -> Result<Vec<EtcdMember>, Error> {
        #[derive(Deserialize)]
        struct List {
            #[serde(default)]
            members: Vec<EtcdMember>,
        }
        // Agreed upon by a majority: what one of them remembers may be long past.
        let agreed = json!({ "linearizable": true });
        let list: List = self.call(at, "listing etcd's members", "cluster/member/list", &agreed).await?;
        Ok(list.members)
    }

    /// Has the member called `name` on `address` leave, after it has handed over the lead. `others` are the addresses of
    /// `stay` members that must be able to do without it.
    pub async fn leave(&self, name: &str, address: IpAddr, others: &[IpAddr], stay: usize) -> Result<(), Error> {
        let Some(&other) = others.first() else {
            return Err(Error::NotYet("no other etcd member is known".to_owned()));
        };
        let other = Self::on(other);
        let departure = members::departure(&self.members(&other).await?, name, stay);
        self.see_off(departure, Some(&Self::on(address)), &other).await
    }

    /// Has the member of a master that goes leave, if the others that answer are a majority without it. A member that does not answer
    /// any more is struck off. `at` is another member.
    pub async fn dismiss(&self, leaving: &Leaving<'_>, at: &Url) -> Result<(), Error> {
        // One alone could not be lost.
        self.strike_off(leaving, 2, at).await
    }

    /// Has the member of a machine that joined only in part leave. One that stays is enough, as it was before the machine came.
    pub async fn take_back(&self, leaving: &Leaving<'_>, at: &Url) -> Result<(), Error> {
        self.strike_off(leaving, 1, at).await
    }

    /// `least` members must stay.
    async fn strike_off(&self, leaving: &Leaving<'_>, least: usize, at: &Url) -> Result<(), Error> {
        let members = self.members(at).await?;
        let answers = join_all(members.iter().map(|member| self.answers(member))).await;
        let alive: Vec<&str> = members
            .iter()
            .zip(&answers)
            .filter(|(_, answers)| **answers)
            .map(|(member, _)| member.id.as_str())
            .collect();
        let departure = members::dismissal(&members, &alive, leaving, least);
        let own = members.iter().find(|member| leaving.is(member) && alive.contains(&member.id.as_str()));
        let own = own.and_then(EtcdMember::endpoint);
        let other = match &departure {
            Departure::MayLeave { successor, .. } => {
                members.iter().find(|member| member.id == *successor).and_then(EtcdMember::endpoint)
            }
            _ => None,
        };
        self.see_off(departure, own.as_ref(), other.as_ref().unwrap_or(at)).await
    }

    /// `own` is where the member that leaves answers, if it does.
    async fn see_off(&self, departure: Departure, own: Option<&Url>, other: &Url) -> Result<(), Error> {
        match departure {
            Departure::Gone => Ok(()),
            Departure::NotYet(why) => Err(Error::NotYet(why)),
            Departure::MayLeave { leaving, successor } => {
                if let Some(own) = own
                    && self.leader(own).await? == leaving
                {
                    let target = json!({ "targetID": successor });
                    let _: Value =
                        self.call(own, "handing over etcd's lead", "maintenance/transfer-leadership", &target).await?;
                }
                let id = json!({ "ID": leaving });
                let _: Value = self.call(other, "removing an etcd member", "cluster/member/remove", &id).await?;
                Ok(())
            }
        }
    }

    /// Whether a member answers and knows a leader.
    async fn answers(&self, member: &EtcdMember) -> bool {
        let Some(at) = member.endpoint() else { return false };
        let leader = tokio::time::timeout(PATIENCE, self.leader(&at)).await;
        matches!(leader, Ok(Ok(leader)) if leader != "0" && !leader.is_empty())
    }

    /// The id of the leader, as a member knows it.
    async fn leader(&self, at: &Url) -> Result<String, Error> {
        #[derive(Deserialize)]
        struct Status {
            #[serde(default)]
            leader: String,
        }
        let status: Status = self.call(at, "asking etcd who leads", "maintenance/status", &json!({})).await?;
        Ok(status.leader)
    }

    async fn call<T: DeserializeOwned>(&self, at: &Url, attempt: &str, path: &str, body: &Value) -> Result<T, Error> {
        let mut url = at.clone();
        url.set_path(&format!("/v3/{path}"));
        let failed = |source| Error::Request { attempt: format!("{attempt} at {at}"), source: Box::new(source) };
        let reply = self.client.send(Request::json(Method::POST, url, body)).await.and_then(Reply::successful);
        reply.map_err(failed)?.json().map_err(failed)
    }
}
