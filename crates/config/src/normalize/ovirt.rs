//! Old names in `platform.ovirt`.

use serde_json::{Map, Value};

use super::Findings;
use crate::Problem;

const PARENT: &str = "platform.ovirt";

pub(super) fn normalize(root: &mut Map<String, Value>, findings: &mut Findings) {
    let load_balancer = match root.get_mut("platform").and_then(|platform| platform.get_mut("ovirt")) {
        Some(Value::Object(ovirt)) => section(ovirt, findings),
        _ => None,
    };
    if let Some(word) = load_balancer {
        move_load_balancer(&word, root, findings);
    }
    for pool in pools(root) {
        // The reference writes an empty text for "as in the template".
        if pool.get("format").is_some_and(|format| format == "") {
            pool.shift_remove("format");
        }
    }
}

fn section(ovirt: &mut Map<String, Value>, findings: &mut Findings) -> Option<String> {
    for (old, new) in [("api_vip", "api_vips"), ("ingress_vip", "ingress_vips")] {
        findings.single_to_list(ovirt, PARENT, new);
        // With two addresses the old field held the first.
        let first = ovirt.get(new).and_then(|vips| vips.get(0)).cloned();
        let rest: Vec<Value> =
            ovirt.get(new).and_then(Value::as_array).map_or(Vec::new(), |v| v[1.min(v.len())..].into());
        findings.rename(ovirt, PARENT, (old, new), |vip| {
            if first.as_ref() == Some(&vip) {
                std::iter::once(vip).chain(rest).collect()
            } else {
                Value::Array(vec![vip])
            }
        });
    }
    if ovirt.shift_remove("dns_vip").is_some() {
        findings
            .notice("platform.ovirt.dns_vip", "is not needed any more and ignored: names are served by every machine");
    }
    match ovirt.shift_remove("loadBalancer")? {
        Value::Object(mut section) if section.len() == 1 => match section.shift_remove("type")? {
            Value::String(word) => Some(word),
            other => Some(other.to_string()),
        },
        _ => Some(String::new()),
    }
}

/// The reference has the load balancer in the platform's section, and other words for it.
fn move_load_balancer(word: &str, root: &mut Map<String, Value>, findings: &mut Findings) {
    const PATH: &str = "platform.ovirt.loadBalancer";
    let today = match word {
        "OpenShiftManagedDefault" => "managed",
        "UserManaged" => "userManaged",
        _ => {
            findings.problem(
                Problem::new(PATH, "is not a known field")
                    .suggest("write 'loadBalancer: managed' or 'loadBalancer: userManaged' at the top level"),
            );
            return;
        }
    };
    match root.get("loadBalancer") {
        Some(given) if given != today => findings.problem(
            Problem::new(PATH, "disagrees with loadBalancer").suggest("keep only 'loadBalancer' at the top level"),
        ),
        _ => {
            findings.notice(PATH, format!("is now 'loadBalancer: {today}' at the top level"));
            root.insert("loadBalancer".to_owned(), today.into());
        }
    }
}

fn pools(root: &mut Map<String, Value>) -> Vec<&mut Map<String, Value>> {
    let mut found = Vec::new();
    for (key, value) in root.iter_mut() {
        let parents: Vec<&mut Value> = match (key.as_str(), value) {
            ("controlPlane", pool) => vec![pool],
            ("compute", Value::Array(pools)) => pools.iter_mut().collect(),
            ("platform", platform) => {
                found.extend(
                    platform
                        .get_mut("ovirt")
                        .and_then(|ovirt| ovirt.get_mut("defaultMachinePlatform"))
                        .and_then(Value::as_object_mut),
                );
                continue;
            }
            _ => continue,
        };
        found
            .extend(parents.into_iter().filter_map(|pool| pool.get_mut("platform")?.get_mut("ovirt")?.as_object_mut()));
    }
    found
}
