//! The whole survey, answered by a script.

use std::path::PathBuf;

use landfall_platform::{Environment, survey::SurveyError};
use landfall_testkit::{
    HttpsServer, ScriptedPrompter,
    Step::{self, Abort, Back, Enter, Type},
    ovirt_engine::{self, CLUSTER, PASSWORD, PROFILE, STORAGE},
};
use serde_json::{Value, json};
use tempfile::TempDir;

mod powervs;

type Script = Vec<(&'static str, Step)>;

const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINeH6UHsSmGfDr5YbJqTmrHIEAG+rRzm9Nt1iZcLGnbB admin@example.com";

/// A user with a home directory, and an engine.
struct World {
    home: TempDir,
    server: HttpsServer,
}

impl World {
    async fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".ssh")).unwrap();
        std::fs::write(home.path().join(".ssh/id_ed25519.pub"), format!("{KEY}\n")).unwrap();
        std::fs::write(home.path().join(".ssh/broken.pub"), "hello\n").unwrap();
        std::fs::write(home.path().join(".ssh/id_ed25519"), "private\n").unwrap();
        Self { home, server: ovirt_engine::start(std::sync::Arc::default()).await }
    }

    async fn survey(&self, partial: Value, script: Script) -> (Result<Value, SurveyError>, String) {
        let environment: Environment = [("HOME", self.home.path().as_os_str())].into_iter().collect();
        let mut prompter = ScriptedPrompter::new(script);
        let result = super::run(&mut prompter, partial, &environment).await;
        assert_eq!(prompter.remaining(), 0, "{}", prompter.transcript());
        (result, prompter.transcript().to_owned())
    }

    fn credentials(&self) -> PathBuf {
        self.home.path().join(".ovirt/ovirt-config.yaml")
    }

    fn connection(&self) -> Script {
        vec![
            ("oVirt engine", Type(self.server.address().to_string().leak())),
            ("Trust this CA", Type("Yes")),
            ("Engine user", Enter),
            ("Password", Type(PASSWORD)),
        ]
    }

    fn beginning(&self) -> Script {
        let placement = vec![
            ("oVirt cluster", Type("Default")),
            ("Storage domain", Enter),
            ("Network", Enter),
            ("Operating system", Enter),
            ("Template", Enter),
        ];
        [vec![("SSH public key", Enter), ("Platform", Enter)], self.connection(), placement].concat()
    }
}

fn end() -> Script {
    vec![
        ("Base domain", Type("example.com")),
        ("Name of the cluster", Type("demo")),
        ("Distribution", Enter),
        ("Version of Kubernetes", Enter),
        ("Write this install-config", Enter),
    ]
}

fn addresses() -> Script {
    vec![
        ("Machine network", Enter),
        ("Address of the API", Type("192.0.2.5")),
        ("Address of the ingress", Type("192.0.2.6")),
    ]
}

fn expected() -> Value {
    json!({
        "apiVersion": "v1",
        "sshKey": KEY,
        "platform": {"ovirt": {
            "ovirt_cluster_id": CLUSTER,
            "ovirt_storage_domain_id": STORAGE,
            "ovirt_network_name": "ovirtmgmt",
            "vnicProfileID": PROFILE,
            "image": {"template": "fcos"},
            "api_vips": ["192.0.2.5"],
            "ingress_vips": ["192.0.2.6"],
        }},
        "networking": {"machineNetwork": [{"cidr": "192.0.2.0/24"}]},
        "baseDomain": "example.com",
        "metadata": {"name": "demo"},
        "distribution": "kubernetes",
        "version": landfall_config::DEFAULT_KUBERNETES_VERSION,
    })
}

