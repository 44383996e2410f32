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
    cluster::{KUBECONFIG, providers},
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
    /// Say how many machines a set is to have
    Scale(scale::Scale),
}

/// How a cluster's machine objects are reached.
#[derive(Args, Clone, Debug)]
pub(crate) struct Reach {
    /// The kubeconfig to use [default: auth/kubeconfig in the install directory]
    #[arg(long, value_name = "FILE", env = "KUBECONFIG", hide_env_values = true)]
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
    /// The machine objects.
    async fn open(&self, context: &Context) -> anyhow::Result<Directory> {
        // Without an install directory a kubeconfig and a namespace do as well.
        let dir = WorkDir::open(&context.globals.dir).ok();
        let config = dir.as_ref().and_then(|dir| Source::read(dir).ok()).map(|source| source.config);
        if self.kubeconfig.is_none() && config.as_ref().is_some_and(|config| !config.manages_machines()) {
            return Err(Error::MachinesOfUser.into());
        }
        let access = if let Some(path) = &self.kubeconfig {
            let text = std::fs::read_to_string(path);
            Access::Kubeconfig(text.with_context(|| format!("cannot read {}", path.display()))?, None)
        } else {
            let file = dir.as_ref().map(|dir| dir.read(KUBECONFIG)).transpose()?.flatten();
            let file = file.with_context(|| format!("there is no {KUBECONFIG}; name one with --kubeconfig"))?;
            let address = config.as_ref().and_then(|config| config.api_vips().first().copied());
            Access::Kubeconfig(String::from_utf8_lossy(&file.contents).into_owned(), address)
        };
        let openshift = config.is_some_and(|config| config.distribution.is_openshift());
        let usual = if openshift { "openshift-machine-api" } else { "landfall-system" };
        Ok(Directory::new(connect(access).await?, self.namespace.as_deref().unwrap_or(usual)))
    }
}
