//! Two hosts that can be set back to how they were, and programs that are connected to them.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use landfall_platform_powervm::Client;
use landfall_platform_powervm::compute::{Host, Run};
use landfall_simulator::powervm::NovaLink;

use super::operations::{NAME, Operation};
use super::trouble::{Calls, LATE, Trouble};
use crate::compute::stage::{self, second};
use crate::compute::{inventory, stage::Stage};
use crate::scene::JOBS;

/// An answer that is late is later here than programs wait for it, see [`Trouble`].
const TIME_SCALE: &str = "100";

/// Small hosts whose jobs are done at the first look.
const WORLD: &str = "settings: { job_seconds: 0.1, power_on_seconds: 0.2, migration_seconds: 0.3 }
hosts:
  - name: power-a
    serial: 78A0001
    sriov_adapters: 2
    vlans: [100]
    vioses: &vioses
      - name: vios1
        disks_gb: [300]
        volume_groups: [{ name: rootvg, size_gb: 280, media_repository_gb: 20 }, { name: datavg, size_gb: 290 }]
      - name: vios2
        disks_gb: [300]
        volume_groups: [{ name: rootvg, size_gb: 280 }]
    volumes: &volumes
      - { name: volume-1, wwpns: [500507680B11AAAA, 500507680B22AAAA], lun: 1, size_gb: 20 }
  - name: power-b
    serial: 78A0002
    vlans: [100]
    vioses: *vioses
    volumes: *volumes
shared_storage_pool: { name: pool1, cluster: cluster1, capacity_gb: 2000 }
";

/// A program that is connected to both hosts.
#[derive(Clone)]
pub(crate) struct Program {
    pub(crate) host: Arc<Host>,
    pub(crate) target: Arc<Host>,
    pub(crate) home: PathBuf,
    pub(crate) admin: String,
}

/// Two hosts, and two programs, one of which takes over when the other has died.
pub(crate) struct Arena {
    stage: Stage,
    pub(crate) first: Program,
    other: Program,
    genesis: Option<NovaLink>,
    journals: AtomicU64,
}

impl Arena {
    pub(crate) async fn new() -> Self {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), WORLD).unwrap();
        let flags = ["--inventory", file.path().to_str().unwrap(), "--time-scale", TIME_SCALE];
        let stage = Stage::with(&flags).await;
        stage.image(stage::IMAGE);
        let program = async |host| {
            let home = stage.scene.home.path().to_owned();
            Program { host, target: second(&stage).await, home, admin: stage.scene.hosts.admin_url().to_owned() }
        };
        let host = connect(Arc::new(stage.scene.client())).await;
        let (first, other) = (program(Arc::clone(&stage.host)).await, program(host).await);
        let mut arena = Self { stage, first, other, genesis: None, journals: AtomicU64::new(0) };
        arena.genesis = Some(arena.save());
        arena
    }

    /// Everything as it was in the beginning.
    pub(crate) async fn begin(&mut self) {
        let genesis = self.genesis.clone().unwrap();
        self.restore(&genesis).await;
    }

    pub(crate) fn save(&self) -> NovaLink {
        self.stage.scene.hosts.world().view(|hosts, _| hosts.clone())
    }

    /// Everything as it was when it was saved, perhaps in another arena.
    pub(crate) async fn restore(&mut self, saved: &NovaLink) {
        self.stage.scene.hosts.world().with(|hosts, _| hosts.set_back(saved));
        self.first = self.first.anew().await;
    }

    /// Lets the program do something that it is to do again, and sets everything back but the program.
    pub(crate) async fn learn(&mut self, operation: &Operation, saved: &NovaLink) {
        let done = (operation.perform)(self.first.clone(), self.run()).await;
        done.unwrap_or_else(|refusal| panic!("{}: {refusal}", operation.name));
        self.stage.scene.hosts.world().with(|hosts, _| hosts.set_back(saved));
    }

    pub(crate) fn inventory(&self) -> Vec<String> {
        inventory::list(&self.stage.scene.hosts)
    }

    /// Lets the operating system of the partition be connected, if it runs: until then nothing can be added to it.
    pub(crate) async fn connect(&self) {
        if self.inventory().iter().any(|line| line.contains(&format!("partition {NAME} running"))) {
            let state = serde_json::json!({"ResourceMonitoringControlState": "active"});
            stage::force(&self.first.admin, NAME, state).await;
        }
    }

    /// Reads and writes so far.
    pub(crate) fn calls(&self) -> (u64, u64) {
        let counts = self.stage.scene.hosts.request_counts();
        let sum = |reads: bool| {
            counts.iter().filter(|(call, _)| call.starts_with("GET ") == reads).map(|(_, count)| count).sum()
        };
        (sum(true), sum(false))
    }

    /// With a journal of its own.
    pub(crate) fn run(&self) -> Run {
        let number = self.journals.fetch_add(1, Ordering::Relaxed);
        let mut run = stage::run();
        run.journal = Some(self.stage.scene.home.path().join(format!("journal-{number}.sqlite")));
        run
    }

    /// Lets something go wrong; the number of the rule.
    pub(crate) fn trouble(&self, trouble: Trouble, calls: Calls, number: u64) -> u64 {
        let rule = format!("{} * nth={number} {}", calls.methods(), trouble.effect());
        self.stage.scene.hosts.add_fault(rule.parse().unwrap())
    }

    /// Refuses every change from one call on.
    pub(crate) fn refuse_from(&self, number: u64) {
        let rule = format!("{} * from={number} {}", Calls::Writes.methods(), Trouble::Refused.effect());
        self.stage.scene.hosts.add_fault(rule.parse().unwrap());
    }

    /// Runs until it ends, or until a rule takes effect: then it is dropped.
    pub(crate) async fn until_fired<T>(&self, rule: u64, work: impl Future<Output = T>) -> Option<T> {
        let fired = async {
            while self.stage.scene.hosts.with_faults(|plan| plan.rule(rule).is_none_or(|rule| rule.fired == 0)) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::select! {
            done = work => Some(done),
            () = fired => None,
        }
    }

    /// Nothing goes wrong any more, and what was on its way has arrived.
    pub(crate) async fn calm(&self, trouble: Trouble, killed: bool) {
        self.stage.scene.hosts.with_faults(landfall_simulator::core::faults::FaultPlan::clear);
        if killed && trouble == Trouble::KilledAfter {
            let world = self.stage.scene.hosts.world();
            let arrival = world.now().0 + 3 * LATE;
            while world.now().0 < arrival {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }
    }

    /// The first program has died: the other one is the first now.
    pub(crate) async fn succeed(&mut self) {
        std::mem::swap(&mut self.first, &mut self.other);
        self.first = self.first.anew().await;
    }
}

impl Program {
    /// The program as it is when it starts: it remembers nothing.
    async fn anew(&self) -> Self {
        let (host, target) = (connect(Arc::clone(self.host.client())), connect(Arc::clone(self.target.client())));
        Self { host: host.await, target: target.await, ..self.clone() }
    }
}

async fn connect(client: Arc<Client>) -> Arc<Host> {
    Arc::new(Host::connect(client, None, JOBS).await.unwrap())
}
