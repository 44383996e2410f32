//! What everything that acts for a cluster shares: the services, the cluster's workspace and machines in it, and the cluster's mark.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use landfall_config::powervs::{self, ServiceEndpoints};
use landfall_platform::{Context, ErrorClass, InfraId, MachineRef};
use landfall_wire::{Listings, aws, ibm_cloud::Place};
use tokio::{
    sync::{Mutex, OwnedMutexGuard},
    time::Instant,
};

use crate::{
    Client, Credentials, Error, Mark,
    client::{self, Crn, Instance, InstanceStatus, Lease, ResourceInstance, ServiceId, Workspace},
    plan::WORKSPACE,
};

/// How long what the DHCP server has lent is believed, once every machine that runs has an address. Machines keep theirs as long as they
/// live, so this is only for those that are told another one by hand.
const LEASES_LAST: Duration = Duration::from_mins(1);

/// Machines take minutes to come up, so they are looked at once in so many intervals.
const INTERVALS_PER_LISTING: u32 = 4;

/// Whatever else is waited for takes seconds or a quarter of an hour. So it is looked at again after an interval at first, then after ever
/// longer pauses: an import takes a hundred calls and not a thousand, and is seen to be over a few seconds late.
const LONGEST_PAUSE: u32 = 10;
const PAUSE_GROWTH: f64 = 1.25;

/// How often something is offered to a tagging service that refuses it: it may not know yet what was made a moment ago.
const TAG_ATTEMPTS: u32 = 4;

/// Where a cluster is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whereabouts {
    /// Zone of the machines.
    pub zone: String,
    /// Region of the VPC; none if it is the one next to the zone.
    pub vpc_region: Option<String>,
    /// Resource group, by name or id; none is the account's default one.
    pub resource_group: Option<String>,
    /// GUID of a workspace that exists; none if the cluster has one of its own.
    pub workspace: Option<String>,
    /// Where services are that are not where IBM has them.
    pub endpoints: ServiceEndpoints,
    /// Names or ids of what else is the user's. It stays, whatever it is tagged with.
    pub given: Vec<String>,
}

impl Whereabouts {
    /// As an install-config says.
    pub fn of(platform: &powervs::Platform) -> Self {
        let image = match &platform.image {
            powervs::Image::Existing(name) => Some(name.clone()),
            powervs::Image::Regional(_) | powervs::Image::Object(_) => None,
        };
        let given = [platform.vpc_name.clone(), platform.tg_name.clone(), image];
        Self {
            zone: platform.zone.clone(),
            vpc_region: platform.vpc_region(),
            resource_group: platform.powervs_resource_group.clone(),
            workspace: platform.service_instance_guid.map(|guid| guid.to_string()),
            endpoints: platform.service_endpoints.clone(),
            given: given.into_iter().flatten().chain(platform.vpc_subnets.iter().cloned()).collect(),
        }
    }

    /// In a zone that nothing but the credentials name.
    pub fn guessed(credentials: &Credentials) -> Result<Self, Error> {
        let zone = credentials.zone.clone().ok_or(Error::NoZone)?;
        Ok(Self { zone, resource_group: credentials.resource_group.clone(), ..Self::default() })
    }

    /// A client for there.
    pub fn client(&self, credentials: &Credentials) -> Result<Client, Error> {
        let known = powervs::zone(&self.zone);
        let next_to = known.and_then(|zone| zone.vpc_region).unwrap_or_default();
        let place = Place {
            region: known.map_or_else(|| self.zone.clone(), |zone| zone.region.to_owned()),
            vpc_region: self.vpc_region.clone().unwrap_or_else(|| next_to.to_owned()),
            cos_region: known.and_then(|zone| zone.cos_region).unwrap_or_default().to_owned(),
        };
        Client::new(credentials, &self.endpoints, place, &self.zone)
    }
}

/// A machine of the cluster, with the addresses that its hardware addresses have been lent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Where it is.
    pub(crate) workspace: Workspace,
    pub(crate) instance: Instance,
    pub(crate) addresses: Vec<IpAddr>,
}

