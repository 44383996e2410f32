//! The place where the hosts of a simulator are: a bridge, a control group and a directory, and the guardian of all three.

use std::fs::File;
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ipnet::Ipv4Net;

use super::cgroup::Cgroup;
use super::disk::Disk;
use super::error::RealError;
use super::operating_system::{self, write_file};
use super::options::RealOptions;
use super::prerequisites;
use crate::core::guest::{GuestMachine, GuestNic};

/// How long the guardian of a simulator that has just ended may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// The place of the hosts. Dropping it ends them all and takes everything away.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) network: Ipv4Net,
    pub(super) tools: PathBuf,
    bridge: String,
    cgroup: Cgroup,
    directory: PathBuf,
    consoles: PathBuf,
    guardian: Child,
}

/// A cable into a host.
#[derive(Clone, Debug)]
pub(super) struct Cable {
    /// Its outer end, which names the host in everything that is made for it.
    pub(super) name: String,
    pub(super) mac: String,
    pub(super) address: Ipv4Addr,
}

impl Cable {
    pub(super) fn new(nic: &GuestNic, address: Ipv4Addr) -> Self {
        Self { name: format!("lv-{:08x}", u32::from(address)), mac: nic.mac.clone(), address }
    }
}

impl Site {
    /// Makes the place, after taking away what an earlier simulator on the same network may have left.
    pub(super) fn open(options: &RealOptions) -> Result<Self, RealError> {
        let tools = options.tools();
        let cgroups = prerequisites::check(&tools)?;
        let network = options.network;
        let bridge = format!("lf-{:08x}", u32::from(network.network()));
        let cgroup = cgroups.child(&format!("landfall-{bridge}"));
        // Beside the tools, because hosts share the files of images by hard links.
        let hosts = tools.parent().unwrap_or(&tools).join("hosts");
        let directory = hosts.join(&bridge);
        fs_err::create_dir_all(&hosts).map_err(RealError::file(&hosts))?;
        let lock = claim(&hosts.join(format!("{bridge}.lock")), network)?;

        // Outside of the directory that it removes: of this, too, nothing is left.
        let mark = [bridge.as_str().into(), cgroup.path().as_os_str().to_owned(), directory.clone().into_os_string()];
        let tear_down = || {
            let mut command = Command::new("bash");
            command.arg("-c").arg(include_str!("tear-down")).arg("tear-down");
            command
        };
        run(tear_down().args(&mark))?;
        let guardian = tear_down()
            .arg("--when-closed")
            .args(&mark)
            .stdin(Stdio::piped())
            // The lock belongs to whoever has the file open: the next simulator waits until the guardian is done.
            .stdout(lock)
            .process_group(0)
            .spawn()
            .map_err(|source| RealError::Run { program: "bash".to_owned(), source })?;

        let consoles = options.consoles.clone().unwrap_or_else(|| directory.join("consoles"));
        let site = Self { network, tools, bridge, cgroup, directory, consoles, guardian };
        site.furnish()?;
        Ok(site)
    }

    fn furnish(&self) -> Result<(), RealError> {
        // Configs have secrets in them, and Ignition prints configs.
        for private in [&self.directory, &self.consoles] {
            fs_err::create_dir_all(private).map_err(RealError::file(private))?;
            fs_err::set_permissions(private, std::fs::Permissions::from_mode(0o700))
                .map_err(RealError::file(private))?;
        }
        operating_system::write(&self.layer())?;
        write_file(&self.directory.join("switch-on"), include_str!("switch-on"), 0o755)?;
        write_file(&self.directory.join("setfiles"), include_str!("setfiles"), 0o755)?;
        self.cgroup.create().map_err(RealError::file(self.cgroup.path()))?;
        let address = format!("{}/{}", self.gateway(), self.network.prefix_len());
        run(Command::new("ip").args(["link", "add", &self.bridge, "type", "bridge"]))?;
        run(Command::new("ip").args(["address", "add", &address, "dev", &self.bridge]))?;
        run(Command::new("ip").args(["link", "set", &self.bridge, "up"]))
    }

