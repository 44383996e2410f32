//! First uses of credentials in the cluster, where all config servers see them.

use std::{
    collections::HashMap,
    net::IpAddr,
    path::Path,
    sync::{Mutex, PoisonError, RwLock, RwLockReadGuard},
    time::{Duration, Instant},
};

use jiff::Timestamp;
use landfall_machine_api::{GROUP, NAMESPACE, VERSION};
use landfall_platform::error_chain;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    BOOT_TIMEOUT, FirstUse, Fleet, MachineId, Peers, Redemption, Unreadable, contract::is_key_of, successors::FRESH,
};
use crate::{Error, kube::Access};

/// Between two looks at the cluster because of a machine that is not known here.
const PAUSE: Duration = Duration::from_secs(1);

/// Uses that the cluster keeps, and what is known of its machines.
pub struct ClusterUses {
    access: Access,
    namespace: String,
    peers: Peers,
    fleet: RwLock<Option<(Fleet, Instant)>>,
    /// Uses that were granted here: a machine that asks again costs the cluster nothing.
    granted: Mutex<HashMap<String, FirstUse>>,
}

impl ClusterUses {
    /// Nothing is known yet.
    pub fn new(access: Access, peers: Peers) -> Self {
        Self::namespaced(access, peers, NAMESPACE)
    }

    /// The same for machines whose objects are in another namespace than usual.
    pub fn namespaced(access: Access, peers: Peers, namespace: &str) -> Self {
        Self { access, namespace: namespace.to_owned(), peers, fleet: RwLock::default(), granted: Mutex::default() }
    }

    /// Asks the cluster for its machines and nodes.
    pub async fn refresh(&self) -> Result<(), Error> {
        // Before the questions, which may take their time.
        let asked = Instant::now();
        let machines = format!("apis/{GROUP}/{VERSION}/namespaces/{}/machines", self.namespace);
        let machines = self.access.get("listing machines", &machines).await?.unwrap_or_default();
        let nodes = self.access.nodes().await?.into_iter().map(|node| node.name);
        let fleet = Fleet::new(machines["items"].as_array().into_iter().flatten(), nodes);
        *self.fleet.write().unwrap_or_else(PoisonError::into_inner) = Some((fleet, asked));
        let now = Timestamp::now();
        let mut granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
        granted.retain(|_, first| now.duration_since(first.at).unsigned_abs() < BOOT_TIMEOUT);
        Ok(())
    }

    /// Returns the cluster's last answer and the time of the question; none before the first one.
    pub(super) fn fleet(&self) -> RwLockReadGuard<'_, Option<(Fleet, Instant)>> {
        self.fleet.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decides about the use of a machine's credential. The first one is in the cluster before this returns.
    pub async fn redeem(&self, machine: MachineId<'_>, peer: IpAddr, now: Timestamp) -> Result<Redemption, Unreadable> {
        let key = machine.key();
        let unreadable =
            |error: Error| Unreadable::new(&Path::new(&uses(&self.namespace)).join(&key), error_chain(&error));
        let arrived = Instant::now();
        let mut known = self.judge(machine, now);
        // A machine may be younger than the last look, so that none is refused by one from before it came; and it must not look too often.
        if let Some((Some(_), asked)) = known
            && let Some(rest) = PAUSE.checked_sub(asked.elapsed())
        {
            sleep(rest).await;
            known = self.judge(machine, now);
        }
        let is_known = known.as_ref().is_some_and(|(refusal, asked)| match refusal {
            Some(_) => *asked > arrived,
            None => asked.elapsed() < FRESH,
        });
        if !is_known {
            self.refresh().await.map_err(unreadable)?;
            known = self.judge(machine, now);
        }
        if let Some((Some(reason), _)) = known {
            return Ok(Redemption::Refused(reason));
        }
        let granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(first) = granted {
            return Ok(first.again(peer, now, &self.peers));
        }
        let first = self.record(&key, machine, FirstUse::new(peer, now)).await.map_err(unreadable)?;
        let decided = first.again(peer, now, &self.peers);
        self.granted.lock().unwrap_or_else(PoisonError::into_inner).insert(key, first);
        Ok(decided)
    }

    /// Returns the reason why a machine may not fetch its config, as of the last look, and the time of that look.
    fn judge(&self, machine: MachineId<'_>, now: Timestamp) -> Option<(Option<String>, Instant)> {
        self.fleet().as_ref().map(|(fleet, asked)| (fleet.refusal(machine, now), *asked))
    }

    /// Keeps a use, unless there is an earlier one. Returns the first.
    async fn record(&self, key: &str, machine: MachineId<'_>, first: FirstUse) -> Result<FirstUse, Error> {
        let object_name = format!("redeemed-{key}");
        let uses = uses(&self.namespace);
        let mut metadata = json!({ "name": object_name, "namespace": self.namespace });
        let name = machine.name;
        let owner = self.fleet().as_ref().and_then(|(fleet, _)| fleet.uid(name).map(str::to_owned));
        if let Some(owner) = owner {
            metadata["ownerReferences"] = json!([{
                "apiVersion": format!("{GROUP}/{VERSION}"), "kind": "Machine", "name": name, "uid": owner,
            }]);
        }
        let object = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": first });
        if self.access.create("keeping the use of a credential", &uses, &object).await? {
            return Ok(first);
        }
        let there = self.access.get("reading the use of a credential", &format!("{uses}/{object_name}")).await?;
        let there = there.map(|there| serde_json::from_value(there["data"].clone()));
        let unclear = |reason: &str| Error::NotYet(format!("ConfigMap {}/{object_name}: {reason}", self.namespace));
        there.ok_or_else(|| unclear("it was deleted meanwhile"))?.map_err(|error| unclear(&error.to_string()))
    }
}

