//! Operating system images: a file, or a download that is kept.

use std::{
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

use aws_lc_rs::digest::{Context, SHA256, digest};
use flate2::read::GzDecoder;
use landfall_platform::{ErrorClass, Progress};
use tokio::io::AsyncWriteExt;
use url::Url;

use crate::{Client, Error, Limits, Request, Trust};

const MIB: u64 = 1 << 20;

/// Why there is no image.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// It cannot be used.
    #[error("the image {image} cannot be used: {reason}")]
    Unusable {
        /// Path or URL.
        image: String,
        /// Why not.
        reason: String,
    },
    /// It could not be fetched.
    #[error("downloading the image {image} failed")]
    Download {
        /// Its URL.
        image: String,
        /// How.
        source: Box<Error>,
    },
    /// It could not be read, or kept.
    #[error("{attempt} {path} failed")]
    File {
        /// `reading` or `writing`.
        attempt: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl ImageError {
    /// What kind of failure it is.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Download { source, .. } => source.class(),
            Self::Unusable { .. } | Self::File { .. } => ErrorClass::Invalid,
        }
    }
}

/// Where an image is, as the user writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file.
    File(PathBuf),
    /// A download, with the SHA-256 that it must have if the URL ends in `#sha256=…`.
    Url(Box<Url>, Option<String>),
}

impl Origin {
    /// Reads a path or a URL. Anything that is not HTTP is a path.
    pub fn read(text: &str) -> Result<Self, ImageError> {
        let refuse = |reason: &str| ImageError::Unusable { image: text.to_owned(), reason: reason.to_owned() };
        let path = text.strip_prefix("file://").unwrap_or(text);
        if !text.starts_with("http://") && !text.starts_with("https://") {
            return Ok(Self::File(path.into()));
        }
        let mut url: Url = text.parse().map_err(|_| refuse("it is not a URL"))?;
        let digest = match url.fragment() {
            None | Some("") => None,
            Some(fragment) => match fragment.strip_prefix("sha256=") {
                Some(digest) if digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit()) => {
                    Some(digest.to_ascii_lowercase())
                }
                _ => return Err(refuse("what follows the '#' must be 'sha256=' and 64 hexadecimal digits")),
            },
        };
        url.set_fragment(None);
        Ok(Self::Url(Box::new(url), digest))
    }
}

/// Gets images, and keeps those that were downloaded or unpacked.
#[derive(Clone, Debug)]
pub struct Images {
    cache: PathBuf,
}

impl Images {
    /// Keeps images in a directory, which is made when it is needed.
    pub fn new(cache: PathBuf) -> Self {
        Self { cache }
    }

    /// Gets an image: finds, downloads and unpacks it. Where it is then.
    pub async fn get(&self, origin: &str, progress: Progress<'_>) -> Result<PathBuf, ImageError> {
        let (path, compressed) = match Origin::read(origin)? {
            Origin::File(path) => {
                let compressed = is_gzip(&path.to_string_lossy());
                (path, compressed)
            }
            Origin::Url(url, digest) => {
                let path = self.downloaded(&url, digest.as_deref(), progress).await?;
                (path, is_gzip(url.path()))
            }
        };
        if compressed { self.unpacked(&path, progress).await } else { Ok(path) }
    }

