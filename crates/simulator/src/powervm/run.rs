//! Starting the simulator: the hosts on the shell that all simulators share, one listener each.

use std::path::PathBuf;

use tempfile::TempDir;

use super::console;
use super::inventory::{Inventory, InventoryError};
use super::novalink::{NovaLink, RestoreError};
use super::options::Options;
use crate::core::{Running, Stage, StartError};
use crate::guests::{self, LightGuests, RealError, RealGuests};

/// Disk images come in one piece, and are larger than other bodies.
const IMAGE_BYTES: usize = 512 << 20;

/// Why the simulator did not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The shell did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The inventory cannot be read.
    #[error("read the inventory {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The inventory makes no sense.
    #[error("make a world of the inventory {path}")]
    Inventory {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: InventoryError,
    },
    /// The state file makes no sense.
    #[error(transparent)]
    Restore(#[from] RestoreError),
    /// There is nowhere to put tokens.
    #[error("make a directory for tokens")]
    Tokens(#[source] std::io::Error),
    /// The commands cannot be written.
    #[error("write the commands mkvterm and rmvterm")]
    Tools(#[source] std::io::Error),
    /// There are no real hosts.
    #[error("get ready for real hosts")]
    Hosts(#[from] RealError),
}

/// Starts the hosts.
pub async fn start(options: &Options) -> Result<Running<NovaLink>, Error> {
    let mut shell = options.simulator.clone();
    shell.max_body = shell.max_body.max(IMAGE_BYTES);
    let mut stage = Stage::prepare("powervm", &shell).await?.without_http2();
    match options.guests.kind {
        guests::Kind::Light => {
            stage = stage.with_guests(LightGuests::new(&options.guests.light(options.simulator.pace())));
        }
        guests::Kind::Real if options.simulator.state.is_some() => return Err(RealError::State.into()),
        guests::Kind::Real => stage = stage.with_guests(RealGuests::start(&options.guests.real).await?),
        guests::Kind::Plain => {}
    }
    let hosts = match stage.take_saved_state() {
        Some(saved) => NovaLink::restore(saved)?,
        None => NovaLink::new(&inventory(options)?, stage.seed()),
    };
    let mut listeners = Vec::new();
    for _ in 1..hosts.hosts() {
        listeners.push(stage.bind("127.0.0.1:0").await?);
    }
    let urls = std::iter::once(stage.url()).chain(listeners.iter().map(crate::core::Listener::url));
    let urls = urls.map(str::to_owned).collect();
    let (tokens, temporary) = token_directory(options).map_err(Error::Tokens)?;
    let hosts = hosts.with_epoch(stage.epoch()).with_temporary(temporary);
    let hosts = hosts.with_access(options.user.as_deref(), options.password.as_deref(), tokens, urls);
    let hosts = hosts.with_copies_of_media(options.media_dir.clone()).with_media(options.media);
    let running = stage.start(hosts, |_| listeners.into_iter().map(crate::core::Listener::serve_api).collect())?;
    if let Some(directory) = &options.tools_dir {
        console::write_commands(directory, running.admin_url()).map_err(Error::Tools)?;
    }
    Ok(running)
}

/// Where tokens are, and what removes that again if nobody else wants it. Only the owner may look into it: who can read a token is let in.
fn token_directory(options: &Options) -> std::io::Result<(PathBuf, Option<TempDir>)> {
    use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
    if let Some(directory) = &options.token_dir {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        return Ok((directory.clone(), None));
    }
    let directory = tempfile::Builder::new().prefix("landfall-tokens").tempdir()?;
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o700))?;
    Ok((directory.path().to_owned(), Some(directory)))
}

fn inventory(options: &Options) -> Result<Inventory, Error> {
    let Some(path) = options.inventory.clone() else { return Ok(Inventory::default()) };
    let yaml = std::fs::read_to_string(&path).map_err(|source| Error::Read { path: path.clone(), source })?;
    Inventory::parse(&yaml).map_err(|source| Error::Inventory { path, source })
}
