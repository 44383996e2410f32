//! Records that a person makes.

use std::process::Command;

use landfall_dns::manual;
use landfall_platform::ErrorClass;
use serde_json::json;

use crate::scene::{Run, Scene, ZONE};

#[tokio::test]
async fn the_installation_waits_until_the_records_are_made() {
    let scene = Scene::new();
    let (cluster, run) = (scene.cluster_of("demo", "demo-x7k2p", &json!({"manual": {}})), Run::new());
    let records = manual::records(&cluster.config, &cluster.service).unwrap();
    insta::assert_snapshot!(records, @"
    name                           type     ttl  value
    api.demo.lab.example.test      A        300  192.0.2.5
    api.demo.lab.example.test      AAAA     300  2001:db8::5
    api-int.demo.lab.example.test  A        300  192.0.2.5
    api-int.demo.lab.example.test  AAAA     300  2001:db8::5
    *.apps.demo.lab.example.test   A        300  192.0.2.6
    ");
    let person = async {
        // Somebody who reads what is waited for, and then types the records in.
        while !run.told().contains("has NXDOMAIN for") {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        let script: Vec<String> = records.zone_snippet().lines().map(|line| format!("update add {line}")).collect();
        scene.server.nsupdate(&script.join("\n"));
    };
    let (applied, ()) = futures::join!(cluster.apply(&run), person);
    applied.unwrap();
    let made = scene.inventory();
    cluster.destroy(&run).await.unwrap();
    assert_eq!(scene.inventory(), made, "what a person made is the person's");
    assert!(run.told().contains("yours to remove: api.demo.lab.example.test"), "{}", run.told());
}

#[tokio::test]
async fn a_wait_that_ends_says_what_it_saw() {
    let scene = Scene::new();
    let mut cluster = scene.cluster_of("demo", "demo-x7k2p", &json!({"manual": {}}));
    cluster.config.timeouts.dns = "1s".parse().unwrap();
    let refused = cluster.refusal().await;
    assert_eq!(refused.class(), ErrorClass::Timeout);
    let text = refused.to_string();
    assert!(text.contains(&format!("not all name servers of {ZONE} have the records after 1 s")), "{text}");
    assert!(text.contains(&format!("has NXDOMAIN for *.apps.demo.{ZONE}")), "{text}");
}

#[test]
fn the_snippet_is_part_of_a_zone() {
    let config = crate::scene::Cluster::new(
        "demo",
        "demo-x7k2p",
        ZONE,
        &json!({"manual": {"ttl": 60}}),
        landfall_dns::Network { resolvers: Vec::new(), port: 53 },
    );
    let snippet = manual::records(&config.config, &config.service).unwrap().zone_snippet();
    assert!(snippet.contains(" 60 IN A "), "{snippet}");
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("zone");
    std::fs::write(&file, format!("$TTL 60\n@ SOA ns1 hostmaster 1 2 3 4 5\n@ NS ns1\nns1 A 192.0.2.1\n{snippet}"))
        .unwrap();
    let judged = Command::new("named-checkzone").arg(ZONE).arg(&file).output().unwrap();
    assert!(judged.status.success(), "{}", String::from_utf8_lossy(&judged.stdout));
}
