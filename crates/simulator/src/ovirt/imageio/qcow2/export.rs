//! From the data that the guest sees to an image file.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::super::sparse::{self, to_usize};
use super::header::{LENGTH, MAGIC};
use super::{COPIED, Qcow2Error};

const CLUSTER_BITS: u32 = 16;
const CLUSTER: u64 = 1 << CLUSTER_BITS;
const L2_ENTRIES: u64 = CLUSTER / 8;
/// Reference counts have 16 bits, the only width that version 2 readers knew.
const REFCOUNTS: u64 = CLUSTER / 2;

/// Writes a version 3 image of `size` bytes, with the guest data of `from` (none: a blank disk), into `to`, which must be
/// empty. Only clusters with data are allocated.
pub(crate) fn export(from: Option<&File>, size: u64, to: &File) -> Result<(), Qcow2Error> {
    let size = size.next_multiple_of(512);
    let clusters = match from {
        Some(file) => data_clusters(file, size)?,
        None => Vec::new(),
    };
    let layout = Layout::new(size, &clusters);
    to.set_len(layout.clusters * CLUSTER)?;
    to.write_all_at(&layout.header(size), 0)?;
    layout.write_refcounts(to)?;
    if let Some(file) = from {
        layout.write_data(file, size, &clusters, to)?;
    }
    Ok(())
}

/// The indexes of the guest clusters that hold data, in order.
fn data_clusters(file: &File, size: u64) -> Result<Vec<u64>, Qcow2Error> {
    let mut found: Vec<u64> = Vec::new();
    for extent in sparse::extents(file, size, false)?.into_iter().filter(|extent| !extent.zero) {
        let first = extent.start / CLUSTER;
        let last = (extent.start + extent.length - 1) / CLUSTER;
        let next = found.last().map_or(first, |seen| first.max(seen + 1));
        found.extend(next..=last);
    }
    Ok(found)
}

/// Where everything goes, in clusters: header, refcount table, refcount blocks, L1 table, L2 tables, data.
struct Layout {
    l1_entries: u64,
    refcount_table: u64,
    refcount_table_clusters: u64,
    refcount_blocks: u64,
    l1_table: u64,
    l2_tables: u64,
    data: u64,
    clusters: u64,
}

impl Layout {
    fn new(size: u64, clusters: &[u64]) -> Self {
        let l1_entries = size.div_ceil(CLUSTER * L2_ENTRIES).max(1);
        let l1_clusters = (l1_entries * 8).div_ceil(CLUSTER);
        let mut l2_count = 0;
        let mut last = None;
        for l1_index in clusters.iter().map(|cluster| cluster / L2_ENTRIES) {
            if last.replace(l1_index) != Some(l1_index) {
                l2_count += 1;
            }
        }
        let counted = 1 + l1_clusters + l2_count + clusters.len() as u64;
        // The blocks count themselves and their table too, so their number is found by trying.
        let (mut blocks, mut table) = (1, 1);
        while (counted + blocks + table).div_ceil(REFCOUNTS) > blocks || (blocks * 8).div_ceil(CLUSTER) > table {
            blocks = (counted + blocks + table).div_ceil(REFCOUNTS);
            table = (blocks * 8).div_ceil(CLUSTER);
        }
        let l1_table = 1 + table + blocks;
        let l2_tables = l1_table + l1_clusters;
        let data = l2_tables + l2_count;
        Self {
            l1_entries,
            refcount_table: 1,
            refcount_table_clusters: table,
            refcount_blocks: blocks,
            l1_table,
            l2_tables,
            data,
            clusters: data + clusters.len() as u64,
        }
    }

    fn header(&self, size: u64) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        let l1_entries = u32::try_from(self.l1_entries).expect("disks are far smaller than 2^32 L1 entries");
        let table = u32::try_from(self.refcount_table_clusters).expect("a refcount table is a few clusters");
        put(0, &MAGIC);
        put(4, &3u32.to_be_bytes());
        put(20, &CLUSTER_BITS.to_be_bytes());
        put(24, &size.to_be_bytes());
        put(36, &l1_entries.to_be_bytes());
        put(40, &(self.l1_table * CLUSTER).to_be_bytes());
        put(48, &(self.refcount_table * CLUSTER).to_be_bytes());
        put(56, &table.to_be_bytes());
        // Refcount order (2^4 bits) and the length of this header, after which a zero ends the (empty) extensions.
        put(96, &4u32.to_be_bytes());
        put(100, &104u32.to_be_bytes());
        bytes
    }

    fn write_refcounts(&self, to: &File) -> Result<(), Qcow2Error> {
        let first_block = self.refcount_table + self.refcount_table_clusters;
        let table = entries((0..self.refcount_blocks).map(|i| (first_block + i) * CLUSTER));
        to.write_all_at(&table, self.refcount_table * CLUSTER)?;
        let one = 1u16.to_be_bytes();
        for block in 0..self.refcount_blocks {
            let used = to_usize(self.clusters.saturating_sub(block * REFCOUNTS).min(REFCOUNTS));
            to.write_all_at(&one.repeat(used), (first_block + block) * CLUSTER)?;
        }
        Ok(())
    }

    fn write_data(&self, from: &File, size: u64, clusters: &[u64], to: &File) -> Result<(), Qcow2Error> {
        let mut data = self.data;
        let mut buf = vec![0; to_usize(CLUSTER)];
        for (l2, group) in (self.l2_tables..).zip(clusters.chunk_by(|a, b| a / L2_ENTRIES == b / L2_ENTRIES)) {
            let l1_index = group[0] / L2_ENTRIES;
            to.write_all_at(&((l2 * CLUSTER) | COPIED).to_be_bytes(), self.l1_table * CLUSTER + l1_index * 8)?;
            let mut table = vec![0; to_usize(L2_ENTRIES)];
            for cluster in group {
                table[to_usize(cluster % L2_ENTRIES)] = (data * CLUSTER) | COPIED;
                buf.fill(0);
                let wanted = to_usize(CLUSTER.min(size - cluster * CLUSTER));
                sparse::read_at(from, cluster * CLUSTER, &mut buf[..wanted])?;
                sparse::write_at(to, data * CLUSTER, &buf)?;
                data += 1;
            }
            to.write_all_at(&entries(table.into_iter()), l2 * CLUSTER)?;
        }
        Ok(())
    }
}

