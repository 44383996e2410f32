//! Where machines fetch what they boot with: a bucket, a web server of the user's own, and the cluster itself afterwards.

use std::{
    fs,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use landfall_machine_api::{Subject, with_credential};
use landfall_testkit::{
    Authority, HttpsServer,
    object_store::{BUCKET, KEY_ID, ObjectStore, REGION, SECRET_KEY},
};
use landfall_wire::{Client, Limits, Request, Trust};
use serde_json::{Value, json};

use super::{Install, RUNTIME, Scene};

/// A scene whose machines trust an authority as everybody trusts public ones, and an installer that does.
struct Trusting {
    scene: Scene,
    authority: Authority,
    file: tempfile::NamedTempFile,
}

impl Trusting {
    fn new(flags: &[&str]) -> Self {
        let authority = Authority::new("everybody's");
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), authority.pem()).unwrap();
        let path = file.path().to_str().unwrap();
        let scene = Scene::new(&[["--guest-ca", path].as_slice(), flags].concat());
        Self { scene, authority, file }
    }

    fn install(&self, asset_host: &Value, change: impl Fn(&mut Value)) -> Install {
        let mut install = self.scene.install_with(&json!({"assetHost": asset_host}), 1, 1, change);
        install.variables.extend([
            ("SSL_CERT_FILE", self.file.path().display().to_string()),
            ("AWS_ACCESS_KEY_ID", KEY_ID.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", SECRET_KEY.to_owned()),
        ]);
        install
    }
}

fn bucket(store: &ObjectStore) -> Value {
    json!({"bucket": {"name": BUCKET, "endpoint": store.endpoint(), "region": REGION}})
}

#[test]
fn a_bucket_has_what_machines_fetch_and_nothing_afterwards() {
    let trusting = Trusting::new(&[]);
    let store = ObjectStore::start(&trusting.authority);
    let install = trusting.install(&bucket(&store), |_| ());
    install.ok(&["create", "cluster"]);
    assert_eq!(store.objects(), Vec::<String>::new());
    // A worker got its script by a link that expires, and its address is in no file that stays readable for others.
    let state = trusting.scene.state();
    let worker =
        state["devices"].as_array().unwrap().iter().find(|device| device["hostname"].to_string().contains("worker"));
    let link = worker.unwrap()["ipxe_script_url"].as_str().unwrap().to_owned();
    assert!(link.starts_with(&store.endpoint()) && link.contains("X-Amz-Expires=10800"), "{link}");
    install.ok(&["create", "cluster"]);
    assert_eq!(store.objects(), Vec::<String>::new(), "a second run leaves nothing either");
    install.ok(&["destroy", "cluster"]);
}

#[test]
fn what_a_failed_installation_left_in_a_bucket_goes_with_the_cluster() {
    let trusting = Trusting::new(&["--guest-fault", "bootstrap never-boots"]);
    let store = ObjectStore::start(&trusting.authority);
    let install = trusting.install(&bucket(&store), |config| config["timeouts"] = json!({"api": "3s"}));
    let run = install.run(&["create", "cluster"]);
    assert_ne!(run.code, 0, "{}", run.stderr);
    let objects = store.objects();
    assert!(objects.len() == 2 && objects[1].ends_with("/bootstrap.ign"), "{objects:?}");
    install.ok(&["destroy", "cluster"]);
    assert_eq!(store.objects(), Vec::<String>::new());
    assert_eq!(trusting.scene.left(), Vec::<String>::new());
}

/// The control plane never gets to the masters, so that the bootstrap machine stays.
#[test]
fn a_bucket_keeps_no_keys_of_a_bootstrap_machine_that_is_up() {
    let trusting = Trusting::new(&["--guest-fault", "master never-boots"]);
    let store = ObjectStore::start(&trusting.authority);
    let install = trusting.install(&bucket(&store), |config| {
        config["timeouts"] = json!({"bootstrap": "5s"});
        // Nothing but the control plane is waited for.
        config["platform"]["packet"]["endpoint"] = json!("bgp");
    });
    let stalls = || {
        let run = install.run(&["create", "cluster"]);
        assert!(run.code != 0 && run.stderr.contains("last seen: "), "{}", run.stderr);
        let objects = store.objects();
        assert!(objects.len() == 1 && objects[0].ends_with("/boot.ipxe"), "{objects:?}");
        run.stderr
    };
    assert!(stalls().contains("the bootstrap machine's user data holds no keys"));
    // A machine that restarts comes up from its disk.
    let state = trusting.scene.state();
    let devices = state["devices"].as_array().unwrap();
    let bootstrap = devices.iter().find(|device| device["hostname"].to_string().contains("bootstrap")).unwrap();
    let path = format!("devices/{}/actions", bootstrap["id"].as_str().unwrap());
    trusting.scene.call("POST", &path, &json!({"type": "reboot"}));
    let told = stalls();
    assert!(told.contains("nodes"), "the API answers again: {told}");
    install.ok(&["destroy", "cluster"]);
}

#[test]
fn a_bucket_that_refuses_keeps_machines_from_being_made() {
    let trusting = Trusting::new(&[]);
    let store = ObjectStore::start(&trusting.authority);
    let mut install = trusting.install(&bucket(&store), |_| ());
    install.variables.push(("AWS_SECRET_ACCESS_KEY", "wrong".to_owned()));
    let run = install.run(&["create", "cluster"]);
    assert!(run.code != 0 && run.stderr.contains("SignatureDoesNotMatch"), "{}", run.stderr);
    assert_eq!(trusting.scene.left(), Vec::<String>::new());
}

