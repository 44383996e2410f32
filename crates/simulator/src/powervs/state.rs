//! All that a simulated account holds.
//!
//! What only describes itself is kept as the document that is shown; what has a life of its own has a type.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use ipnet::Ipv4Net;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::agenda::Due;
use super::cos::Bucket;
use super::power::Workspace;
use super::resources::{Reclamation, ResourceGroup, ResourceKey, ServiceInstance};
use super::tags::Thing;
use super::vpc::LoadBalancer;
use crate::core::guest::GuestCommand;
use crate::core::{Agenda, Instant};

/// Documents by their ids, in the order in which they were made.
pub(super) type Documents = IndexMap<String, Value>;

/// The account and all that is in it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) now: Instant,
    #[serde(skip)]
    pub(super) epoch: Timestamp,
    /// Where the API is served.
    #[serde(skip)]
    pub(super) url: String,
    pub(super) seed: u64,
    pub(super) ids: u64,
    pub(super) account: String,
    /// How many times longer than usual the changes take that the present call starts.
    #[serde(skip)]
    pub(super) slow: Option<u32>,
    /// Whether what the present call touches stays as it is until an administrator releases it.
    #[serde(skip)]
    pub(super) stuck: bool,
    /// Tokens of IAM, and when they expire.
    pub(super) tokens: BTreeMap<String, Instant>,
    pub(super) groups: Vec<ResourceGroup>,
    pub(super) instances: IndexMap<String, ServiceInstance>,
    pub(super) resource_keys: IndexMap<String, ResourceKey>,
    pub(super) reclamations: IndexMap<String, Reclamation>,
    /// By CRN.
    pub(super) tags: BTreeMap<String, BTreeSet<String>>,
    /// The tags of the account, attached or not: one that is detached everywhere stays until it is deleted.
    #[serde(default)]
    pub(super) tag_names: BTreeSet<String>,
    /// When each tag was attached, by CRN and tag; what came with the account was always there.
    #[serde(default)]
    pub(super) tagged_at: BTreeMap<String, Instant>,
    /// What the search knows, by CRN, and when it last saw it there.
    #[serde(default)]
    pub(super) searched: BTreeMap<String, (Thing, Instant)>,
    pub(super) workspaces: IndexMap<String, Workspace>,
    /// By name; they belong to the account.
    pub(super) ssh_keys: Documents,
    pub(super) vpcs: Documents,
    pub(super) address_prefixes: Documents,
    pub(super) subnets: Documents,
    pub(super) public_gateways: Documents,
    pub(super) floating_ips: Documents,
    pub(super) security_groups: Documents,
    pub(super) vpc_keys: Documents,
    pub(super) load_balancers: IndexMap<String, LoadBalancer>,
    pub(super) gateways: Documents,
    pub(super) connections: Documents,
    /// Zones of Internet Services, and the records in them.
    pub(super) public_zones: Documents,
    pub(super) public_records: Documents,
    /// Zones of DNS Services, and what is in them.
    pub(super) private_zones: Documents,
    pub(super) private_records: Documents,
    pub(super) permitted_networks: Documents,
    pub(super) custom_resolvers: Documents,
    pub(super) buckets: BTreeMap<String, Bucket>,
    /// What failed once already because it was told to.
    pub(super) failed_once: BTreeSet<String>,
    /// What does not go on until an administrator lets it, and what would have happened to it.
    pub(super) held: BTreeMap<String, Vec<Due>>,
    pub(super) agenda: Agenda<Due>,
    /// The loopback network of guests, and whether they need addresses in it.
    pub(super) network: Ipv4Net,
    #[serde(skip)]
    pub(super) light: bool,
    /// Whether something answers behind a member of a pool, by address and port, as the forwarders found.
    #[serde(skip)]
    pub(super) answering: BTreeMap<String, bool>,
    #[serde(skip)]
    pub(super) guest_commands: Vec<GuestCommand>,
}