    /// The simulator's own address on the bridge.
    pub(super) fn gateway(&self) -> Ipv4Addr {
        Ipv4Addr::from(u32::from(self.network.network()) + 1)
    }

    /// The control group of a host.
    pub(super) fn cgroup(&self, cable: &Cable) -> Cgroup {
        self.cgroup.child(&cable.name)
    }

    /// The disk with this id.
    pub(super) fn disk(&self, id: &str) -> Disk {
        Disk::new(self.directory.join("disks").join(id))
    }

    /// The file with everything that a machine printed.
    pub(super) fn console(&self, machine: &str) -> PathBuf {
        self.consoles.join(format!("{machine}.log"))
    }

    /// Starts the process that becomes the host.
    pub(super) fn switch_on(
        &self,
        machine: &GuestMachine,
        disk: &Disk,
        cable: &Cable,
        console: File,
    ) -> Result<tokio::process::Child, RealError> {
        let disk = disk.directory();
        fs_err::create_dir_all(disk).map_err(RealError::file(disk))?;
        let user_data = match &machine.user_data {
            Some(data) if !data.content.trim().is_empty() => {
                let path = disk.join("user-data");
                write_file(&path, &data.content, 0o600)?;
                path
            }
            _ => PathBuf::new(),
        };
        let again = |source| RealError::File { path: self.console(&machine.id), source };
        let errors = console.try_clone().map_err(again)?;
        tokio::process::Command::new("unshare")
            .args(["--mount", "--net", "--propagation", "slave"])
            .arg(self.directory.join("switch-on"))
            .env("CGROUP", self.cgroup(cable).path())
            .env("OUTSIDE", std::process::id().to_string())
            .env("BRIDGE", &self.bridge)
            .env("CABLE", &cable.name)
            .env("MAC", &cable.mac)
            .env("ADDRESS", cable.address.to_string())
            .env("PREFIX", self.network.prefix_len().to_string())
            .env("GATEWAY", self.gateway().to_string())
            .env("LAYERS", format!("{}:{}", self.layer().display(), self.tools.join("root").display()))
            .env("IMAGES", self.tools.join("containerd"))
            .env("DISK", disk)
            .env("ROOT", self.root().join(&cable.name))
            .env("USER_DATA", user_data)
            .env("NAME", machine.hostname.as_deref().unwrap_or_default())
            .stdin(Stdio::null())
            .stdout(console)
            .stderr(errors)
            // What interrupts the simulator at a terminal is not meant for its hosts.
            .process_group(0)
            .spawn()
            .map_err(|source| RealError::Run { program: "unshare".to_owned(), source })
    }

    fn layer(&self) -> PathBuf {
        self.directory.join("os")
    }

    /// Where hosts mount their roots, each in a namespace of its own.
    fn root(&self) -> PathBuf {
        Path::new("/run").join(&self.bridge)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // Its standard input closes, and it begins; whoever started the simulator should find nothing when it has ended.
        drop(self.guardian.stdin.take());
        let _ = self.guardian.wait();
    }
}

/// Takes the network for this simulator.
#[expect(clippy::disallowed_methods, reason = "a lock, of which the contents say nothing")]
fn claim(path: &Path, network: Ipv4Net) -> Result<File, RealError> {
    let lock = File::create(path).map_err(RealError::file(path))?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(std::fs::TryLockError::Error(source)) => return Err(RealError::file(path)(source)),
            Err(std::fs::TryLockError::WouldBlock) if Instant::now() > deadline => {
                return Err(RealError::Taken(network));
            }
            // The guardian of a simulator that was stopped a moment ago is still at work.
            Err(std::fs::TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(100)),
        }
    }
}

fn run(command: &mut Command) -> Result<(), RealError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|source| RealError::Run { program: program.clone(), source })?;
    if output.status.success() {
        return Ok(());
    }
    let arguments: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy().into_owned()).collect();
    Err(RealError::Failed {
        command: format!("{program} {}", arguments.join(" ")),
        message: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
    })
}
