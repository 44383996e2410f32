//! `landfall demo`: the whole story on a simulated platform, told by the program's own commands.

mod census;
mod packet;
mod site;

use std::path::Path;

use anyhow::Context as _;
use clap::Args;
use rustix::process::{Pid, Signal, kill_process};
use tokio_util::sync::CancellationToken;

pub(crate) use self::packet::write_credentials as write_packet_credentials;
use self::site::DemoSite;
use crate::{context::Context, error::Error, printer::Printer};

/// Install a cluster on a simulated platform, look at it, and remove it again.
#[derive(Args, Debug)]
pub(crate) struct Demo {
    /// The platform
    #[arg(value_enum, value_name = "PLATFORM", default_value_t = Stage::Ovirt)]
    platform: Stage,

    /// Leave the cluster and the engine running until Ctrl-C, and say how to talk to them
    #[arg(long)]
    keep: bool,

    /// Number of masters
    #[arg(long, value_name = "N", default_value_t = 3)]
    masters: u32,

    /// Number of workers
    #[arg(long, value_name = "N", default_value_t = 2)]
    workers: u32,

    /// What the machines are: `real` ones need root and what `make tools` builds
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Hosts::Light)]
    hosts: Hosts,

    /// Simulated seconds per real second
    #[arg(long, value_name = "FACTOR", default_value = "20")]
    time_scale: String,
}

/// The platform of a demonstration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Stage {
    /// An oVirt engine
    Ovirt,
    /// An account at Packet (Equinix Metal)
    Packet,
}

/// What the machines of a demonstration are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Hosts {
    /// Simulated in this process, like the engine
    Light,
    /// Debian with systemd in a container each, with a real Kubernetes
    Real,
}

pub(crate) fn run(args: &Demo, context: &Context) -> anyhow::Result<()> {
    let cancel = context.interruptible()?.token();
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let site = DemoSite::start(args.platform, args.hosts, &args.time_scale).await?;
        let story = Story { args, printer: context.printer, site: &site, cancel: &cancel };
        let told = story.tell().await;
        if cancel.is_cancelled() {
            story.clean_up().await?;
        }
        site.stop().await;
        told
    })
}

/// One demonstration.
struct Story<'a> {
    args: &'a Demo,
    printer: Printer,
    site: &'a DemoSite,
    cancel: &'a CancellationToken,
}

impl Story<'_> {
    async fn tell(&self) -> anyhow::Result<()> {
        let (site, dir) = (self.site, self.site.install_directory());
        self.heading(&format!("{}, simulated in this process: {}", site.describe(), site.url()));
        let before = site.census().await?;
        self.printer.info(format_args!("what it holds: {before}"));

        self.heading("An install-config: the example, with as many machines as you like");
        let example = site.example();
        let masters = format!("controlPlane.replicas={}", self.args.masters);
        let workers = format!("compute[0].replicas={}", self.args.workers);
        let from = ["create", "install-config", "--from", &example, "--set", &masters, "--set", &workers];
        self.landfall(&from, &dir).await?;

        self.heading("The cluster: preflight, machines, bootstrap, nodes");
        self.landfall(&["create", "cluster"], &dir).await?;
        self.heading("Where things stand, and where the time went");
        self.landfall(&["status"], &dir).await?;
        if self.args.keep {
            return self.keep(&dir).await;
        }
        self.heading("Away with it");
        self.landfall(&["destroy", "cluster"], &dir).await?;
        self.heading("Is anything left? The platform itself is asked");
        let after = site.census().await?;
        self.printer.info(format_args!("what it holds: {after}"));
        anyhow::ensure!(after == before, "the platform does not hold what it held before");
        self.printer.info("the very same as at the beginning: nothing of the cluster is left");
        Ok(())
    }

    /// Leaves everything as it is until the user has seen enough.
    async fn keep(&self, dir: &Path) -> anyhow::Result<()> {
        self.heading("Yours until Ctrl-C. In another terminal:");
        let (vip, domain) = (self.site.api_vip(), "api.demo.example.com");
        self.printer.info(format_args!(
            "export {}={}\nexport KUBECONFIG={}\nlandfall status --dir {dir}\n\
             kubectl --server https://{vip}:6443 --tls-server-name {domain} get nodes\n\
             landfall destroy cluster --dir {dir}\n\
             the platform: {} (credentials are in the first file; faults, clock and consoles: {})",
            self.site.credentials_variable(),
            self.site.credentials_file().display(),
            dir.join("auth/kubeconfig").display(),
            self.site.url(),
            self.site.admin_url(),
            dir = dir.display(),
        ));
        self.cancel.cancelled().await;
        Ok(())
    }

    /// Everything is in this process and its directory, which go away by themselves; but a cluster that is left behind
    /// should be the user's choice.
    async fn clean_up(&self) -> anyhow::Result<()> {
        let dir = self.site.install_directory();
        if !self.args.keep && dir.join("metadata.json").exists() {
            self.printer.info("interrupted; removing what was created");
            self.run(&["destroy", "cluster"], &dir, &CancellationToken::new()).await?;
        }
        Ok(())
    }

    fn heading(&self, text: &str) {
        self.printer.heading(text);
    }

    async fn landfall(&self, arguments: &[&str], dir: &Path) -> anyhow::Result<()> {
        self.run(arguments, dir, self.cancel).await
    }

    /// Runs a command of this program as the user would. It gets a process group of its own, so that Ctrl-C reaches it
    /// once, through us.
    async fn run(&self, arguments: &[&str], dir: &Path, cancel: &CancellationToken) -> anyhow::Result<()> {
        if cancel.is_cancelled() {
            return Err(Error::Interrupted.into());
        }
        self.printer.command(&format!("landfall {} --dir {}", arguments.join(" "), dir.display()));
        let program = std::env::current_exe().context("cannot find this program")?;
        let mut child = tokio::process::Command::new(program)
            .args(arguments)
            .arg("--dir")
            .arg(dir)
            .env(self.site.credentials_variable(), self.site.credentials_file())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .context("cannot run this program")?;
        let status = tokio::select! {
            status = child.wait() => status,
            () = cancel.cancelled() => {
                if let Some(pid) = child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
                    // It may have ended by itself just now.
                    let _gone = kill_process(pid, Signal::INT);
                }
                child.wait().await
            }
        };
        let status = status.context("cannot wait for this program")?;
        if cancel.is_cancelled() {
            return Err(Error::Interrupted.into());
        }
        anyhow::ensure!(status.success(), "'landfall {}' failed: {status}", arguments.join(" "));
        Ok(())
    }
}
