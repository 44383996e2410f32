//! The registry of platforms: the one place that knows them all.

use std::{
    collections::BTreeMap,
    net::IpAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::Context as _;
use landfall_assets::ClusterMetadata;
use landfall_config::{InstallConfig, Platform, packet::Location};
use landfall_dns::{Probe, Sources};
use landfall_engine::{Plan, PlanError};
use landfall_platform::{
    Bind, Discover, Environment, Finding, InfraId, MachineProvider, Machines, Outputs, Stage, StepId, bootstrap_step,
    user_data_step,
};
use landfall_platform_ovirt as ovirt;
use landfall_platform_packet as packet;
use landfall_platform_powervm as powervm;
use landfall_platform_powervs as powervs;
use landfall_wire::{Limits, LocalNetwork};
use secrecy::SecretString;

use super::{
    Boot, METADATA,
    control_plane::Masters,
    everywhere::Everywhere,
    public_dns::{self, PublicDns, WithDns, with_records},
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
    /// Steps whose objects only that machine needs. They go with it.
    pub(crate) temporary: Vec<StepId>,
    /// What must never be shown.
    pub(crate) secrets: Vec<SecretString>,
    infra_id: InfraId,
    connection: Connection,
    dns: landfall_dns::Binder,
    /// The install directory.
    dir: PathBuf,
}

/// The platform that a cluster is on.
enum Connection {
    Ovirt(Arc<ovirt::Client>),
    Packet(packet::Site),
    Powervm(powervm::Site),
    Powervs(Box<powervs::Site>),
}

/// What was found out about a platform before anything is made there.
pub(crate) struct Look {
    pub(crate) findings: Vec<Finding>,
    /// What the plan depends on; none if it could not be found out.
    pub(crate) facts: Option<Facts>,
}

/// What a plan depends on.
pub(crate) enum Facts {
    Ovirt(ovirt::Facts),
    Packet(packet::Facts),
    Powervm(powervm::Facts),
    Powervs(powervs::Facts),
}

impl Facts {
    /// What is assumed where nothing could be found out: machines share hosts if they must and are attached as their template
    /// is, or stand in the first place that is named, or run on the systems that most zones have.
    pub(crate) fn assumed(config: &InstallConfig) -> Self {
        match &config.platform {
            Platform::Ovirt(_) => Self::Ovirt(ovirt::Facts { hosts_up: 0, vnic_profile_id: None }),
            Platform::Packet(platform) => {
                let location = platform.locations().into_iter().next();
                Self::Packet(packet::Facts { location: location.unwrap_or(Location::Metro(String::new())) })
            }
            Platform::Powervm(_) => Self::Powervm(powervm::Facts),
            Platform::Powervs(_) => Self::Powervs(powervs::Facts { sys_type: "s922".to_owned() }),
        }
    }
}

/// Connects to the platform with the given name. `boot` is what machines are started with; it may be empty when things are only
/// removed. Without an install-config everything that the credentials lead to is searched for what carries the cluster's mark.
pub(crate) fn site(
    platform: &str,
    dir: &Path,
    environment: &Environment,
    infra_id: &InfraId,
    boot: &Boot,
    config: Option<&InstallConfig>,
) -> anyhow::Result<Site> {
    let made = match platform {
        "ovirt" => on_ovirt(environment, infra_id, boot)?,
        "packet" => on_packet(dir, environment, infra_id, boot, config)?,
        "powervm" => on_powervm(dir, environment, infra_id, boot, config)?,
        "powervs" => on_powervs(environment, infra_id, boot, whereabouts(dir, config))?,
        other => anyhow::bail!("there is no platform '{other}'"),
    };
    let dns = public_dns::binder(infra_id, environment);
    Ok(Site {
        machines: made.machines,
        bind: Arc::new(WithDns { platform: made.bind, dns: dns.clone() }),
        discover: made.discover,
        bootstrap: bootstrap_step(),
        temporary: temporary_steps(platform),
        secrets: made.secrets,
        infra_id: infra_id.clone(),
        connection: made.connection,
        dns,
        dir: dir.to_owned(),
    })
}

/// What a platform brings.
struct Connected {
    machines: Arc<dyn Machines>,
    bind: Arc<dyn Bind>,
    discover: Arc<dyn Discover>,
    secrets: Vec<SecretString>,
    connection: Connection,
}

fn on_ovirt(environment: &Environment, infra_id: &InfraId, boot: &Boot) -> anyhow::Result<Connected> {
    let file = ovirt::CredentialsFile::locate(environment)?;
    let ovirt::Credentials { engine, trust, user, password, .. } = file.read()?;
    let secret = password.clone();
    let client = Arc::new(ovirt::Client::new(engine, &trust, Limits::default(), user, password)?);
    let inputs = ovirt::Inputs { ignition: boot.user_data.clone(), image_cache: image_cache(environment) };
    let binder = ovirt::Binder::new(Arc::clone(&client), infra_id, inputs, POLL_INTERVAL);
    Ok(Connected {
        machines: Arc::new(binder.machines()),
        bind: Arc::new(binder),
        discover: Arc::new(ovirt::Discovery::new(Arc::clone(&client), infra_id)),
        secrets: vec![secret],
        connection: Connection::Ovirt(client),
    })
}

fn on_packet(
    dir: &Path,
    environment: &Environment,
    infra_id: &InfraId,
    boot: &Boot,
    config: Option<&InstallConfig>,
) -> anyhow::Result<Connected> {
    let packet::Credentials { api, key, trust } = packet::Credentials::read(environment)?;
    let secret = key.clone();
    let client = Arc::new(packet::Client::new(api, &trust, Limits::default(), key)?);
    let project = match config.and_then(|config| config.platform.packet()) {
        None => packet::Project::Unknown,
        Some(platform) => platform.project.map_or(packet::Project::Own, |id| packet::Project::Given(id.to_string())),
    };
    let site = packet::Site::new(client, infra_id, project, POLL_INTERVAL);
    let inputs = packet::Inputs {
        user_data: boot.user_data.clone(),
        script_url: boot.script_url.clone(),
        control_plane: Some(Arc::new(Masters::new(dir))),
    };
    let binder = packet::Binder::new(site.clone(), inputs);
    Ok(Connected {
        machines: Arc::new(binder.machines()),
        bind: Arc::new(binder),
        discover: Arc::new(packet::Discovery::new(site.clone())),
        secrets: vec![secret],
        connection: Connection::Packet(site),
    })
}

fn on_powervm(
    dir: &Path,
    environment: &Environment,
    infra_id: &InfraId,
    boot: &Boot,
    config: Option<&InstallConfig>,
) -> anyhow::Result<Connected> {
    let credentials = powervm::Credentials::read(environment)?;
    let hosts = match config.and_then(|config| config.platform.powervm()) {
        Some(platform) => platform.hosts.clone(),
        None => metadata(dir).and_then(|known| known.powervm).map_or_else(|| credentials.hosts(), |known| known.hosts),
    };
    let site = powervm::Site::new(&hosts, &credentials, infra_id, POLL_INTERVAL)?;
    let inputs = powervm::Inputs { ignition: boot.user_data.clone(), image_cache: image_cache(environment) };
    let binder = powervm::Binder::new(site.clone(), inputs);
    Ok(Connected {
        machines: Arc::new(binder.machines()),
        bind: Arc::new(binder),
        discover: Arc::new(powervm::Discovery::new(site.clone())),
        secrets: credentials.secrets(),
        connection: Connection::Powervm(site),
    })
}

/// What `metadata.json` of an install directory says.
fn metadata(dir: &Path) -> Option<ClusterMetadata> {
    serde_json::from_slice(&std::fs::read(dir.join(METADATA)).ok()?).ok()
}

/// Where a cluster on PowerVS is, as its install-config or else its `metadata.json` says.
fn whereabouts(dir: &Path, config: Option<&InstallConfig>) -> Option<powervs::Whereabouts> {
    if let Some(platform) = config.and_then(|config| config.platform.powervs()) {
        return Some(powervs::Whereabouts::of(platform));
    }
    let known = metadata(dir)?.powervs?;
    Some(powervs::Whereabouts {
        zone: known.zone,
        vpc_region: known.vpc_region,
        resource_group: known.resource_group,
        workspace: known.service_instance_guid.map(|guid| guid.to_string()),
        endpoints: known.service_endpoints,
        given: known.vpc_name.into_iter().chain(known.transit_gateway_name).collect(),
    })
}

fn on_powervs(
    environment: &Environment,
    infra_id: &InfraId,
    boot: &Boot,
    whereabouts: Option<powervs::Whereabouts>,
) -> anyhow::Result<Connected> {
    let credentials = powervs::Credentials::read(environment)?;
    let whereabouts = match whereabouts {
        Some(known) => known,
        None => powervs::Whereabouts::guessed(&credentials)?,
    };
    let secret = credentials.api_key.clone();
    let client = Arc::new(whereabouts.client(&credentials)?);
    let site = powervs::Site::new(client, infra_id, whereabouts, &credentials, POLL_INTERVAL);
    let binder = powervs::Binder::new(site.clone(), powervs::Inputs { ignition: boot.user_data.clone() });
    Ok(Connected {
        machines: Arc::new(binder.machines()),
        bind: Arc::new(binder),
        discover: Arc::new(powervs::Discovery::new(site.clone())),
        secrets: vec![secret],
        connection: Connection::Powervs(Box::new(site)),
    })
}

/// All platforms, for the machine controller.
pub(crate) fn providers() -> Vec<Arc<dyn MachineProvider>> {
    vec![
        Arc::new(ovirt::Provider),
        Arc::new(packet::Provider),
        Arc::new(powervm::Provider),
        Arc::new(powervs::Provider),
    ]
}

/// An error if there are no credentials for the platform with the given name: it is known before anything is written.
pub(crate) fn require_credentials(platform: &str, environment: &Environment) -> anyhow::Result<()> {
    match platform {
        "ovirt" => Ok(ovirt::CredentialsFile::locate(environment)?.read().map(drop)?),
        "packet" => Ok(packet::Credentials::read(environment).map(drop)?),
        "powervm" => Ok(powervm::Credentials::read(environment).map(drop)?),
        "powervs" => Ok(powervs::Credentials::read(environment).map(drop)?),
        other => anyhow::bail!("there is no platform '{other}'"),
    }
}

/// Steps that only the bootstrap machine needs.
fn temporary_steps(platform: &str) -> Vec<StepId> {
    let further = if platform == "powervs" { powervs::temporary_steps() } else { Vec::new() };
    std::iter::once(user_data_step()).chain(further).collect()
}

/// All steps whose objects go when the control plane has moved, on whichever platform.
pub(crate) fn retired_steps() -> Vec<StepId> {
    std::iter::once(bootstrap_step()).chain(temporary_steps("powervs")).collect()
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
        let platform = async {
            match &self.connection {
                Connection::Ovirt(engine) => {
                    let found = ovirt::preflight(engine, config, &self.infra_id, &LocalNetwork).await;
                    (found.findings, found.facts.map(Facts::Ovirt))
                }
                Connection::Packet(site) => {
                    let found = packet::preflight(site, config).await;
                    (found.findings, found.facts.map(Facts::Packet))
                }
                Connection::Powervm(site) => {
                    let found = powervm::preflight(site, config, &LocalNetwork).await;
                    (found.findings, found.facts.map(Facts::Powervm))
                }
                Connection::Powervs(site) => {
                    let found = powervs::preflight(site, config).await;
                    (found.findings, found.facts.map(Facts::Powervs))
                }
            }
        };
        let ((findings, facts), records) = futures::join!(platform, dns);
        Look { findings: [findings, records].concat(), facts }
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
        match &self.connection {
            Connection::Ovirt(engine) => Ok(engine.events_about(self.infra_id.as_str()).await?),
            Connection::Packet(site) => Ok(site.events().await?),
            Connection::Powervm(site) => Ok(site.events().await),
            Connection::Powervs(site) => Ok(site.events().await?),
        }
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
        let plan = |stage| -> anyhow::Result<Plan> {
            let records = dns.map(|dns| dns.steps(config, record_sources(config, stage))).transpose();
            let records = records.context("cannot plan the DNS records")?.unwrap_or_default();
            let plan = match facts {
                Facts::Ovirt(facts) => ovirt::plan(config, infra_id, facts, stage),
                Facts::Packet(facts) => packet::plan(config, infra_id, facts, stage),
                Facts::Powervm(facts) => powervm::plan(config, infra_id, facts, stage),
                Facts::Powervs(facts) => powervs::plan(config, infra_id, facts, stage),
            };
            sound(plan.and_then(|plan| with_records(&plan, records, MACHINES)))
        };
        let bootstrap = plan(Stage::Bootstrapping)?;
        let masters = masters(config).filter(|master| bootstrap.step(master).is_some()).collect();
        let bootstrap = with_bootstrap_waits(&bootstrap, config, &bootstrap_step(), masters);
        let last = with_final_wait(&plan(Stage::Pivoted)?, config);
        Ok(Self { bootstrap: sound(bootstrap)?, last: sound(last)? })
    }
}