#[tokio::test]
async fn every_question_in_order_makes_a_valid_install_config() {
    let world = World::new().await;
    let (result, transcript) = world.survey(Value::Null, [world.beginning(), addresses(), end()].concat()).await;
    let tree = result.unwrap();
    assert_eq!(tree, expected(), "{transcript}");
    landfall_config::parse_tree(tree.clone()).unwrap();
    assert!(!tree.to_string().contains(PASSWORD) && !transcript.contains(PASSWORD));
    assert!(std::fs::read_to_string(world.credentials()).unwrap().contains(PASSWORD));
    assert!(transcript.contains("id_ed25519.pub (ssh-ed25519, admin@example.com)] | None"), "{transcript}");
    assert!(!transcript.contains("broken.pub"), "{transcript}");
    assert!(transcript.contains("? Machine network (192.0.2.0/24)"), "{transcript}");
    for line in ["cluster          demo.example.com", "API address      192.0.2.5"] {
        assert!(transcript.contains(line), "{transcript}");
    }
}

#[tokio::test]
async fn wrong_answers_are_refused_by_the_rules_of_the_config() {
    let world = World::new().await;
    let script = vec![
        ("Machine network", Type("192.0.2.7/24")),
        ("Machine network", Type("192.0.2.0/24")),
        ("Address of the API", Type("10.0.0.5")),
        ("Address of the API", Type("192.0.2.5")),
        ("Address of the ingress", Type("192.0.2.5")),
        ("Address of the ingress", Type("192.0.2.6")),
        ("Base domain", Type("exa mple")),
        ("Base domain", Type("example.com")),
        ("Name of the cluster", Type("Demo")),
        ("Name of the cluster", Type("demo")),
        ("Distribution", Enter),
        ("Version of Kubernetes", Type("1.2.3")),
        ("Version of Kubernetes", Enter),
        ("Write this install-config", Enter),
    ];
    let (result, transcript) = world.survey(Value::Null, [world.beginning(), script].concat()).await;
    assert_eq!(result.unwrap(), expected(), "{transcript}");
    for objection in [
        "# must be the address of a network",
        "# must lie in the machine network (192.0.2.0/24)",
        "# must differ from platform.ovirt.api_vips[0]",
        "# must be a Kubernetes from",
    ] {
        assert!(transcript.contains(objection), "{objection} is not in\n{transcript}");
    }
    assert_eq!(transcript.matches("\n# ").count(), 6, "{transcript}");
}

#[tokio::test]
async fn what_was_given_is_not_asked_and_is_kept() {
    let world = World::new().await;
    let partial = json!({
        "metadata": {"name": "demo"},
        "baseDomain": "example.com",
        "sshKey": KEY,
        "networking": {"machineNetwork": [{"cidr": "192.0.2.0/24"}]},
        "platform": {"ovirt": {"ovirt_cluster_id": CLUSTER, "api_vip": "192.0.2.5", "ingress_vips": ["192.0.2.6"],
            "image": {"disk": "fcos.qcow2"}}},
        "controlPlane": {"name": "master", "replicas": 1},
        "version": landfall_config::DEFAULT_KUBERNETES_VERSION,
    });
    let questions = vec![
        ("Storage domain", Enter),
        ("Network", Enter),
        ("Distribution", Enter),
        ("Write this install-config", Enter),
    ];
    let (result, transcript) = world.survey(partial, [world.connection(), questions].concat()).await;
    let tree = result.unwrap();
    assert_eq!(tree["platform"]["ovirt"]["ovirt_cluster_id"], CLUSTER, "{transcript}");
    assert_eq!(tree["platform"]["ovirt"]["image"], json!({"disk": "fcos.qcow2"}));
    assert_eq!(tree["controlPlane"]["replicas"], 1);
    landfall_config::parse_tree(tree).unwrap();
}

