//! Just enough of the qcow2 format to move a disk between its two faces: the bytes of the image file, which a `cow`
//! transfer carries as they are, and the data that the guest sees, which a `raw` transfer carries.
//!
//! Image files come from outside, so nothing in them is trusted: every offset, count and size is checked before it is
//! used, and no file can make the importer write more than its own size explains.

mod export;
mod header;
mod import;

pub(crate) use export::export;
pub(crate) use header::Header;
pub(crate) use import::import;

/// Offsets in L1 and L2 entries; the bits around them are flags.
const OFFSET_MASK: u64 = 0x00ff_ffff_ffff_fe00;
/// Set in an entry whose cluster is referenced once only, as all of ours are.
const COPIED: u64 = 1 << 63;
/// Set in an L2 entry of a compressed cluster.
const COMPRESSED: u64 = 1 << 62;
/// Set in an L2 entry (version 3) of a cluster that reads as zeroes.
const ZERO: u64 = 1;

/// Why bytes cannot be used as a qcow2 image.
#[derive(Debug, thiserror::Error)]
pub enum Qcow2Error {
    /// The file does not start as a qcow2 image does.
    #[error("the file has no qcow2 header")]
    NotQcow2,
    /// The version in the header is neither 2 nor 3.
    #[error("qcow2 version {0} does not exist")]
    Version(u32),
    /// Image files from outside must stand alone.
    #[error("the image names a backing file, which is not allowed for an uploaded image")]
    BackingFile,
    /// The image is encrypted.
    #[error("the image is encrypted")]
    Encrypted,
    /// The image needs a feature that is not supported here.
    #[error("the image needs unsupported qcow2 features (incompatible feature bits {0:#x})")]
    Features(u64),
    /// A table or a cluster is not where the image says it is.
    #[error("the image is damaged: {0}")]
    Damaged(&'static str),
    /// Reading or writing failed.
    #[error("cannot read or write the image")]
    Io(#[from] std::io::Error),
}