impl Plans {
    /// The last plan with the names of nodes, once it is carried out: how workers are called, the sets decide that make them.
    pub(crate) fn with_names(
        &self,
        config: &InstallConfig,
        dns: &PublicDns,
        done: &BTreeMap<StepId, Outputs>,
    ) -> anyhow::Result<Plan> {
        let source = Wait::all_nodes(config).step();
        let nodes = done.get(&source).and_then(|outputs| outputs.get::<BTreeMap<String, Vec<IpAddr>>>("addresses"));
        let nodes: Vec<String> = nodes.into_iter().flatten().map(|(name, _)| name).collect();
        let names = dns.node_steps(config, &nodes, &source);
        sound(extended(&self.last, names.context("cannot plan the DNS records of nodes")?))
    }
}

/// The steps that tell where names of API and ingress lead, if the install-config does not.
fn record_sources(config: &InstallConfig, stage: Stage) -> Option<Sources> {
    if let Some([api, internal, ingress]) = powervs::record_sources(config) {
        return Some(Sources { api: vec![api], internal: vec![internal], ingress: vec![ingress] });
    }
    let (api, ingress) = packet::record_sources(config, stage)?;
    Some(Sources { internal: api.clone(), api, ingress })
}

/// The steps that make the masters.
fn masters(config: &InstallConfig) -> impl Iterator<Item = StepId> {
    let pool = &config.control_plane;
    (0..pool.replicas).map(|number| format!("vm/{}-{number}", pool.name).into())
}

fn sound(plan: Result<Plan, PlanError>) -> anyhow::Result<Plan> {
    plan.context("the plan of the cluster is not sound")
}
