//! What everything that acts for a cluster shares: its servers, and its mark.

use std::{
    sync::{Arc, Mutex as PlainMutex, PoisonError},
    time::Duration,
};

use futures::future::join_all;
use landfall_config::powervm::Host as HostEntry;
use landfall_platform::{ErrorClass, InfraId, MachineRef};
use tokio::sync::{Mutex, OnceCell};

use crate::{
    Client, Credentials, Error, Mark,
    client::{Entry, JobLimits, LogicalPartition, Path},
    compute::Host,
};

/// How long a job may take, for example the start of a machine.
const JOB_TIMEOUT: Duration = Duration::from_mins(30);

/// A cluster's place on its servers.
#[derive(Clone)]
pub struct Site {
    members: Arc<[Member]>,
    pub(crate) mark: Mark,
    /// Who looks for room for a machine is alone with it, until the machine takes it.
    pub(crate) placing: Arc<Mutex<()>>,
}

/// One of the servers.
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) client: Arc<Client>,
    connected: OnceCell<Arc<Host>>,
    jobs: JobLimits,
    /// The cluster's partitions when they were last listed.
    last: PlainMutex<Vec<Found>>,
}

/// A partition on one of the servers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    /// The name of the server.
    pub(crate) host: String,
    pub(crate) partition: LogicalPartition,
    /// The address that its operating system has told.
    pub(crate) address: Option<std::net::IpAddr>,
}

impl Site {
    /// A cluster on these servers. Nobody is asked anything yet.
    pub fn new(
        hosts: &[HostEntry],
        credentials: &Credentials,
        infra_id: &InfraId,
        interval: Duration,
    ) -> Result<Self, Error> {
        if hosts.is_empty() {
            return Err(Error::NoHosts);
        }
        let jobs = JobLimits { timeout: JOB_TIMEOUT, interval };
        let member = |host: &HostEntry| {
            let client = credentials.client(host)?;
            let (connected, last) = (OnceCell::new(), PlainMutex::default());
            Ok(Member { name: host.name.clone(), client, connected, jobs, last })
        };
        let members = hosts.iter().map(member).collect::<Result<Vec<_>, Error>>()?;
        let mark = Mark::new(infra_id.clone());
        Ok(Self { members: members.into(), mark, placing: Arc::default() })
    }

    /// All servers.
    pub(crate) fn members(&self) -> &[Member] {
        &self.members
    }

    /// The server of a name.
    pub(crate) fn member(&self, name: &str) -> Result<&Member, Error> {
        let found = self.members.iter().find(|member| member.name == name);
        found.ok_or_else(|| Error::UnknownHost { name: name.to_owned() })
    }

    /// All partitions of all servers, whoever they belong to, as far as servers answer: one call for each.
    pub(crate) async fn ask(&self) -> Vec<(&Member, Result<Vec<Found>, Error>)> {
        join_all(self.members.iter().map(|member| async move { (member, member.partitions().await) })).await
    }

    /// All partitions of the cluster, and the servers that do not answer. Of such a server, those that were there when it last did.
    pub(crate) async fn list(&self) -> Result<(Vec<Found>, Vec<String>), Error> {
        let (mut found, mut silent, mut failure) = (Vec::new(), Vec::new(), None);
        for (member, answer) in self.ask().await {
            match answer {
                Ok(all) => {
                    let own: Vec<Found> = all.into_iter().filter(|found| self.is_ours(found)).collect();
                    member.remember(&own);
                    found.extend(own);
                }
                Err(error) => {
                    found.extend(member.recall());
                    silent.push(member.name.clone());
                    failure = Some(error);
                }
            }
        }
        match failure {
            Some(error) if silent.len() == self.members.len() => Err(error),
            _ => Ok((found, silent)),
        }
    }

