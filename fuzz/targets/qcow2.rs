//! Disk images in qcow2 that users upload: no panic and no disk that a small file fills; and a disk that was read is written and read the same.

#![no_main]

use std::{fs::File, io::Write as _};

use imageio::{qcow2, sparse};
use landfall_image::Header;
use libfuzzer_sys::fuzz_target;
use rustix::fs::{MemfdFlags, memfd_create};

#[allow(dead_code, unused_imports, unreachable_pub)]
#[path = "../../crates/simulator/src/ovirt/imageio"]
mod imageio {
    pub mod qcow2;
    pub mod sparse;
}

/// What the installer reads of an image before it uploads it.
#[allow(dead_code, unreachable_pub)]
#[path = "../../crates/platform-ovirt/src/image/qcow2.rs"]
mod landfall_image;

/// Larger disks are not compared byte by byte.
const COMPARED: u64 = 1 << 20;

fuzz_target!(|image: &[u8]| {
    let _ = Header::read(image);
    let (mut from, disk) = (file(), file());
    from.write_all(image).expect("memory can be written to");
    if qcow2::import(&from, &disk).is_err() {
        return;
    }
    let allocated = sparse::allocated(&disk).expect("the size can be asked");
    // A sector of compressed data makes a cluster at most, and each byte of the file may be read twice.
    let most = (2 * image.len() as u64 / 512 + 1) * (2 << 20);
    assert!(allocated <= most, "{} bytes became {allocated}", image.len());
    let size = disk.metadata().expect("the size can be asked").len();
    if size == 0 || size > COMPARED {
        return;
    }
    let (written, again) = (file(), file());
    qcow2::export(Some(&disk), size, &written).expect("a disk can be written");
    qcow2::import(&written, &again).expect("what was written can be read");
    assert!(bytes(&disk, size) == bytes(&again, size), "the disk has changed");
});

fn file() -> File {
    File::from(memfd_create("fuzz", MemfdFlags::CLOEXEC).expect("memory can be had"))
}

fn bytes(file: &File, size: u64) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(size).expect("it is small")];
    sparse::read_at(file, 0, &mut bytes).expect("memory can be read");
    bytes
}
