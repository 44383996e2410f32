//! What name servers do that is not an answer.

use landfall_platform::{ErrorClass, error_chain};
use landfall_testkit::named::WEAK_KEY_NAME;
use serde_json::Value;

use crate::{
    proxy::Proxy,
    scene::{Run, Scene, ZONE},
};

/// The section, with one field changed.
fn with(scene: &Scene, field: &str, value: impl Into<Value>) -> Value {
    let mut service = scene.service();
    service["rfc2136"]["reverseZones"] = serde_json::json!([]);
    service["rfc2136"][field] = value.into();
    service
}

#[tokio::test]
async fn refusals_say_what_to_do() {
    let scene = Scene::new();
    let before = scene.inventory();
    let elsewhere = scene.parent.address().to_string();
    let home = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = home.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let cases = [
        // The server knows the key, and does not let it write.
        (
            "keyName",
            Value::from(WEAK_KEY_NAME),
            ErrorClass::Auth,
            "REFUSED; does the server let this key read and update the zone?",
        ),
        ("keyName", "stranger".into(), ErrorClass::Auth, "does not know a key of this name and algorithm (BADKEY)"),
        ("keyAlgorithm", "hmac-sha512".into(), ErrorClass::Auth, "(BADKEY)"),
        ("keyFile", file("other", "b3RoZXIgc2VjcmV0").into(), ErrorClass::Auth, "its secret is another one (BADSIG)"),
        (
            "keyFile",
            file("text", "not base64!").into(),
            ErrorClass::Auth,
            "does not hold TSIG secret: it is not base64",
        ),
        ("keyFile", file("empty", "\n").into(), ErrorClass::Auth, "it is empty"),
        ("keyFile", "/nowhere/key".into(), ErrorClass::Auth, "cannot read /nowhere/key, which holds the TSIG secret"),
        // A server that has the zone above and leads to ours.
        ("server", elsewhere.into(), ErrorClass::NotFound, "NOTAUTH; is it the primary name server of the zone?"),
    ];
    for (field, value, class, text) in cases {
        let cluster = scene.cluster_of("demo", "demo-x7k2p", &with(&scene, field, value.clone()));
        let refused = cluster.refusal().await;
        let message = error_chain(&refused);
        assert!(message.contains(text), "{field}={value}: {message}");
        assert_eq!(refused.class(), class, "{field}={value}: {message}");
        assert!(!message.contains("b3RoZXIgc2VjcmV0") && !message.contains("not base64!"), "{message}");
    }
    assert_eq!(scene.inventory(), before);
}

#[tokio::test]
async fn lost_replies_are_harmless() {
    let scene = Scene::new();
    let empty = scene.inventory();
    let direct = scene.cluster_of("demo", "demo-x7k2p", &with(&scene, "zone", ZONE));
    direct.apply(&Run::new()).await.unwrap();
    let made = scene.inventory();
    direct.destroy(&Run::new()).await.unwrap();
    assert_eq!(scene.inventory(), empty);

    // The update is carried out, and nobody hears of it: of both makings and both removals.
    let proxy = Proxy::start(scene.server.address(), 2, 3).await;
    let cluster = scene.cluster_of("demo", "demo-x7k2p", &with(&scene, "server", proxy.address.to_string()));
    let run = Run::new();
    cluster.apply(&run).await.unwrap();
    assert_eq!(scene.inventory(), made);
    let proxy = Proxy::start(scene.server.address(), 2, 3).await;
    let cluster = scene.cluster_of("demo", "demo-x7k2p", &with(&scene, "server", proxy.address.to_string()));
    cluster.destroy(&Run::new()).await.unwrap();
    assert_eq!(scene.inventory(), empty);
}

/// Answers that do not fit into a packet are asked for again by connection.
#[tokio::test]
async fn truncated_answers_are_read_in_full() {
    let text = format!("\"{}\"", "x".repeat(250));
    let place = "_landfall.api.demo";
    let many: Vec<String> = (0..20).map(|number| format!("{place} TXT {text} \"{number}\"")).collect();
    let scene = Scene::with(&many.join("\n"), "max-udp-size 512; minimal-responses yes;");
    let (cluster, run) = (scene.cluster("demo", "demo-x7k2p"), Run::new());
    let message = cluster.refusal_text().await;
    // There are texts where the mark should be; all of them are seen, and stay.
    assert!((0..20).all(|number| message.contains(&format!("x{number}\""))), "{message}");
    cluster.destroy(&run).await.unwrap();
    let texts = scene.inventory().iter().filter(|line| line.starts_with(place)).count();
    assert_eq!(texts, 20);
}

#[tokio::test]
async fn a_zone_that_cannot_be_served_and_a_server_that_is_down_are_tried_again() {
    let scene = Scene::with("broken broken broken\n", "");
    assert!(scene.server.dig(&[ZONE, "SOA"]).contains("SERVFAIL"));
    let refused = async |cluster: &crate::scene::Cluster| {
        let limit = std::time::Duration::from_secs(3);
        tokio::time::timeout(limit, cluster.apply(&Run::new())).await
    };
    let cluster = scene.cluster("demo", "demo-x7k2p");
    assert!(refused(&cluster).await.is_err(), "it is tried until there is no more time");
    let nobody = with(&scene, "server", "127.0.0.4:9");
    assert!(refused(&scene.cluster_of("demo", "demo-x7k2p", &nobody)).await.is_err());
}
