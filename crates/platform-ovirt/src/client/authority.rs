//! The CA that issued the engine's certificate: fetching it, and showing it to a person who decides.

use std::fmt::{self, Write};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use landfall_wire::{Client, Limits, Request, Trust};
use sha2::{Digest, Sha256};
use x509_parser::{pem::Pem, prelude::X509Certificate};

use crate::{Error, client::EngineUrl};

const LABEL: &str = "CERTIFICATE";
const PEM_COLUMNS: usize = 64;

/// A CA certificate, and what a person needs to see of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// Whose certificate it is.
    pub subject: String,
    /// Who vouches for it.
    pub issuer: String,
    /// Since when it is valid.
    pub not_before: String,
    /// Until when it is valid.
    pub not_after: String,
    /// SHA-256 of the certificate, in hexadecimal with colons, as `openssl x509 -fingerprint -sha256` shows it.
    pub fingerprint: String,
    der: Vec<u8>,
}

/// Fetches the CA certificates from the engine itself. Nothing vouches for the answer: a person has to confirm it.
pub async fn fetch(engine: &EngineUrl, limits: Limits) -> Result<Vec<Certificate>, Error> {
    let failed = |source| Error::exchange("fetching the CA certificate", engine, source);
    let client = Client::new(&Trust::Unverified, limits).map_err(failed)?;
    let reply = client.send(Request::get(engine.authority())).await.map_err(failed)?.successful().map_err(failed)?;
    Certificate::read_all(&String::from_utf8_lossy(reply.contents()), engine.authority().as_str())
}

impl Certificate {
    /// Reads the certificates in a PEM text, at least one. `origin` names the text in errors.
    pub fn read_all(pem: &str, origin: &str) -> Result<Vec<Self>, Error> {
        let refuse = |reason: String| Error::Authority { origin: origin.to_owned(), reason };
        let mut certificates = Vec::new();
        for block in Pem::iter_from_buffer(pem.as_bytes()) {
            let block = block.map_err(|error| refuse(error.to_string()))?;
            if block.label != LABEL {
                return Err(refuse(format!("it holds a {}", block.label.to_lowercase())));
            }
            let certificate = block.parse_x509().map_err(|error| refuse(error.to_string()))?;
            if !certificate.is_ca() {
                return Err(refuse(format!("{} may not issue certificates", certificate.subject())));
            }
            certificates.push(Self::new(&certificate, &block.contents));
        }
        if certificates.is_empty() { Err(refuse("it holds no certificate".to_owned())) } else { Ok(certificates) }
    }

    /// These certificates as PEM text: exactly them, whatever else stood in the text they were read from.
    pub fn bundle(certificates: &[Self]) -> String {
        let mut text = String::new();
        for certificate in certificates {
            let base64 = STANDARD.encode(&certificate.der);
            text.push_str("-----BEGIN CERTIFICATE-----\n");
            for line in base64.as_bytes().chunks(PEM_COLUMNS) {
                text.push_str(&String::from_utf8_lossy(line));
                text.push('\n');
            }
            text.push_str("-----END CERTIFICATE-----\n");
        }
        text
    }

    fn new(certificate: &X509Certificate<'_>, der: &[u8]) -> Self {
        let fingerprint = Sha256::digest(der).iter().fold(String::new(), |mut text, byte| {
            let colon = if text.is_empty() { "" } else { ":" };
            write!(text, "{colon}{byte:02X}").expect("writing to a string cannot fail");
            text
        });
        Self {
            subject: certificate.subject().to_string(),
            issuer: certificate.issuer().to_string(),
            not_before: certificate.validity().not_before.to_string(),
            not_after: certificate.validity().not_after.to_string(),
            fingerprint,
            der: der.to_vec(),
        }
    }
}

/// As it is shown before a person trusts it.
impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, issuer, not_before, not_after, fingerprint, .. } = self;
        write!(f, "subject  {subject}\nissuer   {issuer}\nvalid    {not_before} to {not_after}\nSHA-256  {fingerprint}")
    }
}
