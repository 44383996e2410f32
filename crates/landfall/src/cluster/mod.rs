//! What the commands share that work on a cluster: its platform, its journal, its progress.

mod asset_host;
mod boot_assets;
mod boot_window;
mod bootstrap;
mod control_plane;
mod credentials;
mod ending;
mod everywhere;
mod platform;
mod preflight;
mod progress;
mod public_dns;
mod waiting;

pub(crate) use asset_host::{Boot, HostRequest, remove_assets};
pub(crate) use boot_window::{Ahead, check_certificates};
pub(crate) use bootstrap::bootstrap_progress;
pub(crate) use credentials::with_credentials;
pub(crate) use ending::ClusterError;
pub(crate) use platform::{Facts, Look, Plans, Site, providers, require_credentials, retired_steps, site};
pub(crate) use preflight::{OnProblems, preflight};
pub(crate) use progress::Progress;
pub(crate) use public_dns::{PublicDns, binder as dns_binder};
pub(crate) use waiting::{Binder, Wait, api, api_address, is_wait};

/// The journal, relative to the install directory.
pub(crate) const JOURNAL: &str = ".landfall/journal.sqlite";
/// What makes the asset host the same one on every run, relative to the install directory. It is secret.
pub(crate) const ASSET_HOST: &str = ".landfall/asset-host.json";
/// The administrator's kubeconfig, relative to the install directory.
pub(crate) const KUBECONFIG: &str = "auth/kubeconfig";
/// What it takes to find a cluster again, relative to the install directory.
pub(crate) const METADATA: &str = "metadata.json";