    /// The partitions of a name, on all servers, whoever they belong to. A server that does not answer is no reason not to find a
    /// partition on another, but one not to say that there is none.
    pub(crate) async fn named(&self, name: &str) -> Result<Vec<Found>, Error> {
        let searches = join_all(self.members.iter().map(|member| async move {
            let found = member.client.search("LogicalPartition", "PartitionName", name).await?;
            Ok::<_, Error>(found.first().map(|entry| Found::read(member, entry)))
        }));
        let (mut found, mut failed) = (Vec::new(), None);
        for answer in searches.await {
            match answer {
                Ok(partition) => found.extend(partition),
                Err(error) => failed = Some(error),
            }
        }
        match failed {
            Some(error) if !found.iter().any(|found| self.is_ours(found)) => Err(error),
            _ => Ok(found),
        }
    }

    /// The partition with an id, on whichever server it is. That a server does not answer is no reason not to find it on another, but
    /// one not to say that there is none.
    pub(crate) async fn with_id(&self, id: &str) -> Result<Option<Found>, Error> {
        let path = Path::entry("LogicalPartition", &id.to_uppercase());
        let path = &path;
        let reads = join_all(self.members.iter().map(|member| async move {
            match member.client.entry(path).await {
                Ok(entry) => Ok(Some(Found::read(member, &entry))),
                Err(error) if error.class() == ErrorClass::NotFound => Ok(None),
                Err(error) => Err(error),
            }
        }));
        let mut failed = None;
        for answer in reads.await {
            match answer {
                Ok(Some(found)) => return Ok(Some(found)),
                Ok(None) => {}
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(None), Err)
    }

    /// The cluster's partition: the one with the id as long as its mark or its name says that it is the cluster's, or, where no id is
    /// known, the one with the name and the mark.
    pub(crate) async fn ours(&self, machine: MachineRef<'_>) -> Result<Option<Found>, Error> {
        let Some(id) = machine.id else {
            return Ok(self.named(machine.name).await?.into_iter().find(|found| self.is_ours(found)));
        };
        match self.with_id(id).await? {
            Some(found) if !self.is_ours(&found) && found.partition.name != machine.name => {
                let object = format!("partition {} with the id {id} of {}", found.partition.name, machine.name);
                Err(Error::Foreign { object, host: found.host })
            }
            found => Ok(found),
        }
    }

    pub(crate) fn is_ours(&self, found: &Found) -> bool {
        self.mark.is_on(&found.partition.id)
    }

    /// What the servers say has happened to the cluster lately: they keep no log that could be asked, so it is the state of things. One
    /// that does not answer says so.
    pub async fn events(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (member, answer) in self.ask().await {
            match answer {
                Ok(all) => lines.extend(all.iter().filter(|found| self.is_ours(found)).map(|found| {
                    let Found { host, partition, .. } = found;
                    format!("{} on {host}: {}, RMC {}", partition.name, partition.state, partition.rmc)
                })),
                Err(error) => {
                    lines.push(format!("{} does not answer: {}", member.name, landfall_platform::error_chain(&error)));
                }
            }
        }
        lines
    }
}

impl Member {
    /// The server for operations on partitions.
    pub(crate) async fn host(&self) -> Result<Arc<Host>, Error> {
        let connect = || async {
            let connected = Host::connect(Arc::clone(&self.client), None, self.jobs).await;
            connected.map(Arc::new).map_err(|error| Error::Compute(Box::new(error)))
        };
        self.connected.get_or_try_init(connect).await.cloned()
    }

    /// Its partitions, whoever they belong to.
    pub(crate) async fn partitions(&self) -> Result<Vec<Found>, Error> {
        let feed = self.client.feed(&Path::feed("LogicalPartition")).await?;
        Ok(feed.iter().map(|entry| Found::read(self, entry)).collect())
    }

    fn remember(&self, own: &[Found]) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = own.to_vec();
    }

    /// What was there last. How it is now, nobody knows.
    fn recall(&self) -> Vec<Found> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for found in &mut last {
            found.partition.state = format!("{} does not answer", self.name);
        }
        last
    }
}

impl Found {
    fn read(member: &Member, entry: &Entry) -> Self {
        let address = entry.text("ResourceMonitoringIPAddress").parse().ok();
        Self { host: member.name.clone(), partition: LogicalPartition::read(entry), address }
    }
}
