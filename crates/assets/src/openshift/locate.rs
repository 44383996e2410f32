//! Where the `openshift-install` program is.

use std::{
    ffi::OsStr,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use landfall_config::OpenshiftInstall;

use super::Error;

const PROGRAM: &str = "openshift-install";
/// The environment variable that both Landfall and the program itself know.
pub(super) const RELEASE_IMAGE_VARIABLE: &str = "OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE";

/// Finds the program: the flag `--openshift-install` goes first, then the install-config, then `PATH`.
///
/// Of the environment only `search_path`, the value of `PATH`, is used. The result is absolute.
pub fn locate(
    flag: Option<&Path>,
    config: Option<&OpenshiftInstall>,
    search_path: Option<&OsStr>,
) -> Result<PathBuf, Error> {
    if let Some(path) = flag {
        return named(path, "the flag --openshift-install");
    }
    if let Some(path) = config.and_then(|config| config.path.as_ref()) {
        return named(Path::new(path), "openshiftInstall.path in install-config.yaml");
    }
    let directories = search_path.map(std::env::split_paths).into_iter().flatten();
    directories
        .map(|directory| directory.join(PROGRAM))
        .find(|path| problem(path).is_none())
        .and_then(|path| std::path::absolute(path).ok())
        .ok_or(Error::NotFound)
}

/// The release image to install instead of the program's own: the install-config goes first, then what the environment has
/// in `OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE`.
pub fn release_image(config: Option<&OpenshiftInstall>, environment: Option<&str>) -> Option<String> {
    config
        .and_then(|config| config.release_image.clone())
        .or_else(|| environment.filter(|image| !image.is_empty()).map(str::to_owned))
}

fn named(path: &Path, named_by: &'static str) -> Result<PathBuf, Error> {
    let refuse = |reason| Error::NotExecutable { path: path.to_owned(), named_by, reason };
    match problem(path) {
        Some(reason) => Err(refuse(reason)),
        None => std::path::absolute(path).map_err(|_| refuse("cannot be made an absolute path")),
    }
}

fn problem(path: &Path) -> Option<&'static str> {
    match fs::metadata(path) {
        Err(_) => Some("does not exist or cannot be read"),
        Ok(metadata) if !metadata.is_file() => Some("is not a file"),
        Ok(metadata) if metadata.permissions().mode() & 0o111 == 0 => Some("is not executable"),
        Ok(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn executable(directory: &Path, name: &str) -> PathBuf {
        let path = directory.join(name);
        fs::write(&path, "#!/bin/sh\n").expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("its mode");
        path
    }

    #[test]
    fn the_flag_goes_before_the_config_and_that_before_the_path() {
        let directory = tempfile::tempdir().expect("a directory");
        let [by_flag, by_config, on_path] =
            ["flagged", "configured", PROGRAM].map(|name| executable(directory.path(), name));
        let config = OpenshiftInstall { path: Some(by_config.to_string_lossy().into_owned()), release_image: None };
        let search_path = std::env::join_paths([Path::new("/nonexistent"), directory.path()]).expect("a path");
        let (empty, find) =
            (OpenshiftInstall::default(), |flag, config| locate(flag, config, Some(&search_path)).expect("found"));
        assert_eq!(find(Some(by_flag.as_path()), Some(&config)), by_flag);
        assert_eq!(find(None, Some(&config)), by_config);
        assert_eq!(find(None, Some(&empty)), on_path);
        assert_eq!(find(None, None), on_path);
    }

    #[test]
    fn a_missing_program_is_explained() {
        let error = locate(None, None, Some(OsStr::new("/nonexistent"))).expect_err("none").to_string();
        assert!(error.contains("--openshift-install") && error.contains("openshiftInstall.path"), "{error}");
        assert!(locate(None, None, None).is_err());

        let directory = tempfile::tempdir().expect("a directory");
        let error = |path: &Path| locate(Some(path), None, None).expect_err("unusable").to_string();
        let gone = error(&directory.path().join("gone"));
        assert!(gone.contains("--openshift-install") && gone.contains("does not exist"), "{gone}");
        assert!(error(directory.path()).contains("is not a file"));
        let plain = directory.path().join("plain");
        fs::write(&plain, "").expect("a file");
        assert!(error(&plain).contains("is not executable"));
    }

    #[test]
    fn the_release_image_of_the_config_goes_before_that_of_the_environment() {
        let config = OpenshiftInstall { path: None, release_image: Some("quay.io/a".to_owned()) };
        assert_eq!(release_image(Some(&config), Some("quay.io/b")).as_deref(), Some("quay.io/a"));
        assert_eq!(release_image(None, Some("quay.io/b")).as_deref(), Some("quay.io/b"));
        assert_eq!(release_image(None, Some("")), None);
    }
}
