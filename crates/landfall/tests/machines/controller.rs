//! `landfall machines controller`: asked to end, and killed.

use std::{
    fs::{self, File},
    process::{Child, Command, Stdio},
};

use landfall_testkit::ports::free_port;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::place::{INFRA_ID, Place, SET, eventually};

/// A program that runs beside the test, and ends with it.
struct Process {
    child: Child,
    log: std::path::PathBuf,
}

impl Process {
    fn start(place: &Place, name: &str, mut command: Command) -> Self {
        let log = place.file(&format!("{name}.log"));
        let stdout = File::create(place.file(&format!("{name}.out"))).unwrap();
        let child = command.stdout(stdout).stderr(File::create(&log).unwrap()).stdin(Stdio::null()).spawn().unwrap();
        Self { child, log }
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).unwrap();
        kill_process(pid, signal).unwrap();
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Waits until it has ended; returns its code.
    fn ended(&mut self) -> Option<i32> {
        eventually("the program ends", || {
            self.child.try_wait().unwrap().ok_or_else(|| fs::read_to_string(&self.log).unwrap())
        })
        .code()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ended = self.child.kill().and_then(|()| self.child.wait().map(drop));
    }
}

/// A simulated engine, as a program of its own.
struct Engine {
    _process: Process,
    ready: Value,
}

impl Engine {
    fn start(place: &Place) -> Self {
        let mut command = place.command(&["sim", "ovirt", "--time-scale", "2000", "--guests", "plain"]);
        command.arg("--credentials").arg(place.file("ovirt.yaml"));
        let process = Process::start(place, "engine", command);
        let ready = eventually("the simulator is ready", || {
            let line = fs::read_to_string(place.file("engine.out")).unwrap();
            serde_json::from_str(&line).map_err(|_| process.log())
        });
        let engine = Self { _process: process, ready };
        engine.call("POST", "tags", &json!({ "name": INFRA_ID }));
        engine
    }

    fn text(&self, name: &str) -> String {
        self.ready[name].as_str().unwrap_or_else(|| panic!("{name} in {}", self.ready)).to_owned()
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let login = format!("{}:{}", self.text("user"), self.text("password"));
        let url = format!("{}/{path}", self.text("url"));
        let mut command = Command::new("curl");
        command.args(["--silent", "--fail", "--cacert", &self.text("ca_file"), "--user", &login, "--request", method]);
        command.args(["--header", "Content-Type: application/json", "--header", "Accept: application/json"]);
        if !body.is_null() {
            command.args(["--data", &body.to_string()]);
        }
        let output = command.arg(&url).output().unwrap();
        assert!(output.status.success(), "{method} {url}: {output:?}");
        serde_json::from_slice(&output.stdout).unwrap_or_default()
    }

    fn instances(&self) -> Vec<String> {
        let found = self.call("GET", "vms", &Value::Null);
        let names =
            found["vm"].as_array().into_iter().flatten().filter_map(|vm| vm["name"].as_str().map(str::to_owned));
        let mut names: Vec<_> = names.filter(|name| name.starts_with(INFRA_ID)).collect();
        names.sort();
        names
    }

