//! What is wrong is said before anything is made.

use std::os::unix::fs::PermissionsExt as _;

use landfall_dns::{Probe, preflight};
use landfall_platform::{Finding, Verdict};

use crate::scene::{Cluster, PARENT, Run, Scene, ZONE};

async fn look(cluster: &Cluster, probe: Probe) -> Vec<Finding> {
    preflight(&cluster.dns_binder(), &cluster.config, &cluster.service, probe).await
}

fn find<'a>(findings: &'a [Finding], text: &str) -> &'a Finding {
    let found = findings.iter().find(|finding| finding.to_string().contains(text));
    found.unwrap_or_else(|| panic!("nothing about '{text}' in {findings:#?}"))
}

#[tokio::test]
async fn a_zone_that_is_ready() {
    let scene = Scene::new();
    let before = scene.inventory();
    let cluster = scene.cluster("demo", "demo-x7k2p");
    let findings = look(&cluster, Probe::Write).await;
    assert!(findings.iter().all(|finding| finding.verdict == Verdict::Ok), "{findings:#?}");
    find(&findings, &format!("{PARENT} leads to ns1.{ZONE}"));
    find(&findings, "was made and removed");
    assert_eq!(scene.inventory(), before, "the probe is gone");
    let looked = look(&cluster, Probe::ReadOnly).await;
    assert_eq!(looked.len() + 1, findings.len(), "without a probe");
    // What the cluster has made itself is no trouble for its next run.
    cluster.apply(&Run::new()).await.unwrap();
    let again = look(&cluster, Probe::Write).await;
    assert!(again.iter().all(|finding| finding.verdict == Verdict::Ok), "{again:#?}");
}

#[tokio::test]
async fn a_probe_of_a_run_that_died_is_swept_up() {
    let scene = Scene::new();
    let before = scene.inventory();
    let name = format!("landfall-probe-demo-x7k2p.demo.{ZONE}");
    let mark = format!("update add _landfall.{name} 60 TXT \"heritage=landfall,owner=demo-x7k2p,records=A\"");
    let address = format!("update add {name} 60 A 192.0.2.1");
    let cluster = scene.cluster("demo", "demo-x7k2p");
    // It died after both records, or between them.
    for left in [format!("{mark}\n{address}"), mark] {
        scene.server.nsupdate(&left);
        let findings = look(&cluster, Probe::Write).await;
        assert_eq!(find(&findings, "was made and removed").verdict, Verdict::Ok);
        assert_eq!(scene.inventory(), before);
        // No run follows but that which removes the cluster.
        scene.server.nsupdate(&left);
        cluster.destroy(&Run::new()).await.unwrap();
        assert_eq!(scene.inventory(), before);
    }
}

#[tokio::test]
async fn everything_that_is_wrong_is_said_at_once() {
    let records = "api.demo A 198.51.100.7\n* A 198.51.100.9\n*.demo A 198.51.100.10\n@ NS ns2\nns2 A 127.0.0.4\n";
    let scene = Scene::with(records, "");
    std::fs::set_permissions(scene.server.key_file(), std::fs::Permissions::from_mode(0o644)).unwrap();
    scene.cluster("demo", "demo-first").refusal().await;
    let findings = look(&scene.cluster("demo", "demo-x7k2p"), Probe::Write).await;
    let problem = find(&findings, &format!("there is api.demo.{ZONE} A 198.51.100.7"));
    assert_eq!(problem.verdict, Verdict::Problem);
    for (text, verdict) in [
        ("can be read by other users of this machine (chmod 600", Verdict::Notice),
        ("keep the wildcard to *.apps", Verdict::Notice),
        ("leave the wildcard as soon as", Verdict::Notice),
        ("(127.0.0.4:", Verdict::Notice),
        (
            "name different servers: ns1.lab.example.test and ns1.lab.example.test, ns2.lab.example.test",
            Verdict::Notice,
        ),
    ] {
        assert_eq!(find(&findings, text).verdict, verdict, "{findings:#?}");
    }
}

#[tokio::test]
async fn another_clusters_names_are_named_with_their_owner() {
    let scene = Scene::new();
    scene.cluster("demo", "demo-first").apply(&Run::new()).await.unwrap();
    let findings = look(&scene.cluster("demo", "demo-x7k2p"), Probe::Write).await;
    let taken = find(&findings, &format!("api.demo.{ZONE} belongs to the cluster demo-first"));
    assert_eq!(taken.verdict, Verdict::Problem);
}

#[tokio::test]
async fn a_zone_that_nobody_leads_to_is_a_problem_unless_it_is_known_here() {
    let scene = Scene::new();
    scene.parent.nsupdate(&format!("update delete {ZONE} NS"));
    let cluster = scene.cluster("demo", "demo-x7k2p");
    let findings = look(&cluster, Probe::ReadOnly).await;
    let notice = find(&findings, "but the resolver of this machine knows it");
    assert_eq!(notice.verdict, Verdict::Notice);
    // A resolver that knows only the zone above.
    let network = landfall_dns::Network { resolvers: vec![scene.parent.address()], ..scene.network.clone() };
    let cluster = Cluster { network, ..cluster };
    let findings = look(&cluster, Probe::ReadOnly).await;
    let problem = find(&findings, "so nobody will find the records");
    assert_eq!(problem.verdict, Verdict::Problem);
    assert!(problem.hint.as_ref().unwrap().contains(&format!("be ns1.{ZONE}")), "{problem:?}");
}

#[tokio::test]
async fn a_server_without_the_zone_and_a_key_that_may_not_write_are_found() {
    let scene = Scene::new();
    let mut service = scene.service();
    service["rfc2136"]["server"] = scene.parent.address().to_string().into();
    let findings = look(&scene.cluster_of("demo", "demo-x7k2p", &service), Probe::Write).await;
    assert_eq!(find(&findings, &format!("has no zone {ZONE}")).verdict, Verdict::Problem);
    let mut service = scene.service();
    service["rfc2136"]["keyName"] = "weak-key".into();
    let findings = look(&scene.cluster_of("demo", "demo-x7k2p", &service), Probe::Write).await;
    assert_eq!(find(&findings, "REFUSED").verdict, Verdict::Problem);
}
