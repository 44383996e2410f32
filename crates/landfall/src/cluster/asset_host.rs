//! What machines boot with, where a platform cannot hand it to them by itself.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context as _;
use bytes::Bytes;
use landfall_asset_host::{AssetHost, Assets, Bucket, BucketPlace, Identity, Reader, StartError, check_served};
use landfall_assets::{boot_script, replacement_config};
use landfall_config::{
    InstallConfig,
    packet::{self, OwnHost},
};
use landfall_platform::{Environment, File, FileSet, InfraId};
use landfall_wire::Trust;
use url::Url;

use super::ASSET_HOST;
use crate::error::Error;

/// Where files are put that the user serves, relative to the install directory.
const DIRECTORY: &str = "asset-host";
const SCRIPT: &str = "boot.ipxe";
const BOOTSTRAP: &str = "bootstrap.ign";
/// What is written down of the program's own server, for later runs: where it listens, and the URL that machines were given.
const LISTENS_ON: &str = "the asset host listens on";
const SERVED_BELOW: &str = "the asset host serves below";

/// What machines are started with.
#[derive(Default)]
pub(crate) struct Boot {
    /// User data by the name of its file.
    pub(crate) user_data: FileSet,
    /// Where machines that boot from the network find their script.
    pub(crate) script_url: Option<String>,
    /// What machines are told that must be so in later runs too.
    told: BTreeMap<String, String>,
    host: Host,
}

/// What decides where this program serves machines.
pub(crate) struct HostRequest<'a> {
    /// The flag, which goes before what the install-config says.
    pub(crate) listen: Option<&'a str>,
    /// What machines were told by an earlier run, if they still depend on it.
    pub(crate) told: Option<&'a BTreeMap<String, String>>,
}

/// Who has the files.
#[derive(Default)]
#[allow(clippy::large_enum_variant, reason = "there is one of them")]
enum Host {
    /// There are none.
    #[default]
    Nobody,
    /// This program. `has_private` is false if its identity is of a version that had no path of their own for private files.
    Own { host: AssetHost, has_private: bool },
    /// The user, below a URL.
    User { served: Vec<Served>, directory: PathBuf },
    /// A bucket, below a prefix.
    Bucket { bucket: Bucket, prefix: String, files: Files },
}

/// A file that the user serves.
struct Served {
    name: &'static str,
    url: Url,
    contents: Bytes,
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

