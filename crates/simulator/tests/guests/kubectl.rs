//! The API as the real `kubectl` sees it, which `make test` installs; without it the test fails.

use std::path::Path;
use std::process::{Command, Output};

use crate::cluster::Assets;
use crate::install::install;
use crate::network::Network;
use crate::rig::{Rig, until};

/// Runs `kubectl` with a kubeconfig, a home of its own and some standard input.
async fn kubectl(directory: &Path, arguments: &'static str, input: &'static str) -> Output {
    let directory = directory.to_owned();
    let run = move || {
        std::fs::write(directory.join("input"), input).unwrap();
        let program = std::env::var_os("KUBECTL").unwrap_or_else(|| "kubectl".into());
        Command::new(program)
            .args(arguments.split_whitespace())
            .env("KUBECONFIG", directory.join("kubeconfig"))
            .env("HOME", &directory)
            .stdin(std::fs::File::open(directory.join("input")).unwrap())
            .output()
            .unwrap_or_else(|error| panic!("cannot run kubectl: {error}; `make test` installs it"))
    };
    tokio::task::spawn_blocking(run).await.unwrap()
}

async fn prints(directory: &Path, arguments: &'static str, input: &'static str) -> String {
    let output = kubectl(directory, arguments, input).await;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "kubectl {arguments}: {}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubectl_works_with_the_administrators_kubeconfig() {
    let network = Network::claim();
    let assets = Assets::render(&network);
    let mut rig = Rig::new(&network);
    let admin = install(&mut rig, &assets, 1).await;
    until("all nodes", async || match admin.ready_nodes().await?.len() {
        4 => Ok(()),
        other => Err(format!("{other} are ready")),
    })
    .await;

    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    // There are no DNS records for the name, and the certificate is valid for the address as well.
    let kubeconfig = String::from_utf8(assets.files.get("auth/kubeconfig").unwrap().contents.clone()).unwrap();
    let kubeconfig = kubeconfig.replace("https://api.demo.example.com:", &format!("https://{}:", assets.vip));
    std::fs::write(directory.join("kubeconfig"), kubeconfig).unwrap();

    let nodes = prints(directory, "get nodes", "").await;
    let rows: Vec<Vec<&str>> = nodes.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["NAME", "STATUS", "ROLES", "AGE", "VERSION"]);
    assert_eq!(rows.len(), 5, "{nodes}");
    assert_eq!(rows[1][..3], ["demo-x7k2p-master-0", "Ready", "control-plane"]);
    assert_eq!((rows[4][0], rows[4][1], rows[4][4]), ("demo-x7k2p-worker-0", "Ready", "v1.36.4"));

    let status = prints(directory, "get configmap bootstrap -n kube-system -o jsonpath={.data.status}", "").await;
    assert_eq!(status, "complete");
    let sets = prints(directory, "get machinesets --all-namespaces -o name", "").await;
    assert_eq!(sets.trim(), "machineset.machine.openshift.io/demo-x7k2p-worker");

    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine, namespace: default}\ndata: {a: b}\n";
    let changed = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine, namespace: default}\ndata: {a: c}\n";
    let apply = "apply --validate=false -f -";
    assert_eq!(prints(directory, apply, map).await.trim(), "configmap/mine created");
    assert_eq!(prints(directory, apply, map).await.trim(), "configmap/mine unchanged");
    assert_eq!(prints(directory, apply, changed).await.trim(), "configmap/mine configured");
    assert_eq!(prints(directory, "get cm mine -o jsonpath={.data.a}", "").await, "c");
    assert_eq!(prints(directory, "delete cm mine", "").await.trim(), "configmap \"mine\" deleted");
    let missing = kubectl(directory, "get cm mine", "").await;
    assert!(!missing.status.success());
    let message = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(message.contains("Error from server (NotFound): configmaps \"mine\" not found"), "{message}");
}
