//! A name is no mark: what others have called like the cluster's things stays, in whatever way the cluster is removed.

use std::{sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use landfall_config::powervs::Service;
use landfall_platform::error_chain;
use landfall_platform_powervs::client::Workspace;
use landfall_wire::Method;
use serde_json::{Value, json};

use crate::{
    given::User,
    marks::Hand,
    scene::{Cluster, config},
};

/// Looks until the state of the account is as wanted.
async fn until(cluster: &Cluster, is_so: impl Fn(&Value) -> bool) {
    let begun = std::time::Instant::now();
    while !is_so(&cluster.scene.state()) {
        assert!(begun.elapsed() < Duration::from_mins(1), "waited in vain: {:#?}", cluster.scene.inventory());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn has(state: &Value, table: &str, field: &str, value: &str) -> bool {
    state[table].as_object().is_some_and(|all| all.values().any(|one| one[field] == value))
}

/// An RSA key of 2048 bits, as OpenSSH writes it.
fn key(comment: &str) -> String {
    let (exponent, mut modulus) = (vec![1, 0, 1], vec![0x5a; 257]);
    (modulus[0], modulus[1]) = (0, 0x80);
    let part = |bytes: &[u8]| [&u32::try_from(bytes.len()).unwrap().to_be_bytes(), bytes].concat();
    let blob = [part(b"ssh-rsa"), part(&exponent), part(&modulus)].concat();
    format!("ssh-rsa {} {comment}", STANDARD.encode(blob))
}

/// Makes one thing of each kind that takes its tag late or not at all, with the name that the cluster has for it.
async fn imitate(user: &User, cluster: &Cluster, workspace: &Workspace) {
    let (client, group) = (cluster.client(), user.group.as_str());
    let vpc = client.create_vpc("demo-x7k2p-vpc", group).await.unwrap();
    until(cluster, |state| state["vpcs"][&vpc.id]["status"] == "available").await;
    let subnet = client.create_subnet("demo-x7k2p-subnet-us-south-1", &vpc.id, "us-south-1", group).await.unwrap();
    until(cluster, |state| state["subnets"][&subnet.id]["status"] == "available").await;
    let gateway = "demo-x7k2p-gateway-us-south-1";
    client.create_public_gateway(gateway, &vpc.id, "us-south-1", group).await.unwrap();
    let security = client.create_security_group("demo-x7k2p-sg", &vpc.id, group, &[]).await.unwrap();
    let (balancer, subnets) = ("demo-x7k2p-loadbalancer-int", [subnet.id]);
    client.create_load_balancer(balancer, false, &subnets, &security.id, group, &[]).await.unwrap();
    let transit = client.create_transit_gateway("demo-x7k2p-tg", "us-south", false, group).await.unwrap();
    until(cluster, |state| has(state, "gateways", "status", "available")).await;
    for (name, kind, crn) in [("vpc-con", "vpc", &vpc.crn), ("pvs-con", "power_virtual_server", &workspace.crn)] {
        client.create_connection(&transit.id, &format!("demo-x7k2p-{name}"), kind, crn).await.unwrap();
    }
    client.create_ssh_key(workspace, "demo-x7k2p-key", &key("theirs")).await.unwrap();
    let body = json!({"name": "demo-x7k2p-network", "cidr": "192.168.124.0/24"});
    let server = client.create_dhcp_server(workspace, &body).await.unwrap().id;
    until(cluster, |state| state["workspaces"][&workspace.guid]["dhcp_servers"][&server]["status"] == "ACTIVE").await;
}

#[tokio::test]
async fn what_has_names_of_the_cluster_and_no_mark_is_neither_listed_nor_removed() {
    let user = User::new(&[]).await;
    let workspace = user.workspace().await;
    let unknown = user.cluster(json!({}), 1, 0);
    imitate(&user, &unknown, &workspace).await;
    let before = user.scene.inventory();
    let listed = unknown.dry_run().await;
    assert!(listed.is_empty(), "{listed:#?}");
    let (_home, empty) = unknown.journal();
    unknown.destroy(&empty).await.unwrap();
    assert_eq!(user.scene.inventory(), before);
}

#[tokio::test]
async fn a_dhcp_server_of_another_user_in_a_shared_workspace_is_in_the_way_and_stays() {
    let user = User::new(&[]).await;
    let workspace = user.workspace().await;
    let cluster = user.cluster(json!({"serviceInstanceGUID": workspace.guid}), 1, 0);
    let body = json!({"name": "demo-x7k2p-network", "cidr": "192.168.124.0/24"});
    let server = cluster.client().create_dhcp_server(&workspace, &body).await.unwrap().id;
    until(&cluster, |state| state["workspaces"][&workspace.guid]["dhcp_servers"][&server]["status"] == "ACTIVE").await;
    let before = user.scene.inventory();
    let (_home, journal) = cluster.journal();
    let error = error_chain(&cluster.apply(&journal).await.unwrap_err());
    assert!(error.contains("DHCP server demo-x7k2p-network exists and does not belong to the cluster"), "{error}");
    cluster.destroy(&journal).await.unwrap();
    assert_eq!(user.scene.inventory(), before);
    let (_lost, empty) = cluster.journal();
    cluster.destroy(&empty).await.unwrap();
    assert_eq!(user.scene.inventory(), before);
}

#[tokio::test]
async fn an_ssh_key_of_another_user_is_in_the_way_and_stays() {
    let user = User::new(&[]).await;
    let workspace = user.workspace().await;
    let mut cluster = user.cluster(json!({"serviceInstanceGUID": workspace.guid}), 1, 0);
    cluster.config.ssh_key = Some(key("mine"));
    // The same key, so that only the mark tells whose it is.
    cluster.client().create_ssh_key(&workspace, "demo-x7k2p-key", &key("theirs")).await.unwrap();
    let before = user.scene.inventory();
    let (_home, journal) = cluster.journal();
    let error = error_chain(&cluster.apply(&journal).await.unwrap_err());
    assert!(error.contains("SSH key demo-x7k2p-key exists and does not belong to the cluster"), "{error}");
    cluster.destroy(&journal).await.unwrap();
    assert_eq!(user.scene.inventory(), before);
}

#[tokio::test]
async fn an_ssh_key_is_found_by_its_comment_without_a_journal() {
    let user = User::new(&[]).await;
    let workspace = user.workspace().await;
    let before = user.scene.inventory();
    let mut cluster = user.cluster(json!({"serviceInstanceGUID": workspace.guid}), 1, 0);
    cluster.config.ssh_key = Some(key("mine"));
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    assert!(user.scene.inventory().iter().any(|line| line.contains("demo-x7k2p-key")), "{:#?}", user.scene.inventory());
    let (_lost, empty) = cluster.journal();
    cluster.destroy(&empty).await.unwrap();
    assert_eq!(user.scene.inventory(), before);
}

/// A recorded object was renamed and another user's object got its name: the journal does not make that one ours.
#[tokio::test]
async fn what_got_the_name_of_a_recorded_object_stays() {
    const VERSION: &str = "version=2025-07-01&generation=2";
    let user = User::new(&[]).await;
    let cluster = user.cluster(json!({}), 1, 0);
    let before = user.scene.inventory();
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    let own = cluster.client().vpc("demo-x7k2p-vpc").await.unwrap().unwrap();
    let path = format!("v1/vpcs/{}?{VERSION}", own.id);
    Hand::of(&cluster).send(Service::Vpc, Method::PATCH, &path, "", json!({"name": "renamed"})).await;
    let theirs = cluster.client().create_vpc("demo-x7k2p-vpc", &user.group).await.unwrap();
    until(&cluster, |state| state["vpcs"][&theirs.id]["status"] == "available").await;
    cluster.destroy(&journal).await.unwrap();
    let left = user.scene.inventory();
    assert_eq!(left.iter().filter(|line| line.starts_with("vpc ")).collect::<Vec<_>>(), [r#"vpc "demo-x7k2p-vpc""#]);
    assert!(user.scene.state()["vpcs"][&own.id].is_null() && left.len() == before.len() + 1, "{left:#?}");
}

/// A run that died before the platform had told an id: the journal says that it has asked, so the name leads to what came of it.
#[tokio::test]
async fn what_was_asked_for_and_never_told_is_removed_by_the_journal() {
    let user = User::new(&[]).await;
    let workspace = user.workspace().await;
    let before = user.scene.inventory();
    let cluster = Arc::clone(&user.scene).cluster(config(json!({"serviceInstanceGUID": workspace.guid}), 1, 0));
    // After so many looks the object is asked for; the reply is lost, and no look follows.
    for (rule, table, looks) in [
        ("POST /vpc/v1/vpcs", "vpcs", 1),
        ("POST /transit/v1/transit_gateways", "gateways", 1),
        ("POST /power/pcloud/*/services/dhcp", "dhcp", 2),
    ] {
        cluster.scene.fault(&format!("{rule} lost-reply"));
        cluster.scene.fault(&format!("{} from={} latency=100h", rule.replace("POST", "GET"), looks + 1));
        let (_home, journal) = cluster.journal();
        let is_made = |state: &Value| match table {
            "dhcp" => {
                state["workspaces"][&workspace.guid]["dhcp_servers"].as_object().is_some_and(|all| !all.is_empty())
            }
            table => state[table].as_object().is_some_and(|all| !all.is_empty()),
        };
        tokio::select! {
            result = cluster.apply(&journal) => panic!("{rule}: {result:?}"),
            () = until(&cluster, is_made) => {}
        }
        cluster.scene.no_faults();
        cluster.destroy(&journal).await.unwrap();
        assert_eq!(user.scene.inventory(), before, "{rule}");
    }
}
