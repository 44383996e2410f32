//! keepalived's and haproxy's configurations, judged by keepalived and haproxy.

use std::fs;

use landfall_assets::{
    LocalNode, MachineRole, Member, NodeFacts, VipFacts, haproxy_config, keepalived_config, router_ids,
};
use landfall_config::{LoadBalancer, RouterIds};

use crate::{
    configs::{Rendered, example, ip, site},
    tool::{run, system, try_run},
    view::View,
};

fn facts(site_name: &str, config: &str) -> (NodeFacts, VipFacts) {
    let rendered = Rendered::new(site(site_name));
    let facts = View::new(&rendered.text(config)).file("/etc/landfall/node.json").to_owned();
    let facts: NodeFacts = serde_json::from_str(&facts).unwrap();
    let vips = facts.vips.clone().unwrap();
    (facts, vips)
}

fn member(name: &str, role: MachineRole, addresses: &[&str]) -> Member {
    Member { name: name.to_owned(), role, addresses: addresses.iter().map(|address| ip(address)).collect() }
}

fn members() -> Vec<Member> {
    vec![
        member("demo-bootstrap", MachineRole::Bootstrap, &["192.0.2.10", "2001:db8:1::10"]),
        member("demo-master-0", MachineRole::Master, &["192.0.2.11", "2001:db8:1::11"]),
        member("demo-master-1", MachineRole::Master, &["192.0.2.12", "2001:db8:1::12"]),
        member("demo-master-2", MachineRole::Master, &["192.0.2.13", "2001:db8:1::13"]),
        member("demo-worker-a", MachineRole::Worker, &["192.0.2.21", "2001:db8:1::21"]),
    ]
}

/// Any interface that keepalived would use; it looks it up even when it only tests.
fn interface() -> String {
    let names = fs::read_dir("/sys/class/net").unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let usable =
        |name: &String| fs::read_to_string(format!("/sys/class/net/{name}/type")).is_ok_and(|kind| kind.trim() == "1");
    names.filter(usable).min().expect("a network interface other than loopback")
}

fn local(name: &str) -> LocalNode {
    LocalNode { name: name.to_owned(), interface: interface() }
}

fn check_keepalived(config: &str) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keepalived.conf");
    // The scripts are on the machines only, and keepalived looks whether they are there and whether it may run them.
    let user = run("id", &["-un"]);
    let config: Vec<String> = config
        .lines()
        .map(|line| match line.trim().split_once(' ') {
            Some(("script", _)) => "    script /bin/true".to_owned(),
            Some(("script_user", _)) => format!("    script_user {}", user.trim()),
            _ => line.to_owned(),
        })
        .collect();
    fs::write(&path, config.join("\n") + "\n").unwrap();
    let (ok, output) = try_run(system("keepalived"), &["--config-test", "--use-file", path.to_str().unwrap()]);
    assert!(ok && output.trim().is_empty(), "{output}\n{}", config.join("\n"));
}

#[test]
fn keepalived_accepts_its_configuration_on_every_machine() {
    for site in ["plain", "dual-stack", "ipv6"] {
        for config in ["bootstrap.ign", "config-server/master.ign", "config-server/worker.ign"] {
            let (facts, vips) = facts(site, config);
            check_keepalived(&keepalived_config(&facts, &vips, None, &[]));
            for member in members() {
                check_keepalived(&keepalived_config(&facts, &vips, Some(&local(&member.name)), &members()));
            }
        }
    }
}

#[test]
fn keepalived_is_able_to_object() {
    let (facts, vips) = facts("plain", "config-server/master.ign");
    let config = keepalived_config(&facts, &vips, Some(&local("demo-master-0")), &members());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keepalived.conf");
    fs::write(&path, config.replace("virtual_router_id", "virtual_router_ids")).unwrap();
    assert!(!try_run(system("keepalived"), &["--config-test", "--use-file", path.to_str().unwrap()]).0);
}

#[test]
fn haproxy_accepts_its_configuration() {
    for site in ["plain", "dual-stack", "ipv6"] {
        let (facts, vips) = facts(site, "config-server/master.ign");
        for members in [Vec::new(), members()] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("haproxy.cfg");
            let config = haproxy_config(&facts, &vips, &members);
            fs::write(&path, &config).unwrap();
            let (ok, output) = try_run(system("haproxy"), &["-c", "-f", path.to_str().unwrap()]);
            assert!(ok && !output.contains("WARNING"), "{output}\n{config}");
        }
    }
}

#[test]
fn configurations_of_a_master_among_members() {
    let (facts, vips) = facts("dual-stack", "config-server/master.ign");
    let local = LocalNode { name: "demo-master-1".to_owned(), interface: "ens3".to_owned() };
    let config = keepalived_config(&facts, &vips, Some(&local), &members());
    insta::assert_snapshot!("keepalived-master", config);
    insta::assert_snapshot!("haproxy-master", haproxy_config(&facts, &vips, &members()));
}

#[test]
fn priorities_are_distinct_and_the_bootstrap_machine_is_above_all() {
    let (facts, vips) = facts("plain", "config-server/master.ign");
    let priority = |name: &str| -> u32 {
        let local = LocalNode { name: name.to_owned(), interface: "ens3".to_owned() };
        let config = keepalived_config(&facts, &vips, Some(&local), &members());
        let line = config.lines().find(|line| line.trim().starts_with("priority")).unwrap();
        line.trim().strip_prefix("priority ").unwrap().parse().unwrap()
    };
    let masters: Vec<u32> = (0..3).map(|index| priority(&format!("demo-master-{index}"))).collect();
    assert!(masters.is_sorted_by(|a, b| a > b), "{masters:?}");
    assert!(masters.iter().all(|master| master + 120 < priority("demo-bootstrap")), "{masters:?}");
}

#[test]
fn a_machine_that_its_peers_do_not_know_holds_nothing() {
    let (facts, vips) = facts("plain", "config-server/master.ign");
    let config = keepalived_config(&facts, &vips, Some(&local("stranger")), &members());
    assert!(!config.contains("vrrp_instance"));
    let worker = keepalived_config(&facts, &vips, Some(&local("demo-worker-a")), &members());
    assert!(worker.contains("vrrp_instance ingress_v4") && !worker.contains("vrrp_instance api"), "{worker}");
}

/// Without peers keepalived would use multicast, and listen to strangers.
#[test]
fn a_machine_that_is_alone_talks_to_itself() {
    let (facts, vips) = facts("dual-stack", "bootstrap.ign");
    let config = keepalived_config(&facts, &vips, Some(&local("demo-bootstrap")), &members()[..1]);
    check_keepalived(&config);
    for peer in ["        127.0.0.1\n", "        ::1\n"] {
        assert!(config.contains(peer), "{config}");
    }
}

#[test]
fn router_ids_are_chosen_once_unless_given() {
    let rendered = Rendered::new(example());
    let chosen = router_ids(&rendered.cluster()).unwrap();
    let (_, vips) = facts("plain", "config-server/worker.ign");
    assert_eq!((vips.api_router_id, vips.ingress_router_id), (chosen.api, chosen.ingress));

    let mut config = example();
    let landfall_config::Platform::Ovirt(platform) = &mut config.platform else { unreachable!() };
    platform.vrrp = Some(RouterIds { api: 7, ingress: 8 });
    assert_eq!(router_ids(&Rendered::new(config.clone()).cluster()), Some(RouterIds { api: 7, ingress: 8 }));
    config.load_balancer = LoadBalancer::UserManaged;
    assert_eq!(router_ids(&Rendered::new(config).cluster()), None);
}
