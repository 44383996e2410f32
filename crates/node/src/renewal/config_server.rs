//! The config server's certificate, which masters have the authority to issue anew.

use std::{fs, path::Path};

use jiff::Timestamp;
use landfall_assets::{
    Reissue, certificate_expiry,
    node::{ConfigServerFacts, paths},
};

use super::is_due;
use crate::{Error, stored};

/// Issues it anew if it is due. The server reads it again by itself.
pub(super) fn renew(facts: &ConfigServerFacts, now: Timestamp) -> Result<(), Error> {
    let read = |path: &Path| fs::read_to_string(path).map_err(Error::file("read", path));
    let path = Path::new(&facts.certificate);
    let not_understood =
        |error: landfall_assets::Error| Error::NotUnderstood { path: path.into(), reason: error.to_string() };
    let old = read(path)?;
    if !is_due(&certificate_expiry(old.as_bytes()).map_err(not_understood)?, now) {
        return Ok(());
    }
    let pki = Path::new(paths::KUBERNETES_PKI);
    let (key, authority, authority_key) =
        (read(Path::new(&facts.key))?, read(&pki.join("ca.crt"))?, read(&pki.join("ca.key"))?);
    let reissue = Reissue { old: &old, key: &key, authority: &authority, authority_key: &authority_key };
    stored::write(path, reissue.server_certificate(now).map_err(not_understood)?)?;
    tracing::info!(file = facts.certificate, "renewed");
    Ok(())
}
