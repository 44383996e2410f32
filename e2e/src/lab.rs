//! A simulated engine with real hosts, in a process of its own.

use std::fs::File;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde::Deserialize;
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::Arguments;
use crate::waiting::until;

/// Beginning of the names of all that is made for hosts on the simulator's own network, 198.51.100.0/24.
const MARK: &str = "c63364";
/// How long a simulator may take to be ready, and to be gone.
const PATIENCE: Duration = Duration::from_mins(1);

/// The engine and its hosts.
pub(crate) struct Lab {
    pub(crate) landfall: PathBuf,
    pub(crate) logs: PathBuf,
    home: TempDir,
    ready: Value,
    simulator: Child,
}

/// A host that is on.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Host {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) address: IpAddr,
    pub(crate) pid: Option<u32>,
    pub(crate) cgroup: PathBuf,
    pub(crate) cable: String,
}

impl Lab {
    pub(crate) async fn start(arguments: &Arguments) -> anyhow::Result<Self> {
        let beside = std::env::current_exe()?.with_file_name("landfall");
        let landfall = arguments.landfall.clone().unwrap_or(beside);
        let home = tempfile::Builder::new().prefix("landfall-e2e-").tempdir()?;
        let _ = std::fs::remove_dir_all(&arguments.logs);
        std::fs::create_dir_all(&arguments.logs)?;
        let logs = arguments.logs.canonicalize()?;
        let announced = home.path().join("ready.json");
        let mut simulator = Command::new(&landfall)
            .args(["sim", "ovirt", "--hosts", "real", "--time-scale", "20"])
            .arg("--host-agent")
            .arg(&arguments.node_agent)
            .arg("--host-consoles")
            .arg(logs.join("consoles"))
            .arg("--log-requests")
            .arg(logs.join("requests"))
            .arg("--credentials")
            .arg(home.path().join("ovirt-config.yaml"))
            .arg("--install-config")
            .arg(home.path().join("example.yaml"))
            .stdin(Stdio::null())
            .stdout(File::create(&announced)?)
            .stderr(File::create(logs.join("simulator.log"))?)
            .spawn()
            .with_context(|| format!("cannot run {}", landfall.display()))?;
        let ready = until("the simulator to be ready", PATIENCE, || {
            let line = std::fs::read_to_string(&announced).map_err(Into::into);
            let ended = simulator.try_wait();
            let log = logs.join("simulator.log");
            async move {
                if ended?.is_some() {
                    // Not worth waiting for; what it said is shown at once.
                    return Ok(Err(std::fs::read_to_string(log).unwrap_or_default()));
                }
                line.and_then(|line: String| Ok(Ok(serde_json::from_str::<Value>(&line)?)))
            }
        })
        .await?;
        let ready = ready.map_err(|said| anyhow::anyhow!("the simulator did not start: {said}"))?;
        Ok(Self { landfall, logs, home, ready, simulator })
    }

    /// A directory that goes with the laboratory.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// A program that hosts run too, for use outside of them.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        Path::new(self.ready["hosts"]["programs"].as_str().unwrap_or_default()).join(name)
    }

    /// The certificate of the authority that signed the engine's.
    pub(crate) fn authority(&self) -> anyhow::Result<String> {
        Ok(std::fs::read_to_string(self.ready["ca_file"].as_str().unwrap_or_default())?)
    }

    /// Hosts that are on.
    pub(crate) async fn hosts(&self) -> anyhow::Result<Vec<Host>> {
        let url = format!("{}/guests", self.ready["admin_url"].as_str().unwrap_or_default());
        let answer = output(Command::new("curl").args(["--silent", "--fail", &url])).await?;
        let mut answer: Value = serde_json::from_str(&answer)?;
        Ok(serde_json::from_value(answer["guests"].take())?)
    }

    /// Does something to the power of a machine, as its administrator would.
    pub(crate) async fn act(&self, host: &Host, action: &str) -> anyhow::Result<()> {
        let text = |name: &str| self.ready[name].as_str().unwrap_or_default().to_owned();
        let login = format!("{}:{}", text("user"), text("password"));
        let url = format!("{}/vms/{}/{action}", text("url"), host.id);
        let mut command = Command::new("curl");
        command.args(["--silent", "--fail", "--cacert", &text("ca_file"), "--user", &login]);
        command.args(["--header", "Content-Type: application/json", "--header", "Accept: application/json"]);
        output(command.args(["--data", "{}", &url])).await.map(drop)
    }

    /// Ends the simulator, and looks whether anything of its hosts is left.
    pub(crate) async fn stop(mut self) -> anyhow::Result<()> {
        if let Some(pid) = self.simulator.id() {
            output(Command::new("kill").arg(pid.to_string())).await?;
        }
        tokio::time::timeout(PATIENCE, self.simulator.wait()).await.context("the simulator does not end")??;
        let left = leftovers().await?;
        ensure!(left.is_empty(), "the simulator left behind: {left:?}");
        Ok(())
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // Only where something went wrong before; its guardian takes care of the hosts.
        let _ = self.simulator.start_kill();
    }
}

