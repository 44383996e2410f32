//! A real Kubernetes API server with its etcd, on loopback, with TLS and RBAC. `make test` builds both.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};
use tempfile::TempDir;

use crate::{patience::until, ports::free_port};

/// How long the programs may be silent before they serve, on a machine that has other things to do.
const PATIENCE: Duration = Duration::from_mins(2);

/// A real API server with its etcd. Both end when it is dropped, and with the process that started them.
pub struct ControlPlane {
    home: TempDir,
    issuer: Issuer<'static, KeyPair>,
    authority: String,
    /// None if another process runs it.
    etcd: Option<Child>,
    api_server: Option<Child>,
    etcd_port: u16,
    port: u16,
}

/// Files by which other processes know a control plane that they share.
const SHARED_KEY: &str = "ca.key";
const SHARED_PORT: &str = "port";

fn authority_params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "cluster");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
    params
}

impl ControlPlane {
    /// Starts both and waits until the API server is ready. Blocks.
    ///
    /// The programs are tied to the thread that calls: a thread that ends takes them with it.
    pub fn start() -> Self {
        let key = KeyPair::generate().expect("a key can be generated");
        let params = authority_params();
        let authority = params.self_signed(&key).expect("a CA can be signed").pem();
        let home = tempfile::tempdir().expect("a directory can be made");
        let issuer = Issuer::new(params, key);
        let (etcd_port, peer_port, port) = (free_port(), free_port(), free_port());
        let log = |name: &str| std::fs::File::create(home.path().join(name)).expect("a log can be made");
        let etcd = tied(&program("build-etcd", &[]))
            .args(["--name", "test", "--unsafe-no-fsync", "--logger", "zap", "--log-level", "error"])
            .args(["--snapshot-count", "100000", "--quota-backend-bytes", "4294967296"])
            .arg(format!("--data-dir={}", home.path().join("etcd").display()))
            .arg(format!("--listen-client-urls=http://127.0.0.1:{etcd_port}"))
            .arg(format!("--advertise-client-urls=http://127.0.0.1:{etcd_port}"))
            .arg(format!("--listen-peer-urls=http://127.0.0.1:{peer_port}"))
            .arg(format!("--initial-advertise-peer-urls=http://127.0.0.1:{peer_port}"))
            .arg(format!("--initial-cluster=test=http://127.0.0.1:{peer_port}"))
            .stdout(Stdio::null())
            .stderr(log("etcd.log"))
            .spawn()
            .expect("etcd starts");
        let mut this = Self { home, issuer, authority, etcd: Some(etcd), api_server: None, etcd_port, port };
        let (certificate, key) = this.certificate("kube-apiserver", None, true);
        this.write("apiserver.crt", &certificate);
        this.write("apiserver.key", &key);
        this.write("ca.crt", &this.authority.clone());
        let accounts = KeyPair::generate().expect("a key can be generated");
        this.write("accounts.key", &accounts.serialize_pem());
        this.write("accounts.pub", &accounts.public_key_pem());
        this.start_api_server();
        this
    }

    /// Writes down how other processes reach this control plane: see [`Self::attach`].
    pub fn publish(&self, directory: &Path) {
        let write = |name: &str, text: &str| std::fs::write(directory.join(name), text).expect("a file can be written");
        std::fs::create_dir_all(directory).expect("a directory can be made");
        write("ca.crt", &self.authority);
        write(SHARED_KEY, &self.issuer.key().serialize_pem());
        write(SHARED_PORT, &self.port.to_string());
    }

