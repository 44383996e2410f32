//! What everything that acts for a cluster shares: the API, the cluster's project and machines in it, and the cluster's mark.

use std::{sync::Arc, time::Duration};

use landfall_config::packet::Location;
use landfall_platform::InfraId;
use landfall_wire::Listings;

use crate::{
    Client, Error, Mark,
    client::{self, Coded},
};

/// Which project a cluster is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Project {
    /// One that exists.
    Given(String),
    /// One that is made for the cluster and carries its mark.
    Own,
    /// Nobody knows: all projects that the key may see are searched.
    Unknown,
}

/// A cluster's place in an account.
#[derive(Clone)]
pub struct Site {
    pub(crate) client: Arc<Client>,
    pub(crate) mark: Mark,
    pub(crate) interval: Duration,
    project: Project,
    devices: Listings<client::Device>,
}

impl Site {
    /// The place of a cluster. Whatever is waited for is looked at once per `interval`.
    pub fn new(client: Arc<Client>, infra_id: &InfraId, project: Project, interval: Duration) -> Self {
        Self { client, mark: Mark::new(infra_id.clone()), interval, project, devices: Listings::new(interval) }
    }

    /// The cluster's project, as far as it exists.
    pub(crate) async fn find_project(&self) -> Result<Option<String>, Error> {
        match &self.project {
            Project::Given(id) => Ok(Some(id.clone())),
            Project::Own | Project::Unknown => {
                let all = self.client.projects().await?;
                Ok(all.into_iter().find(|project| self.mark.is_on(&project.tags)).map(|project| project.id))
            }
        }
    }

    /// The cluster's project.
    pub(crate) async fn project(&self) -> Result<String, Error> {
        let missing = || Error::Missing { object: "the project of the cluster".to_owned(), api: self.client.host() };
        self.find_project().await?.ok_or_else(missing)
    }

    /// All projects that may hold something of the cluster.
    pub(crate) async fn projects(&self) -> Result<Vec<String>, Error> {
        match &self.project {
            Project::Given(id) => Ok(vec![id.clone()]),
            Project::Own => Ok(self.find_project().await?.into_iter().collect()),
            Project::Unknown => Ok(self.client.projects().await?.into_iter().map(|project| project.id).collect()),
        }
    }

    /// All devices of the cluster, as they are now.
    pub(crate) async fn devices(&self) -> Result<Arc<Vec<client::Device>>, Error> {
        self.devices.now(|| self.list()).await
    }

    /// The device with a name, as it is now.
    pub(crate) async fn device(&self, name: &str) -> Result<Option<client::Device>, Error> {
        Ok(self.devices().await?.iter().find(|device| device.hostname == name).cloned())
    }

    /// Waits until a device, or that there is none, is as wanted. `judge` says so, or that it never will be.
    pub(crate) async fn wait<T>(
        &self,
        name: &str,
        mut judge: impl FnMut(Option<&client::Device>) -> Result<Option<T>, Error>,
    ) -> Result<T, Error> {
        let judge = |all: &[client::Device]| judge(all.iter().find(|device| device.hostname == name));
        self.devices.wait(|| self.list(), judge).await
    }

    /// Waits until these devices are gone. Another with the name of one of them may have been made meanwhile.
    pub(crate) async fn wait_until_gone(&self, ids: &[&str]) -> Result<(), Error> {
        let judge = |all: &[client::Device]| Ok(all.iter().all(|device| !ids.contains(&&*device.id)).then_some(()));
        self.devices.wait(|| self.list(), judge).await
    }

    /// Where the cluster stands already: of these places the one that has something of it.
    pub async fn standing(&self, locations: &[Location]) -> Result<Option<Location>, Error> {
        let mut places: Vec<(Option<Coded>, Option<Coded>)> =
            self.devices().await?.iter().map(|device| (device.metro.clone(), device.facility.clone())).collect();
        for project in self.projects().await? {
            let blocks = self.client.blocks(&project).await?;
            let own = blocks.into_iter().filter(|block| self.mark.is_on(&block.tags));
            places.extend(own.map(|block| (block.metro, block.facility)));
        }
        let holds = |location: &&Location| {
            places.iter().any(|(metro, facility)| {
                let place = if matches!(location, Location::Metro(_)) { metro } else { facility };
                place.as_ref().is_some_and(|place| place.code == location.code())
            })
        };
        Ok(locations.iter().find(holds).cloned())
    }

    /// What the platform's own log says about the cluster's project, newest first.
    pub async fn events(&self) -> Result<Vec<String>, Error> {
        match self.find_project().await? {
            Some(project) => self.client.events(&project).await,
            None => Ok(Vec::new()),
        }
    }

    async fn list(&self) -> Result<Vec<client::Device>, Error> {
        let mut all = Vec::new();
        for project in self.projects().await? {
            all.extend(self.client.devices_tagged(&project, &self.mark.tag()).await?);
        }
        Ok(all)
    }
}
