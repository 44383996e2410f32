//! An API server with the definitions of machines, and the program beside it.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use landfall_machine_api::{Kind, definition, provider};
use landfall_testkit::ControlPlane;
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_landfall");
pub(crate) const INFRA_ID: &str = "demo-x7k2p";
pub(crate) const SET: &str = "demo-x7k2p-worker";
/// How long anything may take, on a machine that has other things to do.
const PATIENCE: Duration = Duration::from_mins(3);

pub(crate) struct Place {
    pub(crate) control_plane: ControlPlane,
    pub(crate) home: TempDir,
}

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        let this = Self { control_plane: ControlPlane::start(), home: tempfile::tempdir().unwrap() };
        for kind in Kind::ALL {
            this.apply(&definition(kind, provider::schema("ovirt").as_ref()));
        }
        this.kubectl(&["wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"]);
        this.kubectl(&["create", "namespace", "landfall-system"]);
        this
    }

    /// Makes a set of machines.
    pub(crate) fn set(&self, replicas: u32) {
        let labels = json!({ "machine.openshift.io/cluster-api-machineset": SET, "machine.openshift.io/cluster-api-machine-role": "worker" });
        let value = json!({
            "kind": "OvirtMachineProviderSpec",
            "userDataSecret": { "name": "worker-user-data" }, "credentialsSecret": { "name": "credentials" },
            "template_name": "fcos", "cluster_id": "7a5b0000-0000-4000-8000-0000000c1a01",
            "cpu": { "sockets": 1, "cores": 1, "threads": 1 }, "memory_mb": 1024, "guaranteed_memory_mb": 256,
            "os_disk": { "size_gb": 10 }, "type": "server", "clone": false,
        });
        self.apply(&json!({
            "apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet",
            "metadata": { "name": SET, "namespace": "landfall-system" },
            "spec": {
                "replicas": replicas,
                "selector": { "matchLabels": { "machine.openshift.io/cluster-api-machineset": SET } },
                "template": { "metadata": { "labels": labels }, "spec": { "providerSpec": { "value": value } } },
            },
        }));
    }

    pub(crate) fn apply(&self, object: &Value) {
        let file = self.home.path().join("object.json");
        fs::write(&file, object.to_string()).unwrap();
        self.kubectl(&["apply", "--filename", file.to_str().unwrap()]);
    }

    /// Runs kubectl as the administrator, in the namespace of machines.
    pub(crate) fn kubectl(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("kubectl");
        command.arg("--kubeconfig").arg(self.control_plane.kubeconfig());
        let output = command.args(["--namespace", "landfall-system"]).args(arguments).output();
        let output = output.expect("kubectl is installed by `make test`");
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "kubectl {arguments:?}: {text}");
        text
    }

    /// The program, with nothing of the one who runs the test.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        command.args(arguments).env_remove("KUBECONFIG").env_remove("RUST_LOG").stdin(Stdio::null());
        command.env("HOME", self.home.path()).current_dir(self.home.path());
        command
    }

    /// Runs the program as the administrator.
    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        let kubeconfig = self.control_plane.kubeconfig();
        self.command(arguments).arg("--kubeconfig").arg(kubeconfig).output().unwrap().into()
    }

    /// Runs the program as a user who may do nothing.
    pub(crate) fn run_as_nobody(&self, arguments: &[&str]) -> Run {
        let file = self.home.path().join("nobody.yaml");
        fs::write(&file, self.control_plane.kubeconfig_for("nobody", None)).unwrap();
        self.command(arguments).arg("--kubeconfig").arg(file).output().unwrap().into()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        Self { code: output.status.code().unwrap_or(-1), stdout, stderr }
    }
}

/// Waits until something has come about; an error says what is seen instead.
pub(crate) fn eventually<T>(awaited: &str, mut look: impl FnMut() -> Result<T, String>) -> T {
    let begun = Instant::now();
    loop {
        match look() {
            Ok(found) => return found,
            Err(seen) => assert!(begun.elapsed() < PATIENCE, "{awaited} did not come about; seen: {seen}"),
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}
