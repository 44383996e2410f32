//! What is the cluster's, whatever its name has become: by its tag, and by the id that was recorded when it was made.

use std::{sync::Arc, time::Duration};

use landfall_config::powervs::Service;
use landfall_engine::{Journal, State};
use landfall_platform::{MachineRef, Machines as _, Outputs, Power, PowerState, StepId};
use landfall_wire::{
    Client as Http, Limits, Method, Request,
    ibm_cloud::{Place, Session, endpoint},
};
use serde_json::{Value, json};

use crate::scene::{Cluster, Scene, config};

const TAG: &str = "landfall:demo-x7k2p";

/// Somebody who works on the account by hand, past everything that Landfall has for it.
pub(crate) struct Hand<'a> {
    cluster: &'a Cluster,
    session: Session,
}

impl<'a> Hand<'a> {
    pub(crate) fn of(cluster: &'a Cluster) -> Self {
        let credentials = cluster.credentials();
        let http = Http::new(&credentials.trust, Limits::default()).unwrap();
        let iam = endpoint(Service::Iam, &credentials.endpoints, &Place::default());
        Self { cluster, session: Session::new(http, iam, cluster.key.clone().into()) }
    }

    /// Sends something, and again while what it is about is busy.
    #[allow(clippy::needless_pass_by_value, reason = "callers write the value down where they call")]
    pub(crate) async fn send(&self, service: Service, method: Method, path: &str, crn: &str, body: Value) {
        let endpoints = self.cluster.credentials().endpoints;
        let base = endpoint(service, &endpoints, &Place::default()).to_string();
        let url: url::Url = format!("{}/{path}", base.trim_end_matches('/')).parse().unwrap();
        let request = || Request::json(method.clone(), url.clone(), &body).accept_json().header("crn", crn);
        let begun = std::time::Instant::now();
        loop {
            let reply = self.session.send(request).await.unwrap();
            if (200..300).contains(&reply.status()) {
                return;
            }
            let text = String::from_utf8_lossy(reply.contents()).into_owned();
            assert!(reply.status() == 409, "{method} {path}: {} {text}", reply.status());
            assert!(begun.elapsed() < Duration::from_mins(1), "waited in vain: {text}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// The objects of a kind, as the simulator knows them.
    fn all(&self, kind: &str) -> Vec<Value> {
        let state = self.cluster.scene.state();
        state[kind].as_object().map(|all| all.values().cloned().collect()).unwrap_or_default()
    }

    /// Gives what has an id another name, one that says nothing.
    async fn rename(&self, is_meant: impl Fn(&str) -> bool) {
        const VERSION: &str = "version=2025-07-01&generation=2";
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        for kind in ["vpcs", "subnets", "public_gateways", "security_groups", "load_balancers"] {
            for (number, own) in self.all(kind).iter().enumerate().filter(|(_, own)| is_meant(&text(&own["id"]))) {
                let (path, name) = (format!("v1/{kind}/{}?{VERSION}", text(&own["id"])), format!("other-{number}"));
                self.send(Service::Vpc, Method::PATCH, &path, "", json!({"name": name})).await;
            }
        }
        for (number, own) in self.all("gateways").iter().enumerate().filter(|(_, own)| is_meant(&text(&own["id"]))) {
            let path = format!("v1/transit_gateways/{}?version=2025-07-01", text(&own["id"]));
            let name = json!({"name": format!("other-{number}")});
            self.send(Service::TransitGateway, Method::PATCH, &path, "", name).await;
        }
        let instances = self.all("instances");
        for workspace in self.all("workspaces") {
            let guid = text(&workspace["guid"]);
            let crn = text(&instances.iter().find(|instance| instance["guid"] == guid.as_str()).unwrap()["crn"]);
            let inside = |kind: &str| -> Vec<String> { workspace[kind].as_object().unwrap().keys().cloned().collect() };
            for network in inside("networks").iter().filter(|id| is_meant(id)) {
                let path = format!("pcloud/v1/cloud-instances/{guid}/networks/{network}");
                self.send(Service::Power, Method::PUT, &path, &crn, json!({"name": "other"})).await;
            }
            for (number, machine) in inside("instances").iter().enumerate().filter(|(_, id)| is_meant(id)) {
                let path = format!("pcloud/v1/cloud-instances/{guid}/pvm-instances/{machine}");
                let name = json!({"serverName": format!("other-{number}")});
                self.send(Service::Power, Method::PUT, &path, &crn, name).await;
            }
        }
        let is_own = |instance: &&Value| {
            let name = text(&instance["name"]);
            is_meant(&text(&instance["guid"])) && (name.contains("-bcdfg") || name.contains("-x7k2p"))
        };
        for instance in instances.iter().filter(is_own) {
            let path = format!("v2/resource_instances/{}", text(&instance["guid"]));
            self.send(Service::ResourceController, Method::PATCH, &path, "", json!({"name": "other"})).await;
        }
        for own in self.all("connections").iter().filter(|own| is_meant(&text(&own["id"]))) {
            let (gateway, id) = (own["transit_gateway"]["id"].as_str().unwrap(), own["id"].as_str().unwrap());
            let path = format!("v1/transit_gateways/{gateway}/connections/{id}?version=2025-07-01");
            self.send(Service::TransitGateway, Method::PATCH, &path, "", json!({"name": "other"})).await;
        }
    }

    /// Takes the tag from what has an id.
    async fn untag(&self, is_meant: impl Fn(&str) -> bool) {
        let state = self.cluster.scene.state();
        let tagged: Vec<&String> = state["tags"].as_object().unwrap().keys().collect();
        for crn in tagged.into_iter().filter(|crn| crn.split(':').any(&is_meant)) {
            let body = json!({"tag_names": [TAG], "resources": [{"resource_id": crn}]});
            self.send(Service::GlobalTagging, Method::POST, "v3/tags/detach", "", body).await;
        }
    }

    /// How many things carry the tag.
    fn tagged(&self) -> usize {
        let state = self.cluster.scene.state();
        let tags = state["tags"].as_object().unwrap();
        tags.values().filter(|tags| tags.as_array().unwrap().iter().any(|tag| tag == TAG)).count()
    }
}

async fn cluster(flags: &[&str]) -> Cluster {
    Scene::new(flags).await.cluster(config(json!({}), 1, 1))
}

/// Looks until something is so.
async fn until(mut is_so: impl FnMut() -> bool) {
    let begun = std::time::Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_mins(1), "waited in vain");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn everything_that_takes_a_tag_carries_it() {
    let cluster = cluster(&[]).await;
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    // A workspace, its network and image, three machines, object storage; a VPC, three subnets and gateways, a security group, two
    // load balancers, a transit gateway.
    assert_eq!(Hand::of(&cluster).tagged(), 4 + 3 + 11);
}

#[tokio::test]
async fn what_was_renamed_by_hand_is_found_by_its_tag() {
    let cluster = cluster(&[]).await;
    let before = cluster.scene.inventory();
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    let hand = Hand::of(&cluster);
    // Connections take no tags.
    let connections = hand.all("connections");
    hand.rename(|id| connections.iter().all(|own| own["id"] != id)).await;
    // Also if nobody remembers that anything was made.
    let (_lost, empty) = cluster.journal();
    cluster.destroy(&empty).await.unwrap();
    assert_eq!(cluster.scene.inventory(), before);
}

#[tokio::test]
async fn what_the_search_still_finds_is_not_taken_for_there() {
    let cluster = cluster(&["--delay", "tag=4h"]).await;
    let before = cluster.scene.inventory();
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    // Four hours of this clock, and then the search knows all tags.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let (_lost, empty) = cluster.journal();
    cluster.destroy(&empty).await.unwrap();
    assert_eq!(cluster.scene.inventory(), before);
    let state = cluster.scene.state();
    let is_marked = |crn: &&String| state["tags"][crn.as_str()].to_string().contains(TAG);
    let ghosts = state["searched"].as_object().unwrap().keys().filter(is_marked).count();
    assert!(ghosts > 0, "the search had forgotten everything; nothing was proved");
}

#[tokio::test]
async fn what_lost_name_and_tag_is_removed_by_its_recorded_id() {
    let cluster = cluster(&[]).await;
    let before = cluster.scene.inventory();
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    let hand = Hand::of(&cluster);
    hand.rename(|_| true).await;
    hand.untag(|_| true).await;
    assert_eq!(hand.tagged(), 0);
    cluster.destroy(&journal).await.unwrap();
    assert_eq!(cluster.scene.inventory(), before);
}

#[tokio::test]
async fn a_neighbours_things_are_not_found_by_tag() {
    let scene = Scene::new(&[]).await;
    // The tag of the third begins with the whole of the first.
    let ids = ["a-bcdfg", "ba-bcdfg", "a-bcdfg-hjklm"];
    let clusters = ids.map(|id| Arc::clone(&scene).cluster_called(id, config(json!({}), 1, 0)));
    for cluster in &clusters[1..] {
        let (_home, journal) = cluster.journal();
        cluster.apply(&journal).await.unwrap();
    }
    let hand = Hand::of(&clusters[0]);
    let connections = hand.all("connections");
    hand.rename(|id| connections.iter().all(|own| own["id"] != id)).await;
    let others = scene.inventory();
    let (_home, empty) = clusters[0].journal();
    clusters[0].destroy(&empty).await.unwrap();
    assert_eq!(scene.inventory(), others);
    let (_home, empty) = clusters[1].journal();
    clusters[1].destroy(&empty).await.unwrap();
    let count = |lines: &[String], prefix: &str| lines.iter().filter(|line| line.starts_with(prefix)).count();
    for kind in ["vpc ", "subnet ", "load balancer ", "machine ", "transit gateway "] {
        assert_eq!(count(&scene.inventory(), kind) * 2, count(&others, kind), "{kind}");
    }
}

#[tokio::test]
async fn what_could_not_be_tagged_is_made_and_found_by_the_journal_alone() {
    let cluster = cluster(&[]).await;
    let before = cluster.scene.inventory();
    // Tags are refused for good, except for what is made with them.
    cluster.scene.fault("POST /tagging/v3/tags/attach status=403 body=platform");
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    let vpc = &Hand::of(&cluster).all("vpcs")[0];
    let is_tagged = cluster.scene.state()["tags"].to_string().contains(vpc["id"].as_str().unwrap());
    assert!(!is_tagged, "it was tagged all the same");
    // For those who know no journal it is a VPC of anybody's with such a name.
    let titles = cluster.dry_run().await;
    assert!(!titles.iter().any(|title| title.starts_with("VPC ")), "{titles:#?}");
    cluster.destroy(&journal).await.unwrap();
    assert_eq!(cluster.scene.inventory(), before);
}

#[tokio::test]
async fn a_tag_that_was_taken_away_does_not_count_although_the_search_still_finds_it() {
    let cluster = cluster(&["--delay", "tag=4h"]).await;
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    // Four hours of this clock, and then the search knows all tags.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let hand = Hand::of(&cluster);
    let vpc = hand.all("vpcs")[0]["id"].as_str().unwrap().to_owned();
    hand.untag(|part| part == vpc).await;
    let titles = cluster.dry_run().await;
    assert!(!titles.iter().any(|title| title.starts_with("VPC ")), "{titles:#?}");
}

#[tokio::test]
async fn tagging_that_fails_for_a_while_is_repeated() {
    let cluster = cluster(&[]).await;
    cluster.scene.fault("POST /tagging/v3/tags/attach first=5 status=503 body=platform");
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    assert_eq!(Hand::of(&cluster).tagged(), 18);
}

#[tokio::test]
async fn a_run_that_dies_between_making_and_tagging_is_resumed() {
    let cluster = cluster(&[]).await;
    let before = cluster.scene.inventory();
    cluster.scene.fault("POST /tagging/v3/tags/attach latency=100h");
    let (_home, journal) = cluster.journal();
    let is_untagged = || {
        let state = cluster.scene.state();
        state["vpcs"].as_object().is_some_and(|all| !all.is_empty())
            && state["gateways"].as_object().is_some_and(|all| !all.is_empty())
    };
    tokio::select! {
        result = cluster.apply(&journal) => panic!("{result:?}"),
        () = until(is_untagged) => {}
    }
    let hand = Hand::of(&cluster);
    assert!(!cluster.scene.state()["tags"].to_string().contains(":vpc:"));
    cluster.scene.no_faults();
    cluster.apply(&journal).await.unwrap();
    let made = cluster.scene.inventory();
    let count = |prefix: &str| made.iter().filter(|line| line.starts_with(prefix)).count();
    assert_eq!((count("vpc "), count("transit gateway "), hand.tagged()), (1, 1, 18), "{made:#?}");
    cluster.destroy(&journal).await.unwrap();
    assert_eq!(cluster.scene.inventory(), before);
}

#[tokio::test]
async fn what_is_given_stays_also_if_the_user_tags_it() {
    let scene = Scene::new(&[]).await;
    let user = Arc::clone(&scene).cluster(config(json!({}), 1, 0));
    let group = user.client().resource_groups().await.unwrap().into_iter().find(|group| group.default).unwrap().id;
    let vpc = user.client().create_vpc("my-vpc", &group).await.unwrap();
    until_available(&user, "my-vpc").await;
    let cluster = Arc::clone(&scene).cluster(config(json!({"vpcName": "my-vpc"}), 1, 0));
    let before = scene.inventory();
    let body = json!({"tag_names": [TAG], "resources": [{"resource_id": vpc.crn}]});
    Hand::of(&cluster).send(Service::GlobalTagging, Method::POST, "v3/tags/attach", "", body).await;
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    cluster.destroy(&journal).await.unwrap();
    assert_eq!(scene.inventory(), before);
}

async fn until_available(user: &Cluster, name: &str) {
    let client = user.client();
    for _ in 0..2000 {
        if client.vpc(name).await.unwrap().unwrap().status == "available" {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("{name} was waited for in vain");
}

/// Lets a run die while one thing is on its way, which then loses its name and its tag: destroy removes it by the id that was recorded.
async fn dies_on_the_way(delay: &str, step: &str) {
    let cluster = cluster(&["--delay", delay]).await;
    let before = cluster.scene.inventory();
    let (home, journal) = cluster.journal();
    let path = home.path().join("journal.sqlite");
    let id: StepId = step.into();
    let recorded = || -> Option<String> {
        let snapshot = Journal::read(&path).ok()?;
        let entry = snapshot.entry(&id)?;
        let outputs: &Outputs = entry.outputs.as_ref()?;
        (entry.state == State::Ensuring).then(|| outputs.get("id")).flatten()
    };
    tokio::select! {
        result = cluster.apply(&journal) => panic!("{result:?}"),
        () = until(|| recorded().is_some()) => {}
    }
    let hand = Hand::of(&cluster);
    let lost = recorded().unwrap();
    hand.rename(|id| id == lost).await;
    hand.untag(|part| part == lost).await;
    assert!(cluster.scene.state().to_string().contains(&lost));
    cluster.destroy(&journal).await.unwrap();
    assert_eq!(cluster.scene.inventory(), before, "{step}");
}

#[tokio::test]
async fn what_was_on_its_way_when_a_run_died_is_removed_by_its_recorded_id() {
    for (delay, step) in [
        ("workspace=2h", "workspace"),
        ("dhcp=2h", "dhcp"),
        ("vpc=2h", "vpc"),
        ("load-balancer=20m", "load-balancer/public"),
        ("gateway=1h", "transit-gateway"),
        ("connection=1h", "connection/vpc"),
        ("instance=30m", "vm/master-0"),
    ] {
        dies_on_the_way(delay, step).await;
    }
}

#[tokio::test]
async fn the_tag_itself_goes_with_the_last_that_carried_it() {
    let cluster = cluster(&[]).await;
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    let knows = || cluster.scene.state()["tag_names"].as_array().unwrap().iter().any(|name| name == TAG);
    assert!(knows());
    // One that is attached cannot be deleted.
    let refused = cluster.client().delete_tag(TAG).await.unwrap_err();
    assert!(refused.to_string().contains("still attached"), "{refused}");
    cluster.destroy(&journal).await.unwrap();
    assert!(!knows(), "the account keeps {TAG}");
}

#[tokio::test]
async fn a_tag_that_was_left_by_an_older_version_is_found_and_deleted() {
    let cluster = cluster(&[]).await;
    let body = json!({"tag_names": [TAG]});
    Hand::of(&cluster).send(Service::GlobalTagging, Method::POST, "v3/tags?tag_type=user", "", body).await;
    let (_home, empty) = cluster.journal();
    assert_eq!(cluster.dry_run().await, [format!("tag {TAG}")]);
    cluster.destroy(&empty).await.unwrap();
    assert!(cluster.dry_run().await.is_empty());
}

#[tokio::test]
async fn a_vpc_that_has_the_name_already_is_not_taken_over_and_stays() {
    let scene = Scene::new(&[]).await;
    let cluster = Arc::clone(&scene).cluster(config(json!({}), 1, 0));
    let group = cluster.client().resource_groups().await.unwrap().into_iter().find(|group| group.default).unwrap().id;
    cluster.client().create_vpc("demo-x7k2p-vpc", &group).await.unwrap();
    until_available(&cluster, "demo-x7k2p-vpc").await;
    let before = scene.inventory();
    let (_home, journal) = cluster.journal();
    let error = landfall_platform::error_chain(&cluster.apply(&journal).await.unwrap_err());
    assert!(error.contains("VPC demo-x7k2p-vpc exists and does not belong to the cluster"), "{error}");
    cluster.destroy(&journal).await.unwrap();
    assert_eq!(scene.inventory(), before);
    // And so it is for a removal that has no journal.
    let (_lost, empty) = cluster.journal();
    cluster.destroy(&empty).await.unwrap();
    assert_eq!(scene.inventory(), before);
}

#[tokio::test]
async fn a_machine_is_switched_off_also_if_its_workspace_lost_its_tag() {
    let cluster = cluster(&[]).await;
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    let master = cluster.binder().machines().get("demo-x7k2p-master-0".into()).await.unwrap().unwrap();
    let snapshot = journal.snapshot().await.unwrap();
    let outputs = snapshot.entry(&"workspace".into()).unwrap().outputs.clone().unwrap();
    let workspace: String = outputs.get("id").unwrap();
    // All that is in the workspace loses the tag too: nothing leads to it any more.
    Hand::of(&cluster).untag(|part| part == workspace).await;
    // As a controller that was started anew. What is not found must not count as gone.
    let machines = cluster.binder().machines();
    let known = MachineRef::known(&master.name, Some(&master.provider_id));
    machines.power(known, Power::Off).await.unwrap();
    assert_eq!(machines.get(known).await.unwrap().unwrap().power, PowerState::Off);
}
