//! Distribution `kubernetes`: everything is rendered here.

use jiff::Timestamp;
use landfall_assets::{Certificates, Cluster, Credentials, IssuedCertificate, Secrets, ignition_configs, manifests};
use landfall_config::InstallConfig;
use landfall_platform::{FileSet, InfraId};
use landfall_workdir::{Identity, Inputs, Plan, Rendering};
use rand::SeedableRng as _;
use rand_chacha::ChaCha20Rng;

use super::{
    IGNITION_CONFIGS, MANIFESTS, credentials,
    derive::Renderer,
    desk::{Desk, digest},
};

/// Where the secrets are kept.
pub(super) const SECRETS: &str = ".landfall/secrets";

/// Renders a cluster of distribution `kubernetes`.
pub(super) struct Kubernetes<'a> {
    config: &'a InstallConfig,
    identity: Identity,
    secrets: Secrets,
    /// Whether identity and secrets were made in this run.
    new: bool,
    inputs: Inputs,
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
        Ok(Self { config, identity, secrets, new, inputs, now })
    }

    fn cluster(&self) -> Cluster<'_> {
        Cluster { config: self.config, infra_id: &self.identity.infra_id }
    }
}

impl Renderer for Kubernetes<'_> {
    fn manifests(&mut self, desk: &Desk<'_>, credentials: Option<&Credentials>) -> anyhow::Result<Plan> {
        let rendered = manifests(&self.cluster(), &self.secrets, credentials)?;
        let inputs = self.inputs.clone().with("credentials", credentials::digest(credentials));
        desk.settle(MANIFESTS, &Rendering::stable(rendered), inputs)
    }

    fn ignition_configs(&mut self, desk: &Desk<'_>, manifests: &FileSet) -> anyhow::Result<Plan> {
        let cluster = self.cluster();
        let certificates = Certificates::issue(&cluster, &self.secrets, self.now)?;
        let render = |certificates| ignition_configs(&cluster, &self.secrets, certificates, manifests);
        let rendered = render(&certificates)?;
        let template = render(&placeholders(&certificates))?;
        let inputs = self.inputs.clone().with(MANIFESTS.name, digest(manifests));
        desk.settle(IGNITION_CONFIGS, &Rendering::with_template(rendered, &template), inputs)
    }

    fn identity(&self) -> Option<&Identity> {
        Some(&self.identity)
    }

    fn own_files(&self) -> FileSet {
        if self.new { self.secrets.to_files() } else { FileSet::default() }
    }
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