impl Host {
    /// Runs a program in the host, with all that is its own.
    pub(crate) async fn run(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let pid = self.pid.with_context(|| format!("{} is not up", self.name))?.to_string();
        let mut command = Command::new("nsenter");
        command.args(["-t", &pid, "-m", "-u", "-i", "-n", "-p", "-C", "-r", "-w", "env"]);
        output(command.arg("PATH=/opt/bin:/usr/sbin:/usr/bin:/sbin:/bin").args(arguments)).await
    }

    /// Stops every process in the host where it stands, or lets all go on.
    pub(crate) fn freeze(&self, is_frozen: bool) -> anyhow::Result<()> {
        Ok(std::fs::write(self.cgroup.join("cgroup.freeze"), if is_frozen { "1" } else { "0" })?)
    }

    /// Unplugs the cable of the host, or plugs it in.
    pub(crate) async fn plug(&self, is_plugged: bool) -> anyhow::Result<()> {
        let state = if is_plugged { "up" } else { "down" };
        output(Command::new("ip").args(["link", "set", &self.cable, state])).await.map(drop)
    }

    /// Whether the host has this address.
    pub(crate) async fn has(&self, address: IpAddr) -> bool {
        let all = self.run(&["ip", "-o", "address", "show", "dev", "eth0"]).await.unwrap_or_default();
        all.split_whitespace().any(|word| word.split('/').next() == Some(&address.to_string()))
    }
}

/// Returns what has the mark of this laboratory's simulator on this machine: links, control groups, mounts, loop devices, directories and
/// processes. Other simulators with real hosts may run beside it.
async fn leftovers() -> anyhow::Result<Vec<String>> {
    let is_marked = |line: &&str| line.contains(MARK);
    let mut left = Vec::new();
    let links = output(Command::new("ip").args(["-o", "link"])).await?;
    left.extend(links.lines().filter(is_marked).map(str::to_owned));
    let mounts = std::fs::read_to_string("/proc/self/mounts")?;
    left.extend(mounts.lines().filter(is_marked).map(str::to_owned));
    let disks = output(Command::new("losetup").args(["--list", "--noheadings", "--output", "NAME,BACK-FILE"])).await?;
    left.extend(disks.lines().filter(is_marked).map(str::to_owned));
    let groups = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (path, kind) = (words.next()?, words.next()?);
        (kind == "cgroup2").then_some(path)
    });
    for root in groups {
        let names = std::fs::read_dir(root)?.flatten().map(|entry| entry.path().display().to_string());
        left.extend(names.filter(|path| is_marked(&path.as_str())));
    }
    let places = std::fs::read_dir("/run")?.flatten().map(|entry| entry.path().display().to_string());
    left.extend(places.filter(|path| is_marked(&path.as_str())));
    let processes = output(Command::new("ps").args(["-eo", "pid,args"])).await?;
    // The guardian that tears everything down may outlive the simulator for a moment; its hosts may not.
    let hosts = processes.lines().filter(is_marked).filter(|line| line.contains("systemd-nspawn"));
    left.extend(hosts.map(str::to_owned));
    Ok(left)
}

/// What a program prints; an error with all of it if it fails.
pub(crate) async fn output(command: &mut Command) -> anyhow::Result<String> {
    let shown = format!("{:?}", command.as_std());
    let output = command.stdin(Stdio::null()).output().await.with_context(|| format!("cannot run {shown}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    ensure!(output.status.success(), "{shown} failed: {}{}", text(&output.stdout), text(&output.stderr));
    Ok(text(&output.stdout))
}