/// A cluster's place in an account.
#[derive(Clone)]
pub struct Site {
    pub(crate) client: Arc<Client>,
    pub(crate) mark: Mark,
    pub(crate) interval: Duration,
    /// Opens private buckets of images.
    pub(crate) hmac: Option<aws::Credentials>,
    /// What machines must trust to fetch from object storage, if it is not what everybody trusts.
    pub(crate) authority: Option<String>,
    whereabouts: Arc<Whereabouts>,
    machines: Listings<Found>,
    known: Arc<Mutex<Known>>,
    /// What carried the cluster's tag when it was last looked for.
    tagged: Arc<Mutex<Option<Arc<Vec<Crn>>>>>,
    /// GUID of a workspace that nobody named and that is not the cluster's, but has things of the cluster in it.
    lent: Arc<OnceLock<String>>,
    locks: Arc<Mutex<HashMap<String, Arc<Mutex<()>>>>>,
}

/// What does not change once it is found out.
#[derive(Default)]
struct Known {
    workspace: Option<Workspace>,
    /// The id that was recorded when the workspace was made. It stays known when the rest is forgotten.
    recorded: Option<String>,
    resource_group: Option<String>,
    /// Id of the DHCP server, and of its network.
    dhcp: Option<(String, String)>,
    /// What it had lent, and when it was asked.
    leases: Option<(Instant, Vec<Lease>)>,
    /// Whether machines of which a list says too little carry the cluster's tag, by id.
    tagged: HashMap<String, bool>,
}

impl Site {
    /// The place of a cluster. Whatever is waited for is looked at once per `interval` at first, and less often later.
    pub fn new(
        client: Arc<Client>,
        infra_id: &InfraId,
        whereabouts: Whereabouts,
        credentials: &Credentials,
        interval: Duration,
    ) -> Self {
        let authority = match &credentials.trust {
            landfall_wire::Trust::Only(bundle) => Some(bundle.clone()),
            landfall_wire::Trust::System | landfall_wire::Trust::Unverified => None,
        };
        Self {
            client,
            mark: Mark::new(infra_id.clone()),
            interval,
            hmac: credentials.hmac.clone(),
            authority,
            whereabouts: Arc::new(whereabouts),
            machines: Listings::new(interval * INTERVALS_PER_LISTING),
            known: Arc::default(),
            tagged: Arc::default(),
            lent: Arc::default(),
            locks: Arc::default(),
        }
    }

    /// Whether the workspace is the user's.
    pub(crate) fn workspace_is_given(&self) -> bool {
        self.given_workspace().is_some()
    }

    fn given_workspace(&self) -> Option<&String> {
        self.whereabouts.workspace.as_ref().or_else(|| self.lent.get())
    }

    /// The id of the resource group.
    pub(crate) async fn resource_group(&self) -> Result<String, Error> {
        let mut known = self.known.lock().await;
        if let Some(id) = &known.resource_group {
            return Ok(id.clone());
        }
        let groups = self.client.resource_groups().await?;
        let wanted = self.whereabouts.resource_group.as_deref();
        let found = groups.into_iter().find(|group| match wanted {
            // The reference installer takes this word for the group that is the default, whatever its name.
            Some("Default") | None => group.default,
            Some(wanted) => group.name == wanted || group.id == wanted,
        });
        let missing = || Error::missing(format!("resource group {}", wanted.unwrap_or("that is the default")));
        Ok(known.resource_group.insert(found.ok_or_else(missing)?.id).clone())
    }

    /// The instance of the cluster's workspace, as far as it exists. One that is on its way out counts only if asked for.
    pub(crate) async fn workspace_instance(&self) -> Result<Option<ResourceInstance>, Error> {
        if let Some(guid) = self.given_workspace() {
            return self.client.resource_instance(guid).await;
        }
        let recorded = self.known.lock().await.recorded.clone();
        match self.service_instance(ServiceId::POWER, &self.mark.workspace(), recorded.as_deref()).await? {
            Some(own) => Ok(Some(own)),
            None => self.lent_workspace().await,
        }
    }

