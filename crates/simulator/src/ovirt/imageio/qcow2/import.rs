//! From an image file to the data that the guest sees.

use std::fs::File;

use flate2::{Decompress, FlushDecompress};

use super::super::sparse::{self, to_usize};
use super::{COMPRESSED, Header, OFFSET_MASK, Qcow2Error, ZERO};

/// Writes the guest data of the image in `from` into `to`, which must be empty, and makes it as long as the disk.
pub(crate) fn import(from: &File, to: &File) -> Result<(), Qcow2Error> {
    let header = Header::read(from)?;
    to.set_len(header.virtual_size)?;
    let length = from.metadata()?.len();
    Importer { budget: 2 * length, length, from, to, header }.run()
}

struct Importer<'a> {
    from: &'a File,
    to: &'a File,
    header: Header,
    length: u64,
    /// How many more bytes of clusters may be read. Clusters do not overlap (only the sectors at the ends of compressed
    /// ones do), so an honest image never needs more than twice its length, and tables that point at the same clusters
    /// again and again cannot blow a small file up into a full disk.
    budget: u64,
}

impl Importer<'_> {
    fn run(&mut self) -> Result<(), Qcow2Error> {
        let cluster = self.header.cluster_size();
        let l1 = self.table(self.header.l1_offset, self.header.l1_entries())?;
        for (i, entry) in (0u64..).zip(l1) {
            let offset = entry & OFFSET_MASK;
            if offset == 0 {
                continue;
            }
            let first = i * self.header.l2_entries();
            self.spend(cluster)?;
            for (j, entry) in (0u64..).zip(self.table(offset, self.header.l2_entries())?) {
                let start = (first + j) * cluster;
                if entry != 0 && start < self.header.virtual_size {
                    self.cluster(entry, start)?;
                }
            }
        }
        Ok(())
    }

    /// Reads a table of big-endian entries.
    fn table(&self, offset: u64, entries: u64) -> Result<Vec<u64>, Qcow2Error> {
        let bytes = entries * 8;
        if !offset.is_multiple_of(512) || offset.checked_add(bytes).is_none_or(|end| end > self.length) {
            return Err(Qcow2Error::Damaged("a table lies outside the file"));
        }
        let mut buf = vec![0; to_usize(bytes)];
        sparse::read_at(self.from, offset, &mut buf)?;
        Ok(buf.chunks_exact(8).map(|entry| u64::from_be_bytes(entry.try_into().expect("eight bytes"))).collect())
    }

    /// Copies the cluster that the L2 `entry` describes to `start` of the disk.
    fn cluster(&mut self, entry: u64, start: u64) -> Result<(), Qcow2Error> {
        let cluster = self.header.cluster_size();
        let data = if entry & COMPRESSED != 0 {
            self.compressed(entry)?
        } else if (entry & ZERO != 0 && self.header.version >= 3) || entry & OFFSET_MASK == 0 {
            return Ok(());
        } else {
            let offset = entry & OFFSET_MASK;
            // The last cluster of a file may be cut short; the rest of it is zero.
            if offset >= self.length {
                return Err(Qcow2Error::Damaged("a cluster lies outside the file"));
            }
            self.spend(cluster)?;
            let mut data = vec![0; to_usize(cluster)];
            sparse::read_at(self.from, offset, &mut data)?;
            data
        };
        let wanted = to_usize(cluster.min(self.header.virtual_size - start));
        Ok(sparse::write_at(self.to, start, &data[..wanted])?)
    }

    fn compressed(&mut self, entry: u64) -> Result<Vec<u8>, Qcow2Error> {
        let split = 62 - (self.header.cluster_bits - 8);
        let offset = entry & ((1 << split) - 1);
        let sectors = (entry & (COMPRESSED - 1)) >> split;
        let bytes = (sectors + 1) * 512 - (offset & 511);
        if offset >= self.length {
            return Err(Qcow2Error::Damaged("a compressed cluster lies outside the file"));
        }
        self.spend(bytes)?;
        let mut packed = vec![0; to_usize(bytes)];
        sparse::read_at(self.from, offset, &mut packed)?;
        let mut data = vec![0; to_usize(self.header.cluster_size())];
        let mut inflater = Decompress::new(false);
        // The stream ends somewhere in the last sector, so a full cluster is the only sign of success.
        inflater
            .decompress(&packed, &mut data, FlushDecompress::Finish)
            .map_err(|_| Qcow2Error::Damaged("a compressed cluster is not a deflate stream"))?;
        if inflater.total_out() != self.header.cluster_size() {
            return Err(Qcow2Error::Damaged("a compressed cluster is too short"));
        }
        Ok(data)
    }

    fn spend(&mut self, bytes: u64) -> Result<(), Qcow2Error> {
        // One more cluster is always allowed: the file may end inside its last one.
        if self.budget == 0 {
            return Err(Qcow2Error::Damaged("clusters are used more than once"));
        }
        self.budget = self.budget.saturating_sub(bytes);
        Ok(())
    }
}
