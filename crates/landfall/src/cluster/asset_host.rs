//! What machines boot with, where a platform cannot hand it to them by itself.

use std::path::Path;

use anyhow::Context as _;
use landfall_asset_host::{AssetHost, Assets, Identity};
use landfall_config::{
    InstallConfig,
    packet::{self, Os, OwnHost},
};
use landfall_platform::{File, FileSet};
use landfall_platform_packet::boot;
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
    host: Option<AssetHost>,
}

impl Boot {
    /// Machines get their configs from the platform.
    pub(crate) fn plain(user_data: FileSet) -> Self {
        Self { user_data, ..Self::default() }
    }

    /// Makes ready what machines fetch. `listen` goes before what the install-config says.
    pub(crate) async fn prepare(
        config: &InstallConfig,
        dir: &Path,
        ignition: FileSet,
        listen: Option<&str>,
    ) -> anyhow::Result<Self> {
        let Some(platform) = config.platform.packet() else { return Ok(Self::plain(ignition)) };
        let identity = Identity::establish(&dir.join(IDENTITY))?;
        let script = match &platform.os {
            Os::Ipxe(ipxe) => Some(boot::script(ipxe, config.architecture())),
            Os::Slug(_) => None,
        };
        let bootstrap = ignition.get(BOOTSTRAP).map(|file| file.contents.clone()).unwrap_or_default();
        let (secret, public, host) = match &platform.asset_host {
            packet::AssetHost::Landfall(own) => serve(own, listen, &identity, script.as_deref(), &bootstrap).await?,
            packet::AssetHost::Url(url) => {
                let base = below(url, &identity.token);
                put(&dir.join(DIRECTORY).join(&identity.token), script.as_deref(), &bootstrap)?;
                (base.clone(), base, None)
            }
        };
        let authority = host.as_ref().map(|_| identity.authority.as_str());
        let pointer = boot::pointer(&below(&secret, BOOTSTRAP), authority, &bootstrap);
        let mut user_data = ignition;
        user_data.replace(BOOTSTRAP, File::private(pointer));
        let script_url = script.map(|_| below(&public, SCRIPT));
        Ok(Self { user_data, script_url: script_url.map(String::from), host })
    }

    /// Serves no secrets from now on.
    pub(crate) fn forget_secrets(&self) {
        self.host.iter().for_each(AssetHost::forget_private);
    }
}

/// Begins to serve, and says where: over TLS, and in plain.
async fn serve(
    own: &OwnHost,
    listen: Option<&str>,
    identity: &Identity,
    script: Option<&str>,
    bootstrap: &[u8],
) -> anyhow::Result<(Url, Url, Option<AssetHost>)> {
    let listen = listen.unwrap_or(&own.listen);
    let known = own.public.as_deref().unwrap_or(listen);
    let (host, port) = known.rsplit_once(':').map_or((known, None), |(host, port)| (host, Some(port)));
    let mut assets = Assets::default();
    assets.public.extend(script.map(|script| (SCRIPT.to_owned(), script.to_owned().into())));
    assets.private.insert(BOOTSTRAP.to_owned(), bootstrap.to_vec().into());
    let started = AssetHost::start(listen, host, identity, assets).await?;
    let own_port = started.address().port().to_string();
    let port = port.filter(|port| *port != "0").unwrap_or(&own_port);
    let url = |scheme: &str| {
        let text = format!("{scheme}://{host}:{port}/{}/", identity.token);
        text.parse::<Url>().with_context(|| format!("machines cannot reach '{known}'"))
    };
    Ok((url("https")?, url("http")?, Some(started)))
}

/// Puts the files where the user takes them from.
fn put(directory: &Path, script: Option<&str>, bootstrap: &[u8]) -> anyhow::Result<()> {
    use std::{io::Write as _, os::unix::fs::OpenOptionsExt as _};
    let failed = || format!("cannot write {}", directory.display());
    std::fs::create_dir_all(directory).with_context(failed)?;
    let files = script.map(|script| (SCRIPT, script.as_bytes())).into_iter().chain([(BOOTSTRAP, bootstrap)]);
    for (name, contents) in files {
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
