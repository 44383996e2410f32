//! The identity of machines: what a machine's user data opens, for whom and for how long.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams},
};
use landfall_machine_api::{Credential, IDENTITY_ROLE, IDENTITY_ROOT, IDENTITY_SECRET, Phase};
use landfall_node::{
    config_server::{
        Admission, BOOT_TIMEOUT, ClusterUses, ConfigServer, Configs, MachineId, Peers, Query, Redemption, Roots,
        Unreadable,
    },
    kube::Access,
};
use landfall_platform::{
    Connection, InfraId, Listing, Machine as Instance, MachineProvider, MachineRef, MachineSpec, Machines, Power,
    Progress, ProviderCredentials, StepError, WantedMachine,
};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use crate::{
    cluster::{Cluster, eventually},
    worlds::World,
};

const ROOT: &str = "4a1bce014ef4e2632f760f56e07eaa45e46c9bd6628efc39f44b2e435b367024";

/// User data by the name of the machine, as the platform was last handed it.
type Handed = Arc<Mutex<HashMap<String, String>>>;

/// A platform of which it is noted what machines are started with.
struct Noting {
    inner: Arc<dyn MachineProvider>,
    handed: Handed,
}

impl MachineProvider for Noting {
    fn kind(&self) -> &'static str {
        self.inner.kind()
    }

    fn schemes(&self) -> &'static [&'static str] {
        self.inner.schemes()
    }

    fn allows_doubles(&self) -> bool {
        self.inner.allows_doubles()
    }

    fn connect(
        &self,
        credentials: &ProviderCredentials,
        infra_id: &InfraId,
        interval: Duration,
    ) -> Result<Connection, StepError> {
        let Connection { machines, endpoint } = self.inner.connect(credentials, infra_id, interval)?;
        let machines = Arc::new(NotingMachines { inner: machines, handed: Arc::clone(&self.handed) });
        Ok(Connection { machines, endpoint })
    }

    fn machine(&self, wanted: &WantedMachine<'_>) -> Result<Value, StepError> {
        self.inner.machine(wanted)
    }
}

struct NotingMachines {
    inner: Arc<dyn Machines>,
    handed: Handed,
}

#[async_trait]
impl Machines for NotingMachines {
    async fn ensure(&self, spec: &MachineSpec, progress: Progress<'_>) -> Result<Instance, StepError> {
        let user_data = spec.user_data.expose_secret().to_owned();
        self.handed.lock().unwrap().insert(spec.name.clone(), user_data);
        self.inner.ensure(spec, progress).await
    }

    async fn list(&self) -> Result<Listing, StepError> {
        self.inner.list().await
    }

    async fn get(&self, machine: MachineRef<'_>) -> Result<Option<Instance>, StepError> {
        self.inner.get(machine).await
    }

    async fn power(&self, machine: MachineRef<'_>, wish: Power) -> Result<(), StepError> {
        self.inner.power(machine, wish).await
    }

    async fn delete(&self, machine: MachineRef<'_>, progress: Progress<'_>) -> Result<(), StepError> {
        self.inner.delete(machine, progress).await
    }
}

struct Config;

impl Configs for Config {
    fn config(&self, role: &str) -> Result<Option<Bytes>, Unreadable> {
        Ok((role == "worker").then(|| Bytes::from_static(b"{}")))
    }
}

/// Lets machines in as a master does, by a clock that can be put forward.
struct Master {
    roots: Roots,
    uses: ClusterUses,
    late: Mutex<Duration>,
}

#[async_trait]
impl Admission for Master {
    fn admits(&self, role: &str, credential: &Credential) -> Result<bool, Unreadable> {
        self.roots.admits(role, credential)
    }

    async fn redeem(&self, _: &str, machine: MachineId<'_>, peer: IpAddr) -> Result<Redemption, Unreadable> {
        let now = Timestamp::now() + *self.late.lock().unwrap();
        self.uses.redeem(machine, peer, now).await
    }
}

/// A master's config server.
struct Server {
    master: Arc<Master>,
    answering: ConfigServer,
    _directory: tempfile::TempDir,
}

