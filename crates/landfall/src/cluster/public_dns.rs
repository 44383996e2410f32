//! The public DNS of a cluster, beside its platform.

use std::{path::Path, sync::Arc, time::Duration};

use landfall_config::{Dns, InstallConfig};
use landfall_dns as dns;
use landfall_engine::{Plan, PlanBuilder, PlanError};
use landfall_platform::{Bind, Discover, Environment, Finding, InfraId, Step, StepError, StepId, StepSpec};

/// How often name servers are asked while somebody waits for them.
const INTERVAL: Duration = Duration::from_secs(2);

/// The records of a cluster, where its install-config says that they are made.
pub(crate) struct PublicDns {
    pub(crate) service: Dns,
    binder: dns::Binder,
}

/// Makes the steps of any cluster's DNS act: their descriptions say where.
pub(crate) fn binder(infra_id: &InfraId, environment: &Environment) -> dns::Binder {
    dns::Binder::new(infra_id, environment, dns::Network::of(environment), INTERVAL)
}

impl PublicDns {
    /// None if the install-config leaves DNS to the user.
    pub(crate) fn of(config: &InstallConfig, dir: &Path, binder: &dns::Binder) -> Option<Self> {
        // A removal may be started from elsewhere, and the journal keeps the path of the file with the secret.
        let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
        let service = dns::resolved(config.dns.as_ref()?, config, &dir);
        Some(Self { service, binder: binder.clone() })
    }

    /// Looks at everything that the records need.
    pub(crate) async fn look(&self, config: &InstallConfig, probe: dns::Probe) -> Vec<Finding> {
        dns::preflight(&self.binder, config, &self.service, probe).await
    }

    /// The steps that make the records. `sources` are the steps that tell where API and ingress are, if the install-config does
    /// not.
    pub(crate) fn steps(
        &self,
        config: &InstallConfig,
        sources: Option<dns::Sources>,
    ) -> Result<Vec<StepSpec>, dns::Error> {
        match sources {
            None => dns::plan(config, &self.service),
            Some(sources) => dns::endpoint_steps(config, &self.service, &sources),
        }
    }

    /// The steps that make the names of nodes, if they are wanted, once a step has told their addresses.
    pub(crate) fn node_steps(
        &self,
        config: &InstallConfig,
        nodes: &[String],
        source: &StepId,
    ) -> Result<Vec<StepSpec>, dns::Error> {
        dns::node_steps(config, &self.service, nodes, source)
    }

    /// Finds the records of the cluster.
    pub(crate) fn discovery(&self, config: &InstallConfig) -> Result<Arc<dyn Discover>, dns::Error> {
        Ok(Arc::new(dns::Discovery::new(self.binder.clone(), config, &self.service)?))
    }

    /// What somebody has to make by hand, if it is that way: as a table, and as lines of a zone file.
    pub(crate) fn by_hand(&self, config: &InstallConfig) -> Result<Option<String>, dns::Error> {
        let Dns::Manual(_) = self.service else { return Ok(None) };
        let records = dns::manual::records(config, &self.service)?;
        Ok(Some(format!(
            "please make these DNS records; the installation waits for them:\n\n{records}\nas lines of a zone file:\n\n{}",
            records.zone_snippet()
        )))
    }
}

/// The plan of a platform, with records made before the machines that ask for them, unless they wait for machines themselves.
pub(crate) fn with_records(plan: &Plan, steps: Vec<StepSpec>, machines: &str) -> Result<Plan, PlanError> {
    let is_machine = |id: &StepId| plan.step(id).is_some_and(|step| step.kind.as_str() == machines);
    let is_before = |step: &&StepSpec| dns::is_record(step) && !step.needs.iter().any(is_machine);
    let records: Vec<StepId> = steps.iter().filter(is_before).map(|step| step.id.clone()).collect();
    let mut builder = PlanBuilder::default();
    for step in steps {
        builder.step(step);
    }
    for spec in plan.steps() {
        let mut spec = spec.clone();
        builder.limit(spec.kind.clone(), plan.limit(&spec.kind));
        if spec.kind.as_str() == machines {
            spec.needs.extend(records.iter().cloned());
        }
        builder.step(spec);
    }
    builder.build()
}

/// Binds steps of DNS to their services and everything else to the platform.
pub(crate) struct WithDns {
    pub(crate) platform: Arc<dyn Bind>,
    pub(crate) dns: dns::Binder,
}

impl Bind for WithDns {
    fn bind(&self, spec: &StepSpec) -> Result<Arc<dyn Step>, StepError> {
        if dns::is_dns(&spec.kind) { self.dns.bind(spec) } else { self.platform.bind(spec) }
    }
}
