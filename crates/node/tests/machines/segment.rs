//! A network segment: a bridge, and machines that are namespaces with a cable to it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

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
eval "$RUN"
wait
"#;

/// What a command may take until it has written something.
const DEADLINE: Duration = Duration::from_mins(1);

static SEGMENTS: AtomicUsize = AtomicUsize::new(0);

/// A segment and what is connected to it. Everything is gone when it is dropped.
pub(crate) struct Segment {
    mark: String,
    directory: tempfile::TempDir,
    names: Vec<String>,
    machines: Vec<Child>,
}

/// A node as `landfall-node` remembers it.
pub(crate) fn node(name: &str, role: &str, address: &str, pods: &[&str]) -> Value {
    json!({ "name": name, "role": role, "addresses": [address], "podNetworks": pods })
}

impl Segment {
    /// A segment on which machines with this role remember these nodes; none where that is not allowed.
    pub(crate) fn start(role: &str, nodes: &[Value]) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("NOT RUN: this test needs root, for network namespaces");
            return None;
        }
        let number = SEGMENTS.fetch_add(1, Ordering::Relaxed);
        let mark = format!("lf{}{number}", std::process::id() % 100_000);
        let directory = tempfile::tempdir().unwrap();
        payload(directory.path(), role, nodes);
        ip(&["link", "add", &mark, "type", "bridge"]);
        ip(&["link", "set", &mark, "up"]);
        Some(Self { mark, directory, names: Vec::new(), machines: Vec::new() })
    }

    /// The directory of files for the segment.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Connects something under a short name.
    pub(crate) fn connect(&mut self, name: &str, address: &str) {
        let (namespace, cable) = (self.namespace(name), self.cable(name));
        ip(&["netns", "add", &namespace]);
        ip(&["link", "add", &cable, "type", "veth", "peer", "name", "eth0", "netns", &namespace]);
        ip(&["link", "set", &cable, "master", &self.mark, "up"]);
        self.names.push(name.to_owned());
        for arguments in [
            vec!["link", "set", "lo", "up"],
            vec!["link", "set", "eth0", "up"],
            vec!["address", "add", &format!("{address}/24"), "dev", "eth0"],
        ] {
            ip(&[&["-n", &namespace], arguments.as_slice()].concat());
        }
    }

    /// Switches on a machine that is connected under a short name: a node that runs commands of `landfall-node`.
    pub(crate) fn boot(&mut self, name: &str, node: &str, commands: &str) {
        let run =
            format!("for command in {commands}; do \"$PROGRAM\" \"$command\" > \"$LOGS/$command.log\" 2>&1 & done");
        self.boot_with(name, node, &run);
    }

    /// Switches on a machine that runs what a script starts in the background.
    pub(crate) fn boot_with(&mut self, name: &str, node: &str, run: &str) {
        fs::create_dir(self.logs(name)).unwrap();
        let process = self
            .inside(name, "unshare")
            .args(["--mount", "--uts", "--pid", "--fork", "--kill-child", "sh", "-ec", MACHINE])
            .env("PAYLOAD", self.directory())
            .env("LOGS", self.logs(name))
            .env("NAME", node)
            .env("RUN", run)
            .env("LANDFALL_MDNS", "1")
            .env("PROGRAM", env!("CARGO_BIN_EXE_landfall-node"))
            .spawn()
            .unwrap();
        self.machines.push(process);
    }

    /// Plugs a cable in or out.
    pub(crate) fn link(&self, name: &str, up: bool) {
        ip(&["link", "set", &self.cable(name), if up { "up" } else { "down" }]);
    }

    /// Sends a signal to the processes of a machine that are wanted, of which there must be some.
    pub(crate) fn signal(&self, name: &str, signal: &str, wanted: impl Fn(&str) -> bool) {
        let listing = output(&["netns", "pids", &self.namespace(name)]);
        let ids: Vec<&str> = listing.split_whitespace().filter(|id| wanted(id)).collect();
        assert!(!ids.is_empty(), "there is nobody to send {signal} to\n{}", self.last_words());
        // One that has ended by now is no failure.
        let _ = Command::new("kill").arg(format!("-{signal}")).args(&ids).stderr(Stdio::null()).status();
    }

    /// The processes of a machine that run a program.
    pub(crate) fn processes(&self, name: &str, program: &str) -> Vec<String> {
        let listing = output(&["netns", "pids", &self.namespace(name)]);
        let runs = |id: &&str| fs::read_to_string(format!("/proc/{id}/comm")).is_ok_and(|comm| comm.trim() == program);
        listing.split_whitespace().filter(runs).map(str::to_owned).collect()
    }

    /// Waits until a command of a machine has written something to a file of its logs, and looks at the segment meanwhile.
    pub(crate) fn wait_for_log(&self, name: &str, file: &str, text: &str, look: impl Fn()) {
        let begun = Instant::now();
        while !self.log(name, file).contains(text) {
            look();
            assert!(begun.elapsed() < DEADLINE, "{name} does not write '{text}'\n{}", self.last_words());
            std::thread::sleep(Duration::from_millis(50));
        }
        look();
    }

    /// What a command of a machine has written to a file of its logs.
    pub(crate) fn log(&self, name: &str, file: &str) -> String {
        fs::read_to_string(self.logs(name).join(file)).unwrap_or_default()
    }

    /// A command on a machine.
    pub(crate) fn inside(&self, name: &str, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespace(name), program]);
        command
    }

    /// What `ip` says of a machine.
    pub(crate) fn show(&self, name: &str, arguments: &[&str]) -> String {
        output(&[&["-n", &self.namespace(name)], arguments].concat())
    }

    /// The ends of all logs.
    pub(crate) fn last_words(&self) -> String {
        let mut words = Vec::new();
        for name in &self.names {
            for entry in fs::read_dir(self.logs(name)).into_iter().flatten().flatten() {
                let text = fs::read_to_string(entry.path()).unwrap_or_default();
                let lines: Vec<&str> = text.lines().collect();
                let end = lines[lines.len().saturating_sub(25)..].join("\n");
                words.push(format!("--- {name} {}\n{end}\n", entry.file_name().display()));
            }
        }
        words.concat()
    }

    fn namespace(&self, name: &str) -> String {
        format!("{}-{name}", self.mark)
    }

    fn cable(&self, name: &str) -> String {
        format!("{}{name}", self.mark)
    }

    fn logs(&self, name: &str) -> PathBuf {
        self.directory().join(name)
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.last_words());
        }
        for process in &mut self.machines {
            let _ = process.kill();
            let _ = process.wait();
        }
        for name in &self.names {
            // The cable first: a namespace lives on for as long as a process is in it, and its cable with it.
            let _ = Command::new("ip").args(["link", "delete", &self.cable(name)]).status();
            let _ = Command::new("ip").args(["netns", "delete", &self.namespace(name)]).status();
        }
        let _ = Command::new("ip").args(["link", "delete", &self.mark]).status();
    }
}

