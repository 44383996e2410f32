//! Handing the bytes of an image to a host, as imageio takes them.
//!
//! Pieces are written one after the other. After an interruption, what the host claims to have is left out; then its checksum
//! of the whole image is compared with the file's. If they differ, or the host cannot tell, everything is sent again.

use std::io::SeekFrom;

use bytes::Bytes;
use landfall_platform::{ErrorClass, Progress};
use landfall_wire::{Client, Error as Wire, Method, Reply, Request};
use serde::Deserialize;
use serde_json::json;
use tokio::{
    fs::File,
    io::{AsyncReadExt, AsyncSeekExt},
};
use url::Url;

use super::{
    Image,
    checksum::{BLOCK, checksum},
};
use crate::Error;

const MIB: u64 = 1 << 20;
/// Bytes that are sent at once: what is lost when a connection breaks.
const PIECE: u64 = 4 * MIB;
/// How often a piece is sent before the step as a whole has to be tried again. Waiting in between is the step's business.
const ATTEMPTS: usize = 3;

/// Where an image can be sent, in the order of preference: to the host, or through the engine's proxy.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    pub(crate) urls: Vec<Url>,
}

/// What the server of an image can do. Old ones do not say.
#[derive(Default, Deserialize)]
struct Server {
    #[serde(default)]
    features: Vec<String>,
}

#[derive(Deserialize)]
struct Extent {
    start: u64,
    length: u64,
    #[serde(default)]
    zero: bool,
}

#[derive(Deserialize)]
struct Checksum {
    checksum: String,
}

/// Whether the image on the server is the one in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    Same,
    Different,
    /// The server cannot tell, or its image is longer than the file, as on block storage.
    None,
}

/// Sends an image. `resumed` says that an earlier attempt may have sent some of it.
pub(crate) async fn upload(
    http: &Client,
    endpoint: &Endpoint,
    image: &Image,
    resumed: bool,
    progress: Progress<'_>,
) -> Result<(), Error> {
    let (url, server) = reach(http, endpoint).await?;
    let upload = Upload { http, url, server, image, progress };
    if resumed && upload.server.has("checksum") {
        upload.send(upload.claimed().await?).await?;
        if upload.proof().await? == Proof::Same {
            return Ok(());
        }
    }
    upload.send(0).await?;
    match upload.proof().await? {
        Proof::Same | Proof::None => Ok(()),
        Proof::Different => Err(Error::Corrupt {
            object: format!("the disk of image {}", image.path.display()),
            engine: upload.url.host_str().unwrap_or_default().to_owned(),
        }),
    }
}

/// The first address that answers.
async fn reach(http: &Client, endpoint: &Endpoint) -> Result<(Url, Server), Error> {
    let mut last = None;
    for url in &endpoint.urls {
        match http.send(Request::bare(Method::OPTIONS, url.clone())).await {
            // Anything but a refusal will do: old servers do not know the method, and say nothing about themselves.
            Ok(reply) if matches!(reply.status(), 200..=299 | 405) => {
                return Ok((url.clone(), reply.json().unwrap_or_default()));
            }
            Ok(reply) => return Err(failed("reaching the server of the image", reply.refusal())),
            Err(error) => last = Some(error),
        }
    }
    match last {
        Some(error) => Err(failed("reaching the server of the image, on the host and through the engine,", error)),
        None => Err(Error::Image {
            image: "upload".to_owned(),
            reason: "the engine gives no address to send it to".to_owned(),
        }),
    }
}

struct Upload<'a> {
    http: &'a Client,
    url: Url,
    server: Server,
    image: &'a Image,
    progress: Progress<'a>,
}

