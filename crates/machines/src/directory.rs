//! The machine objects of a cluster, for those who only look or scale.

use kube::{
    Api, Client,
    api::{ListParams, Patch, PatchParams},
};
use serde_json::json;

use crate::{Error, Machine, MachineSet};

/// The machine objects of a cluster.
#[derive(Clone)]
pub struct Directory {
    machines: Api<Machine>,
    sets: Api<MachineSet>,
}

impl Directory {
    /// The machine objects in a namespace.
    pub fn new(client: Client, namespace: &str) -> Self {
        Self { machines: Api::namespaced(client.clone(), namespace), sets: Api::namespaced(client, namespace) }
    }

    /// All machines, by name.
    pub async fn machines(&self) -> Result<Vec<Machine>, Error> {
        Ok(self.machines.list(&ListParams::default()).await.map_err(Error::api("listing the machines"))?.items)
    }

    /// All sets, by name.
    pub async fn sets(&self) -> Result<Vec<MachineSet>, Error> {
        Ok(self.sets.list(&ListParams::default()).await.map_err(Error::api("listing the sets of machines"))?.items)
    }

    /// The machine with a name.
    pub async fn machine(&self, name: &str) -> Result<Option<Machine>, Error> {
        self.machines.get_opt(name).await.map_err(Error::api(format!("reading Machine {name}")))
    }

    /// The set with a name.
    pub async fn set(&self, name: &str) -> Result<Option<MachineSet>, Error> {
        self.sets.get_opt(name).await.map_err(Error::api(format!("reading MachineSet {name}")))
    }

    /// Says how many machines a set is to have, by the same subresource that kubectl and autoscalers use.
    pub async fn scale(&self, set: &str, replicas: i32) -> Result<(), Error> {
        let change = Patch::Merge(json!({ "spec": { "replicas": replicas } }));
        let scaled = self.sets.patch_scale(set, &PatchParams::default(), &change).await;
        scaled.map(drop).map_err(Error::api(format!("scaling MachineSet {set}")))
    }
}
