//! An image that a transfer has open.

use std::fs::File;
use std::io;

use super::checksum::{self, Algorithm, Checksum};
use super::sparse::{self, Extent};
use super::store::Format;

/// What a transfer wants of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spec {
    /// The size of the disk that the guest sees.
    pub(crate) virtual_size: u64,
    /// The format of the disk.
    pub(crate) disk_format: Format,
    /// Whether the guest's data is transferred, or the bytes of the image file.
    pub(crate) transfer_format: Format,
    /// Whether the image is written to.
    pub(crate) write: bool,
}

/// An open image. Reading, writing and zeroing take offsets within [`Image::limit`], which the caller checks.
#[derive(Debug)]
pub(crate) struct Image {
    /// None while the disk is blank.
    file: Option<File>,
    spec: Spec,
}

impl Image {
    pub(super) fn new(file: Option<File>, spec: Spec) -> Self {
        Self { file, spec }
    }

    /// How far a transfer may reach. An upload of a qcow2 file may be somewhat longer than the disk, because a fully
    /// allocated image is: an engine allows a tenth and one MiB more.
    pub(crate) fn limit(&self) -> io::Result<u64> {
        let size = self.spec.virtual_size;
        match self.spec.transfer_format {
            Format::Cow if self.spec.write => Ok(size.saturating_add(size.div_ceil(10)).saturating_add(1 << 20)),
            _ => self.size(),
        }
    }

    /// How much there is to read.
    pub(crate) fn size(&self) -> io::Result<u64> {
        match (self.spec.transfer_format, &self.file) {
            (Format::Raw, _) => Ok(self.spec.virtual_size),
            (Format::Cow, None) => Ok(0),
            (Format::Cow, Some(file)) => Ok(file.metadata()?.len()),
        }
    }

    /// How many connections may read at once, and how many may write. A file that is addressed as it is has room for one
    /// writer only, because whole-file clients make it grow.
    pub(crate) fn connections(&self) -> (u32, u32) {
        match self.spec.transfer_format {
            Format::Raw => (8, 8),
            Format::Cow => (8, 1),
        }
    }

    /// Fills `buf` from `offset`.
    pub(crate) fn read(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let Some(file) = &self.file else {
            buf.fill(0);
            return Ok(());
        };
        sparse::read_at(file, offset, buf)
    }

    /// Writes `data` at `offset`.
    pub(crate) fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        sparse::write_at(self.writable()?, offset, data)
    }

    /// Makes a range read as zeroes.
    pub(crate) fn zero(&self, offset: u64, length: u64) -> io::Result<()> {
        sparse::zero(self.writable()?, offset, length)
    }

    /// Makes what was written durable.
    pub(crate) fn flush(&self) -> io::Result<()> {
        self.writable()?.sync_data()
    }

    /// The data and zeroes of the image. The bytes of an image file are all data: nobody looks inside.
    pub(crate) fn extents(&self) -> io::Result<Vec<Extent>> {
        let size = self.size()?;
        let unallocated = self.spec.disk_format == Format::Cow;
        match (self.spec.transfer_format, &self.file) {
            (Format::Raw, Some(file)) => sparse::extents(file, size, unallocated),
            (format, _) => {
                let zero = format == Format::Raw;
                Ok(vec![Extent { start: 0, length: size, zero, hole: zero && unallocated }])
            }
        }
    }

    /// The checksum over all that can be read.
    pub(crate) fn checksum(&self, algorithm: Algorithm, block_size: u64) -> io::Result<Checksum> {
        checksum::compute(algorithm, block_size, self.size()?, &self.extents()?, |at, buf| self.read(at, buf))
    }

    fn writable(&self) -> io::Result<&File> {
        self.file.as_ref().filter(|_| self.spec.write).ok_or_else(|| io::ErrorKind::PermissionDenied.into())
    }
}
