//! What an engine holds, as it says itself.

use std::{collections::BTreeSet, fmt};

use anyhow::Context as _;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use landfall_config::powervs::Service;
use landfall_platform_ovirt::Credentials;
use landfall_wire::{Client, Limits, Request};
use secrecy::ExposeSecret as _;
use serde_json::Value;

/// Collections that an installation adds to, with the name of their members in an answer.
const COLLECTIONS: [(&str, &str, &str); 4] = [
    ("virtual machines", "vms", "vm"),
    ("disks", "disks", "disk"),
    ("templates", "templates", "template"),
    ("tags", "tags", "tag"),
];

/// Everything in an engine that an installation adds to: ids of each kind.
///
/// Deliberately not asked for with the client that made the cluster, and not by its mark.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Census(Vec<(&'static str, BTreeSet<String>)>);

impl Census {
    /// That of an account at Packet.
    pub(super) async fn of_account(asker: &super::packet::Asker) -> anyhow::Result<Self> {
        let mut counted = Vec::new();
        for (kind, path, member) in [
            ("devices", "devices", "devices"),
            ("addresses", "ips", "ip_addresses"),
            ("virtual networks", "virtual-networks", "virtual_networks"),
        ] {
            let mut answer = asker.get(&format!("{path}?per_page=1000")).await?;
            if let Some(all) = answer[member].as_array_mut() {
                // Blocks that the platform makes for a project stay with it, and devices are on their way out for a while.
                all.retain(|one| one["management"] != true && one["state"] != "deprovisioning");
            }
            counted.push((kind, ids(&answer, member)));
        }
        Ok(Self(counted))
    }

    /// That of PowerVM servers.
    pub(super) async fn of_servers(asker: &super::powervm::Asker) -> anyhow::Result<Self> {
        let mut counted = Vec::new();
        for (kind, feed, element) in [
            ("partitions", "LogicalPartition?group=None", "PartitionName"),
            ("logical units", "SharedStoragePool?group=None", "UnitName"),
            ("mapped devices", "VirtualIOServer?group=ViosSCSIMapping", "BackingDeviceName"),
        ] {
            counted.push((kind, asker.texts(feed, element).await?));
        }
        counted.push(("media and virtual disks", asker.media().await?));
        Ok(Self(counted))
    }

    /// That of an account at IBM Cloud.
    pub(super) async fn of_cloud(asker: &super::powervs::Asker) -> anyhow::Result<Self> {
        const VPC: &str = "version=2025-07-01&generation=2&limit=100";
        let mut counted = Vec::new();
        for (kind, service, path, member) in [
            (
                "workspaces and other services",
                Service::ResourceController,
                "/v2/resource_instances?limit=100".to_owned(),
                "resources",
            ),
            ("VPCs", Service::Vpc, format!("/v1/vpcs?{VPC}"), "vpcs"),
            ("subnets", Service::Vpc, format!("/v1/subnets?{VPC}"), "subnets"),
            ("public gateways", Service::Vpc, format!("/v1/public_gateways?{VPC}"), "public_gateways"),
            ("security groups", Service::Vpc, format!("/v1/security_groups?{VPC}"), "security_groups"),
            ("load balancers", Service::Vpc, format!("/v1/load_balancers?{VPC}"), "load_balancers"),
            (
                "transit gateways",
                Service::TransitGateway,
                "/v1/transit_gateways?version=2025-07-01".to_owned(),
                "transit_gateways",
            ),
        ] {
            counted.push((kind, ids(&asker.get(service, &path).await?, member)));
        }
        Ok(Self(counted))
    }

    pub(super) async fn take(credentials: &Credentials) -> anyhow::Result<Self> {
        let asker = Asker::new(credentials)?;
        let mut counted = Vec::new();
        for (kind, path, member) in COLLECTIONS {
            counted.push((kind, ids(&asker.get(path).await?, member)));
        }
        let mut groups = BTreeSet::new();
        for cluster in ids(&asker.get("clusters").await?, "cluster") {
            groups.extend(ids(&asker.get(&format!("clusters/{cluster}/affinitygroups")).await?, "affinity_group"));
        }
        counted.push(("affinity groups", groups));
        Ok(Self(counted))
    }
}

impl fmt::Display for Census {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts: Vec<_> = self.0.iter().map(|(kind, ids)| format!("{kind}: {}", ids.len())).collect();
        f.write_str(&counts.join(", "))
    }
}

fn ids(answer: &Value, member: &str) -> BTreeSet<String> {
    let members = answer.get(member).and_then(Value::as_array).into_iter().flatten();
    members.filter_map(|member| member.get("id")?.as_str().map(str::to_owned)).collect()
}

/// Asks with nothing but a password, as anybody could.
struct Asker<'a> {
    http: Client,
    credentials: &'a Credentials,
}

impl<'a> Asker<'a> {
    fn new(credentials: &'a Credentials) -> anyhow::Result<Self> {
        Ok(Self { http: Client::new(&credentials.trust, Limits::default())?, credentials })
    }

    async fn get(&self, path: &str) -> anyhow::Result<Value> {
        let mut url = self.credentials.engine.api();
        url.set_path(&format!("{}/{path}", url.path().trim_end_matches('/')));
        let login = format!("{}:{}", self.credentials.user, self.credentials.password.expose_secret());
        let request =
            Request::get(url).accept_json().header("authorization", &format!("Basic {}", STANDARD.encode(login)));
        let reply = self.http.send(request).await.and_then(landfall_wire::Reply::successful);
        let reply = reply.with_context(|| format!("cannot ask the engine for its {path}"))?;
        Ok(reply.json()?)
    }
}