#[test]
fn a_web_server_is_checked_before_machines_are_made() {
    let trusting = Trusting::new(&[]);
    let root: Arc<Mutex<Option<PathBuf>>> = Arc::default();
    let shown = root.clone();
    let find = move |path: &str| fs::read(shown.lock().unwrap().as_ref()?.join(path.trim_start_matches('/'))).ok();
    let server = RUNTIME.block_on(HttpsServer::serving(&trusting.authority, find));
    let install = trusting.install(&json!({"url": format!("https://{}/", server.address())}), |_| ());
    let refused = |told: &str| {
        let run = install.run(&["create", "cluster"]);
        assert!(run.code != 0 && run.stderr.contains(told), "{told} is not in: {}", run.stderr);
        assert!(run.stderr.contains("must serve its file in"), "{}", run.stderr);
        assert_eq!(trusting.scene.left(), Vec::<String>::new());
    };
    refused("status 404");
    // Somebody serves other files than those that machines are told to expect.
    let other = tempfile::tempdir().unwrap();
    let ours = install.context.path("asset-host");
    for entry in fs::read_dir(&ours).unwrap() {
        let (from, to) = (entry.as_ref().unwrap().path(), other.path().join(entry.unwrap().file_name()));
        fs::create_dir(&to).unwrap();
        for file in fs::read_dir(from).unwrap() {
            fs::write(to.join(file.unwrap().file_name()), "something else").unwrap();
        }
    }
    *root.lock().unwrap() = Some(other.path().to_owned());
    refused("serves something else");
    *root.lock().unwrap() = Some(ours);
    let run = install.ok(&["create", "cluster"]);
    assert!(run.stderr.contains("holds secrets: take it away"), "{}", run.stderr);
    install.ok(&["destroy", "cluster"]);
}

/// Who listens on the wire sees the URL of the iPXE script. It must not open what is private, and what is private is only for the machine
/// that it is for.
#[test]
fn who_listens_on_the_wire_gets_no_secret() {
    let scene = Scene::new(&["--guest-fault", "bootstrap never-boots"]);
    let install = scene.install(&json!({}), 1, 0);
    let installation = install.start(&["create", "cluster"]);
    let bootstrap = || {
        let state = scene.state();
        let devices = state["devices"].as_array().cloned().unwrap_or_default();
        devices.into_iter().find(|device| device["hostname"].to_string().contains("bootstrap"))
    };
    scene.eventually("the bootstrap machine is made", || bootstrap().is_some());
    let device = bootstrap().unwrap();
    let seen = device["ipxe_script_url"].as_str().unwrap().to_owned();
    let pointer: Value = serde_json::from_str(device["userdata"].as_str().unwrap()).unwrap();
    let secret = pointer["ignition"]["config"]["replace"]["source"].as_str().unwrap().to_owned();
    let identity: Value = serde_json::from_str(&install.context.read(".landfall/asset-host.json")).unwrap();
    let trust = Trust::Only(identity["authority"].as_str().unwrap().to_owned());
    let fetch = |url: &str| {
        let client = Client::new(&trust, Limits::default()).unwrap();
        let reply = RUNTIME.block_on(client.send(Request::get(url.parse().unwrap()))).unwrap();
        (reply.status(), String::from_utf8_lossy(reply.contents()).into_owned())
    };
    let (status, script) = fetch(&seen);
    assert!(status == 200 && script.starts_with("#!ipxe"), "{script}");
    for scheme in ["http", "https"] {
        let guess = seen.replace("boot.ipxe", "bootstrap.ign").replace("http:", &format!("{scheme}:"));
        assert_eq!(fetch(&guess).0, 404, "{guess}");
    }
    // Not even with the URL from the user data: the platform has not assigned this address to the machine.
    let (status, answer) = fetch(&secret);
    assert!(status == 503 && answer.is_empty(), "{status}: {answer}");
    assert_eq!(fetch(&secret.replace("https:", "http:")).0, 404);
    installation.kill();
    install.ok(&["destroy", "cluster"]);
}

/// The machine controller makes machines when the installer is long gone: the masters have the script for them.
#[test]
fn a_machine_that_is_made_later_boots_with_what_the_masters_serve() {
    let scene = Scene::new(&[]);
    let install = scene.install(&json!({}), 3, 1);
    install.ok(&["create", "cluster"]);
    let sets = install.context.read("manifests/31-machineset-worker.yaml");
    let spec = sets.split("ipxeScriptURL:").nth(1).unwrap();
    let url = spec.lines().next().unwrap().trim().trim_matches('"').to_owned();
    assert_eq!(url, "http://api.demo.example.com:22625/boot.ipxe");
    let tokens: Value = serde_json::from_str(&install.context.read(".landfall/secrets/tokens.json")).unwrap();
    let credential = Subject::named("later").credential(tokens["machine"]["worker"].as_str().unwrap());
    let pointer = with_credential(install.context.read("worker.ign").as_bytes(), "worker", &credential).unwrap();
    let pointer = String::from_utf8(pointer).unwrap();
    let device = scene.call(
        "POST",
        &format!("projects/{}/devices", scene.field("project")),
        &json!({
            "hostname": "later", "plan": "c3.small.x86", "metro": "da", "operating_system": "custom_ipxe",
            "ipxe_script_url": url, "userdata": pointer,
        }),
    );
    let id = device["id"].as_str().unwrap().to_owned();
    scene.eventually("it is up", || {
        let state = scene.state();
        let own = state["devices"].as_array().unwrap().iter().find(|own| own["id"] == id.as_str()).cloned();
        own.unwrap()["guest_up"] == true
    });
}
