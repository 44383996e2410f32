//! A real etcd of several members, on loopback, whose clients show certificates. `make test` builds it.

use std::{
    fs::File,
    process::{Child, Command, Stdio},
    time::Duration,
};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};
use tempfile::TempDir;

use crate::{
    control_plane::{program, tied},
    patience::until,
    ports::free_port,
};

/// How long members may be silent until they have a leader, on a machine that has other things to do.
const PATIENCE: Duration = Duration::from_mins(1);

/// A real etcd. Its members end when it is dropped, and with the thread that started them.
pub struct EtcdCluster {
    home: TempDir,
    authority: String,
    issuer: Issuer<'static, KeyPair>,
    members: Vec<Member>,
}

struct Member {
    name: String,
    client_port: u16,
    process: Option<Child>,
}

impl EtcdCluster {
    /// Starts members with these names, and waits until all answer. Blocks.
    pub fn start(names: &[&str]) -> Self {
        let key = KeyPair::generate().expect("a key can be generated");
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "etcd-ca");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let authority = params.self_signed(&key).expect("a CA can be signed").pem();
        let home = tempfile::tempdir().expect("a directory can be made");
        let mut this = Self { home, authority, issuer: Issuer::new(params, key), members: Vec::new() };
        let (certificate, key) = this.identity();
        for (name, text) in [("ca.crt", &this.authority), ("tls.crt", &certificate), ("tls.key", &key)] {
            std::fs::write(this.home.path().join(name), text).expect("a file can be written");
        }
        let ports: Vec<_> = names.iter().map(|_| (free_port(), free_port())).collect();
        let peers = names.iter().zip(&ports).map(|(name, (_, peer))| format!("{name}=http://127.0.0.1:{peer}"));
        let peers = peers.collect::<Vec<_>>().join(",");
        for (name, (client, peer)) in names.iter().zip(&ports) {
            let process = this.member(name, *client, *peer, &peers);
            this.members.push(Member { name: (*name).to_owned(), client_port: *client, process: Some(process) });
        }
        for name in names {
            this.await_member(name);
        }
        this
    }

    /// Ends a member at once, as a crash would.
    pub fn kill(&mut self, name: &str) {
        let member = self.members.iter_mut().find(|member| member.name == name).expect("there is such a member");
        if let Some(mut process) = member.process.take() {
            let _ended = process.kill().and_then(|()| process.wait().map(drop));
        }
    }

    /// Where a member listens to clients.
    pub fn url(&self, name: &str) -> String {
        let member = self.members.iter().find(|member| member.name == name).expect("there is such a member");
        format!("https://127.0.0.1:{}/", member.client_port)
    }

    /// The authority that all certificates are signed by.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// A certificate and its key, with which members serve and clients call.
    pub fn identity(&self) -> (String, String) {
        let key = KeyPair::generate().expect("a key can be generated");
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("the name is well formed");
        params.distinguished_name.push(DnType::CommonName, "etcd");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate can be signed");
        (certificate.pem(), key.serialize_pem())
    }

    fn member(&self, name: &str, client: u16, peer: u16, peers: &str) -> Child {
        let path = |name: &str| self.home.path().join(name).display().to_string();
        tied(&program("build-etcd", &[]))
            .args(["--name", name, "--unsafe-no-fsync", "--logger", "zap", "--log-level", "error"])
            .arg(format!("--data-dir={}", path(&format!("data-{name}"))))
            .arg(format!("--listen-client-urls=https://127.0.0.1:{client}"))
            .arg(format!("--advertise-client-urls=https://127.0.0.1:{client}"))
            .args(["--client-cert-auth", "--trusted-ca-file", &path("ca.crt")])
            .args(["--cert-file", &path("tls.crt"), "--key-file", &path("tls.key")])
            .arg(format!("--listen-peer-urls=http://127.0.0.1:{peer}"))
            .arg(format!("--initial-advertise-peer-urls=http://127.0.0.1:{peer}"))
            .arg(format!("--initial-cluster={peers}"))
            .stdout(Stdio::null())
            .stderr(File::create(path(&format!("{name}.log"))).expect("a log can be made"))
            .spawn()
            .expect("etcd starts")
    }

    fn await_member(&self, name: &str) {
        let path = |name: &str| self.home.path().join(name).display().to_string();
        until(&format!("etcd's member {name}"), PATIENCE, || {
            let health = Command::new("curl")
                .args(["--silent", "--fail", "--cacert", &path("ca.crt"), "--cert", &path("tls.crt")])
                .args(["--key", &path("tls.key"), &format!("{}health", self.url(name))])
                .output();
            if health.expect("curl is installed").status.success() {
                return Ok(());
            }
            Err(std::fs::read_to_string(path(&format!("{name}.log"))).unwrap_or_default())
        });
    }
}

impl Drop for EtcdCluster {
    fn drop(&mut self) {
        for process in self.members.iter_mut().filter_map(|member| member.process.as_mut()) {
            let _ended = process.kill().and_then(|()| process.wait().map(drop));
        }
    }
}
