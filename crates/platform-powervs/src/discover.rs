//! Finds everything in an account that carries a cluster's mark: its tag, and a sign of its own where a kind takes no tags.
//!
//! What has a name of the plan gets the step of the plan. What carries the tag and lost its name gets a step of its own, which names
//! it by its id. What has a name of the plan and no mark is not the cluster's, and left alone.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use landfall_config::powervs::{VpcRegion, vpc_region};
use landfall_platform::{Discover, StepError, StepId, StepSpec};
use serde_json::json;
use tokio::time::sleep;

use crate::{
    Error, Site,
    client::{self, Crn},
    finder::{Finder, TIMEOUT, found, identified},
    plan::{self, GATEWAY, OBJECT_STORAGE, SECURITY_GROUP, SSH_KEY, TAG, TRANSIT_GATEWAY, VPC, WORKSPACE},
    steps::{
        Connection, Desired, Dhcp, Image, ImageSource, LoadBalancer, ObjectStorage, PublicGateway, SecurityGroup,
        SshKey, Subnet, Tag, TransitGateway, Vpc, Workspace, is_marked, stored,
    },
};

/// Looks at most, and the pause after the first one, which doubles: 13 seconds in all.
const LOOKS: u32 = 8;
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// Finds what belongs to one cluster.
pub struct Discovery {
    site: Site,
}

impl Discovery {
    /// Looks for the mark of a cluster.
    pub fn new(site: Site) -> Self {
        Self { site }
    }

    /// Looks again while objects disappear between two calls of a look, such as a workspace that is being deleted: half a look would hide
    /// the rest.
    async fn find(&self) -> Result<Vec<StepSpec>, Error> {
        let mut pause = FIRST_PAUSE;
        // waits: a limited number of times
        for _ in 1..LOOKS {
            match self.look().await {
                Err(error) if error.is_gone() => sleep(pause).await,
                found => return found,
            }
            pause *= 2;
        }
        self.look().await
    }

    async fn look(&self) -> Result<Vec<StepSpec>, Error> {
        // What was known may have gone.
        self.site.forget().await;
        self.site.forget_tags().await;
        let tagged = self.site.tagged().await?;
        let kept = AtomicBool::new(false);
        let (network, power, storage, tag) =
            futures::try_join!(self.vpc(&tagged, &kept), self.power(&tagged, &kept), self.storage(), self.tag())?;
        let mut steps: Vec<StepSpec> = network.into_iter().chain(power).chain(storage).collect();
        // A tag that the user put on something which stays is the user's.
        if let Some(tag) = tag.filter(|_| !kept.load(Ordering::Relaxed)) {
            // What carries it goes first.
            for step in &mut steps {
                step.needs.push(tag.id.clone());
            }
            steps.push(tag);
        }
        Ok(steps)
    }

    /// The tag, which the account keeps also when nothing carries it any more.
    async fn tag(&self) -> Result<Option<StepSpec>, Error> {
        let name = self.site.mark.tag();
        let is_known = self.site.client.knows_tag(&name).await?;
        let step = |name: String| found(TAG, format!("tag {name}"), "tag", &[], &Desired::Tag(Tag { name }));
        Ok(is_known.then(|| step(name)))
    }

    /// What is in VPC, and what joins it with the workspace.
    async fn vpc(&self, tagged: &Arc<Vec<Crn>>, kept: &AtomicBool) -> Result<Vec<StepSpec>, Error> {
        let (client, mark) = (&self.site.client, &self.site.mark);
        let region = client.place().vpc_region.clone();
        let zones: Vec<String> = vpc_region(&region).into_iter().flat_map(VpcRegion::zone_names).collect();
        let in_zones = |word: &str, step: &dyn Fn(&str) -> String| -> Vec<(String, String)> {
            zones.iter().map(|zone| (mark.name(&format!("{word}-{zone}")), step(zone))).collect()
        };
        let find = Finder { site: &self.site, tagged, kept };

        let vpcs = client.all::<client::Vpc>().await?;
        let names = [(mark.vpc(), VPC.to_owned())];
        let joined = self.networks(&vpcs, tagged).await?;
        let vpcs = find.all(&vpcs, &names, &[], |name| Desired::Vpc(Vpc { name, given: None })).await?;
        let inside = ids(&vpcs, &[VPC]);
        let names = in_zones("subnet", &|zone| plan::subnet(zone));
        let subnets = find
            .all(&client.all::<client::Subnet>().await?, &names, &inside, |name| {
                Desired::Subnet(Subnet { name, zone: String::new(), given: None })
            })
            .await?;
        let behind: Vec<StepId> = ids(&subnets, &[]).into_iter().chain(inside.clone()).collect();
        let names = in_zones("gateway", &|zone| format!("{GATEWAY}/{zone}"));
        let gateways = find
            .all(&client.all::<client::PublicGateway>().await?, &names, &behind, |name| {
                Desired::PublicGateway(PublicGateway { name, zone: String::new(), subnet: VPC.into() })
            })
            .await?;
        let names = [(mark.name("sg"), SECURITY_GROUP.to_owned())];
        let groups = find
            .all(&client.all::<client::SecurityGroup>().await?, &names, &inside, |name| {
                Desired::SecurityGroup(SecurityGroup { name, rules: Vec::new() })
            })
            .await?;
        let mut steps = [vpcs, subnets, gateways, groups].concat();
        let names =
            [true, false].map(|is_public| (mark.load_balancer(is_public), plan::balancer(is_public).to_owned()));
        let below = ids(&steps, &[]);
        let balancers = find
            .all(&client.all::<client::LoadBalancer>().await?, &names, &below, |name| {
                Desired::LoadBalancer(LoadBalancer {
                    is_public: name == mark.load_balancer(true),
                    name,
                    subnets: Vec::new(),
                    security_group: SECURITY_GROUP.into(),
                    listeners: Vec::new(),
                })
            })
            .await?;
        steps.extend(balancers);
        steps.extend(self.gateways(&find, &inside, &joined).await?);
        Ok(steps)
    }

