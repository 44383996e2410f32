//! `landfall upi`: for users with DNS, DHCP and load balancer of their own.

mod authority;
mod check;
mod engine;
mod names;
mod ports;

use clap::{Args, Subcommand};

use super::{create, dns};
use crate::{context::Context, stages::Target};

/// Install on infrastructure of your own.
#[derive(Debug, Subcommand)]
pub(crate) enum Upi {
    /// Make the kit: playbooks, DNS, DHCP and load balancer configurations, a config for each machine. Run it again after you
    /// edited upi/inventory.yml, and after upi/vms.yml has made the machines
    Create(Create),
    /// Check what you have made of it: DNS, DHCP, load balancer, machines. Says what is wrong and how to put it right
    Check(check::Check),
}

/// Flags of `upi create`.
#[derive(Args, Debug)]
pub(crate) struct Create {
    #[command(flatten)]
    derive: create::Derive,

    /// Also make the DNS records of the kit, where the section `dns` of the install-config says
    #[arg(long)]
    apply_dns: bool,
}

pub(crate) fn run(command: &Upi, context: &Context) -> anyhow::Result<()> {
    match command {
        Upi::Create(args) => {
            create::run(Target::Kit, &args.derive, context)?;
            if args.apply_dns { dns::apply_kit(context) } else { Ok(()) }
        }
        Upi::Check(args) => check::run(args, context),
    }
}
