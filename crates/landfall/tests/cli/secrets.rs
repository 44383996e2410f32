//! Secrets stay in their files.

use std::fs;

use crate::context::TestContext;

/// Everything in a directory that must not be shown: lines of keys, and texts of tokens.
fn secrets(context: &TestContext) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(context.path(".landfall/secrets")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        if path.extension().is_some_and(|extension| extension == "key") {
            found.extend(text.lines().filter(|line| line.len() >= 20 && !line.starts_with('-')).map(str::to_owned));
        } else if path.extension().is_some_and(|extension| extension == "json") {
            collect(&serde_json::from_str(&text).unwrap(), &mut found);
        }
    }
    assert!(found.len() > 10, "{}", found.len());
    found
}

fn collect(value: &serde_json::Value, found: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            fields.iter().filter(|(key, _)| *key != "clusterId").for_each(|(_, value)| collect(value, found));
        }
        serde_json::Value::String(text) => found.push(text.clone()),
        _ => {}
    }
}

#[test]
fn nothing_secret_is_printed_or_logged() {
    let context = TestContext::new();
    fs::create_dir(context.home().join(".ovirt")).unwrap();
    let password = "hunter2-of-the-engine";
    let credentials =
        format!("ovirt_url: https://engine.example.com\novirt_username: admin\novirt_password: {password}\n");
    fs::write(context.home().join(".ovirt/ovirt-config.yaml"), credentials).unwrap();

    let mut shown = String::new();
    let mut run = |arguments: &[&str]| {
        let run = context.run(&[arguments, &["--log-level", "trace"]].concat());
        shown.push_str(&run.stdout);
        shown.push_str(&run.stderr);
    };
    run(&["create", "ignition-configs"]);
    run(&["create", "ignition-configs", "--output", "json"]);
    // The differences shown here are in secret files too.
    context.replace("install-config.yaml", "127.66.0.5", "127.66.0.7");
    context.write("auth/kubeconfig", context.read("auth/kubeconfig") + "# mine\n");
    run(&["create", "ignition-configs", "--color", "always"]);
    run(&["create", "manifests", "--regenerate"]);
    run(&["create", "ignition-configs"]);
    run(&["create", "ignition-configs", "--regenerate"]);
    run(&["status"]);
    run(&["status", "--output", "json"]);
    shown.push_str(&context.read(".landfall/landfall.log"));
    shown.push_str(&context.read(".landfall/stages.json"));
    shown.push_str(&context.read(".landfall/lock"));

    assert!(
        shown.contains("manifests/21-user-data-master.yaml is out of date"),
        "the secret manifest was not compared"
    );
    assert!(shown.contains("bootstrap.ign is out of date"), "the config was not compared");
    let base64_of_password = "aHVudGVyMi1vZi10aGUtZW5naW5l";
    for secret in secrets(&context).iter().map(String::as_str).chain([password, base64_of_password]) {
        assert!(!shown.contains(secret), "a secret was shown: {secret}");
    }
}

#[test]
fn the_log_tells_what_every_run_did() {
    let context = TestContext::new();
    context.ok(&["create", "manifests"]);
    context.write("install-config.yaml", "nonsense: 1\n");
    context.run(&["create", "manifests"]);
    let log = context.read(".landfall/landfall.log");
    for text in [
        "landfall 0.1.0 create manifests",
        "manifests: 13 written",
        "landfall create manifests ended with exit code 0",
        "nonsense",
        "landfall create manifests ended with exit code 3",
    ] {
        assert!(log.contains(text), "{text}: {log}");
    }
    let stamped = |line: &str| line.starts_with("20") && line.contains('T') || line.starts_with(' ');
    assert!(log.lines().all(stamped), "every line has a time or belongs to one that has: {log}");
}