    /// Decides where machines fetch things.
    pub(crate) async fn prepare(
        config: &InstallConfig,
        infra_id: &InfraId,
        dir: &Path,
        ignition: FileSet,
        request: &HostRequest<'_>,
        environment: &Environment,
    ) -> anyhow::Result<Self> {
        let Some(platform) = config.platform.packet() else { return Ok(Self::plain(ignition)) };
        let identity = Identity::establish(&dir.join(ASSET_HOST))?;
        let bootstrap = ignition.get(BOOTSTRAP).map(|file| Bytes::from(file.contents.clone())).unwrap_or_default();
        let files = Files { script: boot_script(config).map(Bytes::from), bootstrap: bootstrap.clone() };
        let (mut authority, mut told) = (None, BTreeMap::new());
        let (secret, public, host) = match &platform.asset_host {
            packet::AssetHost::Landfall(own) => {
                authority = Some(identity.authority.as_str());
                let (urls, below_this, host) = serve(own, request, &identity, &files).await?;
                told.insert(LISTENS_ON.to_owned(), host.address().to_string());
                told.insert(SERVED_BELOW.to_owned(), below_this.to_string());
                let has_private = identity.private_token.is_some();
                (below(&urls.private, BOOTSTRAP), below(&urls.public, SCRIPT), Host::Own { host, has_private })
            }
            packet::AssetHost::Url(url) => {
                let private = identity.private_token.as_deref().unwrap_or(&identity.token);
                let directory = dir.join(DIRECTORY);
                let mut served = Vec::new();
                for (name, contents) in files.needed(true) {
                    let token = if name == BOOTSTRAP { private } else { &identity.token };
                    put(&directory.join(token), name, contents)?;
                    served.push(Served { name, url: below(&below(url, token), name), contents: contents.clone() });
                }
                let at = |token: &str, name| below(&below(url, token), name);
                (at(private, BOOTSTRAP), at(&identity.token, SCRIPT), Host::User { served, directory })
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
        Ok(Self { user_data, script_url, told, host })
    }

    /// Returns what machines are told that must be so in later runs too.
    pub(crate) fn told(&self) -> &BTreeMap<String, String> {
        &self.told
    }

    /// Serves the bootstrap machine its config. Until then it is not served at all.
    pub(crate) fn admit(&self, reader: Reader) {
        if let Host::Own { host, .. } = &self.host {
            host.admit(reader);
        }
    }

    /// Makes sure that machines find what they fetch, before any is made. `has_bootstrap` is whether the bootstrap machine has
    /// yet to read its config.
    pub(crate) async fn publish(&self, has_bootstrap: bool) -> anyhow::Result<()> {
        match &self.host {
            Host::Own { has_private: false, .. } if has_bootstrap => Err(Error::AssetHostOutdated.into()),
            Host::Own { host, .. } if !has_bootstrap => {
                host.forget_private();
                Ok(())
            }
            Host::Nobody | Host::Own { .. } => Ok(()),
            Host::User { served, directory } => {
                for file in served.iter().filter(|file| has_bootstrap || file.name != BOOTSTRAP) {
                    let checked = check_served(&file.url, &file.contents).await;
                    checked.with_context(|| {
                        format!(
                            "{} must serve its file in {} before machines can be made",
                            file.url,
                            directory.display()
                        )
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
            Host::Own { host, .. } => host.forget_private(),
            Host::User { served, .. } => {
                let secret = served.iter().find(|file| file.name == BOOTSTRAP);
                return Ok(secret.map(|file| {
                    format!("no machine needs {} any more, and it holds secrets: take it away", file.url)
                }));
            }
            Host::Bucket { bucket, prefix, .. } => bucket.remove(&format!("{prefix}{BOOTSTRAP}")).await?,
        }
        Ok(None)
    }

    /// Takes everything away: all machines are up.
    pub(crate) async fn withdraw(&self) -> anyhow::Result<()> {
        match &self.host {
            Host::Bucket { bucket, prefix, .. } => Ok(remove_objects(bucket, prefix).await?),
            Host::Nobody | Host::Own { .. } | Host::User { .. } => Ok(()),
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

/// Where this program serves each kind of file.
struct Urls {
    private: Url,
    public: Url,
}

/// Begins to serve, and returns where and what later runs must know of it. Machines that were told where by an earlier run find it there
/// again. What is written down holds no secret path.
async fn serve(
    own: &OwnHost,
    request: &HostRequest<'_>,
    identity: &Identity,
    files: &Files,
) -> anyhow::Result<(Urls, Url, AssetHost)> {
    let told = |name| request.told.and_then(|told| told.get(name)).map(String::as_str);
    let earlier = told(LISTENS_ON).zip(told(SERVED_BELOW));
    let wanted = request.listen.unwrap_or(&own.listen);
    let public = own.public.as_deref().unwrap_or(wanted);
    let (listen, known) = match (earlier, request.listen) {
        (None, _) => (wanted.to_owned(), public.to_owned()),
        (Some((listen, below)), None) => (listen.to_owned(), host_and_port(below)?),
        (Some((listen, _)), Some(wanted)) => (at_earlier_port(wanted, listen), public.to_owned()),
    };
    let (host, port) = known.rsplit_once(':').map_or((known.as_str(), None), |(host, port)| (host, Some(port)));
    let mut assets = Assets::default();
    assets.public.extend(files.script.clone().map(|script| (SCRIPT.to_owned(), script)));
    assets.private.insert(BOOTSTRAP.to_owned(), files.bootstrap.clone());
    let started = AssetHost::start(&listen, host, identity, assets).await.map_err(|error| match error {
        StartError::Listen { address, source } if earlier.is_some() => {
            anyhow::Error::from(Error::AssetAddressTaken { address, source })
        }
        error => error.into(),
    })?;
    let own_port = started.address().port().to_string();
    let port = port.filter(|port| *port != "0").unwrap_or(&own_port);
    let url = |scheme: &str, token: &str| {
        let text = format!("{scheme}://{host}:{port}/{token}/");
        text.parse::<Url>().with_context(|| format!("machines cannot reach '{known}'"))
    };
    let private = identity.private_token.as_deref().unwrap_or(&identity.token);
    let urls = Urls { private: url("https", private)?, public: url("http", &identity.token)? };
    let now = url("https", &identity.token)?;
    match earlier {
        Some((_, told)) if told != now.as_str() => {
            let address = |url: &str| url.trim_end_matches(&format!("/{}/", identity.token)).to_owned();
            Err(Error::AssetHostMoved { told: address(told), now: address(now.as_str()) }.into())
        }
        _ => Ok((urls, now, started)),
    }
}

/// Returns what a URL leads to.
fn host_and_port(url: &str) -> anyhow::Result<String> {
    let url: Url = url.parse().context("the URL that machines were given is damaged")?;
    Ok(format!("{}:{}", url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default()))
}

/// Returns the address to listen on, with the port of an earlier run in the place of one that the system chooses.
fn at_earlier_port(wanted: &str, earlier: &str) -> String {
    match (wanted.rsplit_once(':'), earlier.rsplit_once(':')) {
        (Some((host, "0")), Some((_, port))) => format!("{host}:{port}"),
        _ => wanted.to_owned(),
    }
}

/// Puts a file where the user takes it from.
///
/// Machines pin its digest: a file that a crash has cut short, or that is being written while a machine fetches it, would stop them.
fn put(directory: &Path, name: &str, contents: &[u8]) -> anyhow::Result<()> {
    landfall_durable::write(&directory.join(name), contents, landfall_durable::Access::Private)
        .with_context(|| format!("cannot write {name} in {}", directory.display()))
}

fn below(url: &Url, name: &str) -> Url {
    let mut url = url.clone();
    let path = format!("{}/{name}", url.path().trim_end_matches('/'));
    url.set_path(&path);
    url
}

#[cfg(test)]
mod tests {
    use std::{fs::File, io::Read as _, os::unix::fs::PermissionsExt as _};

    use super::*;

    #[test]
    fn a_file_of_the_users_server_is_replaced_as_a_whole() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("token");
        put(&directory, BOOTSTRAP, b"the first").unwrap();
        // A web server that is sending the first one.
        let mut served = File::open(directory.join(BOOTSTRAP)).unwrap();
        put(&directory, BOOTSTRAP, b"2nd").unwrap();
        let mut sent = String::new();
        served.read_to_string(&mut sent).unwrap();
        assert_eq!(sent, "the first");
        assert_eq!(std::fs::read(directory.join(BOOTSTRAP)).unwrap(), b"2nd");
        assert_eq!(std::fs::metadata(directory.join(BOOTSTRAP)).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 1, "nothing is left beside it");
    }
}
