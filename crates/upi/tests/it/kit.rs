//! The kit itself: what is in it, what is pinned, and what must never be in it.

use crate::scene::{Scene, Stack, config, configs};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use landfall_assets::{Cluster, Secrets};
use landfall_config::ovirt::{AffinityGroup, AutoPinningPolicy, DiskFormat, MachinePool};
use landfall_upi::{Error, Format, Group, IgnitionKind, Inventory, Made, kit, records, reservations};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng as _};

fn text(scene: &Scene, path: &str) -> String {
    let kit = scene.kit();
    let file = kit.get(path).unwrap_or_else(|| panic!("there is no {path}"));
    String::from_utf8(file.contents.clone()).unwrap()
}

#[test]
fn the_inventory_comes_back_as_it_was_written() {
    for (workers, stack) in [(2, Stack::Four), (2, Stack::Dual), (50, Stack::Four)] {
        let scene = Scene::new(3, workers, stack);
        assert!(scene.inventory.render().lines().all(|line| line.len() <= 150));
        assert_eq!(Inventory::parse(scene.inventory.render().as_bytes()).unwrap(), scene.inventory);
    }
    insta::assert_snapshot!("inventory", Scene::new(3, 2, Stack::Four).inventory.render());
}

#[test]
fn what_is_generated_is_pinned() {
    let scene = Scene::new(3, 2, Stack::Dual);
    for name in [
        "dns/db.demo.example.com",
        "dns/dnsmasq.conf",
        "dns/records.txt",
        "dhcp/dhcpd.conf",
        "dhcp/dnsmasq.conf",
        "load-balancer/haproxy.cfg",
        "load-balancer/nginx.conf",
        "load-balancer/keepalived-lb-1.conf",
    ] {
        insta::assert_snapshot!(name.replace('/', "-"), text(&scene, &format!("upi/{name}")));
    }
}

#[test]
fn reservations_are_read_back_from_the_files_of_all_servers() {
    let scene = Scene::new(3, 2, Stack::Four);
    for file in ["dhcpd.conf", "kea-dhcp4.json", "dnsmasq.conf"] {
        let found = reservations(&text(&scene, &format!("upi/dhcp/{file}")));
        let found: Vec<_> =
            found.iter().map(|one| (one.name.as_str(), one.mac.as_deref(), one.addresses.clone())).collect();
        let expected = scene.inventory.machines.iter();
        let expected: Vec<_> = expected
            .map(|machine| (machine.name.as_str(), scene.made.mac(&machine.name), machine.addresses.clone()))
            .collect();
        assert_eq!(found, expected, "{file}");
    }
}

#[test]
fn machines_that_are_not_made_yet_have_no_reservation() {
    let mut scene = Scene::new(1, 0, Stack::Four);
    scene.made = Made::default();
    for file in ["dhcpd.conf", "kea-dhcp4.json", "dnsmasq.conf"] {
        assert_eq!(reservations(&text(&scene, &format!("upi/dhcp/{file}"))), []);
    }
    assert!(text(&scene, "upi/dhcp/dhcpd.conf").contains("# demo-x7k2p-master-0: no hardware address yet"));
}

#[test]
fn without_workers_the_masters_take_the_ingress() {
    let haproxy = text(&Scene::new(1, 0, Stack::Four), "upi/load-balancer/haproxy.cfg");
    assert!(haproxy.contains("server demo-x7k2p-master-0 192.168.10.17:443 check\n"));
    let haproxy = text(&Scene::new(1, 2, Stack::Four), "upi/load-balancer/haproxy.cfg");
    assert!(!haproxy.contains("192.168.10.17:443") && haproxy.contains("demo-x7k2p-worker-1 192.168.10.19:443"));
}

#[test]
fn a_bootstrap_machine_that_has_gone_is_forgotten_everywhere() {
    let mut scene = Scene::new(3, 2, Stack::Four);
    scene.inventory.machines.retain(|machine| !machine.name.ends_with("-bootstrap"));
    for (path, file) in scene.kit().iter() {
        assert!(!String::from_utf8_lossy(&file.contents).contains("x7k2p-bootstrap"), "{path}");
    }
}

#[test]
fn etcd_is_found_by_srv_records_where_the_release_wants_it() {
    let has_srv = |version: &str| {
        let mut scene = Scene::new(3, 0, Stack::Four);
        scene.config.distribution = landfall_config::Distribution::Openshift;
        scene.config.version = Some(version.to_owned());
        records(&scene.cluster(), &scene.inventory).iter().any(|record| record.value.kind() == "SRV")
    };
    assert!(has_srv("4.3.40") && !has_srv("4.4.0") && !has_srv("4.20.1"));
    assert!(
        !records(&Scene::new(3, 0, Stack::Four).cluster(), &Scene::new(3, 0, Stack::Four).inventory)
            .iter()
            .any(|record| record.value.kind() == "SRV")
    );
}

