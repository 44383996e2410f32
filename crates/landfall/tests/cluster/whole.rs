//! From an install-config to nodes, and back to nothing.

use std::{
    collections::BTreeSet,
    fs,
    process::{Command, Stdio},
};

use crate::{
    context::Run,
    engine::Engine,
    install::{Install, Wish},
    inventory::assert_same,
    place::Place,
};

/// `kubectl`, which `make test` installs, with a kubeconfig.
fn kubectl(install: &Install, kubeconfig: &str, arguments: &[&str]) -> Run {
    let file = install.context.home().join("kubeconfig");
    fs::write(&file, kubeconfig).unwrap();
    let mut command = Command::new(std::env::var_os("KUBECTL").unwrap_or_else(|| "kubectl".into()));
    command.args(arguments).env("KUBECONFIG", &file).env("HOME", install.context.home()).stdin(Stdio::null());
    Run::of(command.output().unwrap_or_else(|error| panic!("cannot run kubectl: {error}; `make test` installs it")))
}

#[test]
fn a_cluster_comes_up_and_goes_away_without_a_trace() {
    let place = Place::new();
    let engine = Engine::start(&place);
    let empty = engine.inventory();
    let install = Install::new(&engine, Wish { masters: 3, workers: 2, ..Wish::default() });
    let run = install.create();

    let id = install.infra_id();
    let made = engine.inventory();
    let mut machines: Vec<String> = (0..3).map(|number| format!("{id}-master-{number}")).collect();
    // What the set of machines called those that it made.
    let workers = format!("{id}-worker-");
    machines.extend(made.names("vms").into_iter().filter(|name| name.starts_with(&workers)).map(str::to_owned));
    assert_eq!(machines.len(), 5, "{machines:?}");
    for machine in &machines {
        let row = run.stdout.lines().find(|line| line.starts_with(machine.as_str()));
        assert!(row.is_some_and(|row| row.contains(" ready ")), "{machine}: {}", run.stdout);
    }
    assert!(run.stderr.contains("export KUBECONFIG=/"), "{}", run.stderr);
    assert!(
        run.stderr.contains("cannot find api.demo.example.com from here: create its DNS record, or add"),
        "{}",
        run.stderr
    );

    let objects =
        |kind: &str, names: &[&str]| names.iter().map(|name| format!("{kind}/{id}{name}")).collect::<Vec<_>>();
    let disks: Vec<String> = machines.iter().map(|machine| format!("disks/{machine}-disk0")).collect();
    let intended: BTreeSet<String> = [
        objects("tags", &[""]),
        objects("affinity_groups", &["-controlplane", "-compute"]),
        machines.iter().map(|machine| format!("vms/{machine}")).collect(),
        disks.clone(),
    ]
    .concat()
    .into_iter()
    .collect();
    assert_eq!(made.beyond(&empty), intended.iter().map(String::as_str).collect());
    assert_eq!(empty.beyond(&made), BTreeSet::new());

    let tag = format!("tags/{id}");
    for machine in &machines {
        let vm = made.get(&format!("vms/{machine}")).unwrap();
        assert_eq!(vm["status"], "up", "{machine}");
        assert_eq!(vm["tags"][0], tag.as_str(), "{machine}");
        let description = vm["description"].as_str().unwrap();
        assert!(description.ends_with(&format!("[landfall:{id}]")), "{description}");
        assert_eq!(vm["config"]["high_availability"]["enabled"], machine.contains("master"), "{machine}");
        assert_eq!(vm["nics"].as_array().map(Vec::len), Some(1), "{machine}");
    }
    for disk in &disks {
        assert_eq!(made.get(disk).unwrap()["provisioned_bytes"], 120_u64 << 30, "{disk}");
    }
    let members = &made.get(&format!("affinity_groups/{id}-controlplane")).unwrap()["vms"];
    assert_eq!(*members, machines[..3].iter().map(|name| format!("vms/{name}")).collect::<serde_json::Value>());

    // There are no DNS records for the name, and the certificate is valid for the address as well.
    let kubeconfig = install.context.read("auth/kubeconfig");
    let named = "https://api.demo.example.com:";
    assert!(kubeconfig.contains(named), "{kubeconfig}");
    let kubeconfig = kubeconfig.replace(named, &format!("https://{}:", place.vips(0)[0]));
    let nodes = kubectl(&install, &kubeconfig, &["get", "nodes", "--no-headers"]);
    let ready: BTreeSet<&str> = nodes
        .stdout
        .lines()
        .filter(|line| line.split_whitespace().nth(1) == Some("Ready"))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(ready, machines.iter().map(String::as_str).collect(), "{} {}", nodes.stdout, nodes.stderr);
    let without_key: Vec<&str> = kubeconfig.lines().filter(|line| !line.contains("client-")).collect();
    let stranger = kubectl(&install, &without_key.join("\n"), &["get", "nodes", "--token=guessed"]);
    assert_ne!(stranger.code, 0, "the API lets in whoever comes: {}", stranger.stdout);
    assert!(stranger.stderr.contains("Unauthorized"), "{}", stranger.stderr);

    let changes = engine.changes();
    install.create();
    assert_eq!(engine.changes(), changes, "a second run changes nothing");
    assert_same(&engine.inventory(), &made, "after a second run");

    install.destroy();
    assert_same(&engine.inventory(), &empty, "after destroying the cluster");
    install.destroy();
    assert_same(&engine.inventory(), &empty, "after destroying it again");
}
