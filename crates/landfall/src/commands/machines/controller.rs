//! `landfall machines controller`: keeps machines as their objects say.

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use anyhow::Context as _;
use clap::Args;
use landfall_machines::{Access, Controllers, LeaseOptions, Metrics, Options, Pace, connect};
use landfall_platform::InfraId;

use crate::{cluster::providers, context::Context};

/// Keep machines as their objects say; runs in the cluster.
#[derive(Args, Debug)]
pub(crate) struct Controller {
    /// The cluster whose machines these are
    #[arg(long, value_name = "ID", env = "LANDFALL_INFRA_ID")]
    infra_id: InfraId,

    /// The namespace of the machine objects
    #[arg(long, value_name = "NAME", env = "POD_NAMESPACE", default_value = "landfall-system")]
    namespace: String,

    /// Reach the cluster with a kubeconfig instead of as one of its pods
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// Leave sets, health checks and certificate requests to others, as OpenShift does
    #[arg(long)]
    only_machines: bool,

    /// Who this is among several controllers [default: the host's name and the process's number]
    #[arg(long, value_name = "NAME", env = "POD_NAME")]
    identity: Option<String>,

    /// The Lease that decides which of several controllers leads
    #[arg(long, value_name = "NAME", default_value = "landfall-machine-controller")]
    lease: String,

    /// Serve /healthz, /readyz and /metrics here
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<SocketAddr>,

    /// An address of the cluster's own that machines report and that is none of theirs; may be repeated
    #[arg(long = "virtual-address", value_name = "ADDRESS")]
    virtual_addresses: Vec<IpAddr>,

    /// Seconds between two listings of the fleet
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    sync_interval: u64,

    /// Operations on the platform at a time
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000))]
    operations: u16,

    /// Minutes after which a node that cannot be drained is removed all the same
    #[arg(long, value_name = "MINUTES", default_value_t = 20)]
    drain_timeout: u64,
}

pub(super) async fn run(args: &Controller, context: &Context) -> anyhow::Result<()> {
    let stop = context.interruptible()?.token();
    let access = match &args.kubeconfig {
        None => Access::InCluster,
        Some(path) => {
            let text = std::fs::read_to_string(path);
            Access::Kubeconfig(text.with_context(|| format!("cannot read {}", path.display()))?, None)
        }
    };
    let identity = args.identity.clone().unwrap_or_else(|| {
        let holder = context.holder();
        format!("{}-{}", holder.host, holder.pid)
    });
    let options = Options {
        namespace: args.namespace.clone(),
        infra_id: args.infra_id.clone(),
        controllers: if args.only_machines { Controllers::MACHINES_ONLY } else { Controllers::ALL },
        lease: Some(LeaseOptions { name: args.lease.clone(), identity, duration: Duration::from_secs(15) }),
        listen: args.listen,
        virtual_addresses: args.virtual_addresses.clone(),
        pace: Pace {
            sync: Duration::from_secs(args.sync_interval),
            operations: args.operations.into(),
            drain_timeout: Duration::from_mins(args.drain_timeout),
            ..Pace::default()
        },
    };
    let client = connect(access).await?;
    landfall_machines::run(client, providers(), options, Metrics::default(), stop).await?;
    Ok(())
}
