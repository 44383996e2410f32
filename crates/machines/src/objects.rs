//! The machine objects, as the cluster's API has them.

use std::borrow::Cow;

use k8s_openapi::{NamespaceResourceScope, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use landfall_machine_api as api;
use serde::{Deserialize, Serialize};

macro_rules! object {
    ($(#[$doc:meta])* $name:ident, $plural:literal, $spec:ty, $status:ty) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            #[serde(default)]
            api_version: String,
            #[serde(default)]
            kind: String,
            /// Name, labels, owners.
            pub metadata: ObjectMeta,
            /// What it is to be.
            pub spec: $spec,
            /// What it is.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub status: Option<$status>,
        }

        impl $name {
            /// An object that is to be made.
            pub fn new(metadata: ObjectMeta, spec: $spec) -> Self {
                let api_version = format!("{}/{}", api::GROUP, api::VERSION);
                Self { api_version, kind: stringify!($name).to_owned(), metadata, spec, status: None }
            }

            /// Its name.
            pub fn name(&self) -> &str {
                self.metadata.name.as_deref().unwrap_or_default()
            }

            /// What tells it from others of its name.
            pub fn uid(&self) -> &str {
                self.metadata.uid.as_deref().unwrap_or_default()
            }
        }

        impl kube::Resource for $name {
            type DynamicType = ();
            type Scope = NamespaceResourceScope;

            fn kind((): &()) -> Cow<'_, str> {
                stringify!($name).into()
            }
            fn group((): &()) -> Cow<'_, str> {
                api::GROUP.into()
            }
            fn version((): &()) -> Cow<'_, str> {
                api::VERSION.into()
            }
            fn plural((): &()) -> Cow<'_, str> {
                $plural.into()
            }
            fn meta(&self) -> &ObjectMeta {
                &self.metadata
            }
            fn meta_mut(&mut self) -> &mut ObjectMeta {
                &mut self.metadata
            }
        }
    };
}

object!(
    /// One machine of the cluster.
    Machine, "machines", api::MachineSpec, api::MachineStatus
);
object!(
    /// A number of equal machines.
    MachineSet, "machinesets", api::MachineSetSpec, api::MachineSetStatus
);
object!(
    /// When machines count as unhealthy.
    MachineHealthCheck, "machinehealthchecks", api::HealthCheckSpec, api::HealthCheckStatus
);

impl Machine {
    /// The value of a label.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.metadata.labels.as_ref()?.get(name).map(String::as_str)
    }

    /// The value of an annotation.
    pub fn annotation(&self, name: &str) -> Option<&str> {
        self.metadata.annotations.as_ref()?.get(name).map(String::as_str)
    }

    /// Whether somebody wants it gone.
    pub fn is_deleting(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    /// Whether it runs the control plane.
    pub fn is_master(&self) -> bool {
        self.label(api::ROLE_LABEL) == Some("master")
    }

    /// Whether the machine controller has taken it on.
    pub(crate) fn has_finalizer(&self) -> bool {
        self.metadata.finalizers.iter().flatten().any(|finalizer| finalizer == api::FINALIZER)
    }

    /// Its id on the platform.
    pub fn provider_id(&self) -> Option<&str> {
        self.spec.provider_id.as_deref().filter(|id| !id.is_empty())
    }

    /// Where it is in its life.
    pub fn phase(&self) -> Option<api::Phase> {
        self.status.as_ref()?.phase
    }

    /// Why it failed for good, if it did.
    pub(crate) fn error_reason(&self) -> Option<api::ErrorReason> {
        self.status.as_ref()?.error_reason
    }

    /// The name of its node.
    pub fn node_name(&self) -> Option<&str> {
        self.status.as_ref()?.node_ref.as_ref().map(|node| node.name.as_str())
    }

    /// The uid of what controls it.
    pub(crate) fn controller(&self) -> Option<&str> {
        let owners = self.metadata.owner_references.iter().flatten();
        owners.into_iter().find(|owner| owner.controller == Some(true)).map(|owner| owner.uid.as_str())
    }

    /// Whether a condition is true.
    pub(crate) fn is_so(&self, condition: &str) -> bool {
        let conditions = self.status.iter().flat_map(|status| &status.conditions);
        conditions.into_iter().any(|known| known.kind == condition && known.status == "True")
    }
}
