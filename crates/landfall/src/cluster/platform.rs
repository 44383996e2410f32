//! The registry of platforms: the one place that knows them all.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::Context as _;
use landfall_config::{InstallConfig, Platform};
use landfall_dns::Probe;
use landfall_engine::{Plan, PlanError};
use landfall_platform::{Bind, Discover, Environment, FileSet, Finding, InfraId, MachineProvider, Machines, StepId};
use landfall_platform_ovirt as ovirt;
use landfall_wire::Limits;
use secrecy::SecretString;

use super::{
    public_dns::{self, Everywhere, PublicDns, WithDns, with_records},
    waiting::{Wait, extended, with_bootstrap_waits, with_final_wait},
};

/// How often machines are looked at while somebody waits for them.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// The kind of the steps that make machines.
const MACHINES: &str = "vm";

/// A cluster on its platform.
pub(crate) struct Site {
    pub(crate) bind: Arc<dyn Bind>,
    discover: Arc<dyn Discover>,
    pub(crate) machines: Arc<dyn Machines>,
    /// The step that makes the machine which only the beginning needs.
    pub(crate) bootstrap: StepId,
    /// What must never be shown.
    pub(crate) secrets: Vec<SecretString>,
    infra_id: InfraId,
    engine: Arc<ovirt::Client>,
    dns: landfall_dns::Binder,
    /// The install directory.
    dir: PathBuf,
}

/// What was found out about a platform before anything is made there.
pub(crate) struct Look {
    pub(crate) findings: Vec<Finding>,
    /// What the plan depends on; none if it could not be found out.
    pub(crate) facts: Option<Facts>,
}

/// What a plan depends on.
pub(crate) struct Facts(ovirt::Facts);

impl Facts {
    /// What is assumed where nothing could be found out: machines share hosts if they must, and are attached as their
    /// template is.
    pub(crate) fn assumed() -> Self {
        Self(ovirt::Facts { hosts_up: 0, vnic_profile_id: None })
    }
}

/// Connects to the platform with the given name. `ignition` is what machines are started with; it may be empty when things
/// are only removed.
pub(crate) fn site(
    platform: &str,
    dir: &Path,
    environment: &Environment,
    infra_id: &InfraId,
    ignition: FileSet,
) -> anyhow::Result<Site> {
    match platform {
        "ovirt" => {
            let file = ovirt::CredentialsFile::locate(environment)?;
            let ovirt::Credentials { engine, trust, user, password, .. } = file.read()?;
            let secrets = vec![password.clone()];
            let client = Arc::new(ovirt::Client::new(engine, &trust, Limits::default(), user, password)?);
            let inputs = ovirt::Inputs { ignition, image_cache: image_cache(environment) };
            let binder = ovirt::Binder::new(Arc::clone(&client), infra_id, inputs, POLL_INTERVAL);
            let dns = public_dns::binder(infra_id, environment);
            Ok(Site {
                machines: Arc::new(binder.machines()),
                bind: Arc::new(WithDns { platform: Arc::new(binder), dns: dns.clone() }),
                discover: Arc::new(ovirt::Discovery::new(Arc::clone(&client), infra_id)),
                bootstrap: bootstrap_step(),
                secrets,
                infra_id: infra_id.clone(),
                engine: client,
                dns,
                dir: dir.to_owned(),
            })
        }
        other => anyhow::bail!("there is no platform '{other}'"),
    }
}

/// All platforms, for the machine controller.
pub(crate) fn providers() -> Vec<Arc<dyn MachineProvider>> {
    vec![Arc::new(ovirt::Provider)]
}

/// An error if there are no credentials for the platform with the given name: it is known before anything is written.
pub(crate) fn require_credentials(platform: &str, environment: &Environment) -> anyhow::Result<()> {
    match platform {
        "ovirt" => Ok(ovirt::CredentialsFile::locate(environment)?.read().map(drop)?),
        other => anyhow::bail!("there is no platform '{other}'"),
    }
}

/// The step that makes the machine which only the beginning needs: the same on all platforms.
pub(crate) fn bootstrap_step() -> StepId {
    ovirt::bootstrap_step()
}

