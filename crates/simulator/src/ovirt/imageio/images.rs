//! What the engine does to images outside transfers.

use uuid::Uuid;

use super::store::{Format, ImageError};

/// The images behind an engine's disks, by the id of the disk.
///
/// Every call answers at once: nothing is copied until somebody writes to one of two copies. An image that was never
/// written to is blank and need not be announced, and neither need a change of its size.
pub trait Images: Send + Sync + 'static {
    /// Makes `to` a copy of `from`, whatever it was before. Called when a disk is copied, cloned, or put on top of
    /// another one.
    fn copy(&self, from: Uuid, to: Uuid) -> Result<(), ImageError>;

    /// Removes an image. Called when its disk is removed; no error if there is nothing to remove.
    fn remove(&self, image: Uuid) -> Result<(), ImageError>;

    /// Checks an uploaded image as a host does before its disk becomes usable: the format is that of the disk, by the
    /// look of the first bytes, and no other file is named inside. Answers the virtual size that a qcow2 header states,
    /// if a qcow2 file was uploaded as it is.
    fn verify(&self, image: Uuid, disk_format: Format) -> Result<Option<u64>, ImageError>;

    /// The space that an image takes, in bytes.
    fn allocated(&self, image: Uuid) -> Result<u64, ImageError>;
}

/// Disks that are all blank, for an engine that no image is transferred to.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlankImages;

impl Images for BlankImages {
    fn copy(&self, _from: Uuid, _to: Uuid) -> Result<(), ImageError> {
        Ok(())
    }

    fn remove(&self, _image: Uuid) -> Result<(), ImageError> {
        Ok(())
    }

    fn verify(&self, _image: Uuid, _disk_format: Format) -> Result<Option<u64>, ImageError> {
        Ok(None)
    }

    fn allocated(&self, _image: Uuid) -> Result<u64, ImageError> {
        Ok(0)
    }
}