    fn secret(&self, place: &Place) {
        let ca = fs::read_to_string(self.text("ca_file")).unwrap();
        let secret = |name: &str, data: Value| {
            place.apply(&json!({ "apiVersion": "v1", "kind": "Secret", "stringData": data,
                "metadata": { "name": name, "namespace": "landfall-system" } }));
        };
        secret(
            "credentials",
            json!({ "ovirt_url": self.text("url"), "ovirt_username": self.text("user"),
                "ovirt_password": self.text("password"), "ovirt_ca_bundle": ca }),
        );
        secret("worker-user-data", json!({ "userData": r#"{"ignition":{"version":"3.4.0"}}"# }));
    }
}

fn controller(place: &Place, name: &str, more: &[&str]) -> (Process, u16) {
    let port = free_port();
    let mut command = place.command(&["--output", "json", "machines", "controller", "--infra-id", INFRA_ID]);
    command.args(["--sync-interval", "1", "--identity", name, "--listen", &format!("127.0.0.1:{port}")]).args(more);
    command.arg("--kubeconfig").arg(place.control_plane.kubeconfig());
    (Process::start(place, name, command), port)
}

/// Waits until there are so many machines, each with its instance, and no other instance.
fn settled(place: &Place, engine: &Engine, number: usize) {
    eventually(&format!("there are {number} machines"), || {
        let list = place.kubectl(&["get", "machines", "--output=json"]);
        let list: Value = serde_json::from_str(&list).unwrap();
        let items = list["items"].as_array().unwrap();
        let mut names: Vec<_> = items
            .iter()
            .filter(|machine| machine["spec"]["providerID"].is_string())
            .filter(|machine| machine["metadata"]["deletionTimestamp"].is_null())
            .map(|machine| machine["metadata"]["name"].as_str().unwrap().to_owned())
            .collect();
        names.sort();
        let instances = engine.instances();
        if items.len() == number && names.len() == number && names == instances {
            Ok(())
        } else {
            Err(format!("{names:?}, instances {instances:?}"))
        }
    });
}

fn holder(place: &Place) -> String {
    place.kubectl(&[
        "get",
        "lease",
        "landfall-machine-controller",
        "--ignore-not-found",
        "--output=jsonpath={.spec.holderIdentity}",
    ])
}

#[test]
fn a_controller_that_is_stopped_or_killed_is_followed_by_another() {
    let place = Place::new();
    let engine = Engine::start(&place);
    engine.secret(&place);
    place.set(2);
    let (mut first, port) = controller(&place, "first", &[]);
    settled(&place, &engine, 2);
    let ready = Command::new("curl").args(["--silent", "--fail", &format!("http://127.0.0.1:{port}/readyz")]).output();
    assert!(ready.unwrap().status.success());
    assert_eq!(holder(&place), "first");
    // Log lines are for programs, all of them.
    let log = first.log();
    assert!(!log.is_empty() && log.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{log}");

    // Ctrl-C: it ends in order, and the next one need not wait for the lease to end.
    first.signal(Signal::INT);
    assert_eq!(first.ended(), Some(0), "{}", first.log());
    assert_eq!(holder(&place), "");
    let (mut second, _) = controller(&place, "second", &[]);
    eventually("the second leads", || if holder(&place) == "second" { Ok(()) } else { Err(second.log()) });

    // kill -9, in the middle of things.
    place.kubectl(&["scale", "machineset", SET, "--replicas=8"]);
    eventually("it has begun", || {
        let begun = engine.instances().len();
        if begun > 2 { Ok(()) } else { Err(begun.to_string()) }
    });
    second.signal(Signal::KILL);
    assert_eq!(second.ended(), None);
    let (mut third, _) = controller(&place, "third", &[]);
    settled(&place, &engine, 8);
    assert_eq!(holder(&place), "third");
    place.kubectl(&["scale", "machineset", SET, "--replicas=0"]);
    settled(&place, &engine, 0);

    // What Kubernetes sends to a pod that is to go.
    third.signal(Signal::TERM);
    assert_eq!(third.ended(), Some(0), "{}", third.log());
}

/// On OpenShift the sets are others' business.
#[test]
fn sets_are_left_alone_where_the_distribution_has_its_own_controllers() {
    let place = Place::new();
    let engine = Engine::start(&place);
    engine.secret(&place);
    place.set(2);
    let (controller, _) = controller(&place, "first", &["--only-machines"]);
    let set: Value = serde_json::from_str(&place.kubectl(&["get", "machineset", SET, "--output=json"])).unwrap();
    place.apply(&json!({
        "apiVersion": "machine.openshift.io/v1beta1", "kind": "Machine",
        "metadata": { "name": "demo-x7k2p-one", "namespace": "landfall-system" },
        "spec": set["spec"]["template"]["spec"],
    }));
    // The machine is made, and so the controller is at work; the set gets none, and no status.
    settled(&place, &engine, 1);
    let set: Value = serde_json::from_str(&place.kubectl(&["get", "machineset", SET, "--output=json"])).unwrap();
    assert!(set["status"].is_null() || set["status"]["replicas"] == 0, "{set}\n{}", controller.log());
    assert_eq!(engine.instances(), ["demo-x7k2p-one"]);
}
