//! Machines with something wrong in their config do not come up, and say why.

use landfall_simulator::core::guest::{UserData, UserDataFormat};

use crate::client::Client;
use crate::cluster::Assets;
use crate::edit::Edited;
use crate::network::Network;
use crate::rig::{Rig, until};

const EMERGENCY: &str = "entering the emergency shell";

/// A bootstrap machine with a config that lacks something, and what it says about it. Its API must not answer.
async fn fails_to_bootstrap(change: impl FnOnce(Edited) -> Edited, complaint: &str) {
    let network = Network::claim();
    let assets = Assets::render(&network);
    let mut rig = Rig::new(&network);
    rig.start("bootstrap", &change(Edited::new(&assets.bootstrap())).text());
    rig.until_printed("bootstrap", complaint).await;
    let answer = Client::admin(&assets).get("/readyz").await;
    assert!(answer.is_err(), "{answer:?}");
    assert!(rig.has_booted("bootstrap"), "the operating system itself is fine");
}

#[tokio::test]
async fn a_bootstrap_machine_needs_the_key_of_the_authority() {
    let path = "/etc/kubernetes/pki/ca.key";
    fails_to_bootstrap(
        |config| config.without_file(path),
        "landfall-node bootstrap: there is no /etc/kubernetes/pki/ca.key",
    )
    .await;
    let other = Assets::render(&Network::claim()).secrets.cluster_ca().key().to_pem();
    let complaint = "the key is not that of the CA certificate";
    fails_to_bootstrap(|config| config.with_file(path, |_| other), complaint).await;
}

#[tokio::test]
async fn a_bootstrap_machine_needs_its_configuration() {
    fails_to_bootstrap(|config| config.without_file("/etc/landfall/node.json"), "there is no /etc/landfall/node.json")
        .await;
    let path = "/etc/landfall/kubeadm.yaml";
    let renamed = |text: String| text.replace("InitConfiguration", "OtherConfiguration");
    fails_to_bootstrap(|config| config.with_file(path, renamed), "there is no InitConfiguration").await;
}

#[tokio::test]
async fn nothing_starts_that_is_not_enabled() {
    // The config server is up then, so the machine has got as far as it would.
    let listening = "landfall-node config-server: listening";
    fails_to_bootstrap(|config| config.without_unit("landfall-bootstrap.service"), listening).await;
    fails_to_bootstrap(|config| config.without_unit("kubelet.service"), "cannot connect").await;
    // Without the virtual address nobody can be reached there.
    let up = "kube-apiserver: listening";
    fails_to_bootstrap(|config| config.without_unit("landfall-vip.service"), up).await;
}

#[tokio::test]
async fn a_machine_needs_a_config_that_can_be_read() {
    let network = Network::claim();
    let assets = Assets::render(&network);
    let mut rig = Rig::new(&network);
    let old =
        Edited::new(&assets.pointer("worker", "old")).with(|config| config["ignition"]["version"] = "2.2.0".into());
    rig.start("old", &old.text());
    rig.start("cut", &assets.bootstrap()[..1000]);
    let content = "#cloud-config\nhostname: cloud\n".to_owned();
    rig.start_with("cloud", Some(UserData { format: UserDataFormat::CloudInit, content: content.clone() }));
    rig.start_with("raw", Some(UserData { format: UserDataFormat::Raw, content }));
    for (name, complaint) in [
        ("old", "the config has spec version '2.2.0'"),
        ("cut", "not JSON"),
        ("cloud", "the user data is for cloud-init"),
        ("raw", "the user data is for cloud-init"),
    ] {
        rig.until_printed(name, complaint).await;
        rig.until_printed(name, EMERGENCY).await;
        assert!(!rig.has_booted(name));
    }
    // Without any user data an operating system comes up, and is nobody.
    rig.start_with("blank", None);
    rig.until_booted("blank").await;
}

