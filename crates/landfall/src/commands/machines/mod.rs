//! `landfall machines`: the machines of a cluster after its installation.

mod get;
mod list;
mod scale;
mod table;

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use landfall_machines::{Access, Arguments, Directory, Metrics, connect};
use landfall_workdir::WorkDir;

use crate::{
    cluster::{KUBECONFIG, api_address, providers},
    context::Context,
    error::Error,
    stages::Source,
};

/// Look after the machines of a cluster.
#[derive(Debug, Subcommand)]
pub(crate) enum Machines {
    /// Keep machines as their objects say; runs in the cluster
    Controller(Box<Arguments>),
    /// List machines and sets of machines
    List(Reach),
    /// Show one machine
    Get(get::Get),
    /// Set the number of machines of a set
    Scale(scale::Scale),
}

/// Access to the machine objects of one cluster.
#[derive(Args, Clone, Debug)]
pub(crate) struct Reach {
    /// Kubeconfig to use [default: auth/kubeconfig in the directory that --dir names, else the file that KUBECONFIG names,
    /// else auth/kubeconfig in the current directory]
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// The namespace of the machine objects [default: openshift-machine-api or landfall-system, as the install-config says]
    #[arg(long, value_name = "NAME")]
    namespace: Option<String>,
}

pub(crate) fn run(what: &Machines, context: &Context) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    match what {
        Machines::Controller(arguments) => {
            let stop = context.interruptible()?.token();
            Ok(runtime.block_on(Arguments::clone(arguments).run(providers(), Metrics::default(), stop))?)
        }
        Machines::List(reach) => runtime.block_on(list::run(reach, context)),
        Machines::Get(args) => runtime.block_on(get::run(args, context)),
        Machines::Scale(args) => runtime.block_on(scale::run(args, context)),
    }
}

impl Reach {
    /// Returns the kubeconfig that the user named. An explicit --dir takes precedence over the environment, which may name another cluster.
    fn named(&self, context: &Context) -> Option<PathBuf> {
        let of_environment = || context.environment.get("KUBECONFIG").map(PathBuf::from);
        let fallback = || if context.globals.dir_is_given { None } else { of_environment() };
        self.kubeconfig.clone().or_else(fallback)
    }

    /// Connects to the cluster.
    async fn open(&self, context: &Context) -> anyhow::Result<Directory> {
        let named = self.named(context);
        // Without an install directory a kubeconfig and a namespace do as well.
        let dir = WorkDir::open(&context.globals.dir).ok();
        let config = dir.as_ref().and_then(|dir| Source::read(dir).ok()).map(|source| source.config);
        if named.is_none() && config.as_ref().is_some_and(|config| !config.manages_machines()) {
            return Err(Error::MachinesOfUser.into());
        }
        let access = if let Some(path) = &named {
            let text = std::fs::read_to_string(path);
            Access::Kubeconfig(text.with_context(|| format!("cannot read {}", path.display()))?, None)
        } else {
            let file = dir.as_ref().map(|dir| dir.read(KUBECONFIG)).transpose()?.flatten();
            let file = file.with_context(|| {
                let path = context.globals.dir.join(KUBECONFIG);
                format!(
                    "there is no {}; name a kubeconfig with --kubeconfig, or the install directory with --dir",
                    path.display()
                )
            })?;
            let address = dir.as_ref().zip(config.as_ref()).and_then(|(dir, config)| api_address(dir, config));
            Access::Kubeconfig(String::from_utf8_lossy(&file.contents).into_owned(), address)
        };
        let openshift = config.is_some_and(|config| config.distribution.is_openshift());
        let usual = if openshift { "openshift-machine-api" } else { "landfall-system" };
        Ok(Directory::new(connect(access).await?, self.namespace.as_deref().unwrap_or(usual)))
    }
}
