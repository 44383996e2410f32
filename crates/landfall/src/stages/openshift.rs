//! Distributions `openshift` and `okd`: the release's own installer renders what is bound to the release.
//!
//! Each rendering of the manifests brings new authorities with it, so they are rendered only if something they are made
//! from has changed; otherwise the state of the last rendering goes on being used.

use std::path::Path;

use landfall_assets::{
    Cluster, Credentials,
    openshift::{self, OpenshiftInstall as _, VersionInfo},
};
use landfall_config::InstallConfig;
use landfall_platform::{Environment, File, FileSet};
use landfall_workdir::{Digest, Identity, Inputs, Outcome, Plan, Rendering, Stage};

use super::{
    IGNITION_CONFIGS, OPENSHIFT_MANIFESTS as MANIFESTS, credentials,
    derive::Renderer,
    desk::{Desk, digest},
    scratch::Scratch,
};
use crate::{error::Error, printer::Printer};

/// The installer's state after it rendered the manifests.
pub(super) const MANIFESTS_STATE: &str = ".landfall/secrets/openshift-manifests-state.json";
/// The same after it rendered everything, for its own commands that want it.
const FINAL_STATE: &str = ".landfall/secrets/openshift-state.json";
/// The input that says which rendering of the manifests is in use.
const RENDERING: &str = "the rendering of openshift-install";

/// The release's own installer, and what it says of itself.
pub(super) struct Program {
    program: openshift::Program,
    version: VersionInfo,
}

impl Program {
    /// Finds the program: by flag, config or `PATH`.
    pub(super) fn find(flag: Option<&Path>, config: &InstallConfig, environment: &Environment) -> anyhow::Result<Self> {
        let settings = config.openshift_install.as_ref();
        let path = openshift::locate(flag, settings, environment.get("PATH"))?;
        let image = environment.get("OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE").and_then(|image| image.to_str());
        let program = openshift::Program::new(path, openshift::release_image(settings, image));
        let version = program.version()?;
        version.check(config)?;
        Ok(Self { program, version })
    }

    /// Which release it is, for people.
    pub(super) fn describe(&self) -> String {
        let VersionInfo { version, release_image, .. } = &self.version;
        let image = release_image.as_deref().unwrap_or("unknown");
        format!("openshift-install {version} at {}, release image {image}", self.program.path().display())
    }

    fn digest(&self) -> Digest {
        let VersionInfo { version, release_image, .. } = &self.version;
        let image = release_image.as_deref().unwrap_or_default();
        Digest::of_parts([("version", version.as_bytes()), ("release image", image.as_bytes())])
    }
}

/// Renders a cluster of distribution `openshift` or `okd`.
pub(super) struct Openshift<'a> {
    config: &'a InstallConfig,
    program: Program,
    printer: Printer,
    inputs: Inputs,
    identity: Option<Identity>,
    /// The installer's state that goes with the manifests, and whether it was made in this run.
    manifests_state: Option<(File, bool)>,
    final_state: Option<File>,
}

impl<'a> Openshift<'a> {
    /// With the identity of an earlier run; a new one comes from the installer.
    pub(super) fn new(
        config: &'a InstallConfig,
        inputs: Inputs,
        identity: Option<Identity>,
        program: Program,
        printer: Printer,
    ) -> Self {
        let inputs = inputs.with("the openshift-install in use", program.digest());
        Self { config, program, printer, inputs, identity, manifests_state: None, final_state: None }
    }

    fn warn(&self, warnings: &[String]) {
        for warning in warnings {
            self.printer.warn(format_args!("openshift-install: {warning}"));
        }
    }
}

impl Renderer for Openshift<'_> {
    fn manifests(&mut self, desk: &Desk<'_>, credentials: Option<&Credentials>) -> anyhow::Result<Plan> {
        let inputs = self.inputs.clone().with("credentials", credentials::digest(credentials));
        let of = |state: &File| inputs.clone().with(RENDERING, Digest::of(&state.contents));
        let earlier = desk.dir.read(MANIFESTS_STATE)?;
        if let Some(state) = &earlier
            && let Some(plan) = desk.keep(MANIFESTS, &of(state))?
        {
            self.manifests_state = Some((state.clone(), false));
            return Ok(plan);
        }
        let scratch = Scratch::new(desk.dir)?;
        let program = &self.program.program;
        let rendered = openshift::manifests(program, self.config, credentials, earlier.as_ref(), scratch.path())?;
        self.warn(&rendered.warnings);
        let cluster_name = self.config.metadata.name.clone();
        self.identity.get_or_insert(Identity { infra_id: rendered.infra_id, cluster_name });
        let rendering = Rendering::stable(rendered.files);
        let mut plan = settle(desk, MANIFESTS, &rendering, of(&rendered.state))?;
        let has = |wanted: fn(Outcome) -> bool| plan.outcomes().any(|(_, outcome)| wanted(outcome));
        let kept = has(|outcome| outcome == Outcome::KeepStale);
        if kept && has(Outcome::writes) {
            return Err(Error::MixedRenderings.into());
        }
        // Manifests of an earlier rendering hold its authorities, so they go on being used with its state.
        self.manifests_state = match earlier.filter(|_| kept) {
            Some(state) => {
                plan = desk.settle(MANIFESTS, &rendering, of(&state))?;
                Some((state, false))
            }
            None => Some((rendered.state, true)),
        };
        Ok(plan)
    }

    fn ignition_configs(&mut self, desk: &Desk<'_>, manifests: &FileSet) -> anyhow::Result<Plan> {
        let state = self.manifests_state.as_ref().map(|(state, _)| state);
        let (Some(state), Some(identity)) = (state, &self.identity) else {
            unreachable!("the manifests come first, and with them state and identity")
        };
        let scratch = Scratch::new(desk.dir)?;
        let cluster = Cluster { config: self.config, infra_id: &identity.infra_id };
        let rendered = openshift::ignition_configs(&self.program.program, &cluster, manifests, state, scratch.path())?;
        self.warn(&rendered.warnings);
        let inputs = self.inputs.clone().with(RENDERING, Digest::of(&state.contents));
        let inputs = inputs.with(MANIFESTS.name, digest(manifests));
        let plan = settle(desk, IGNITION_CONFIGS, &Rendering::of_inputs(rendered.files, &inputs), inputs)?;
        self.final_state = Some(rendered.state);
        Ok(plan)
    }

    fn identity(&self) -> Option<&Identity> {
        self.identity.as_ref()
    }

    fn own_files(&self) -> FileSet {
        let new = self.manifests_state.iter().filter(|(_, new)| *new).map(|(state, _)| (MANIFESTS_STATE, state));
        let all = new.chain(self.final_state.iter().map(|state| (FINAL_STATE, state)));
        all.map(|(path, state)| (path.to_owned(), state.clone())).collect()
    }
}

/// Settles a stage. What a run had begun to write when it was killed is of another rendering, with other authorities: all of it is
/// written anew without a question, except what the user has edited since.
fn settle(desk: &Desk<'_>, stage: Stage, rendering: &Rendering, inputs: Inputs) -> anyhow::Result<Plan> {
    if desk.was_cut_short(stage, &inputs, &[RENDERING, MANIFESTS.name]) {
        desk.settle_own(stage, rendering, inputs)
    } else {
        desk.settle(stage, rendering, inputs)
    }
}
