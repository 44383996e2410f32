//! The survey of an account, answered by a script, with the simulator at the other end.

use std::{os::unix::fs::PermissionsExt as _, sync::Arc};

use landfall_platform::{Environment, survey::SurveyError};
use landfall_platform_packet::{Credentials, Survey};
use landfall_testkit::{
    ScriptedSurvey,
    Step::{self, Abort, Back, Enter, Say, Type},
    hold_survey,
};
use landfall_wire::{Limits, Trust};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scene::Scene;

type Script = Vec<(&'static str, Step)>;

const KERNEL: &str = "https://mirror.example.com/fedora-coreos-41-live-kernel.x86_64";

/// A user with a home directory, and an account.
struct World {
    scene: Arc<Scene>,
    home: TempDir,
}

impl World {
    async fn new(flags: &[&str]) -> Self {
        let scene = Scene::new(flags).await;
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("ca.pem"), scene.account.ca_pem().unwrap()).unwrap();
        Self { scene, home }
    }

    fn environment(&self) -> Environment {
        [("HOME", self.home.path().as_os_str())].into_iter().collect()
    }

    async fn survey(&self, given: &[(&'static str, &str)], script: Script) -> ScriptedSurvey {
        let mut survey = Survey::new(&self.environment(), Limits::default()).expect("the credentials can be read");
        hold_survey(&mut survey, given, script).await
    }

    fn path(&self, name: &str) -> Step {
        Type(self.home.path().join(name).to_str().unwrap().to_owned().leak())
    }

    fn ready(&self, field: &str) -> &'static str {
        self.scene.ready(field).leak()
    }

    fn login(&self) -> Script {
        vec![
            ("Packet API", Type(self.ready("url"))),
            ("File with the API's CA", self.path("ca.pem")),
            ("API key", Type(self.ready("api_key"))),
        ]
    }
}

fn servers() -> Script {
    vec![
        ("Metro", Type("Dallas")),
        ("Further metros", Type("sv")),
        ("Plan of the masters", Enter),
        ("Further plans of the masters", Enter),
        ("Plan of the workers", Enter),
        ("Further plans of the workers", Enter),
        ("Plan of the bootstrap machine", Enter),
        ("How are the workers paid", Enter),
        ("Billing cycle", Enter),
    ]
}

fn boot() -> Script {
    vec![
        ("Operating system", Enter),
        ("URL of the live kernel", Type(KERNEL)),
        ("URL of the live initramfs", Enter),
        ("URL of the live root file system", Enter),
        ("Disk to install to", Enter),
        ("Where do machines fetch", Enter),
        ("Address of this computer", Type("installer.example.com:8448")),
    ]
}

fn network() -> Script {
    vec![("How does traffic get", Enter), ("public IPv6", Enter), ("Virtual network", Enter), ("Tags", Enter)]
}

fn section(project: &str) -> Value {
    json!({
        "project": project,
        "metros": ["da", "sv"],
        "bootstrap": {"plans": ["c3.small.x86"]},
        "billingCycle": "hourly",
        "os": {"ipxe": {
            "kernel": KERNEL,
            "initramfs": "https://mirror.example.com/fedora-coreos-41-live-initramfs.x86_64.img",
            "rootfs": "https://mirror.example.com/fedora-coreos-41-live-rootfs.x86_64.img",
            "installDisk": "/dev/sda",
        }},
        "assetHost": {"landfall": {"public": "installer.example.com:8448"}},
        "endpoint": "eip",
    })
}

#[tokio::test]
async fn the_whole_survey_chooses_from_what_the_account_has() {
    let world = World::new(&[]).await;
    let project = vec![("Project", Type("landfall"))];
    let outcome = world.survey(&[], [world.login(), project, servers(), boot(), network()].concat()).await;
    let transcript = &outcome.transcript;
    assert_eq!(outcome.section.unwrap(), section(&world.scene.project()), "{transcript}");
    assert_eq!(outcome.pools.control_plane, json!({"plans": ["c3.small.x86"]}));
    assert_eq!(outcome.pools.compute, json!({"plans": ["c3.small.x86"]}));
    for shown in [
        "as simulator@example.com",
        "? Project [landfall] | A new one, which goes with the cluster\n",
        "da Dallas (has c3.small.x86)",
        "[c3.small.x86 ($0.50 per hour, 1 × ",
        "stock normal",
        "By the list price, on demand] | Spot market (now $0.10 per hour)",
        "Flatcar Container Linux",
    ] {
        assert!(transcript.contains(shown), "{shown} is not in\n{transcript}");
    }
    let key = world.ready("api_key");
    assert!(!transcript.contains(key), "{transcript}");
    assert!(outcome.stored);
    let (stored, path) =
        (Credentials::read(&world.environment()).unwrap(), Credentials::path(&world.environment()).unwrap());
    assert_eq!((stored.api.as_str(), stored.key.expose_secret()), (world.ready("url"), key));
    assert_eq!(stored.trust, Trust::Only(world.scene.account.ca_pem().unwrap().to_owned()));
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);

    // The next survey offers what is stored, and stores nothing anew.
    let reuse = vec![("Packet API and key", Enter), ("Project", Abort)];
    let outcome = world.survey(&[], reuse).await;
    assert!(!outcome.stored && matches!(outcome.section, Err(SurveyError::Abandoned)), "{}", outcome.transcript);
}

