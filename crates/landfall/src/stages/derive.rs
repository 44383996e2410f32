//! The walk from the install-config to a target.

use std::path::PathBuf;

use landfall_assets::Credentials;
use landfall_platform::FileSet;
use landfall_workdir::{Choices, Identity, Locked, Plan, Transaction};

use super::{
    Source, Target,
    credentials::credentials,
    desk::Desk,
    kubernetes::Kubernetes,
    openshift::{MANIFESTS_STATE, Openshift, Program},
};
use crate::{context::Context, error::Error, interrupt::Interrupt};

/// Renders the stages of one cluster. Called once per run, stage after stage; nothing is written meanwhile.
pub(super) trait Renderer {
    /// The plan of the manifests.
    fn manifests(&mut self, desk: &Desk<'_>, credentials: Option<&Credentials>) -> anyhow::Result<Plan>;

    /// The plan of what the machines boot with, from the manifests as they will be.
    fn ignition_configs(&mut self, desk: &Desk<'_>, manifests: &FileSet) -> anyhow::Result<Plan>;

    /// Who the cluster is; known at the latest once the manifests are rendered.
    fn identity(&self) -> Option<&Identity>;

    /// What has to be kept for the next run.
    fn own_files(&self) -> FileSet;
}

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Derived {
    pub(crate) identity: Option<Identity>,
    pub(crate) plans: Vec<Plan>,
    /// Where copies of replaced files are.
    pub(crate) backup: Option<String>,
}

/// Derives the stages up to a target, and writes them if no question is open.
pub(crate) fn derive(
    target: Target,
    source: &Source,
    locked: &Locked,
    choices: &Choices,
    program: Option<PathBuf>,
    context: &Context,
    interrupt: &Interrupt,
) -> anyhow::Result<Derived> {
    let dir = locked.dir();
    let desk = Desk { dir, record: dir.record()?, choices };
    let before = dir.identity()?;
    if before.is_none() && desk.record.has_complete_stage() {
        return Err(Error::IdentityGone { path: dir.root().to_owned() }.into());
    }
    let config = &source.config;
    let was_openshift = dir.read(MANIFESTS_STATE)?.is_some();
    if before.is_some() && was_openshift != config.distribution.is_openshift() {
        return Err(Error::OtherDistribution { path: dir.root().to_owned() }.into());
    }
    if let Some(identity) = before.as_ref().filter(|identity| identity.cluster_name != config.metadata.name) {
        let Identity { cluster_name, infra_id } = identity;
        let name = &config.metadata.name;
        context.printer.warn(format_args!(
            "the cluster is now called '{name}', but its infra id stays {infra_id}, from when it was called \
             '{cluster_name}'"
        ));
    }
    let mut renderer: Box<dyn Renderer> = if config.distribution.is_openshift() {
        let program = Program::find(program.as_deref(), config, &context.environment)?;
        context.printer.info(program.describe());
        Box::new(Openshift::new(config, source.inputs(), before.clone(), program, context.printer))
    } else {
        Box::new(Kubernetes::new(config, source.inputs(), before.clone(), &desk, context.now)?)
    };
    let credentials = credentials(&config.platform, &context.environment, context.printer)?;
    let mut plans = vec![renderer.manifests(&desk, credentials.as_ref())?];
    if target >= Target::IgnitionConfigs {
        plans.push(renderer.ignition_configs(&desk, &plans[0].effective())?);
    }
    check_names(choices, &plans)?;

    let identity = renderer.identity().cloned();
    let mut transaction = Transaction::begin(locked, context.now, env!("CARGO_PKG_VERSION"))?;
    for (path, file) in renderer.own_files().iter() {
        transaction.write(path, file.clone());
    }
    // After the secrets: where there is an identity, they are complete.
    if let Some(identity) = identity.as_ref().filter(|_| before.is_none()) {
        transaction.identify(identity);
    }
    plans.iter().for_each(|plan| transaction.stage(plan));
    let _held = interrupt.hold();
    let committed = transaction.commit()?;
    context.attach_log();
    Ok(Derived { identity, plans, backup: committed.backup })
}

/// A file that is named by a flag and that no stage renders is a slip of the pen.
fn check_names(choices: &Choices, plans: &[Plan]) -> Result<(), Error> {
    match choices.paths().find(|path| !plans.iter().any(|plan| plan.renders(path))) {
        Some(path) => Err(Error::Usage(format!("'{path}' is not a file that landfall makes for this target"))),
        None => Ok(()),
    }
}
