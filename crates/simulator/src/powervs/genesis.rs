//! The account as it is at the start.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;
use indexmap::IndexMap;
use serde_json::json;

use super::cloud::Cloud;
use super::cos::{Bucket, Object};
use super::options::Options;
use super::resources::{InstanceState, OFFERINGS, Offering, ResourceGroup, ServiceInstance};
use super::state::State;
use super::{cis, dns_services, places};
use crate::core::{Agenda, Instant};

/// The owner of what everybody may read.
const EVERYBODY: &str = "everybody";

pub(super) fn create(options: &Options, seed: u64) -> State {
    State {
        now: START,
        epoch: jiff::Timestamp::UNIX_EPOCH,
        url: String::new(),
        seed,
        ids: 0,
        account: Cloud::fixed_hex(&format!("account {seed}"), 32),
        slow: None,
        stuck: false,
        tokens: BTreeMap::new(),
        groups: Vec::new(),
        instances: IndexMap::new(),
        resource_keys: IndexMap::new(),
        reclamations: IndexMap::new(),
        tags: BTreeMap::new(),
        tag_names: std::collections::BTreeSet::new(),
        tagged_at: BTreeMap::new(),
        searched: BTreeMap::new(),
        workspaces: IndexMap::new(),
        ssh_keys: IndexMap::new(),
        vpcs: IndexMap::new(),
        address_prefixes: IndexMap::new(),
        subnets: IndexMap::new(),
        public_gateways: IndexMap::new(),
        floating_ips: IndexMap::new(),
        security_groups: IndexMap::new(),
        vpc_keys: IndexMap::new(),
        load_balancers: IndexMap::new(),
        gateways: IndexMap::new(),
        connections: IndexMap::new(),
        public_zones: IndexMap::new(),
        public_records: IndexMap::new(),
        private_zones: IndexMap::new(),
        private_records: IndexMap::new(),
        permitted_networks: IndexMap::new(),
        custom_resolvers: IndexMap::new(),
        buckets: BTreeMap::new(),
        failed_once: BTreeSet::new(),
        held: BTreeMap::new(),
        agenda: Agenda::default(),
        network: options.guests.network(),
        light: false,
        answering: BTreeMap::new(),
        guest_commands: Vec::new(),
    }
}

const START: Instant = Instant(Duration::ZERO);

/// Puts into a new account what its owner has had for long.
pub(super) fn furnish(cloud: &mut Cloud) {
    for (name, default) in [("Default", true), ("landfall", false)] {
        let id = cloud.hex(32);
        cloud.state.groups.push(ResourceGroup { id, name: name.to_owned(), default, created: START });
    }
    let public = add_instance(cloud, "internet-svcs", "landfall-cis");
    let private = add_instance(cloud, "dns-svcs", "landfall-dns");
    for domain in cloud.options.domains() {
        cis::add_zone(cloud, &public, &domain, "active");
        let zone = dns_services::add_zone(cloud, &private, &domain, "", "");
        let id = zone["id"].as_str().unwrap_or_default().to_owned();
        if let Some(zone) = cloud.state.private_zones.get_mut(&id) {
            zone["state"] = json!("active");
        }
    }
    for region in places::cos_regions() {
        let mut bucket = public_bucket(&format!("rhcos-powervs-images-{region}"), region);
        bucket.all_images = true;
        cloud.state.buckets.insert(bucket.name.clone(), bucket);
    }
    for wanted in cloud.options.public_objects.clone() {
        let content = Bytes::from_static(b"an image");
        let tag = format!("\"{}\"", Cloud::fixed_hex(&wanted.key, 32));
        let kind = "application/octet-stream".to_owned();
        let object = Object { content, kind, tag, updated: START, metadata: Vec::new() };
        let bucket = cloud.state.buckets.entry(wanted.bucket.clone());
        bucket.or_insert_with(|| public_bucket(&wanted.bucket, &wanted.region)).objects.insert(wanted.key, object);
    }
}

fn public_bucket(name: &str, region: &str) -> Bucket {
    Bucket {
        name: name.to_owned(),
        instance: EVERYBODY.to_owned(),
        region: region.to_owned(),
        location: format!("{region}-standard"),
        public: true,
        all_images: false,
        created: START,
        objects: BTreeMap::new(),
    }
}

fn add_instance(cloud: &mut Cloud, service: &str, name: &str) -> String {
    let plan = OFFERINGS.iter().find(|offering| offering.name == service).and_then(Offering::first_plan);
    let guid = cloud.id();
    let instance = ServiceInstance {
        crn: cloud.crn(service, "global", &guid, "", ""),
        guid: guid.clone(),
        name: name.to_owned(),
        service: service.to_owned(),
        plan: plan.unwrap_or_default().to_owned(),
        target: "global".to_owned(),
        group: cloud.state.groups.first().map(|group| group.id.clone()).unwrap_or_default(),
        state: InstanceState::Active,
        reason: String::new(),
        parameters: json!({}),
        created: START,
        updated: START,
        deleted: None,
    };
    cloud.state.instances.insert(guid.clone(), instance);
    guid
}
