//! Files that a console passes on to a VIOS.

use std::fmt::Write as _;
use std::io;
use std::path::Path as FilePath;

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt as _, TryStreamExt as _};
use landfall_wire::Request;
use sha2::{Digest as _, Sha256};
use tokio::io::AsyncReadExt as _;
use tokio_util::io::ReaderStream;

use super::{WEB, atom::Entry, path::Path, session::Client};
use crate::Error;
use crate::xml::Element;

/// How much is read at once.
const PIECE: usize = 256 << 10;

/// What becomes of a file.
#[derive(Clone, Debug)]
pub enum FileKind {
    /// An optical medium of the file's name in the VIOS's repository.
    Medium,
    /// The contents of a virtual disk or logical unit, by its device id.
    DiskImage {
        /// The device.
        device: String,
    },
}

/// A file to be uploaded.
#[derive(Clone, Debug)]
pub struct Upload<'a> {
    /// Its name on the other side.
    pub name: &'a str,
    /// What becomes of it.
    pub kind: FileKind,
    /// The VIOS that it goes to.
    pub vios: &'a str,
    /// What may have been before.
    pub before: Before,
}

/// What may have been before an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// Nothing: nobody has tried this.
    Nothing,
    /// Attempts, whose notes are in the way.
    Unknown,
}

/// Where the bytes come from.
#[derive(Clone, Debug)]
pub enum Source<'a> {
    /// A file.
    File(&'a FilePath),
    /// Memory: what may hold secrets is never put into a file.
    Bytes(Bytes),
}

/// What was uploaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uploaded {
    /// How many bytes.
    pub bytes: u64,
    /// Their checksum, which the console has checked.
    pub sha256: String,
}

impl Client {
    /// Uploads a file. `progress` is told how many bytes are sent, and how many there are.
    ///
    /// The console keeps a note of every upload, and has room for a hundred: this one's is deleted whatever happens, and so are
    /// those that an earlier attempt may have left behind.
    pub async fn upload(
        &self,
        upload: &Upload<'_>,
        source: Source<'_>,
        progress: impl Fn(u64, u64) + Send + Sync + 'static,
    ) -> Result<Uploaded, Error> {
        let (bytes, sha256) = source.measure().await?;
        if upload.before == Before::Unknown {
            self.forget_uploads(upload).await?;
        }
        let attempt = format!("announcing the upload of {}", upload.name);
        let file = self.put(&attempt, "web/File", &description(upload, bytes, &sha256)).await?;
        let id = file.text("FileUUID");
        let sent = match source.pieces(bytes, progress).await {
            Ok(pieces) => self.send_contents(&id, upload.name, pieces).await,
            Err(error) => Err(error),
        };
        let (attempt, note) = ("deleting the note of an upload", format!("web/File/{id}"));
        // A second try, because there is room for few notes, and nobody comes back for this one.
        let forgotten = match self.remove(attempt, &note).await {
            Err(_) => self.remove(attempt, &note).await,
            Ok(()) => Ok(()),
        };
        sent.and(forgotten).map(|()| Uploaded { bytes, sha256 })
    }

    async fn send_contents(
        &self,
        id: &str,
        name: &str,
        pieces: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
    ) -> Result<(), Error> {
        let attempt = format!("uploading {name}");
        let send = |url| {
            Request::put_stream(url, pieces)
                .header("content-type", "application/octet-stream")
                .header("accept", "application/vnd.ibm.powervm.web+xml")
        };
        self.call_once(&attempt, &format!("web/File/contents/{id}"), send).await.map(drop)
    }

    /// Deletes the notes of uploads of the same file to the same VIOS.
    async fn forget_uploads(&self, upload: &Upload<'_>) -> Result<(), Error> {
        self.forget_notes(|file| {
            file.text("Filename") == upload.name
                && file.text("TargetVirtualIOServerUUID").eq_ignore_ascii_case(upload.vios)
        })
        .await
    }

    /// Deletes the notes of uploads of a file, which were cut off.
    pub async fn forget_uploads_of(&self, name: &str) -> Result<(), Error> {
        self.forget_notes(|file| file.text("Filename") == name).await
    }

