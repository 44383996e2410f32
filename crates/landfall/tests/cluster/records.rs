//! Public DNS: a cluster whose records are made in a zone on a real BIND.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr},
    os::unix::fs::PermissionsExt as _,
};

use landfall_testkit::{
    named::{KEY_NAME, Named, NamedZone, SECRET},
    ports::free_port_on,
};
use serde_json::{Value, json};

use crate::{
    engine::Engine,
    install::{Install, Wish},
    inventory::assert_same,
    place::Place,
};

const ZONE: &str = "example.com";
const REVERSE: &str = "127.in-addr.arpa";

/// A zone on a BIND, and a resolver that knows it.
struct Names {
    server: Named,
    resolver: Named,
}

impl Names {
    fn new() -> Self {
        let [own, resolving] = [1, 3].map(|last| Ipv4Addr::new(127, 0, 0, last));
        let port = free_port_on(&[own, resolving]);
        let address = |ip: Ipv4Addr| SocketAddr::new(ip.into(), port);
        let zones = [NamedZone::new(ZONE, own, "www A 192.0.2.80"), NamedZone::new(REVERSE, own, "")];
        let server = Named::authoritative(address(own), &zones, "");
        let resolver = Named::resolver(address(resolving), &[(ZONE, server.address())]);
        Self { server, resolver }
    }

    fn section(&self) -> Value {
        json!({"rfc2136": {
            "server": self.server.address().to_string(),
            "keyName": KEY_NAME,
            "keyFile": "tsig.key",
            "nodes": true,
        }})
    }

    /// An installation with this section, and the secret where the section says.
    fn install(&self, engine: &Engine<'_>, wish: Wish<'_>, section: &Value) -> Install {
        let mut install = Install::new(engine, wish);
        let config = install.context.read("install-config.yaml");
        install.context.write("install-config.yaml", format!("{config}dns: {section}\n"));
        install.context.write("tsig.key", SECRET);
        let file = install.context.path("tsig.key");
        fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
        install.variables.push(("LANDFALL_DNS_RESOLVER", self.resolver.address().to_string()));
        install.variables.push(("LANDFALL_DNS_PORT", self.server.address().port().to_string()));
        install
    }
}

#[test]
fn records_come_before_the_machines_and_go_with_the_cluster() {
    let (place, names) = (Place::new(), Names::new());
    let engine = Engine::start(&place);
    let (empty, zone, reverse) = (engine.inventory(), names.server.zone(ZONE), names.server.zone(REVERSE));
    let mut section = names.section();
    section["rfc2136"]["reverseZones"] = json!([REVERSE]);
    let install = names.install(&engine, Wish::default(), &section);
    let plan = install.ok(&["plan"]).stdout;
    assert!(plan.contains("DNS records of *.apps.demo.example.com"), "{plan}");
    assert_eq!(names.server.zone(ZONE), zone, "planning touches nothing");
    install.create();

    let [api, ingress] = place.vips(0);
    for (name, address) in [("api.demo", api), ("api-int.demo", api), ("console.apps.demo", ingress)] {
        assert_eq!(names.resolver.dig(&["+short", &format!("{name}.{ZONE}")]), format!("{address}\n"), "{name}");
    }
    let inventory = engine.inventory();
    let nodes = inventory.names("vms");
    assert_eq!(nodes.len(), 2, "{nodes:?}");
    for node in nodes {
        let name = format!("{node}.demo.{ZONE}");
        let address = names.resolver.dig(&["+short", &name]);
        let own = format!("127.{}.", api.octets()[1]);
        assert!(address.starts_with(&own), "{name}: {address}");
        assert_eq!(names.server.dig(&["+short", "-x", address.trim()]), format!("{name}.\n"));
    }
    let journal = install.journal();
    let order = |step: &str| journal.entries.iter().position(|entry| entry.spec.id.as_str() == step).unwrap();
    assert!(order("dns/api-int") < order("vm/bootstrap") && order("dns/api-int") < order("vm/master-0"));
    let made = names.server.zone(ZONE);
    install.create();
    assert_eq!(names.server.zone(ZONE), made, "a second run changes nothing");
    assert!(install.ok(&["destroy", "cluster", "--dry-run"]).stdout.contains("DNS records of api.demo.example.com"));

    // The secret is where the user put it and nowhere else.
    for file in [".landfall/journal.sqlite", ".landfall/landfall.log"] {
        let path = install.context.path(file);
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(!bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()), "{file}");
    }

    // Without the install-config the journal still says where the records are.
    fs::remove_file(install.context.path("install-config.yaml")).unwrap();
    install.destroy();
    assert_eq!((names.server.zone(ZONE), names.server.zone(REVERSE)), (zone, reverse));
    assert_same(&engine.inventory(), &empty, "after destroying the cluster");
}