/// Each machine has its own config and no other's; nothing else in the kit has any secret.
#[test]
fn nobody_gets_more_secrets_than_they_need() {
    for (kind, master, worker) in [
        (IgnitionKind::Pointer, "master.ign", "worker.ign"),
        (IgnitionKind::Full, "config-server-master.ign", "config-server-worker.ign"),
    ] {
        let mut scene = Scene::new(3, 2, Stack::Four);
        scene.inventory.ignition = kind;
        for (path, file) in scene.kit().iter() {
            let contents = String::from_utf8_lossy(&file.contents);
            let expected = match path {
                _ if path.ends_with("-bootstrap.ign") => Some("bootstrap.ign"),
                _ if path.starts_with("upi/ignition/") && path.contains("-master-") => Some(master),
                _ if path.starts_with("upi/ignition/") && path.contains("-worker-") => Some(worker),
                _ => None,
            };
            let secrets: Vec<&str> = contents.match_indices("secret-of-").map(|(at, _)| &contents[at + 10..]).collect();
            match expected {
                Some(name) => {
                    assert!(secrets.len() == 1 && secrets[0].starts_with(&format!("{name}\"")), "{path}: {secrets:?}");
                    assert_eq!(file.mode, landfall_platform::Mode::Private, "{path}");
                }
                None => assert!(secrets.is_empty(), "{path}"),
            }
        }
    }
}

#[test]
fn each_machine_has_a_credential_of_its_own() {
    let mut scene = Scene::new(3, 2, Stack::Four);
    let secrets =
        Secrets::generate(&scene.cluster(), Timestamp::UNIX_EPOCH, &mut ChaCha8Rng::seed_from_u64(1)).unwrap();
    for kind in [IgnitionKind::Pointer, IgnitionKind::Full] {
        scene.inventory.ignition = kind;
        let made = || kit(&scene.cluster(), &scene.inventory, &scene.made, &configs(), Some(&secrets)).unwrap();
        let files = made();
        assert_eq!(files, made(), "a kit that is made again opens nothing that the first one did not");
        let credential = |machine: &str| {
            let file = files.get(&format!("upi/ignition/demo-x7k2p-{machine}.ign")).unwrap();
            let config: serde_json::Value = serde_json::from_slice(&file.contents).unwrap();
            let files = config["storage"]["files"].as_array().unwrap();
            let own = files.iter().find(|file| file["path"] == "/etc/landfall/credential")?;
            Some(own["contents"]["source"].as_str().unwrap().to_owned())
        };
        for worker in ["worker-0", "worker-1"] {
            let own = credential(worker).unwrap();
            assert!(own.starts_with(&format!("data:,demo-x7k2p-{worker}.")), "{own}");
        }
        assert_eq!((credential("master-0"), credential("bootstrap")), (None, None));
    }
}

#[test]
fn static_addresses_are_in_the_configs_of_the_machines() {
    let mut scene = Scene::new(1, 0, Stack::Dual);
    scene.inventory.network.is_static = true;
    let refused = kit(&scene.cluster(), &scene.inventory, &scene.made, &configs(), None).unwrap_err();
    assert!(matches!(refused, Error::StaticPointer) && refused.hint().unwrap().contains("ignition: full"));
    scene.inventory.ignition = IgnitionKind::Full;
    let config = text(&scene, "upi/ignition/demo-x7k2p-master-0.ign");
    let config: serde_json::Value = serde_json::from_str(&config).unwrap();
    let files = config["storage"]["files"].as_array().unwrap();
    let connection = files.iter().find(|file| file["path"].as_str().unwrap().ends_with(".nmconnection")).unwrap();
    assert_eq!(connection["mode"], 0o600);
    let source = connection["contents"]["source"].as_str().unwrap().strip_prefix("data:;base64,").unwrap();
    let connection = String::from_utf8(STANDARD.decode(source).unwrap()).unwrap();
    for line in [
        "mac-address=56:6F:1A:00:00:01",
        "address1=192.168.10.17/24,192.168.10.1",
        "address1=2001:db8::11/64,2001:db8::1",
    ] {
        assert!(connection.lines().any(|found| found == line), "{line} is not in {connection}");
    }
}

#[test]
fn what_no_kit_can_be_made_from_is_refused() {
    let refuse = |change: &dyn Fn(&mut landfall_config::InstallConfig)| {
        let mut config = config(3, 2, Stack::Four);
        change(&mut config);
        let error = Inventory::require(&config).unwrap_err();
        assert!(error.hint().is_some());
        error.to_string()
    };
    let managed = refuse(&|config| config.load_balancer = landfall_config::LoadBalancer::Managed);
    assert_eq!(managed, "the install-config lets the cluster's machines balance the load");
    let nowhere = refuse(&|config| config.networking.machine_network.clear());
    assert_eq!(nowhere, "the install-config does not say which network the machines are in");
}

