//! How the controllers are run.

use std::{net::SocketAddr, time::Duration};

use landfall_machine_api::Networks;
use landfall_platform::InfraId;

/// Between two looks, at the least, where time goes by faster than it does.
const SHORTEST: Duration = Duration::from_millis(200);

/// How the controllers are run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The namespace of the machine objects.
    pub namespace: String,
    /// The cluster whose machines these are.
    pub infra_id: InfraId,
    /// Which controllers run.
    pub controllers: Controllers,
    /// How a leader is found among several; none leads without asking.
    pub lease: Option<LeaseOptions>,
    /// Where health and metrics are served.
    pub listen: Option<SocketAddr>,
    /// Address ranges of the cluster. Its virtual addresses machines report, and they are not theirs.
    pub networks: Networks,
    /// How often and how many at a time.
    pub pace: Pace,
}

/// Which controllers run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Controllers {
    /// Sets of machines. OpenShift has its own.
    pub sets: bool,
    /// Health checks. OpenShift has its own.
    pub health: bool,
    /// Certificate requests of kubelets. OpenShift has its own.
    pub approval: bool,
}

impl Controllers {
    /// What a plain Kubernetes needs.
    pub const ALL: Self = Self { sets: true, health: true, approval: true };
    /// What OpenShift lacks: the machines themselves.
    pub const MACHINES_ONLY: Self = Self { sets: false, health: false, approval: false };
}

/// How a leader is found.
#[derive(Clone, Debug)]
pub struct LeaseOptions {
    /// Name of the Lease.
    pub name: String,
    /// Who this is; different for each process.
    pub identity: String,
    /// How long after its last sign of life a leader is given up.
    pub duration: Duration,
}

/// How often and how many at a time.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Between two listings of the fleet.
    pub sync: Duration,
    /// Between two looks at something on the platform that is waited for.
    pub poll: Duration,
    /// The first pause after a failure; it doubles with each further one.
    pub retry: Duration,
    /// The longest pause after failures.
    pub longest_retry: Duration,
    /// Operations on the platform at a time.
    pub operations: usize,
    /// How long an operation on the platform may take before it is begun anew.
    pub operation_timeout: Duration,
    /// How long after it was sent a request may still have an effect on the platform, answered or not: longer than any client waits for
    /// an answer. For so long nobody concludes from an instance's absence that it will not come.
    pub in_flight: Duration,
    /// How long a node may take to be drained; after it the machine is removed all the same.
    pub drain_timeout: Duration,
    /// For how long after it was made a machine may ask for its first certificate.
    pub join_window: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            sync: Duration::from_secs(30),
            poll: Duration::from_secs(2),
            retry: Duration::from_secs(2),
            longest_retry: Duration::from_mins(5),
            operations: 20,
            operation_timeout: Duration::from_mins(45),
            in_flight: Duration::from_mins(1),
            drain_timeout: Duration::from_mins(20),
            join_window: Duration::from_hours(2),
        }
    }
}

impl Pace {
    /// The same where time goes by faster, but not so fast that looking would be all that is done.
    #[must_use]
    pub fn faster(self, speed: f64) -> Self {
        let scaled = |duration: Duration| {
            let scaled = Duration::try_from_secs_f64(duration.as_secs_f64() / speed).unwrap_or(duration);
            scaled.max(SHORTEST).min(duration)
        };
        Self {
            sync: scaled(self.sync),
            poll: scaled(self.poll),
            retry: scaled(self.retry),
            longest_retry: scaled(self.longest_retry),
            ..self
        }
    }
}