fn entries(values: impl Iterator<Item = u64>) -> Vec<u8> {
    values.flat_map(u64::to_be_bytes).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Header, import};
    use super::*;

    fn round_trip(guest: &File, size: u64) -> (File, Vec<u8>) {
        let image = tempfile::tempfile().unwrap();
        export(Some(guest), size, &image).unwrap();
        let back = tempfile::tempfile().unwrap();
        import(&image, &back).unwrap();
        let mut bytes = vec![0; to_usize(size)];
        sparse::read_at(&back, 0, &mut bytes).unwrap();
        (image, bytes)
    }

    #[test]
    fn a_blank_disk_is_a_few_clusters() {
        let image = tempfile::tempfile().unwrap();
        export(None, 8 << 40, &image).unwrap();
        assert_eq!(Header::read(&image).unwrap().virtual_size, 8 << 40);
        assert!(image.metadata().unwrap().len() < 1 << 20);
    }

    #[test]
    fn data_far_out_needs_few_tables() {
        let guest = tempfile::tempfile().unwrap();
        sparse::write_at(&guest, 100 << 30, b"far").unwrap();
        let image = tempfile::tempfile().unwrap();
        export(Some(&guest), 101 << 30, &image).unwrap();
        let back = tempfile::tempfile().unwrap();
        import(&image, &back).unwrap();
        let mut bytes = [0; 3];
        sparse::read_at(&back, 100 << 30, &mut bytes).unwrap();
        assert_eq!(&bytes, b"far");
        assert_eq!(image.metadata().unwrap().len(), 6 * CLUSTER);
    }

    #[test]
    fn damaged_tables_are_refused() {
        let guest = tempfile::tempfile().unwrap();
        sparse::write_at(&guest, 0, &vec![1; 200_000]).unwrap();
        let (image, _) = round_trip(&guest, 200_000);
        let l1 = Header::read(&image).unwrap().l1_offset;
        image.write_all_at(&(1u64 << 40).to_be_bytes(), l1).unwrap();
        let error = import(&image, &tempfile::tempfile().unwrap()).unwrap_err();
        assert!(matches!(error, Qcow2Error::Damaged("a table lies outside the file")), "{error}");
    }

    /// One data cluster referenced by every entry: a small file that claims to be a full disk.
    #[test]
    fn a_file_cannot_blow_up() {
        let guest = tempfile::tempfile().unwrap();
        sparse::write_at(&guest, 0, &vec![1; 65536]).unwrap();
        let image = tempfile::tempfile().unwrap();
        export(Some(&guest), 512 << 20, &image).unwrap();
        let l2 = image.metadata().unwrap().len() - 2 * CLUSTER;
        let entry = ((l2 + CLUSTER) | COPIED).to_be_bytes();
        image.write_all_at(&entry.repeat(8192), l2).unwrap();
        let error = import(&image, &tempfile::tempfile().unwrap()).unwrap_err();
        assert!(matches!(error, Qcow2Error::Damaged("clusters are used more than once")), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        /// Export and import give back what the guest saw.
        #[test]
        fn round_trips(
            writes in prop::collection::vec((0u64..1_000_000, any::<u8>(), 1usize..100_000), 0..6),
            size in 1u64..1_100_000,
        ) {
            let guest = tempfile::tempfile().unwrap();
            for (at, byte, n) in writes {
                sparse::write_at(&guest, at, &vec![byte; n]).unwrap();
            }
            guest.set_len(guest.metadata().unwrap().len().min(size)).unwrap();
            let mut expected = vec![0; to_usize(size)];
            sparse::read_at(&guest, 0, &mut expected).unwrap();
            prop_assert_eq!(round_trip(&guest, size).1, expected);
        }

        /// No bytes make the importer panic.
        #[test]
        fn survives_any_change(changes in prop::collection::vec((0u64..7 * CLUSTER, any::<u64>()), 1..8)) {
            let guest = tempfile::tempfile().unwrap();
            sparse::write_at(&guest, 70_000, &vec![5; 70_000]).unwrap();
            let (image, _) = round_trip(&guest, 300_000);
            for (at, value) in changes {
                image.write_all_at(&value.to_be_bytes(), at / 8 * 8).unwrap();
            }
            let _ = import(&image, &tempfile::tempfile().unwrap());
        }
    }
}