#[test]
fn an_inventory_that_contradicts_itself_is_refused() {
    let scene = Scene::new(3, 2, Stack::Four);
    let text = scene.inventory.render();
    for (from, to, message) in [
        ("192.168.10.18]", "192.168.10.17]", "192.168.10.17 is given to both"),
        ("192.168.10.18]", "10.0.0.1]", "10.0.0.1 of demo-x7k2p-master-1 is in none of the subnets"),
        ("name: demo-x7k2p-master-1,", "name: demo-x7k2p-master-0,", "two machines called demo-x7k2p-master-0"),
        ("profile: worker", "profile: huge", "has profile 'huge'"),
        ("role: worker", "role: boss", "cannot read inventory.yml"),
        ("gateway: 192.168.10.1", "gateway: 10.0.0.1", "gateway 10.0.0.1 is not in"),
        ("infra_id: demo-x7k2p", "infra_id: [", "cannot read inventory.yml"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        let error = Inventory::parse(changed.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    let mut other = scene.inventory.clone();
    other.infra_id = "other-abcde".to_owned();
    let error = kit(&scene.cluster(), &other, &scene.made, &configs(), None).unwrap_err();
    assert!(error.to_string().contains("it is that of cluster other-abcde"));
}

/// What the install-config says about machines is in the inventory, to the last field.
#[test]
fn every_setting_of_a_pool_reaches_the_inventory() {
    let mut config = config(1, 1, Stack::Four);
    let landfall_config::Platform::Ovirt(platform) = &mut config.platform else { panic!("it is on oVirt") };
    platform.affinity_groups = Some(vec![AffinityGroup {
        name: "apart".to_owned(),
        priority: 4,
        description: Some("mine".to_owned()),
        enforcing: Some(true),
    }]);
    config.control_plane.platform.ovirt = Some(MachinePool {
        auto_pinning_policy: Some(AutoPinningPolicy::ResizeAndPin),
        hugepages: Some(2048),
        format: Some(DiskFormat::Raw),
        sparse: Some(false),
        affinity_groups_names: Some(vec!["apart".to_owned(), "racks".to_owned()]),
        ..MachinePool::default()
    });
    let infra_id = "demo-x7k2p".parse().unwrap();
    let inventory = Inventory::propose(&Cluster { config: &config, infra_id: &infra_id }).unwrap();
    let master = &inventory.profiles["master"];
    assert!(master.resize_and_pin && master.hugepages == Some(2048));
    assert_eq!((master.disk_format, master.disk_sparse), (Some(Format::Raw), Some(false)));
    let worker = &inventory.profiles["worker"];
    assert_eq!((worker.resize_and_pin, worker.disk_format, worker.disk_sparse), (false, None, None));
    assert!(!inventory.profiles["bootstrap"].resize_and_pin);
    let group = |name: &str, existing, enforcing, priority, description: &str| Group {
        name: name.to_owned(),
        existing,
        enforcing,
        priority,
        description: description.to_owned(),
        machines: vec!["demo-x7k2p-master-0".to_owned()],
    };
    // Workers are in the built-in group of their role, which the user's list leaves out: so it is one of the engine's.
    let expected = [group("demo-x7k2p-apart", false, true, Some(4), "mine"), group("racks", true, false, None, "")];
    let (own, others): (Vec<_>, Vec<_>) =
        inventory.affinity_groups.iter().cloned().partition(|group| group.machines[0].contains("master"));
    assert_eq!(own, expected, "{others:?}");
    assert_eq!(Inventory::parse(inventory.render().as_bytes()).unwrap(), inventory);
}

#[test]
fn disks_that_the_playbooks_cannot_make_are_refused() {
    for (format, sparse, refused) in
        [("raw", true, true), ("cow", false, true), ("raw", false, false), ("cow", true, false)]
    {
        let text = Scene::new(1, 0, Stack::Four).inventory.render();
        let changed = text.replacen(
            "os_disk_gib:",
            &format!("disk_format: {format}\n        disk_sparse: {sparse}\n        os_disk_gib:"),
            1,
        );
        let parsed = Inventory::parse(changed.as_bytes());
        assert_eq!(matches!(parsed, Err(Error::Disks { .. })), refused, "{format} {sparse}: {parsed:?}");
    }
}

/// `DHCPv6` servers find reservations by hardware addresses, so machines must send theirs; only with IPv6, and only with DHCP.
#[test]
fn machines_tell_dhcpv6_servers_their_hardware_addresses() {
    let has = |stack, is_static: bool| {
        let mut scene = Scene::new(1, 0, stack);
        scene.inventory.network.is_static = is_static;
        scene.inventory.ignition = IgnitionKind::Full;
        text(&scene, "upi/ignition/demo-x7k2p-master-0.ign").contains("90-landfall-duid.conf")
    };
    assert!(has(Stack::Dual, false) && !has(Stack::Dual, true) && !has(Stack::Four, false));
}