#[tokio::test]
async fn what_is_short_is_shown_and_what_is_there_is_offered_first() {
    let flags =
        ["--capacity", "da/c3.small.x86=0", "--capacity", "da/m3.small.x86=2", "--spot-price", "da/m3.small.x86=0.31"];
    let reserved = ["--hardware-reservation", "c3.medium.x86@da", "--hardware-reservation", "c3.medium.x86@da"];
    let world = World::new(&[flags.as_slice(), &reserved].concat()).await;
    let state = world.scene.state();
    let ids: Vec<&'static str> = state["reservations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| own["id"].as_str().unwrap().to_owned().leak() as &str)
        .collect();
    let script = vec![
        ("Project", Enter),
        ("Metro", Type("Dallas")),
        ("Further metros", Type("sv, paris")),
        ("Further metros", Enter),
        ("Plan of the masters", Enter),
        ("Further plans of the masters", Type("c3.medium.x86, abacus")),
        ("Further plans of the masters", Type("c3.medium.x86, c3.small.x86")),
        ("Plan of the workers", Enter),
        ("Further plans of the workers", Enter),
        ("Plan of the bootstrap machine", Type("c3.medium.x86")),
        ("How are the masters paid", Type("Reserved")),
        ("Reserved hardware of the masters", Type("0b4c8b1e-9f3d-4c58-8d1e-1f2e3d4c5b6a")),
        ("Reserved hardware of the masters", Type(ids[1])),
        ("How are the workers paid", Type("Spot")),
        ("Most US cents", Type("many")),
        ("Most US cents", Type("35")),
        ("Billing cycle", Type("daily")),
        ("Operating system", Type("Flatcar")),
        ("Where do machines fetch", Type("bucket")),
        ("Name of the bucket", Type("Not_A_Bucket")),
        ("Name of the bucket", Type("landfall-assets")),
        ("URL of the object store", Type("http://s3.example.com")),
        ("URL of the object store", Type("https://s3.example.com")),
        ("Region of the bucket", Enter),
        ("How does traffic get", Type("BGP")),
        ("public IPv6", Say(false)),
        ("Do workers get public IPv4", Say(false)),
        ("Virtual network", Type("new")),
        ("Tags", Type("blue, team-a")),
    ];
    let outcome = world.survey(&[], [world.login(), script].concat()).await;
    let transcript = &outcome.transcript;
    assert!(transcript.contains("da Dallas (has m3.small.x86)"), "{transcript}");
    assert!(transcript.contains("# there is no other metro paris"), "{transcript}");
    assert!(transcript.contains("stock critical)]"), "the one that is there is marked: {transcript}");
    assert!(transcript.contains("stock unavailable"), "{transcript}");
    assert!(transcript.contains("Reserved hardware (2 free)"), "{transcript}");
    assert!(transcript.contains("# there is no other plan abacus here"), "{transcript}");
    assert!(transcript.contains("# there is no free reserved hardware 0b4c8b1e"), "{transcript}");
    assert!(transcript.contains("Reserved hardware of the masters (next-available)"), "{transcript}");
    assert!(transcript.contains("Spot market (now $0.31 per hour)"), "{transcript}");
    assert!(transcript.contains("# it must be a whole number of US cents"), "{transcript}");
    let section = outcome.section.unwrap();
    assert_eq!(section["bootstrap"], json!({"plans": ["c3.medium.x86"]}));
    assert_eq!((&section["os"], &section["billingCycle"]), (&json!({"slug": "flatcar_stable"}), &json!("daily")));
    assert_eq!(
        section["assetHost"],
        json!({"bucket": {"name": "landfall-assets", "endpoint": "https://s3.example.com", "region": "us-east-1"}})
    );
    assert_eq!((&section["endpoint"], &section["tags"]), (&json!("bgp"), &json!(["blue", "team-a"])));
    assert_eq!(section["virtualNetworks"], json!([{"name": "cluster"}]));
    assert_eq!(
        outcome.pools.control_plane,
        json!({"plans": ["m3.small.x86", "c3.medium.x86", "c3.small.x86"], "hardwareReservations": [ids[1]]})
    );
    assert_eq!(section["ipv6"], json!(false));
    assert_eq!(
        outcome.pools.compute,
        json!({"plans": ["m3.small.x86"], "spot": {"maxPriceCents": 35}, "publicIPv4": false})
    );
}

