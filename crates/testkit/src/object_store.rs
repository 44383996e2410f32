//! An object store that other people wrote, on a loopback address: versitygw, which checks signatures and the expiry of links.

use std::{
    fs,
    net::{Ipv4Addr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    time::Duration,
};

use tempfile::TempDir;

use crate::{Authority, patience::until, ports::free_port};

/// The key that may do everything.
pub const KEY_ID: &str = "landfall-test";
/// Its secret.
pub const SECRET_KEY: &str = "landfall-test-secret";
/// The bucket that is there.
pub const BUCKET: &str = "assets";
/// Its region.
pub const REGION: &str = "eu-central-1";

/// How long the store may take to start.
const START: Duration = Duration::from_mins(2);
const VERSION: &str = "1.8.0";

/// A running object store, with one bucket. It is killed when it is dropped.
#[derive(Debug)]
pub struct ObjectStore {
    child: Child,
    home: TempDir,
    port: u16,
}

impl ObjectStore {
    /// Starts one, with a certificate of this authority. The program is built if it is not there yet.
    pub fn start(authority: &Authority) -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let (certificate, key) = authority.certificate();
        fs::write(home.path().join("tls.crt"), certificate.pem()).expect("a new file");
        fs::write(home.path().join("tls.key"), key.serialize_pem()).expect("a new file");
        fs::create_dir_all(home.path().join("buckets").join(BUCKET)).expect("a new directory");
        let port = free_port();
        let child = Command::new(program())
            .args(["--port", &format!("127.0.0.1:{port}"), "--region", REGION, "--quiet"])
            .arg("--cert")
            .arg(home.path().join("tls.crt"))
            .arg("--key")
            .arg(home.path().join("tls.key"))
            .arg("posix")
            .arg(home.path().join("buckets"))
            .env("ROOT_ACCESS_KEY", KEY_ID)
            .env("ROOT_SECRET_KEY", SECRET_KEY)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the object store starts");
        until("the object store", START, || {
            TcpStream::connect((Ipv4Addr::LOCALHOST, port)).map(drop).map_err(|error| error.to_string())
        });
        Self { child, home, port }
    }

    /// Its URL.
    pub fn endpoint(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// The keys of all objects in the bucket, as they are on disk.
    pub fn objects(&self) -> Vec<String> {
        let bucket = self.home.path().join("buckets").join(BUCKET);
        let mut found = Vec::new();
        collect(&bucket, &bucket, &mut found);
        found.sort();
        found
    }
}

impl Drop for ObjectStore {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn collect(root: &Path, directory: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(root, &path, found);
        } else {
            found.push(path.strip_prefix(root).expect("below the bucket").display().to_string());
        }
    }
}

fn program() -> &'static PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/build-go");
        let built = Command::new(script)
            .arg(format!("versitygw-{VERSION}"))
            .arg(format!("github.com/versity/versitygw@v{VERSION}"))
            .arg("versitygw=github.com/versity/versitygw/cmd/versitygw")
            .output()
            .expect("the script runs");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        String::from_utf8(built.stdout).expect("a path").trim().into()
    })
}
