//! What a stage renders, and what of it says the same on every run.

use std::collections::BTreeMap;

use landfall_platform::{File, FileSet};

use crate::{Digest, Inputs};

/// What a stage renders: files, and the meaning of each.
///
/// Some files are different on every run although nothing has changed, because they hold certificates that are issued
/// anew. The meaning of a file is a digest that leaves such parts out. Files are renewed if only their contents differ, and
/// out of date if their meaning does.
#[derive(Clone, Debug)]
pub struct Rendering {
    files: FileSet,
    meanings: BTreeMap<String, Digest>,
}

/// A rendered file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rendered {
    /// Of its contents.
    pub(crate) sha256: Digest,
    /// Of what it says.
    pub(crate) meaning: Digest,
}

impl Rendering {
    /// Files that are the same whenever they are rendered from the same inputs.
    pub fn stable(files: FileSet) -> Self {
        let meanings = digests(&files);
        Self { files, meanings }
    }

    /// Files of which some parts are new on every run. `template` is the same rendering with placeholders in their place.
    pub fn with_template(files: FileSet, template: &FileSet) -> Self {
        let mut meanings = digests(&files);
        meanings.extend(digests(template));
        Self { files, meanings }
    }

    /// Files that are new as a whole on every run: they mean what they are derived from.
    pub fn of_inputs(files: FileSet, inputs: &Inputs) -> Self {
        let meaning = inputs.digest();
        let meanings = files.iter().map(|(path, _)| (path.to_owned(), meaning)).collect();
        Self { files, meanings }
    }

    /// The files.
    pub fn files(&self) -> &FileSet {
        &self.files
    }

    pub(crate) fn get(&self, path: &str) -> Option<(&File, Rendered)> {
        let file = self.files.get(path)?;
        let sha256 = Digest::of(&file.contents);
        Some((file, Rendered { sha256, meaning: self.meanings.get(path).copied().unwrap_or(sha256) }))
    }
}

fn digests(files: &FileSet) -> BTreeMap<String, Digest> {
    files.iter().map(|(path, file)| (path.to_owned(), Digest::of(&file.contents))).collect()
}
