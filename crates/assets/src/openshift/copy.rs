//! The directory that the program works in: private, and gone afterwards.

use std::{
    fs::{self, DirBuilder, OpenOptions, Permissions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use super::Error;

/// A working copy. The program deletes what it reads and writes secrets that others may read, so it never works in the
/// user's directory.
#[derive(Debug)]
pub(super) struct WorkingCopy(TempDir);

impl WorkingCopy {
    /// An empty directory below `scratch`, which only its owner may enter.
    pub(super) fn new(scratch: &Path) -> Result<Self, Error> {
        tempfile::Builder::new()
            .prefix("openshift-install-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(scratch)
            .map(Self)
            .map_err(failed("make a directory below", scratch))
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file; `path` is relative.
    pub(super) fn write(&self, path: &str, contents: &[u8]) -> Result<(), Error> {
        let path = self.path().join(path);
        let parent = path.parent().unwrap_or(self.path());
        DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(failed("make", parent))?;
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .and_then(|mut file| file.write_all(contents))
            .map_err(failed("write", &path))
    }

    /// The contents of a file, or nothing if there is none.
    pub(super) fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Error> {
        let path = self.path().join(path);
        match fs::read(&path) {
            Ok(contents) => Ok(Some(contents)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed("read", &path)(error)),
        }
    }

    /// The files directly in a directory, by their path relative to the working copy.
    pub(super) fn read_directory(&self, name: &str) -> Result<Vec<(String, Vec<u8>)>, Error> {
        let directory = self.path().join(name);
        let list =
            || -> io::Result<Vec<PathBuf>> { fs::read_dir(&directory)?.map(|entry| Ok(entry?.path())).collect() };
        let paths = match list() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            paths => paths.map_err(failed("read", &directory))?,
        };
        let mut files = Vec::new();
        for path in paths.iter().filter(|path| path.is_file()) {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            let contents = fs::read(path).map_err(failed("read", path))?;
            files.push((format!("{name}/{file}"), contents));
        }
        Ok(files)
    }

    /// Removes a file if it is there.
    pub(super) fn remove(&self, path: &str) -> Result<(), Error> {
        let path = self.path().join(path);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", &path)(error)),
            _ => Ok(()),
        }
    }

    /// Removes the directory, and says so if that fails: it holds secrets.
    pub(super) fn close(self) -> Result<(), Error> {
        let path = self.path().to_owned();
        self.0.close().map_err(failed("remove", &path))
    }
}

fn failed<'a>(attempt: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Error + 'a {
    move |source| Error::WorkingCopy { attempt, path: path.to_owned(), source }
}
