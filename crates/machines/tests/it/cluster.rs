//! A cluster's API, real, and the controllers on it.

use std::{
    collections::BTreeMap,
    process::Command,
    sync::{
        Arc, LazyLock, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use k8s_openapi::{
    ByteString,
    api::core::v1::{Namespace, Node, Secret},
};
use kube::{
    Api, Client, Config,
    api::{DeleteParams, Patch, PatchParams, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use landfall_machine_api::{Kind, Networks, definition, provider};
use landfall_machines::{
    Access, Controllers, Error, LeaseOptions, Machine, MachineHealthCheck, MachineSet, Metrics, Options, Pace,
};
use landfall_platform::{InfraId, MachineProvider};
use landfall_testkit::{ControlPlane, patience::Patience};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::worlds::World;

/// Longest time without any change before a test fails.
const PATIENCE: Duration = Duration::from_mins(2);

/// How long a whole test may take. The longest take a minute or two.
const LIMIT: Duration = Duration::from_mins(10);

/// How long a request may be on its way after its sender was killed.
const ARRIVAL: Duration = Duration::from_millis(500);

/// Control planes by the names of platforms.
type Planes = BTreeMap<&'static str, Arc<Mutex<ControlPlane>>>;

/// The control planes that most tests share, one for each platform.
static SHARED: LazyLock<Mutex<Planes>> = LazyLock::new(Mutex::default);
static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A cluster of its own: a namespace on an API server, and an infra id on a platform.
pub(crate) struct Cluster<W> {
    pub(crate) world: Arc<W>,
    pub(crate) control_plane: Arc<Mutex<ControlPlane>>,
    /// For the test itself. It asks again when the API server has too much to do.
    pub(crate) client: Client,
    pub(crate) namespace: String,
    pub(crate) infra_id: InfraId,
    /// As whom the controllers act: the administrator, unless a test changes it.
    pub(crate) controller_client: Client,
}

/// Returns the control plane that tests of a platform share. A thread that never ends keeps it, if it was started here.
fn shared(platform: &'static str) -> Arc<Mutex<ControlPlane>> {
    let mut planes = SHARED.lock().unwrap();
    let start = || {
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            sender.send(Arc::new(Mutex::new(ControlPlane::shared(platform)))).unwrap();
            loop {
                std::thread::park();
            }
        });
        receiver.recv().unwrap()
    };
    Arc::clone(planes.entry(platform).or_insert_with(start))
}

/// Controllers that run.
pub(crate) struct Running {
    pub(crate) stop: CancellationToken,
    pub(crate) metrics: Metrics,
    task: JoinHandle<Result<(), Error>>,
}

impl Running {
    /// Ends them as a crash would: at once, wherever they are. A successor leads only when the lease has ended, many seconds
    /// later; here it is enough that what was on its way to the platform has arrived.
    pub(crate) async fn kill(self) {
        self.task.abort();
        let _killed = self.task.await;
        tokio::time::sleep(ARRIVAL).await;
    }

    /// Ends them in order.
    pub(crate) async fn stop(self) -> Result<(), Error> {
        self.stop.cancel();
        self.task.await.unwrap()
    }

    /// Waits until they end of themselves.
    pub(crate) async fn ended(self) -> Result<(), Error> {
        self.task.await.unwrap()
    }

    pub(crate) fn is_running(&self) -> bool {
        !self.task.is_finished()
    }
}

impl<W: World> Cluster<W> {
    /// A cluster on the control plane that tests share.
    pub(crate) async fn new() -> Self {
        Self::on(tokio::task::spawn_blocking(|| shared(W::PLATFORM)).await.unwrap()).await
    }

    /// A cluster on a control plane of its own.
    pub(crate) async fn on(control_plane: Arc<Mutex<ControlPlane>>) -> Self {
        Self::beside(control_plane, Arc::new(W::start().await)).await
    }

    /// A cluster on a platform that has others.
    pub(crate) async fn beside(control_plane: Arc<Mutex<ControlPlane>>, world: Arc<W>) -> Self {
        let _installed = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let _logging = tracing_subscriber::fmt()
            .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
            .with_test_writer()
            .try_init();
        let path = control_plane.lock().unwrap().kubeconfig();
        let kubeconfig = std::fs::read_to_string(path).unwrap();
        let (client, controller_client) = (patient_client(&kubeconfig).await, client(&kubeconfig).await);
        let number = NUMBER.fetch_add(1, Ordering::SeqCst);
        // Tests of other processes may use the same control plane.
        let infra_id: InfraId = format!("c{number}p{}-x7k2p", std::process::id()).parse().unwrap();
        let namespace = infra_id.to_string();
        let this = Self { world, control_plane, client, namespace, infra_id, controller_client };
        this.install_definitions().await;
        let mut object = Namespace::default();
        object.metadata.name = Some(this.namespace.clone());
        Api::<Namespace>::all(this.client.clone()).create(&PostParams::default(), &object).await.unwrap();
        this.secret("credentials", this.world.credentials()).await;
        let user_data = r#"{"ignition":{"version":"3.4.0"}}"#;
        this.secret("worker-user-data", [("userData".to_owned(), user_data.to_owned())].into()).await;
        this.world.prepare(&this.infra_id).await;
        this
    }

    async fn install_definitions(&self) {
        let crds: Api<k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition> =
            Api::all(self.client.clone());
        for kind in Kind::ALL {
            let definition = definition(kind, provider::schema(W::PLATFORM).as_ref());
            let name = definition["metadata"]["name"].as_str().unwrap().to_owned();
            crds.patch(&name, &PatchParams::apply("test").force(), &Patch::Apply(&definition)).await.unwrap();
            eventually(&format!("{name} is served"), || async {
                let crd = crds.get(&name).await.unwrap();
                let conditions = crd.status.and_then(|status| status.conditions).unwrap_or_default();
                let served = conditions.iter().any(|known| known.type_ == "Established" && known.status == "True");
                served.then_some(()).ok_or_else(|| format!("{conditions:?}"))
            })
            .await;
        }
    }

    pub(crate) async fn secret(&self, name: &str, keys: BTreeMap<String, String>) {
        let mut secret = Secret::default();
        secret.metadata.name = Some(name.to_owned());
        secret.data = Some(keys.into_iter().map(|(key, value)| (key, ByteString(value.into_bytes()))).collect());
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), &self.namespace);
        secrets.create(&PostParams::default(), &secret).await.unwrap();
    }

    /// How the controllers are run in tests: fast.
    pub(crate) fn options(&self) -> Options {
        Options {
            namespace: self.namespace.clone(),
            infra_id: self.infra_id.clone(),
            controllers: Controllers::ALL,
            lease: None,
            listen: None,
            networks: Networks::default(),
            pace: Pace {
                sync: Duration::from_millis(200),
                poll: Duration::from_millis(20),
                retry: Duration::from_millis(20),
                longest_retry: Duration::from_millis(500),
                in_flight: ARRIVAL,
                ..Pace::default()
            },
        }
    }

    pub(crate) fn lease(identity: &str) -> LeaseOptions {
        LeaseOptions { name: "machines".to_owned(), identity: identity.to_owned(), duration: Duration::from_secs(5) }
    }

    /// Starts the controllers.
    pub(crate) fn run(&self) -> Running {
        self.run_with(self.options())
    }

    pub(crate) fn run_with(&self, options: Options) -> Running {
        self.run_on(self.world.provider(), options)
    }

    /// Starts the controllers with a provider of the world's platform.
    pub(crate) fn run_on(&self, provider: Arc<dyn MachineProvider>, options: Options) -> Running {
        let (stop, metrics) = (CancellationToken::new(), Metrics::default());
        let client = self.controller_client.clone();
        let running = landfall_machines::run(client, vec![provider], options, metrics.clone(), stop.clone());
        Running { stop, metrics, task: tokio::spawn(running) }
    }

    pub(crate) fn machines(&self) -> Api<Machine> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    pub(crate) fn sets(&self) -> Api<MachineSet> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    pub(crate) fn checks(&self) -> Api<MachineHealthCheck> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    pub(crate) fn nodes(&self) -> Api<Node> {
        Api::all(self.client.clone())
    }

    /// All machines, by name.
    pub(crate) async fn list(&self) -> Vec<Machine> {
        self.machines().list(&Default::default()).await.unwrap().items
    }

    /// The name of a set or machine of the cluster.
    pub(crate) fn name(&self, suffix: &str) -> String {
        format!("{}-{suffix}", self.infra_id)
    }

    /// Makes a set.
    pub(crate) async fn set(&self, suffix: &str, replicas: i32) -> String {
        let name = self.name(suffix);
        let labels = json!({ "machine.openshift.io/cluster-api-machineset": name, "machine.openshift.io/cluster-api-machine-role": "worker" });
        let set: MachineSet = serde_json::from_value(json!({
            "apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet",
            "metadata": { "name": name },
            "spec": {
                "replicas": replicas,
                "selector": { "matchLabels": { "machine.openshift.io/cluster-api-machineset": name } },
                "template": { "metadata": { "labels": labels }, "spec": { "providerSpec": { "value": self.world.provider_spec() } } },
            },
        }))
        .unwrap();
        self.sets().create(&PostParams::default(), &set).await.unwrap();
        name
    }

    /// Makes a machine that belongs to no set.
    pub(crate) async fn machine(&self, suffix: &str, role: &str, change: impl FnOnce(&mut Value)) -> String {
        let name = self.name(suffix);
        let mut machine = json!({
            "apiVersion": "machine.openshift.io/v1beta1", "kind": "Machine",
            "metadata": { "name": name, "labels": { "machine.openshift.io/cluster-api-machine-role": role } },
            "spec": { "providerSpec": { "value": self.world.provider_spec() } },
        });
        change(&mut machine);
        self.machines().create(&PostParams::default(), &serde_json::from_value(machine).unwrap()).await.unwrap();
        name
    }

    pub(crate) async fn scale(&self, set: &str, replicas: i32) {
        let change = json!({ "spec": { "replicas": replicas } });
        self.sets().patch(set, &PatchParams::default(), &Patch::Merge(change)).await.unwrap();
    }

    pub(crate) async fn delete(&self, machine: &str) {
        self.machines().delete(machine, &DeleteParams::default()).await.unwrap();
    }

    /// Waits until there are so many machines, all of them running instances, and nothing else.
    pub(crate) async fn settled(&self, number: usize) -> Vec<Machine> {
        eventually(&format!("there are {number} machines"), || async {
            let machines = self.list().await;
            let seen: Vec<_> = machines
                .iter()
                .map(|machine| format!("{} {:?} {}", machine.name(), machine.phase(), machine.is_deleting()))
                .collect();
            let running = machines.iter().all(|machine| machine.provider_id().is_some() && !machine.is_deleting());
            let instances = self.world.instances(&self.infra_id).await;
            let agree = names(&machines) == instances;
            if machines.len() == number && running && agree {
                Ok(machines)
            } else {
                Err(format!("{seen:#?}, instances {instances:#?}"))
            }
        })
        .await
    }

    /// Makes a ready node for a machine, as its kubelet would.
    pub(crate) async fn join(&self, machine: &Machine) {
        let node = json!({ "metadata": { "name": machine.name() }, "spec": { "providerID": machine.provider_id() } });
        self.nodes().create(&PostParams::default(), &serde_json::from_value(node).unwrap()).await.unwrap();
        self.ready(machine.name(), "True", Duration::ZERO).await;
    }

    /// Says whether a node is ready, and since when.
    pub(crate) async fn ready(&self, node: &str, status: &str, ago: Duration) {
        let since = jiff::Timestamp::now() - jiff::SignedDuration::try_from(ago).unwrap();
        let condition = json!({ "type": "Ready", "status": status, "lastTransitionTime": since.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(), "reason": "Test", "message": "" });
        let change = json!({ "status": { "conditions": [condition] } });
        self.nodes().patch_status(node, &PatchParams::default(), &Patch::Strategic(change)).await.unwrap();
    }

    /// Waits until a machine is in a phase.
    pub(crate) async fn phase(&self, name: &str, phase: landfall_machine_api::Phase) -> Machine {
        eventually(&format!("{name} is {phase:?}"), || async {
            let machine = self.machines().get(name).await.unwrap();
            if machine.phase() == Some(phase) { Ok(machine) } else { Err(format!("{:#?}", machine.status)) }
        })
        .await
    }

    /// Waits until a machine is gone.
    pub(crate) async fn gone(&self, name: &str) {
        eventually(&format!("{name} is gone"), || async {
            match self.machines().get_opt(name).await.unwrap() {
                None => Ok(()),
                Some(machine) => Err(format!("{:#?}", machine.status)),
            }
        })
        .await;
    }

    /// Runs kubectl as the administrator, and returns what it printed.
    pub(crate) fn kubectl(&self, arguments: &[&str]) -> String {
        let kubeconfig = self.control_plane.lock().unwrap().kubeconfig();
        let output = Command::new("kubectl")
            .arg("--kubeconfig")
            .arg(kubeconfig)
            .args(["--namespace", &self.namespace])
            .args(arguments)
            .output();
        let output = output.expect("kubectl is installed by `make test`");
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "kubectl {arguments:?}: {text}");
        text
    }

    /// Runs kubectl as somebody, and returns what it printed, whether it was content or not.
    pub(crate) fn kubectl_as(kubeconfig: &str, arguments: &[&str]) -> String {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), kubeconfig).unwrap();
        let output = Command::new("kubectl").arg("--kubeconfig").arg(file.path()).args(arguments).output();
        let output = output.expect("kubectl is installed by `make test`");
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    }

    /// Reasons of the events on an object.
    pub(crate) async fn events(&self, object: &str) -> Vec<String> {
        let events: Api<k8s_openapi::api::core::v1::Event> = Api::all(self.client.clone());
        let all = events.list(&Default::default()).await.unwrap().items;
        let about = all.into_iter().filter(|event| event.involved_object.name.as_deref() == Some(object));
        about
            .map(|event| format!("{}: {}", event.reason.unwrap_or_default(), event.message.unwrap_or_default()))
            .collect()
    }

    /// Nothing of the cluster is left on the platform.
    pub(crate) async fn nothing_left(&self) {
        eventually("nothing is left on the platform", || async {
            let left =
                [self.world.instances(&self.infra_id).await, self.world.leftovers(&self.infra_id).await].concat();
            if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
        })
        .await;
    }
}

/// The same with the library's own patience: it asks again after 429 and 503.
async fn patient_client(kubeconfig: &str) -> Client {
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

/// A client with a kubeconfig, as the controllers have it.
pub(crate) async fn client(kubeconfig: &str) -> Client {
    landfall_machines::connect(Access::Kubeconfig(kubeconfig.to_owned(), None)).await.unwrap()
}

/// Names of machines, in order.
pub(crate) fn names(machines: &[Machine]) -> Vec<String> {
    let mut names: Vec<_> = machines.iter().map(|machine| machine.name().to_owned()).collect();
    names.sort();
    names
}

/// Fails a test that hangs, so that it does not keep all the others from being run.
pub(crate) async fn in_time(test: impl Future<Output = ()>) {
    tokio::time::timeout(LIMIT, test).await.unwrap_or_else(|_| panic!("not done after {LIMIT:?}"));
}

/// Waits until `look` returns something. What it sees instead is part of the message of a failure.
pub(crate) async fn eventually<T, F: Future<Output = Result<T, String>>>(what: &str, look: impl Fn() -> F) -> T {
    let mut patience = Patience::new(PATIENCE);
    loop {
        match look().await {
            Ok(found) => return found,
            Err(seen) => patience.look(what, &seen),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
