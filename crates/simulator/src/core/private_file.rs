//! Files that only their owner may read: keys, and state that holds simulated credentials.

use std::io;
use std::path::Path;

/// Opens a file for writing from its beginning, readable by nobody else.
pub(super) fn create(path: &Path) -> io::Result<fs_err::File> {
    let mut options = fs_err::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    fs_err::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
