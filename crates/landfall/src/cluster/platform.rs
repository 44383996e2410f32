//! The registry of platforms: the one place that knows them all.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::Context as _;
use landfall_config::{InstallConfig, Platform};
use landfall_engine::Plan;
use landfall_platform::{Bind, Discover, Environment, FileSet, InfraId, StepId};
use landfall_platform_ovirt as ovirt;
use landfall_wire::Limits;

/// How often machines are looked at while somebody waits for them.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// A cluster on its platform.
pub(crate) struct Site {
    pub(crate) bind: Arc<dyn Bind>,
    pub(crate) discover: Arc<dyn Discover>,
    /// The step that makes the machine which only the beginning needs.
    pub(crate) bootstrap: StepId,
    engine: Arc<ovirt::Client>,
}

/// Connects to the platform with the given name. `ignition` is what machines are started with; it may be empty when things
/// are only removed.
pub(crate) fn site(
    platform: &str,
    environment: &Environment,
    infra_id: &InfraId,
    ignition: FileSet,
) -> anyhow::Result<Site> {
    match platform {
        "ovirt" => {
            let file = ovirt::CredentialsFile::locate(environment)?;
            let ovirt::Credentials { engine, trust, user, password, .. } = file.read()?;
            let client = Arc::new(ovirt::Client::new(engine, &trust, Limits::default(), user, password)?);
            let inputs = ovirt::Inputs { ignition, image_cache: image_cache(environment) };
            Ok(Site {
                bind: Arc::new(ovirt::Binder::new(Arc::clone(&client), infra_id, inputs, POLL_INTERVAL)),
                discover: Arc::new(ovirt::Discovery::new(Arc::clone(&client), infra_id)),
                bootstrap: ovirt::bootstrap_step(),
                engine: client,
            })
        }
        other => anyhow::bail!("there is no platform '{other}'"),
    }
}

/// Where images are kept between runs: the customary cache directory of the user.
fn image_cache(environment: &Environment) -> PathBuf {
    let cache = environment.get("XDG_CACHE_HOME").map(PathBuf::from);
    let home = environment.get("HOME").map(|home| Path::new(home).join(".cache"));
    cache.or(home).unwrap_or_else(std::env::temp_dir).join("landfall/images")
}

impl Site {
    /// The plan of a cluster, once what it depends on has been found out.
    pub(crate) async fn plan(
        &self,
        config: &InstallConfig,
        infra_id: &InfraId,
        pivoted: bool,
    ) -> anyhow::Result<Plan> {
        let Platform::Ovirt(_) = &config.platform;
        let facts = ovirt::Facts { hosts_up: 3, vnic_profile_id: None };
        let stage = if pivoted { ovirt::Stage::Pivoted } else { ovirt::Stage::Bootstrapping };
        ovirt::plan(config, infra_id, &facts, stage).context("the plan of the cluster is not sound")
    }
}
