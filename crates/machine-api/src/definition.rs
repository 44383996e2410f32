//! The definitions of the machine objects, which a cluster needs before it can have any.

use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use crate::{
    GROUP, HealthCheckSpec, HealthCheckStatus, MachineSetSpec, MachineSetStatus, MachineSpec, MachineStatus, VERSION,
    structural::structural,
};

/// A kind of machine object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One machine.
    Machine,
    /// A number of equal machines.
    MachineSet,
    /// When machines count as unhealthy.
    MachineHealthCheck,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Machine, Self::MachineSet, Self::MachineHealthCheck];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Machine => "Machine",
            Self::MachineSet => "MachineSet",
            Self::MachineHealthCheck => "MachineHealthCheck",
        }
    }

    /// What it is, for people.
    fn description(self) -> &'static str {
        match self {
            Self::Machine => {
                "A machine of the cluster, made and kept by the platform that its provider spec belongs to."
            }
            Self::MachineSet => "A number of equal machines.",
            Self::MachineHealthCheck => "When machines count as unhealthy, and what is done about it.",
        }
    }

    fn columns(self) -> Value {
        let column = |name: &str, kind: &str, path: &str, description: &str, priority: u8| {
            let mut column = json!({ "name": name, "type": kind, "jsonPath": path, "description": description });
            if priority > 0 {
                column["priority"] = priority.into();
            }
            column
        };
        let age = column("Age", "date", ".metadata.creationTimestamp", "How long it exists", 0);
        match self {
            Self::Machine => json!([
                column("Phase", "string", ".status.phase", "Where the machine is in its life", 0),
                column("Node", "string", ".status.nodeRef.name", "Node that runs on the machine", 0),
                column("Address", "string", ".status.addresses[?(@.type=='InternalIP')].address", "Its address", 0),
                column(
                    "State",
                    "string",
                    ".status.providerStatus.instanceState",
                    "The platform's word for its state",
                    0
                ),
                column("Reason", "string", ".status.errorReason", "Why it failed for good", 1),
                column("ProviderID", "string", ".spec.providerID", "The machine's id on its platform", 1),
                age,
            ]),
            Self::MachineSet => json!([
                column("Desired", "integer", ".spec.replicas", "Machines wanted", 0),
                column("Current", "integer", ".status.replicas", "Machines that exist", 0),
                column("Ready", "integer", ".status.readyReplicas", "Machines whose node is ready", 0),
                column(
                    "Available",
                    "integer",
                    ".status.availableReplicas",
                    "Machines whose node has been ready for the minimum time",
                    0
                ),
                age,
            ]),
            Self::MachineHealthCheck => json!([
                column(
                    "MaxUnhealthy",
                    "string",
                    ".spec.maxUnhealthy",
                    "How many machines may be unhealthy before nothing more is replaced",
                    0
                ),
                column("ExpectedMachines", "integer", ".status.expectedMachines", "Machines that are watched", 0),
                column("CurrentHealthy", "integer", ".status.currentHealthy", "Machines that are healthy", 0),
                age,
            ]),
        }
    }

    fn subresources(self) -> Value {
        match self {
            Self::MachineSet => json!({
                "status": {},
                "scale": {
                    "specReplicasPath": ".spec.replicas",
                    "statusReplicasPath": ".status.replicas",
                    "labelSelectorPath": ".status.labelSelector",
                },
            }),
            Self::Machine | Self::MachineHealthCheck => json!({ "status": {} }),
        }
    }

    fn schemas(self) -> (Value, Value) {
        match self {
            Self::Machine => (schema_of::<MachineSpec>(), schema_of::<MachineStatus>()),
            Self::MachineSet => (schema_of::<MachineSetSpec>(), schema_of::<MachineSetStatus>()),
            Self::MachineHealthCheck => (schema_of::<HealthCheckSpec>(), schema_of::<HealthCheckStatus>()),
        }
    }
}

/// The definition of a kind of objects. `provider` is the schema of the platform's provider spec, from
/// [`crate::provider`]: with it the API server refuses a machine that the platform could never make.
pub fn definition(kind: Kind, provider: Option<&Schema>) -> Value {
    let name = kind.name();
    let singular = name.to_lowercase();
    let plural = format!("{singular}s");
    let mut names = json!({ "kind": name, "listKind": format!("{name}List"), "plural": plural, "singular": singular });
    if kind == Kind::MachineHealthCheck {
        names["shortNames"] = json!(["mhc", "mhcs"]);
    }
    let (mut spec, status) = kind.schemas();
    let machine_spec = match kind {
        Kind::Machine => Some(&mut spec),
        Kind::MachineSet => spec.pointer_mut("/properties/template/properties/spec"),
        Kind::MachineHealthCheck => None,
    };
    if let (Some(machine_spec), Some(provider)) = (machine_spec, provider) {
        machine_spec["properties"]["providerSpec"]["properties"]["value"] = structural(provider.clone().into());
    }
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{plural}.{GROUP}") },
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": names,
            "versions": [{
                "name": VERSION,
                "served": true,
                "storage": true,
                "subresources": kind.subresources(),
                "additionalPrinterColumns": kind.columns(),
                "schema": { "openAPIV3Schema": {
                    "description": kind.description(),
                    "type": "object",
                    "required": ["spec"],
                    "properties": {
                        "apiVersion": { "type": "string" },
                        "kind": { "type": "string" },
                        "metadata": { "type": "object" },
                        "spec": spec,
                        "status": status,
                    },
                } },
            }],
        },
    })
}

fn schema_of<T: JsonSchema>() -> Value {
    let settings = schemars::generate::SchemaSettings::openapi3().with(|settings| settings.inline_subschemas = true);
    structural(settings.into_generator().into_root_schema_for::<T>().into())
}
