//! The command line of the controllers, which more than one program has.

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use clap::{Args, Parser};
use ipnet::IpNet;
use landfall_machine_api::Networks;
use landfall_platform::{InfraId, MachineProvider};
use tokio_util::sync::CancellationToken;

use crate::{Access, Controllers, Error, LeaseOptions, Metrics, Options, Pace, connect, run};

/// Keep machines as their objects say; runs in the cluster.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// The cluster whose machines these are
    #[arg(long, value_name = "ID", env = "LANDFALL_INFRA_ID", hide_env_values = true)]
    pub infra_id: InfraId,

    /// The namespace of the machine objects
    #[arg(long, value_name = "NAME", env = "POD_NAMESPACE", hide_env_values = true, default_value = "landfall-system")]
    pub namespace: String,

    /// Reach the cluster with a kubeconfig instead of as one of its pods
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// Leave sets, health checks and certificate requests to others, as OpenShift does
    #[arg(long)]
    pub only_machines: bool,

    /// Who this is among several controllers [default: a name that is made up]
    #[arg(long, value_name = "NAME", env = "POD_NAME", hide_env_values = true)]
    pub identity: Option<String>,

    /// The Lease that decides which of several controllers leads
    #[arg(long, value_name = "NAME", default_value = "landfall-machine-controller")]
    pub lease: String,

    /// Serve /healthz, /readyz and /metrics here
    #[arg(long, value_name = "HOST:PORT")]
    pub listen: Option<SocketAddr>,

    /// An address of the cluster's own that machines report and that is none of theirs; may be repeated
    #[arg(long = "virtual-address", value_name = "ADDRESS")]
    pub virtual_addresses: Vec<IpAddr>,

    /// A network that all addresses of machines are in, where guests report these; may be repeated
    #[arg(long = "machine-network", value_name = "CIDR")]
    pub machine_networks: Vec<IpNet>,

    /// A network of pods or services, in which no machine has an address; may be repeated
    #[arg(long = "taken-network", value_name = "CIDR")]
    pub taken_networks: Vec<IpNet>,

    /// Seconds between two listings of the fleet
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub sync_interval: u64,

    /// Operations on the platform at a time
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub operations: u16,

    /// Minutes after which a node that cannot be drained is removed all the same
    #[arg(long, value_name = "MINUTES", default_value_t = 20)]
    pub drain_timeout: u64,
}

impl Arguments {
    /// Runs the controllers until `stop`.
    pub async fn run(
        self,
        providers: Vec<Arc<dyn MachineProvider>>,
        metrics: Metrics,
        stop: CancellationToken,
    ) -> Result<(), Error> {
        let access = match &self.kubeconfig {
            None => Access::InCluster,
            Some(path) => {
                let text = std::fs::read_to_string(path)
                    .map_err(|error| Error::Access(format!("{} cannot be read: {error}", path.display())))?;
                Access::Kubeconfig(text, None)
            }
        };
        let client = connect(access).await?;
        run(client, providers, self.options(), metrics, stop).await
    }

    /// Runs the controllers as a pod of a simulated cluster, where time goes by faster. `command` is the pod's, `… machines controller …`;
    /// none if it is that of another program.
    pub fn simulated(
        command: &[String],
        pod: &str,
        namespace: &str,
        speed: f64,
    ) -> Option<Result<Options, clap::Error>> {
        #[derive(Parser)]
        struct Line {
            #[command(flatten)]
            arguments: Arguments,
        }
        let own = command.windows(2).position(|words| words == ["machines", "controller"])?;
        // What the environment of a pod says, the one of this process does not.
        let said = [format!("--namespace={namespace}"), format!("--identity={pod}")];
        let words = command[own + 1..].iter().chain(&said);
        Some(Line::try_parse_from(words).map(|line| {
            let options = line.arguments.options();
            Options { pace: options.pace.faster(speed), ..options }
        }))
    }

    fn options(self) -> Options {
        let identity = self.identity.unwrap_or_else(|| format!("controller-{:016x}", rand::random::<u64>()));
        Options {
            namespace: self.namespace,
            infra_id: self.infra_id,
            controllers: if self.only_machines { Controllers::MACHINES_ONLY } else { Controllers::ALL },
            lease: Some(LeaseOptions { name: self.lease, identity, duration: Duration::from_secs(15) }),
            listen: self.listen,
            networks: Networks {
                machine: self.machine_networks,
                taken: self.taken_networks,
                virtual_addresses: self.virtual_addresses,
            },
            pace: Pace {
                sync: Duration::from_secs(self.sync_interval),
                operations: self.operations.into(),
                drain_timeout: Duration::from_mins(self.drain_timeout),
                ..Pace::default()
            },
        }
    }
}
