//! Whole installations on real hosts, judged from outside: by `kubectl`, by what is on the hosts, and by a client that calls
//! the API all the time. Nothing of Landfall is linked into this program.
//!
//! Scenarios run in order on one cluster; the first installs it and the last destroys it. What was measured is printed at
//! the end, and the program fails if a scenario did. Needs root and what `make tools` builds; see `docs/real-hosts.md`.

#![allow(clippy::disallowed_methods, reason = "a laboratory, of which nothing need survive")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program reports on its terminal")]

mod client;
mod cluster;
mod junit;
mod kubeconfig;
mod lab;
mod linearizable;
mod outage;
mod probe;
mod register;
mod scenarios;
mod waiting;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context as _;
use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};

use crate::cluster::Cluster;
use crate::junit::Case;
use crate::lab::Lab;
use crate::scenarios::{SCENARIOS, Scenario};

/// What to run, and with which programs.
#[derive(Debug, Parser)]
pub(crate) struct Arguments {
    /// The installer [default: the one beside this program]
    #[arg(long, value_name = "FILE")]
    landfall: Option<PathBuf>,

    /// The program for the hosts
    #[arg(long, value_name = "FILE")]
    node_agent: PathBuf,

    /// Where logs are kept: what was run, and the consoles of all hosts
    #[arg(long, value_name = "DIR", default_value = "target/e2e")]
    logs: PathBuf,

    /// Write the outcomes as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Which scenarios run unless names are given: the worst faults (gate), or all (full)
    #[arg(long, env = "LANDFALL_TIER", value_enum, value_name = "TIER", default_value_t = Tier::Full)]
    tier: Tier,

    /// Only scenarios whose names contain one of these, besides installing and destroying
    only: Vec<String>,
}

/// Set of scenarios.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Tier {
    Gate,
    Full,
}

impl Arguments {
    fn selects(&self, scenario: &Scenario) -> bool {
        if scenario.always {
            return true;
        }
        if self.only.is_empty() {
            return scenario.gate || self.tier == Tier::Full;
        }
        self.only.iter().any(|part| scenario.name.contains(part.as_str()))
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // Whoever stops this program wants the hosts to go, too; the laboratory sees to it when it is dropped.
    let told = tokio::select! {
        told = run(&arguments) => told,
        stopped = stopped() => stopped,
    };
    match told {
        Ok(0) => ExitCode::SUCCESS,
        Ok(failed) => {
            println!("{failed} failed; logs and consoles are in {}", arguments.logs.display());
            ExitCode::FAILURE
        }
        Err(error) => {
            println!("not run: {error:#}; logs and consoles are in {}", arguments.logs.display());
            ExitCode::FAILURE
        }
    }
}

/// Returns when this program is asked to end.
async fn stopped() -> anyhow::Result<usize> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        _ = terminate.recv() => {}
        pressed = tokio::signal::ctrl_c() => pressed?,
    }
    anyhow::bail!("stopped")
}

/// Runs the scenarios and returns how many failed.
async fn run(arguments: &Arguments) -> anyhow::Result<usize> {
    let lab = Lab::start(arguments).await?;
    let cluster = Cluster::new(&lab, "first");
    let mut cases = Vec::new();
    let mut lines = Vec::new();
    for scenario in SCENARIOS.iter().filter(|scenario| arguments.selects(scenario)) {
        println!("… {}", scenario.name);
        let began = Instant::now();
        let result = (scenario.run)(&cluster).await;
        let seconds = began.elapsed().as_secs_f64();
        let line = match &result {
            Ok(found) => format!("ok      {:<38} {seconds:>6.1} s  {found}", scenario.name),
            Err(error) => format!("FAILED  {:<38} {seconds:>6.1} s  {error:#}", scenario.name),
        };
        println!("{line}");
        lines.push(line);
        let ends = scenario.always && result.is_err();
        cases.push(Case { name: scenario.name, seconds, failure: result.err().map(|error| format!("{error:#}")) });
        if ends {
            println!("the rest needs what this should have made, and is not run");
            break;
        }
    }
    if let Some(path) = &arguments.junit {
        junit::write(path, &cases).with_context(|| format!("cannot write {}", path.display()))?;
    }
    lab.stop().await?;
    println!("\nwhat was seen:");
    for line in &lines {
        println!("{line}");
    }
    Ok(cases.iter().filter(|case| case.failure.is_some()).count())
}
