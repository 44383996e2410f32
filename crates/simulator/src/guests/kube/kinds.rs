//! Which kinds of objects the API knows: the built-in ones that clusters are set up with, and those that
//! `CustomResourceDefinition`s add.

use serde_json::Value;

use super::store::Store;

/// A kind of object and where it is in the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    /// Empty for the core group.
    pub(super) group: String,
    pub(super) version: String,
    /// Plural and lower case, as it stands in paths.
    pub(super) resource: String,
    /// As it stands in objects, for example `Node`.
    pub(super) name: String,
    pub(super) namespaced: bool,
    /// Whether status is written through a path of its own.
    pub(super) has_status: bool,
    /// Whether how many there are of it is written through a path of its own, too.
    pub(super) has_scale: bool,
    pub(super) short_names: Vec<String>,
}

impl Kind {
    /// As it stands in objects.
    pub(super) fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// Whether it comes with a `CustomResourceDefinition`.
    pub(super) fn is_custom(&self) -> bool {
        !BUILT_IN.iter().any(|(group, ..)| *group == self.group)
    }
}

const NAMESPACED: bool = true;
const GLOBAL: bool = false;
const STATUS: bool = true;
const PLAIN: bool = false;

type BuiltIn = (&'static str, &'static str, &'static str, &'static str, bool, bool, &'static [&'static str]);

const BUILT_IN: &[BuiltIn] = &[
    ("", "v1", "configmaps", "ConfigMap", NAMESPACED, PLAIN, &["cm"]),
    ("", "v1", "endpoints", "Endpoints", NAMESPACED, PLAIN, &["ep"]),
    ("", "v1", "events", "Event", NAMESPACED, PLAIN, &["ev"]),
    ("", "v1", "limitranges", "LimitRange", NAMESPACED, PLAIN, &["limits"]),
    ("", "v1", "namespaces", "Namespace", GLOBAL, STATUS, &["ns"]),
    ("", "v1", "nodes", "Node", GLOBAL, STATUS, &["no"]),
    ("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", NAMESPACED, STATUS, &["pvc"]),
    ("", "v1", "persistentvolumes", "PersistentVolume", GLOBAL, STATUS, &["pv"]),
    ("", "v1", "pods", "Pod", NAMESPACED, STATUS, &["po"]),
    ("", "v1", "resourcequotas", "ResourceQuota", NAMESPACED, STATUS, &["quota"]),
    ("", "v1", "secrets", "Secret", NAMESPACED, PLAIN, &[]),
    ("", "v1", "serviceaccounts", "ServiceAccount", NAMESPACED, PLAIN, &["sa"]),
    ("", "v1", "services", "Service", NAMESPACED, STATUS, &["svc"]),
    (
        "admissionregistration.k8s.io",
        "v1",
        "mutatingwebhookconfigurations",
        "MutatingWebhookConfiguration",
        GLOBAL,
        PLAIN,
        &[],
    ),
    (
        "admissionregistration.k8s.io",
        "v1",
        "validatingwebhookconfigurations",
        "ValidatingWebhookConfiguration",
        GLOBAL,
        PLAIN,
        &[],
    ),
    ("apiextensions.k8s.io", "v1", CUSTOM, "CustomResourceDefinition", GLOBAL, STATUS, &["crd", "crds"]),
    ("apps", "v1", "daemonsets", "DaemonSet", NAMESPACED, STATUS, &["ds"]),
    ("apps", "v1", "deployments", "Deployment", NAMESPACED, STATUS, &["deploy"]),
    ("apps", "v1", "replicasets", "ReplicaSet", NAMESPACED, STATUS, &["rs"]),
    ("apps", "v1", "statefulsets", "StatefulSet", NAMESPACED, STATUS, &["sts"]),
    ("batch", "v1", "cronjobs", "CronJob", NAMESPACED, STATUS, &["cj"]),
    ("batch", "v1", "jobs", "Job", NAMESPACED, STATUS, &[]),
    ("certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest", GLOBAL, STATUS, &["csr"]),
    ("coordination.k8s.io", "v1", "leases", "Lease", NAMESPACED, PLAIN, &[]),
    ("events.k8s.io", "v1", "events", "Event", NAMESPACED, PLAIN, &["ev"]),
    ("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", NAMESPACED, PLAIN, &["netpol"]),
    ("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", NAMESPACED, STATUS, &["pdb"]),
    ("rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", GLOBAL, PLAIN, &[]),
    ("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", GLOBAL, PLAIN, &[]),
    ("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", NAMESPACED, PLAIN, &[]),
    ("rbac.authorization.k8s.io", "v1", "roles", "Role", NAMESPACED, PLAIN, &[]),
    ("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", GLOBAL, PLAIN, &["pc"]),
    ("storage.k8s.io", "v1", "csidrivers", "CSIDriver", GLOBAL, PLAIN, &[]),
    ("storage.k8s.io", "v1", "storageclasses", "StorageClass", GLOBAL, PLAIN, &["sc"]),
];

const CUSTOM: &str = "customresourcedefinitions";

/// All kinds, the built-in ones first.
pub(super) fn all(store: &Store) -> Vec<Kind> {
    let built_in = BUILT_IN.iter().map(|&(group, version, resource, kind, namespaced, has_status, short)| Kind {
        group: group.to_owned(),
        version: version.to_owned(),
        resource: resource.to_owned(),
        name: kind.to_owned(),
        namespaced,
        has_status,
        has_scale: ["deployments", "replicasets", "statefulsets"].contains(&resource),
        short_names: short.iter().map(|&name| name.to_owned()).collect(),
    });
    let (definitions, _) = store.list("apiextensions.k8s.io", CUSTOM, None);
    built_in.chain(definitions.iter().flat_map(|definition| custom(&definition["spec"]))).collect()
}

/// The kind at a place in the API.
pub(super) fn find(store: &Store, group: &str, version: &str, resource: &str) -> Option<Kind> {
    let found = |kind: &Kind| kind.group == group && kind.version == version && kind.resource == resource;
    all(store).into_iter().find(found)
}

/// The kinds of a definition, one per served version.
fn custom(spec: &Value) -> Vec<Kind> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let names = &spec["names"];
    let versions = spec["versions"].as_array().into_iter().flatten();
    let served = versions.filter(|version| version["served"] == true);
    let kind = |version: &Value| Kind {
        group: text(&spec["group"]),
        version: text(&version["name"]),
        resource: text(&names["plural"]),
        name: text(&names["kind"]),
        namespaced: spec["scope"] == "Namespaced",
        has_status: version.pointer("/subresources/status").is_some(),
        has_scale: version.pointer("/subresources/scale").is_some(),
        short_names: names["shortNames"].as_array().into_iter().flatten().map(text).collect(),
    };
    served.map(kind).collect()
}
