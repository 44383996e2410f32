//! The `landfall` program. This file is its table of contents.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests write what need not survive"))]

mod cli;
mod cluster;
mod commands;
mod context;
mod drawing;
mod error;
mod exit;
mod failure;
mod gather;
mod interrupt;
mod log;
mod pasteable;
mod printer;
mod prompter;
mod stages;
mod survey;

use std::process::ExitCode;

use crate::{
    cli::{Cli, Command, Create},
    context::Context,
    exit::ExitStatus,
    stages::Target,
};

fn main() -> ExitCode {
    // Fails only if there is one already, which is then the same.
    let _installed = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let cli = match Cli::read() {
        Ok(cli) => cli,
        Err(error) => {
            let status = if error.use_stderr() { ExitStatus::Usage } else { ExitStatus::Success };
            // A reader that is gone wants no help.
            let _unread = error.print();
            return status.into();
        }
    };
    let context = Context::new(&cli);
    let outcome = run(&cli.command, &context);
    context.finish(outcome)
}

fn run(command: &Command, context: &Context) -> anyhow::Result<()> {
    match command {
        Command::Create(Create::InstallConfig(args)) => commands::create::install_config::run(args, context),
        Command::Create(Create::Manifests(args)) => commands::create::run(Target::Manifests, args, context),
        Command::Create(Create::IgnitionConfigs(args)) => commands::create::run(Target::IgnitionConfigs, args, context),
        Command::Create(Create::Cluster(args)) => commands::create::cluster::run(args, context),
        Command::Destroy(args) => commands::destroy::run(args, context),
        Command::WaitFor(what) => commands::wait_for::run(*what, context),
        Command::Gather(args) => commands::gather::run(args, context),
        Command::Dns(args) => commands::dns::run(args, context),
        Command::Machines(what) => commands::machines::run(what, context),
        Command::Upi(args) => commands::upi::run(args, context),
        Command::Powervm(args) => commands::powervm::run(args, context),
        Command::Plan(args) => commands::plan::run(args, context),
        Command::Explain(args) => commands::explain::run(args, context),
        Command::Status(args) => commands::status::run(args, context),
        Command::Graph(args) => commands::graph::run(args, context),
        Command::Demo(args) => commands::demo::run(args, context),
        Command::Sim(sim) => commands::sim::run(sim),
        Command::Version(args) => commands::version::run(args, context),
        Command::Completion(args) => commands::completion::run(args),
        Command::Docs(args) => commands::docs::run(args, context),
    }
}
