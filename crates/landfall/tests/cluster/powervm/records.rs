//! Public DNS: a cluster on PowerVM whose records are made in a zone on a real BIND.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr},
    os::unix::fs::PermissionsExt as _,
};

use landfall_testkit::{
    named::{KEY_NAME, Named, NamedZone, SECRET},
    ports::free_port_on,
};
use serde_json::json;

use super::{Scene, Wish};

const ZONE: &str = "example.com";

#[test]
fn records_come_with_the_cluster_and_go_with_it() {
    let scene = Scene::new();
    let [own, resolving] = [1, 3].map(|last| Ipv4Addr::new(127, 0, 0, last));
    let port = free_port_on(&[own, resolving]);
    let address = |ip: Ipv4Addr| SocketAddr::new(ip.into(), port);
    let server = Named::authoritative(address(own), &[NamedZone::new(ZONE, own, "www A 192.0.2.80")], "");
    let resolver = Named::resolver(address(resolving), &[(ZONE, server.address())]);
    let (before, zone) = (scene.holds(), server.zone(ZONE));

    let mut install = scene.install_with(Wish { workers: 1, ..Wish::default() }, |config| {
        config["dns"] = json!({"rfc2136": {
            "server": server.address().to_string(), "keyName": KEY_NAME, "keyFile": "tsig.key", "nodes": true,
        }});
    });
    install.context.write("tsig.key", SECRET);
    fs::set_permissions(install.context.path("tsig.key"), fs::Permissions::from_mode(0o600)).unwrap();
    install.variables.push(("LANDFALL_DNS_RESOLVER", resolver.address().to_string()));
    install.variables.push(("LANDFALL_DNS_PORT", server.address().port().to_string()));
    install.ok(&["create", "cluster"]);

    let [api, ingress] = scene.place.vips(0);
    for (name, address) in [("api.demo", api), ("api-int.demo", api), ("console.apps.demo", ingress)] {
        assert_eq!(resolver.dig(&["+short", &format!("{name}.{ZONE}")]), format!("{address}\n"), "{name}");
    }
    let master = format!("{}-master-0.demo.{ZONE}", install.context.infra_id());
    assert!(resolver.dig(&["+short", &master]).starts_with("127."), "{master}: {:?}", server.zone(ZONE));
    install.ok(&["destroy", "cluster"]);
    assert_eq!(server.zone(ZONE), zone);
    assert_eq!(scene.holds(), before);
}
