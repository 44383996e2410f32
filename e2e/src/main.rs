//! Whole installations on real hosts, judged from outside: by `kubectl`, by what is on the hosts, and by a client that calls
//! the API all the time. Nothing of Landfall is linked into this program.
//!
//! Scenarios run in order on one cluster; the first installs it and the last destroys it. What was measured is printed at
//! the end, and the program fails if a scenario did. Needs root and what `make tools` builds; see `docs/real-hosts.md`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program reports on its terminal")]

mod client;
mod cluster;
mod kubeconfig;
mod lab;
mod probe;
mod scenarios;
mod waiting;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};

use crate::cluster::Cluster;
use crate::lab::Lab;
use crate::scenarios::SCENARIOS;

/// What to run, and with which programs.
#[derive(Debug, Parser)]
pub(crate) struct Arguments {
    /// The installer [default: the one beside this program]
    #[arg(long, value_name = "FILE")]
    landfall: Option<PathBuf>,

    /// The static program for the hosts
    #[arg(long, value_name = "FILE")]
    node_agent: PathBuf,

    /// Where logs are kept: what was run, and the consoles of all hosts
    #[arg(long, value_name = "DIR", default_value = "target/e2e")]
    logs: PathBuf,

    /// Only scenarios whose names contain one of these, besides installing and destroying
    only: Vec<String>,
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
    let mut report = Vec::new();
    for scenario in SCENARIOS {
        let wanted = scenario.always || arguments.only.is_empty();
        if !wanted && !arguments.only.iter().any(|part| scenario.name.contains(part.as_str())) {
            continue;
        }
        println!("… {}", scenario.name);
        let began = Instant::now();
        let result = (scenario.run)(&cluster).await;
        let line = match &result {
            Ok(found) => format!("ok      {:<38} {:>6.1} s  {found}", scenario.name, began.elapsed().as_secs_f64()),
            Err(error) => format!("FAILED  {:<38} {:>6.1} s  {error:#}", scenario.name, began.elapsed().as_secs_f64()),
        };
        println!("{line}");
        let ends = scenario.always && result.is_err();
        report.push((result.is_ok(), line));
        if ends {
            println!("the rest needs what this should have made, and is not run");
            break;
        }
    }
    lab.stop().await?;
    println!("\nwhat was seen:");
    for (_, line) in &report {
        println!("{line}");
    }
    Ok(report.iter().filter(|(ok, _)| !ok).count())
}
