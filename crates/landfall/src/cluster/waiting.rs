//! Waiting for the cluster itself. Waits are steps like all others, so that they are planned, journalled, timed, shown and
//! taken up again like them.

use std::{collections::BTreeMap, net::IpAddr, sync::Arc, time::Duration};

use anyhow::Context as _;
use async_trait::async_trait;
use landfall_cluster::{Api, Kubeconfig, Node, wait_for_api, wait_for_bootstrap, wait_for_nodes};
use landfall_config::InstallConfig;
use landfall_engine::{Journal, Plan, PlanBuilder, PlanError};
use landfall_platform::{
    Bind, Context, ErrorClass, Outputs, Progress, Step, StepError, StepId, StepSpec, user_data_step,
};
use landfall_workdir::WorkDir;
use serde::{Deserialize, Serialize};

use super::{
    Boot, JOURNAL, KUBECONFIG,
    boot_assets::{self, BootAssetsStep},
};

/// The kind of all waits.
const KIND: &str = "wait";
/// A wait ends by itself and then says what it saw last; the engine cuts it off only if it does not.
const GRACE: Duration = Duration::from_secs(30);
/// The steps that tell the address of the API on platforms that choose it, the best first.
const ENDPOINTS: [&str; 3] = ["elastic-ip/api", "load-balancer/public", "load-balancer/internal"];
/// The steps that lead the API to the bootstrap machine, and those that lead it to the masters.
const TO_BOOTSTRAP: [&str; 3] = ["led/bootstrap", "members/bootstrap-public", "members/bootstrap-internal"];
const TO_MASTERS: [&str; 3] = ["led/api", "members/public", "members/internal"];

/// Something that the installer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Wait {
    /// The API answers.
    Api,
    /// The control plane is on the masters.
    Bootstrap,
    /// So many nodes are ready.
    Nodes(usize),
}

impl Wait {
    /// For all machines of a cluster.
    pub(crate) fn all_nodes(config: &InstallConfig) -> Self {
        let workers: u32 = config.compute.iter().map(|pool| pool.replicas).sum();
        Self::Nodes((config.control_plane.replicas + workers) as usize)
    }

    /// The id of its step.
    pub(crate) fn step(self) -> StepId {
        match self {
            Self::Api => "wait/api",
            Self::Bootstrap => "wait/bootstrap",
            Self::Nodes(_) => "wait/nodes",
        }
        .into()
    }

    /// What is so once the wait is over.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Api => "the API answers",
            Self::Bootstrap => "the control plane is on the masters",
            Self::Nodes(_) => "all nodes are ready",
        }
    }

    /// How long it may take.
    pub(crate) fn limit(self, config: &InstallConfig) -> Duration {
        let timeouts = &config.timeouts;
        match self {
            Self::Api => timeouts.api,
            Self::Bootstrap => timeouts.bootstrap,
            Self::Nodes(_) => timeouts.install,
        }
        .duration()
    }

    /// Waits.
    pub(crate) async fn until(
        self,
        api: &Api,
        limit: Duration,
        progress: Progress<'_>,
    ) -> Result<Vec<Node>, landfall_cluster::Error> {
        match self {
            Self::Api => wait_for_api(api, limit, progress).await.map(|()| Vec::new()),
            Self::Bootstrap => wait_for_bootstrap(api, limit, progress).await.map(|()| Vec::new()),
            Self::Nodes(count) => wait_for_nodes(api, count, limit, progress).await,
        }
    }

    fn spec(self, config: &InstallConfig, needs: Vec<StepId>) -> StepSpec {
        StepSpec {
            id: self.step(),
            title: self.title().to_owned(),
            kind: KIND.into(),
            needs,
            timeout: self.limit(config) + GRACE,
            desired: serde_json::to_value(self).expect("a wait is a word and perhaps a number"),
        }
    }
}

/// Returns true if a step makes nothing on the platform: it waits, or removes what the bootstrap machine has read.
pub(crate) fn is_wait(step: &StepId) -> bool {
    step.as_str().starts_with("wait/") || *step == user_data_step()
}

