//! `landfall completion`.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::{cli::Cli, printer};

/// Print a completion script for a shell.
#[derive(Args, Debug)]
pub(crate) struct Completion {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &Completion) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "landfall", &mut script);
    Ok(printer::print(&String::from_utf8(script)?)?)
}