    /// The CRNs of the networks that the cluster has joined: those of its VPC and of its workspace, also where they are the user's.
    async fn networks(&self, vpcs: &[client::Vpc], tagged: &[Crn]) -> Result<Vec<String>, Error> {
        let is_tagged = |vpc: &client::Vpc| tagged.iter().any(|crn| crn.kind == "vpc" && crn.id == vpc.id);
        let is_meant = |vpc: &&client::Vpc| is_tagged(vpc) || self.site.is_given(&vpc.id, &vpc.name);
        let workspace = self.site.find_workspace().await?.map(|workspace| workspace.crn);
        Ok(vpcs.iter().filter(is_meant).map(|vpc| vpc.crn.clone()).chain(workspace).collect())
    }

    /// The transit gateway and the cluster's connections, also those to a gateway of the user's. Connections take no tags. So one is the
    /// cluster's if it has its name, and its gateway is the cluster's or leads to a network of the cluster's.
    async fn gateways(
        &self,
        find: &Finder<'_>,
        vpcs: &[StepId],
        joined_networks: &[String],
    ) -> Result<Vec<StepSpec>, Error> {
        let (client, mark) = (&self.site.client, &self.site.mark);
        let joined: Vec<StepId> = vpcs.iter().cloned().chain([WORKSPACE.into()]).collect();
        let all = client.all::<client::TransitGateway>().await?;
        let names = [(mark.transit_gateway(), TRANSIT_GATEWAY.to_owned())];
        let mut steps = find
            .all(&all, &names, &joined, |name| {
                Desired::TransitGateway(TransitGateway { name, location: String::new(), global: false, given: None })
            })
            .await?;
        let needs: Vec<StepId> = ids(&steps, &[TRANSIT_GATEWAY]).into_iter().chain(joined).collect();
        for gateway in &all {
            let connections = match client.connections(&gateway.id).await {
                // The gateway of somebody else went in this moment.
                Err(error) if error.is_gone() => continue,
                connections => connections?,
            };
            let is_own_gateway = steps.iter().any(|step| step.desired["id"] == gateway.id.as_str());
            let leads_to_own = |one: &client::Connection| {
                one.network_id.as_ref().is_some_and(|network| joined_networks.contains(network))
            };
            if !is_own_gateway && !connections.iter().any(leads_to_own) {
                continue;
            }
            for connection in connections {
                let Some(kind) =
                    plan::CONNECTIONS.into_iter().find(|kind| connection.name == mark.name(&format!("{kind}-con")))
                else {
                    continue;
                };
                let desired = Connection {
                    name: connection.id.clone(),
                    gateway: TRANSIT_GATEWAY.into(),
                    network: kind.to_owned(),
                    target: kind.into(),
                };
                let (id, title) = (format!("connection/{}", connection.id), format!("connection {}", connection.name));
                let step = found(&id, title, "connection", &needs, &Desired::Connection(desired));
                steps.push(identified(step, &connection.id));
            }
        }
        Ok(steps)
    }