impl Server {
    fn new<W: World>(cluster: &Cluster<W>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let plane = cluster.control_plane.lock().unwrap();
        // The authority inside, as kubeadm writes it.
        let data = format!("certificate-authority-data: {}", STANDARD.encode(plane.authority()));
        let kubeconfig = plane.kubeconfig_for("admin", Some("system:masters"));
        let lines = kubeconfig.lines().map(|line| match line.find("certificate-authority:") {
            Some(at) => format!("{}{data}\n", &line[..at]),
            None => format!("{line}\n"),
        });
        let path = directory.path().join("admin.conf");
        std::fs::write(&path, lines.collect::<String>()).unwrap();
        let facts = serde_json::from_value(json!({
            "format": 1, "role": "master", "distribution": "kubernetes", "platform": W::PLATFORM,
            "cluster": { "name": "demo", "domain": "demo.example.com", "infraId": cluster.infra_id },
            "api": { "name": "api.demo.example.com", "internalName": "api-int.demo.example.com",
                "endpoint": "198.51.100.5:6443", "port": 6443, "configServerPort": 22623 },
            "networks": { "machine": [], "cluster": [], "service": [] },
        }));
        let machine = landfall_node::machine::Machine {
            facts: facts.unwrap(),
            name: "master-0".to_owned(),
            state: directory.path().join("state"),
            runtime: directory.path().join("run"),
        };
        let uses = ClusterUses::namespaced(Access::only(&machine, &path, false), Peers::default(), &cluster.namespace);
        let master = Arc::new(Master { roots: Roots::new([("worker", ROOT)]), uses, late: Mutex::default() });
        let answering = ConfigServer::new(Arc::new(Config), Arc::clone(&master) as _);
        Self { master, answering, _directory: directory }
    }

    /// The status that a machine with this user data gets from this address.
    async fn ask(&self, user_data: &str, peer: [u8; 4]) -> u16 {
        let config: Value = serde_json::from_str(user_data).unwrap();
        let header = &config["ignition"]["config"]["merge"][0]["httpHeaders"][0];
        assert_eq!(header["name"], "Authorization", "{config}");
        let query = Query {
            method: "GET",
            path: "/config/worker",
            accept: None,
            authorization: header["value"].as_str(),
            peer: peer.into(),
        };
        self.answering.answer(&query, Instant::now()).await.status
    }

    async fn look(&self) {
        self.master.uses.refresh().await.unwrap();
    }
}

/// Gives the cluster user data as the installer does: without a credential, and with the Secret from which each machine gets its own.
async fn with_identity<W: World>(cluster: &Cluster<W>) {
    let pointer = json!({ "ignition": { "version": "3.3.0", "config": { "merge": [
        { "source": "https://192.0.2.5:22623/config/worker" },
    ] } } });
    let secrets: Api<Secret> = Api::namespaced(cluster.client.clone(), &cluster.namespace);
    let change = json!({ "stringData": { "userData": pointer.to_string(), IDENTITY_SECRET: "worker-identity" } });
    secrets.patch("worker-user-data", &PatchParams::default(), &Patch::Merge(&change)).await.unwrap();
    let keys = [(IDENTITY_ROLE, "worker"), (IDENTITY_ROOT, ROOT)];
    let keys = keys.map(|(key, value)| (key.to_owned(), value.to_owned()));
    cluster.secret("worker-identity", keys.into()).await;
}

pub(crate) async fn user_data_of_a_machine_that_runs_opens_nothing<W: World>() {
    let (own, other) = ([192, 0, 2, 1], [192, 0, 2, 9]);
    let cluster = Cluster::<W>::new().await;
    with_identity(&cluster).await;
    let handed = Handed::default();
    let noting = Noting { inner: cluster.world.provider(), handed: Arc::clone(&handed) };
    let controllers = cluster.run_on(Arc::new(noting), cluster.options());
    let server = Server::new(&cluster);
    let of = |name: &str| handed.lock().unwrap()[name].clone();

    let one = cluster.machine("one", "worker", |_| ()).await;
    let machine = cluster.phase(&one, Phase::Provisioned).await;
    let first = of(&one);
    assert!(!first.contains(ROOT), "what opens all configs is in no machine's user data");
    assert_eq!(server.ask(&first, own).await, 200);
    assert_eq!(server.ask(&first, own).await, 200, "the reply was lost");
    assert_eq!(server.ask(&first, other).await, 401, "stolen while the machine boots");
    cluster.join(&machine).await;
    cluster.phase(&one, Phase::Running).await;
    server.look().await;
    for peer in [own, other] {
        assert_eq!(server.ask(&first, peer).await, 401, "the machine runs");
    }

    // Another machine, which is made anew under the same name.
    let two = cluster.machine("two", "worker", |_| ()).await;
    cluster.phase(&two, Phase::Provisioned).await;
    let before = of(&two);
    assert_ne!(first, before, "each has its own");
    assert_eq!(server.ask(&before, own).await, 200);
    *server.master.late.lock().unwrap() = BOOT_TIMEOUT;
    assert_eq!(server.ask(&before, own).await, 401, "the boot time-out is over");
    *server.master.late.lock().unwrap() = Duration::ZERO;
    cluster.machines().delete(&two, &DeleteParams::default()).await.unwrap();
    eventually("the machine is gone", || async {
        let found = cluster.machines().get_opt(&two).await.unwrap();
        found.map_or(Ok(()), |machine| Err(format!("{:?}", machine.status)))
    })
    .await;
    cluster.machine("two", "worker", |_| ()).await;
    cluster.phase(&two, Phase::Provisioned).await;
    server.look().await;
    assert_eq!(server.ask(&before, own).await, 401, "the credential of the machine that had the name");
    assert_eq!(server.ask(&of(&two), other).await, 200);
    controllers.stop().await.unwrap();
}
