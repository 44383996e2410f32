//! Files that hold a secret.

use std::{os::unix::fs::PermissionsExt as _, path::Path};

use secrecy::SecretString;

use crate::Error;

/// Others than the owner, and those of his group that may read.
const READABLE_BY_OTHERS: u32 = 0o044;

/// A secret, and whether others may read the file it comes from.
pub(crate) struct SecretFile {
    pub(crate) secret: SecretString,
    pub(crate) exposed: bool,
}

impl SecretFile {
    /// Reads the secret: the whole file, without white space around it.
    pub(crate) fn read(path: &Path, what: &'static str) -> Result<Self, Error> {
        let failed = |source| Error::ReadSecret { path: path.to_owned(), what, source };
        let exposed = std::fs::metadata(path).map_err(failed)?.permissions().mode() & READABLE_BY_OTHERS != 0;
        let text = std::fs::read_to_string(path).map_err(failed)?;
        let secret = text.trim();
        if secret.is_empty() {
            return Err(Error::BadSecret { path: path.to_owned(), what, reason: "it is empty" });
        }
        Ok(Self { secret: secret.into(), exposed })
    }
}
