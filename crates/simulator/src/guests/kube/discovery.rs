//! What the API says about itself.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::kinds::{self, Kind};
use super::store::{Key, Store};

/// The answer to a path that describes the API; `None` if it is another path.
pub(super) fn describe(store: &Store, path: &str) -> Option<Value> {
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    match segments.as_slice() {
        ["version"] => Some(version(store)),
        ["api"] => Some(json!({ "kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [] })),
        ["apis"] => {
            let groups: Vec<Value> =
                groups(store).iter().map(|(group, versions)| group_info(group, versions)).collect();
            Some(json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups }))
        }
        ["api", "v1"] => resources(store, "", "v1"),
        ["apis", group] => {
            let mut info = group_info(group, groups(store).get(*group)?);
            info["kind"] = "APIGroup".into();
            info["apiVersion"] = "v1".into();
            Some(info)
        }
        ["apis", group, version] => resources(store, group, version),
        _ => None,
    }
}

/// The version that the cluster was set up with.
fn version(store: &Store) -> Value {
    let info = store.get(&Key::core("configmaps", "kube-system", "kubeadm-config"));
    let text = info.as_ref().and_then(|info| info.pointer("/data/version")?.as_str()).unwrap_or("v0.0.0");
    let mut numbers = text.trim_start_matches('v').split('.');
    let (major, minor) = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
    json!({ "major": major, "minor": minor, "gitVersion": text, "platform": "linux/amd64" })
}

fn groups(store: &Store) -> BTreeMap<String, Vec<String>> {
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for kind in kinds::all(store).into_iter().filter(|kind| !kind.group.is_empty()) {
        let versions = groups.entry(kind.group).or_default();
        if !versions.contains(&kind.version) {
            versions.push(kind.version);
        }
    }
    groups
}

fn group_info(group: &str, versions: &[String]) -> Value {
    let versions: Vec<Value> = versions
        .iter()
        .map(|version| json!({ "groupVersion": format!("{group}/{version}"), "version": version }))
        .collect();
    json!({ "name": group, "preferredVersion": versions.first(), "versions": versions })
}

fn resources(store: &Store, group: &str, version: &str) -> Option<Value> {
    let kinds = kinds::all(store).into_iter().filter(|kind| kind.group == group && kind.version == version);
    let resources: Vec<Value> = kinds.flat_map(|kind| entries(&kind)).collect();
    let group_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    let list = json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version,
        "resources": resources,
    });
    (!resources.is_empty()).then_some(list)
}

fn entries(kind: &Kind) -> Vec<Value> {
    let entry = |name: String, verbs: &[&str]| {
        json!({
            "name": name,
            "singularName": kind.name.to_lowercase(),
            "namespaced": kind.namespaced,
            "kind": kind.name,
            "verbs": verbs,
            "shortNames": kind.short_names,
        })
    };
    let mut entries =
        vec![entry(kind.resource.clone(), &["create", "delete", "get", "list", "patch", "update", "watch"])];
    if kind.has_scale {
        let mut scale = entry(format!("{}/scale", kind.resource), &["get", "patch", "update"]);
        for (field, value) in [("group", "autoscaling"), ("version", "v1"), ("kind", "Scale")] {
            scale[field] = value.into();
        }
        entries.push(scale);
    }
    if kind.has_status {
        entries.push(entry(format!("{}/status", kind.resource), &["get", "patch", "update"]));
    }
    entries
}
