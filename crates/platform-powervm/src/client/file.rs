//! Files that a console passes on to a VIOS.

use std::fmt::Write as _;
use std::io;
use std::path::Path as FilePath;
use std::sync::Arc;

use bytes::Bytes;
use futures::{Stream, StreamExt as _, TryStreamExt as _};
use landfall_wire::Request;
use sha2::{Digest as _, Sha256};
use tokio::io::AsyncReadExt as _;
use tokio_util::io::ReaderStream;

use super::{WEB, path::Path, session::Client};
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
        source: &FilePath,
        progress: impl Fn(u64, u64) + Send + Sync + 'static,
    ) -> Result<Uploaded, Error> {
        let failed = |error| Error::File { path: source.to_owned(), source: error };
        let (bytes, sha256) = measure(source).await.map_err(failed)?;
        self.forget_uploads(upload).await?;
        let attempt = format!("announcing the upload of {}", upload.name);
        let file = self.put(&attempt, "web/File", &description(upload, bytes, &sha256)).await?;
        let id = file.text("FileUUID");
        let open = tokio::fs::File::open(source).await.map_err(failed)?;
        let sent = self.send_contents(&id, upload.name, pieces(open, bytes, progress)).await;
        let forgotten = self.remove("deleting the note of an upload", &format!("web/File/{id}")).await;
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
        let attempt = "reading the notes of uploads";
        let reply = self.call(attempt, "web/File", Request::get).await?;
        for entry in self.entries(attempt, &reply)? {
            let same = entry.text("Filename") == upload.name
                && entry.text("TargetVirtualIOServerUUID").eq_ignore_ascii_case(upload.vios);
            if same {
                self.remove("deleting the note of an upload", &format!("web/File/{}", entry.text("FileUUID"))).await?;
            }
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

/// The size and the checksum of a file.
async fn measure(path: &FilePath) -> io::Result<(u64, String)> {
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
    let mut digest = String::new();
    for byte in hasher.finalize() {
        let _infallible = write!(digest, "{byte:02x}");
    }
    Ok((bytes, digest))
}

/// A file piece by piece, with a word about each.
fn pieces(
    file: tokio::fs::File,
    total: u64,
    progress: impl Fn(u64, u64) + Send + Sync + 'static,
) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let progress = Arc::new(progress);
    let mut sent = 0;
    ReaderStream::with_capacity(file, PIECE)
        .inspect_ok(move |piece| {
            sent += piece.len() as u64;
            progress(sent, total);
        })
        .boxed()
}
