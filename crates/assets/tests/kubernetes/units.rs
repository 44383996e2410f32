//! systemd units, judged by systemd.

use std::{collections::BTreeSet, fs};

use crate::{
    configs::{Rendered, packet, site},
    tool::try_run,
    view::View,
};

/// What systemd has to say about the units of a machine.
fn verify(machine: &View) -> String {
    let directory = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for (name, text) in machine.units() {
        let path = directory.path().join(&name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // The programs are on the machines only, and systemd looks whether they are there.
        let text: Vec<String> = text
            .lines()
            .map(|line| match line.split_once('=') {
                Some((key, value)) if key.starts_with("Exec") && !value.is_empty() => format!("{key}=/bin/true"),
                _ => line.to_owned(),
            })
            .collect();
        fs::write(&path, text.join("\n")).unwrap();
        if !name.contains(".d/") {
            paths.push(path.to_str().unwrap().to_owned());
        }
    }
    let mut arguments = vec!["verify", "--man=no"];
    arguments.extend(paths.iter().map(String::as_str));
    try_run("systemd-analyze", &arguments).1
}

#[test]
fn systemd_understands_every_unit() {
    let rendered = Rendered::new(site("mirrors"));
    for config in ["bootstrap.ign", "config-server/master.ign", "config-server/worker.ign"] {
        let machine = View::new(&rendered.text(config));
        assert!(machine.units().count() > 5);
        assert_eq!(verify(&machine), "", "{config}");
    }
}

#[test]
fn systemd_is_able_to_object() {
    let rendered = Rendered::new(site("plain"));
    let misspelt = rendered.text("config-server/worker.ign").replace("RestartSec=", "RestartSecs=");
    assert!(verify(&View::new(&misspelt)).contains("RestartSecs"));
}

/// Most exposure of an agent, in tenths, as systemd counts it: 100 is a program of root without any limit. The jobs differ: keepalived sends raw
/// packets with a real-time priority, kubeadm makes and unmakes a control plane.
const EXPOSURE: [(&str, u32); 11] = [
    ("landfall-boot-script.service", 22),
    ("landfall-bootstrap.service", 93),
    ("landfall-certificates.service", 40),
    ("landfall-config-server.service", 22),
    ("landfall-dns.service", 38),
    ("landfall-endpoint.service", 40),
    ("landfall-etcd.service", 22),
    ("landfall-join.service", 93),
    ("landfall-load-balancer.service", 47),
    ("landfall-network.service", 39),
    ("landfall-vip.service", 53),
];
/// Units that install programs, once, before anything else runs.
const INSTALLERS: [&str; 3] = ["landfall-packages.service", "landfall-trust.service", "landfall-unpack.service"];

/// Returns what systemd objects to; empty if nothing.
fn exposure(name: &str, text: &str, most: u32) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    fs::write(&path, text).unwrap();
    let threshold = format!("--threshold={most}");
    let arguments = ["security", "--offline=true", "--no-pager", &threshold, path.to_str().unwrap()];
    let (ok, output) = try_run("systemd-analyze", &arguments);
    if ok { String::new() } else { output }
}

#[test]
fn agents_are_limited_to_their_jobs() {
    let mut seen = BTreeSet::new();
    for config in [site("mirrors"), packet("eip"), packet("bgp")] {
        let rendered = Rendered::new(config);
        for file in ["bootstrap.ign", "config-server/master.ign", "config-server/worker.ign"] {
            let machine = View::new(&rendered.text(file));
            for (name, text) in
                machine.units().filter(|(name, _)| name.starts_with("landfall-") && !name.contains(".d/"))
            {
                if INSTALLERS.contains(&name.as_str()) {
                    continue;
                }
                let most = EXPOSURE.iter().find(|(known, _)| *known == name);
                let (_, most) = most.unwrap_or_else(|| panic!("{name} has no limit of its exposure"));
                assert_eq!(exposure(&name, text, *most), "", "{name} of {file}");
                seen.insert(name);
            }
        }
    }
    let known: BTreeSet<String> = EXPOSURE.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(seen, known, "a limit of a unit that is not there limits nothing");
}

#[test]
fn systemd_is_able_to_find_an_agent_exposed() {
    let text = "[Service]\nExecStart=/bin/true\n";
    assert!(exposure("landfall-dns.service", text, 38).contains("exposure level"));
}
