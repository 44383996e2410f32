//! Stages, as the install directory sees them.

/// A stage: a function from earlier files to later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Its name, which is also that of the target which the user asks for.
    pub name: &'static str,
    /// What may come and go between runs.
    pub membership: Membership,
}

/// What may come and go among a stage's files between runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Membership {
    /// The files are exactly those that are rendered; one that is missing is written again.
    Closed,
    /// The user shapes the set too: manifests that appear in these directories are adopted, and one that was deleted
    /// stays deleted.
    Open {
        /// Directories directly below the install directory.
        directories: &'static [&'static str],
    },
}

impl Membership {
    /// Whether the user shapes the set of files.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Open { .. })
    }

    /// Directories whose manifests belong to the stage, whoever wrote them.
    pub fn directories(self) -> &'static [&'static str] {
        match self {
            Self::Closed => &[],
            Self::Open { directories } => directories,
        }
    }
}

/// Whether a file of this name in an open directory is a manifest.
pub(crate) fn is_manifest(name: &str) -> bool {
    let suffix = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, suffix)| suffix);
    matches!(suffix, Some("yaml" | "yml" | "json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_known_by_their_suffix() {
        for name in ["a.yaml", "a.b.yml", "a.json"] {
            assert!(is_manifest(name), "{name}");
        }
        for name in ["a", "a.txt", ".yaml", "a.yaml~", "a.yaml.bak", "yaml"] {
            assert!(!is_manifest(name), "{name}");
        }
    }
}
