//! The network and the profile by which machines are attached to it.

use landfall_platform::Finding;

use super::{Place, Subject, unanswered};
use crate::{Network, VnicProfile};

const CHECK: &str = "network";
const PROFILE: &str = "platform.ovirt.vnicProfileID";

/// What was found, and the id of the profile to use.
pub(super) async fn check(subject: &Subject<'_>, place: &Place) -> (Vec<Finding>, Option<String>) {
    let name = &subject.platform.ovirt_network_name;
    let networks = match subject.client.networks(&place.cluster).await {
        Ok(networks) => networks,
        Err(error) => return (vec![unanswered(CHECK, &error)], None),
    };
    let Some(network) = networks.iter().find(|network| network.name == *name) else {
        let known: Vec<&str> = networks.iter().map(|network| network.name.as_str()).collect();
        let message = format!("cluster {} has no network '{name}' for machines", place.cluster.name);
        let hint = format!("set ovirt_network_name to one of: {}", known.join(", "));
        return (vec![Finding::problem(CHECK, message, hint).blame("platform.ovirt.ovirt_network_name")], None);
    };
    let profiles = match subject.client.vnic_profiles(network).await {
        Ok(profiles) => profiles,
        Err(error) => return (vec![unanswered(CHECK, &error)], None),
    };
    let (finding, profile) =
        choose(subject.platform.vnic_profile_id.map(|id| id.to_string()).as_deref(), name, &profiles);
    let mut findings = vec![finding];
    findings.extend(range(subject, place, network).await);
    (findings, profile)
}

fn choose(wanted: Option<&str>, network: &str, profiles: &[VnicProfile]) -> (Finding, Option<String>) {
    let listing =
        || profiles.iter().map(|profile| format!("{} ({})", profile.id, profile.name)).collect::<Vec<_>>().join(", ");
    let chosen = match (wanted, profiles) {
        (Some(id), _) => profiles.iter().find(|profile| profile.id == id),
        (None, [only]) => Some(only),
        (None, _) => None,
    };
    if let Some(profile) = chosen {
        return (Finding::ok(CHECK, format!("{network}, vNIC profile {}", profile.name)), Some(profile.id.clone()));
    }
    let problem = match (wanted, profiles) {
        (_, []) => {
            let message = format!("network {network} has no vNIC profile that the user can see");
            Finding::problem(CHECK, message, "create one, or give the user permission to use it")
        }
        (Some(id), _) => {
            let message = format!("network {network} has no vNIC profile with id {id}");
            Finding::problem(CHECK, message, format!("set vnicProfileID to one of: {}", listing())).blame(PROFILE)
        }
        (None, _) => {
            let message = format!("network {network} has {} vNIC profiles", profiles.len());
            Finding::problem(CHECK, message, format!("set vnicProfileID to one of: {}", listing())).blame(PROFILE)
        }
    };
    (problem, None)
}

/// Whether the hosts' own addresses in the network agree with the range that the machines are said to have.
async fn range(subject: &Subject<'_>, place: &Place, network: &Network) -> Option<Finding> {
    let range = subject.client.network_range(&place.cluster, network).await.ok()??;
    let ranges = &subject.config.networking.machine_network;
    if ranges.is_empty() || ranges.iter().any(|entry| entry.cidr.contains(&range) || range.contains(&entry.cidr)) {
        return None;
    }
    let message =
        format!("hosts have addresses of {range} in network {}, which is not in machineNetwork", network.name);
    Some(Finding::notice(CHECK, message, "check networking.machineNetwork, unless the segment has several ranges"))
}
