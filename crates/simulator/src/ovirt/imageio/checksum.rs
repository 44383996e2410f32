//! The block checksum of the imageio checksum call.
//!
//! The image is cut into blocks; each block is hashed, and the checksum is the hash of those digests in order. So a block
//! of zeroes costs nothing to hash, and two sides agree whenever they use the same algorithm and block size, however
//! either of them stores the image.

use std::io;

use blake2::{Blake2b, Blake2s256};
use serde::Serialize;
use sha2::digest::consts::U32;
use sha2::digest::{Digest, DynDigest};

use super::sparse::{Extent, is_zero, to_usize};
use crate::core::hex;

/// The block size used when a caller names none.
pub(crate) const DEFAULT_BLOCK_SIZE: u64 = 4 << 20;
/// The smallest block size allowed.
pub(crate) const MIN_BLOCK_SIZE: u64 = 1 << 20;
/// The largest block size allowed.
pub(crate) const MAX_BLOCK_SIZE: u64 = 16 << 20;
/// What a block size must be a multiple of.
pub(crate) const BLOCK_ALIGNMENT: u64 = 4096;

/// A hash that a checksum may be made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    /// `BLAKE2b` with a digest of 32 bytes.
    Blake2b,
    /// `BLAKE2s` with a digest of 32 bytes.
    Blake2s,
    /// SHA-224.
    Sha224,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

impl Algorithm {
    /// All algorithms, in the order of their names.
    pub(crate) const ALL: [Self; 6] =
        [Self::Blake2b, Self::Blake2s, Self::Sha224, Self::Sha256, Self::Sha384, Self::Sha512];

    /// The name on the wire.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Blake2b => "blake2b",
            Self::Blake2s => "blake2s",
            Self::Sha224 => "sha224",
            Self::Sha256 => "sha256",
            Self::Sha384 => "sha384",
            Self::Sha512 => "sha512",
        }
    }

    /// The algorithm of that name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }

    fn hasher(self) -> Box<dyn DynDigest> {
        match self {
            Self::Blake2b => Box::new(Blake2b::<U32>::new()),
            Self::Blake2s => Box::new(Blake2s256::new()),
            Self::Sha224 => Box::new(sha2::Sha224::new()),
            Self::Sha256 => Box::new(sha2::Sha256::new()),
            Self::Sha384 => Box::new(sha2::Sha384::new()),
            Self::Sha512 => Box::new(sha2::Sha512::new()),
        }
    }

    fn digest(self, data: &[u8]) -> Box<[u8]> {
        let mut hasher = self.hasher();
        hasher.update(data);
        hasher.finalize()
    }
}

/// The answer of the checksum call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Checksum {
    algorithm: &'static str,
    block_size: u64,
    #[serde(rename = "checksum")]
    digest: String,
}

/// The checksum of an image of `size` bytes, whose `extents` tell which blocks need not be read with `read`.
pub(crate) fn compute(
    algorithm: Algorithm,
    block_size: u64,
    size: u64,
    extents: &[Extent],
    mut read: impl FnMut(u64, &mut [u8]) -> io::Result<()>,
) -> io::Result<Checksum> {
    let mut outer = algorithm.hasher();
    let mut buf = vec![0; to_usize(block_size)];
    let zero_block = algorithm.digest(&buf);
    let mut extents = extents.iter().peekable();
    let mut start = 0;
    while start < size {
        let end = size.min(start + block_size);
        while extents.next_if(|extent| extent.start + extent.length <= start).is_some() {}
        let known_zero = extents.peek().is_some_and(|extent| extent.zero && extent.start + extent.length >= end);
        let block = &mut buf[..to_usize(end - start)];
        if known_zero {
            block.fill(0);
        } else {
            read(start, block)?;
        }
        if end - start == block_size && (known_zero || is_zero(block)) {
            outer.update(&zero_block);
        } else {
            outer.update(&algorithm.digest(block));
        }
        start = end;
    }
    Ok(Checksum { algorithm: algorithm.name(), block_size, digest: hex::encode(&outer.finalize()) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ovirt::imageio::sparse;

    fn of_bytes(algorithm: Algorithm, block_size: u64, bytes: &[u8]) -> String {
        let all = [Extent { start: 0, length: bytes.len() as u64, zero: false, hole: false }];
        let read = |at: u64, buf: &mut [u8]| {
            buf.copy_from_slice(&bytes[to_usize(at)..][..buf.len()]);
            Ok(())
        };
        compute(algorithm, block_size, bytes.len() as u64, &all, read).unwrap().digest
    }

    /// The expected values were computed with Python's hashlib: H(H(block 1) || H(block 2)).
    #[test]
    fn agrees_with_another_implementation() {
        let mut image = vec![0u8; 4096];
        image.extend(b"x".repeat(1000));
        assert_eq!(
            of_bytes(Algorithm::Blake2b, 4096, &image),
            "9c5ced9bc071a3be80f0772355f8764490d6035149d71bb019d2a9901e9a64c0"
        );
        assert_eq!(
            of_bytes(Algorithm::Sha256, 4096, &image),
            "193185978da40a72f207d079993dddf358414579bdc0c2837432c67362e8d407"
        );
    }

    #[test]
    fn names_are_sorted_and_found_again() {
        assert!(Algorithm::ALL.is_sorted_by_key(|algorithm| algorithm.name()));
        for algorithm in Algorithm::ALL {
            assert_eq!(Algorithm::from_name(algorithm.name()), Some(algorithm));
        }
        assert_eq!(Algorithm::from_name("md4"), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

        /// Knowing the holes never changes the checksum.
        #[test]
        fn holes_do_not_matter(
            writes in prop::collection::vec((0u64..60_000, any::<u8>(), 1usize..9000), 0..6),
            size in 0u64..70_000,
        ) {
            let file = tempfile::tempfile().unwrap();
            for (at, byte, n) in writes {
                sparse::write_at(&file, at, &vec![byte; n]).unwrap();
            }
            let mut bytes = vec![0; to_usize(size)];
            sparse::read_at(&file, 0, &mut bytes).unwrap();
            let extents = sparse::extents(&file, size, false).unwrap();
            let read = |at: u64, buf: &mut [u8]| sparse::read_at(&file, at, buf);
            let found = compute(Algorithm::Blake2s, 4096, size, &extents, read).unwrap();
            prop_assert_eq!(found.digest, of_bytes(Algorithm::Blake2s, 4096, &bytes));
        }
    }
}
