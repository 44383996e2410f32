//! A machine as it is wanted: what a plan and a provider spec say.

use std::path::PathBuf;

use landfall_config::powervm::{Network, Sharing, Storage};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::compute::{
    Blueprint, ConfigDrive, Disk, DiskPlace, Image, Mac, Memory, Network as NicNetwork, Nic, OperatingSystem,
    PartitionId, PartitionSpec, Processors, Range, Shape,
};

/// The weight by which machines compete for processors that nobody uses: that of everybody.
const UNCAPPED_WEIGHT: u8 = 128;

/// A machine of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Partition {
    /// Its name, which is also its host name.
    pub name: String,
    /// Its id, of one that was found on a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What it is for: machines of one role are kept apart.
    pub role: String,
    /// Names of the servers that it may be on; none means all.
    pub hosts: Vec<String>,
    /// Virtual processors, or whole ones if they are dedicated.
    pub processors: u32,
    /// Processing units.
    pub processing_units: f64,
    /// How it shares processors.
    pub sharing: Sharing,
    /// Memory.
    pub memory_mib: u64,
    /// Mode that its processors run in.
    pub compatibility_mode: Option<String>,
    /// Size of its disk.
    pub disk_gib: u32,
    /// Where its disk is; none if it is only going to be removed.
    pub storage: Option<Storage>,
    /// What its disk is made from: the name of an image in the pool; else a path or a URL.
    pub image: String,
    /// How it is attached to the network; none if it is only going to be removed.
    pub network: Option<Network>,
    /// The file with the Ignition config that it is started with.
    pub ignition: String,
}

impl Partition {
    /// A machine of which only name, id and server matter, because it is going to be removed.
    pub(crate) fn bare(name: &str, id: &str, host: &str) -> Self {
        Self {
            name: name.to_owned(),
            id: Some(id.to_owned()),
            role: String::new(),
            hosts: vec![host.to_owned()],
            processors: 0,
            processing_units: 0.0,
            sharing: Sharing::default(),
            memory_mib: 0,
            compatibility_mode: None,
            disk_gib: 0,
            storage: None,
            image: String::new(),
            network: None,
            ignition: String::new(),
        }
    }

    /// Everything that is decided before the partition is made.
    pub(super) fn blueprint(
        &self,
        id: &PartitionId,
        place: DiskPlace,
        file: PathBuf,
        user_data: &SecretString,
    ) -> Blueprint {
        let image = Image { name: self.image.clone(), file };
        let disk = Disk { name: "boot".to_owned(), gib: f64::from(self.disk_gib), place, image: Some(image) };
        let meta_data = json!({
            "uuid": id.as_str().to_lowercase(),
            "hostname": self.name,
            "name": self.name,
            "launch_index": 0,
        });
        Blueprint {
            partition: PartitionSpec {
                id: id.clone(),
                name: self.name.clone(),
                mark: None,
                shape: self.shape(),
                system: OperatingSystem::AixLinux,
            },
            disks: vec![disk],
            nics: self.network.iter().map(|network| nic(id, network)).collect(),
            volumes: Vec::new(),
            fibre_ports: Vec::new(),
            config_drive: Some(ConfigDrive::Files {
                meta_data,
                network_data: None,
                user_data: Some(user_data.clone()),
            }),
            power_on: true,
        }
    }

    fn shape(&self) -> Shape {
        let processors = match self.sharing {
            Sharing::Dedicated => Processors::dedicated(self.processors),
            sharing @ (Sharing::Uncapped | Sharing::Capped) => Processors::Shared {
                virtual_processors: Range::fixed(self.processors),
                units: Range::fixed(self.processing_units),
                uncapped_weight: (sharing == Sharing::Uncapped).then_some(UNCAPPED_WEIGHT),
                pool: 0,
            },
        };
        Shape {
            memory: Memory::fixed(self.memory_mib),
            processors,
            compatibility_mode: self.compatibility_mode.clone(),
            availability_priority: None,
            remote_restart: None,
        }
    }
}

fn nic(id: &PartitionId, network: &Network) -> Nic {
    let network = match network {
        Network::SharedEthernet(ethernet) => {
            NicNetwork::Bridged { switch: ethernet.virtual_switch.clone(), vlan: ethernet.vlan }
        }
        Network::OpenVswitch(switch) => NicNetwork::OpenVSwitch {
            bridge: switch.bridge.clone(),
            // Nobody but Landfall has an interest in the port, so its name is that of the machine.
            port: id.as_str().to_lowercase(),
            mtu: None,
        },
    };
    Nic { mac: Mac::of(id, 0), network }
}