    /// The files that there are notes of: they are being uploaded, or were cut off.
    pub async fn uploads(&self) -> Result<Vec<String>, Error> {
        Ok(self.notes().await?.iter().map(|file| file.text("Filename")).collect())
    }

    async fn notes(&self) -> Result<Vec<Entry>, Error> {
        let attempt = "reading the notes of uploads";
        let reply = self.call(attempt, "web/File", Request::get).await?;
        self.entries(attempt, &reply)
    }

    async fn forget_notes(&self, unwanted: impl Fn(&Entry) -> bool) -> Result<(), Error> {
        for entry in self.notes().await?.iter().filter(|entry| unwanted(entry)) {
            self.remove("deleting the note of an upload", &format!("web/File/{}", entry.text("FileUUID"))).await?;
        }
        Ok(())
    }

    /// The path of a VIOS, for those who have its id.
    pub fn vios_path(id: &str) -> Path {
        Path::entry("VirtualIOServer", id)
    }
}

fn description(upload: &Upload<'_>, bytes: u64, sha256: &str) -> Element {
    let mut file = Element::new("File").with_attribute("xmlns", WEB).with_attribute("schemaVersion", "V1_0");
    file.push(Element::text_of("Filename", upload.name));
    file.push(Element::text_of("InternetMediaType", "application/octet-stream"));
    file.push(Element::text_of("SHA256", sha256));
    file.push(Element::text_of("ExpectedFileSizeInBytes", bytes));
    let kind = match upload.kind {
        FileKind::Medium => "BROKERED_MEDIA_ISO",
        FileKind::DiskImage { .. } => "BROKERED_DISK_IMAGE",
    };
    file.push(Element::text_of("FileEnumType", kind));
    file.push(Element::text_of("TargetVirtualIOServerUUID", upload.vios));
    if let FileKind::DiskImage { device } = &upload.kind {
        file.push(Element::text_of("TargetDeviceUniqueDeviceID", device));
    }
    file
}

impl Source<'_> {
    /// The size and the checksum.
    async fn measure(&self) -> Result<(u64, String), Error> {
        match self {
            Self::File(path) => {
                measure_file(path).await.map_err(|source| Error::File { path: (*path).to_owned(), source })
            }
            Self::Bytes(bytes) => Ok((bytes.len() as u64, hex(&Sha256::digest(bytes)))),
        }
    }

    /// Piece by piece, with a word about each.
    async fn pieces(
        self,
        total: u64,
        progress: impl Fn(u64, u64) + Send + Sync + 'static,
    ) -> Result<BoxStream<'static, io::Result<Bytes>>, Error> {
        match self {
            Self::File(path) => {
                let file = tokio::fs::File::open(path).await;
                let file = file.map_err(|source| Error::File { path: path.to_owned(), source })?;
                Ok(pieces(ReaderStream::with_capacity(file, PIECE), total, progress))
            }
            Self::Bytes(bytes) => Ok(pieces(futures::stream::once(async { Ok(bytes) }), total, progress)),
        }
    }
}

async fn measure_file(path: &FilePath) -> io::Result<(u64, String)> {
    let mut file = tokio::fs::File::open(path).await?;
    let (mut hasher, mut bytes, mut buffer) = (Sha256::new(), 0_u64, vec![0; PIECE]);
    loop {
        let count = file.read(&mut buffer).await?;
        if count == 0 {
            break;
        }
        hasher.update(&buffer[..count]);
        bytes += count as u64;
    }
    Ok((bytes, hex(&hasher.finalize())))
}

fn hex(digest: &[u8]) -> String {
    let mut text = String::new();
    for byte in digest {
        let _infallible = write!(text, "{byte:02x}");
    }
    text
}

fn pieces(
    source: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
    total: u64,
    progress: impl Fn(u64, u64) + Send + Sync + 'static,
) -> BoxStream<'static, io::Result<Bytes>> {
    let mut sent = 0;
    source
        .inspect_ok(move |piece| {
            sent += piece.len() as u64;
            progress(sent, total);
        })
        .boxed()
}
