//! The whole survey of an account at IBM Cloud.

use landfall_config::powervs::Service;
use landfall_platform::Environment;
use landfall_simulator::{core::Running, powervs};
use landfall_testkit::{
    ScriptedPrompter,
    Step::{self, Enter, Type},
};
use serde_json::{Value, json};
use tempfile::TempDir;

type Script = Vec<(&'static str, Step)>;

#[derive(clap::Parser)]
struct Flags {
    #[command(flatten)]
    options: powervs::Options,
}

struct World {
    home: TempDir,
    account: Running<powervs::Cloud>,
}

impl World {
    async fn new() -> Self {
        let arguments = ["powervs", "--time-scale", "5000", "--guests", "plain", "--token-lifetime", "10000h"];
        let Flags { options } = <Flags as clap::Parser>::parse_from(arguments);
        let account = powervs::start(&options).await.unwrap();
        let home = tempfile::tempdir().unwrap();
        let ready = account.ready();
        let at = |service: &Service| json!({"name": service, "url": ready["services"][service.name()]});
        let endpoints: Vec<Value> = Service::ALL.iter().map(at).collect();
        let file = json!({"apikey": ready["api_key"], "ca_bundle": account.ca_pem(), "serviceEndpoints": endpoints});
        std::fs::create_dir(home.path().join(".powervs")).unwrap();
        std::fs::write(home.path().join(".powervs/config.json"), file.to_string()).unwrap();
        Self { home, account }
    }

    /// What comes of answering the question about DNS, and those that follow from it.
    async fn with_dns(&self, dns: Script) -> (Value, String) {
        let environment: Environment = [("HOME", self.home.path().as_os_str())].into_iter().collect();
        let place = vec![
            ("Platform", Type("IBM Power")),
            ("Zone", Type("dal10")),
            ("Resource group", Enter),
            ("Image", Enter),
            ("Object of the public bucket", Type("rhcos-9.6-ppc64le-powervs.ova.gz")),
            ("Number of masters", Enter),
            ("Number of workers", Enter),
            ("System type", Enter),
            ("Processors", Enter),
            ("Number of processors", Enter),
            ("Memory in GiB", Enter),
            ("Storage tier", Enter),
            ("Threads per processor", Enter),
            ("Workers", Enter),
            ("Machine network", Enter),
            ("Base domain", Type("example.com")),
            ("Name of the cluster", Type("demo")),
        ];
        let end = vec![("Distribution", Enter), ("Version of Kubernetes", Enter), ("Write this install-config", Enter)];
        let mut prompter = ScriptedPrompter::new([place, dns, end].concat());
        let tree = super::super::run(&mut prompter, Value::Null, &environment).await.unwrap();
        assert_eq!(prompter.remaining(), 0, "{}", prompter.transcript());
        (tree, prompter.transcript().to_owned())
    }
}

/// The names of load balancers are made during the installation, by whomever the user says.
#[tokio::test]
async fn where_records_are_made_is_asked() {
    let world = World::new().await;
    let (tree, transcript) = world.with_dns(vec![("DNS records", Enter)]).await;
    assert_eq!(tree["dns"], json!({"cis": {}}), "{transcript}");
    assert!(transcript.contains("[IBM Cloud Internet Services (landfall-cis)] | Amazon Route 53"), "{transcript}");
    assert!(!transcript.contains("DNS Services"), "private zones are of no use to everybody: {transcript}");
    landfall_config::parse_tree(tree).unwrap();

    let elsewhere = vec![
        ("DNS records", Type("RFC 2136")),
        ("Primary name server", Type("ns1.example.com")),
        ("Name of the TSIG key", Type("landfall")),
        ("File with the TSIG secret", Type("tsig.key")),
    ];
    let (tree, transcript) = world.with_dns(elsewhere).await;
    let server = json!({"server": "ns1.example.com", "keyName": "landfall", "keyFile": "tsig.key"});
    assert_eq!(tree["dns"], json!({"rfc2136": server}), "{transcript}");
    let key = world.account.ready()["api_key"].as_str().unwrap().to_owned();
    assert!(!tree.to_string().contains(&key) && !transcript.contains(&key));
}