/// The plan of the infrastructure, with the waits that follow while there is a bootstrap machine.
pub(crate) fn with_bootstrap_waits(
    plan: &Plan,
    config: &InstallConfig,
    bootstrap: &StepId,
    masters: Vec<StepId>,
) -> Result<Plan, PlanError> {
    let present =
        |ids: [&str; 3]| ids.map(StepId::from).into_iter().filter(|id| plan.step(id).is_some()).collect::<Vec<_>>();
    let (endpoints, led) = (present(ENDPOINTS), present(TO_BOOTSTRAP));
    let first = std::iter::once(bootstrap.clone()).chain(endpoints.clone()).chain(led).collect();
    let api = Wait::Api.spec(config, first);
    let needs = std::iter::once(api.id.clone()).chain(masters).chain(endpoints).chain(present(TO_MASTERS)).collect();
    // The API is on the bootstrap machine, which has read its config long before.
    let read = api.id.clone();
    let held_back = |spec: &mut StepSpec| {
        if spec.id == user_data_step() {
            spec.needs.push(read.clone());
        }
    };
    let by_platform = plan.step(&user_data_step()).is_some();
    let assets = (!by_platform).then(|| boot_assets::spec(config, vec![bootstrap.clone(), read.clone()]));
    let waits = [api, Wait::Bootstrap.spec(config, needs)];
    changed(plan, held_back, waits.into_iter().chain(assets))
}

/// The plan of the infrastructure, with the wait that follows once there is none any more.
pub(crate) fn with_final_wait(plan: &Plan, config: &InstallConfig) -> Result<Plan, PlanError> {
    let needs = plan.steps().map(|spec| spec.id.clone()).collect();
    extended(plan, [Wait::all_nodes(config).spec(config, needs)])
}

/// A plan with further steps.
pub(super) fn extended(plan: &Plan, further: impl IntoIterator<Item = StepSpec>) -> Result<Plan, PlanError> {
    changed(plan, |_| (), further)
}

/// A plan whose steps are changed, with further steps.
fn changed(
    plan: &Plan,
    change: impl Fn(&mut StepSpec),
    further: impl IntoIterator<Item = StepSpec>,
) -> Result<Plan, PlanError> {
    let mut builder = PlanBuilder::default();
    for spec in plan.steps() {
        let mut spec = spec.clone();
        builder.limit(spec.kind.clone(), plan.limit(&spec.kind));
        change(&mut spec);
        builder.step(spec);
    }
    for step in further {
        builder.step(step);
    }
    builder.build()
}

/// The API of the cluster of an install directory. Its name need not be known to any DNS server yet.
pub(crate) fn api(dir: &WorkDir, config: &InstallConfig) -> anyhow::Result<Api> {
    let file = dir.read(KUBECONFIG)?.with_context(|| format!("there is no {KUBECONFIG} to reach the cluster with"))?;
    let kubeconfig = Kubeconfig::read(&String::from_utf8_lossy(&file.contents))?;
    Ok(Api::new(&kubeconfig, api_address(dir, config))?)
}

/// Returns the address of the API, if the install-config or a step of the installation has told it.
pub(crate) fn api_address(dir: &WorkDir, config: &InstallConfig) -> Option<IpAddr> {
    config.api_vips().first().copied().or_else(|| told_address(dir, config))
}

/// Where the API is, as steps of the installation have told.
fn told_address(dir: &WorkDir, config: &InstallConfig) -> Option<IpAddr> {
    let snapshot = Journal::read(&dir.path(JOURNAL)).ok()?;
    let first = format!("vm/{}-0", config.control_plane.name);
    let told = |id: &str| snapshot.entry(&id.into())?.outputs.as_ref()?.get::<Vec<IpAddr>>("addresses");
    ENDPOINTS.into_iter().chain([first.as_str()]).filter_map(told).flatten().next()
}

/// Binds waits to the cluster's API, what machines fetch to the asset host, and everything else to the platform.
pub(crate) struct Binder {
    pub(crate) platform: Arc<dyn Bind>,
    /// Not needed where waits are only removed, which means to forget them.
    pub(crate) api: Option<Arc<Api>>,
    /// Files that machines fetch. Not needed where steps are only removed.
    pub(crate) boot: Option<Arc<Boot>>,
}

