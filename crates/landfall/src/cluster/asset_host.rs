//! What machines boot with, where a platform cannot hand it to them by itself.

use std::{path::Path, time::Duration};

use anyhow::Context as _;
use bytes::Bytes;
use landfall_asset_host::{AssetHost, Assets, Bucket, BucketPlace, Identity, check_served};
use landfall_assets::{boot_script, replacement_config};
use landfall_config::{
    InstallConfig,
    packet::{self, OwnHost},
};
use landfall_platform::{Environment, File, FileSet, InfraId};
use landfall_wire::Trust;
use url::Url;

/// What makes the host the same one on every run, relative to the install directory. It is secret.
const IDENTITY: &str = ".landfall/asset-host.json";
/// Where files are put that the user serves, relative to the install directory.
const DIRECTORY: &str = "asset-host";
const SCRIPT: &str = "boot.ipxe";
const BOOTSTRAP: &str = "bootstrap.ign";

/// What machines are started with.
#[derive(Default)]
pub(crate) struct Boot {
    /// User data by the name of its file.
    pub(crate) user_data: FileSet,
    /// Where machines that boot from the network find their script.
    pub(crate) script_url: Option<String>,
    host: Host,
}

/// Who has the files.
#[derive(Default)]
enum Host {
    /// There are none.
    #[default]
    Nobody,
    /// This program.
    Own(AssetHost),
    /// The user, below a URL.
    User { base: Url, directory: String, files: Files },
    /// A bucket, below a prefix.
    Bucket { bucket: Bucket, prefix: String, files: Files },
}

/// What is fetched.
struct Files {
    script: Option<Bytes>,
    bootstrap: Bytes,
}

impl Files {
    /// Names and contents. Nobody needs the bootstrap machine's config once it has done its work.
    fn needed(&self, has_bootstrap: bool) -> impl Iterator<Item = (&'static str, &Bytes)> {
        let bootstrap = has_bootstrap.then_some((BOOTSTRAP, &self.bootstrap));
        self.script.iter().map(|script| (SCRIPT, script)).chain(bootstrap)
    }
}

impl Boot {
    /// Machines get their configs from the platform.
    pub(crate) fn plain(user_data: FileSet) -> Self {
        Self { user_data, ..Self::default() }
    }

    /// Decides where machines fetch things. `listen` goes before what the install-config says.
    pub(crate) async fn prepare(
        config: &InstallConfig,
        infra_id: &InfraId,
        dir: &Path,
        ignition: FileSet,
        listen: Option<&str>,
        environment: &Environment,
    ) -> anyhow::Result<Self> {
        let Some(platform) = config.platform.packet() else { return Ok(Self::plain(ignition)) };
        let identity = Identity::establish(&dir.join(IDENTITY))?;
        let bootstrap = ignition.get(BOOTSTRAP).map(|file| Bytes::from(file.contents.clone())).unwrap_or_default();
        let files = Files { script: boot_script(config).map(Bytes::from), bootstrap: bootstrap.clone() };
        let mut authority = None;
        let (secret, public, host) = match &platform.asset_host {
            packet::AssetHost::Landfall(own) => {
                authority = Some(identity.authority.as_str());
                let (secret, public, host) = serve(own, listen, &identity, &files).await?;
                (below(&secret, BOOTSTRAP), below(&public, SCRIPT), Host::Own(host))
            }
            packet::AssetHost::Url(url) => {
                let base = below(url, &identity.token);
                let directory = dir.join(DIRECTORY).join(&identity.token);
                put(&directory, &files)?;
                let host = Host::User { base: base.clone(), directory: directory.display().to_string(), files };
                (below(&base, BOOTSTRAP), below(&base, SCRIPT), host)
            }
            packet::AssetHost::Bucket(own) => {
                let (bucket, prefix) = (open(own, environment)?, prefix(infra_id));
                let lifetime = Duration::from_mins(own.link_minutes.into());
                let link = |name: &str| bucket.link(&format!("{prefix}{name}"), lifetime);
                (link(BOOTSTRAP), link(SCRIPT), Host::Bucket { bucket, prefix, files })
            }
        };
        let pointer = replacement_config(&secret, authority, &bootstrap);
        let mut user_data = ignition;
        user_data.replace(BOOTSTRAP, File::private(pointer));
        let script_url = boot_script(config).map(|_| String::from(public));
        Ok(Self { user_data, script_url, host })
    }