    /// A workspace that is not the cluster's and has things of it: one that the user gave to an installation of which nothing but the infra
    /// id is known any more.
    async fn lent_workspace(&self) -> Result<Option<ResourceInstance>, Error> {
        let tagged = self.tagged().await?;
        let inside = tagged.iter().find(|crn| crn.service == ServiceId::POWER.name && !crn.kind.is_empty());
        let Some(crn) = inside else { return Ok(None) };
        // What was in a workspace that is gone may still be found for a while.
        let found = self.client.resource_instance(&crn.instance).await?;
        let found = found.filter(|instance| instance.state != "removed" && !instance.is_leaving());
        if let Some(found) = &found {
            self.lent.get_or_init(|| found.guid.clone());
        }
        Ok(found)
    }

    /// The cluster's instance of a service, as far as it exists: the one whose id was recorded, else the one with its name and the
    /// tag, else one that carries the tag and lost its name. One that is on its way out counts only if there is no other.
    pub(crate) async fn service_instance(
        &self,
        service: ServiceId,
        name: &str,
        recorded: Option<&str>,
    ) -> Result<Option<ResourceInstance>, Error> {
        let exists = |instance: &ResourceInstance| instance.state != "removed";
        let mut found = Vec::new();
        if let Some(guid) = recorded {
            found.extend(self.client.resource_instance(guid).await?.filter(exists));
        }
        if found.is_empty() {
            // They are made with their tag. One that has the name alone is another's.
            for named in self.client.resource_instances_named(service, name).await?.into_iter().filter(exists) {
                if self.carries_tag(&named.crn).await? {
                    found.push(named);
                }
            }
        }
        if found.is_empty() {
            let tagged = self.tagged().await?;
            for crn in tagged.iter().filter(|crn| crn.service == service.name && crn.kind.is_empty()) {
                found.extend(self.client.resource_instance(&crn.instance).await?.filter(exists));
            }
        }
        // One that is leaving may still have its name when its successor is made.
        found.sort_by_key(ResourceInstance::is_leaving);
        Ok(found.into_iter().next())
    }

    /// What carried the cluster's tag when it was last looked for.
    pub(crate) async fn tagged(&self) -> Result<Arc<Vec<Crn>>, Error> {
        let mut known = self.tagged.lock().await;
        if let Some(tagged) = &*known {
            return Ok(Arc::clone(tagged));
        }
        let tagged = Arc::new(self.client.tagged(&self.mark.tag()).await?);
        Ok(Arc::clone(known.insert(tagged)))
    }

    /// Whether something carried the cluster's tag when it was last looked for.
    pub(crate) async fn is_tagged(&self, kind: &str, id: &str) -> Result<bool, Error> {
        Ok(self.tagged().await?.iter().any(|crn| crn.kind == kind && crn.id == id))
    }

    /// Whether something is the user's, so that it stays.
    pub(crate) fn is_given(&self, id: &str, name: &str) -> bool {
        self.whereabouts.given.iter().any(|given| given == id || given == name)
    }

    /// Returns true if something carries the cluster's tag at this moment. What has no CRN carries none.
    pub(crate) async fn carries_tag(&self, crn: &str) -> Result<bool, Error> {
        Ok(!crn.is_empty() && self.client.has_tag(crn, &self.mark.tag()).await?)
    }

