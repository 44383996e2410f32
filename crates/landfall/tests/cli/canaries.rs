//! No secret of an install directory gets into an archive, not even if the log holds everything that is in the directory.

use std::{
    collections::BTreeSet,
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::read::GzDecoder;
use serde_json::{Value, json};

use crate::{
    context::{EXAMPLE, TestContext},
    openshift::installer,
};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
const OPENSHIFT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/tests/fixtures/openshift");
/// What must still be readable: a log without anything is no help.
const HARMLESS: &str = "the kubelet of node master-0 is not ready since 12:00";

/// A secret that is planted somewhere.
fn canary(place: &str) -> String {
    format!("canary+{place}/Zx9")
}

/// A directory with everything that a run writes.
fn rendered(config: &str, arguments: &[&str]) -> TestContext {
    let context = TestContext::empty();
    fs::create_dir(context.home().join(".ovirt")).unwrap();
    let credentials = format!(
        "ovirt_url: https://127.0.0.1:9/ovirt-engine/api\novirt_username: admin\novirt_password: {}\n",
        canary("ovirt")
    );
    fs::write(context.home().join(".ovirt/ovirt-config.yaml"), credentials).unwrap();
    context.write("install-config.yaml", config);
    context.ok(&[&["create", "ignition-configs"], arguments].concat());
    context
}

/// Puts secrets where users and runs put them. Returns them.
fn plant(context: &TestContext) -> BTreeSet<String> {
    let mut planted = BTreeSet::from([canary("ovirt")]);
    let mut plant = |place: &str| {
        planted.insert(canary(place));
        canary(place)
    };
    let config = format!(
        "{}\nproxy:\n  httpProxy: http://eve:{}@proxy.example.com:3128\npullSecret: '{}'\n",
        context.read("install-config.yaml").replace("pullSecret:", "formerPullSecret:"),
        url_form(&plant("proxy")),
        json!({ "auths": { "registry.example.com": { "auth": STANDARD.encode(format!("eve:{}", plant("registry"))) } } }),
    );
    let config = format!(
        "{config}dns:\n  rfc2136:\n    server: ns\n    keyName: k\n    keyFile: tsig.key\n  cloudflare:\n    tokenFile: {}\n",
        context.home().join("cloudflare").display()
    );
    // The examples have DNS of their own.
    context.write("install-config.yaml", config.replacen("\ndns:\n  cis: {}\n", "\n", 1));
    context.write("tsig.key", plant("tsig") + "\n");
    fs::write(context.home().join("cloudflare"), plant("cloudflare")).unwrap();
    fs::create_dir(context.home().join(".aws")).unwrap();
    let aws = format!("[default]\naws_access_key_id = AKIA\naws_secret_access_key = {}\n", plant("route53"));
    fs::write(context.home().join(".aws/credentials"), aws).unwrap();
    for (file, place) in [(".powervm/config.yaml", "powervm"), (".packet/packet-config.yaml", "packet")] {
        let path = context.home().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(
            path,
            format!("a: {{password: '{}', auth_token: '{}'}}\n", plant(place), plant(&format!("{place}-token"))),
        )
        .unwrap();
    }
    let powervs = json!({ "apikey": plant("powervs") }).to_string();
    fs::create_dir_all(context.home().join(".powervs")).unwrap();
    fs::write(context.home().join(".powervs/config.json"), powervs).unwrap();
    let key = |text: &str| format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n");
    let host = |place: &str, plant: &mut dyn FnMut(&str) -> String| {
        json!({ "token": plant(place), "authority": "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
            "authority_key": key(&plant(&format!("{place}-key"))) })
        .to_string()
    };
    context.write(".landfall/asset-host.json", host("asset-host", &mut plant));

    // Copies of what was handed out, and a cluster of the past.
    let frozen = context.path(".landfall/frozen");
    fs::create_dir_all(frozen.join("manifests")).unwrap();
    let ignition = json!({ "ignition": { "version": "3.3.0", "config": { "merge": [{
        "source": "https://127.66.0.5:22623/config/worker",
        "httpHeaders": [{ "name": "Authorization", "value": format!("Bearer {}", plant("frozen-pointer")) }] }] } },
        "storage": { "files": [{ "path": "/etc/kubernetes/pki/ca.key", "contents": {
            "source": format!("data:;base64,{}", STANDARD.encode(key(&plant("frozen-key")))) } }] } });
    fs::write(frozen.join("bootstrap.ign"), ignition.to_string()).unwrap();
    let secret = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "s" },
        "data": { "user": STANDARD.encode("admin"), "other": STANDARD.encode(plant("frozen-secret")) } });
    fs::write(frozen.join("manifests/99.yaml"), secret.to_string()).unwrap();
    let past = context.path(".landfall/past/old-abcde");
    fs::create_dir_all(past.join("secrets")).unwrap();
    fs::write(past.join("secrets/tokens.json"), json!({ "machine": { "worker": plant("past-token") } }).to_string())
        .unwrap();
    fs::write(past.join("secrets/ca.key"), key(&plant("past-key"))).unwrap();
    fs::write(past.join("asset-host.json"), host("past-host", &mut plant)).unwrap();
    planted
}

