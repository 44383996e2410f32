//! `landfall demo`: the whole story on a simulated platform, told by the program's own commands.

mod census;
mod own_services;
mod packet;
mod powervm;
mod powervs;
mod runner;
mod site;
mod upi;

use std::path::Path;

use clap::Args;
use tokio_util::sync::CancellationToken;

pub(crate) use self::packet::write_credentials as write_packet_credentials;
pub(crate) use self::powervm::{
    write_credentials as write_powervm_credentials, write_install_config as write_powervm_install_config,
};
pub(crate) use self::powervs::write_credentials as write_powervs_credentials;
use self::{
    runner::Runner,
    site::{DemoSite, Infrastructure, Stage},
    upi::UpiStory,
};
use crate::{context::Context, error::Error};

/// Install a cluster on a simulated platform, look at it, and remove it again.
#[derive(Args, Debug)]
pub(crate) struct Demo {
    /// Which story to tell
    #[arg(value_enum, value_name = "STORY", default_value_t = Tale::Ovirt)]
    tale: Tale,

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

/// Which story is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Tale {
    /// Landfall makes everything
    Ovirt,
    /// You have DNS, DHCP and a load balancer, and play the kit; needs ansible-playbook, named, haproxy and root
    OvirtUpi,
    /// Landfall makes everything, on an account at Packet (Equinix Metal)
    Packet,
    /// Landfall makes everything, on three PowerVM servers with NovaLink
    Powervm,
    /// Landfall makes everything, on an account at IBM Cloud (Power Virtual Server)
    Powervs,
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
    if args.tale == Tale::OvirtUpi {
        if args.keep || args.hosts == Hosts::Real {
            return Err(Error::Usage("--keep and --hosts are for the demonstration 'ovirt'".to_owned()).into());
        }
        own_services::require_programs()?;
    }
    let cancel = context.interruptible()?.token();
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let (stage, infrastructure) = match args.tale {
            Tale::Ovirt => (Stage::Ovirt, Infrastructure::Landfalls),
            Tale::OvirtUpi => (Stage::Ovirt, Infrastructure::Own { resolver: own_services::free_address()? }),
            Tale::Packet => (Stage::Packet, Infrastructure::Landfalls),
            Tale::Powervm => (Stage::Powervm, Infrastructure::Landfalls),
            Tale::Powervs => (Stage::Powervs, Infrastructure::Landfalls),
        };
        let site = DemoSite::start(stage, args.hosts, &args.time_scale, infrastructure).await?;
        let runner = |environment| Runner { printer: context.printer, environment, cancel: &cancel };
        let told = match infrastructure {
            Infrastructure::Landfalls => {
                let credentials = (site.credentials_variable(), site.credentials_file().into());
                let runner = runner(std::iter::once(credentials).chain(site.environment()).collect());
                let story = Story { args, runner, site: &site, cancel: &cancel };
                let told = story.tell().await;
                if cancel.is_cancelled() {
                    story.clean_up().await?;
                }
                told
            }
            // What is left after an interruption is in this process and its directory, and goes with them.
            Infrastructure::Own { resolver } => {
                let runner = runner(upi::environment(&site, resolver));
                let Demo { masters, workers, .. } = *args;
                UpiStory { runner, site: &site, masters, workers, resolver }.tell().await
            }
        };
        site.stop().await;
        told
    })
}

/// One demonstration.
struct Story<'a> {
    args: &'a Demo,
    runner: Runner<'a>,
    site: &'a DemoSite,
    cancel: &'a CancellationToken,
}

impl Story<'_> {
    async fn tell(&self) -> anyhow::Result<()> {
        let (site, dir) = (self.site, self.site.install_directory());
        self.runner.heading(&format!("{}, simulated in this process: {}", site.describe(), site.url()));
        let before = site.census().await?;
        self.runner.printer.info(format_args!("what it holds: {before}"));

        self.runner.heading("An install-config: the example, with as many machines as you like");
        let example = site.example();
        let masters = format!("controlPlane.replicas={}", self.args.masters);
        let workers = format!("compute[0].replicas={}", self.args.workers);
        let from = ["create", "install-config", "--from", &example, "--set", &masters, "--set", &workers];
        self.runner.landfall(&from, &dir).await?;

        self.runner.heading("The cluster: preflight, machines, bootstrap, nodes");
        self.runner.landfall(&["create", "cluster"], &dir).await?;
        self.runner.heading("Where things stand, and where the time went");
        self.runner.landfall(&["status"], &dir).await?;
        if self.args.keep {
            return self.keep(&dir).await;
        }
        self.runner.heading("Away with it");
        self.runner.landfall(&["destroy", "cluster"], &dir).await?;
        self.runner.heading("Is anything left? The platform itself is asked");
        let after = site.census().await?;
        self.runner.printer.info(format_args!("what it holds: {after}"));
        anyhow::ensure!(after == before, "the platform does not hold what it held before");
        self.runner.printer.info("the very same as at the beginning: nothing of the cluster is left");
        Ok(())
    }

    /// Leaves everything as it is until the user has seen enough.
    async fn keep(&self, dir: &Path) -> anyhow::Result<()> {
        self.runner.heading("Yours until Ctrl-C. In another terminal:");
        let domain = "api.demo.example.com";
        // Where the platform chooses the address, its own name server knows it.
        let kubectl = match self.site.api_vip() {
            Some(vip) => format!("kubectl --server https://{vip}:6443 --tls-server-name {domain} get nodes"),
            None => format!("landfall machines list --dir {}", dir.display()),
        };
        self.runner.printer.info(format_args!(
            "export {}={}\nexport KUBECONFIG={}\nlandfall status --dir {dir}\n\
             {kubectl}\n\
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
            self.runner.printer.info("interrupted; removing what was created");
            self.runner.landfall_until(&["destroy", "cluster"], &dir, &CancellationToken::new()).await?;
        }
        Ok(())
    }
}