    async fn downloaded(&self, url: &Url, digest: Option<&str>, progress: Progress<'_>) -> Result<PathBuf, ImageError> {
        let kept = self.kept(&format!("{url} {}", digest.unwrap_or_default()), "download");
        if kept.exists() {
            return Ok(kept);
        }
        let failed = |source| ImageError::Download { image: url.to_string(), source: Box::new(source) };
        let http = Client::builder(&Trust::System, Limits::default()).map_err(failed)?.follow_redirects();
        let http = http.build().map_err(failed)?;
        let mut download = http.download(Request::get(url.clone())).await.map_err(failed)?;
        let total = download.length().map_or_else(String::new, |length| format!(" of {}", length / MIB));
        let partial = self.partial()?;
        let cannot = |source| ImageError::File { attempt: "writing", path: partial.path().to_owned(), source };
        let mut file = tokio::fs::File::from_std(partial.reopen().map_err(cannot)?);
        let (mut hash, mut size) = (Context::new(&SHA256), 0_u64);
        while let Some(piece) = download.next().await.map_err(failed)? {
            hash.update(&piece);
            file.write_all(&piece).await.map_err(cannot)?;
            size += piece.len() as u64;
            progress(format!("downloaded {}{total} MiB", size / MIB));
        }
        file.flush().await.map_err(cannot)?;
        let found = hex(hash.finish().as_ref());
        if digest.is_some_and(|digest| digest != found) {
            let reason = format!("its SHA-256 is {found}, which is not the one given with the URL");
            return Err(ImageError::Unusable { image: url.to_string(), reason });
        }
        keep(&partial, kept).await
    }

    async fn unpacked(&self, packed: &Path, progress: Progress<'_>) -> Result<PathBuf, ImageError> {
        let cannot = |source| ImageError::File { attempt: "unpacking", path: packed.to_owned(), source };
        let metadata = fs::metadata(packed).map_err(cannot)?;
        let identity = format!("{} {} {:?}", packed.display(), metadata.len(), metadata.modified().ok());
        let kept = self.kept(&identity, "unpacked");
        if kept.exists() {
            return Ok(kept);
        }
        progress("unpacking the image".to_owned());
        let partial = self.partial()?;
        let (from, to) = (packed.to_owned(), partial.reopen().map_err(cannot)?);
        let unpack = move || io::copy(&mut GzDecoder::new(io::BufReader::new(fs::File::open(from)?)), &mut &to);
        tokio::task::spawn_blocking(unpack).await.map_err(io::Error::other).flatten().map_err(cannot)?;
        keep(&partial, kept).await
    }

    fn kept(&self, identity: &str, extension: &str) -> PathBuf {
        self.cache.join(hex(&digest(&SHA256, identity.as_bytes()).as_ref()[..16])).with_extension(extension)
    }

    /// A file that takes its name only when it is complete.
    fn partial(&self) -> Result<tempfile::NamedTempFile, ImageError> {
        fs::create_dir_all(&self.cache)
            .and_then(|()| tempfile::NamedTempFile::new_in(&self.cache))
            .map_err(|source| ImageError::File { attempt: "writing to", path: self.cache.clone(), source })
    }
}

fn is_gzip(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(".gz")
}

/// Gives a complete file its name. What has the name is used without another look, so it must be whole after a crash too.
async fn keep(partial: &tempfile::NamedTempFile, kept: PathBuf) -> Result<PathBuf, ImageError> {
    let (from, to) = (partial.path().to_owned(), kept.clone());
    let stored = tokio::task::spawn_blocking(move || landfall_durable::rename(&from, &to)).await;
    match stored.map_err(io::Error::other).flatten() {
        Ok(()) => Ok(kept),
        Err(source) => Err(ImageError::File { attempt: "writing", path: kept, source }),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _infallible = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_urls_are_told_apart() {
        assert_eq!(Origin::read("fcos.qcow2").unwrap(), Origin::File("fcos.qcow2".into()));
        assert_eq!(Origin::read("file:///srv/fcos.qcow2").unwrap(), Origin::File("/srv/fcos.qcow2".into()));
        let digest = "ab".repeat(32);
        let url = "https://example.com/fcos.qcow2?x=1";
        assert_eq!(
            Origin::read(&format!("{url}#sha256={}", digest.to_uppercase())).unwrap(),
            Origin::Url(Box::new(url.parse().unwrap()), Some(digest))
        );
        for wrong in ["#sha256=12", "#md5=00", "#x"] {
            let error = Origin::read(&format!("{url}{wrong}")).unwrap_err().to_string();
            assert!(error.contains("64 hexadecimal digits"), "{error}");
        }
    }
}
