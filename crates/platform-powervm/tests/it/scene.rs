//! Simulated hosts in this process, and clients of them.

use std::time::Duration;

use clap::Parser as _;
use landfall_platform_powervm::client::{Client, ConsoleUrl, JobLimits, LogicalPartitionSpec, Login};
use landfall_simulator::{core::Running, powervm};
use landfall_wire::{Limits, Trust};
use tempfile::TempDir;

/// What is so unless a test says otherwise. A minute of a job passes in a tenth of a second, and an hour in seconds, so what is found
/// would depend on the machine if config drives were taken out after one.
const USUAL: [[&str; 2]; 2] = [["--time-scale", "500"], ["--media", "keep"]];

/// How long jobs may take here, and how often they are looked at.
pub(crate) const JOBS: JobLimits = JobLimits { timeout: Duration::from_mins(1), interval: Duration::from_millis(5) };

#[derive(clap::Parser)]
struct Flags {
    #[command(flatten)]
    options: powervm::Options,
}

/// Hosts, and files of a user.
pub(crate) struct Scene {
    pub(crate) hosts: Running<powervm::NovaLink>,
    pub(crate) home: TempDir,
}

impl Scene {
    pub(crate) async fn new() -> Self {
        Self::with(&[]).await
    }

    pub(crate) async fn with(flags: &[&str]) -> Self {
        let home = TempDir::new().unwrap();
        let tokens = home.path().join("tokens");
        let usual = USUAL.iter().filter(|[flag, _]| !flags.contains(flag)).flatten().copied().collect::<Vec<_>>();
        let fixed = ["sim", "--guests", "plain", "--token-dir", tokens.to_str().unwrap()];
        let options = Flags::parse_from([&fixed[..], &usual, flags].concat()).options;
        Self { hosts: powervm::start(&options).await.unwrap(), home }
    }

    /// A client with the right password.
    pub(crate) fn client(&self) -> Client {
        self.client_as(Login::Password { user: "admin".to_owned(), password: "landfall".into() })
    }

    pub(crate) fn client_as(&self, login: Login) -> Client {
        let trust = self.hosts.ca_pem().map_or(Trust::System, |pem| Trust::Only(pem.to_owned()));
        let console = ConsoleUrl::parse(self.hosts.url()).unwrap();
        Client::new(console, &trust, Limits::default(), login).unwrap()
    }

    pub(crate) fn fault(&self, rule: &str) {
        self.hosts.add_fault(rule.parse().unwrap());
    }

    /// How often anything was asked that is not only a question.
    pub(crate) fn writes(&self) -> u64 {
        let counts = self.hosts.request_counts();
        counts.iter().filter(|(call, _)| !call.starts_with("GET ")).map(|(_, count)| count).sum()
    }

    pub(crate) fn count(&self, call: &str) -> u64 {
        self.hosts.request_counts().get(call).copied().unwrap_or_default()
    }
}

pub(crate) fn spec(name: &str) -> LogicalPartitionSpec {
    LogicalPartitionSpec {
        id: uuid::Uuid::new_v4(),
        name: name.to_owned(),
        memory_mib: 2048,
        processors: 2,
        processing_units: 0.2,
    }
}
