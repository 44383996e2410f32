//! The machine objects of a cluster, `machine.openshift.io/v1beta1`, as data: what users write, what controllers answer, and the
//! provider specs in which each platform says what it needs to know of a machine.
//!
//! The definitions that a cluster is given ([`definition()`]) are made from these types, rules included, so what the API
//! server lets pass is what the controllers can read.

mod certificate_request;
mod condition;
mod credential;
mod definition;
mod health_check;
mod machine;
mod machine_set;
mod meta;
mod networks;
mod permissions;
pub mod provider;
mod structural;

pub use certificate_request::{
    CLIENT_SIGNER, CertificateRequest, KubeletRequest, SERVING_SIGNER, Wish, requested_node,
};
pub use condition::{Condition, set_condition};
pub use credential::{
    CREDENTIAL_FILE, Credential, IDENTITY_ROLE, IDENTITY_ROOT, IDENTITY_SECRET, Maker, Subject, with_credential,
};
pub use definition::{Kind, definition};
pub use health_check::{HealthCheckSpec, HealthCheckStatus, ObjectReference, UnhealthyCondition};
pub use machine::{
    Address, ErrorReason, Hook, LastOperation, LifecycleHooks, MachineSpec, MachineStatus, NodeReference, Phase,
    ProviderSpec, Taint,
};
pub use machine_set::{DeletePolicy, MachineSetSpec, MachineSetStatus, Template};
pub use meta::{LabelSelector, Labels, Operator, Requirement};
pub use networks::Networks;
pub use permissions::permissions;

/// The API group of all machine objects.
pub const GROUP: &str = "machine.openshift.io";
/// Its version.
pub const VERSION: &str = "v1beta1";
/// Namespace of the machine objects of a Kubernetes cluster.
pub const NAMESPACE: &str = "landfall-system";
/// Name of the controller's Deployment, service account and Lease.
pub const CONTROLLER: &str = "landfall-machine-controller";
/// Label of machines: the infra id of their cluster.
pub const CLUSTER_LABEL: &str = "machine.openshift.io/cluster-api-cluster";
/// Label of machines: `master` or `worker`.
pub const ROLE_LABEL: &str = "machine.openshift.io/cluster-api-machine-role";
/// Label of machines: the set that they belong to.
pub const SET_LABEL: &str = "machine.openshift.io/cluster-api-machineset";
/// Finalizer of machines: the instance on the platform is still to be deleted.
pub const FINALIZER: &str = "machine.machine.openshift.io";
/// Hook before the removal of a master: its etcd member has to leave first. Masters take it away.
pub const ETCD_HOOK: &str = "etcd-member";
/// Whose hook that is.
pub const ETCD_HOOK_OWNER: &str = "landfall-node";
/// Condition of machines that are deleted: nobody's hook holds the drain of the node.
pub const DRAINABLE: &str = "Drainable";
/// Condition of machines that are deleted: nobody's hook holds the removal of the instance.
pub const TERMINABLE: &str = "Terminable";
/// Why one of them is not so.
pub const HOOK_PRESENT: &str = "HookPresent";
/// Annotation of machines that go first when a set shrinks; the second name is what the cluster autoscaler writes.
pub const DELETE_FIRST: [&str; 2] =
    ["machine.openshift.io/delete-machine", "machine.openshift.io/cluster-api-delete-machine"];
/// Annotation of machines that are deleted without draining their nodes.
pub const NO_DRAIN: &str = "machine.openshift.io/exclude-node-draining";
/// Annotation of nodes: namespace and name of their machine.
pub const MACHINE_ANNOTATION: &str = "machine.openshift.io/machine";
/// Annotation of machines: the platform's own word for the instance's state.
pub const INSTANCE_STATE: &str = "machine.openshift.io/instance-state";
/// Annotation of machines whose remediation is left to another program.
pub const EXTERNAL_REMEDIATION: &str = "host.metal3.io/external-remediation";
/// Annotation of machines that are fenced and replaced: since when, and why.
pub const REMEDIATION: &str = "landfall.dev/remediation";
