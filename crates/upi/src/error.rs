//! Why there is no kit.

use ipnet::IpNet;

/// Why there is no kit.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no kit for the platform.
    #[error("there is no kit for the platform '{0}'; there is one for ovirt")]
    Platform(&'static str),
    /// The cluster's machines would hold the addresses that the user's load balancer has.
    #[error("the install-config lets the cluster's machines balance the load")]
    ManagedLoadBalancer,
    /// The load balancer has no address.
    #[error("the install-config does not say at which addresses the load balancer answers: {field} is empty")]
    NoAddress {
        /// The field of the install-config.
        field: &'static str,
    },
    /// Nothing is known about the network of the machines.
    #[error("the install-config does not say which network the machines are in")]
    NoMachineNetwork,
    /// There are more machines than addresses.
    #[error("{network} has no room for {machines} machines")]
    SmallNetwork {
        /// The network.
        network: IpNet,
        /// How many machines there are.
        machines: usize,
    },
    /// A file that the user edits, or a playbook wrote, does not say what it should.
    #[error("cannot read {file}: {reason}")]
    Read {
        /// The file.
        file: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The inventory contradicts itself or the install-config.
    #[error("inventory.yml: {0}")]
    Inventory(String),
    /// The Ansible collection cannot make such disks.
    #[error(
        "the playbooks cannot make the disks of profile '{profile}': raw ones that are sparse, or cow ones that are not"
    )]
    Disks {
        /// The profile.
        profile: String,
    },
    /// A pointer config is fetched before a machine has read its static address.
    #[error("machines with static addresses cannot fetch their configs")]
    StaticPointer,
    /// An Ignition config cannot be completed.
    #[error("cannot make the Ignition config of {machine}")]
    Ignition {
        /// The machine.
        machine: String,
        /// Why.
        #[source]
        source: landfall_assets::Error,
    },
    /// The install directory has no config for a kind of machine.
    #[error("there is no {0} in the install directory")]
    NoConfig(String),
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::ManagedLoadBalancer => Some("set loadBalancer: userManaged in install-config.yaml"),
            Self::NoAddress { .. } => {
                Some("put the addresses of your load balancer there; api_vips and ingress_vips may be the same address")
            }
            Self::NoMachineNetwork => Some("set networking.machineNetwork in install-config.yaml"),
            Self::SmallNetwork { .. } => {
                Some("choose a larger networking.machineNetwork, or write addresses into upi/inventory.yml yourself")
            }
            Self::Read { .. } | Self::Inventory(_) => {
                Some("correct the file, or move it away to have it written anew from the install-config")
            }
            Self::Disks { .. } => Some(
                "leave out one of format and sparse of the pool in install-config.yaml, or of disk_format and disk_sparse in \
                 upi/inventory.yml",
            ),
            Self::StaticPointer => Some(
                "a pointer is fetched before the address is set: write ignition: full, or network.static: false, into \
                 upi/inventory.yml",
            ),
            Self::Platform(_) | Self::Ignition { .. } => None,
            Self::NoConfig(_) => Some("run 'landfall create ignition-configs' in the same directory"),
        }
    }
}
