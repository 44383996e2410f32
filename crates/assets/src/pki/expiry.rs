//! When a certificate ends.

use jiff::Timestamp;
use x509_parser::{certificate::X509Certificate, pem::parse_x509_pem};

use crate::Error;

/// When a certificate ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expiry {
    /// What the certificate is, for people: its subject's common name.
    pub name: String,
    /// From when it is valid.
    pub not_before: Timestamp,
    /// Until when it is valid.
    pub not_after: Timestamp,
}

/// When the first certificate in a PEM text ends.
pub fn certificate_expiry(pem: &[u8]) -> Result<Expiry, Error> {
    with_certificate(pem, |x509| {
        let timestamp = |seconds| Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX);
        let name = x509.subject().iter_common_name().find_map(|name| name.as_str().ok());
        Expiry {
            name: name.unwrap_or_default().to_owned(),
            not_before: timestamp(x509.validity().not_before.timestamp()),
            not_after: timestamp(x509.validity().not_after.timestamp()),
        }
    })
}

/// Reads the first certificate of a PEM text.
pub(super) fn with_certificate<T>(pem: &[u8], read: impl FnOnce(&X509Certificate<'_>) -> T) -> Result<T, Error> {
    let unreadable = |reason: String| Error::NotACertificate { reason };
    let (_, pem) = parse_x509_pem(pem).map_err(|error| unreadable(error.to_string()))?;
    let x509 = pem.parse_x509().map_err(|error| unreadable(error.to_string()))?;
    Ok(read(&x509))
}
