//! Which certificates there are, and when they are due.

use std::path::{Path, PathBuf};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use landfall_assets::{Expiry, certificate_expiry, node::paths};
use serde::Deserialize;

/// A file with a certificate, and when that ends.
#[derive(Clone, Debug)]
pub struct CertificateFile {
    /// The file.
    pub path: PathBuf,
    /// When it ends, or why that cannot be said.
    pub expiry: Result<Expiry, String>,
}

const CERTIFICATES: &[&str] = &[
    "apiserver.crt",
    "apiserver-etcd-client.crt",
    "apiserver-kubelet-client.crt",
    "front-proxy-client.crt",
    "etcd/healthcheck-client.crt",
    "etcd/peer.crt",
    "etcd/server.crt",
];
const KUBECONFIGS: &[&str] = &["admin.conf", "controller-manager.conf", "scheduler.conf"];

/// The certificates that kubeadm issued on this machine. `kubernetes` is `/etc/kubernetes`, except in tests.
pub fn certificate_files(kubernetes: &Path) -> Vec<CertificateFile> {
    let pki = kubernetes.join(Path::new(paths::KUBERNETES_PKI).file_name().unwrap_or_default());
    let certificates = CERTIFICATES.iter().map(|name| (pki.join(name), false));
    let kubeconfigs = KUBECONFIGS.iter().map(|name| (kubernetes.join(name), true));
    certificates
        .chain(kubeconfigs)
        .filter(|(path, _)| path.exists())
        .map(|(path, is_kubeconfig)| CertificateFile { expiry: expiry(&path, is_kubeconfig), path })
        .collect()
}

/// Whether no more than a third of its time is left: months for an ordinary one, and still time enough for a short one.
pub fn is_due(expiry: &Expiry, now: Timestamp) -> bool {
    let whole = expiry.not_after.as_second() - expiry.not_before.as_second();
    let left = expiry.not_after.as_second() - now.as_second();
    left <= whole / 3
}

fn expiry(path: &Path, is_kubeconfig: bool) -> Result<Expiry, String> {
    let contents = std::fs::read(path).map_err(|error| error.to_string())?;
    let pem = if is_kubeconfig { client_certificate(&contents)? } else { contents };
    certificate_expiry(&pem).map_err(|error| error.to_string())
}

fn client_certificate(kubeconfig: &[u8]) -> Result<Vec<u8>, String> {
    #[derive(Deserialize)]
    struct Document {
        users: Vec<Named>,
    }
    #[derive(Deserialize)]
    struct Named {
        user: User,
    }
    #[derive(Deserialize)]
    struct User {
        #[serde(rename = "client-certificate-data")]
        certificate: String,
    }
    let text = std::str::from_utf8(kubeconfig).map_err(|error| error.to_string())?;
    // The error would show the file, which holds a key.
    let document: Document = serde_saphyr::from_str(text).map_err(|_| "it is not a kubeconfig".to_owned())?;
    let user = document.users.into_iter().next().ok_or("it names no user")?;
    STANDARD.decode(user.user.certificate.trim()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_of_the_time_before_the_end_it_is_due() {
        let at = |day: i64| Timestamp::from_second(day * 86_400).unwrap();
        let expiry = Expiry { name: "kube-apiserver".to_owned(), not_before: at(0), not_after: at(360) };
        assert!(!is_due(&expiry, at(0)) && !is_due(&expiry, at(239)));
        assert!(is_due(&expiry, at(241)) && is_due(&expiry, at(400)));
        let ended = Expiry { not_after: at(0), ..expiry };
        assert!(is_due(&ended, at(0)), "one without any time is due at once");
    }

    #[test]
    fn certificates_and_kubeconfigs_are_found_and_read() {
        let dir = tempfile::tempdir().unwrap();
        let pem = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap().cert.pem();
        std::fs::create_dir_all(dir.path().join("pki/etcd")).unwrap();
        std::fs::write(dir.path().join("pki/apiserver.crt"), &pem).unwrap();
        std::fs::write(dir.path().join("pki/etcd/peer.crt"), "nonsense").unwrap();
        let kubeconfig = format!("users: [{{user: {{client-certificate-data: {}}}}}]\n", STANDARD.encode(&pem));
        std::fs::write(dir.path().join("admin.conf"), kubeconfig).unwrap();
        let files = certificate_files(dir.path());
        let good: Vec<bool> = files.iter().map(|file| file.expiry.is_ok()).collect();
        assert_eq!(good, [true, false, true], "{files:?}");
    }
}
