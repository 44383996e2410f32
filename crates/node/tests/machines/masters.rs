//! Three masters and a client on one segment.

use std::{
    fs,
    process::{Child, Stdio},
    sync::Mutex,
    time::{Duration, Instant},
};

use crate::{
    outage::Probe,
    reference,
    segment::{Segment, node},
};

const MASTERS: usize = 3;
const VIP: &str = "198.51.100.5";
const DEADLINE: Duration = Duration::from_mins(2);

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

/// Calls every 50 ms, each call on a connection of its own, and says when it began and what came of it. Half a second is all
/// that a call gets: after a second the kernel would send its first packet again, and a call from the middle of an outage would
/// count as good.
const CLIENT: &str = r"
import http.client, ssl, sys, threading, time
context = ssl._create_unverified_context()
def call():
    began = time.monotonic()
    try:
        connection = http.client.HTTPSConnection(sys.argv[1], 6443, timeout=0.5, context=context)
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

/// Who configures keepalived and haproxy, and runs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settings {
    /// `landfall-node`.
    Landfall,
    /// Nobody: fixed files with the reference installer's published settings.
    #[allow(dead_code, reason = "for the benchmark, which shares this laboratory")]
    Reference,
}

/// Three masters and a client on one segment.
pub(crate) struct Masters {
    segment: Segment,
    started: Mutex<Vec<Child>>,
    /// Who configures the masters.
    pub(crate) settings: Settings,
    /// The client.
    pub(crate) probe: Probe,
}

impl Masters {
    /// Brings everything up; none where that is not allowed.
    pub(crate) fn start(settings: Settings) -> Option<Self> {
        let nodes: Vec<_> = (0..MASTERS).map(|master| node(&name(master), "master", &address(master), &[])).collect();
        let mut segment = Segment::start("master", &nodes)?;
        let pair = rcgen::generate_simple_self_signed(["api.demo.example.com".to_owned()]).unwrap();
        for (file, contents) in [
            ("api.py", API.to_owned()),
            ("client.py", CLIENT.to_owned()),
            ("tls.crt", pair.cert.pem()),
            ("tls.key", pair.signing_key.serialize_pem()),
        ] {
            fs::write(segment.directory().join(file), contents).unwrap();
        }
        for master in 0..MASTERS {
            segment.connect(&short(master), &address(master));
            match settings {
                Settings::Landfall => segment.boot(&short(master), &name(master), "vip load-balancer"),
                Settings::Reference => {
                    let others: Vec<String> = (0..MASTERS).filter(|it| *it != master).map(address).collect();
                    let run = reference::run(segment.directory(), &address(master), &others, VIP);
                    segment.boot_with(&short(master), &name(master), &run);
                }
            }
        }
        segment.connect("c", "198.51.100.100");
        let script = segment.directory().join("client.py");
        let client = segment.inside("c", "python3").arg(script).arg(VIP).stdout(Stdio::piped()).spawn().unwrap();
        let lab = Self { segment, started: Mutex::default(), settings, probe: Probe::follow(client) };
        (0..MASTERS).for_each(|master| lab.start_api(master));
        Some(lab)
    }

    /// Waits until one machine alone holds the address for a while and calls succeed; returns which.
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
            let words = || self.segment.last_words();
            assert!(begun.elapsed() < DEADLINE, "the machines do not settle: holders {last:?}\n{}", words());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn holders(&self) -> Vec<usize> {
        let holds = |master: &usize| !self.segment.show(&short(*master), &["address", "show", "to", VIP]).is_empty();
        (0..MASTERS).filter(holds).collect()
    }

    /// Plugs a machine's cable in or out.
    pub(crate) fn link(&self, master: usize, up: bool) {
        self.segment.link(&short(master), up);
    }

    /// Sends a signal to all processes of a program on a machine.
    pub(crate) fn signal(&self, master: usize, program: &str, signal: &str) {
        self.segment.signal(&short(master), signal, |id| {
            fs::read_to_string(format!("/proc/{id}/comm")).is_ok_and(|name| name.trim() == program)
        });
    }

    /// Sends a signal to all processes with an argument that ends like this.
    pub(crate) fn signal_argument(&self, master: usize, argument: &str, signal: &str) {
        self.segment.signal(&short(master), signal, |id| {
            let line = fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
            line.split('\0').any(|part| part.ends_with(argument))
        });
    }

    /// Freezes all processes of a machine, as a hypervisor does that stops it. Its kernel goes on to answer, which is worse
    /// than a cut cable for those who connect.
    pub(crate) fn freeze(&self, master: usize, signal: &str) {
        self.segment.signal(&short(master), signal, |_| true);
    }

    /// Starts the haproxy of a machine that nobody else starts again.
    pub(crate) fn start_haproxy(&self, master: usize) {
        let config = reference::haproxy_file(self.segment.directory(), &address(master));
        let mut command = self.segment.inside(&short(master), "haproxy");
        command.arg("-db").arg("-f").arg(config).stdout(Stdio::null()).stderr(Stdio::null());
        self.started.lock().unwrap().push(command.spawn().unwrap());
    }

    /// Starts a machine's API server.
    pub(crate) fn start_api(&self, master: usize) {
        let path = |name: &str| self.segment.directory().join(name);
        let mut command = self.segment.inside(&short(master), "python3");
        command.arg(path("api.py")).arg(path("tls.crt")).arg(path("tls.key")).stderr(Stdio::null());
        self.started.lock().unwrap().push(command.spawn().unwrap());
    }
}

impl Drop for Masters {
    fn drop(&mut self) {
        for process in self.started.get_mut().unwrap() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

fn short(master: usize) -> String {
    format!("m{master}")
}

fn name(master: usize) -> String {
    format!("demo-x7k2p-master-{master}")
}

fn address(master: usize) -> String {
    format!("198.51.100.{}", 21 + master)
}
