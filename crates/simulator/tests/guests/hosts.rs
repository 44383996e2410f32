//! Real hosts in the oVirt simulator. They need root and what `make tools` builds, so a plain `cargo nextest run` leaves them out.

use std::net::IpAddr;
use std::process::Command;

use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

use crate::network::Network;
use crate::ovirt::Engine;
use crate::rig::until;

/// Counts the starts of the machine in a file, and tells the number to everybody who connects.
const CONFIG: &str = r#"{
    "ignition": { "version": "3.3.0" },
    "passwd": { "users": [{ "name": "core", "sshAuthorizedKeys": ["ssh-ed25519 AAAA test"] }] },
    "storage": { "files": [{ "path": "/etc/hostname", "mode": 420, "contents": { "source": "data:,counter" } }] },
    "systemd": { "units": [{
        "name": "counter.service",
        "enabled": true,
        "contents": "[Service]\nExecStartPre=/bin/sh -c 'echo x >> /var/starts'\nExecStart=/usr/bin/socat TCP-LISTEN:8080,fork,reuseaddr 'SYSTEM:hostname; wc -l < /var/starts'\n[Install]\nWantedBy=multi-user.target\n"
    }] }
}"#;
/// Writes one file with a sync and one without when the first client comes, and tells every client what is in both.
const WRITER: &str = r#"{
    "ignition": { "version": "3.3.0" },
    "storage": { "files": [{ "path": "/etc/writes", "mode": 493, "contents": {
        "source": "data:,%23!%2Fbin%2Fsh%0Acd%20%2Fvar%0Aif%20%5B%20!%20-e%20synced%20%5D%3B%20then%0A%20%20echo%20kept%20%3E%20synced%0A%20%20sync%20synced%0A%20%20echo%20lost%20%3E%20unsynced%0Afi%0Acat%20synced%20unsynced%202%3E%2Fdev%2Fnull%0A"
    } }] },
    "systemd": { "units": [{
        "name": "writer.service",
        "enabled": true,
        "contents": "[Service]\nExecStart=/usr/bin/socat TCP-LISTEN:8080,fork,reuseaddr SYSTEM:/etc/writes\n[Install]\nWantedBy=multi-user.target\n"
    }] }
}"#;
/// A network of its own, for other simulators may be at work.
const FLAGS: [&str; 2] = ["--hosts=real", "--host-network=198.51.101.0/24"];
/// The mark of everything that is made for that network.
const MARK: &str = "c6336500";

async fn address(engine: &Engine, id: &str) -> IpAddr {
    until("its address", async || {
        let devices = engine.api("GET", &format!("/vms/{id}/reporteddevices"), &Value::Null).await;
        let address = devices["reported_device"][0]["ips"]["ip"][0]["address"].as_str();
        address.and_then(|address| address.parse().ok()).ok_or_else(|| devices.to_string())
    })
    .await
}

async fn told(address: IpAddr, expected: &str) {
    until(&format!("{expected:?}"), async || {
        let ask = async {
            let mut text = String::new();
            TcpStream::connect((address, 8080)).await?.read_to_string(&mut text).await?;
            std::io::Result::Ok(text)
        };
        match ask.await {
            Ok(text) if text == expected => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
}

fn output(program: &str, arguments: &[&str]) -> String {
    String::from_utf8(Command::new(program).args(arguments).output().unwrap().stdout).unwrap()
}

/// Lines about links, mounts, loop devices, control groups and processes that carry the mark.
fn marked() -> Vec<String> {
    let groups = output("find", &["/sys/fs/cgroup", "-maxdepth", "2", "-name", "landfall-lf-*"]);
    let all = [
        output("find", &["/run", "-maxdepth", "1"]),
        output("ip", &["-o", "link"]),
        output("ps", &["-eo", "args"]),
        std::fs::read_to_string("/proc/self/mounts").unwrap(),
        output("losetup", &["--list", "--noheadings", "--output", "BACK-FILE"]),
        groups,
    ];
    let lines = all.iter().flat_map(|text| text.lines());
    lines.filter(|line| line.contains(MARK)).map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_vm_is_a_host_from_power_on_to_power_off_and_nothing_is_left() {
    let network = Network::claim();
    let engine = Engine::start(&network, &FLAGS).await;
    let id = engine.vm("counter", CONFIG).await;
    engine.until(&id, "up").await;
    let address = address(&engine, &id).await;
    assert!(address.to_string().starts_with("198.51.101."), "{address}");
    told(address, "counter\n1\n").await;
    assert!(engine.console(&id).await.contains("Ignition finished successfully"));

    engine.api("POST", &format!("/vms/{id}/reboot"), &json!({})).await;
    told(address, "counter\n2\n").await;
    engine.until(&id, "up").await;
    engine.api("POST", &format!("/vms/{id}/shutdown"), &json!({})).await;
    engine.until(&id, "down").await;
    TcpStream::connect((address, 8080)).await.unwrap_err();
    engine.api("POST", &format!("/vms/{id}/start"), &json!({})).await;
    told(address, "counter\n3\n").await;
    engine.api("POST", &format!("/vms/{id}/stop"), &json!({})).await;
    engine.until(&id, "down").await;
    let listed = engine.admin("GET", "/guests", &Value::Null).await;
    assert_eq!(listed["guests"], json!([]));

    assert!(!marked().is_empty());
    engine.stop().await;
    until("nothing that is left", async || match marked() {
        left if left.is_empty() => Ok(()),
        left => Err(left.join("\n")),
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_config_that_is_not_valid_stops_the_machine_and_its_console_says_why() {
    let network = Network::claim();
    let engine = Engine::start(&network, &["--hosts=real", "--host-network=198.51.102.0/24"]).await;
    let id = engine.vm("wrong", r#"{"ignition":{"version":"9.9.9"}}"#).await;
    until("its console", async || {
        let console = engine.console(&id).await;
        if console.contains("nothing runs in it") { Ok(()) } else { Err(console) }
    })
    .await;
    assert!(engine.console(&id).await.contains("unsupported config version"), "{}", engine.console(&id).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_loss_of_power_takes_what_was_not_synced() {
    let network = Network::claim();
    let engine = Engine::start(&network, &["--hosts=real", "--host-network=198.51.103.0/24"]).await;
    let id = engine.vm("writer", WRITER).await;
    let address = address(&engine, &id).await;
    told(address, "kept\nlost\n").await;
    engine.api("POST", &format!("/vms/{id}/stop"), &json!({})).await;
    engine.until(&id, "down").await;
    assert!(!engine.console(&id).await.contains("cannot make the disk"), "{}", engine.console(&id).await);
    engine.api("POST", &format!("/vms/{id}/start"), &json!({})).await;
    told(address, "kept\n").await;
    engine.stop().await;
}
