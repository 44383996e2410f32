//! What the kit says is judged by those who read it.

use std::{fs, path::Path, process::Command};

use crate::scene::{Scene, Stack};
use rstest::rstest;

/// Runs a program that must agree.
fn agrees(program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).output();
    let output =
        output.unwrap_or_else(|error| panic!("{program} is missing ({error}): scripts/setup test installs it"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{program} {arguments:?}: {out}{err}");
}

#[rstest]
fn every_file_is_understood(
    #[values(1, 3, 5)] masters: u32,
    #[values(0, 2, 50)] workers: u32,
    #[values(Stack::Four, Stack::Dual)] stack: Stack,
) {
    let scene = Scene::new(masters, workers, stack);
    let kit = scene.written();
    let path = |name: &str| kit.path().join("upi").join(name).to_str().unwrap().to_owned();

    let zones: Vec<String> = fs::read_dir(kit.path().join("upi/dns"))
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_prefix("db.").map(str::to_owned))
        .collect();
    // The cluster's own, and one for the addresses of each family.
    assert_eq!(zones.len(), if stack == Stack::Four { 2 } else { 3 }, "{zones:?}");
    for zone in &zones {
        agrees("named-checkzone", &[zone, &path(&format!("dns/db.{zone}"))]);
    }
    // A snippet is checked where it belongs: in a zone that exists.
    let (forth, back) = snippet(&path("dns/snippet"));
    let head = "$TTL 300\n@ IN SOA ns hostmaster 1 3600 600 604800 60\n@ IN NS ns\nns IN A 192.0.2.1\n";
    fs::write(kit.path().join("db.site"), format!("{head}{forth}")).unwrap();
    agrees("named-checkzone", &["example.com", kit.path().join("db.site").to_str().unwrap()]);
    assert!(back.lines().filter(|line| line.contains(" PTR ")).count() > masters as usize);
    let named = format!(
        "options {{ directory \"{}\"; }};\n{}",
        path("dns"),
        fs::read_to_string(path("dns/named.conf")).unwrap()
    );
    fs::write(kit.path().join("named.conf"), named).unwrap();
    agrees("named-checkconf", &["-z", kit.path().join("named.conf").to_str().unwrap()]);
    agrees("dnsmasq", &["--test", "-C", &path("dns/dnsmasq.conf")]);

    agrees("dhcpd", &["-t", "-4", "-cf", &path("dhcp/dhcpd.conf")]);
    agrees("kea-dhcp4", &["-t", &path("dhcp/kea-dhcp4.json")]);
    agrees("dnsmasq", &["--test", "-C", &path("dhcp/dnsmasq.conf")]);
    if stack == Stack::Dual {
        agrees("dhcpd", &["-t", "-6", "-cf", &path("dhcp/dhcpd6.conf")]);
        // It wants the interface to be there.
        let test = format!("ip link add eth0 type veth peer name far && kea-dhcp6 -t {}", path("dhcp/kea-dhcp6.json"));
        agrees("unshare", &["-rn", "sh", "-c", &test]);
    }

    agrees("haproxy", &["-c", "-f", &path("load-balancer/haproxy.cfg")]);
    nginx_agrees(&path("load-balancer/nginx.conf"), &scene, kit.path());
    for balancer in ["lb-1", "lb-2"] {
        agrees("keepalived", &["-t", "-f", &path(&format!("load-balancer/keepalived-{balancer}.conf"))]);
    }

    for name in fs::read_dir(kit.path().join("upi/ignition")).unwrap().map(|entry| entry.unwrap().path()) {
        agrees("ignition-validate", &[name.to_str().unwrap()]);
    }
}

/// nginx listens even when it only tests, so it gets a network of its own in which the addresses are those of the load balancer.
fn nginx_agrees(configuration: &str, scene: &Scene, directory: &Path) {
    let vips = scene.config.api_vips().iter().chain(scene.config.ingress_vips());
    let addresses: Vec<String> = vips.map(|vip| format!("ip address add {vip} dev lo nodad &&")).collect();
    let test = format!("nginx -t -q -c {configuration} -g 'pid {}/pid;'", directory.display());
    agrees("unshare", &["-rn", "sh", "-c", &format!("ip link set lo up && {} {test}", addresses.join(" "))]);
}

/// The two halves of the snippet.
fn snippet(path: &str) -> (String, String) {
    let text = fs::read_to_string(path).unwrap();
    let (forth, back) = text.split_once("\n; Lines for the zones of your addresses.\n").unwrap();
    (forth.to_owned(), back.to_owned())
}
