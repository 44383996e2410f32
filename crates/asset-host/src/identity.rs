//! What the host shows to machines, kept so that a second run is the same host to machines that were made by the first.

use std::path::Path;

use rand::Rng as _;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use serde::{Deserialize, Serialize};

/// Certificates, and the parts of paths that cannot be guessed.
#[derive(Clone, Serialize, Deserialize)]
pub struct Identity {
    /// First part of the paths of public files. It travels in plain, so it opens nothing else.
    pub token: String,
    /// First part of the paths of private files, which only ever travels over TLS. Identities of earlier versions have none, and
    /// serve no private files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub private_token: Option<String>,
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
                landfall_durable::write(path, text, landfall_durable::Access::Private).map_err(file)?;
                Ok(made)
            }
            Err(error) => Err(file(error)),
        }
    }

    fn make() -> Result<Self, IdentityError> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "landfall asset host");
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let authority = params.self_signed(&key)?.pem();
        Ok(Self { token: token(), private_token: Some(token()), authority, authority_key: key.serialize_pem() })
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

/// Returns 192 random bits in hexadecimal.
fn token() -> String {
    let [first, second, third] = rand::rng().random::<[u64; 3]>();
    format!("{first:016x}{second:016x}{third:016x}")
}
