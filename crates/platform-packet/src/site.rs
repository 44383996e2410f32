//! What everything that acts for a cluster shares: the API, the cluster's project and machines in it, and the cluster's mark.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use landfall_config::packet::Location;
use landfall_platform::{Context, ErrorClass, InfraId, MachineRef};
use landfall_wire::Listings;

use crate::{
    Client, Error, Mark,
    client::{self, Coded},
    plan::PROJECT,
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
    /// The id that was recorded when the cluster's own project was made: it stays the cluster's also if it loses its tag.
    recorded: Arc<OnceLock<String>>,
    devices: Listings<client::Device>,
}

impl Site {
    /// The place of a cluster. Whatever is waited for is looked at once per `interval`.
    pub fn new(client: Arc<Client>, infra_id: &InfraId, project: Project, interval: Duration) -> Self {
        let (mark, recorded, devices) = (Mark::new(infra_id.clone()), Arc::default(), Listings::new(interval));
        Self { client, mark, interval, project, recorded, devices }
    }

    /// The cluster's project, as far as it exists.
    pub(crate) async fn find_project(&self) -> Result<Option<String>, Error> {
        match &self.project {
            Project::Given(id) => Ok(Some(id.clone())),
            Project::Own | Project::Unknown => {
                let all = self.client.projects().await?;
                let is_own = |project: &client::Project| {
                    self.recorded.get() == Some(&project.id) || self.mark.is_on(&project.tags)
                };
                Ok(all.into_iter().find(is_own).map(|project| project.id))
            }
        }
    }

    /// The cluster's project.
    pub(crate) async fn project(&self) -> Result<String, Error> {
        let missing = || Error::Missing { object: "the project of the cluster".to_owned(), api: self.client.host() };
        self.find_project().await?.ok_or_else(missing)
    }

    /// Takes note of the id of the cluster's own project, for the removal of something in it.
    pub(crate) fn recall(&self, context: &Context) {
        if let Ok(id) = context.output::<String>(&PROJECT.into(), "id") {
            self.recorded.get_or_init(|| id);
        }
    }

    /// All projects that may hold something of the cluster, for the removal of something in one of them.
    pub(crate) async fn projects_of(&self, context: &Context) -> Result<Vec<String>, Error> {
        self.recall(context);
        self.projects().await
    }

    /// All projects that may hold something of the cluster.
    pub(crate) async fn projects(&self) -> Result<Vec<String>, Error> {
        match &self.project {
            Project::Given(id) => Ok(vec![id.clone()]),
            Project::Own | Project::Unknown => {
                // One that lost its tag is found by what is in it.
                let own = if self.project == Project::Own { self.find_project().await? } else { None };
                match own {
                    Some(own) => Ok(vec![own]),
                    None => Ok(self.client.projects().await?.into_iter().map(|project| project.id).collect()),
                }
            }
        }
    }

    /// All devices of the cluster, as they are now.
    pub(crate) async fn devices(&self) -> Result<Arc<Vec<client::Device>>, Error> {
        self.devices.now(|| self.list()).await
    }

    /// The cluster's device: the one with the id as long as its mark or its name says that it is the cluster's, or, where no id is
    /// known, the one with the name and the mark.
    pub(crate) async fn device(&self, machine: MachineRef<'_>) -> Result<Option<client::Device>, Error> {
        let Some(id) = machine.id else {
            return Ok(self.devices().await?.iter().find(|device| device.hostname == machine.name).cloned());
        };
        match self.client.device(id).await? {
            Some(found) if !self.mark.is_on(&found.tags) && found.hostname != machine.name => {
                let object = format!("machine {} with the id {id} of {}", found.hostname, machine.name);
                Err(Error::Foreign { object })
            }
            found => Ok(found),
        }
    }

    /// The device with an id that the cluster's own journal has. The platform lets nobody see a device any more that it could not bring
    /// up, and answers as if the key had no right to. A key that has none cannot list the devices of the project either.
    pub(crate) async fn known(&self, id: &str) -> Result<Option<client::Device>, Error> {
        match self.client.device(id).await {
            Err(error) if error.class() == ErrorClass::Auth => {
                self.devices().await?;
                Ok(None)
            }
            found => found,
        }
    }

    /// Waits until the device with an id, or that there is none, is as wanted. `judge` says so, or that it never will be. All who wait
    /// share one list; a device that is not on it any more, since its tags were changed or it is gone, is asked for by its id.
    pub(crate) async fn wait<T>(
        &self,
        id: &str,
        mut judge: impl FnMut(Option<&client::Device>) -> Result<Option<T>, Error>,
    ) -> Result<T, Error> {
        // waits: the engine and the machine controller end each step when its time is over
        loop {
            let seen = {
                let judge = |all: &[client::Device]| match all.iter().find(|device| device.id == id) {
                    Some(device) => Ok(judge(Some(device))?.map(Some)),
                    None => Ok(Some(None)),
                };
                self.devices.wait(|| self.list(), judge).await?
            };
            if let Some(verdict) = seen {
                return Ok(verdict);
            }
            if let Some(verdict) = judge(self.known(id).await?.as_ref())? {
                return Ok(verdict);
            }
            tokio::time::sleep(self.interval).await;
        }
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
