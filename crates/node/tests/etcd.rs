//! Members of a real etcd, when masters go.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::time::Duration;

use landfall_node::{
    Error,
    etcd::{Etcd, Leaving},
};
use landfall_platform::error_chain;
use landfall_testkit::EtcdCluster;
use landfall_wire::{Client, Identity, Limits, Method, Request, Trust};
use secrecy::SecretString;
use serde_json::{Value, json};
use url::Url;

struct Lab {
    cluster: EtcdCluster,
    etcd: Etcd,
    /// Asks as kubeadm would.
    client: Client,
}

impl Lab {
    fn start() -> Self {
        let _installed = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let cluster = EtcdCluster::start(&["m0", "m1", "m2"]);
        let (certificate, key) = cluster.identity();
        let key = SecretString::from(key);
        let etcd = Etcd::new(cluster.authority().to_owned(), &certificate, &key).unwrap();
        let client = Client::builder(&Trust::Only(cluster.authority().to_owned()), Limits::default())
            .and_then(|builder| builder.identity(&Identity { certificate: &certificate, key: &key }))
            .and_then(landfall_wire::ClientBuilder::build)
            .unwrap();
        Self { cluster, etcd, client }
    }

    fn at(&self, name: &str) -> Url {
        self.cluster.url(name).parse().unwrap()
    }

    async fn names(&self, at: &str) -> Vec<String> {
        let members = self.etcd.members(&self.at(at)).await.unwrap();
        let mut names: Vec<_> = members.into_iter().map(|member| member.name).collect();
        names.sort();
        names
    }

    /// Like the masters, which try again: etcd watches connections for a few seconds before it believes them.
    async fn dismiss(&self, name: &str, at: &str) -> Result<(), String> {
        let leaving = Leaving { name, addresses: &[] };
        let mut attempts = 0;
        loop {
            match self.etcd.dismiss(&leaving, &self.at(at)).await {
                Err(Error::Request { .. }) if attempts < 100 => attempts += 1,
                answer => return answer.map_err(|error| error_chain(&error)),
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    async fn ask(&self, at: &str, path: &str, body: &Value) -> (u16, Value) {
        let url = self.at(at).join(&format!("/v3/{path}")).unwrap();
        let reply = self.client.send(Request::json(Method::POST, url, body)).await.unwrap();
        (reply.status(), reply.json().unwrap_or_default())
    }

    /// Adds a member as kubeadm does, when a master joins.
    async fn add(&self, at: &str) -> (u16, Value) {
        let peer = json!({ "peerURLs": ["http://127.0.0.1:1"], "isLearner": true });
        self.ask(at, "cluster/member/add", &peer).await
    }

    async fn leader(&self, at: &str) -> String {
        let leader = self.ask(at, "maintenance/status", &json!({})).await.1["leader"].as_str().unwrap().to_owned();
        let members = self.etcd.members(&self.at(at)).await.unwrap();
        members.into_iter().find(|member| member.id == leader).unwrap().name
    }
}

/// On a thread that stays, to which the members are tied, beside the test's own.
fn with_lab<F: Future<Output = ()>>(test: impl FnOnce(Lab) -> F) {
    let lab = Lab::start();
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(test(lab));
}

#[test]
fn a_dead_master_is_struck_off_and_its_successor_can_join() {
    with_lab(|mut lab| async move {
        lab.cluster.kill("m0");
        let (status, answer) = lab.add("m1").await;
        assert!(status >= 400, "etcd takes nobody while a member is away, which is why it must leave first: {answer}");
        lab.dismiss("m0", "m1").await.unwrap();
        assert_eq!(lab.names("m1").await, ["m1", "m2"]);
        lab.dismiss("m0", "m2").await.unwrap();
        let mut added = (0, Value::Null);
        for _ in 0..100 {
            added = lab.add("m1").await;
            if added.0 == 200 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        assert_eq!(added.0, 200, "{}", added.1);
    });
}

#[test]
fn a_master_that_leads_hands_over_before_it_goes() {
    with_lab(|lab| async move {
        let leader = lab.leader("m0").await;
        let other = ["m0", "m1", "m2"].into_iter().find(|name| *name != leader).unwrap();
        lab.dismiss(&leader, other).await.unwrap();
        let left = lab.names(other).await;
        assert_eq!(left.len(), 2);
        assert!(!left.contains(&leader));
        assert_ne!(lab.leader(other).await, leader);
        // Two are left: a third has to come before another may go.
        let third = left.iter().find(|name| *name != other).unwrap();
        let refused = lab.dismiss(third, other).await.unwrap_err();
        assert!(refused.contains("etcd would be left with 1 members"), "{refused}");
    });
}

#[test]
fn nobody_goes_while_etcd_would_lose_its_majority() {
    with_lab(|mut lab| async move {
        lab.cluster.kill("m0");
        let refused = lab.dismiss("m1", "m2").await.unwrap_err();
        assert!(refused.contains("1 of etcd's other 2 members answer, and 2 must"), "{refused}");
        assert_eq!(lab.names("m2").await, ["m0", "m1", "m2"]);
    });
}
