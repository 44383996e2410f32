//! What machines boot from the network, where the platform starts them so, and who has it when the installer is gone.
//!
//! A machine that is made later, by the machine controller, needs the script too, and the host that served it during the
//! installation is no longer there. So the masters serve it, in plain HTTP on a port of its own: firmware trusts none but
//! public authorities, and nothing in the script is secret.

use std::net::IpAddr;

use landfall_config::{
    Architecture, InstallConfig,
    packet::{Ipxe, Os},
};

use crate::{
    Cluster, MachineRole, NodeFile, NodeUnit,
    node::{BootScriptFacts, agent_unit},
};

/// Beside the config server's, and free on machines of all distributions.
const PORT: u16 = 22625;
const FILE: &str = "/etc/landfall/boot.ipxe";
/// Where the script is, below whoever serves it.
const PATH: &str = "boot.ipxe";

/// The script that machines of a cluster boot with; none where the platform has an operating system for them.
pub fn boot_script(config: &InstallConfig) -> Option<String> {
    match &config.platform.packet()?.os {
        Os::Ipxe(ipxe) => Some(script(ipxe, config.architecture())),
        Os::Slug(_) => None,
    }
}

/// Where machines that are made after the installation find the script.
pub(crate) fn boot_script_url(cluster: &Cluster<'_>) -> Option<String> {
    boot_script(cluster.config)?;
    let host = match cluster.config.api_vips().first() {
        Some(IpAddr::V6(address)) if cluster.manages_endpoint() => format!("[{address}]"),
        Some(address) if cluster.manages_endpoint() => address.to_string(),
        _ => cluster.api_name(),
    };
    Some(format!("http://{host}:{PORT}/{PATH}"))
}

/// What a machine of a role serves.
pub(crate) fn facts(cluster: &Cluster<'_>, role: MachineRole) -> Option<BootScriptFacts> {
    let serves = role == MachineRole::Master && boot_script(cluster.config).is_some();
    serves.then(|| BootScriptFacts { file: FILE.to_owned(), port: PORT })
}

pub(super) fn files(cluster: &Cluster<'_>, role: MachineRole) -> Option<NodeFile> {
    facts(cluster, role)?;
    boot_script(cluster.config).map(|script| NodeFile::public(FILE, script))
}

pub(super) fn units(cluster: &Cluster<'_>, role: MachineRole) -> Option<NodeUnit> {
    facts(cluster, role)?;
    Some(agent_unit(cluster, "boot-script", "iPXE script for machines that boot from the network"))
}

/// A system that is installed boots from its disk as `packet` and asks the platform for its config by itself; the live system
/// that installs it needs none. One that stays in memory is itself `packet`.
fn script(ipxe: &Ipxe, architecture: Architecture) -> String {
    let usual = if architecture == Architecture::Arm64 { "ttyAMA0,115200" } else { "ttyS1,115200n8" };
    let console = ipxe.console.as_deref().unwrap_or(usual);
    let mut arguments = vec![
        "initrd=main".to_owned(),
        format!("coreos.live.rootfs_url={}", ipxe.rootfs),
        "ip=dhcp".to_owned(),
        "rd.neednet=1".to_owned(),
        "console=tty0".to_owned(),
        format!("console={console}"),
    ];
    arguments.extend(match &ipxe.install_disk {
        Some(disk) => vec![format!("coreos.inst.install_dev={disk}"), "coreos.inst.platform_id=packet".to_owned()],
        None => vec!["ignition.firstboot".to_owned(), "ignition.platform.id=packet".to_owned()],
    });
    arguments.extend(ipxe.kernel_arguments.iter().cloned());
    format!("#!ipxe\nkernel {} {}\ninitrd --name main {}\nboot\n", ipxe.kernel, arguments.join(" "), ipxe.initramfs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ipxe() -> Ipxe {
        let url = |name: &str| format!("https://mirror.example.com/{name}").parse().unwrap();
        Ipxe {
            kernel: url("kernel"),
            initramfs: url("initramfs"),
            rootfs: url("rootfs"),
            trust_boot_network: false,
            install_disk: Some("/dev/sda".to_owned()),
            console: None,
            kernel_arguments: vec!["nosmt".to_owned()],
        }
    }

    #[test]
    fn an_installed_system_finds_its_config_by_itself() {
        insta::assert_snapshot!(script(&ipxe(), Architecture::Amd64), @r"
        #!ipxe
        kernel https://mirror.example.com/kernel initrd=main coreos.live.rootfs_url=https://mirror.example.com/rootfs ip=dhcp rd.neednet=1 console=tty0 console=ttyS1,115200n8 coreos.inst.install_dev=/dev/sda coreos.inst.platform_id=packet nosmt
        initrd --name main https://mirror.example.com/initramfs
        boot
        ");
    }

    #[test]
    fn a_live_system_is_the_machine() {
        let script = script(&Ipxe { install_disk: None, ..ipxe() }, Architecture::Arm64);
        assert!(script.contains("ignition.platform.id=packet") && !script.contains("coreos.inst"), "{script}");
        assert!(script.contains("console=ttyAMA0,115200"), "{script}");
    }
}
