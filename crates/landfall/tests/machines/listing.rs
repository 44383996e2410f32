//! `landfall machines list`, `get` and `scale`.

use std::fs;

use serde_json::{Value, json};

use crate::place::{Place, Run, SET, eventually};

#[test]
fn machines_are_listed_shown_and_scaled() {
    let place = Place::new();
    // Definitions that are new are served only after a moment.
    eventually("an empty table is shown", || {
        let empty = place.run(&["machines", "list"]);
        let expected = "machine  role  phase  node  address  age\n";
        if empty.code == 0 && empty.stdout == expected { Ok(()) } else { Err(format!("{empty:?}")) }
    });

    place.set(2);
    place.apply(&json!({
        "apiVersion": "machine.openshift.io/v1beta1", "kind": "Machine",
        "metadata": {
            "name": "demo-x7k2p-worker-a", "namespace": "landfall-system",
            "labels": { "machine.openshift.io/cluster-api-machine-role": "worker" },
        },
        "spec": { "providerID": "ovirt://123", "providerSpec": { "value": {
            "kind": "OvirtMachineProviderSpec",
            "userDataSecret": { "name": "worker-user-data" }, "credentialsSecret": { "name": "credentials" },
            "template_name": "fcos", "cluster_id": "7a5b0000-0000-4000-8000-0000000c1a01",
            "cpu": { "sockets": 1, "cores": 1, "threads": 1 }, "memory_mb": 1024,
            "os_disk": { "size_gb": 10 }, "type": "server",
        } } },
    }));
    let status = json!({ "status": { "phase": "Running", "addresses": [{ "type": "InternalIP", "address": "192.0.2.9" }],
        "nodeRef": { "kind": "Node", "name": "demo-x7k2p-worker-a", "uid": "1" } } });
    place.kubectl(&[
        "patch",
        "machine",
        "demo-x7k2p-worker-a",
        "--subresource=status",
        "--type=merge",
        "--patch",
        &status.to_string(),
    ]);

    let listed = place.run(&["machines", "list"]);
    let rows: Vec<Vec<&str>> = listed.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(listed.code, 0, "{listed:?}");
    assert_eq!(rows[0], ["machine", "role", "phase", "node", "address", "age"]);
    assert_eq!(rows[1][..5], ["demo-x7k2p-worker-a", "worker", "Running", "demo-x7k2p-worker-a", "192.0.2.9"]);
    assert_eq!(rows[3..], [vec!["set", "wanted", "current", "ready"], vec![SET, "2", "0", "0"]]);

    let json: Value = serde_json::from_str(&place.run(&["--output", "json", "machines", "list"]).stdout).unwrap();
    assert_eq!(json["machines"][0]["providerId"], "ovirt://123");
    assert_eq!(json["machines"][0]["phase"], "Running");
    assert_eq!(json["sets"][0], json!({ "name": SET, "wanted": 2, "current": 0, "ready": 0 }));

    let shown = place.run(&["machines", "get", "demo-x7k2p-worker-a"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    for line in ["machine       demo-x7k2p-worker-a", "phase         Running", "address       192.0.2.9 (InternalIP)"] {
        assert!(shown.stdout.lines().any(|shown| shown == line), "{line}: {}", shown.stdout);
    }
    let whole = place.run(&["--output", "json", "machines", "get", "demo-x7k2p-worker-a"]);
    let whole: Value = serde_json::from_str(&whole.stdout).unwrap();
    assert_eq!(whole["spec"]["providerID"], "ovirt://123");

    let scaled = place.run(&["machines", "scale", SET, "--replicas", "5"]);
    assert_eq!(scaled.code, 0, "{scaled:?}");
    assert!(scaled.stderr.contains("demo-x7k2p-worker: 5 machines wanted, 2 before"), "{scaled:?}");
    assert_eq!(place.kubectl(&["get", "machineset", SET, "--output=jsonpath={.spec.replicas}"]), "5");

    for (arguments, said) in [
        (&["machines", "get", "nobody"][..], "there is no machine nobody; 'landfall machines list' shows all"),
        (
            &["machines", "scale", "nobody", "--replicas", "1"],
            "there is no set nobody; 'landfall machines list' shows all",
        ),
    ] {
        let run = place.run(arguments);
        assert!(run.code != 0 && run.stderr.contains(said) && run.stdout.is_empty(), "{run:?}");
    }
    for wrong in [&["--replicas", "-1"][..], &["--replicas", "many"], &[]] {
        let run = place.run(&[&["machines", "scale", SET], wrong].concat());
        assert_eq!(run.code, 2, "{run:?}");
    }
    let none = place.command(&["machines", "list"]).output().unwrap();
    let said = String::from_utf8_lossy(&none.stderr).into_owned();
    assert!(!none.status.success() && said.contains("--kubeconfig"), "{said}");
    let missing = place.command(&["machines", "list", "--kubeconfig", "nowhere.yaml"]).output().unwrap();
    let said = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(!missing.status.success() && said.contains("cannot read nowhere.yaml"), "{said}");
    for arguments in
        [&["machines", "list"][..], &["machines", "get", "x"], &["machines", "scale", SET, "--replicas", "1"]]
    {
        let run = place.run_as_nobody(arguments);
        assert!(run.code != 0 && run.stdout.is_empty() && run.stderr.contains("forbidden"), "{run:?}");
    }
    // By the environment, as kubectl has it.
    let named =
        place.command(&["machines", "list"]).env("KUBECONFIG", place.control_plane.kubeconfig()).output().unwrap();
    assert!(named.status.success(), "{named:?}");

    // A directory that is named decides, whatever the environment says: it may name another cluster.
    let dir = place.file("mycluster");
    fs::create_dir_all(dir.join("auth")).unwrap();
    fs::copy(place.control_plane.kubeconfig(), dir.join("auth/kubeconfig")).unwrap();
    let other = place.file("other.yaml");
    fs::write(&other, place.control_plane.kubeconfig_for("nobody", None)).unwrap();
    let of_directory =
        place.command(&["machines", "list", "--dir", "mycluster"]).env("KUBECONFIG", &other).output().unwrap();
    assert!(of_directory.status.success(), "{of_directory:?}");
    fs::remove_file(dir.join("auth/kubeconfig")).unwrap();
    let none: Run =
        place.command(&["machines", "list", "--dir", "mycluster"]).env("KUBECONFIG", &other).output().unwrap().into();
    assert!(none.code != 0 && none.stderr.contains("there is no mycluster/auth/kubeconfig"), "{none:?}");
}