/// What all machines boot with.
fn payload(directory: &Path, role: &str, nodes: &[Value]) {
    let facts = json!({
        "format": 1, "role": role, "distribution": "kubernetes", "platform": "ovirt",
        "cluster": { "name": "demo", "domain": "demo.example.com", "infraId": "demo-x7k2p" },
        "api": { "name": "api.demo.example.com", "internalName": "api-int.demo.example.com",
            "endpoint": "198.51.100.5:6443", "port": 6443, "configServerPort": 22623 },
        "vips": { "api": ["198.51.100.5"], "ingress": ["198.51.100.6"], "apiRouterId": 96, "ingressRouterId": 115,
            "balancerPort": 9445, "balancerReadyPort": 9444, "balancerBackendsPort": 9454,
            "keepalivedConfig": "/etc/landfall/keepalived.conf", "haproxyConfig": "/etc/landfall/haproxy.cfg" },
        "networks": { "networkType": "Routed", "machine": ["198.51.100.0/24"],
            "cluster": [{ "cidr": "10.128.0.0/14", "hostPrefix": 23 }], "service": ["172.30.0.0/16"] },
        "kubeadm": "/etc/landfall/kubeadm.yaml",
        "configServer": { "certificate": "/etc/landfall/tls.crt", "key": "/etc/landfall/tls.key", "roles": [] },
    });
    let check = |port: u16| {
        format!(
            "#!/bin/sh\nexec curl --fail --silent --output /dev/null --noproxy '*' --max-time 1 http://127.0.0.1:{port}/ready\n"
        )
    };
    for (file, contents) in [
        ("node.json", facts.to_string()),
        ("nodes.json", json!(nodes).to_string()),
        ("check-balancer", check(9444)),
        ("check-backends", check(9454)),
        ("check-ingress", "#!/bin/sh\nexit 1\n".to_owned()),
    ] {
        fs::write(directory.join(file), contents).unwrap();
    }
}

/// What `ip` says.
fn output(arguments: &[&str]) -> String {
    let output = Command::new("ip").args(arguments).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Changes something.
fn ip(arguments: &[&str]) {
    let output = Command::new("ip").args(arguments).output().unwrap();
    assert!(output.status.success(), "ip {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}
