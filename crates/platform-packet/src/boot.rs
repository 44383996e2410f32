//! What machines boot from the network, and how the bootstrap machine finds its config. Pure.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use landfall_config::{Architecture, packet::Ipxe};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::Url;

/// The iPXE script. Nothing in it is secret.
///
/// A system that is installed boots from its disk as `packet` and asks the platform for its config by itself; the live system
/// that installs it needs none. One that stays in memory is itself `packet`.
pub fn script(ipxe: &Ipxe, architecture: Architecture) -> String {
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

/// A config that fetches the real one: user data is for everybody on the machine to read, and has a limit.
///
/// `authority` is the CA of the server, if it is not one that everybody trusts.
pub fn pointer(url: &Url, authority: Option<&str>, contents: &[u8]) -> String {
    let mut config = json!({
        "ignition": {
            "version": "3.3.0",
            "config": { "replace": {
                "source": url,
                "verification": { "hash": format!("sha256-{:x}", Sha256::digest(contents)) },
            }},
        },
    });
    if let Some(authority) = authority {
        let source = format!("data:;base64,{}", BASE64_STANDARD.encode(authority));
        config["ignition"]["security"] = json!({ "tls": { "certificateAuthorities": [{ "source": source }] } });
    }
    Value::to_string(&config)
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

    #[test]
    fn the_pointer_pins_what_it_points_to() {
        let pointer = pointer(&"https://h/x".parse().unwrap(), Some("PEM"), b"{}");
        assert!(
            pointer.contains("sha256-44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
            "{pointer}"
        );
        assert!(pointer.contains("data:;base64,UEVN"), "{pointer}");
    }
}
