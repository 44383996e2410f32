//! What the operating system image of a real host has besides Debian: the guest agent, and what lets a kubelet and a
//! container runtime work in a container. Each file says why it is there.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::error::RealError;

/// Files by path, and whether they are programs.
const FILES: [(&str, bool, &str); 17] = [
    file("etc/selinux/config", include_str!("os/etc/selinux/config")),
    // Ignition's Debian build labels what it wrote, by rules of which there are none.
    file("etc/selinux/landfall/contexts/files/file_contexts", ""),
    program("usr/lib/landfall-host/after-kubelet", include_str!("os/usr/lib/landfall-host/after-kubelet")),
    program("usr/lib/landfall-host/agent", include_str!("os/usr/lib/landfall-host/agent")),
    file("usr/lib/landfall-host/cgroup.controllers", include_str!("os/usr/lib/landfall-host/cgroup.controllers")),
    program("usr/lib/landfall-host/containerd-config", include_str!("os/usr/lib/landfall-host/containerd-config")),
    file(
        "usr/lib/landfall-host/kubelet.conf.d/50-landfall-host.conf",
        include_str!("os/usr/lib/landfall-host/kubelet.conf.d/50-landfall-host.conf"),
    ),
    program("usr/lib/landfall-host/private-sysctls", include_str!("os/usr/lib/landfall-host/private-sysctls")),
    program("usr/lib/landfall-host/runc", include_str!("os/usr/lib/landfall-host/runc")),
    file(
        "usr/lib/systemd/journald.conf.d/50-landfall-host.conf",
        include_str!("os/usr/lib/systemd/journald.conf.d/50-landfall-host.conf"),
    ),
    file(
        "usr/lib/systemd/system-preset/80-landfall-host.preset",
        include_str!("os/usr/lib/systemd/system-preset/80-landfall-host.preset"),
    ),
    file(
        "usr/lib/systemd/system/landfall-host-agent.service",
        include_str!("os/usr/lib/systemd/system/landfall-host-agent.service"),
    ),
    file(
        "usr/lib/systemd/system/multi-user.target.d/50-landfall-host.conf",
        "[Unit]\nWants=landfall-host-agent.service\n",
    ),
    file(
        "usr/lib/systemd/system/containerd.service.d/50-landfall-host.conf",
        include_str!("os/usr/lib/systemd/system/containerd.service.d/50-landfall-host.conf"),
    ),
    file(
        "usr/lib/systemd/system/kubelet.service.d/50-landfall-host.conf",
        include_str!("os/usr/lib/systemd/system/kubelet.service.d/50-landfall-host.conf"),
    ),
    file("usr/lib/systemd/system/landfall-bootstrap.service.d/50-landfall-host.conf", KUBEADM),
    file("usr/lib/systemd/system/landfall-join.service.d/50-landfall-host.conf", KUBEADM),
];

/// For the units that run kubeadm.
const KUBEADM: &str = include_str!("os/kubeadm.conf");

const fn file(path: &'static str, contents: &'static str) -> (&'static str, bool, &'static str) {
    (path, false, contents)
}

const fn program(path: &'static str, contents: &'static str) -> (&'static str, bool, &'static str) {
    (path, true, contents)
}

/// Writes the files below a directory, which becomes a layer over Debian.
pub(super) fn write(directory: &Path) -> Result<(), RealError> {
    for (path, is_program, contents) in FILES {
        write_file(&directory.join(path), contents, if is_program { 0o755 } else { 0o644 })?;
    }
    Ok(())
}

/// Writes a file, and the directories above it, for all to read.
#[expect(clippy::disallowed_methods, reason = "part of a host that ends with the simulator")]
pub(super) fn write_file(path: &Path, contents: &str, mode: u32) -> Result<(), RealError> {
    let parent = path.parent().unwrap_or(path);
    fs_err::create_dir_all(parent)
        .and_then(|()| fs_err::write(path, contents))
        .and_then(|()| fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)))
        .map_err(RealError::file(path))
}