/// Hardware that the masters were given is not offered to the workers; the platform may choose for both.
#[tokio::test]
async fn reserved_hardware_is_chosen_from_what_is_free() {
    let reserved = ["--hardware-reservation", "c3.medium.x86@da", "--hardware-reservation", "m3.small.x86@sv"];
    let world = World::new(&reserved).await;
    let state = world.scene.state();
    let ids: Vec<String> =
        state["reservations"].as_array().unwrap().iter().map(|own| own["id"].as_str().unwrap().to_owned()).collect();
    let first: &'static str = ids[0].clone().leak();
    let script = vec![
        ("Project", Type("landfall")),
        ("Metro", Type("Dallas")),
        ("Further metros", Enter),
        ("Plan of the masters", Enter),
        ("Further plans of the masters", Enter),
        ("Plan of the workers", Enter),
        ("Further plans of the workers", Enter),
        ("Plan of the bootstrap machine", Enter),
        ("How are the masters paid", Type("Reserved")),
        ("Reserved hardware of the masters", Type(first)),
        ("How are the workers paid", Type("Reserved")),
        ("Reserved hardware of the workers", Type(first)),
        ("Reserved hardware of the workers", Enter),
        ("Billing cycle", Abort),
    ];
    let outcome = world.survey(&[], [world.login(), script].concat()).await;
    let transcript = &outcome.transcript;
    assert!(transcript.contains(&format!("# there is no free reserved hardware {first}")), "{transcript}");
    assert!(matches!(outcome.section, Err(SurveyError::Abandoned)), "{transcript}");
}

#[tokio::test]
async fn a_project_can_be_made_for_the_cluster() {
    let world = World::new(&[]).await;
    let project = vec![("Project", Type("new one"))];
    // There is one organisation, which is no question; a new project has no keys and no networks to choose from.
    let outcome = world.survey(&[], [world.login(), project, servers(), boot(), network()].concat()).await;
    let section = outcome.section.unwrap();
    let organization = world.scene.state()["organizations"][0]["id"].clone();
    assert_eq!(section["newProject"], json!({"organization": organization}), "{}", outcome.transcript);
    assert!(section.get("project").is_none());
}