impl Bind for Binder {
    fn bind(&self, spec: &StepSpec) -> Result<Arc<dyn Step>, StepError> {
        if spec.kind.as_str() == boot_assets::KIND {
            return Ok(Arc::new(BootAssetsStep { boot: self.boot.clone() }));
        }
        if spec.kind.as_str() != KIND {
            return self.platform.bind(spec);
        }
        let wait = Wait::deserialize(&spec.desired).map_err(|error| StepError::new(ErrorClass::Bug, error))?;
        let endpoint = ENDPOINTS.iter().filter_map(|wanted| spec.needs.iter().find(|id| id.as_str() == *wanted));
        let machines = spec.needs.iter().filter(|id| id.as_str().starts_with("vm/"));
        let sources = endpoint.chain(machines).cloned().collect();
        Ok(Arc::new(WaitStep { wait, limit: spec.timeout.saturating_sub(GRACE), api: self.api.clone(), sources }))
    }
}

struct WaitStep {
    wait: Wait,
    limit: Duration,
    api: Option<Arc<Api>>,
    /// Steps that may tell where the API is, the best first.
    sources: Vec<StepId>,
}

#[async_trait]
impl Step for WaitStep {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let api = self.api.as_ref().ok_or_else(|| StepError::new(ErrorClass::Bug, "there is no API to wait for"))?;
        let told = self.sources.iter().find_map(|step| context.output::<Vec<IpAddr>>(step, "addresses").ok());
        let there = told.and_then(|addresses| addresses.first().copied()).map(|address| api.at(address)).transpose();
        let there = there.map_err(|error| StepError::new(error.class(), error))?;
        let seen = self.wait.until(there.as_ref().unwrap_or(api), self.limit, context.progress()).await;
        let nodes = seen.map_err(|error| StepError::new(error.class(), error))?;
        // For those who name nodes: a node that tells no usable address has none.
        let addresses =
            |node: &Node| node.address.parse().map_or(Vec::new(), |address: IpAddr| vec![address.to_string()]);
        let known: BTreeMap<&str, Vec<String>> =
            nodes.iter().map(|node| (node.name.as_str(), addresses(node))).collect();
        Ok(Outputs::default().with("addresses", serde_json::json!(known)))
    }

    async fn remove(&self, _: &Context, _: Option<&Outputs>) -> Result<(), StepError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use landfall_config::{parse_tree, parse_yaml};
    use landfall_platform::bootstrap_step;

    use super::*;

    const OVIRT: &str = include_str!("../../../../examples/ovirt/install-config.yaml");
    const PACKET: &str = include_str!("../../../../examples/packet/install-config.yaml");

    fn step(id: StepId, needs: Vec<StepId>) -> StepSpec {
        let desired = serde_json::Value::Null;
        StepSpec { id, title: String::new(), kind: "thing".into(), needs, timeout: Duration::ZERO, desired }
    }

    /// Returns the steps that the removal of keys needs, and the number of steps that wait for it.
    fn removal(example: &str, by_platform: bool) -> (Vec<StepId>, usize) {
        let config = parse_tree(parse_yaml(example.as_bytes()).unwrap()).unwrap().config;
        let mut builder = PlanBuilder::default();
        builder.step(step(bootstrap_step(), Vec::new()));
        if by_platform {
            builder.step(step(user_data_step(), vec![bootstrap_step()]));
        }
        let plan = builder.build().unwrap();
        let plan = with_bootstrap_waits(&plan, &config, &bootstrap_step(), Vec::new()).unwrap();
        (plan.step(&user_data_step()).unwrap().needs.clone(), plan.dependents(&user_data_step()).count())
    }

    #[test]
    fn keys_are_removed_once_the_api_answers_and_nothing_waits_for_that() {
        for (example, by_platform) in [(OVIRT, true), (PACKET, false)] {
            assert_eq!(removal(example, by_platform), (vec![bootstrap_step(), Wait::Api.step()], 0), "{example}");
        }
    }
}
