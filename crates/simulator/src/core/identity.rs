//! The certificate authority of a simulator and the server certificate it issues.
//!
//! A directory given by the user keeps its authority over restarts, so that a client's `ca_file` stays valid; the
//! server certificate is issued anew at each start, because the listen address may have changed.

use std::io::{self, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PublicKeyData,
};
use rustls::ServerConfig;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use sha2::{Digest, Sha256};

use super::private_file;

/// Why a simulator could not get its certificates.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// The authority's files could not be read or written.
    #[error("use the certificate directory")]
    Directory(#[source] io::Error),
    /// A certificate could not be made from the authority and the names to serve.
    #[error("issue the server certificate from {ca_file}; if that authority is damaged, remove its files")]
    Issue {
        /// The authority's certificate.
        ca_file: PathBuf,
        /// What was wrong.
        #[source]
        source: rcgen::Error,
    },
    /// The TLS library refused the certificate.
    #[error("set up TLS with the server certificate")]
    Tls(#[source] rustls::Error),
}

/// A certificate authority with one server certificate, ready to serve TLS on any number of ports.
#[derive(Clone)]
pub struct Identity {
    ca_pem: Arc<str>,
    certificate_pem: Arc<str>,
    ca_file: PathBuf,
    config: Arc<ServerConfig>,
    /// Removes the directory with the last clone, if nobody asked for a lasting one.
    _temporary: Option<Arc<tempfile::TempDir>>,
}

impl Identity {
    /// Reads the authority in `directory` or makes one there (in a private temporary directory if none is given), and
    /// issues a certificate for loopback and for `names`.
    pub fn establish(directory: Option<&Path>, names: &[String]) -> Result<Self, IdentityError> {
        let (directory, temporary) = if let Some(directory) = directory {
            fs_err::create_dir_all(directory).map_err(IdentityError::Directory)?;
            (directory.to_owned(), None)
        } else {
            let temporary = tempfile::Builder::new().prefix("landfall-sim-").tempdir();
            let temporary = temporary.map_err(IdentityError::Directory)?;
            (temporary.path().to_owned(), Some(Arc::new(temporary)))
        };
        let ca_file = directory.join("ca.pem");
        let issue = |source| IdentityError::Issue { ca_file: ca_file.clone(), source };

        let (ca_pem, ca_key) = authority(&ca_file, &directory.join("ca.key"))?;
        let issuer = Issuer::from_ca_cert_pem(&ca_pem, ca_key).map_err(issue)?;
        let key = new_key().map_err(issue)?;
        let certificate = server_params(names).and_then(|params| params.signed_by(&key, &issuer)).map_err(issue)?;
        let config = server_config(certificate.der().clone(), &ca_pem, &key).map_err(IdentityError::Tls)?;
        Ok(Self {
            ca_pem: ca_pem.into(),
            certificate_pem: certificate.pem().into(),
            ca_file,
            config: Arc::new(config),
            _temporary: temporary,
        })
    }

    /// The authority's certificate, as a client must trust it.
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }

    /// The server's own certificate.
    pub fn certificate_pem(&self) -> &str {
        &self.certificate_pem
    }

    /// Where the authority's certificate is, for clients that want a file.
    pub fn ca_file(&self) -> &Path {
        &self.ca_file
    }

    /// Offers HTTP/1.1 only.
    #[must_use]
    pub fn without_http2(mut self) -> Self {
        Arc::make_mut(&mut self.config).alpn_protocols.retain(|protocol| protocol != b"h2");
        self
    }

    /// The TLS configuration, offering HTTP/2 (unless told not to) and HTTP/1.1.
    pub fn server_config(&self) -> Arc<ServerConfig> {
        self.config.clone()
    }
}

/// The authority in these files, made if there is none.
#[expect(clippy::disallowed_methods, reason = "a simulator whose authority is lost makes another one")]
fn authority(ca_file: &Path, key_file: &Path) -> Result<(String, KeyPair), IdentityError> {
    let issue = |source| IdentityError::Issue { ca_file: ca_file.to_owned(), source };
    if ca_file.exists() && key_file.exists() {
        let pem = fs_err::read_to_string(ca_file).map_err(IdentityError::Directory)?;
        let key = fs_err::read_to_string(key_file).map_err(IdentityError::Directory)?;
        return Ok((pem, KeyPair::from_pem(&key).map_err(issue)?));
    }
    let key = new_key().map_err(issue)?;
    let pem = authority_params(&key).self_signed(&key).map_err(issue)?.pem();
    // The key comes first: a certificate without its key would be mistaken for a complete authority.
    let written = private_file::create(key_file).and_then(|mut file| file.write_all(key.serialize_pem().as_bytes()));
    written.map_err(IdentityError::Directory)?;
    fs_err::write(ca_file, &pem).map_err(IdentityError::Directory)?;
    Ok((pem, key))
}

fn new_key() -> Result<KeyPair, rcgen::Error> {
    KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256)
}

fn authority_params(key: &KeyPair) -> CertificateParams {
    let mut params = CertificateParams::default();
    // Some verifiers look authorities up by name, and a client may trust several simulators.
    let digest = Sha256::digest(key.subject_public_key_info());
    let mark = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
    params.distinguished_name = common_name(&format!("Landfall simulator CA {mark:08x}"));
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    set_validity(&mut params, 10);
    params
}

fn server_params(names: &[String]) -> Result<CertificateParams, rcgen::Error> {
    let mut subjects: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(String::from).into();
    subjects.extend(names.iter().filter(|name| !is_unspecified(name)).cloned());
    subjects.sort();
    subjects.dedup();
    let mut params = CertificateParams::new(subjects)?;
    params.distinguished_name = common_name("Landfall simulator");
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    // Strict verifiers (Python 3.13 and newer) refuse a leaf without it.
    params.use_authority_key_identifier_extension = true;
    set_validity(&mut params, 1);
    Ok(params)
}

fn is_unspecified(name: &str) -> bool {
    name.parse::<IpAddr>().is_ok_and(|address| address.is_unspecified())
}

fn common_name(name: &str) -> DistinguishedName {
    let mut distinguished = DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    distinguished
}

/// Valid from yesterday, so that a client whose clock is behind accepts it too.
fn set_validity(params: &mut CertificateParams, years: i32) {
    let date = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    let yesterday = date.yesterday().unwrap_or(date);
    let ymd = |date: jiff::civil::Date, years: i32| {
        let day = date.day().min(28).unsigned_abs();
        rcgen::date_time_ymd(i32::from(date.year()) + years, date.month().unsigned_abs(), day)
    };
    params.not_before = ymd(yesterday, 0);
    params.not_after = ymd(date, years);
}

fn server_config(leaf: CertificateDer<'static>, ca_pem: &str, key: &KeyPair) -> Result<ServerConfig, rustls::Error> {
    let broken = |_| rustls::Error::General("the authority's certificate is not PEM".into());
    let authority = CertificateDer::from_pem_slice(ca_pem.as_bytes()).map_err(broken)?;
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![leaf, authority], key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
