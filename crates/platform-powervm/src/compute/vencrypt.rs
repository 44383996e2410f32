//! Consoles for viewers with a certificate: RFB over TLS, as `VeNCrypt` has it.
//!
//! Only one of its ways is offered, which is the one that Nova's proxy takes: both sides show certificates, and nothing more is asked for
//! (`X509None`). The VNC server behind knows nothing of it, and hears nothing before the viewer has shown its certificate.
//! <https://github.com/rfbproto/rfbproto/blob/master/rfbproto.rst> has the messages.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem, pem::PemObject as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// The version of RFB that both sides must have, as Nova insists on it too.
const RFB: &[u8; 12] = b"RFB 003.008\n";
/// Types of security.
const NONE: u8 = 1;
const VENCRYPT: u8 = 19;
/// The version of `VeNCrypt`.
const VERSION: [u8; 2] = [0, 2];
const X509_NONE: u32 = 260;

/// What viewers are shown, and what they have to show.
#[derive(Clone)]
pub struct Encryption {
    acceptor: TlsAcceptor,
}

impl fmt::Debug for Encryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encryption").finish_non_exhaustive()
    }
}

/// Why consoles cannot be encrypted.
#[derive(Debug, thiserror::Error)]
pub enum EncryptionError {
    /// A file cannot be read, or is not what it should be.
    #[error("{path} cannot be read as {what} in PEM")]
    File {
        /// What it should be.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: pem::Error,
    },
    /// What is in a file cannot be used.
    #[error("the {what} in {path} cannot be used")]
    Unusable {
        /// What it is.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Encryption {
    /// From files in PEM: who signs the certificates of viewers, and the certificate of this side, with those between it and its
    /// authority if there are any, and its key.
    pub fn load(authorities: &Path, certificate: &Path, key: &Path) -> Result<Self, EncryptionError> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut roots = RootCertStore::empty();
        for authority in certificates("certificates of authorities", authorities)? {
            roots.add(authority).map_err(unusable("certificate of an authority", authorities))?;
        }
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .build()
            .map_err(unusable("certificate of an authority", authorities))?;
        let chain = certificates("a certificate", certificate)?;
        let secret = PrivateKeyDer::from_pem_file(key).map_err(|source| EncryptionError::File {
            what: "a private key without a passphrase",
            path: key.to_owned(),
            source,
        })?;
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider knows the versions that are its own default")
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, secret)
            .map_err(unusable("certificate with its key", certificate))?;
        Ok(Self { acceptor: TlsAcceptor::from(Arc::new(config)) })
    }

    /// Shakes hands with a viewer, and with the console behind when the viewer has shown its certificate. What follows is the result of the
    /// console's own security, for the viewer.
    pub(super) async fn negotiate(
        &self,
        mut viewer: TcpStream,
        console: &mut TcpStream,
    ) -> io::Result<TlsStream<TcpStream>> {
        let mut version = [0; RFB.len()];
        console.read_exact(&mut version).await?;
        if !version.starts_with(b"RFB 003.") || version < *RFB {
            return Err(refused("the console is older than RFB 3.8"));
        }
        viewer.write_all(RFB).await?;
        viewer.read_exact(&mut version).await?;
        if version != *RFB {
            return Err(refused("the viewer does not want RFB 3.8"));
        }
        // One way out of one.
        viewer.write_all(&[1, VENCRYPT]).await?;
        if viewer.read_u8().await? != VENCRYPT {
            return Err(refused("the viewer does not want VeNCrypt"));
        }
        viewer.write_all(&VERSION).await?;
        let mut wanted = [0; VERSION.len()];
        viewer.read_exact(&mut wanted).await?;
        if wanted != VERSION {
            viewer.write_u8(1).await?;
            return Err(refused("the viewer does not want VeNCrypt 0.2"));
        }
        let [a, b, c, d] = X509_NONE.to_be_bytes();
        // That version will do; here are the ways, of which there is one.
        viewer.write_all(&[0, 1, a, b, c, d]).await?;
        if viewer.read_u32().await? != X509_NONE {
            viewer.write_u8(0).await?;
            return Err(refused("the viewer does not want X509None"));
        }
        viewer.write_u8(1).await?;
        let viewer = self.acceptor.accept(viewer).await?;
        console.write_all(RFB).await?;
        let count = console.read_u8().await?;
        let mut offered = vec![0; count.into()];
        console.read_exact(&mut offered).await?;
        if !offered.contains(&NONE) {
            return Err(refused("the console wants to know more"));
        }
        console.write_u8(NONE).await?;
        Ok(viewer)
    }
}

fn certificates(what: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, EncryptionError> {
    let failed = |source| EncryptionError::File { what, path: path.to_owned(), source };
    let found: Vec<_> = CertificateDer::pem_file_iter(path).and_then(Iterator::collect).map_err(failed)?;
    if found.is_empty() { Err(failed(pem::Error::NoItemsFound)) } else { Ok(found) }
}

fn unusable<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
    what: &'static str,
    path: &Path,
) -> impl FnOnce(E) -> EncryptionError {
    move |error| EncryptionError::Unusable { what, path: path.to_owned(), source: error.into() }
}

fn refused(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionRefused, why)
}
