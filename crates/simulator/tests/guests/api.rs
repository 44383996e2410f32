//! The API of a cluster, to those who may use it and to others.

use serde_json::{Value, json};

use crate::client::Client;
use crate::cluster::Assets;
use crate::network::Network;
use crate::rig::{Rig, until};

async fn bootstrap(network: &Network) -> (Rig, Assets) {
    let assets = Assets::render(network);
    let mut rig = Rig::new(network);
    rig.start("bootstrap", &assets.bootstrap());
    rig.until_printed("bootstrap", "landfall-node bootstrap: applied").await;
    let admin = Client::admin(&assets);
    until("the API", async || admin.get("/readyz").await.map(drop)).await;
    (rig, assets)
}

#[tokio::test]
async fn everybody_gets_what_is_theirs() {
    let network = Network::claim();
    let (_rig, assets) = bootstrap(&network).await;
    let other = Assets::render(&network);
    let token = assets.secrets.bootstrap_token(landfall_config::Role::Worker).expose();
    let secrets = "/api/v1/namespaces/kube-system/secrets";
    let info = "/api/v1/namespaces/kube-public/configmaps/cluster-info";
    let nobody = Client::anonymous(&assets, None);
    let joiner = Client::anonymous(&assets, Some(token));
    let liar = Client::anonymous(&assets, Some("abcdef.0123456789abcdef"));
    let stranger = Client::stranger(&assets, &other);
    let admin = Client::admin(&assets);
    for (who, client, path, status) in [
        ("nobody", &nobody, "/readyz", 200),
        ("nobody", &nobody, info, 200),
        ("nobody", &nobody, "/api/v1/nodes", 403),
        ("nobody", &nobody, "/apis", 403),
        ("joiner", &joiner, "/apis", 200),
        ("joiner", &joiner, secrets, 403),
        ("joiner", &joiner, "/api/v1/namespaces/kube-system/secrets/kubeadm-certs", 200),
        ("liar", &liar, "/api/v1/nodes", 401),
        ("stranger", &stranger, "/api/v1/nodes", 401),
        ("stranger", &stranger, "/readyz", 401),
        ("admin", &admin, secrets, 200),
        ("admin", &admin, "/api/v1/namespaces/kube-system/secrets/none", 404),
        ("admin", &admin, "/api/v1/things", 404),
    ] {
        let (found, answer) = client.get(path).await.unwrap();
        assert_eq!(found, status, "{who} {path}: {answer}");
        if status >= 400 {
            assert_eq!((&answer["kind"], &answer["code"]), (&"Status".into(), &status.into()), "{answer}");
        }
    }

    // A token ends with its Secret, and an administrator with the binding that kubeadm made.
    let (id, _) = token.split_once('.').unwrap();
    admin.send("DELETE", &format!("{secrets}/bootstrap-token-{id}"), &Value::Null).await.unwrap();
    assert_eq!(joiner.get(info).await.unwrap().0, 401);
    let binding = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/kubeadm:cluster-admins";
    assert_eq!(admin.send("DELETE", binding, &Value::Null).await.unwrap().0, 200);
    assert_eq!(admin.get(secrets).await.unwrap().0, 403);
}

#[tokio::test]
async fn objects_are_made_changed_and_removed() {
    let network = Network::claim();
    let (_rig, assets) = bootstrap(&network).await;
    let admin = Client::admin(&assets);
    let machines = "/apis/machine.openshift.io/v1beta1/namespaces/landfall-system/machines";
    let one = format!("{machines}/one");
    let machine = json!({
        "apiVersion": "machine.openshift.io/v1beta1",
        "kind": "Machine",
        "metadata": { "name": "one", "labels": { "role": "worker" } },
        "spec": { "a": 1 },
        "status": { "phase": "Made up" },
    });
    let (status, made) = admin.send("POST", machines, &machine).await.unwrap();
    assert_eq!(status, 201, "{made}");
    assert_eq!(made.get("status"), None, "status has a path of its own");
    let (status, problem) = admin.send("POST", machines, &machine).await.unwrap();
    assert_eq!((status, &problem["reason"]), (409, &"AlreadyExists".into()));

    let (_, reported) =
        admin.send("PATCH", &format!("{one}/status"), &json!({ "status": { "phase": "Running" } })).await.unwrap();
    assert_eq!(reported["status"]["phase"], "Running");
    let (status, problem) = admin.send("PUT", &one, &made).await.unwrap();
    assert_eq!((status, &problem["reason"]), (409, &"Conflict".into()), "made from an old version");
    let mut edited = reported.clone();
    edited["spec"]["a"] = 2.into();
    edited["status"]["phase"] = "Ignored".into();
    let (_, edited) = admin.send("PUT", &one, &edited).await.unwrap();
    assert_eq!((&edited["spec"]["a"], &edited["status"]["phase"]), (&2.into(), &"Running".into()));
    assert_eq!(edited["metadata"]["generation"], 2);

    let (_, list) = admin.get(&format!("{machines}?labelSelector=role%3Dworker")).await.unwrap();
    assert_eq!((&list["kind"], list["items"].as_array().unwrap().len()), (&"MachineList".into(), 1));
    let (status, _) = admin.send("DELETE", &one, &Value::Null).await.unwrap();
    assert_eq!(status, 200);
    assert_eq!(admin.get(&one).await.unwrap().0, 404);

    for (path, object, status) in [
        (machines, json!({ "kind": "Machine" }), 400),
        (
            "/api/v1/namespaces/nowhere/secrets",
            json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "x" } }),
            404,
        ),
    ] {
        let (found, answer) = admin.send("POST", path, &object).await.unwrap();
        assert_eq!(found, status, "{answer}");
    }
}

#[tokio::test]
async fn the_api_describes_itself() {
    let network = Network::claim();
    let (_rig, assets) = bootstrap(&network).await;
    let admin = Client::admin(&assets);
    let (_, version) = admin.get("/version").await.unwrap();
    assert_eq!((&version["gitVersion"], &version["minor"]), (&"v1.36.4".into(), &"36".into()));
    let (_, groups) = admin.get("/apis").await.unwrap();
    let names: Vec<&str> =
        groups["groups"].as_array().unwrap().iter().map(|group| group["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"machine.openshift.io") && names.contains(&"apps"), "{names:?}");
    let (_, resources) = admin.get("/apis/machine.openshift.io/v1beta1").await.unwrap();
    let kinds: Vec<&str> =
        resources["resources"].as_array().unwrap().iter().map(|resource| resource["name"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"machines") && kinds.contains(&"machinesets/status"), "{kinds:?}");
    assert_eq!(admin.get("/apis/other.example.com/v1").await.unwrap().0, 404);
}
