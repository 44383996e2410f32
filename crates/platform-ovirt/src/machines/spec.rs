//! A machine as it is wanted, and the request that creates it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::client::{Disk, IGNITION_OS, TemplateDetails};

const MIB: u64 = 1 << 20;

/// A virtual machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vm {
    /// Its name in the engine, which is its host name too.
    pub name: String,
    /// Its id in the engine, of one that was found there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What it is for: `bootstrap`, `master`, or the name of a compute pool.
    pub role: String,
    /// Id of the cluster of hosts.
    pub cluster_id: String,
    /// Name of the template.
    pub template: String,
    /// Id of the storage domain of its disks; none keeps them where the template's are.
    pub storage_domain_id: Option<String>,
    /// Id of the vNIC profile of its network interface; none keeps the template's interfaces.
    pub vnic_profile_id: Option<String>,
    /// Processors and memory.
    pub size: Size,
    /// Size of the disk that it boots from.
    pub os_disk_gib: u32,
    /// `desktop`, `server` or `high_performance`.
    pub kind: String,
    /// Whether its disks are independent of the template.
    pub clone: bool,
    /// Whether its disks take up only what is written; none keeps the template's choice.
    pub sparse: Option<bool>,
    /// `raw` or `cow`; none keeps the template's choice.
    pub format: Option<String>,
    /// Size of huge pages in KiB.
    pub hugepages: Option<u32>,
    /// Whether its processors are pinned to the host's.
    pub pinned: bool,
    /// Whether the engine restarts it when its host fails.
    pub high_availability: bool,
    /// Names of its affinity groups in the engine.
    pub affinity_groups: Vec<String>,
    /// Name of the tag that it carries.
    pub tag: String,
    /// Name of the file with its Ignition config. The config itself holds secrets and stays out of plans and journals.
    pub ignition: String,
}

/// Processors and memory: the engine takes one or the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Size {
    /// Those of an instance type.
    InstanceType(String),
    /// Given in numbers.
    Custom {
        /// Sockets.
        sockets: u32,
        /// Cores per socket.
        cores: u32,
        /// Threads per core.
        threads: u32,
        /// Memory.
        memory_mib: u32,
        /// Memory that the host must have free.
        guaranteed_memory_mib: u32,
    },
}

/// The request that creates a machine. Pure, so that it can be pinned.
pub(super) fn body(desired: &Vm, template: &TemplateDetails, description: &str, ignition: &str) -> Value {
    let mut body = json!({
        "name": desired.name,
        "description": description,
        "cluster": { "id": desired.cluster_id },
        "template": { "id": template.id },
        "type": desired.kind,
        // Any other type makes the engine hand over the Ignition config as cloud-init, which breaks it.
        "os": { "type": IGNITION_OS },
        "initialization": { "host_name": desired.name, "custom_script": ignition },
        "high_availability": { "enabled": desired.high_availability.to_string() },
    });
    match &desired.size {
        Size::InstanceType(id) => body["instance_type"] = json!({ "id": id }),
        Size::Custom { sockets, cores, threads, memory_mib, guaranteed_memory_mib } => {
            let bytes = |mib: &u32| (u64::from(*mib) * MIB).to_string();
            body["cpu"] = json!({ "topology": {
                "sockets": sockets.to_string(), "cores": cores.to_string(), "threads": threads.to_string(),
            }});
            body["memory"] = bytes(memory_mib).into();
            body["memory_policy"] = json!({ "guaranteed": bytes(guaranteed_memory_mib), "max": bytes(memory_mib) });
        }
    }
    let disks: Vec<_> =
        template.disks.iter().enumerate().map(|(index, disk)| disk_body(desired, &disk.id, index)).collect();
    body["disk_attachments"] = json!({ "disk_attachment": disks });
    if desired.kind == "high_performance" {
        // What the engine's own dialogue sets for this type.
        body["cpu"]["mode"] = "host_passthrough".into();
        body["memory_policy"]["ballooning"] = "false".into();
        body["soundcard_enabled"] = "false".into();
        body["console"] = json!({ "enabled": "true" });
        body["placement_policy"] = json!({ "affinity": "user_migratable" });
    }
    if let Some(kib) = desired.hugepages {
        body["custom_properties"] = json!({ "custom_property": [{ "name": "hugepages", "value": kib.to_string() }] });
    }
    body
}

/// A disk of the template, as the machine is to have it.
fn disk_body(desired: &Vm, template_disk_id: &str, index: usize) -> Value {
    let name = Disk::name_of(&desired.name, index);
    let mut disk = json!({ "id": template_disk_id, "name": name, "alias": name });
    if desired.clone {
        // A thin disk stays in the domain of the one that it is laid over, and has its format.
        if let Some(id) = &desired.storage_domain_id {
            disk["storage_domains"] = json!({ "storage_domain": [{ "id": id }] });
        }
        if let Some(sparse) = desired.sparse {
            disk["sparse"] = sparse.to_string().into();
        }
        if let Some(format) = &desired.format {
            disk["format"] = format.as_str().into();
        }
    }
    json!({ "disk": disk })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vm() -> Vm {
        Vm {
            name: "demo-x7k2p-master-0".to_owned(),
            id: None,
            role: "master".to_owned(),
            cluster_id: "c1".to_owned(),
            template: "fcos".to_owned(),
            storage_domain_id: Some("s1".to_owned()),
            vnic_profile_id: Some("p1".to_owned()),
            size: Size::Custom { sockets: 1, cores: 4, threads: 1, memory_mib: 16384, guaranteed_memory_mib: 8192 },
            os_disk_gib: 120,
            kind: "high_performance".to_owned(),
            clone: true,
            sparse: Some(false),
            format: Some("raw".to_owned()),
            hugepages: Some(2048),
            pinned: false,
            high_availability: true,
            affinity_groups: Vec::new(),
            tag: "demo-x7k2p".to_owned(),
            ignition: "master.ign".to_owned(),
        }
    }

    fn request(vm: &Vm) -> Value {
        let disk = |id: &str| Disk {
            id: id.to_owned(),
            alias: "fcos".to_owned(),
            description: String::new(),
            status: "ok".to_owned(),
            provisioned_size: 10 << 30,
            actual_size: 1 << 30,
        };
        let template = TemplateDetails {
            id: "t1".to_owned(),
            name: "fcos".to_owned(),
            description: String::new(),
            status: "ok".to_owned(),
            os: "rhcos_x64".to_owned(),
            disks: vec![disk("d1"), disk("d2")],
        };
        body(vm, &template, "master [landfall:demo-x7k2p]", r#"{"ignition":{"version":"3.4.0"}}"#)
    }

    #[test]
    fn a_machine_with_everything() {
        insta::assert_json_snapshot!(request(&vm()));
    }

    #[test]
    fn a_thin_machine_of_an_instance_type() {
        let plain = Vm {
            size: Size::InstanceType("i1".to_owned()),
            kind: "desktop".to_owned(),
            clone: false,
            hugepages: None,
            high_availability: false,
            ..vm()
        };
        insta::assert_json_snapshot!(request(&plain));
    }
}
