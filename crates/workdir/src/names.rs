//! Names inside the install directory.

/// The user's own file, from which everything else is derived.
pub const INSTALL_CONFIG: &str = "install-config.yaml";

/// Landfall's own files live here; only the owner may look inside.
pub const STATE_DIRECTORY: &str = ".landfall";

/// The log of all runs.
pub const LOG: &str = ".landfall/landfall.log";

pub(crate) const LOCK: &str = ".landfall/lock";
pub(crate) const RECORD: &str = ".landfall/stages.json";
/// Who the cluster is.
pub const IDENTITY: &str = ".landfall/cluster.json";
pub(crate) const BACKUPS: &str = ".landfall/backup";
/// What was handed out to machines.
pub const FROZEN: &str = ".landfall/frozen.json";
/// Copies of the files that were handed out to machines.
pub const FROZEN_FILES: &str = ".landfall/frozen";
pub(crate) const PAST: &str = ".landfall/past";

/// Files that are not yet in place begin with this. Their names do not end like those of manifests, so that nobody takes
/// one for real.
pub(crate) const TEMPORARY_PREFIX: &str = ".landfall-tmp-";

/// Whether a directory, relative to the install directory, is for its owner only.
pub(crate) fn is_private_directory(directory: &str) -> bool {
    matches!(directory.split('/').next(), Some(STATE_DIRECTORY | "auth"))
}

/// Whether a path stays inside the install directory: relative, with no empty, `.` or `..` part.
pub(crate) fn is_inside(path: &str) -> bool {
    path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_relative_paths_are_inside() {
        assert!(is_inside("manifests/a.yaml"));
        for path in ["", "/etc/passwd", "a//b", "../a", "a/../../b", "./a", "a/"] {
            assert!(!is_inside(path), "{path}");
        }
    }
}
