//! A real BIND on a loopback address: authoritative for zones that take updates, or a resolver that asks such a one.

use std::{
    fmt::Write as _,
    fs::{self, File},
    net::{Ipv4Addr, SocketAddr},
    os::unix::fs::OpenOptionsExt as _,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use tempfile::TempDir;

use crate::{patience::until, ports::free_port, relay::Relay};

/// Name of the key that may update.
pub const KEY_NAME: &str = "landfall-key";
/// Its secret.
pub const SECRET: &str = "bGFuZGZhbGwtdGVzdC1zZWNyZXQtMzItYnl0ZXMtbG8=";
/// Name of a key that the server knows and that may update nothing.
pub const WEAK_KEY_NAME: &str = "weak-key";

/// How long the server may be silent while it starts.
const START: Duration = Duration::from_mins(1);

/// A zone of a server.
#[derive(Clone, Debug)]
pub struct NamedZone {
    /// Its name.
    pub name: String,
    /// Its records, without the start of authority.
    pub records: String,
}

impl NamedZone {
    /// A zone with a name server in itself.
    pub fn new(name: &str, server: Ipv4Addr, records: &str) -> Self {
        Self { name: name.to_owned(), records: format!("@ NS ns1\nns1 A {server}\n{records}\n") }
    }
}

/// A running BIND. It is killed when it is dropped.
#[derive(Debug)]
pub struct Named {
    child: Child,
    address: SocketAddr,
    control: u16,
    home: TempDir,
    _relay: Option<Relay>,
}

impl Named {
    /// An authoritative server. `options` are further statements of its `options` block.
    pub fn authoritative(address: SocketAddr, zones: &[NamedZone], options: &str) -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let mut config = String::new();
        for zone in zones {
            let file = home.path().join(format!("{}.zone", zone.name));
            let text = format!(
                "$TTL 60\n@ SOA ns1.{0}. hostmaster.{0}. 1 3600 600 86400 5\n$ORIGIN {0}.\n{1}",
                zone.name, zone.records
            );
            fs::write(&file, text.replacen("@ SOA", &format!("{}. SOA", zone.name), 1)).expect("a zone file");
            let _written = writeln!(
                config,
                "zone \"{}\" {{ type primary; file \"{}\"; allow-update {{ key {KEY_NAME}; }}; allow-transfer {{ any; }}; }};",
                zone.name,
                file.display()
            );
        }
        Self::start(home, address, &format!("recursion no; {options}"), &config)
    }

    /// A resolver that knows some zones from their servers.
    pub fn resolver(address: SocketAddr, zones: &[(&str, SocketAddr)]) -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let forward = |(zone, server): &(&str, SocketAddr)| {
            format!(
                "zone \"{zone}\" {{ type forward; forward only; forwarders {{ {} port {}; }}; }};\n",
                server.ip(),
                server.port()
            )
        };
        let config: Vec<String> = zones.iter().map(forward).collect();
        Self::start(home, address, "recursion yes; allow-recursion { any; };", &config.concat())
    }

    fn start(home: TempDir, address: SocketAddr, options: &str, zones: &str) -> Self {
        let control = free_port();
        // BIND listens only on addresses that an interface has, and loopback has one.
        let (inner, relay) = if address.ip() == Ipv4Addr::LOCALHOST {
            (address, None)
        } else {
            let inner = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), free_port());
            (inner, Some(Relay::start(address, inner)))
        };
        let dir = home.path().display();
        let key = |name: &str| format!("key \"{name}\" {{ algorithm hmac-sha256; secret \"{SECRET}\"; }};\n");
        let config = format!(
            "{}{}options {{ directory \"{dir}\"; pid-file none; session-keyfile none; listen-on port {} {{ {}; }}; \
             listen-on-v6 {{ none; }}; dnssec-validation no; empty-zones-enable no; notify no; max-cache-size 8m; {options} }};\n\
             controls {{ inet 127.0.0.1 port {control} allow {{ any; }} keys {{ {KEY_NAME}; }}; }};\n{zones}",
            key(KEY_NAME),
            key(WEAK_KEY_NAME),
            inner.port(),
            inner.ip(),
        );
        fs::write(home.path().join("named.conf"), config).expect("a config");
        private(
            home.path().join("rndc.conf"),
            &format!("{}options {{ default-key \"{KEY_NAME}\"; }};\n", key(KEY_NAME)),
        );
        private(home.path().join("key"), SECRET);
        let log = File::create(home.path().join("log")).expect("a log");
        let child = Command::new("named")
            .args(["-g", "-4", "-n", "1", "-c"])
            .arg(home.path().join("named.conf"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap_or_else(|error| panic!("cannot run named: {error}; `scripts/setup test` installs it"));
        let mut named = Self { child, address, control, home, _relay: relay };
        named.wait();
        named
    }

    fn wait(&mut self) {
        until("named", START, || {
            let log = fs::read_to_string(self.home.path().join("log")).unwrap_or_default();
            if log.contains(" running\n") {
                return Ok(());
            }
            let ended = self.child.try_wait().expect("a child can be asked");
            assert!(ended.is_none(), "named has ended: {log}");
            Err(log)
        });
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A private file with the secret of the key.
    pub fn key_file(&self) -> PathBuf {
        self.home.path().join("key")
    }

    /// What `dig` says.
    pub fn dig(&self, arguments: &[&str]) -> String {
        let server = [format!("@{}", self.address.ip()), "-p".to_owned(), self.address.port().to_string()];
        run(Command::new("dig").args(["+tries=2", "+time=2"]).args(server).args(arguments))
    }

    /// All records of a zone but its start of authority, one per line, sorted.
    pub fn zone(&self, zone: &str) -> Vec<String> {
        let text = self.dig(&["+noall", "+answer", "+onesoa", zone, "AXFR"]);
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut lines: Vec<String> = text.lines().map(words).filter(|line| !line.contains(" SOA ")).collect();
        lines.sort();
        lines
    }

    /// Changes a zone with `nsupdate`, as anybody else with the key would.
    pub fn nsupdate(&self, script: &str) {
        let file = self.home.path().join("script");
        let server = format!("server {} {}\n", self.address.ip(), self.address.port());
        fs::write(&file, format!("{server}{script}\nsend\n")).expect("a script");
        run(Command::new("nsupdate").args(["-y", &format!("hmac-sha256:{KEY_NAME}:{SECRET}")]).arg(&file));
    }

    /// Writes the journal into the zone file, lets `named-checkzone` judge it, and returns it.
    pub fn frozen(&self, zone: &str) -> String {
        self.rndc(&["freeze", zone]);
        let file = self.home.path().join(format!("{zone}.zone"));
        run(Command::new("named-checkzone").arg(zone).arg(&file));
        let text = fs::read_to_string(file).expect("the zone file");
        self.rndc(&["thaw", zone]);
        text
    }

    fn rndc(&self, arguments: &[&str]) {
        let config = self.home.path().join("rndc.conf");
        run(Command::new("rndc")
            .arg("-c")
            .arg(config)
            .args(["-s", "127.0.0.1", "-p", &self.control.to_string()])
            .args(arguments));
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        // It may have ended by itself, and then there is nothing to end.
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn private(path: PathBuf, text: &str) {
    use std::io::Write as _;
    let file = File::options().write(true).create(true).truncate(true).mode(0o600).open(path);
    file.expect("a file").write_all(text.as_bytes()).expect("a text can be written");
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}: {}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}
