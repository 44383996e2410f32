//! Several clusters, and other people, in one zone.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures::future::join_all;
use landfall_dns::{Desired, Entry, Target};
use landfall_platform::{Bind as _, Context, ErrorClass, StepSpec};

use crate::scene::{Run, Scene, ZONE};

#[tokio::test]
async fn the_records_are_those_that_a_cluster_needs() {
    let scene = Scene::new();
    let (cluster, run) = (scene.cluster("demo", "demo-x7k2p"), Run::new());
    let before = scene.inventory();
    cluster.apply(&run).await.unwrap();
    let made: Vec<String> = scene.inventory().into_iter().filter(|line| !before.contains(line)).collect();
    insta::assert_snapshot!(made.join("\n"), @r#"
    *.apps.demo.lab.example.test. 300 IN A 192.0.2.6
    _landfall-wildcard.apps.demo.lab.example.test. 300 IN TXT "heritage=landfall,owner=demo-x7k2p,records=A"
    _landfall.api-int.demo.lab.example.test. 300 IN TXT "heritage=landfall,owner=demo-x7k2p,records=A+AAAA"
    _landfall.api.demo.lab.example.test. 300 IN TXT "heritage=landfall,owner=demo-x7k2p,records=A+AAAA"
    api-int.demo.lab.example.test. 300 IN A 192.0.2.5
    api-int.demo.lab.example.test. 300 IN AAAA 2001:db8::5
    api.demo.lab.example.test. 300 IN A 192.0.2.5
    api.demo.lab.example.test. 300 IN AAAA 2001:db8::5
    5.2.0.192.in-addr.arpa. 300 IN PTR api.demo.lab.example.test.
    _landfall.5.2.0.192.in-addr.arpa. 300 IN TXT "heritage=landfall,owner=demo-x7k2p,records=PTR"
    "#);
    assert_eq!(scene.resolver.dig(&["+short", &format!("console.apps.demo.{ZONE}")]), "192.0.2.6\n");
    assert_eq!(scene.resolver.dig(&["+short", "-x", "192.0.2.5"]), format!("api.demo.{ZONE}.\n"));
    let frozen = scene.server.frozen(ZONE);
    assert!(frozen.contains("owner=demo-x7k2p"), "{frozen}");
    cluster.destroy(&run).await.unwrap();
    assert_eq!(scene.inventory(), before);
    assert!(!scene.server.frozen(ZONE).contains("demo-x7k2p"));
}

#[tokio::test]
async fn services_are_made_changed_and_removed() {
    let scene = Scene::with("_etcd-server-ssl._tcp.other SRV 1 1 1 elsewhere.example.test.\n", "");
    let before = scene.inventory();
    let cluster = |members| scene.cluster("demo", "demo-x7k2p").with_etcd(members);
    let name = format!("_etcd-server-ssl._tcp.demo.{ZONE}");
    let dig = || scene.resolver.dig(&["+short", &name, "SRV"]).lines().map(str::to_owned).collect::<Vec<_>>();
    cluster(3).apply(&Run::new()).await.unwrap();
    let mut seen = dig();
    seen.sort();
    assert_eq!(seen, [0, 1, 2].map(|number| format!("0 10 2380 etcd-{number}.demo.{ZONE}.")));
    // A member less; and what was changed behind our back.
    cluster(1).apply(&Run::new()).await.unwrap();
    let own = || scene.server.dig(&["+short", &name, "SRV"]);
    assert_eq!(own(), format!("0 10 2380 etcd-0.demo.{ZONE}.\n"));
    let text = scene.cluster("demo", "demo-other").with_etcd(1).refusal_text().await;
    assert!(text.contains("belongs to the cluster demo-x7k2p"), "{text}");
    // Without a journal, by marks alone.
    cluster(1).destroy(&Run::new()).await.unwrap();
    assert_eq!(scene.inventory(), before);
    // Somebody else's is left alone.
    let text = scene.cluster("other", "other-bcdfg").with_etcd(1).refusal_text().await;
    assert!(text.contains("_etcd-server-ssl._tcp.other.lab.example.test SRV 1 1 1 elsewhere.example.test."), "{text}");
}

/// `a` and `ba`, at the same time: each goes without taking anything of the other.
#[tokio::test]
async fn clusters_with_names_that_end_alike_do_not_meet() {
    let scene = Scene::new();
    let service = |cluster: &str| {
        let mut service = scene.service();
        service["rfc2136"]["reverseZones"] = serde_json::json!([]);
        scene.cluster_of(cluster, &format!("{cluster}-bcdfg"), &service)
    };
    let clusters = ["a", "ba", "a-b"].map(service);
    let runs = clusters.each_ref().map(|_| Run::new());
    let empty = scene.inventory();
    let applied = join_all(clusters.iter().zip(&runs).map(|(cluster, run)| cluster.apply(run))).await;
    for applied in applied {
        applied.unwrap();
    }
    let of = |name: &str| {
        let suffix = format!(".{name}.{ZONE}.");
        scene
            .inventory()
            .into_iter()
            .filter(|line| line.split(' ').next().unwrap().ends_with(&suffix))
            .collect::<Vec<_>>()
    };
    let (ba, a_b) = (of("ba"), of("a-b"));
    assert_eq!((of("a").len(), ba.len(), a_b.len()), (8, 8, 8));
    clusters[0].destroy(&runs[0]).await.unwrap();
    assert_eq!((of("a"), of("ba"), of("a-b")), (Vec::new(), ba, a_b));
    // Without a journal, by marks alone.
    clusters[1].destroy(&Run::new()).await.unwrap();
    clusters[2].destroy(&Run::new()).await.unwrap();
    assert_eq!(scene.inventory(), empty);
}

#[tokio::test]
async fn two_clusters_of_one_name_cannot_both_have_it() {
    let scene = Scene::new();
    let clusters = ["demo-first", "demo-other"].map(|id| scene.cluster("demo", id));
    let runs = clusters.each_ref().map(|_| Run::new());
    let results = join_all(clusters.iter().zip(&runs).map(|(cluster, run)| cluster.apply(run))).await;
    // At each name one of them was first; the other one says so and leaves it alone.
    let inventory = scene.inventory();
    for name in ["api", "api-int"] {
        let marks = inventory.iter().filter(|line| line.starts_with(&format!("_landfall.{name}.demo.")));
        assert!(marks.count() <= 1, "{inventory:?}");
    }
    assert!(results.iter().any(Result::is_err), "{inventory:?}");
    let run = Run::new();
    for (cluster, run) in clusters.iter().zip(&runs) {
        cluster.destroy(run).await.unwrap();
    }
    clusters[0].apply(&run).await.unwrap();
    let refused = clusters[1].refusal().await;
    assert_eq!(refused.class(), ErrorClass::Invalid);
    assert!(refused.to_string().contains("belongs to the cluster demo-first"), "{refused}");
    let held = scene.inventory();
    clusters[1].destroy(&Run::new()).await.unwrap();
    assert_eq!(scene.inventory(), held, "what belongs to another is not removed");
}

#[tokio::test]
async fn what_others_made_is_left_alone() {
    let scene = Scene::with("api.demo A 198.51.100.7\n", "");
    let before = scene.inventory();
    let cluster = scene.cluster("demo", "demo-x7k2p");
    let text = cluster.refusal_text().await;
    assert!(text.contains(&format!("api.demo.{ZONE} A 198.51.100.7 exists at name server")), "{text}");
    assert!(text.contains("carries no mark"), "{text}");
    cluster.destroy(&Run::new()).await.unwrap();
    assert_eq!(scene.inventory(), before);
}

/// A wildcard answers for names that do not exist: they are free all the same.
#[tokio::test]
async fn a_wildcard_is_not_in_the_way() {
    let scene = Scene::with("* A 198.51.100.9\n* TXT \"some text\"\n*.demo CNAME www\nwww A 198.51.100.9\n", "");
    let before = scene.inventory();
    let (cluster, run) = (scene.cluster("demo", "demo-x7k2p"), Run::new());
    cluster.apply(&run).await.unwrap();
    assert_eq!(scene.server.dig(&["+short", &format!("api.demo.{ZONE}")]), "192.0.2.5\n");
    cluster.destroy(&run).await.unwrap();
    assert_eq!(scene.inventory(), before);
}

#[tokio::test]
async fn what_changed_behind_our_back_is_put_right_or_kept() {
    let scene = Scene::new();
    let (cluster, run) = (scene.cluster("demo", "demo-x7k2p"), Run::new());
    let empty = scene.inventory();
    cluster.apply(&run).await.unwrap();
    let made = scene.inventory();
    let api = format!("api.demo.{ZONE}");
    scene.server.nsupdate(&format!("update delete {api} A\nupdate add {api} 60 A 198.51.100.66"));
    cluster.apply(&Run::new()).await.unwrap();
    assert_eq!(scene.inventory(), made);
    // Somebody's text at our name is not ours, and goes not with us.
    scene.server.nsupdate(&format!("update add {api} 60 TXT \"v=spf1 -all\""));
    cluster.destroy(&run).await.unwrap();
    let left: Vec<String> = scene.inventory().into_iter().filter(|line| !empty.contains(line)).collect();
    assert_eq!(left, [format!("{api}. 60 IN TXT \"v=spf1 -all\"")]);
}

/// The resolver has been asked too early, and remembers for a while that there is nothing.
#[tokio::test]
async fn a_resolver_that_remembers_is_waited_for_with_its_remaining_time() {
    let scene = Scene::new();
    let api = format!("api.demo.{ZONE}");
    assert_eq!(scene.resolver.dig(&["+short", &api]), "");
    let (cluster, run) = (scene.cluster("demo", "demo-x7k2p"), Run::new());
    let began = std::time::Instant::now();
    cluster.apply(&run).await.unwrap();
    assert!(began.elapsed() > Duration::from_secs(2), "the zone lets resolvers remember for 5 s");
    let told = run.told();
    assert!(told.contains(&format!("has NXDOMAIN for {api}, and keeps it for ")), "{told}");
    assert_eq!(scene.resolver.dig(&["+short", &api]), "192.0.2.5\n");
}

/// Platforms with load balancers have names instead of addresses; nothing can stand beside an alias, so its mark does not.
#[tokio::test]
async fn an_alias_for_a_load_balancer_has_its_mark_below() {
    let scene = Scene::with("lb A 192.0.2.99\n", "");
    let before = scene.inventory();
    let cluster = scene.cluster("demo", "demo-x7k2p");
    let name = format!("api.demo.{ZONE}");
    let target = Target::Name(format!("lb.{ZONE}").parse().unwrap());
    let entry = |target: &Target| Entry::new(name.parse().unwrap(), 60, target);
    let step = |entry: Entry| {
        let desired = Desired::Record { service: cluster.service.clone(), entry };
        let spec = StepSpec {
            desired: serde_json::to_value(desired).unwrap(),
            ..cluster.whole_plan().steps().next().unwrap().clone()
        };
        cluster.dns_binder().bind(&spec).unwrap()
    };
    let context = Context::new(BTreeMap::new(), Arc::new(|_| ()));
    step(entry(&target)).ensure(&context).await.unwrap();
    assert_eq!(scene.resolver.dig(&["+short", &name]), format!("lb.{ZONE}.\n192.0.2.99\n"));
    step(entry(&target)).ensure(&context).await.unwrap();
    // From the alias to addresses, in one step.
    let addresses = Target::Addresses(vec!["192.0.2.5".parse().unwrap()]);
    step(entry(&addresses)).ensure(&context).await.unwrap();
    assert_eq!(scene.server.dig(&["+short", &name]), "192.0.2.5\n");
    step(entry(&addresses)).remove(&context, None).await.unwrap();
    assert_eq!(scene.inventory(), before);
}
