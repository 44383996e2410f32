//! Settings of the operating system that Kubernetes needs.

use landfall_config::InstallConfig;

use super::NodeFile;

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