#[tokio::test]
async fn keys_that_are_refused_end_the_survey_and_mistakes_can_be_mended() {
    let world = World::new(&[]).await;
    std::fs::write(world.home.path().join("wrong.pem"), landfall_testkit::Authority::new("somebody else").pem())
        .unwrap();
    let script = vec![
        ("Packet API", Type("http://127.0.0.1")),
        ("Packet API", Type(world.ready("url"))),
        ("File with the API's CA", Type("/nonexistent.pem")),
        ("File with the API's CA", world.path("wrong.pem")),
        ("File with the API's CA", world.path("ca.pem")),
        ("API key", Type("wrong")),
        ("API key", Back),
        ("File with the API's CA", Enter),
        ("API key", Type("wronger")),
        ("API key", Type("wrongest")),
    ];
    let outcome = world.survey(&[], script).await;
    let transcript = &outcome.transcript;
    assert!(transcript.contains("# only https:// keeps the key secret"), "{transcript}");
    assert!(transcript.contains("/nonexistent.pem cannot be read"), "{transcript}");
    assert!(transcript.contains("this CA does not vouch for the API"), "{transcript}");
    assert!(transcript.contains("(try 2 of 3)"), "{transcript}");
    let Err(SurveyError::Platform { platform: "packet", .. }) = outcome.section else { panic!("{transcript}") };
    assert!(!Credentials::path(&world.environment()).unwrap().exists());
}

#[tokio::test]
async fn an_api_out_of_reach_can_be_left_aside() {
    let world = World::new(&[]).await;
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let script = vec![
        ("Packet API", Type(format!("https://{closed}/metal/v1").leak())),
        ("cannot be reached", Type("Continue")),
        ("API key", Type("unchecked")),
        ("Project", Type("mine")),
        ("Project", Type("5a0b6f2e-93c5-4b0c-9d1f-2f6e8c1a7b01")),
        ("Metros", Type("Dallas")),
        ("Metros", Type("da")),
        ("Further metros", Type("sv")),
        ("Plan of the masters", Enter),
        ("Further plans of the masters", Enter),
        ("Plan of the workers", Enter),
        ("Further plans of the workers", Enter),
        ("Plan of the bootstrap machine", Enter),
        ("How are the masters paid", Enter),
        ("How are the workers paid", Enter),
        ("Billing cycle", Enter),
    ];
    let keys = vec![("SSH key for consoles", Enter)];
    let mut network = network();
    network.splice(3..3, keys);
    let outcome = world.survey(&[], [script, boot(), network].concat()).await;
    assert_eq!(outcome.section.unwrap(), section("5a0b6f2e-93c5-4b0c-9d1f-2f6e8c1a7b01"), "{}", outcome.transcript);
    assert!(outcome.transcript.contains("# must be the code of a place"), "{}", outcome.transcript);
    assert_eq!(outcome.machine_network, None);
}

#[tokio::test]
async fn what_was_given_is_not_asked() {
    let world = World::new(&[]).await;
    let given = [
        ("platform.packet.newProject", "{}"),
        ("platform.packet.facilities", "[\"da11\"]"),
        ("platform.packet.os", "{\"slug\":\"flatcar_stable\"}"),
        ("platform.packet.assetHost", "{\"url\":\"https://assets.example.com\"}"),
        ("platform.packet.virtualNetworks", "[]"),
        ("platform.packet.tags", "[]"),
        ("platform.packet.endpoint", "bgp"),
        ("platform.packet.billingCycle", "hourly"),
        ("platform.packet.ipv6", "true"),
        ("controlPlane.platform.packet.plans", "[\"c3.small.x86\"]"),
    ];
    let script = vec![
        ("Plan of the workers", Enter),
        ("Further plans of the workers", Enter),
        ("Plan of the bootstrap machine", Enter),
        ("How are the workers paid", Enter),
    ];
    let outcome = world.survey(&given, [world.login(), script].concat()).await;
    assert_eq!(outcome.pools.control_plane, json!({}), "{}", outcome.transcript);
    assert_eq!(outcome.section.unwrap().as_object().unwrap().keys().collect::<Vec<_>>(), ["bootstrap"]);
}
