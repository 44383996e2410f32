//! Settings of the operating system that Kubernetes needs.

use landfall_config::InstallConfig;

use super::NodeFile;
use crate::MachineRole;

pub(super) fn files(config: &InstallConfig) -> Vec<NodeFile> {
    vec![
        NodeFile::public("/etc/modules-load.d/landfall.conf", "overlay\nbr_netfilter\n"),
        NodeFile::public("/etc/sysctl.d/90-landfall.conf", sysctls(config)),
        NodeFile::public("/etc/profile.d/landfall.sh", "export PATH=$PATH:/opt/bin\n"),
        // Fedora CoreOS and Flatcar reboot into updates by themselves, all machines at once if need be. The cluster's
        // administrator decides when a node may go.
        NodeFile::public("/etc/zincati/config.d/90-landfall.toml", "[updates]\nenabled = false\n"),
        NodeFile::public("/etc/flatcar/update.conf", "REBOOT_STRATEGY=off\n"),
    ]
}

/// How many threads of a Power processor are used, where a pool says so. The kernel takes a number here, as well as `on` and `off`.
pub(crate) fn threads(config: &InstallConfig, role: MachineRole) -> Option<NodeFile> {
    config.platform.powervs()?;
    let pool = match role {
        MachineRole::Bootstrap | MachineRole::Master => &config.control_plane,
        // All compute pools have the same.
        MachineRole::Worker => config.compute.first()?,
    };
    let level = config.powervs_pool(pool).smt_level?;
    let setting = format!("w /sys/devices/system/cpu/smt/control - - - - {level}\n");
    Some(NodeFile::public("/etc/tmpfiles.d/90-landfall-smt.conf", setting))
}

fn sysctls(config: &InstallConfig) -> String {
    let networks = &config.networking.cluster_network;
    let mut settings = String::new();
    if networks.iter().any(|network| network.cidr.addr().is_ipv4()) {
        settings.push_str("net.ipv4.ip_forward = 1\n");
    }
    if networks.iter().any(|network| network.cidr.addr().is_ipv6()) {
        settings.push_str("net.ipv6.conf.all.forwarding = 1\n");
        // The kernel stops listening to routers on a machine that forwards, unless it is told to go on.
        settings.push_str("net.ipv6.conf.all.accept_ra = 2\nnet.ipv6.conf.default.accept_ra = 2\n");
    }
    // A minus in front: a kernel without the module has nothing to set.
    settings.push_str("-net.bridge.bridge-nf-call-iptables = 1\n-net.bridge.bridge-nf-call-ip6tables = 1\n");
    settings
}