/// Where uses are kept: a `ConfigMap` for each, which goes with the machine's object.
fn uses(namespace: &str) -> String {
    format!("api/v1/namespaces/{namespace}/configmaps")
}

/// Returns true if the cluster keeps a use of a credential for a machine of this name.
pub(crate) async fn is_redeemed(access: &Access, name: &str) -> Result<bool, Error> {
    let uses = access.get("listing the uses of credentials", &uses(NAMESPACE)).await?.unwrap_or_default();
    let named = |object: &Value| {
        let key = object["metadata"]["name"].as_str().and_then(|key| key.strip_prefix("redeemed-")).unwrap_or_default();
        is_key_of(key, name)
    };
    Ok(uses["items"].as_array().into_iter().flatten().any(named))
}

#[cfg(test)]
mod tests {
    use landfall_machine_api::Maker;

    use super::*;
    use crate::testing;

    async fn cluster(directory: &Path) -> (landfall_testkit::ControlPlane, Access) {
        let (plane, access) = testing::real_api(directory);
        testing::define_machines(&access).await;
        (plane, access)
    }

    fn refused(decided: &Redemption, reason: &str) -> bool {
        matches!(decided, Redemption::Refused(why) if why.contains(reason))
    }

    #[tokio::test]
    async fn a_credential_is_used_once_in_the_whole_cluster_on_a_real_api_server() {
        let dir = tempfile::tempdir().unwrap();
        let (_plane, access) = cluster(dir.path()).await;
        let (one, two) =
            (ClusterUses::new(access.clone(), Peers::default()), ClusterUses::new(access.clone(), Peers::default()));
        let (own, other) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 9]));
        let now = Timestamp::now();
        let uid = testing::make_machine(&access, "w0", "worker").await;
        let use_by = async |uses: &ClusterUses, uid: &str, peer, now| {
            let maker = Maker::Object(uid.to_owned());
            uses.redeem(MachineId { name: "w0", maker: &maker }, peer, now).await.unwrap()
        };
        assert!(!is_redeemed(&access, "w0").await.unwrap());
        assert_eq!(use_by(&one, &uid, own, now).await, Redemption::Granted);
        assert!(is_redeemed(&access, "w0").await.unwrap() && !is_redeemed(&access, "w").await.unwrap());
        for uses in [&one, &two] {
            assert_eq!(use_by(uses, &uid, own, now).await, Redemption::Granted, "its reply was lost");
            assert!(refused(&use_by(uses, &uid, other, now).await, "used by 192.0.2.1"));
            let late = now + BOOT_TIMEOUT;
            assert!(matches!(use_by(uses, &uid, own, late).await, Redemption::Refused(_)));
        }

        // A machine of the same name is another one.
        let path = format!("apis/{GROUP}/{VERSION}/namespaces/{NAMESPACE}/machines/w0");
        access.delete("deleting a machine", &path).await.unwrap();
        let new = testing::make_machine(&access, "w0", "worker").await;
        one.refresh().await.unwrap();
        assert!(refused(&use_by(&one, &uid, own, now).await, "another machine of the same name"));
        assert_eq!(use_by(&one, &new, other, now).await, Redemption::Granted);

        // One that is younger than the last look is not refused for that.
        let uid = testing::make_machine(&access, "w1", "worker").await;
        let maker = Maker::Object(uid);
        let young = one.redeem(MachineId { name: "w1", maker: &maker }, own, now).await.unwrap();
        assert_eq!(young, Redemption::Granted);

        // One that runs opens nothing any more.
        let node = json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "w0" } });
        access.apply("joining", "api/v1/nodes/w0", &node).await.unwrap();
        one.refresh().await.unwrap();
        assert!(refused(&use_by(&one, &new, other, now).await, "has a node"));
    }

    #[tokio::test]
    async fn where_the_user_makes_machines_a_name_is_used_once_on_a_real_api_server() {
        let dir = tempfile::tempdir().unwrap();
        let (_plane, access) = cluster(dir.path()).await;
        // Another machine; it waits until machines are served.
        testing::make_machine(&access, "w9", "worker").await;
        let uses = ClusterUses::new(access.clone(), Peers::default());
        let (own, other, now) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 9]), Timestamp::now());
        let use_by = async |maker: &Maker, peer| uses.redeem(MachineId { name: "w1", maker }, peer, now).await.unwrap();
        assert_eq!(use_by(&Maker::User, own).await, Redemption::Granted);
        assert!(refused(&use_by(&Maker::User, other).await, "used by 192.0.2.1"));
        assert!(refused(&use_by(&Maker::Object("u1".to_owned()), own).await, "there is no machine"));
    }
}