    /// Puts the cluster's tag on something that the cluster made. That the service refuses it, for good or because it does not know
    /// the object yet, is told and no reason to fail: the journal has its id.
    pub(crate) async fn tag(&self, crn: &str, context: &Context) -> Result<(), Error> {
        let mut pause = self.interval;
        let mut reason = "the platform does not tell its CRN".to_owned();
        let attempts = if crn.is_empty() { 0 } else { TAG_ATTEMPTS };
        for _ in 0..attempts {
            reason = match self.client.attach_tag(crn, &self.mark.tag()).await {
                Ok(None) => return Ok(()),
                Ok(Some(refused)) => refused,
                Err(error)
                    if [ErrorClass::Auth, ErrorClass::Invalid, ErrorClass::NotFound].contains(&error.class()) =>
                {
                    landfall_platform::error_chain(&error)
                }
                Err(error) => return Err(error),
            };
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
        context.report(format!("could not be tagged ({reason}); only the journal of this directory leads to it"));
        Ok(())
    }

    /// The cluster's workspace, as far as it exists, for the removal of something in it: also one that lost its name and its tag.
    pub(crate) async fn workspace_of(&self, context: &Context) -> Result<Option<Workspace>, Error> {
        if let Ok(guid) = context.output(&WORKSPACE.into(), "id") {
            self.recall_workspace(guid).await;
        }
        self.find_workspace().await
    }

    /// Takes note of the id that was recorded when the workspace was made.
    pub(crate) async fn recall_workspace(&self, guid: String) {
        self.known.lock().await.recorded = Some(guid);
    }

    /// The cluster's workspace, as far as it exists.
    pub(crate) async fn find_workspace(&self) -> Result<Option<Workspace>, Error> {
        if let Some(workspace) = &self.known.lock().await.workspace {
            return Ok(Some(workspace.clone()));
        }
        let Some(instance) = self.workspace_instance().await?.filter(|instance| !instance.is_leaving()) else {
            return Ok(None);
        };
        let workspace = Workspace { guid: instance.guid, crn: instance.crn };
        self.known.lock().await.workspace = Some(workspace.clone());
        Ok(Some(workspace))
    }

    /// The cluster's workspace.
    pub(crate) async fn workspace(&self) -> Result<Workspace, Error> {
        self.find_workspace().await?.ok_or_else(|| Error::missing("the workspace of the cluster"))
    }

    /// Forgets what was found out: some of it is about to go.
    pub(crate) async fn forget(&self) {
        let mut known = self.known.lock().await;
        *known = Known { recorded: known.recorded.take(), ..Known::default() };
    }

    /// Forgets also what carried the tag.
    pub(crate) async fn forget_tags(&self) {
        *self.tagged.lock().await = None;
    }

    /// Returns true if an image is the cluster's. Images are imported with their tag, which a list does not tell.
    pub(crate) async fn is_own_image(&self, workspace: &Workspace, image: &client::Image) -> Result<bool, Error> {
        let tag = self.mark.tag();
        let found = self.client.image(workspace, &image.id).await?;
        Ok(found.is_some_and(|found| found.user_tags.iter().flatten().any(|own| *own == tag)))
    }

    /// Ids of the cluster's DHCP server and of its network, as far as they exist.
    async fn dhcp(&self, workspace: &Workspace) -> Result<Option<(String, String)>, Error> {
        if let Some(known) = &self.known.lock().await.dhcp {
            return Ok(Some(known.clone()));
        }
        let server = self.dhcp_servers(workspace).await?.into_iter().next();
        let Some(server) = server else { return Ok(None) };
        let network = server.network.map(|network| network.id).unwrap_or_default();
        let found = (server.id, network);
        if !found.1.is_empty() {
            self.known.lock().await.dhcp = Some(found.clone());
        }
        Ok(Some(found))
    }

    /// What the DHCP server has lent. It is asked only if a machine that runs may have been lent an address since it was asked last, so that
    /// looking at a fleet that does not change takes one call.
    async fn leases(&self, workspace: &Workspace, machines: &[Instance]) -> Result<Vec<Lease>, Error> {
        let runs = |machine: &&Instance| machine.status == InstanceStatus::Active;
        if let Some((at, leases)) = &self.known.lock().await.leases
            && at.elapsed() < LEASES_LAST
            && machines.iter().filter(runs).all(|machine| !addresses(machine, leases).is_empty())
        {
            return Ok(leases.clone());
        }
        let Some((id, _)) = self.dhcp(workspace).await? else { return Ok(Vec::new()) };
        let at = Instant::now();
        let server = self.client.dhcp_server(workspace, &id).await?;
        let mut known = self.known.lock().await;
        if server.is_none() {
            known.dhcp = None;
        }
        let leases = server.and_then(|server| server.leases).unwrap_or_default();
        known.leases = Some((at, leases.clone()));
        Ok(leases)
    }

    /// All machines of the cluster, as they are now: one call, however many they are, and another while addresses are waited for.
    pub(crate) async fn machines(&self) -> Result<Arc<Vec<Found>>, Error> {
        self.machines.now(|| self.list()).await
    }

    /// The cluster's machine: the one with the id as long as its tag or its name says that it is the cluster's, or, where no id is
    /// known, the one with the name that is the cluster's.
    pub(crate) async fn machine(&self, machine: MachineRef<'_>) -> Result<Option<Found>, Error> {
        let all = self.machines().await?;
        if let Some(found) = all.iter().find(|found| machine.is(&found.instance.id, &found.instance.server_name)) {
            return Ok(Some(found.clone()));
        }
        let Some(id) = machine.id else { return Ok(None) };
        match self.instance(id).await? {
            Some(found) if found.instance.server_name != machine.name && !found.instance.has_tag(&self.mark.tag()) => {
                let name = &found.instance.server_name;
                Err(Error::Foreign { object: format!("machine {name} with the id {id} of {}", machine.name) })
            }
            found => Ok(found),
        }
    }

    /// The machine with an id, also one that no list shows as the cluster's. That the workspace is not found says nothing of the machine:
    /// it may have lost its tag. Then the machine is looked for in all that there are.
    pub(crate) async fn instance(&self, id: &str) -> Result<Option<Found>, Error> {
        let places = match self.find_workspace().await? {
            Some(own) => vec![own],
            None => self.all_workspaces().await?,
        };
        for workspace in places {
            let Some(instance) = self.client.instance(&workspace, id).await? else { continue };
            let leases = self.leases(&workspace, std::slice::from_ref(&instance)).await?;
            return Ok(Some(Found { addresses: addresses(&instance, &leases), workspace, instance }));
        }
        Ok(None)
    }

    async fn all_workspaces(&self) -> Result<Vec<Workspace>, Error> {
        let all = self.client.workspaces_in(self.client.zone()).await?;
        let alive = all.into_iter().filter(|instance| instance.state == "active");
        Ok(alive.map(|instance| Workspace { guid: instance.guid, crn: instance.crn }).collect())
    }

    /// Waits until a machine, or that there is none, is as wanted. `judge` says so, or that it never will be.
    pub(crate) async fn wait<T>(
        &self,
        machine: MachineRef<'_>,
        mut judge: impl FnMut(Option<&Found>) -> Result<Option<T>, Error>,
    ) -> Result<T, Error> {
        let is_it = |found: &&Found| machine.is(&found.instance.id, &found.instance.server_name);
        let judge = |all: &[Found]| judge(all.iter().find(is_it));
        self.machines.wait(|| self.list(), judge).await
    }

    /// Waits until the machine with an id is gone. One that the list does not show may only have lost its name or its tag.
    pub(crate) async fn wait_until_gone(&self, id: &str) -> Result<(), Error> {
        let judge = |all: &[Found]| Ok(all.iter().all(|found| found.instance.id != id).then_some(()));
        self.machines.wait(|| self.list(), judge).await?;
        self.until(|| async { Ok(self.instance(id).await?.is_none().then_some(())) }).await
    }

    async fn list(&self) -> Result<Vec<Found>, Error> {
        let Some(workspace) = self.find_workspace().await? else { return Ok(Vec::new()) };
        let all = match self.client.instances(&workspace).await {
            // With the workspace its machines went.
            Err(error) if error.is_gone() => return Ok(Vec::new()),
            listed => listed?,
        };
        let network = self.dhcp(&workspace).await?.map(|(_, network)| network);
        let mut own = Vec::new();
        for one in all {
            if self.is_own(&workspace, &one, network.as_deref()).await? {
                own.push(one);
            }
        }
        let leases = if own.is_empty() { Vec::new() } else { self.leases(&workspace, &own).await? };
        let found = |instance: Instance| Found {
            addresses: addresses(&instance, &leases),
            workspace: workspace.clone(),
            instance,
        };
        Ok(own.into_iter().map(found).collect())
    }

    /// Returns true if a machine is the cluster's: it has a name of the cluster in the cluster's network, or one of both and the
    /// cluster's tag. A name alone says nothing: those of another cluster may begin with the whole infra id of this one.
    ///
    /// A list does not tell tags, so machines of which it says too little are asked for one by one, and only once: the tag is put on
    /// in the very call that makes a machine.
    async fn is_own(&self, workspace: &Workspace, instance: &Instance, network: Option<&str>) -> Result<bool, Error> {
        let named = self.mark.suffix(&instance.server_name).is_some();
        let (ids, ports) = (instance.network_ids.as_deref().unwrap_or_default(), instance.ports());
        let inside = ids.iter().any(|id| Some(id.as_str()) == network)
            || ports.iter().any(|port| port.network_name == self.mark.network());
        if named == inside {
            return Ok(named);
        }
        if let Some(&known) = self.known.lock().await.tagged.get(&instance.id) {
            return Ok(known);
        }
        let found = self.client.instance(workspace, &instance.id).await?;
        let is_tagged = found.is_some_and(|found| found.has_tag(&self.mark.tag()));
        self.known.lock().await.tagged.insert(instance.id.clone(), is_tagged);
        Ok(is_tagged)
    }

    /// Lets one change at a time be made to something: who holds the guard may.
    pub(crate) async fn lock(&self, object: &str) -> OwnedMutexGuard<()> {
        let lock = Arc::clone(self.locks.lock().await.entry(object.to_owned()).or_default());
        lock.lock_owned().await
    }

    /// Looks again and again until there is something to see, or it is certain that there never will be.
    pub(crate) async fn until<T, F>(&self, mut look: impl FnMut() -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<Option<T>, Error>>,
    {
        let mut pause = self.interval;
        // waits: called by steps, which the engine ends at their limit
        loop {
            if let Some(seen) = look().await? {
                return Ok(seen);
            }
            tokio::time::sleep(pause).await;
            pause = pause.mul_f64(PAUSE_GROWTH).min(self.interval * LONGEST_PAUSE);
        }
    }

    /// What the platform's own log says about the cluster's workspace, newest first.
    pub async fn events(&self) -> Result<Vec<String>, Error> {
        let since = jiff::Timestamp::now() - Duration::from_hours(24);
        match self.find_workspace().await? {
            Some(workspace) => self.client.events(&workspace, &since.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()).await,
            None => Ok(Vec::new()),
        }
    }
}

/// The addresses of a machine: those that the platform knows, else those that its hardware addresses have been lent. Servers spell
/// hardware addresses in either case.
fn addresses(instance: &Instance, leases: &[Lease]) -> Vec<IpAddr> {
    let known: Vec<IpAddr> = instance.addresses().collect();
    if !known.is_empty() {
        return known;
    }
    let is_own = |lease: &&Lease| instance.ports().iter().any(|port| port.mac_address.eq_ignore_ascii_case(&lease.mac));
    leases.iter().filter(is_own).map(|lease| lease.address).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_lease_is_found_by_its_hardware_address_in_either_case() {
        let instance: Instance = serde_json::from_value(json!({
            "pvmInstanceID": "1", "serverName": "demo-x7k2p-master-0", "status": "ACTIVE",
            "networks": [{"macAddress": "FA:16:3E:00:00:01", "ipAddress": ""}],
        }))
        .unwrap();
        let lease = |mac: &str, address: &str| Lease { address: address.parse().unwrap(), mac: mac.to_owned() };
        let leases = [lease("fa:16:3e:00:00:02", "192.168.0.2"), lease("fa:16:3e:00:00:01", "192.168.0.3")];
        assert_eq!(addresses(&instance, &leases), ["192.168.0.3".parse::<IpAddr>().unwrap()]);
    }
}