impl Upload<'_> {
    /// Sends everything from an offset on, and has it made durable.
    async fn send(&self, from: u64) -> Result<(), Error> {
        let size = self.image.file_size;
        let cannot = |source| Error::File { attempt: "reading", path: self.image.path.clone(), source };
        let mut file = File::open(&self.image.path).await.map_err(cannot)?;
        file.seek(SeekFrom::Start(from)).await.map_err(cannot)?;
        let mut at = from;
        while at < size {
            let mut piece = Vec::new();
            (&mut file).take(PIECE).read_to_end(&mut piece).await.map_err(cannot)?;
            if piece.is_empty() {
                return Err(cannot(std::io::ErrorKind::UnexpectedEof.into()));
            }
            let end = at + piece.len() as u64;
            self.write(at, piece.into()).await?;
            at = end;
            (self.progress)(format!("uploaded {} of {} MiB", at / MIB, size.div_ceil(MIB)));
        }
        if self.server.has("flush") {
            let request = || Request::json(Method::PATCH, self.url.clone(), &json!({ "op": "flush" }));
            self.call("flushing the image", request).await?;
        }
        Ok(())
    }

    async fn write(&self, at: u64, piece: Bytes) -> Result<(), Error> {
        let range = format!("bytes {at}-{}/*", at + piece.len() as u64 - 1);
        let request = || {
            let request = Request::put(self.url.clone(), piece.clone()).header("content-range", &range);
            // Old servers flush after every piece, whatever they are told.
            if self.server.has("flush") { request.query("flush", "n") } else { request }
        };
        self.call(&format!("uploading {range}"), request).await.map(drop)
    }

    /// How much of the image the server claims to have, from its beginning: all before the first gap.
    async fn claimed(&self) -> Result<u64, Error> {
        if !self.server.has("extents") {
            return Ok(0);
        }
        let reply = self.call("asking what is there of the image", || Request::get(self.below("extents"))).await?;
        let extents: Vec<Extent> =
            reply.json().map_err(|source| failed("reading what is there of the image", source))?;
        let mut end = 0;
        for extent in extents.iter().filter(|extent| !extent.zero) {
            if extent.start != end {
                break;
            }
            end += extent.length;
        }
        // The last piece may have been cut off; it is cheap to send again.
        Ok(end.min(self.image.file_size).saturating_sub(PIECE))
    }

    async fn proof(&self) -> Result<Proof, Error> {
        if !self.server.has("checksum") || !self.server.has("extents") {
            return Ok(Proof::None);
        }
        (self.progress)("comparing checksums".to_owned());
        let extents = self.call("asking for the size of the image", || Request::get(self.below("extents"))).await?;
        let extents: Vec<Extent> = extents.json().map_err(|source| failed("reading the size of the image", source))?;
        let there = extents.iter().map(|extent| extent.start + extent.length).max().unwrap_or_default();
        if there > self.image.file_size {
            return Ok(Proof::None);
        }
        let request = || {
            let request = Request::get(self.below("checksum"));
            request.query("algorithm", "sha256").query("block_size", &BLOCK.to_string())
        };
        let reply = self.call("asking for the checksum of the image", request).await?;
        let Checksum { checksum: theirs } =
            reply.json().map_err(|source| failed("reading the checksum of the image", source))?;
        let cannot = |source| Error::File { attempt: "reading", path: self.image.path.clone(), source };
        let ours = checksum(File::open(&self.image.path).await.map_err(cannot)?).await.map_err(cannot)?;
        Ok(if ours == theirs { Proof::Same } else { Proof::Different })
    }

    /// Sends a request that can be repeated, a few times if it breaks off.
    async fn call(&self, attempt: &str, request: impl Fn() -> Request) -> Result<Reply, Error> {
        let mut tries = 1;
        loop {
            match self.http.send(request()).await.and_then(Reply::successful) {
                Ok(reply) => return Ok(reply),
                Err(error) if tries == ATTEMPTS || error.class() != ErrorClass::Transient => {
                    return Err(failed(attempt, error));
                }
                Err(_) => tries += 1,
            }
        }
    }

    fn below(&self, part: &str) -> Url {
        let mut url = self.url.clone();
        url.set_path(&format!("{}/{part}", url.path()));
        url
    }
}

impl Server {
    fn has(&self, feature: &str) -> bool {
        self.features.iter().any(|known| known == feature)
    }
}

fn failed(attempt: &str, source: Wire) -> Error {
    Error::Transfer { attempt: attempt.to_owned(), source: Box::new(source) }
}