    /// Makes sure that machines find what they fetch, before any is made. `has_bootstrap` is whether the bootstrap machine has
    /// work to do.
    pub(crate) async fn publish(&self, has_bootstrap: bool) -> anyhow::Result<()> {
        match &self.host {
            Host::Nobody | Host::Own(_) => Ok(()),
            Host::User { base, directory, files } => {
                for (name, contents) in files.needed(has_bootstrap) {
                    let checked = check_served(&below(base, name), contents).await;
                    checked.with_context(|| {
                        format!("the files in {directory} must be served below {base} before machines can be made")
                    })?;
                }
                Ok(())
            }
            Host::Bucket { bucket, prefix, files } => {
                for (name, contents) in files.needed(has_bootstrap) {
                    bucket.put(&format!("{prefix}{name}"), contents.clone()).await?;
                }
                Ok(())
            }
        }
    }

    /// Serves no secrets from now on. Returns what the user has to do about them, if anything.
    pub(crate) async fn forget_secrets(&self) -> anyhow::Result<Option<String>> {
        match &self.host {
            Host::Nobody => {}
            Host::Own(host) => host.forget_private(),
            Host::User { base, .. } => {
                return Ok(Some(format!(
                    "nobody needs {} any more, and it holds secrets: take it away",
                    below(base, BOOTSTRAP)
                )));
            }
            Host::Bucket { bucket, prefix, .. } => bucket.remove(&format!("{prefix}{BOOTSTRAP}")).await?,
        }
        Ok(None)
    }

    /// Takes everything away: all machines are up.
    pub(crate) async fn withdraw(&self) -> anyhow::Result<()> {
        match &self.host {
            Host::Bucket { bucket, prefix, .. } => Ok(remove_objects(bucket, prefix).await?),
            Host::Nobody | Host::Own(_) | Host::User { .. } => Ok(()),
        }
    }
}

/// Removes what an installation may have left in a bucket.
pub(crate) async fn remove_assets(
    config: &InstallConfig,
    infra_id: &InfraId,
    environment: &Environment,
) -> anyhow::Result<()> {
    match config.platform.packet().map(|platform| &platform.asset_host) {
        Some(packet::AssetHost::Bucket(own)) => Ok(remove_objects(&open(own, environment)?, &prefix(infra_id)).await?),
        _ => Ok(()),
    }
}

async fn remove_objects(bucket: &Bucket, prefix: &str) -> Result<(), landfall_asset_host::BucketError> {
    for name in [BOOTSTRAP, SCRIPT] {
        bucket.remove(&format!("{prefix}{name}")).await?;
    }
    Ok(())
}

fn open(own: &packet::Bucket, environment: &Environment) -> anyhow::Result<Bucket> {
    let place = BucketPlace { endpoint: own.endpoint.as_ref(), region: &own.region, name: &own.name };
    Ok(Bucket::new(&place, environment, &Trust::System)?)
}

/// What the keys of a cluster's objects begin with.
fn prefix(infra_id: &InfraId) -> String {
    format!("landfall/{infra_id}/")
}

/// Begins to serve, and says where: over TLS, and in plain.
async fn serve(
    own: &OwnHost,
    listen: Option<&str>,
    identity: &Identity,
    files: &Files,
) -> anyhow::Result<(Url, Url, AssetHost)> {
    let listen = listen.unwrap_or(&own.listen);
    let known = own.public.as_deref().unwrap_or(listen);
    let (host, port) = known.rsplit_once(':').map_or((known, None), |(host, port)| (host, Some(port)));
    let mut assets = Assets::default();
    assets.public.extend(files.script.clone().map(|script| (SCRIPT.to_owned(), script)));
    assets.private.insert(BOOTSTRAP.to_owned(), files.bootstrap.clone());
    let started = AssetHost::start(listen, host, identity, assets).await?;
    let own_port = started.address().port().to_string();
    let port = port.filter(|port| *port != "0").unwrap_or(&own_port);
    let url = |scheme: &str| {
        let text = format!("{scheme}://{host}:{port}/{}/", identity.token);
        text.parse::<Url>().with_context(|| format!("machines cannot reach '{known}'"))
    };
    Ok((url("https")?, url("http")?, started))
}

/// Puts the files where the user takes them from.
fn put(directory: &Path, files: &Files) -> anyhow::Result<()> {
    use std::{io::Write as _, os::unix::fs::OpenOptionsExt as _};
    let failed = || format!("cannot write {}", directory.display());
    std::fs::create_dir_all(directory).with_context(failed)?;
    for (name, contents) in files.needed(true) {
        let file =
            std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(directory.join(name));
        file.and_then(|mut file| file.write_all(contents)).with_context(failed)?;
    }
    Ok(())
}

fn below(url: &Url, name: &str) -> Url {
    let mut url = url.clone();
    let path = format!("{}/{name}", url.path().trim_end_matches('/'));
    url.set_path(&path);
    url
}
