//! The walk from the install-config to a target.

use std::path::Path;

use landfall_assets::{Cluster, Credentials};
use landfall_config::InstallConfig;
use landfall_platform::FileSet;
use landfall_workdir::{Choices, Digest, Frozen, Identity, Locked, Plan, Transaction};

use super::{
    Source, Target,
    credentials::{self, credentials},
    desk::Desk,
    frozen,
    generation::{Generation, retire},
    kit::KitSource,
    kubernetes::{Kubernetes, secrets},
    openshift::{MANIFESTS_STATE, Openshift, Program},
};
use crate::{context::Context, error::Error, interrupt::Interrupt, printer::Printer};

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
    /// Digest of the platform's credentials in the manifests.
    pub(crate) credentials: Digest,
    /// What machines were given, if something was made already.
    pub(crate) frozen: Option<Frozen>,
}

/// What is asked for.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) target: Target,
    pub(crate) source: &'a Source,
    pub(crate) choices: &'a Choices,
    /// The `openshift-install` that a flag names.
    pub(crate) program: Option<&'a Path>,
}

/// Derives the stages up to a target, and writes them if no question is open. Once something was made, nothing is derived any
/// more: what machines were given is used again.
pub(crate) fn derive(
    request: &Request<'_>,
    locked: &Locked,
    context: &Context,
    interrupt: &Interrupt,
) -> anyhow::Result<Derived> {
    let dir = locked.dir();
    let frozen = match Generation::of(dir)? {
        Generation::New => None,
        Generation::Begun(frozen) => Some(*frozen),
        Generation::Destroyed(infra_id) => {
            retire(locked, &infra_id)?;
            context.printer.info(format_args!("{infra_id} was destroyed; a new cluster begins"));
            None
        }
    };
    let Request { source, choices, .. } = *request;
    let is_known = dir.identity()?.is_some();
    let desk = Desk { dir, record: dir.record()?, choices, begins_anew: !is_known && dir.has_past() };
    let credentials = credentials(&source.config.platform, &context.environment, context.printer)?;
    let work = match frozen {
        Some(frozen) => handed_out(request, frozen, &desk, credentials.as_ref(), context)?,
        None => rendered(request, &desk, credentials.as_ref(), context)?,
    };
    let Work { identity, mut plans, files, frozen } = work;
    let derived = plans.len();
    let mut inventory = None;
    if let (Target::Kit, Some(identity)) = (request.target, &identity) {
        let cluster = Cluster { config: &source.config, infra_id: &identity.infra_id };
        let kit = KitSource::read(dir, &cluster)?;
        let secrets = secrets(dir, &files)?;
        plans.push(kit.plan(&desk, &cluster, source.inputs(), &plans[1].effective(), secrets.as_ref())?);
        inventory = kit.new;
    }
    check_names(choices, &plans)?;

    let mut transaction = Transaction::begin(locked, context.now, env!("CARGO_PKG_VERSION"))?;
    for (path, file) in files.iter() {
        transaction.write(path, file.clone());
    }
    // After the secrets: where there is an identity, they are complete.
    if let Some(identity) = identity.as_ref().filter(|_| !is_known) {
        transaction.identify(identity);
    }
    if let Some(file) = inventory {
        transaction.write(landfall_upi::INVENTORY, file);
    }
    for plan in plans.iter().skip(if frozen.is_some() { derived } else { 0 }) {
        transaction.stage(plan);
    }
    let _held = interrupt.hold();
    let committed = transaction.commit()?;
    context.attach_log();
    Ok(Derived {
        identity,
        plans,
        backup: committed.backup,
        credentials: credentials::digest(credentials.as_ref()),
        frozen,
    })
}

/// What the stages came to, before anything is written.
struct Work {
    identity: Option<Identity>,
    plans: Vec<Plan>,
    /// What has to be kept for the next run.
    files: FileSet,
    frozen: Option<Frozen>,
}

/// Takes what machines were given.
fn handed_out(
    request: &Request<'_>,
    frozen: Frozen,
    desk: &Desk<'_>,
    credentials: Option<&Credentials>,
    context: &Context,
) -> anyhow::Result<Work> {
    let config = &request.source.config;
    let mut plans = frozen::plans(&frozen, request.source, desk)?;
    let printer = context.printer;
    frozen::tell_credentials(&frozen, credentials, printer);
    printer.info(format_args!("the files are those that were handed out to machines since {:.0}", frozen.frozen_at));
    if request.target == Target::Manifests {
        plans.truncate(1);
    }
    let gone = || Error::IdentityGone { path: desk.dir.root().to_owned() };
    let identity = Some(identity(desk, config, printer)?.ok_or_else(gone)?);
    Ok(Work { identity, plans, files: FileSet::default(), frozen: Some(frozen) })
}

/// Renders the stages.
fn rendered(
    request: &Request<'_>,
    desk: &Desk<'_>,
    credentials: Option<&Credentials>,
    context: &Context,
) -> anyhow::Result<Work> {
    let Request { target, source, program, .. } = *request;
    let config = &source.config;
    let before = identity(desk, config, context.printer)?;
    let mut renderer: Box<dyn Renderer> = if config.distribution.is_openshift() {
        let program = Program::find(program, config, &context.environment)?;
        context.printer.info(program.describe());
        Box::new(Openshift::new(config, source.inputs(), before, program, context.printer))
    } else {
        Box::new(Kubernetes::new(config, source.inputs(), before, desk, context.now)?)
    };
    let mut plans = vec![renderer.manifests(desk, credentials)?];
    if target >= Target::IgnitionConfigs {
        plans.push(renderer.ignition_configs(desk, &plans[0].effective())?);
    }
    Ok(Work { identity: renderer.identity().cloned(), plans, files: renderer.own_files(), frozen: None })
}

/// Who the cluster is, once that has been decided. Nothing that the install-config says can change it.
fn identity(desk: &Desk<'_>, config: &InstallConfig, printer: Printer) -> anyhow::Result<Option<Identity>> {
    let root = || desk.dir.root().to_owned();
    let Some(identity) = desk.dir.identity()? else {
        return if desk.record.has_complete_stage() && !desk.begins_anew {
            Err(Error::IdentityGone { path: root() }.into())
        } else {
            Ok(None)
        };
    };
    let was_openshift = desk.dir.read(MANIFESTS_STATE)?.is_some();
    if was_openshift != config.distribution.is_openshift() {
        return Err(Error::OtherDistribution { path: root() }.into());
    }
    let Identity { cluster_name, infra_id } = &identity;
    if *cluster_name != config.metadata.name {
        printer.warn(format_args!(
            "the cluster is now called '{}', but its infra id stays {infra_id}, from when it was called '{cluster_name}'",
            config.metadata.name
        ));
    }
    Ok(Some(identity))
}

/// A file that is named by a flag and that no stage renders is a slip of the pen.
fn check_names(choices: &Choices, plans: &[Plan]) -> Result<(), Error> {
    match choices.paths().find(|path| !plans.iter().any(|plan| plan.renders(path))) {
        Some(path) => Err(Error::Usage(format!("'{path}' is not a file that landfall makes for this target"))),
        None => Ok(()),
    }
}
