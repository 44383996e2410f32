//! `landfall-node`, the program on the machines of a cluster. This file is its table of contents.

mod cli;
mod commands;
mod stop;

use std::process::ExitCode;

use clap::Parser as _;
use landfall_platform::error_chain;

use crate::cli::{Cli, Command};

fn main() -> ExitCode {
    // Fails only if there is one already, which is then the same.
    let _installed = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let cli = Cli::parse();
    tracing_subscriber::fmt()
        .with_env_filter(cli.log_filter())
        // The journal has the time already, and no colours.
        .without_time()
        .with_ansi(false)
        .with_writer(std::io::stderr)
        .init();
    if !cli.command.outlives_panics() {
        abort_on_panic();
    }
    match run(&cli.command) {
        Ok(code) => code,
        Err(error) => {
            tracing::error!("{}", error_chain(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}

/// Ends the process at a panic, so that systemd starts it again: a service that has lost one of its tasks would serve by halves.
fn abort_on_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        std::process::abort();
    }));
}

#[tokio::main]
async fn run(command: &Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::BootScript => commands::boot_script::run().await?,
        Command::Bootstrap => commands::bootstrap::run().await?,
        Command::Certificates => commands::certificates::run().await?,
        Command::ConfigServer => commands::config_server::run().await?,
        Command::Dns { mdns } => commands::dns::run(*mdns).await?,
        Command::Doctor { output } => {
            let well = commands::doctor::run(*output).await?;
            return Ok(if well { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        Command::Etcd => commands::etcd::run().await?,
        Command::Join => commands::join::run().await?,
        Command::LoadBalancer => commands::load_balancer::run().await?,
        #[cfg(feature = "controller")]
        Command::Machines(what) => commands::machines::run(what).await?,
        Command::Network => commands::network::run().await?,
        Command::Vip => commands::vip::run().await?,
    }
    Ok(ExitCode::SUCCESS)
}
