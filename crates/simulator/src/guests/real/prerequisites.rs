//! What real hosts need of the machine that they run on.

use std::path::Path;

use super::cgroup::Cgroup;
use super::error::RealError;

/// Programs, and the Debian packages that have them.
const PROGRAMS: [(&str, &str); 9] = [
    ("systemd-nspawn", "systemd-container"),
    ("ip", "iproute2"),
    ("unshare", "util-linux"),
    ("nsenter", "util-linux"),
    ("mount", "mount"),
    ("losetup", "mount"),
    ("mkfs.xfs", "xfsprogs"),
    ("xfs_io", "xfsprogs"),
    ("bash", "bash"),
];

/// What `make tools` leaves in its directory.
const TOOLS: [&str; 4] = ["root/usr/lib/dracut/modules.d/30ignition/ignition", "containerd", "mirror", "digests.yaml"];

/// Says everything that is missing at once; the root of control groups if nothing is.
pub(super) fn check(tools: &Path) -> Result<Cgroup, RealError> {
    let mut missing = Vec::new();
    if !rustix::process::geteuid().is_root() {
        missing.push("root: namespaces, mounts and network devices are made for each host".to_owned());
    }
    let directories = std::env::var_os("PATH").unwrap_or_default();
    let directories: Vec<_> = std::env::split_paths(&directories).collect();
    for (program, package) in PROGRAMS {
        if !directories.iter().any(|directory| directory.join(program).exists()) {
            missing.push(format!("the program {program} (Debian package {package})"));
        }
    }
    for file in ["/proc/self/ns/net", "/proc/self/ns/mnt"] {
        if !Path::new(file).exists() {
            missing.push(format!("namespaces: the kernel has no {file}"));
        }
    }
    if !Path::new("/dev/loop-control").exists() {
        missing.push("loop devices for the disks: the kernel has no /dev/loop-control ('modprobe loop')".to_owned());
    }
    if !is_supported(&std::fs::read_to_string("/proc/filesystems").unwrap_or_default(), "xfs") {
        missing.push("the file system of the disks: the kernel has no xfs ('modprobe xfs')".to_owned());
    }
    let absent: Vec<_> = TOOLS.into_iter().filter(|tool| !tools.join(tool).exists()).collect();
    if !absent.is_empty() {
        missing.push(format!("{} in {}: 'make tools' builds it", absent.join(", "), tools.display()));
    }
    let cgroup = Cgroup::root(&std::fs::read_to_string("/proc/self/mounts").unwrap_or_default());
    match cgroup {
        Some(cgroup) if missing.is_empty() => Ok(cgroup),
        Some(_) => Err(RealError::Missing(missing)),
        None => {
            missing.push("control groups of the second version (a mount of type cgroup2)".to_owned());
            Err(RealError::Missing(missing))
        }
    }
}

/// Returns true if the kernel has a file system, according to `/proc/filesystems`.
fn is_supported(filesystems: &str, name: &str) -> bool {
    filesystems.lines().any(|line| line.split_whitespace().last() == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_is_supported_if_the_kernel_lists_it() {
        assert!(is_supported("nodev\toverlay\n\text4\n\txfs\n", "xfs"));
        assert!(!is_supported("nodev\toverlay\n\text4\n", "xfs"));
    }

    #[test]
    fn what_is_missing_is_named_with_its_remedy() {
        let error = check(Path::new("/nonexistent")).unwrap_err().to_string();
        assert!(error.contains("'make tools' builds it"), "{error}");
    }
}
