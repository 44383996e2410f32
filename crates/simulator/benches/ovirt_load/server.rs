//! The simulator under load, in a process of its own.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use clap::Parser;
use landfall_simulator::ovirt;
use serde_json::Value;

use super::measure::Error;

/// The first argument of the process that serves.
pub(crate) const SERVE: &str = "serve";

/// VMs that carry the tag; the rest of the world does not concern the installer.
pub(crate) const TAGGED: u32 = 10;

#[derive(Debug, Parser)]
struct Arguments {
    #[command(flatten)]
    options: ovirt::Options,
}

/// Serves until standard input closes, which it does at the latest when the parent ends.
pub(crate) async fn serve(arguments: &[String]) -> Result<(), Error> {
    let arguments = Arguments::try_parse_from([SERVE.to_owned()].iter().chain(arguments))?;
    let running = ovirt::start(&arguments.options).await?;
    running.announce(&mut std::io::stdout())?;
    tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink())).await??;
    running.stop().await;
    Ok(())
}

/// A simulator process; it ends with this value.
pub(crate) struct Server {
    child: Child,
    _stdout: BufReader<ChildStdout>,
    _directory: tempfile::TempDir,
    pub(crate) ready: Value,
    pub(crate) started_in: Duration,
}

impl Server {
    /// Starts a simulator with so many VMs, on a stepped clock.
    pub(crate) fn start(vms: u32) -> Result<Self, Error> {
        let directory = tempfile::tempdir()?;
        let inventory = directory.path().join("inventory.yaml");
        std::fs::write(&inventory, world(vms)?)?;
        let began = Instant::now();
        let mut child = Command::new(std::env::current_exe()?)
            .args([SERVE, "--clock", "stepped", "--guests", "plain", "--inventory"])
            .arg(&inventory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut stdout = BufReader::new(child.stdout.take().ok_or("the simulator has no standard output")?);
        let mut line = String::new();
        stdout.read_line(&mut line)?;
        let ready = serde_json::from_str(&line)?;
        Ok(Self { child, _stdout: stdout, _directory: directory, ready, started_in: began.elapsed() })
    }

    /// A field of the line that the simulator printed when it was ready.
    pub(crate) fn field(&self, name: &str) -> Result<&str, Error> {
        self.ready[name].as_str().ok_or_else(|| format!("the ready line has no {name}: {}", self.ready).into())
    }

    pub(crate) fn resident_mib(&self) -> Result<f64, Error> {
        self.memory_mib("VmRSS:")
    }

    pub(crate) fn peak_mib(&self) -> Result<f64, Error> {
        self.memory_mib("VmHWM:")
    }

    fn memory_mib(&self, field: &str) -> Result<f64, Error> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(field)).ok_or("no such field in /proc")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The default world with more room, a cluster's worth of tagged VMs, and VMs of others around them.
fn world(vms: u32) -> Result<String, Error> {
    let roomy = ovirt::DEFAULT_INVENTORY.replace("size_gib: 10240", "size_gib: 10240000");
    let roomy =
        roomy.replace("address: host1.example.com", "address: host1.example.com\n            memory_gib: 1000000");
    let mut world = roomy;
    writeln!(world, "tags:\n  - name: ours\nvms:")?;
    let tagged = TAGGED.min(vms);
    writeln!(
        world,
        "  - {{name: ours, cluster: Default, template: fcos, tags: [ours], count: {tagged}, running: true}}"
    )?;
    let (running, stopped) = ((vms - tagged) / 2, (vms - tagged).div_ceil(2));
    for (name, count, running) in [("running", running, true), ("stopped", stopped, false)] {
        if count > 0 {
            writeln!(
                world,
                "  - {{name: {name}, cluster: Default, template: fcos, count: {count}, running: {running}}}"
            )?;
        }
    }
    Ok(world)
}