    /// Returns the control plane that another process has published in a directory. It can be neither stopped nor started from here.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn attach(directory: &Path) -> Self {
        let read = |name: &str| {
            let path = directory.join(name);
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
        };
        let key = KeyPair::from_pem(&read(SHARED_KEY)).expect("the key was written by `publish`");
        let this = Self {
            home: tempfile::tempdir().expect("a directory can be made"),
            issuer: Issuer::new(authority_params(), key),
            authority: read("ca.crt"),
            etcd: None,
            api_server: None,
            etcd_port: 0,
            port: read(SHARED_PORT).parse().expect("the port was written by `publish`"),
        };
        this.write("ca.crt", &this.authority);
        this
    }

    /// Starts the API server, after it was stopped, and waits until it is ready. Blocks.
    pub fn start_api_server(&mut self) {
        let path = |name: &str| self.home.path().join(name).display().to_string();
        let log =
            std::fs::File::options().create(true).append(true).open(path("apiserver.log")).expect("a log can be made");
        let child = tied(&program("build-kubernetes", &["kube-apiserver"]))
            .arg(format!("--etcd-servers=http://127.0.0.1:{}", self.etcd_port))
            .args(["--bind-address=127.0.0.1", "--advertise-address=127.0.0.1"])
            .arg(format!("--secure-port={}", self.port))
            .arg(format!("--tls-cert-file={}", path("apiserver.crt")))
            .arg(format!("--tls-private-key-file={}", path("apiserver.key")))
            .arg(format!("--client-ca-file={}", path("ca.crt")))
            .arg(format!("--service-account-key-file={}", path("accounts.pub")))
            .arg(format!("--service-account-signing-key-file={}", path("accounts.key")))
            .args([
                "--service-account-issuer=https://kubernetes.default.svc",
                "--service-cluster-ip-range=10.96.0.0/24",
            ])
            .args(["--authorization-mode=Node,RBAC", "--anonymous-auth=false", "--profiling=false"])
            // Nobody makes the service accounts that pods would need.
            .args(["--disable-admission-plugins=ServiceAccount", "--enable-priority-and-fairness=false"])
            .arg(format!("--cert-dir={}", path("certificates")))
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("kube-apiserver starts");
        self.api_server = Some(child);
        let kubeconfig = self.kubeconfig();
        until("the API server", PATIENCE, || {
            let ready = Command::new("kubectl")
                .args(["--kubeconfig"])
                .arg(&kubeconfig)
                .args(["get", "--raw", "/readyz"])
                .output();
            if ready.expect("kubectl is installed by `make test`").status.success() {
                return Ok(());
            }
            let ended = self.api_server.as_mut().and_then(|child| child.try_wait().ok().flatten());
            assert!(ended.is_none(), "the API server has ended:\n{}", self.log());
            Err(self.log())
        });
    }

    /// Ends the API server at once, as a crash would.
    pub fn stop_api_server(&mut self) {
        if let Some(mut child) = self.api_server.take() {
            let _ended = child.kill().and_then(|()| child.wait().map(drop));
        }
    }

    /// Path of the administrator's kubeconfig.
    pub fn kubeconfig(&self) -> PathBuf {
        let path = self.home.path().join("kubeconfig");
        if !path.exists() {
            self.write("kubeconfig", &self.kubeconfig_for("admin", Some("system:masters")));
        }
        path
    }

    /// A kubeconfig for a user with a client certificate.
    pub fn kubeconfig_for(&self, user: &str, group: Option<&str>) -> String {
        let (certificate, key) = self.certificate(user, group, false);
        // Certificates are given in files, which need no other encoding.
        let name = user.replace([':', '/'], "-");
        self.write(&format!("{name}.crt"), &certificate);
        self.write(&format!("{name}.key"), &key);
        let path = |name: String| self.home.path().join(name).display().to_string();
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: test\nclusters:\n- name: test\n  cluster:\n    server: {}\n    \
             certificate-authority: {}\ncontexts:\n- name: test\n  context: {{cluster: test, user: user}}\nusers:\n- name: user\n  \
             user:\n    client-certificate: {}\n    client-key: {}\n",
            self.url(),
            path("ca.crt".to_owned()),
            path(format!("{name}.crt")),
            path(format!("{name}.key")),
        )
    }

    /// Where the API is served.
    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// The cluster's CA in PEM form.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The API server's log, for messages of failures.
    pub fn log(&self) -> String {
        let log = std::fs::read_to_string(self.home.path().join("apiserver.log")).unwrap_or_default();
        log.lines().rev().take(30).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    fn certificate(&self, name: &str, group: Option<&str>, server: bool) -> (String, String) {
        let key = KeyPair::generate().expect("a key can be generated");
        let names = if server { vec!["127.0.0.1".to_owned(), "localhost".to_owned()] } else { Vec::new() };
        let mut params = CertificateParams::new(names).expect("the names are well formed");
        params.distinguished_name.push(DnType::CommonName, name);
        if let Some(group) = group {
            params.distinguished_name.push(DnType::OrganizationName, group);
        }
        let usage = if server { ExtendedKeyUsagePurpose::ServerAuth } else { ExtendedKeyUsagePurpose::ClientAuth };
        params.extended_key_usages = vec![usage];
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate can be signed");
        (certificate.pem(), key.serialize_pem())
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.home.path().join(name), text).expect("a file can be written");
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        self.stop_api_server();
        if let Some(etcd) = &mut self.etcd {
            let _ended = etcd.kill().and_then(|()| etcd.wait().map(drop));
        }
    }
}

/// A certificate request as a kubelet makes it, in PEM form.
pub fn certificate_request(common_name: &str, organization: &str, names: &[&str]) -> String {
    let key = KeyPair::generate().expect("a key can be generated");
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let mut params = CertificateParams::new(names).expect("the names are well formed");
    params.distinguished_name.push(DnType::CommonName, common_name);
    params.distinguished_name.push(DnType::OrganizationName, organization);
    params.serialize_request(&key).expect("a request can be signed").pem().expect("a request is PEM")
}

/// A program that ends with the thread that starts it.
pub(crate) fn tied(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL"]).arg(program);
    command
}

/// Builds a program, if that was not done before, and returns its path.
pub(crate) fn program(script: &str, arguments: &[&str]) -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts").join(script);
    let output = Command::new(&script).args(arguments).output().expect("the script can be run");
    assert!(output.status.success(), "{} failed: {}", script.display(), String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    PathBuf::from(printed.lines().last().expect("it prints the path"))
}
