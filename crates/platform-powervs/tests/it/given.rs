//! What the user has already is used, and left alone.

use std::{sync::Arc, time::Duration};

use landfall_config::powervs::Service;
use landfall_platform::Stage;
use landfall_platform_powervs::{
    Client,
    client::{Bucket, DhcpStatus, ImageImport, ServiceId, Workspace},
};
use landfall_wire::{Method, aws};
use serde_json::{Value, json};

use crate::{
    marks::Hand,
    scene::{Cluster, Scene, config},
};

/// Somebody with an account.
pub(crate) struct User {
    pub(crate) scene: Arc<Scene>,
    client: Client,
    pub(crate) group: String,
}

impl User {
    pub(crate) async fn new(flags: &[&str]) -> Self {
        let scene = Scene::new(flags).await;
        let client = Arc::clone(&scene).cluster(config(json!({}), 1, 0)).client();
        let groups = client.resource_groups().await.unwrap();
        let group = groups.into_iter().find(|group| group.default).unwrap().id;
        Self { scene, client, group }
    }

    /// Looks until something is so.
    async fn until<F: Future<Output = bool>>(look: impl Fn() -> F) {
        let begun = std::time::Instant::now();
        while !look().await {
            assert!(begun.elapsed() < Duration::from_mins(1), "waited in vain");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub(crate) async fn workspace(&self) -> Workspace {
        let client = &self.client;
        let made = client.create_resource_instance(ServiceId::POWER, "mine", "dal10", &self.group, &[]).await.unwrap();
        Self::until(|| async { client.resource_instance(&made.guid).await.unwrap().unwrap().state == "active" }).await;
        let workspace = Workspace { guid: made.guid, crn: made.crn };
        Self::until(|| async { client.edge_router(&workspace).await.unwrap().unwrap_or_default().state == "active" })
            .await;
        workspace
    }

    async fn vpc(&self) -> String {
        let id = self.client.create_vpc("my-vpc", &self.group).await.unwrap().id;
        Self::until(|| async { self.client.vpc("my-vpc").await.unwrap().unwrap().status == "available" }).await;
        id
    }

    async fn dhcp_server(&self, workspace: &Workspace, name: &str, cidr: &str, status: DhcpStatus) -> String {
        let body = json!({"name": name, "cidr": cidr});
        let id = self.client.create_dhcp_server(workspace, &body).await.unwrap().id;
        Self::until(|| async { self.client.dhcp_server(workspace, &id).await.unwrap().unwrap().status == status })
            .await;
        id
    }

    #[allow(clippy::needless_pass_by_value, reason = "callers write the value down where they call")]
    pub(crate) fn cluster(&self, section: Value, masters: u32, workers: u32) -> Cluster {
        Arc::clone(&self.scene).cluster(config(section, masters, workers))
    }
}

/// Makes a cluster, looks at what is there with it, and removes it: all that was there before still is.
async fn comes_and_goes(cluster: &Cluster) -> Vec<String> {
    let before = cluster.scene.inventory();
    let found = cluster.preflight().await;
    assert!(!found.has_problems(), "{}", cluster.complaints().await);
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    cluster.pivot(&journal).await;
    let made = cluster.scene.inventory();
    cluster.destroy(&journal).await.unwrap();
    assert_eq!(cluster.scene.inventory(), before);
    made
}

fn count(lines: &[String], prefix: &str) -> usize {
    lines.iter().filter(|line| line.starts_with(prefix)).count()
}

#[tokio::test]
async fn workspace_vpc_and_gateway_are_reused_and_left_alone() {
    let user = User::new(&[]).await;
    let workspace = user.workspace().await;
    user.vpc().await;
    user.client.create_transit_gateway("my-tg", "us-south", false, &user.group).await.unwrap();
    let is_ready = || async { user.client.transit_gateway("my-tg").await.unwrap().unwrap().status == "available" };
    User::until(is_ready).await;
    let before = user.scene.inventory();
    let section = json!({"serviceInstanceGUID": workspace.guid, "vpcName": "my-vpc", "tgName": "my-tg"});
    let cluster = user.cluster(section, 1, 1);
    assert!(!cluster.preflight().await.has_problems(), "{}", cluster.complaints().await);
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    let made = user.scene.inventory();
    assert_eq!((count(&made, "vpc"), count(&made, "transit")), (1, 1), "{made:#?}");
    // A second cluster in the same workspace is told why there is no room for it.
    let section = json!({"serviceInstanceGUID": workspace.guid});
    let second = Arc::clone(&user.scene).cluster_called("other-bcdfg", config(section, 1, 0));
    let told = second.complaints().await;
    assert!(told.contains("has a DHCP server already"), "{told}");
    cluster.destroy(&journal).await.unwrap();
    assert_eq!(user.scene.inventory(), before);
}

#[tokio::test]
async fn a_cluster_in_the_workspace_of_the_user_is_found_by_its_mark_alone() {
    let user = User::new(&[]).await;
    let workspace = user.workspace().await;
    let before = user.scene.inventory();
    let cluster = user.cluster(json!({"serviceInstanceGUID": workspace.guid}), 1, 0);
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    // Nothing is known any more but the infra id: not what was given, and not what was made.
    let unknown = user.cluster(json!({}), 1, 0);
    let (_home, empty) = unknown.journal();
    unknown.destroy(&empty).await.unwrap();
    assert_eq!(user.scene.inventory(), before);
}

#[tokio::test]
async fn subnets_that_are_given_hold_the_load_balancers() {
    let user = User::new(&[]).await;
    let vpc = user.vpc().await;
    for zone in ["us-south-1", "us-south-2"] {
        user.client.create_subnet(&format!("my-{zone}"), &vpc, zone, &user.group).await.unwrap();
    }
    let second = || async { user.client.subnet("my-us-south-2").await.unwrap().unwrap() };
    User::until(|| async { second().await.status == "available" }).await;
    // One by its name, one by its id.
    let section = json!({"vpcName": "my-vpc", "vpcSubnets": ["my-us-south-1", second().await.id]});
    let cluster = user.cluster(section, 1, 0);
    let steps: Vec<String> = cluster.steps(Stage::Bootstrapping).steps().map(|step| step.id.to_string()).collect();
    assert!(!steps.iter().any(|step| step.starts_with("public-gateway")), "{steps:?}");
    let made = comes_and_goes(&cluster).await;
    assert_eq!((count(&made, "subnet"), count(&made, "load balancer")), (2, 2), "{made:#?}");

    let lost = user.cluster(json!({"vpcName": "my-vpc", "vpcSubnets": ["my-us-south-1", "elsewhere"]}), 1, 0);
    let told = lost.complaints().await;
    assert!(told.contains("the VPC has no subnet elsewhere"), "{told}");
}

#[tokio::test]
async fn a_cluster_for_those_inside_has_one_load_balancer_with_everything() {
    let user = User::new(&[]).await;
    user.vpc().await;
    let cluster = user.cluster(json!({"vpcName": "my-vpc", "publish": "internal"}), 3, 2);
    let made = comes_and_goes(&cluster).await;
    let balancers: Vec<&String> = made.iter().filter(|line| line.starts_with("load balancer")).collect();
    let expected =
        r#"load balancer "demo-x7k2p-loadbalancer-int" "api"=3 "config"=3 "ingress-http"=2 "ingress-https"=2"#;
    assert_eq!(balancers, [expected]);
    let is_public = cluster.scene.calls(|method, path| method == "POST" && path == "/vpc/v1/load_balancers");
    assert_eq!(is_public, 1, "no other was made in between");
}

#[tokio::test]
async fn an_image_that_the_workspace_has_is_booted_and_stays() {
    let user = User::new(&[]).await;
    let workspace = user.workspace().await;
    let import = ImageImport {
        tag: "mine",
        name: "my-rhcos",
        bucket: "rhcos-powervs-images-us-south",
        region: "us-south",
        object: "rhcos-9.6-ppc64le-powervs.ova.gz",
        key: None,
        storage_type: "tier3",
    };
    user.client.import_image(&workspace, &import).await.unwrap();
    let imported = || async { user.client.images(&workspace).await.unwrap() };
    User::until(|| async { imported().await.iter().any(|image| image.name == "my-rhcos" && image.state == "active") })
        .await;
    let image = imported().await.into_iter().find(|image| image.name == "my-rhcos").unwrap();
    // By its name, or by its id.
    for named in ["my-rhcos", &image.id] {
        let section = json!({"serviceInstanceGUID": workspace.guid, "image": {"existing": named}});
        let cluster = user.cluster(section, 1, 0);
        let (_home, journal) = cluster.journal();
        let before = user.scene.inventory();
        cluster.apply(&journal).await.unwrap();
        let state = user.scene.state();
        let machines = state["workspaces"][&workspace.guid]["instances"].as_object().unwrap();
        assert_eq!(machines.len(), 2);
        assert!(machines.values().all(|machine| machine["image"] == *image.id), "{machines:?}");
        cluster.destroy(&journal).await.unwrap();
        assert_eq!(user.scene.inventory(), before);
    }
    let section = json!({"serviceInstanceGUID": workspace.guid, "image": {"existing": "nowhere"}});
    let told = user.cluster(section, 1, 0).complaints().await;
    assert!(told.contains("mine has no image nowhere"), "{told}");
}

#[tokio::test]
async fn an_image_comes_from_a_private_bucket_with_its_key_and_without_it_is_told() {
    let user = User::new(&[]).await;
    let client = &user.client;
    let made = client.create_resource_instance(ServiceId::OBJECT_STORAGE, "mine", "global", &user.group, &[]).await;
    let storage = made.unwrap();
    User::until(|| async { client.resource_instance(&storage.guid).await.unwrap().unwrap().state == "active" }).await;
    client.ensure_bucket(Bucket { name: "my-images", instance: &storage }).await.unwrap();
    client.put_object("my-images", "own.ova", "an image".into()).await.unwrap();
    client.create_hmac_key(&storage, "reader").await.unwrap().unwrap();
    let keys = user.scene.state()["resource_keys"].clone();
    let reader = keys.as_object().unwrap().values().find(|key| key["name"] == "reader").unwrap().clone();
    let text = |field: &str| reader[field].as_str().unwrap().to_owned();

    let image = json!({"object": {"bucket": "my-images", "object": "own.ova", "region": "us-south"}});
    let mut cluster = user.cluster(json!({ "image": image }), 1, 0);
    let told = cluster.complaints().await;
    assert!(told.contains("no HMAC key for the private bucket my-images"), "{told}");
    let key = |secret: String| aws::Credentials {
        key_id: text("access_key"),
        secret_key: secret.into(),
        session_token: None,
    };
    cluster.hmac = Some(key("wrong".to_owned()));
    let (_home, journal) = cluster.journal();
    let error = landfall_platform::error_chain(&cluster.apply(&journal).await.unwrap_err());
    assert!(error.contains("access to bucket my-images was denied"), "{error}");
    cluster.destroy(&journal).await.unwrap();
    cluster.hmac = Some(key(text("secret_key")));
    let made = comes_and_goes(&cluster).await;
    assert_eq!(count(&made, r#"image "demo-x7k2p-image""#), 1, "{made:#?}");
}

/// A server that failed has lost its name. In a workspace of the user's the journal tells whose it is: it has the id, or says that a server
/// was asked for whose machine has the name. Another one that failed is left alone.
#[tokio::test]
async fn a_dhcp_server_without_a_name_is_known_by_the_journal() {
    let flags = ["--quota", "dhcp=2", "--outcome", "dhcp demo failed", "--outcome", "dhcp other failed"];
    let user = User::new(&flags).await;
    let workspace = user.workspace().await;
    let other = user.dhcp_server(&workspace, "other", "192.168.99.0/24", DhcpStatus::Error).await;
    let listed = || async {
        let all = user.client.dhcp_servers(&workspace).await.unwrap();
        all.into_iter().map(|server| server.id).collect::<Vec<_>>()
    };
    let cluster = user.cluster(json!({"serviceInstanceGUID": workspace.guid}), 1, 0);
    let (_home, journal) = cluster.journal();
    // The run dies before it is told the id, or as soon as it has been.
    for fault in ["POST /power/pcloud/*/services/dhcp lost-reply", "GET /power/pcloud/*/services/dhcp/* latency=100h"] {
        user.scene.fault(fault);
        user.scene.fault("GET /power/pcloud/*/services/dhcp from=3 latency=100h");
        let has_failed = || async {
            let state = user.scene.state();
            let servers = state["workspaces"][&workspace.guid]["dhcp_servers"].as_object().unwrap().clone();
            servers.len() == 2 && servers.values().all(|server| server["status"] == "ERROR")
        };
        tokio::select! {
            result = cluster.apply(&journal) => panic!("{result:?}"),
            () = User::until(has_failed) => {}
        }
        user.scene.no_faults();
        cluster.destroy(&journal).await.unwrap();
        assert_eq!(listed().await, [other.as_str()], "{fault}");
    }
}

#[tokio::test]
async fn what_is_named_and_not_there_is_told_at_once() {
    let section = json!({
        "serviceInstanceGUID": "5a0b6f2e-93c5-4b0c-9d1f-2f6e8c1a7b01", "vpcName": "nowhere", "tgName": "none",
        "powervsResourceGroup": "gone", "defaultMachinePlatform": {"sysType": "s999"},
    });
    let cluster = Scene::new(&[]).await.cluster(config(section, 1, 0));
    let told = cluster.complaints().await;
    for part in [
        "resource group gone",
        "the workspace 5a0b6f2e",
        "no VPC nowhere",
        "no transit gateway none",
        "no systems of type s999",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

/// In a workspace that others use too, a machine of theirs may be called like those of the cluster.
#[tokio::test]
async fn a_machine_of_another_user_with_such_a_name_stays_and_is_not_listed() {
    let user = User::new(&[]).await;
    let workspace = user.workspace().await;
    let cluster = user.cluster(json!({"serviceInstanceGUID": workspace.guid}), 1, 0);
    let (_home, journal) = cluster.journal();
    cluster.apply(&journal).await.unwrap();
    let image = user.client.images(&workspace).await.unwrap().into_iter().next().unwrap();
    let (path, body) = (
        format!("pcloud/v1/cloud-instances/{}/networks", workspace.guid),
        json!({"type": "pub-vlan", "name": "theirs"}),
    );
    Hand::of(&cluster).send(Service::Power, Method::POST, &path, &workspace.crn, body).await;
    let networks = user.client.networks(&workspace).await.unwrap();
    let network = &networks.iter().find(|network| network.name == "theirs").unwrap().id;
    let body = json!({
        "serverName": "demo-x7k2p-database", "imageID": image.id, "networks": [{"networkID": network}], "memory": 4,
        "processors": 1, "procType": "shared", "storageType": "tier3",
    });
    let machine = user.client.create_instance(&workspace, "demo-x7k2p-database", &body).await.unwrap().unwrap();
    let listed = cluster.dry_run().await;
    assert!(!listed.contains(&"machine demo-x7k2p-database".to_owned()), "{listed:#?}");
    cluster.destroy(&journal).await.unwrap();
    assert!(user.client.instance(&workspace, &machine).await.unwrap().is_some(), "a stranger's machine was deleted");
}
