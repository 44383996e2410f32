//! What the API server refuses, because the definitions say so.

use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use crate::{cluster::Cluster, worlds::Ovirt};

#[tokio::test(flavor = "multi_thread")]
async fn what_could_never_be_made_is_refused_when_it_is_written() {
    let cluster = Cluster::<Ovirt>::new().await;
    let name = cluster.set("worker", 0).await;
    let spec = "spec/template/spec/providerSpec/value";
    for (pointer, value, message) in [
        (format!("{spec}/instance_type_id"), json!("x"), "give either instance_type_id, or cpu and memory_mb"),
        (format!("{spec}/guaranteed_memory_mb"), json!(4096), "guaranteed_memory_mb is more than memory_mb"),
        (format!("{spec}/storage_domain_id"), json!("x"), "storage_domain_id needs clone"),
        (format!("{spec}/type"), json!("tiny"), "Unsupported value: \"tiny\""),
        (format!("{spec}/os_disk/size_gb"), json!(0), "should be greater than or equal to 1"),
        (format!("{spec}/credentialsSecret"), Value::Null, "credentialsSecret: Required value"),
        ("spec/replicas".to_owned(), json!(-1), "should be greater than or equal to 0"),
        ("spec/deletePolicy".to_owned(), json!("Youngest"), "Unsupported value: \"Youngest\""),
        ("spec/selector/matchLabels/other".to_owned(), json!("x"), "the selector stays as it is"),
        ("spec/template/metadata/labels".to_owned(), json!(null), "the template's labels do not match the selector"),
    ] {
        let change = pointer.rsplit('/').fold(value, |inner, key| json!({ key: inner }));
        let refused = cluster.sets().patch(&name, &PatchParams::default(), &Patch::Merge(&change)).await.unwrap_err();
        assert!(refused.to_string().contains(message), "{pointer}: {refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_id_stays_and_an_empty_selector_is_refused() {
    let cluster = Cluster::<Ovirt>::new().await;
    let name = cluster.machine("one", "worker", |machine| machine["spec"]["providerID"] = json!("ovirt://1")).await;
    let change = |id: Value| json!({ "spec": { "providerID": id } });
    for id in [json!("ovirt://2"), Value::Null] {
        let patched = cluster.machines().patch(&name, &PatchParams::default(), &Patch::Merge(change(id))).await;
        assert!(patched.unwrap_err().to_string().contains("providerID stays as it is"));
    }
    let set = json!({
        "apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet", "metadata": { "name": "all" },
        "spec": { "selector": {}, "template": { "spec": { "providerSpec": { "value": Value::Null } } } },
    });
    let path = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(path.path(), set.to_string()).unwrap();
    let kubeconfig = cluster.control_plane.lock().unwrap().kubeconfig();
    let output = std::process::Command::new("kubectl")
        .arg("--kubeconfig")
        .arg(kubeconfig)
        .args(["--namespace", &cluster.namespace, "create", "-f"])
        .arg(path.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && text.contains("an empty selector would take every machine"), "{text}");
}
