//! What the host shows to machines, kept so that a second run is the same host to machines that were made by the first.

use std::{fs::OpenOptions, io::Write as _, os::unix::fs::OpenOptionsExt as _, path::Path};

use rand::Rng as _;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use serde::{Deserialize, Serialize};

/// Certificates, and the part of a path that nobody can guess.
#[derive(Clone, Serialize, Deserialize)]
pub struct Identity {
    /// What comes first in every path.
    pub token: String,
    /// The certificate of the authority, in PEM: what machines are told to trust.
    pub authority: String,
    authority_key: String,
}

/// Why there is no identity.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// Its file cannot be read or written.
    #[error("cannot keep the identity of the asset host in {path}")]
    File {
        /// The file.
        path: String,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// Its file makes no sense.
    #[error("the identity of the asset host in {path} is not understood")]
    Format {
        /// The file.
        path: String,
        /// Why not.
        #[source]
        source: serde_json::Error,
    },
    /// A certificate cannot be made.
    #[error("cannot make the certificate of the asset host")]
    Certificate(#[from] rcgen::Error),
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Identity")
    }
}

impl Identity {
    /// Reads the identity in a file, or makes one.
    pub fn establish(path: &Path) -> Result<Self, IdentityError> {
        let file = |source| IdentityError::File { path: path.display().to_string(), source };
        match std::fs::read(path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|source| IdentityError::Format { path: path.display().to_string(), source }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let made = Self::make()?;
                let text = serde_json::to_vec(&made).unwrap_or_default();
                // Written under another name first, so that a crash leaves all or nothing.
                let beside = path.with_extension("new");
                let mut written = OpenOptions::new()
                    .write(true)
                    .create(true)
                    .truncate(true)
                    .mode(0o600)
                    .open(&beside)
                    .map_err(file)?;
                written.write_all(&text).and_then(|()| written.sync_all()).map_err(file)?;
                std::fs::rename(&beside, path).map_err(file)?;
                Ok(made)
            }
            Err(error) => Err(file(error)),
        }
    }

    fn make() -> Result<Self, IdentityError> {
        let bytes: [u8; 24] = rand::rng().random();
        let token = u128::from_be_bytes(bytes[..16].try_into().unwrap_or_default());
        let rest = u64::from_be_bytes(bytes[16..].try_into().unwrap_or_default());
        let token = format!("{token:032x}{rest:016x}");
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "landfall asset host");
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let authority = params.self_signed(&key)?.pem();
        Ok(Self { token, authority, authority_key: key.serialize_pem() })
    }

    /// A certificate for a name or an address, and its key, in PEM.
    pub(crate) fn certificate(&self, host: &str) -> Result<(String, String), IdentityError> {
        let key = KeyPair::generate()?;
        let signer = KeyPair::from_pem(&self.authority_key)?;
        let issuer = Issuer::from_ca_cert_pem(&self.authority, signer)?;
        let mut params = CertificateParams::new(vec![host.to_owned()])?;
        params.distinguished_name.push(DnType::CommonName, "landfall asset host");
        Ok((params.signed_by(&key, &issuer)?.pem(), key.serialize_pem()))
    }
}