#[test]
fn a_name_that_belongs_to_another_cluster_stops_the_run_before_anything_is_made() {
    let (place, names) = (Place::new(), Names::new());
    let engine = Engine::start(&place);
    let empty = engine.inventory();
    let first = names.install(&engine, Wish::default(), &names.section());
    first.ok(&["create", "manifests"]);
    first.ok(&["dns", "apply"]);
    let held = names.server.zone(ZONE);
    let second = names.install(&engine, Wish { number: 1, ..Wish::default() }, &names.section());
    let told = second.fails(&["create", "cluster"], 4);
    let owner = first.infra_id();
    assert!(told.contains(&format!("api.demo.example.com belongs to the cluster {owner}")), "{told}");
    assert_same(&engine.inventory(), &empty, "after a run that was stopped");
    assert_eq!(names.server.zone(ZONE), held);
    second.ok(&["dns", "remove"]);
    assert_eq!(names.server.zone(ZONE), held, "what belongs to another cluster stays");
}

#[test]
fn the_records_alone_are_checked_made_put_right_and_removed() {
    let (place, names) = (Place::new(), Names::new());
    let engine = Engine::start(&place);
    let zone = names.server.zone(ZONE);
    let install = names.install(&engine, Wish::default(), &names.section());
    let checked = install.ok(&["dns", "check", "--output", "json"]).stdout;
    let checked: Value = serde_json::from_str(&checked).unwrap();
    assert_eq!(checked["records"][0]["name"], "api.demo.example.com.", "{checked:#}");
    assert!(
        checked["findings"].as_array().unwrap().iter().all(|finding| finding["verdict"] != "problem"),
        "{checked:#}"
    );
    assert_eq!(names.server.zone(ZONE), zone, "a check leaves nothing behind");

    let refused = install.fails(&["dns", "apply"], 3);
    assert!(refused.contains("holds no cluster yet") && refused.contains("create manifests"), "{refused}");
    install.ok(&["create", "manifests"]);
    install.ok(&["dns", "apply"]);
    let made = names.server.zone(ZONE);
    assert_eq!(made.len(), zone.len() + 6, "{made:?}");
    names.server.nsupdate("update delete api.demo.example.com A\nupdate add api.demo.example.com 60 A 198.51.100.66");
    install.ok(&["dns", "apply"]);
    assert_eq!(names.server.zone(ZONE), made, "what changed behind our back is put right");

    let id = install.infra_id();
    install.ok(&["dns", "remove"]);
    assert_eq!(names.server.zone(ZONE), zone);
    install.ok(&["dns", "apply"]);
    // From another directory, by the mark alone.
    let other = names.install(&engine, Wish::default(), &names.section());
    other.ok(&["dns", "remove", "--infra-id", &id]);
    assert_eq!(names.server.zone(ZONE), zone);
    install.ok(&["dns", "remove"]);
    install.create();
    install.destroy();
    assert_eq!(names.server.zone(ZONE), zone);
}

#[test]
fn records_that_a_person_makes_are_waited_for() {
    let (place, names) = (Place::new(), Names::new());
    let engine = Engine::start(&place);
    let install = names.install(&engine, Wish::default(), &json!({"manual": {}}));
    install.ok(&["create", "manifests"]);
    let mut run = install.start(&["dns", "apply"]);
    let stderr = install.context.home().join("run-1.stderr");
    let told = run.until("the records are told", || {
        let told = fs::read_to_string(&stderr).unwrap_or_default();
        if told.contains("as lines of a zone file:") { Ok(told) } else { Err(told) }
    });
    let [api, ingress] = place.vips(0);
    assert!(told.contains("api.demo.example.com") && told.contains(&api.to_string()), "{told}");
    let record = |name: &str, address: Ipv4Addr| format!("update add {name}.demo.{ZONE} 60 A {address}");
    names.server.nsupdate(&[record("api", api), record("api-int", api), record("*.apps", ingress)].join("\n"));
    let ended = run.wait();
    assert_eq!(ended.code, 0, "{}", ended.stderr);
}

#[test]
fn files_that_others_can_read_are_told() {
    let (place, names) = (Place::new(), Names::new());
    let engine = Engine::start(&place);
    let install = names.install(&engine, Wish::default(), &names.section());
    let file = install.context.path("tsig.key");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let told = install.ok(&["dns", "check"]).stderr;
    assert!(told.contains("can be read by other users of this machine"), "{told}");
    fs::remove_file(file).unwrap();
    let told = install.fails(&["dns", "check"], 3);
    assert!(told.contains("which holds the TSIG secret"), "{told}");
    assert!(!told.contains(SECRET), "{told}");
}