/// Where images are kept between runs: the customary cache directory of the user.
fn image_cache(environment: &Environment) -> PathBuf {
    let cache = environment.get("XDG_CACHE_HOME").map(PathBuf::from);
    let home = environment.get("HOME").map(|home| Path::new(home).join(".cache"));
    cache.or(home).unwrap_or_else(std::env::temp_dir).join("landfall/images")
}

impl Site {
    /// Looks at everything that an installation needs.
    pub(crate) async fn look(&self, config: &InstallConfig, probe: Probe) -> Look {
        let dns = async {
            match self.public_dns(config) {
                Some(dns) => dns.look(config, probe).await,
                None => Vec::new(),
            }
        };
        let (found, records) =
            futures::join!(ovirt::preflight(&self.engine, config, &self.infra_id, &ovirt::LocalNetwork), dns,);
        Look { findings: [found.findings, records].concat(), facts: found.facts.map(Facts) }
    }

    /// The records of the cluster, if they are made from here.
    pub(crate) fn public_dns(&self, config: &InstallConfig) -> Option<PublicDns> {
        PublicDns::of(config, &self.dir, &self.dns)
    }

    /// Finds everything of the cluster. Records only if the install-config is there to say where they are.
    pub(crate) fn discover(&self, config: Option<&InstallConfig>) -> anyhow::Result<Arc<dyn Discover>> {
        let records = config.and_then(|config| Some((config, self.public_dns(config)?)));
        let records = records.map(|(config, dns)| dns.discovery(config)).transpose()?;
        Ok(Arc::new(Everywhere([Some(Arc::clone(&self.discover)), records].into_iter().flatten().collect())))
    }

    /// What the platform's own log says about the cluster, newest first.
    pub(crate) async fn events(&self) -> anyhow::Result<Vec<String>> {
        Ok(self.engine.events_about(self.infra_id.as_str()).await?)
    }
}

/// What is done to install a cluster. Pure: no platform is asked.
pub(crate) struct Plans {
    /// While there is a bootstrap machine: until the control plane is on the masters.
    pub(crate) bootstrap: Plan,
    /// After that: until all nodes are ready.
    pub(crate) last: Plan,
}

impl Plans {
    /// `dns` makes the records of the cluster, if they are made from here.
    pub(crate) fn new(
        config: &InstallConfig,
        infra_id: &InfraId,
        facts: &Facts,
        dns: Option<&PublicDns>,
    ) -> anyhow::Result<Self> {
        let records = dns.map(|dns| dns.steps(config)).transpose().context("cannot plan the DNS records")?;
        let records = records.unwrap_or_default();
        let nodes: Vec<String> = machines(config).map(|name| format!("{infra_id}-{name}")).collect();
        let source = Wait::all_nodes(config).step();
        let names = dns.map(|dns| dns.node_steps(config, &nodes, &source)).transpose();
        let names = names.context("cannot plan the DNS records of nodes")?.unwrap_or_default();
        let plan = |stage| {
            let plan = ovirt::plan(config, infra_id, &facts.0, stage)?;
            with_records(&plan, records.clone(), MACHINES)
        };
        let bootstrap = plan(ovirt::Stage::Bootstrapping).and_then(|plan| {
            let masters = masters(config).filter(|master| plan.step(master).is_some()).collect();
            with_bootstrap_waits(&plan, config, &bootstrap_step(), masters)
        });
        let last = plan(ovirt::Stage::Pivoted).and_then(|plan| extended(&with_final_wait(&plan, config)?, names));
        Ok(Self { bootstrap: sound(bootstrap)?, last: sound(last)? })
    }
}

/// The steps that make the masters.
fn masters(config: &InstallConfig) -> impl Iterator<Item = StepId> {
    let Platform::Ovirt(_) = &config.platform;
    let pool = &config.control_plane;
    (0..pool.replicas).map(|number| format!("vm/{}-{number}", pool.name).into())
}

/// The names of all machines that stay, as nodes carry them after the infra id.
fn machines(config: &InstallConfig) -> impl Iterator<Item = String> {
    let pools = std::iter::once(&config.control_plane).chain(&config.compute);
    pools.flat_map(|pool| (0..pool.replicas).map(move |number| format!("{}-{number}", pool.name)))
}

fn sound(plan: Result<Plan, PlanError>) -> anyhow::Result<Plan> {
    plan.context("the plan of the cluster is not sound")
}
