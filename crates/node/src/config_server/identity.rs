//! The server's identity in files, read again when they change: a certificate that is renewed needs no restart.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::SystemTime,
};

use rustls::{
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};

use super::{ServeError, Tls, serve::certified_key};

/// A certificate and a key in files.
pub struct DiskIdentity {
    certificate: PathBuf,
    key: PathBuf,
    kept: Mutex<(Option<SystemTime>, Arc<CertifiedKey>)>,
}

impl DiskIdentity {
    /// The identity in these files, which must be there and fit together.
    pub fn new(certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Result<Self, ServeError> {
        let (certificate, key) = (certificate.into(), key.into());
        let kept = Mutex::new((modified(&certificate), read(&certificate, &key)?));
        Ok(Self { certificate, key, kept })
    }

    fn current(&self) -> Arc<CertifiedKey> {
        let mut kept = self.kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let modified = modified(&self.certificate);
        if kept.0 != modified {
            match read(&self.certificate, &self.key) {
                Ok(identity) => *kept = (modified, identity),
                // The last good one serves, and the files are looked at again next time.
                Err(error) => tracing::error!(%error, "the new certificate cannot be used"),
            }
        }
        Arc::clone(&kept.1)
    }
}

impl ResolvesServerCert for DiskIdentity {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.current())
    }
}

impl fmt::Debug for DiskIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiskIdentity").field("certificate", &self.certificate).finish_non_exhaustive()
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|found| found.modified()).ok()
}

fn read(certificate: &Path, key: &Path) -> Result<Arc<CertifiedKey>, ServeError> {
    let file = |path: &Path| fs::read(path).map_err(|source| ServeError::File { path: path.into(), source });
    certified_key(&Tls { certificates: file(certificate)?, key: file(key)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renewed_certificate_is_taken_and_a_broken_one_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let (certificate, key) = (dir.path().join("tls.crt"), dir.path().join("tls.key"));
        let key_pair = rcgen::KeyPair::generate().unwrap();
        let issue = |name: &str| {
            let params = rcgen::CertificateParams::new(vec![name.to_owned()]).unwrap();
            params.self_signed(&key_pair).unwrap().pem()
        };
        fs::write(&certificate, issue("old.example.com")).unwrap();
        fs::write(&key, key_pair.serialize_pem()).unwrap();
        let identity = DiskIdentity::new(&certificate, &key).unwrap();
        let old = identity.current().cert[0].clone();
        assert_eq!(identity.current().cert[0], old);

        let at = |seconds: u64| SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        let replace = |text: &str, seconds| {
            fs::write(&certificate, text).unwrap();
            fs::File::options().write(true).open(&certificate).unwrap().set_modified(at(seconds)).unwrap();
        };
        replace("half a certif", 1_000);
        assert_eq!(identity.current().cert[0], old);
        replace(&issue("new.example.com"), 2_000);
        assert_ne!(identity.current().cert[0], old);
    }
}
