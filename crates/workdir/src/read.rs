//! Reading the install directory.

use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use landfall_platform::{File, FileSet};

use crate::{Error, Result, Stage, StageRecord, WorkDir, stage::is_manifest};

/// Permission bits of everybody but the owner.
const GROUP_AND_OTHERS: u32 = 0o077;

impl WorkDir {
    /// Reads a file, if it is there.
    pub fn read(&self, path: &str) -> Result<Option<File>> {
        read(&self.path(path))
    }

    /// What lies on disk where the files of a stage belong: those recorded, those rendered, and, if the stage is open,
    /// all manifests in its directories.
    pub fn sight(&self, stage: Stage, record: Option<&StageRecord>, rendered: &FileSet) -> Result<FileSet> {
        let recorded = record.into_iter().flat_map(|record| record.files.keys().cloned());
        let mut paths: Vec<String> = recorded.chain(rendered.iter().map(|(path, _)| path.to_owned())).collect();
        for directory in stage.membership.directories() {
            paths.extend(self.manifests_in(directory)?);
        }
        paths.sort();
        paths.dedup();
        let read = |path: String| Ok(self.read(&path)?.map(|file| (path, file)));
        paths.into_iter().filter_map(|path| read(path).transpose()).collect()
    }

    fn manifests_in(&self, directory: &str) -> Result<Vec<String>> {
        let path = self.path(directory);
        let failed = |source| Error::Read { path: path.clone(), source };
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let name = entry.map_err(failed)?.file_name();
            match name.to_str() {
                Some(name) if is_manifest(name) => found.push(format!("{directory}/{name}")),
                None if is_manifest(&name.to_string_lossy()) => {
                    return Err(Error::NameNotUtf8 { path: path.join(name) });
                }
                _ => {}
            }
        }
        Ok(found)
    }
}

fn read(path: &Path) -> Result<Option<File>> {
    let failed = |source| Error::Read { path: path.to_owned(), source };
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    // Before it is opened: a pipe would keep us waiting.
    if !metadata.is_file() {
        return Err(Error::NotAFile { path: PathBuf::from(path) });
    }
    let contents = fs::read(path).map_err(failed)?;
    let private = metadata.mode() & GROUP_AND_OTHERS == 0;
    Ok(Some(if private { File::private(contents) } else { File::public(contents) }))
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _, process::Command};

    use super::*;
    use crate::Membership;

    const STAGE: Stage = Stage { name: "manifests", membership: Membership::Open { directories: &["manifests"] } };

    fn sight(temp: &tempfile::TempDir) -> Result<FileSet> {
        let rendered = FileSet::from_iter([("metadata.json".to_owned(), File::public("{}"))]);
        WorkDir::open(temp.path()).unwrap().sight(STAGE, None, &rendered)
    }

    fn with_manifests() -> tempfile::TempDir {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join("manifests")).unwrap();
        temp
    }

    #[test]
    fn finds_manifests_and_rendered_files_and_nothing_else() {
        let temp = with_manifests();
        for path in ["manifests/a.yaml", "manifests/b.json", "manifests/notes.txt", "metadata.json", "other.json"] {
            fs::write(temp.path().join(path), path).unwrap();
        }
        let found = sight(&temp).unwrap();
        let paths: Vec<_> = found.iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["manifests/a.yaml", "manifests/b.json", "metadata.json"]);
    }

    #[test]
    fn nothing_there_is_nothing_seen() {
        assert!(sight(&tempfile::tempdir().unwrap()).unwrap().is_empty());
    }

    #[test]
    fn a_pipe_or_a_directory_is_refused_at_once() {
        let temp = with_manifests();
        let pipe = temp.path().join("manifests/pipe.yaml");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(matches!(sight(&temp), Err(Error::NotAFile { path }) if path == pipe));
        fs::remove_file(&pipe).unwrap();
        fs::create_dir(&pipe).unwrap();
        assert!(matches!(sight(&temp), Err(Error::NotAFile { path }) if path == pipe));
    }

    #[test]
    fn a_manifest_whose_name_cannot_be_recorded_is_refused() {
        let temp = with_manifests();
        fs::write(temp.path().join("manifests").join(OsStr::from_bytes(b"a\xff.yaml")), "").unwrap();
        assert!(matches!(sight(&temp), Err(Error::NameNotUtf8 { .. })));
    }
}