#[tokio::test]
async fn wrong_values_given_beforehand_are_said_before_anything_is_asked() {
    let world = World::new().await;
    for (partial, part) in [
        (json!({"metadata": {"name": "Demo"}}), "metadata.name"),
        (json!({"platform": {"vsphere": {}}}), "vsphere"),
        (json!({"metdata": {"name": "demo"}}), "metdata"),
    ] {
        let (result, _) = world.survey(partial, Vec::new()).await;
        let error = result.unwrap_err();
        assert!(matches!(&error, SurveyError::Given(_)), "{error:?}");
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[tokio::test]
async fn back_leads_from_the_addresses_into_the_platforms_questions_and_out_again() {
    let world = World::new().await;
    let script = vec![
        ("Machine network", Back),
        ("Template", Back),
        ("Operating system", Back),
        ("Network", Back),
        ("Storage domain", Back),
        ("oVirt cluster", Type("Lab")),
        ("Storage domain", Enter),
        ("Network", Enter),
        ("Operating system", Enter),
        ("Template", Enter),
        ("Machine network", Type("198.51.100.0/24")),
        ("Address of the API", Type("198.51.100.5")),
        ("Address of the ingress", Type("198.51.100.6")),
        ("Base domain", Type("example.com")),
        ("Name of the cluster", Type("demo")),
        ("Distribution", Enter),
        ("Version of Kubernetes", Enter),
        ("Write this install-config", Type("go back")),
        ("Version of Kubernetes", Enter),
        ("Write this install-config", Enter),
    ];
    let (result, transcript) = world.survey(Value::Null, [world.beginning(), script].concat()).await;
    let tree = result.unwrap();
    assert_eq!(tree["platform"]["ovirt"]["ovirt_network_name"], "lab", "{transcript}");
    assert_eq!(tree["networking"]["machineNetwork"][0]["cidr"], "198.51.100.0/24");
    assert!(transcript.contains("? Machine network\n> 198.51.100.0/24"), "no default for a network of unknown range");
}

#[tokio::test]
async fn openshift_needs_a_pull_secret_which_is_not_shown() {
    let world = World::new().await;
    let script = vec![
        ("Base domain", Type("example.com")),
        ("Name of the cluster", Type("demo")),
        ("Distribution", Type("okd")),
        ("Version", Enter),
        ("Pull secret", Type("{}")),
        ("Pull secret", Type(r#"{"auths":{"fake":{"auth":"aWQ6cGFzcw=="}}}"#)),
        ("Write this install-config", Enter),
    ];
    let (result, transcript) = world.survey(Value::Null, [world.beginning(), addresses(), script].concat()).await;
    let tree = result.unwrap();
    assert_eq!(tree["pullSecret"], r#"{"auths":{"fake":{"auth":"aWQ6cGFzcw=="}}}"#, "{transcript}");
    assert!(tree.get("version").is_none());
    assert!(!transcript.contains("aWQ6cGFzcw"), "{transcript}");
}

#[tokio::test]
async fn an_abort_anywhere_writes_nothing() {
    let world = World::new().await;
    let script = [world.beginning(), addresses(), end()].concat();
    for stop in 0..script.len() {
        let mut cut = script[..=stop].to_vec();
        cut[stop].1 = Abort;
        let (result, transcript) = world.survey(Value::Null, cut).await;
        assert!(matches!(result, Err(SurveyError::Abandoned)), "{transcript}");
        assert!(!world.credentials().parent().unwrap().exists(), "{transcript}");
    }
    let mut refused = script;
    *refused.last_mut().unwrap() = ("Write this install-config", Type("stop"));
    let (result, _) = world.survey(Value::Null, refused).await;
    assert!(matches!(result, Err(SurveyError::Abandoned)));
    assert!(!world.credentials().exists());
}

#[tokio::test]
async fn without_a_home_there_is_no_place_for_credentials() {
    let mut prompter = ScriptedPrompter::new([("Platform", Enter)]);
    let error = super::run(&mut prompter, Value::Null, &Environment::default()).await.unwrap_err();
    assert!(matches!(error, SurveyError::Credentials { .. }), "{error:?}");
    assert!(prompter.transcript().contains("no SSH public key in ~/.ssh"), "{}", prompter.transcript());
}

#[tokio::test]
async fn a_load_balancer_of_the_users_needs_no_addresses() {
    let world = World::new().await;
    let script = [world.beginning(), vec![("Machine network", Enter)], end()].concat();
    let (result, transcript) = world.survey(json!({"loadBalancer": "userManaged"}), script).await;
    let tree = result.unwrap();
    assert!(tree["platform"]["ovirt"].get("api_vips").is_none(), "{transcript}");
}
