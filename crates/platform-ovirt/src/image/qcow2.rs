//! The header of a qcow2 file.

const MAGIC: &[u8; 4] = b"QFI\xfb";
/// An engine makes no smaller disks.
const SMALLEST_DISK: u64 = 1 << 20;

/// What the header of a qcow2 file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Size of the disk as a machine sees it, in bytes.
    pub(crate) virtual_size: u64,
}

impl Header {
    /// How much of a file has to be read.
    pub(crate) const LENGTH: usize = 72;

    /// Reads the beginning of a file, or says why it is no image that can be uploaded.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, &'static str> {
        let number = |at: usize| bytes.get(at..at + 4).map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]));
        let long = |at: usize| Some(u64::from(number(at)?) << 32 | u64::from(number(at + 4)?));
        if !bytes.starts_with(MAGIC) {
            return Err(guess(bytes));
        }
        let (Some(version), Some(backing), Some(size), Some(crypt)) = (number(4), long(8), long(24), number(32)) else {
            return Err("it ends within its header");
        };
        match (version, backing, crypt) {
            (2 | 3, 0, 0) => Ok(Self { virtual_size: size.max(SMALLEST_DISK) }),
            (2 | 3, 0, _) => Err("it is encrypted"),
            (2 | 3, ..) => Err("it is a layer over another image; convert it with 'qemu-img convert -O qcow2'"),
            _ => Err("it is of a version of qcow2 that is not known"),
        }
    }
}

/// What a file that is not qcow2 is, if it is something that people often have instead.
fn guess(bytes: &[u8]) -> &'static str {
    match bytes {
        [0x1f, 0x8b, ..] => "it is compressed with gzip, and its name does not end in .gz",
        [0xfd, b'7', b'z', b'X', b'Z', ..] => "it is compressed; unpack it with 'xz -d' first",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "it is compressed; unpack it with 'zstd -d' first",
        [b'<', ..] => "it is a web page and not a qcow2 image",
        _ => "it is not a qcow2 image; convert it with 'qemu-img convert -O qcow2'",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn header(version: u32, backing: u64, size: u64, crypt: u32) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(version.to_be_bytes());
        bytes.extend(backing.to_be_bytes());
        bytes.extend([0; 8]);
        bytes.extend(size.to_be_bytes());
        bytes.extend(crypt.to_be_bytes());
        bytes.resize(Header::LENGTH, 0);
        bytes
    }

    #[test]
    fn the_size_is_read_and_what_cannot_be_used_is_named() {
        assert_eq!(Header::read(&header(3, 0, 10 << 30, 0)), Ok(Header { virtual_size: 10 << 30 }));
        assert_eq!(Header::read(&header(2, 0, 5, 0)), Ok(Header { virtual_size: 1 << 20 }));
        for (bytes, reason) in [
            (header(3, 0x70, 1, 0), "layer"),
            (header(3, 0, 1, 1), "encrypted"),
            (header(9, 0, 1, 0), "version"),
            (header(3, 0, 1, 0)[..20].to_vec(), "ends"),
            (b"\x1f\x8b\x08".to_vec(), "gzip"),
            (b"\xfd7zXZ\x00".to_vec(), "xz"),
            (b"<!doctype html>".to_vec(), "web page"),
            (Vec::new(), "not a qcow2"),
        ] {
            let said = Header::read(&bytes).unwrap_err();
            assert!(said.contains(reason), "{said}");
        }
    }

    proptest! {
        #[test]
        fn anything_is_read_or_refused(bytes: Vec<u8>) {
            let _ = Header::read(&bytes);
        }
    }
}
