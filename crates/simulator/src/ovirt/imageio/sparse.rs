//! Files with real holes: what a disk image is made of on the simulator's own file system.
//!
//! Everything is positional, so several connections may work on one image at once. A file shorter than the image it holds
//! reads as zeroes past its end: a disk that was grown needs no further attention, and a blank disk needs no file at all.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};

use rustix::fs::{FallocateFlags, SeekFrom, fallocate, seek};
use rustix::io::Errno;
use serde::Serialize;

/// The unit in which files are copied and zeroes are written by hand.
const CHUNK: usize = 256 * 1024;

/// A stretch of an image, as the extents call reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Extent {
    /// Where it starts, in bytes.
    pub start: u64,
    /// How long it is, in bytes.
    pub length: u64,
    /// Whether it reads as zeroes.
    pub zero: bool,
    /// Whether it is not allocated, so that a backing image would show through. Only qcow2 disks know that.
    pub hole: bool,
}

/// Fills `buf` from `offset`; what lies past the end of the file is zero.
pub(crate) fn read_at(file: &File, offset: u64, buf: &mut [u8]) -> io::Result<()> {
    let mut done = 0;
    while done < buf.len() {
        match file.read_at(&mut buf[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    buf[done..].fill(0);
    Ok(())
}

/// Writes `data` at `offset`. Zeroes become a hole, as a host with zero detection makes them.
pub(crate) fn write_at(file: &File, offset: u64, data: &[u8]) -> io::Result<()> {
    if is_zero(data) { zero(file, offset, data.len() as u64) } else { file.write_all_at(data, offset) }
}

/// Whether all bytes are zero.
pub(crate) fn is_zero(data: &[u8]) -> bool {
    // Comparing with itself shifted by one leaves the loop to memcmp.
    data.is_empty() || (data[0] == 0 && data[1..] == data[..data.len() - 1])
}

/// Makes the range read as zeroes and gives its space back, extending the file when it ends before the range does.
pub(crate) fn zero(file: &File, offset: u64, length: u64) -> io::Result<()> {
    if length == 0 {
        return Ok(());
    }
    let end = offset.checked_add(length).ok_or(io::ErrorKind::InvalidInput)?;
    // Not by setting the length: another connection may make the file longer at this moment, and what it wrote would be cut off.
    let extended =
        if file.metadata()?.len() < end { fallocate(file, FallocateFlags::empty(), end - 1, 1) } else { Ok(()) };
    let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    match extended.and_then(|()| fallocate(file, punch, offset, length)) {
        Ok(()) => Ok(()),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => write_zeroes(file, offset, length),
        Err(e) => Err(e.into()),
    }
}

/// For file systems that cannot punch holes.
fn write_zeroes(file: &File, mut offset: u64, mut length: u64) -> io::Result<()> {
    let zeroes = vec![0; CHUNK];
    while length > 0 {
        let step = length.min(CHUNK as u64);
        file.write_all_at(&zeroes[..to_usize(step)], offset)?;
        offset += step;
        length -= step;
    }
    Ok(())
}

/// The space that the file really takes.
pub(crate) fn allocated(file: &File) -> io::Result<u64> {
    Ok(file.metadata()?.blocks() * 512)
}

/// The data and the holes of an image of `size` bytes, in order and without gaps. `unallocated` says how holes are
/// reported: see [`Extent::hole`]. An empty image has no extents.
pub(crate) fn extents(file: &File, size: u64, unallocated: bool) -> io::Result<Vec<Extent>> {
    let end = file.metadata()?.len().min(size);
    let mut found = Extents { list: Vec::new(), unallocated };
    let mut at = 0;
    while at < end {
        let data = match seek(file, SeekFrom::Data(at)) {
            Ok(data) => data.min(end),
            // No data after `at`.
            Err(Errno::NXIO) => end,
            Err(e) => return Err(e.into()),
        };
        found.push(at, data, true);
        if data == end {
            break;
        }
        at = seek(file, SeekFrom::Hole(data))?.min(end);
        found.push(data, at, false);
    }
    found.push(end, size, true);
    Ok(found.list)
}

struct Extents {
    list: Vec<Extent>,
    unallocated: bool,
}

impl Extents {
    /// Adds `start..end`, merging it with the extent before when they are of one kind.
    fn push(&mut self, start: u64, end: u64, zero: bool) {
        if start >= end {
            return;
        }
        match self.list.last_mut() {
            Some(last) if last.zero == zero => last.length += end - start,
            _ => self.list.push(Extent { start, length: end - start, zero, hole: zero && self.unallocated }),
        }
    }
}

/// Copies the data of `from` into `to`, which must be empty, and leaves holes where `from` has them.
pub(crate) fn copy(from: &File, to: &File) -> io::Result<()> {
    let size = from.metadata()?.len();
    to.set_len(size)?;
    let mut buf = vec![0; CHUNK];
    for extent in extents(from, size, false)?.into_iter().filter(|extent| !extent.zero) {
        let mut at = extent.start;
        let end = extent.start + extent.length;
        while at < end {
            let step = to_usize((end - at).min(CHUNK as u64));
            read_at(from, at, &mut buf[..step])?;
            write_at(to, at, &buf[..step])?;
            at += step as u64;
        }
    }
    Ok(())
}

/// For lengths already bounded by the size of a buffer.
pub(crate) fn to_usize(bounded: u64) -> usize {
    usize::try_from(bounded).expect("a length within a buffer fits in usize")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BLOCK: u64 = 4096;

    fn data(start: u64, length: u64) -> Extent {
        Extent { start, length, zero: false, hole: false }
    }

    fn empty(start: u64, length: u64) -> Extent {
        Extent { start, length, zero: true, hole: false }
    }

    #[test]
    fn holes_are_reported_between_data_and_after_the_end() {
        let file = tempfile::tempfile().unwrap();
        write_at(&file, 4 * BLOCK, &[1; 4096]).unwrap();
        let found = extents(&file, 10 * BLOCK, false).unwrap();
        assert_eq!(found, [empty(0, 4 * BLOCK), data(4 * BLOCK, BLOCK), empty(5 * BLOCK, 5 * BLOCK)]);
    }

    #[test]
    fn a_blank_file_is_one_hole_and_an_empty_image_is_nothing() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(extents(&file, 0, true).unwrap(), []);
        let all = [Extent { start: 0, length: 77, zero: true, hole: true }];
        assert_eq!(extents(&file, 77, true).unwrap(), all);
    }

    #[test]
    fn connections_that_lengthen_a_file_at_once_lose_nothing() {
        const PAIRS: u64 = 2000;
        let file = tempfile::tempfile().unwrap();
        std::thread::scope(|threads| {
            threads.spawn(|| (0..PAIRS).for_each(|pair| zero(&file, 2 * pair * BLOCK, BLOCK).unwrap()));
            threads.spawn(|| (0..PAIRS).for_each(|pair| write_at(&file, (2 * pair + 1) * BLOCK, &[1; 4096]).unwrap()));
        });
        let mut block = [0; 4096];
        for pair in 0..PAIRS {
            read_at(&file, (2 * pair + 1) * BLOCK, &mut block).unwrap();
            assert_eq!(block, [1; 4096], "block {}", 2 * pair + 1);
        }
    }

    #[test]
    fn zeroing_gives_space_back() {
        let file = tempfile::tempfile().unwrap();
        write_at(&file, 0, &vec![7; 64 * 1024]).unwrap();
        let before = allocated(&file).unwrap();
        zero(&file, 0, 64 * 1024).unwrap();
        assert!(allocated(&file).unwrap() < before);
        assert_eq!(file.metadata().unwrap().len(), 64 * 1024);
    }

    #[test]
    fn zeroing_past_the_end_extends_and_overflow_is_refused() {
        let file = tempfile::tempfile().unwrap();
        zero(&file, 100, 50).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 150);
        assert_eq!(zero(&file, u64::MAX, 2).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn zeroes_by_hand_do_what_a_hole_does() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&vec![9; 600 * 1024], 0).unwrap();
        write_zeroes(&file, 10, 500 * 1024).unwrap();
        let mut all = vec![1; 600 * 1024];
        read_at(&file, 0, &mut all).unwrap();
        let end = 10 + 500 * 1024;
        assert_eq!((&all[..10], is_zero(&all[10..end]), all[end]), (&[9; 10][..], true, 9));
    }

    #[derive(Clone, Debug)]
    enum Op {
        Write(u64, Vec<u8>),
        Zero(u64, u64),
    }

    fn op() -> impl Strategy<Value = Op> {
        let bytes = prop_oneof![
            prop::collection::vec(any::<u8>(), 1..3000),
            (1usize..20_000).prop_map(|n| vec![0; n]),
            (any::<u8>(), 1usize..20_000).prop_map(|(b, n)| vec![b; n]),
        ];
        prop_oneof![
            (0u64..40_000, bytes).prop_map(|(at, bytes)| Op::Write(at, bytes)),
            (0u64..40_000, 0u64..30_000).prop_map(|(at, n)| Op::Zero(at, n)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        /// Whatever is written and zeroed in any order, the file reads like plain memory, its extents cover it without a
        /// gap or an overlap, what they call zero is zero, and a copy has the same bytes.
        #[test]
        fn behaves_like_memory(ops in prop::collection::vec(op(), 1..12)) {
            const SIZE: usize = 80_000;
            let file = tempfile::tempfile().unwrap();
            let mut model = vec![0u8; SIZE];
            for op in ops {
                match op {
                    Op::Write(at, bytes) => {
                        write_at(&file, at, &bytes).unwrap();
                        model[to_usize(at)..][..bytes.len()].copy_from_slice(&bytes);
                    }
                    Op::Zero(at, n) => {
                        zero(&file, at, n).unwrap();
                        model[to_usize(at)..][..to_usize(n)].fill(0);
                    }
                }
            }
            let mut read = vec![1; SIZE];
            read_at(&file, 0, &mut read).unwrap();
            prop_assert_eq!(&read, &model);

            let found = extents(&file, SIZE as u64, false).unwrap();
            let mut at = 0;
            for (i, extent) in found.iter().enumerate() {
                prop_assert_eq!(extent.start, at);
                prop_assert!(extent.length > 0);
                prop_assert!(i == 0 || found[i - 1].zero != extent.zero, "extents of one kind are merged");
                if extent.zero {
                    prop_assert!(is_zero(&model[to_usize(extent.start)..][..to_usize(extent.length)]));
                }
                at += extent.length;
            }
            prop_assert_eq!(at, SIZE as u64);

            let twin = tempfile::tempfile().unwrap();
            copy(&file, &twin).unwrap();
            prop_assert_eq!(twin.metadata().unwrap().len(), file.metadata().unwrap().len());
            read_at(&twin, 0, &mut read).unwrap();
            prop_assert_eq!(&read, &model);
        }
    }
}