fn url_form(text: &str) -> String {
    text.replace('+', "%2B").replace('/', "%2F")
}

/// Secrets that the run made itself: lines of private keys, and tokens.
fn generated(directory: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        if path.to_string_lossy().contains("openshift") {
            continue;
        }
        match serde_json::from_str::<Value>(&text) {
            Ok(value) => texts(&value, found),
            // Certificates are beside the keys.
            Err(_) if path.extension().is_none_or(|extension| extension != "key") => {}
            Err(_) => found.extend(text.lines().filter(|line| !line.starts_with('-')).map(str::to_owned)),
        }
    }
}

fn texts(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().filter(|(name, _)| *name != "clusterId").for_each(|(_, value)| texts(value, found));
        }
        Value::String(text) => drop(found.insert(text.clone())),
        _ => {}
    }
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

fn all_texts(archive: &Path) -> String {
    let mut archive = tar::Archive::new(GzDecoder::new(fs::File::open(archive).unwrap()));
    let mut all = String::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        all.push_str(&entry.path().unwrap().display().to_string());
        entry.read_to_string(&mut all).unwrap();
    }
    all
}

fn no_secret_is_collected(context: &TestContext, platform: &str) {
    let mut secrets = plant(context);
    if context.path(".landfall/secrets").is_dir() {
        generated(&context.path(".landfall/secrets"), &mut secrets);
    }
    let mut sources = Vec::new();
    files(&context.dir(), &mut sources);
    files(&context.home(), &mut sources);
    let mut log = context.read(".landfall/landfall.log");
    for path in sources.iter().filter(|path| !path.ends_with("landfall.log")) {
        log.push_str(&String::from_utf8_lossy(&fs::read(path).unwrap()));
    }
    for secret in &secrets {
        // As programs show them: alone, in JSON, in base64 at any place, in a URL.
        log.extend(["2026-11-15 ", secret.as_str(), " ", &json!({ "a": secret }).to_string(), "\n"]);
        for before in ["", "a", "ab"] {
            log.extend([STANDARD.encode(format!("{before}{secret} and more")), "\n".to_owned()]);
        }
        let escaped = url_form(secret);
        log.extend(["http://eve:", &escaped, "@proxy.example.com/ ?token=", &escaped, "\n"]);
    }
    log += HARMLESS;
    log.push('\n');
    context.write(".landfall/landfall.log", log);

    let run = context.ok(&["gather", "bootstrap", "--platform", platform]);
    let collected = all_texts(Path::new(run.stdout.trim()));
    for secret in &secrets {
        let encoded: Vec<String> = ["", "a", "ab"]
            .iter()
            .map(|before| {
                let text = STANDARD.encode(format!("{before}{secret} and more"));
                text[4..4 + (secret.len() - 4) / 3 * 4].to_owned()
            })
            .collect();
        for form in [secret.clone(), url_form(secret)].iter().chain(&encoded) {
            assert!(!collected.contains(form.as_str()), "{platform}: the archive holds {secret} as {form}");
        }
    }
    assert!(!collected.contains("canary") && !collected.contains("PRIVATE KEY"), "{platform}");
    assert!(collected.contains(HARMLESS) && collected.contains(&context.infra_id()), "{platform}: too much is gone");
}

#[test]
fn no_secret_of_an_ovirt_cluster_is_collected() {
    no_secret_is_collected(&rendered(EXAMPLE, &[]), "ovirt");
}

#[test]
fn no_secret_of_a_packet_cluster_is_collected() {
    let config = fs::read_to_string(format!("{EXAMPLES}/packet/install-config.yaml")).unwrap();
    no_secret_is_collected(&rendered(&config, &[]), "packet");
}

#[test]
fn no_secret_of_a_powervm_cluster_is_collected() {
    let config = fs::read_to_string(format!("{EXAMPLES}/powervm/install-config.yaml")).unwrap();
    no_secret_is_collected(&rendered(&config, &[]), "powervm");
}

#[test]
fn no_secret_of_a_powervs_cluster_is_collected() {
    let config = fs::read_to_string(format!("{EXAMPLES}/powervs/install-config.yaml")).unwrap();
    no_secret_is_collected(&rendered(&config, &[]), "powervs");
}

#[test]
fn no_secret_of_an_openshift_cluster_is_collected() {
    let config = fs::read_to_string(format!("{OPENSHIFT}/install-config.yaml")).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let program = installer(directory.path());
    let context = rendered(&config, &[&format!("--openshift-install={}", program.display())]);
    no_secret_is_collected(&context, "ovirt");
}
