//! Machines in network namespaces.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::json;

use crate::outage::Probe;

const MASTERS: usize = 3;
const VIP: &str = "198.51.100.5";
const DEADLINE: Duration = Duration::from_mins(1);

/// Answers as an API server does that is ready.
const API: &str = r"
import http.server, ssl, sys
class Api(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.send_header('Content-Length', '2'); self.end_headers(); self.wfile.write(b'ok')
    def log_message(self, *arguments): pass
server = http.server.ThreadingHTTPServer(('', 6443), Api)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
# The handshake is done by the thread of the connection: a client that stops in the middle must not hold up the others.
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
server.serve_forever()
";

/// Calls every 50 ms, each call on a connection of its own, and says when it began and what came of it.
const CLIENT: &str = r"
import http.client, ssl, sys, threading, time
context = ssl._create_unverified_context()
def call():
    began = time.monotonic()
    try:
        connection = http.client.HTTPSConnection(sys.argv[1], 6443, timeout=1, context=context)
        connection.request('GET', '/readyz')
        outcome = 'ok' if connection.getresponse().status == 200 else 'bad'
        connection.close()
    except Exception:
        outcome = 'failed'
    sys.stdout.write(f'{began} {outcome}\n'); sys.stdout.flush()
while True:
    threading.Thread(target=call, daemon=True).start()
    time.sleep(0.05)
";

/// What a machine is made of: the host's own programs, with directories of its own laid over the host's.
const MACHINE: &str = r#"
mount --make-rprivate /
mount -t tmpfs tmpfs /run
for directory in etc opt var/lib; do
  lab=/run/lab/$directory; mkdir -p "$lab/up" "$lab/work"
  mount -t overlay overlay -o "lowerdir=/$directory,upperdir=$lab/up,workdir=$lab/work" "/$directory"
done
mkdir -p /etc/landfall /var/lib/landfall /opt/landfall/bin /run/landfall
cp "$PAYLOAD/node.json" /etc/landfall/; cp "$PAYLOAD/nodes.json" /var/lib/landfall/
cp "$PAYLOAD"/check-* /opt/landfall/bin/; chmod +x /opt/landfall/bin/*
hostname "$NAME"
"$PROGRAM" vip > "$LOGS/vip.log" 2>&1 &
"$PROGRAM" load-balancer > "$LOGS/load-balancer.log" 2>&1 &
wait
"#;

/// Three masters and a client on one segment.
pub(crate) struct Lab {
    mark: String,
    directory: tempfile::TempDir,
    machines: Vec<Child>,
    apis: std::sync::Mutex<Vec<Child>>,
    /// The client.
    pub(crate) probe: Probe,
}

impl Lab {
    /// Brings everything up; none where that is not allowed.
    pub(crate) fn start() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("NOT RUN: this test needs root, for network namespaces");
            return None;
        }
        let mark = format!("lf{}", std::process::id() % 100_000);
        let directory = tempfile::tempdir().unwrap();
        ip(&["link", "add", &mark, "type", "bridge"]);
        ip(&["link", "set", &mark, "up"]);
        let client = namespace(&mark, "c", "198.51.100.100");
        payload(directory.path());
        let machines: Vec<Child> = (0..MASTERS).map(|master| machine(&mark, directory.path(), master)).collect();
        let script = directory.path().join("client.py");
        fs::write(&script, CLIENT).unwrap();
        let process = inside(&client, "python3").arg(&script).arg(VIP).stdout(Stdio::piped()).spawn().unwrap();
        let probe = Probe::follow(process);
        let lab = Self { mark, directory, machines, apis: std::sync::Mutex::default(), probe };
        (0..MASTERS).for_each(|master| lab.start_api(master));
        Some(lab)
    }

    /// Waits until one machine holds the address, all are back, and calls succeed; returns which.
    pub(crate) fn settled(&self) -> usize {
        let begun = Instant::now();
        let mut since = Instant::now();
        let mut last = Vec::new();
        loop {
            let holders = self.holders();
            if holders != last || holders.len() != 1 || !self.probe.is_steady() {
                since = Instant::now();
                last = holders;
            } else if since.elapsed() > Duration::from_secs(5) {
                return last[0];
            }
            assert!(begun.elapsed() < DEADLINE, "the machines do not settle: holders {last:?}\n{}", self.logs());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn holders(&self) -> Vec<usize> {
        (0..MASTERS)
            .filter(|&master| {
                let output =
                    Command::new("ip").args(["-n", &self.namespace(master), "address", "show", "to", VIP]).output();
                !output.unwrap().stdout.is_empty()
            })
            .collect()
    }

    /// Plugs a machine's cable in or out.
    pub(crate) fn link(&self, master: usize, up: bool) {
        ip(&["link", "set", &format!("{}m{master}", self.mark), if up { "up" } else { "down" }]);
    }

    /// Sends a signal to all processes of a program on a machine.
    pub(crate) fn signal(&self, master: usize, program: &str, signal: &str) {
        let is_program =
            |id: &str| fs::read_to_string(format!("/proc/{id}/comm")).is_ok_and(|name| name.trim() == program);
        self.signal_those(master, signal, is_program);
    }

    /// Sends a signal to all processes with an argument that ends like this.
    pub(crate) fn signal_argument(&self, master: usize, argument: &str, signal: &str) {
        let has_argument = |id: &str| {
            let line = fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
            line.split('\0').any(|part| part.ends_with(argument))
        };
        self.signal_those(master, signal, has_argument);
    }

    /// Freezes all processes of a machine, as a hypervisor does that stops it. Its kernel goes on to answer, which is worse
    /// than a cut cable for those who connect.
    pub(crate) fn freeze(&self, master: usize, signal: &str) {
        self.signal_those(master, signal, |_| true);
    }

    fn signal_those(&self, master: usize, signal: &str, wanted: impl Fn(&str) -> bool) {
        let listing = Command::new("ip").args(["netns", "pids", &self.namespace(master)]).output().unwrap();
        let listing = String::from_utf8(listing.stdout).unwrap();
        let ids: Vec<&str> = listing.split_whitespace().filter(|id| wanted(id)).collect();
        assert!(!ids.is_empty(), "there is nobody to send {signal} to\n{}", self.logs());
        // One that has ended by now is no failure.
        let _ = Command::new("kill").arg(format!("-{signal}")).args(&ids).stderr(Stdio::null()).status();
    }

    /// Starts a machine's API server.
    pub(crate) fn start_api(&self, master: usize) {
        let path = |name: &str| self.directory.path().join(name);
        let mut command = inside(&self.namespace(master), "python3");
        command.arg(path("api.py")).arg(path("tls.crt")).arg(path("tls.key")).stderr(Stdio::null());
        self.apis.lock().unwrap().push(command.spawn().unwrap());
    }

    fn namespace(&self, master: usize) -> String {
        format!("{}-m{master}", self.mark)
    }

    fn logs(&self) -> String {
        let mut logs = String::new();
        for master in 0..MASTERS {
            for name in ["vip.log", "load-balancer.log"] {
                let text =
                    fs::read_to_string(self.directory.path().join(format!("m{master}/{name}"))).unwrap_or_default();
                let lines: Vec<&str> = text.lines().collect();
                let end = lines[lines.len().saturating_sub(25)..].join("\n");
                let _ = writeln!(logs, "--- m{master} {name}\n{end}");
            }
        }
        logs
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.logs());
        }
        for process in self.machines.iter_mut().chain(self.apis.get_mut().unwrap()) {
            let _ = process.kill();
            let _ = process.wait();
        }
        for name in ["m0", "m1", "m2", "c"] {
            // The cable first: a namespace lives on for as long as a process is in it, and its cable with it.
            let _ = Command::new("ip").args(["link", "delete", &format!("{}{name}", self.mark)]).status();
            let _ = Command::new("ip").args(["netns", "delete", &format!("{}-{name}", self.mark)]).status();
        }
        let _ = Command::new("ip").args(["link", "delete", &self.mark]).status();
    }
}

/// What all machines boot with.
fn payload(directory: &Path) {
    let node = |master: usize| json!({ "name": name(master), "role": "master", "addresses": [address(master)], "podNetworks": [] });
    let facts = json!({
        "format": 1, "role": "master", "distribution": "kubernetes", "platform": "ovirt",
        "cluster": { "name": "demo", "domain": "demo.example.com", "infraId": "demo-x7k2p" },
        "api": { "name": "api.demo.example.com", "internalName": "api-int.demo.example.com",
            "endpoint": format!("{VIP}:6443"), "port": 6443, "configServerPort": 22623 },
        "vips": { "api": [VIP], "ingress": ["198.51.100.6"], "apiRouterId": 96, "ingressRouterId": 115,
            "balancerPort": 9445, "balancerReadyPort": 9444, "balancerBackendsPort": 9454,
            "keepalivedConfig": "/etc/landfall/keepalived.conf", "haproxyConfig": "/etc/landfall/haproxy.cfg" },
        "networks": { "machine": ["198.51.100.0/24"], "cluster": [], "service": [] },
    });
    let nodes: Vec<_> = (0..MASTERS).map(node).collect();
    let check = |port: u16| {
        format!(
            "#!/bin/sh\nexec curl --fail --silent --output /dev/null --noproxy '*' --max-time 1 http://127.0.0.1:{port}/ready\n"
        )
    };
    let pair = rcgen::generate_simple_self_signed(["api.demo.example.com".to_owned()]).unwrap();
    for (file, contents) in [
        ("node.json", facts.to_string()),
        ("nodes.json", json!(nodes).to_string()),
        ("check-balancer", check(9444)),
        ("check-backends", check(9454)),
        ("check-ingress", "#!/bin/sh\nexit 1\n".to_owned()),
        ("api.py", API.to_owned()),
        ("tls.crt", pair.cert.pem()),
        ("tls.key", pair.signing_key.serialize_pem()),
    ] {
        fs::write(directory.join(file), contents).unwrap();
    }
}

/// Switches a machine on.
fn machine(mark: &str, directory: &Path, master: usize) -> Child {
    let namespace = namespace(mark, &format!("m{master}"), &address(master));
    let logs: PathBuf = directory.join(format!("m{master}"));
    fs::create_dir(&logs).unwrap();
    inside(&namespace, "unshare")
        .args(["--mount", "--uts", "--pid", "--fork", "--kill-child", "sh", "-ec", MACHINE])
        .env("PAYLOAD", directory)
        .env("LOGS", logs)
        .env("NAME", name(master))
        .env("PROGRAM", env!("CARGO_BIN_EXE_landfall-node"))
        .spawn()
        .unwrap()
}

fn name(master: usize) -> String {
    format!("demo-x7k2p-master-{master}")
}

fn address(master: usize) -> String {
    format!("198.51.100.{}", 21 + master)
}

/// A namespace with a cable to the bridge.
fn namespace(mark: &str, name: &str, address: &str) -> String {
    let (namespace, cable) = (format!("{mark}-{name}"), format!("{mark}{name}"));
    ip(&["netns", "add", &namespace]);
    ip(&["link", "add", &cable, "type", "veth", "peer", "name", "eth0", "netns", &namespace]);
    ip(&["link", "set", &cable, "master", mark, "up"]);
    for arguments in [
        vec!["link", "set", "lo", "up"],
        vec!["link", "set", "eth0", "up"],
        vec!["address", "add", &format!("{address}/24"), "dev", "eth0"],
    ] {
        ip(&[&["-n", &namespace], arguments.as_slice()].concat());
    }
    namespace
}

fn inside(namespace: &str, program: &str) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", namespace, program]);
    command
}

fn ip(arguments: &[&str]) {
    let output = Command::new("ip").args(arguments).output().unwrap();
    assert!(output.status.success(), "ip {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}
