//! Settings of kernel and shell that Kubernetes needs.

use super::NodeFile;

pub(super) fn files() -> Vec<NodeFile> {
    vec![
        NodeFile::public("/etc/modules-load.d/landfall.conf", "overlay\nbr_netfilter\n"),
        NodeFile::public("/etc/sysctl.d/90-landfall.conf", SYSCTLS),
        NodeFile::public("/etc/profile.d/landfall.sh", "export PATH=$PATH:/opt/bin\n"),
    ]
}

/// A minus in front: a kernel without the module has nothing to set.
const SYSCTLS: &str = "\
net.ipv4.ip_forward = 1
net.ipv6.conf.all.forwarding = 1
-net.bridge.bridge-nf-call-iptables = 1
-net.bridge.bridge-nf-call-ip6tables = 1
";
