//! Fields that only the reference installer has.

use serde_json::{Map, Value};

use super::Findings;
use crate::{Problem, path};

/// What becomes of a field.
enum Fate {
    /// Every value is ignored.
    Ignored(&'static str),
    /// This value says what happens anyway and is ignored; others cannot be done.
    Only(&'static str, &'static str),
    /// It cannot be done; this is what to do instead.
    Refused(&'static str),
}

const FIELDS: [(&str, Fate); 10] = [
    ("publish", Fate::Only("External", "the API and ingress are where their addresses are; leave the field out")),
    (
        "fips",
        Fate::Only(
            "false",
            "FIPS mode is set by the operating system image; use one that has it and leave the field out",
        ),
    ),
    (
        "credentialsMode",
        Fate::Only("Manual", "there is no credentials operator for this platform; leave the field out"),
    ),
    ("additionalTrustBundlePolicy", Fate::Ignored("the machines always trust the bundle")),
    ("cpuPartitioningMode", Fate::Only("None", "add a performance profile to manifests/ instead")),
    ("featureSet", Fate::Refused("add a FeatureGate manifest to manifests/ instead")),
    ("featureGates", Fate::Refused("add a FeatureGate manifest to manifests/ instead")),
    ("capabilities", Fate::Refused("add a ClusterVersion manifest with the capabilities to manifests/ instead")),
    ("bootstrapInPlace", Fate::Refused("a cluster of one machine is 'controlPlane.replicas: 1' with 'compute: []'")),
    ("operatorPublishingStrategy", Fate::Refused("add an IngressController manifest to manifests/ instead")),
];

pub(super) fn normalize(root: &mut Map<String, Value>, findings: &mut Findings) {
    for (name, fate) in FIELDS {
        if let Some(value) = root.shift_remove(name) {
            settle(name, &value, &fate, findings);
        }
    }
    if let Some(version @ Value::String(_)) = root.get_mut("apiVersion")
        && ["v1beta3", "v1beta4"].contains(&version.as_str().unwrap_or_default())
    {
        findings.notice("apiVersion", format!("{} is read as v1", version.as_str().unwrap_or_default()));
        *version = "v1".into();
    }
    for old in ["imageContentSources", "imageDigestSources"] {
        findings.rename(root, "", (old, "imageMirrors"), |sources| sources);
    }
    hyperthreading(root, findings);
}

fn settle(name: &str, value: &Value, fate: &Fate, findings: &mut Findings) {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match fate {
        Fate::Ignored(why) => findings.notice(name, format!("is not needed and ignored: {why}")),
        Fate::Only(word, _) if text == *word || text.is_empty() => {
            findings.notice(name, "is what Landfall does anyway and can be left out");
        }
        Fate::Only(_, instead) | Fate::Refused(instead) => {
            findings.problem(
                Problem::new(name, "is a field of openshift-install that Landfall does not have").suggest(*instead),
            );
        }
    }
}

fn hyperthreading(root: &mut Map<String, Value>, findings: &mut Findings) {
    let mut pools: Vec<(String, &mut Value)> = Vec::new();
    for (key, value) in root.iter_mut() {
        match (key.as_str(), value) {
            ("controlPlane", pool) => pools.push((key.clone(), pool)),
            ("compute", Value::Array(items)) => {
                pools.extend(items.iter_mut().enumerate().map(|(i, pool)| (path::index(key, i), pool)));
            }
            _ => {}
        }
    }
    for (parent, pool) in pools {
        let Some(value) = pool.as_object_mut().and_then(|pool| pool.shift_remove("hyperthreading")) else { continue };
        let fate =
            Fate::Only("Enabled", "set platform.ovirt.cpu.threads to 1, which is the default, or add a MachineConfig");
        settle(&path::key(&parent, "hyperthreading"), &value, &fate, findings);
    }
}
