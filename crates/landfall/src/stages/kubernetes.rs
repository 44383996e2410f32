//! Distribution `kubernetes`: everything is rendered here.

use jiff::Timestamp;
use landfall_assets::{
    Certificates, Cluster, Credentials, IssuedCertificate, Secrets, ignition_configs, manifests, served_config,
};
use landfall_config::{InstallConfig, Role};
use landfall_platform::{File, FileSet, InfraId};
use landfall_workdir::{Identity, Inputs, Plan, Rendering, WorkDir};
use rand::SeedableRng as _;
use rand_chacha::ChaCha20Rng;

use super::{
    IGNITION_CONFIGS, MANIFESTS, credentials,
    derive::Renderer,
    desk::{Desk, digest},
};

/// Where the secrets are kept.
pub(crate) const SECRETS: &str = ".landfall/secrets";

/// Returns the secrets of a cluster, if Landfall made them: those in `files`, which are about to be written, or else those on disk.
pub(crate) fn secrets(dir: &WorkDir, files: &FileSet) -> anyhow::Result<Option<Secrets>> {
    let new = files.below(SECRETS).next().is_some();
    let files = if new { files.clone() } else { dir.read_directory(SECRETS)? };
    if files.is_empty() { Ok(None) } else { Ok(Some(Secrets::from_files(&files)?)) }
}

/// Renders a cluster of distribution `kubernetes`.
pub(super) struct Kubernetes<'a> {
    config: &'a InstallConfig,
    identity: Identity,
    secrets: Secrets,
    /// Whether identity and secrets were made in this run.
    new: bool,
    inputs: Inputs,
    credentials: Held,
    now: Timestamp,
}

impl<'a> Kubernetes<'a> {
    /// With the identity and secrets of an earlier run, or new ones.
    pub(super) fn new(
        config: &'a InstallConfig,
        inputs: Inputs,
        identity: Option<Identity>,
        desk: &Desk<'_>,
        now: Timestamp,
    ) -> anyhow::Result<Self> {
        let mut rng = ChaCha20Rng::from_os_rng();
        let new = identity.is_none();
        let identity = identity.unwrap_or_else(|| Identity {
            infra_id: InfraId::mint(&config.metadata.name, &mut rng),
            cluster_name: config.metadata.name.clone(),
        });
        let cluster = Cluster { config, infra_id: &identity.infra_id };
        let secrets = if new {
            Secrets::generate(&cluster, now, &mut rng)?
        } else {
            Secrets::from_files(&desk.dir.read_directory(SECRETS)?)?
        };
        let inputs = inputs.with("secrets", digest(&secrets.to_files()));
        Ok(Self { config, identity, secrets, new, inputs, credentials: Held::default(), now })
    }

    fn cluster(&self) -> Cluster<'_> {
        Cluster { config: self.config, infra_id: &self.identity.infra_id }
    }
}

impl Renderer for Kubernetes<'_> {
    fn manifests(&mut self, desk: &Desk<'_>, credentials: Option<&Credentials>) -> anyhow::Result<Plan> {
        let render = |credentials| manifests(&self.cluster(), &self.secrets, credentials);
        let blank = credentials.map(blank);
        let (rendered, template, without) = (render(credentials)?, render(blank.as_ref())?, render(None)?);
        let inputs = self.inputs.clone().with("credentials", credentials::digest(credentials));
        let plan = desk.settle(MANIFESTS, &Rendering::with_template(rendered.clone(), &template), inputs)?;
        self.credentials = Held { with: rendered, without };
        Ok(plan)
    }

    fn ignition_configs(&mut self, desk: &Desk<'_>, manifests: &FileSet) -> anyhow::Result<Plan> {
        let cluster = self.cluster();
        let certificates = Certificates::issue(&cluster, &self.secrets, self.now)?;
        let (placeholders, impersonal) = (placeholders(&certificates), self.credentials.taken_out_of(manifests));
        let mut edited = FileSet::default();
        // Without edits: whoever edits a config that others hold copies of wants the copies to follow.
        let template = ignition_configs(&cluster, &self.secrets, &placeholders, &impersonal, &edited)?;
        let render = |edited: &FileSet| -> anyhow::Result<Rendering> {
            let rendered = ignition_configs(&cluster, &self.secrets, &certificates, manifests, edited)?;
            Ok(Rendering::with_template(rendered, &template))
        };
        let mut rendering = render(&edited)?;
        // Masters hold what workers are served, so the worker's config comes first.
        for path in [Role::Worker, Role::Master].map(served_config) {
            if let Some(edit) = desk.edit(IGNITION_CONFIGS, &rendering, &path)? {
                edited.insert(path, edit);
                rendering = render(&edited)?;
            }
        }
        let inputs = self.inputs.clone().with(MANIFESTS.name, digest(manifests));
        desk.settle(IGNITION_CONFIGS, &rendering, inputs)
    }

    fn identity(&self) -> Option<&Identity> {
        Some(&self.identity)
    }

    fn own_files(&self) -> FileSet {
        if self.new { self.secrets.to_files() } else { FileSet::default() }
    }
}

/// The manifests as rendered with the platform's credentials, and as they would be without any.
#[derive(Default)]
struct Held {
    with: FileSet,
    without: FileSet,
}

impl Held {
    /// The manifests that will be used, as they would be without credentials: having them at last, or others than before,
    /// makes nothing out of date that holds a copy. What the user edited stays.
    fn taken_out_of(&self, manifests: &FileSet) -> FileSet {
        let impersonal = |(path, file): (&str, &File)| match self.with.get(path) {
            Some(rendered) if rendered == file => self.without.get(path).cloned(),
            _ => Some(file.clone()),
        };
        manifests.iter().filter_map(|(path, file)| Some((path.to_owned(), impersonal((path, file))?))).collect()
    }
}

/// What is rendered in the place of credentials: another password makes nothing out of date, it takes the place of the old.
fn blank(credentials: &Credentials) -> Credentials {
    credentials.keys().map(|key| (key.clone(), "what the credentials file says\n".to_owned())).collect()
}

/// What is rendered in the place of certificates, to tell whether anything else has changed.
fn placeholders(certificates: &Certificates) -> Certificates {
    let placeholder = |certificate: &IssuedCertificate| IssuedCertificate {
        pem: "a certificate that is issued on each run\n".to_owned(),
        expiry: certificate.expiry.clone(),
    };
    let Certificates { config_server, admin } = certificates;
    Certificates { config_server: placeholder(config_server), admin: placeholder(admin) }
}
