//! An image that is here, and what is in it.

use std::path::PathBuf;

use landfall_platform::Progress;
use landfall_wire::Images;
use sha2::{Digest, Sha256};
use tokio::io::AsyncReadExt;

use super::{Header, checksum::hex};
use crate::Error;

const PIECE: usize = 1 << 20;

/// An image that is here: a qcow2 file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Image {
    pub(crate) path: PathBuf,
    /// Size of the file in bytes.
    pub(crate) file_size: u64,
    /// Size of the disk as a machine sees it, in bytes.
    pub(crate) virtual_size: u64,
    /// SHA-256 of the file, in hexadecimal.
    pub(crate) sha256: String,
}

/// Gets an image: finds, downloads and unpacks it, and reads it once from end to end.
pub(crate) async fn fetch(images: &Images, origin: &str, progress: Progress<'_>) -> Result<Image, Error> {
    let path = images.get(origin, progress).await?;
    progress("reading the image".to_owned());
    read(origin, path).await
}

async fn read(origin: &str, path: PathBuf) -> Result<Image, Error> {
    let cannot = |source| Error::File { attempt: "reading", path: path.clone(), source };
    let mut file = tokio::fs::File::open(&path).await.map_err(cannot)?;
    let (mut hash, mut file_size, mut header) = (Sha256::new(), 0, Vec::new());
    let mut piece = vec![0; PIECE];
    loop {
        let length = file.read(&mut piece).await.map_err(cannot)?;
        if length == 0 {
            break;
        }
        let lacking = Header::LENGTH - header.len();
        header.extend_from_slice(&piece[..length.min(lacking)]);
        hash.update(&piece[..length]);
        file_size += length as u64;
    }
    let Header { virtual_size } =
        Header::read(&header).map_err(|reason| Error::Image { image: origin.to_owned(), reason: reason.to_owned() })?;
    Ok(Image { file_size, virtual_size, sha256: hex(&hash.finalize()), path })
}