#[tokio::test]
async fn the_config_server_wants_the_right_token_and_shows_the_right_certificate() {
    let network = Network::claim();
    let assets = Assets::render(&network);
    let stranger = Assets::render(&network);
    let mut rig = Rig::new(&network);
    let worker = || Edited::new(&assets.pointer("worker", "worker"));
    let merge = |config: &mut serde_json::Value| config["ignition"]["config"]["merge"][0].take();

    let elsewhere = Edited::new(&stranger.pointer("worker", "elsewhere")).text();
    rig.start("elsewhere", &elsewhere);
    rig.until_printed("elsewhere", "cannot connect").await;
    rig.start("bootstrap", &assets.bootstrap());
    rig.until_printed("bootstrap", "landfall-node config-server: listening on").await;
    rig.until_printed("elsewhere", "TLS with").await;

    let other_token = assets.pointer("master", "x");
    let other_token = Edited::new(&other_token).with(|master| {
        // A master's token opens the masters' config only.
        let url = master["ignition"]["config"]["merge"][0]["source"].as_str().unwrap().replace("master", "worker");
        master["ignition"]["config"]["merge"][0]["source"] = url.into();
    });
    rig.start("wrong-token", &other_token.text());
    let bare = worker().with(|config| {
        let mut reference = merge(config);
        reference.as_object_mut().unwrap().remove("httpHeaders");
        config["ignition"]["config"]["merge"][0] = reference;
    });
    rig.start("no-token", &bare.text());
    let lost = worker().with(|config| {
        let mut reference = merge(config);
        reference["source"] = reference["source"].as_str().unwrap().replace("config/worker", "other").into();
        config["ignition"]["config"]["merge"][0] = reference;
    });
    rig.start("wrong-path", &lost.text());
    for (name, status) in [("wrong-token", "401"), ("no-token", "401"), ("wrong-path", "404")] {
        rig.until_printed(name, &format!("was answered with {status}")).await;
        rig.until_printed(name, EMERGENCY).await;
    }
    for name in ["elsewhere", "wrong-token", "no-token", "wrong-path"] {
        assert!(!rig.has_booted(name), "{name}");
    }
}

#[tokio::test]
async fn a_machine_joins_only_its_own_cluster_and_with_its_own_token() {
    let network = Network::claim();
    let assets = Assets::render(&network);
    let mut rig = Rig::new(&network);
    rig.start("bootstrap", &assets.bootstrap());
    rig.until_printed("bootstrap", "landfall-node bootstrap: applied").await;

    let text = |path: &str| String::from_utf8(assets.files.get(path).unwrap().contents.clone()).unwrap();
    let (worker, master) = (text("config-server/worker.ign"), text("config-server/master.ign"));
    let kubeadm = "/etc/landfall/kubeadm.yaml";
    let token = assets.secrets.bootstrap_token(landfall_config::Role::Worker).expose();
    let (id, secret) = token.split_once('.').unwrap();
    let reversed: String = secret.chars().rev().collect();
    let pin = "sha256:";
    let certificate_key = assets.secrets.certificate_key().expose().to_owned();
    let other_key = "ab".repeat(32);

    let broken = [
        ("wrong-secret", &worker, format!("{id}.{secret}"), format!("{id}.{reversed}"), "was answered with 401"),
        ("unknown-token", &worker, id.to_owned(), "zzzzzz".to_owned(), "was answered with 401"),
        ("wrong-pin", &worker, pin.to_owned(), "sha256:00".to_owned(), "has a CA that is not pinned"),
        ("wrong-certificate-key", &master, certificate_key, other_key, "the certificate key does not open"),
    ];
    for (name, config, old, new, complaint) in broken {
        rig.start(name, &Edited::new(config).with_file(kubeadm, |text| text.replace(&old, &new)).text());
        rig.until_printed(name, complaint).await;
        assert!(rig.has_booted(name), "{name}: the operating system itself is fine");
    }
    rig.start("no-join", &Edited::new(&worker).without_unit("landfall-join.service").text());
    rig.until_booted("no-join").await;
    rig.start("no-runtime", &Edited::new(&worker).without_unit("containerd.service").text());
    rig.until_printed("no-runtime", "no container runtime").await;

    // All of them had their chance by now: a machine that is all right comes after them and gets through.
    rig.start("good", &assets.pointer("worker", "good"));
    let admin = Client::admin(&assets);
    let ready = until("the good machine", async || {
        let ready = admin.ready_nodes().await?;
        if ready.contains(&"good".to_owned()) { Ok(ready) } else { Err(format!("{ready:?}")) }
    })
    .await;
    assert_eq!(ready, ["demo-x7k2p-bootstrap", "good"]);
}