    /// What is in Power Virtual Server.
    async fn power(&self, tagged: &Arc<Vec<Crn>>, kept: &AtomicBool) -> Result<Vec<StepSpec>, Error> {
        let (client, mark) = (&self.site.client, &self.site.mark);
        let mut steps = Vec::new();
        let instance = self.site.workspace_instance().await?;
        if let Some(instance) = instance.as_ref().filter(|_| !self.site.workspace_is_given()) {
            let desired = Desired::Workspace(Workspace { name: mark.workspace(), given: None });
            let step = found(WORKSPACE, format!("workspace {}", instance.name), "workspace", &[], &desired);
            steps.push(identified(step, &instance.guid));
        }
        let Some(workspace) = self.site.find_workspace().await? else { return Ok(steps) };
        let is_workspace = |crn: &Crn| crn.kind.is_empty() && crn.instance == workspace.guid;
        if self.site.workspace_is_given() && tagged.iter().any(is_workspace) {
            kept.store(true, Ordering::Relaxed);
        }
        let inside = [WORKSPACE.into()];
        if client.ssh_key(&workspace, &mark.key()).await?.is_some_and(|key| is_marked(&key, mark)) {
            let desired = Desired::SshKey(SshKey { name: mark.key(), key: String::new() });
            steps.push(found(SSH_KEY, format!("SSH key {}", mark.key()), "ssh-key", &inside, &desired));
        }
        let is_tagged = |kind: &str, id: &str| tagged.iter().any(|crn| crn.kind == kind && crn.id == id);
        for image in client.images(&workspace).await? {
            let (id, name) = if image.name == mark.image() && self.site.is_own_image(&workspace, &image).await? {
                (plan::IMAGE.to_owned(), image.name.clone())
            } else if !is_tagged("image", &image.id) {
                continue;
            } else if self.site.is_given(&image.id, &image.name) {
                kept.store(true, Ordering::Relaxed);
                continue;
            } else {
                (format!("image/{}", image.id), image.id.clone())
            };
            let desired = Image { name, source: ImageSource::None, storage_type: String::new() };
            let step = found(&id, format!("image {}", image.name), "image", &inside, &Desired::Image(desired));
            steps.push(identified(step, &image.id));
        }
        if self.has_network(&workspace).await? || !self.site.own_dhcp_servers(&workspace, None).await?.is_empty() {
            let desired = Desired::Dhcp(Dhcp { name: mark.dhcp(), cidr: String::new(), dns_server: None });
            let title = format!("DHCP server {} and its network", mark.dhcp());
            steps.push(found(plan::DHCP, title, "dhcp", &inside, &desired));
        }
        let listed = self.site.machines().await?;
        let mut machines: Vec<(String, String)> =
            listed.iter().map(|one| (one.instance.id.clone(), one.instance.server_name.clone())).collect();
        for crn in tagged.iter().filter(|crn| crn.kind == "pvm-instance" && crn.instance == workspace.guid) {
            let is_listed = listed.iter().any(|one| one.instance.id == crn.id);
            // The search may not know yet that it is gone.
            if !is_listed && let Some(instance) = client.instance(&workspace, &crn.id).await? {
                machines.push((crn.id.clone(), instance.server_name));
            }
        }
        for (id, name) in machines {
            // What was renamed is not what the plan means by its new name, and a name may be there twice.
            let step = |suffix: &str| StepId::from(format!("vm/{suffix}"));
            let planned = mark.suffix(&name).map(step);
            let free = planned.filter(|step| steps.iter().all(|known| known.id != *step));
            steps.push(StepSpec {
                id: free.unwrap_or_else(|| step(&id)),
                title: format!("machine {name}"),
                kind: "vm".into(),
                needs: [plan::DHCP, plan::IMAGE, SSH_KEY, WORKSPACE].map(StepId::from).into(),
                timeout: TIMEOUT,
                desired: json!({"object": "instance", "name": name, "id": id}),
            });
        }
        Ok(steps)
    }

    /// Returns true if there is a network of the cluster's DHCP server. In a workspace of the cluster's own its name is enough.
    async fn has_network(&self, workspace: &client::Workspace) -> Result<bool, Error> {
        for network in self.site.client.networks(workspace).await? {
            let is_named = !self.site.workspace_is_given() && network.name == self.site.mark.network();
            if is_named || self.site.is_own_network(&network).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn storage(&self) -> Result<Option<StepSpec>, Error> {
        let name = self.site.mark.object_storage();
        let Some(instance) = stored(&self.site).await? else { return Ok(None) };
        let desired = Desired::ObjectStorage(ObjectStorage { name, bucket: self.site.mark.bucket() });
        let title = format!("object storage {}", instance.name);
        Ok(Some(identified(found(OBJECT_STORAGE, title, "object-storage", &[], &desired), &instance.guid)))
    }
}

#[async_trait]
impl Discover for Discovery {
    async fn discover(&self) -> Result<Vec<StepSpec>, StepError> {
        Ok(self.find().await?)
    }
}

/// The ids of steps, and others.
fn ids(steps: &[StepSpec], others: &[&str]) -> Vec<StepId> {
    let further = others.iter().map(|id| StepId::from(*id)).filter(|id| steps.iter().all(|step| step.id != *id));
    steps.iter().map(|step| step.id.clone()).chain(further).collect()
}
