//! The qcow2 header.

use std::fs::File;

use super::super::sparse;
use super::Qcow2Error;

pub(super) const MAGIC: [u8; 4] = *b"QFI\xfb";
/// The length of a version 3 header with its compression type and padding.
pub(super) const LENGTH: usize = 112;
/// A larger L1 table than this is refused, as QEMU does.
const MAX_L1_BYTES: u64 = 32 << 20;
/// The incompatible feature "dirty": only the reference counts may be stale, and they are not read here.
const DIRTY: u64 = 1;
/// The incompatible feature "compression type", which is harmless while that type is deflate.
const COMPRESSION_TYPE: u64 = 1 << 3;

/// What the header of an image says, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The size of the disk that the guest sees.
    pub(crate) virtual_size: u64,
    pub(super) version: u32,
    pub(super) cluster_bits: u32,
    pub(super) l1_offset: u64,
}

impl Header {
    /// Whether the file starts like a qcow2 image, which is all that a prober looks at.
    pub(crate) fn probe(file: &File) -> std::io::Result<bool> {
        let mut magic = [0; 4];
        sparse::read_at(file, 0, &mut magic)?;
        Ok(magic == MAGIC)
    }

    /// Reads and checks the header of `file`.
    pub(crate) fn read(file: &File) -> Result<Self, Qcow2Error> {
        let mut bytes = [0; LENGTH];
        sparse::read_at(file, 0, &mut bytes)?;
        Self::parse(&bytes)
    }

    fn parse(bytes: &[u8; LENGTH]) -> Result<Self, Qcow2Error> {
        let u32_at = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let u64_at = |at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        if bytes[..4] != MAGIC {
            return Err(Qcow2Error::NotQcow2);
        }
        let version = u32_at(4);
        if !(2..=3).contains(&version) {
            return Err(Qcow2Error::Version(version));
        }
        if u64_at(8) != 0 {
            return Err(Qcow2Error::BackingFile);
        }
        if u32_at(32) != 0 {
            return Err(Qcow2Error::Encrypted);
        }
        let features = if version >= 3 { u64_at(72) } else { 0 };
        let deflate = u32_at(100) <= 104 || bytes[104] == 0;
        if features & !(DIRTY | COMPRESSION_TYPE) != 0 || (features & COMPRESSION_TYPE != 0 && !deflate) {
            return Err(Qcow2Error::Features(features));
        }
        let header = Self { virtual_size: u64_at(24), version, cluster_bits: u32_at(20), l1_offset: u64_at(40) };
        if !(9..=21).contains(&header.cluster_bits) {
            return Err(Qcow2Error::Damaged("the cluster size is out of range"));
        }
        if header.l1_entries() * 8 > MAX_L1_BYTES {
            return Err(Qcow2Error::Damaged("the disk is too large for its cluster size"));
        }
        if u64::from(u32_at(36)) < header.l1_entries() {
            return Err(Qcow2Error::Damaged("the L1 table is too short for the size of the disk"));
        }
        Ok(header)
    }

    pub(super) fn cluster_size(&self) -> u64 {
        1 << self.cluster_bits
    }

    /// How many entries an L2 table has: it fills one cluster.
    pub(super) fn l2_entries(&self) -> u64 {
        self.cluster_size() / 8
    }

    /// How many L1 entries the size of the disk needs.
    pub(super) fn l1_entries(&self) -> u64 {
        self.virtual_size.div_ceil(self.cluster_size() * self.l2_entries())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minimal() -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[7] = 3;
        bytes[23] = 16;
        bytes[24..32].copy_from_slice(&(10u64 << 30).to_be_bytes());
        bytes[36..40].copy_from_slice(&20u32.to_be_bytes());
        bytes[47] = 0x30;
        bytes[100..104].copy_from_slice(&104u32.to_be_bytes());
        bytes
    }

    fn with(at: usize, value: &[u8]) -> Result<Header, Qcow2Error> {
        let mut bytes = minimal();
        bytes[at..at + value.len()].copy_from_slice(value);
        Header::parse(&bytes)
    }

    #[test]
    fn reads_size_and_geometry() {
        let header = Header::parse(&minimal()).unwrap();
        assert_eq!(header.virtual_size, 10 << 30);
        assert_eq!((header.cluster_size(), header.l2_entries(), header.l1_entries()), (65536, 8192, 20));
    }

    #[test]
    fn refuses_what_cannot_stand_alone_or_be_read() {
        assert!(matches!(with(0, b"junk"), Err(Qcow2Error::NotQcow2)));
        assert!(matches!(with(7, &[9]), Err(Qcow2Error::Version(9))));
        assert!(matches!(with(15, &[104]), Err(Qcow2Error::BackingFile)));
        assert!(matches!(with(35, &[2]), Err(Qcow2Error::Encrypted)));
        assert!(matches!(with(79, &[4]), Err(Qcow2Error::Features(4))));
        assert!(matches!(with(23, &[63]), Err(Qcow2Error::Damaged(_))));
        assert!(matches!(with(36, &[0, 0, 0, 19]), Err(Qcow2Error::Damaged(_))));
        assert!(matches!(with(24, &[0xff; 8]), Err(Qcow2Error::Damaged(_))));
    }

    #[test]
    fn zstd_is_refused_and_deflate_is_not() {
        let mut bytes = minimal();
        bytes[79] = 8;
        bytes[103] = 112;
        assert!(Header::parse(&bytes).is_ok());
        bytes[104] = 1;
        assert!(matches!(Header::parse(&bytes), Err(Qcow2Error::Features(8))));
    }
}
