//! Scripts on the machines, run by the shell.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use crate::{
    configs::{Rendered, site},
    tool::{run, try_run},
    view::View,
};

fn script(name: &str) -> String {
    let rendered = Rendered::new(site("mirrors"));
    View::new(&rendered.text("config-server/master.ign")).file(&format!("/opt/landfall/bin/{name}")).to_owned()
}

#[test]
fn scripts_are_well_formed() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["check-balancer", "check-backends", "check-ingress", "ensure-packages", "unpack", "update-trust"] {
        let path = directory.path().join(name);
        fs::write(&path, script(name)).unwrap();
        run("bash", &["-n", path.to_str().unwrap()]);
    }
}

/// A program in an archive, under the path that it has in the upstream one.
fn archive(root: &Path, name: &str, members: &[&str]) {
    let contents = root.join("contents");
    for member in members {
        let path = contents.join(member);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, member).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let archive = root.join("landfall/downloads").join(name);
    fs::create_dir_all(archive.parent().unwrap()).unwrap();
    let mut arguments = vec!["--create", "--gzip", "--file", archive.to_str().unwrap(), "--directory"];
    arguments.push(contents.to_str().unwrap());
    arguments.extend(members);
    run("tar", &arguments);
    fs::remove_dir_all(contents).unwrap();
}

#[test]
fn unpacking_puts_programs_in_place_and_clears_up() {
    let directory = tempfile::tempdir().unwrap();
    let opt = directory.path();
    let kubernetes = ["kubeadm", "kubelet", "kubectl", "kube-proxy"].map(|name| format!("kubernetes/node/bin/{name}"));
    let kubernetes: Vec<&str> = kubernetes.iter().map(String::as_str).chain(["kubernetes/LICENSES"]).collect();
    archive(opt, "kubernetes-node.tar.gz", &kubernetes);
    archive(opt, "containerd.tar.gz", &["bin/containerd", "bin/ctr"]);
    archive(opt, "cni-plugins.tar.gz", &["./bridge", "./host-local", "./portmap"]);

    let path = opt.join("unpack");
    fs::write(&path, script("unpack").replace("/opt", opt.to_str().unwrap())).unwrap();
    run("bash", &[path.to_str().unwrap()]);

    for program in ["bin/kubeadm", "bin/kubelet", "bin/kubectl", "bin/containerd", "bin/ctr", "cni/bin/bridge"] {
        let mode = fs::metadata(opt.join(program)).unwrap_or_else(|error| panic!("{program}: {error}")).permissions();
        assert_eq!(mode.mode() & 0o777, 0o755, "{program}");
    }
    assert!(!opt.join("bin/kube-proxy").exists(), "it runs as a pod");
    assert!(!opt.join("landfall/downloads").exists());
    assert!(opt.join("landfall/unpacked").exists());
}

/// A loss of power leaves files empty that were not synced, so the archives stay until the programs are stored, and the mark.
#[test]
fn archives_stay_until_programs_are_on_stable_storage() {
    for (fails_with, is_marked) in [("--file-system", false), ("unpacked", true)] {
        let directory = tempfile::tempdir().unwrap();
        let opt = directory.path();
        archive(
            opt,
            "kubernetes-node.tar.gz",
            &["kubernetes/node/bin/kubeadm", "kubernetes/node/bin/kubelet", "kubernetes/node/bin/kubectl"],
        );
        archive(opt, "containerd.tar.gz", &["bin/containerd"]);
        archive(opt, "cni-plugins.tar.gz", &["./bridge"]);
        let unpack = script("unpack").replace("/opt", opt.to_str().unwrap());
        let sync = format!("sync() {{ case \"$*\" in *{fails_with}*) return 1 ;; esac; }}\n");
        let path = opt.join("unpack");
        fs::write(&path, unpack.replacen("set -euo pipefail\n", &format!("set -euo pipefail\n{sync}"), 1)).unwrap();
        assert!(!try_run("bash", &[path.to_str().unwrap()]).0, "{fails_with}");
        assert!(opt.join("landfall/downloads/containerd.tar.gz").exists(), "{fails_with}");
        assert_eq!(opt.join("landfall/unpacked").exists(), is_marked, "{fails_with}");
    }
}

#[test]
fn a_damaged_download_is_not_taken_for_done() {
    let directory = tempfile::tempdir().unwrap();
    let opt = directory.path();
    fs::create_dir_all(opt.join("landfall/downloads")).unwrap();
    fs::write(opt.join("landfall/downloads/kubernetes-node.tar.gz"), "no archive").unwrap();
    let path = opt.join("unpack");
    fs::write(&path, script("unpack").replace("/opt", opt.to_str().unwrap())).unwrap();
    assert!(!try_run("bash", &[path.to_str().unwrap()]).0);
    assert!(!opt.join("landfall/unpacked").exists());
}

#[test]
fn programs_that_are_there_are_not_installed_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ensure-packages");
    fs::write(&path, script("ensure-packages")).unwrap();
    run("bash", &[path.to_str().unwrap(), "bash", "sh"]);
    let (ok, output) = try_run("bash", &[path.to_str().unwrap(), "bash", "no-such-program"]);
    assert!(!ok && output.contains("no-such-program"), "{output}");
}
