//! The account as it is at the start: an organisation, a project, and the addresses and hardware that it has.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::json;

use super::catalogue::{facility_of, fixed_id, metro_of};
use super::options::Options;
use super::state::{Organization, Project, Reservation, State};
use crate::core::{Agenda, Instant};

pub(super) fn create(options: &Options, seed: u64) -> State {
    let start = Instant(Duration::ZERO);
    let mut state = State {
        now: start,
        epoch: jiff::Timestamp::UNIX_EPOCH,
        seed,
        ids: 0,
        user: fixed_id("user", "simulator"),
        organizations: Vec::new(),
        projects: Vec::new(),
        keys: Vec::new(),
        devices: Vec::new(),
        blocks: Vec::new(),
        vlans: Vec::new(),
        sessions: Vec::new(),
        reservations: Vec::new(),
        requests: Vec::new(),
        batches: Vec::new(),
        events: Vec::new(),
        capacity: BTreeMap::new(),
        prices: BTreeMap::new(),
        failed_once: BTreeSet::new(),
        agenda: Agenda::default(),
        network: options.guests.network(),
        routes: BTreeMap::new(),
        guest_commands: Vec::new(),
    };
    let organization = Organization { id: state.id(), name: "Simulated Organization".to_owned(), created: start };
    let project = Project {
        id: state.id(),
        name: "landfall".to_owned(),
        organization: organization.id.clone(),
        created: start,
        tags: Vec::new(),
        customdata: json!({}),
        backend_transfer: false,
        bgp: None,
        payment_method: None,
    };
    state.organizations.push(organization);
    for rule in &options.capacity {
        state.capacity.insert(format!("{}/{}", rule.location, rule.plan), rule.servers);
    }
    for rule in &options.spot_prices {
        state.prices.insert(format!("{}/{}", rule.location, rule.plan), rule.price);
    }
    for rule in &options.hardware_reservations {
        let facility = facility_of(&rule.location).unwrap_or(&rule.location).to_owned();
        let reservation = Reservation {
            id: state.id(),
            project: project.id.clone(),
            plan: rule.plan.clone(),
            metro: metro_of(&facility).unwrap_or(&rule.location).to_owned(),
            facility,
            device: None,
            provisionable: true,
            created: start,
        };
        state.reservations.push(reservation);
    }
    state.log("project.1001", "Project created", None, Some(&project.id));
    state.projects.push(project);
    state
}
