//! Starting the simulator: the engine on the shell that all simulators share, with its image endpoint beside it.

use std::path::PathBuf;
use std::sync::Arc;

use super::engine::{Certificates, Engine, RestoreError};
use super::imageio::{Denied, ImageError, ImageIo, ImageStore, Progress, Ticket, Tickets};
use super::inventory::{Inventory, InventoryError};
use super::options::Options;
use crate::core::{Running, Stage, StartError, World};
use crate::guests::{self, LightGuests, RealError, RealGuests};

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
    /// The images cannot be kept.
    #[error("open the image store")]
    Images(#[from] ImageError),
    /// There are no real hosts.
    #[error("get ready for real hosts")]
    Hosts(#[from] RealError),
}

/// Starts an engine and its image endpoint.
pub async fn start(options: &Options) -> Result<Running<Engine>, Error> {
    // The web server of an engine speaks HTTP/1.1, and the Python SDK, which waits for sockets instead of for libcurl, loses
    // a second or two on every larger answer that comes over HTTP/2.
    let prepare = async |simulator| Stage::prepare("ovirt", simulator).await.map(Stage::without_http2);
    let mut stage = match options.guests.kind {
        guests::Kind::Light => {
            let light = LightGuests::new(&options.guests.light(options.simulator.pace()));
            prepare(&options.simulator).await?.with_guests(light)
        }
        guests::Kind::Real if options.simulator.state.is_some() => return Err(RealError::State.into()),
        guests::Kind::Real => {
            let hosts = RealGuests::start(&options.guests.real).await?;
            // The hosts manage machines of the engine, and this machine's loopback addresses are not theirs.
            let simulator = options.simulator.clone().reachable_at(hosts.gateway().into());
            prepare(&simulator).await?.with_guests(hosts)
        }
        guests::Kind::Plain => prepare(&options.simulator).await?,
    };
    let hosts = stage.bind(&options.imageio_listen).await?;
    let proxy = stage.bind(&options.imageio_proxy_listen).await?;
    let beside = options.simulator.state.as_ref().map(|state| state.with_extension("images"));
    let store = match options.images.clone().or(beside) {
        Some(directory) => ImageStore::open(directory)?,
        None => ImageStore::temporary()?,
    };
    let store = Arc::new(store);
    let engine = match stage.take_saved_state() {
        Some(saved) => Engine::restore(saved)?,
        None => Engine::new(&inventory(options)?, stage.seed())
            .map_err(|source| Error::Inventory { path: options.inventory.clone().unwrap_or_default(), source })?,
    };
    let certificates = stage.identity().map(|identity| Certificates {
        authority: identity.ca_pem().to_owned(),
        own: identity.certificate_pem().to_owned(),
    });
    let engine = engine
        .with_epoch(stage.epoch())
        .with_certificates(certificates)
        .with_administrator(options.user.as_deref(), options.password.as_deref())
        .with_images(store.clone(), hosts.url(), proxy.url());
    Ok(stage.start(engine, |world| {
        let service = ImageIo::new(store, Arc::new(SharedEngine(world.clone())));
        vec![hosts.serve("imageio", service.clone()), proxy.serve("imageio-proxy", service)]
    })?)
}

fn inventory(options: &Options) -> Result<Inventory, Error> {
    let Some(path) = options.inventory.clone() else { return Ok(Inventory::default()) };
    let yaml = std::fs::read_to_string(&path).map_err(|source| Error::Read { path: path.clone(), source })?;
    Inventory::parse(&yaml).map_err(|source| Error::Inventory { path, source })
}

/// The engine as its image endpoint sees it.
struct SharedEngine(World<Engine>);

impl Tickets for SharedEngine {
    fn authorize(&self, id: &str) -> Result<Ticket, Denied> {
        self.0.view(|engine, _| engine.authorize(id))
    }

    fn report(&self, id: &str, progress: Progress) {
        self.0.with(|engine, now| engine.report(now, id, progress));
    }
}
