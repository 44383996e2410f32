//! The survey of an account, answered by a script, with the simulator at the other end.

use std::{os::unix::fs::PermissionsExt as _, sync::Arc};

use landfall_platform::{
    Environment,
    survey::{Answer, Answers, Survey as _, SurveyError},
};
use landfall_platform_powervs::{Client, Credentials, Survey, client::ServiceId};
use landfall_testkit::{
    ScriptedSurvey,
    Step::{self, Abort, Back, Enter, Type},
    hold_survey,
};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scene::{Scene, config};

type Script = Vec<(&'static str, Step)>;

const OBJECT: &str = "rhcos-9.6-ppc64le-powervs.ova.gz";

/// A user with a home directory, whose file says where the account is, and perhaps with which key.
struct World {
    scene: Arc<Scene>,
    home: TempDir,
}

impl World {
    async fn new() -> Self {
        let this = Self { scene: Scene::new(&[]).await, home: tempfile::tempdir().unwrap() };
        this.write(&this.file());
        this
    }

    /// The file without a key.
    fn file(&self) -> Value {
        json!({"ca_bundle": self.scene.account.ca_pem(), "serviceEndpoints": self.scene.endpoints(), "zone": "dal12"})
    }

    fn write(&self, file: &Value) {
        std::fs::write(self.home.path().join("powervs.json"), file.to_string()).unwrap();
    }

    fn environment(&self) -> Environment {
        let file = self.home.path().join("powervs.json");
        [("HOME", self.home.path().as_os_str()), ("POWERVS_AUTH_FILEPATH", file.as_os_str())].into_iter().collect()
    }

    fn survey(&self) -> Survey {
        Survey::new(&self.environment()).expect("the credentials can be read")
    }

    async fn held(&self, given: &[(&'static str, &str)], script: Script) -> ScriptedSurvey {
        hold_survey(&mut self.survey(), given, script).await
    }

    fn key(&self) -> &'static str {
        self.scene.account.ready()["api_key"].as_str().unwrap().to_owned().leak()
    }

    fn client(&self) -> Client {
        Arc::clone(&self.scene).cluster(config(json!({}), 1, 0)).client()
    }
}

/// Everything is made for the cluster.
fn new_place() -> Script {
    vec![
        ("Zone", Type("dal10")),
        ("Resource group", Enter),
        ("Image", Enter),
        ("Object of the public bucket", Type(OBJECT)),
    ]
}

fn machines() -> Script {
    vec![
        ("Number of masters", Enter),
        ("Number of workers", Type("2")),
        ("System type", Type("s1022")),
        ("Processors", Enter),
        ("Number of processors", Enter),
        ("Memory in GiB", Enter),
        ("Storage tier", Enter),
        ("Threads per processor", Enter),
        ("Workers", Enter),
    ]
}

fn usual_machines() -> Value {
    json!({"sysType": "s1022", "procType": "Shared", "processors": 0.5, "memoryGiB": 32, "storageType": "tier3"})
}

#[tokio::test]
async fn an_account_with_nothing_in_it_needs_few_answers() {
    let world = World::new().await;
    let key = vec![("API key", Type(world.key()))];
    let outcome = world.held(&[], [key, new_place(), machines()].concat()).await;
    let transcript = &outcome.transcript;
    let expected = json!({
        "zone": "dal10", "powervsResourceGroup": "Default", "image": {"regional": OBJECT},
        "defaultMachinePlatform": usual_machines(),
    });
    assert_eq!(outcome.section.unwrap(), expected, "{transcript}");
    for shown in ["[dal12 (VPC region us-south)]", "Default] | landfall", "s922"] {
        assert!(transcript.contains(shown), "{shown} is not in\n{transcript}");
    }
    assert!(!transcript.contains(world.key()), "{transcript}");
    assert_eq!(outcome.machine_network.as_deref(), Some("192.168.124.0/24"));
    assert_eq!((outcome.pools.masters, outcome.pools.workers), (Some(3), Some(2)));
    assert_eq!(outcome.pools.compute, json!({}), "workers are like masters");
    // The key is in the file, with what was there before, and nobody else reads it.
    assert!(outcome.stored);
    let stored = Credentials::read(&world.environment()).unwrap();
    assert_eq!((stored.api_key.expose_secret(), stored.zone.as_deref()), (world.key(), Some("dal12")));
    let mode = world.home.path().join("powervs.json").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    // The next survey takes what is stored, and stores nothing anew.
    let outcome = world.held(&[], vec![("Zone", Abort)]).await;
    assert!(!outcome.stored && matches!(outcome.section, Err(SurveyError::Abandoned)), "{}", outcome.transcript);
    assert!(outcome.transcript.contains("powervs.json is used, for account"), "{}", outcome.transcript);
}

#[tokio::test]
async fn what_the_account_has_can_be_chosen() {
    let world = World::new().await;
    let client = world.client();
    let group = client.resource_groups().await.unwrap().remove(0).id;
    let workspace = client.create_resource_instance(ServiceId::POWER, "mine", "dal10", &group, &[]).await.unwrap();
    let elsewhere = client.create_resource_instance(ServiceId::POWER, "elsewhere", "dal12", &group, &[]).await.unwrap();
    let vpc = client.create_vpc("my-vpc", &group).await.unwrap();
    client.create_subnet("my-subnet", &vpc.id, "us-south-1", &group).await.unwrap();
    client.create_transit_gateway("my-tg", "us-south", false, &group).await.unwrap();
    for guid in [&workspace.guid, &elsewhere.guid] {
        while client.resource_instance(guid).await.unwrap().unwrap().state != "active" {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }
    let script = vec![
        ("API key", Type(world.key())),
        ("Zone", Type("dal10")),
        ("Resource group", Type("landfall")),
        ("Workspace", Type("mine")),
        ("VPC", Type("my-vpc")),
        ("Subnets of the VPC", Type("my-subnet, other")),
        ("Subnets of the VPC", Type("my-subnet")),
        ("Who reaches the cluster", Type("Those in the VPC")),
        ("Transit gateway", Type("my-tg")),
        ("Image", Type("object storage of your own")),
        ("Name of the bucket", Type("my-images")),
        ("Name of the object", Type("own.ova")),
        ("Region of the bucket", Enter),
        ("Who may read the bucket", Enter),
        ("Number of masters", Type("0")),
        ("Number of masters", Type("1")),
        ("Number of workers", Type("a few")),
        ("Number of workers", Type("4")),
        ("System type", Type("s922")),
        ("Processors", Type("Dedicated")),
        ("Number of processors", Type("0.5")),
        ("Number of processors", Type("2")),
        ("Memory in GiB", Type("much")),
        ("Memory in GiB", Type("2")),
        ("Memory in GiB", Type("64")),
        ("Storage tier", Type("tier1")),
        ("Threads per processor", Type("4")),
        ("Workers", Type("Different")),
        ("System type of workers", Type("s1022")),
        ("Processors of workers", Type("Capped")),
        ("Number of processors of workers", Type("0.3")),
        ("Number of processors of workers", Type("1.25")),
        ("Memory in GiB of workers", Type("16")),
        ("Storage tier of workers", Type("tier0")),
        ("Threads per processor (SMT) of workers", Enter),
    ];
    let outcome = world.held(&[], script).await;
    let transcript = &outcome.transcript;
    let section = outcome.section.unwrap();
    let workers = json!({
        "sysType": "s1022", "procType": "Capped", "processors": 1.25, "memoryGiB": 16, "storageType": "tier0",
    });
    assert_eq!(outcome.pools.compute, workers, "{transcript}");
    assert_eq!((outcome.pools.masters, outcome.pools.workers), (Some(1), Some(4)), "{transcript}");
    let expected = json!({
        "zone": "dal10", "powervsResourceGroup": "landfall", "serviceInstanceGUID": workspace.guid, "vpcName": "my-vpc",
        "vpcSubnets": ["my-subnet"], "publish": "internal", "tgName": "my-tg",
        "image": {"object": {"bucket": "my-images", "object": "own.ova", "region": "us-south", "access": "private"}},
        "defaultMachinePlatform": {
            "sysType": "s922", "procType": "Dedicated", "processors": 2, "memoryGiB": 64, "storageType": "tier1", "smtLevel": "4",
        },
    });
    assert_eq!(section, expected, "{transcript}");
    assert!(!transcript.contains("elsewhere"), "a workspace in another zone is not offered: {transcript}");
    for shown in [
        "the VPC has no subnet other",
        "# must be a whole number from 1 for Dedicated",
        "# must be at least 4",
        "# must be at least 1; use 3",
        "# must be a whole number, 0 or more",
        "there is no HMAC key for the bucket yet",
    ] {
        assert!(transcript.contains(shown), "{shown} is not in\n{transcript}");
    }
    let tree = json!({
        "apiVersion": "v1", "metadata": {"name": "demo"}, "baseDomain": "example.com",
        "networking": {"machineNetwork": [{"cidr": "192.168.124.0/24"}]},
        "controlPlane": {"replicas": 1},
        "compute": [{"name": "worker", "replicas": 4, "platform": {"powervs": workers}}],
        "platform": {"powervs": section}, "dns": {"dnsServices": {}},
    });
    landfall_config::parse_tree(tree).unwrap();
}

#[tokio::test]
async fn keys_that_are_refused_end_the_survey() {
    let world = World::new().await;
    let mut file = world.file();
    file["apikey"] = "stale".into();
    world.write(&file);
    let script = vec![("API key", Type("wrong")), ("API key", Type("wronger")), ("API key", Type("wrongest"))];
    let outcome = world.held(&[], script).await;
    let transcript = &outcome.transcript;
    for shown in ["powervs.json is refused", "BXNIM0415E", "(try 2 of 3)"] {
        assert!(transcript.contains(shown), "{shown} is not in\n{transcript}");
    }
    let Err(SurveyError::Platform { platform: "powervs", .. }) = outcome.section else { panic!("{transcript}") };
    assert_eq!(Credentials::read(&world.environment()).unwrap().api_key.expose_secret(), "stale");
}

#[tokio::test]
async fn services_that_do_not_answer_can_be_left_aside() {
    let world = World::new().await;
    let script = vec![
        ("API key", Type(world.key())),
        ("Zone", Back),
        ("API key", Type(world.key())),
        ("Zone", Type("dal10")),
        ("What now?", Type("Try again")),
        ("What now?", Type("by hand")),
        ("Resource group", Type("lab")),
        ("What now?", Type("by hand")),
        ("Workspace", Type("mine")),
        ("Workspace", Type("5a0b6f2e-93c5-4b0c-9d1f-2f6e8c1a7b01")),
        ("VPC", Abort),
    ];
    let client = world.client();
    let group = client.resource_groups().await.unwrap().remove(0).id;
    client.create_vpc("my-vpc", &group).await.unwrap();
    world.scene.fault("* /resource-manager/* status=500");
    world.scene.fault("* /resource-controller/* status=500");
    let outcome = world.held(&[], script).await;
    assert!(matches!(outcome.section, Err(SurveyError::Abandoned)), "{}", outcome.transcript);
    assert!(!outcome.stored);
}

#[tokio::test]
async fn what_was_given_is_not_asked_and_goes_before_the_file() {
    let world = World::new().await;
    // The file leads nowhere; the install-config that was begun does not.
    let nowhere =
        json!([{"name": "IAM", "url": "https://127.0.0.1:1/"}, {"name": "Power", "url": "https://127.0.0.1:1/"}]);
    world.write(&json!({"ca_bundle": world.scene.account.ca_pem(), "serviceEndpoints": nowhere}));
    let endpoints: &str = serde_json::to_string(&world.scene.endpoints()).unwrap().leak();
    let given = [
        ("platform.powervs.serviceEndpoints", endpoints),
        ("platform.powervs.zone", "dal10"),
        ("platform.powervs.powervsResourceGroup", "Default"),
        ("platform.powervs.image", "{\"regional\":\"x.ova.gz\"}"),
        ("platform.powervs.defaultMachinePlatform.sysType", "s922"),
        ("platform.powervs.defaultMachinePlatform.procType", "Dedicated"),
        ("platform.powervs.defaultMachinePlatform.storageType", "tier1"),
        ("platform.powervs.defaultMachinePlatform.smtLevel", "off"),
        ("controlPlane.replicas", "3"),
        ("compute.0.replicas", "0"),
    ];
    let script = vec![
        ("API key", Type(world.key())),
        ("Number of processors", Type("1.5")),
        ("Number of processors", Enter),
        ("Memory in GiB", Enter),
    ];
    let outcome = world.held(&given, script).await;
    let machines = json!({"defaultMachinePlatform": {"processors": 1, "memoryGiB": 32}});
    assert_eq!(outcome.section.unwrap(), machines, "{}", outcome.transcript);
    assert_eq!((outcome.pools.masters, outcome.pools.workers), (None, None), "{}", outcome.transcript);
}

#[tokio::test]
async fn records_are_offered_where_they_can_be_seen() {
    let world = World::new().await;
    let backends = |publish: &'static str| {
        let mut survey = world.survey();
        let mut answers = Answers::default();
        answers.give("powervs.apikey", Answer::Secret(world.key().into()));
        for (key, value) in [("platform.powervs.zone", "dal10"), ("platform.powervs.publish", publish)] {
            answers.give(key, Answer::Text(value.to_owned()));
        }
        async move {
            assert!(survey.needs_dns(&answers));
            let choices = survey.dns_backends(&answers).await;
            choices.into_iter().map(|choice| format!("{}: {}", choice.value, choice.label)).collect::<Vec<_>>()
        }
    };
    let public = "cis: IBM Cloud Internet Services (landfall-cis)";
    assert_eq!(backends("external").await, [public]);
    let private = "dnsServices: IBM Cloud DNS Services, in a private zone (landfall-dns)";
    assert_eq!(backends("internal").await, [private, public]);
}
