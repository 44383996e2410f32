//! Unpacking files that are compressed in a config, without trusting what they claim to be.

use std::io::{self, Read as _};

use flate2::read::GzDecoder;

/// The largest file that is unpacked. Platforms and config servers limit configs to a few MiB; gzip makes a thousand times as much of
/// that at most.
const LARGEST: u64 = 64 << 20;

/// Reason why a file cannot be unpacked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UnpackError {
    /// The contents are not in the format that the config names.
    #[error("it is not gzip")]
    Damaged(#[source] io::Error),
    /// The contents are larger than the limit: a mistake or an attack.
    #[error("it unpacks to more than {} MiB", LARGEST >> 20)]
    TooLarge,
}

/// Returns what was compressed by gzip.
pub(crate) fn gunzip(packed: &[u8]) -> Result<Vec<u8>, UnpackError> {
    let mut unpacked = Vec::new();
    GzDecoder::new(packed).take(LARGEST + 1).read_to_end(&mut unpacked).map_err(UnpackError::Damaged)?;
    if unpacked.len() as u64 > LARGEST { Err(UnpackError::TooLarge) } else { Ok(unpacked) }
}

/// Returns as many bytes as a file must not have, compressed.
#[cfg(test)]
pub(crate) fn too_large() -> Vec<u8> {
    let mut packed = Vec::new();
    let zeroes = io::repeat(0).take(LARGEST + 1);
    flate2::bufread::GzEncoder::new(io::BufReader::new(zeroes), flate2::Compression::fast())
        .read_to_end(&mut packed)
        .expect("memory can be read and written");
    packed
}
