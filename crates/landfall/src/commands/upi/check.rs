//! `landfall upi check`: is everything right that the user has made, before a machine boots?

use std::{collections::BTreeMap, fmt, net::SocketAddr, path::PathBuf};

use clap::{Args, ValueEnum};
use landfall_assets::Cluster;
use landfall_platform::{Finding, Verdict};
use landfall_upi::{
    IGNITION_DIRECTORY, INVENTORY, KIT_DIRECTORY, Port,
    check::{self, OvirtView},
    records, reservations,
};
use landfall_workdir::WorkDir;
use serde::Serialize;

use super::{authority::Authority, engine, names, ports};
use crate::{
    context::Context,
    error::Error,
    printer::Report,
    stages::{KitSource, Source},
};

/// Where reservations are looked for, unless a file is named.
const RESERVATIONS: [&str; 3] = ["upi/dhcp/dnsmasq.conf", "upi/dhcp/kea-dhcp4.json", "upi/dhcp/dhcpd.conf"];

/// Flags of `upi check`.
#[derive(Args, Debug)]
pub(crate) struct Check {
    /// What to check
    #[arg(value_enum, default_value_t = What::All)]
    what: What,

    /// Resolver to ask, as an address with a port or without; may be repeated [default: those of this machine]
    #[arg(long, value_name = "ADDRESS")]
    resolver: Vec<String>,

    /// Configuration of your DHCP server, if it is not the one in upi/dhcp: ISC dhcpd's, Kea's or dnsmasq's; may be repeated,
    /// as with a server for each family
    #[arg(long, value_name = "FILE")]
    reservations: Vec<PathBuf>,
}

/// What to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Names, forth and back
    Dns,
    /// Reservations, against the machines of the engine
    Dhcp,
    /// Ports of the load balancer, and the machines behind it
    Lb,
    /// Template and machines in the engine
    Ovirt,
    /// Everything
    All,
}

/// What was found.
#[derive(Serialize)]
struct Found {
    findings: Vec<Finding>,
}

impl Report for Found {}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Finding { check, verdict, message, hint, .. } in &self.findings {
            let verdict = match verdict {
                Verdict::Ok => "ok",
                Verdict::Notice => "notice",
                Verdict::Problem => "wrong",
            };
            writeln!(f, "{check:13}  {verdict:6}  {message}")?;
            if let Some(hint) = hint {
                writeln!(f, "{:13}  {:6}  {hint}", "", "fix:")?;
            }
        }
        Ok(())
    }
}

pub(super) fn run(args: &Check, context: &Context) -> anyhow::Result<()> {
    context.interruptible()?;
    let dir = WorkDir::open(&context.globals.dir)?;
    let source = Source::read(&dir)?;
    let no_kit = || Error::NoKit { path: dir.root().to_owned() };
    let identity = dir.identity()?.filter(|_| dir.path(INVENTORY).exists()).ok_or_else(no_kit)?;
    let cluster = Cluster { config: &source.config, infra_id: &identity.infra_id };
    let kit = KitSource::read(&dir, &cluster)?;
    let check = Checker { args, context, dir: &dir, cluster, kit };
    let findings = tokio::runtime::Runtime::new()?.block_on(check.all())?;
    let problems = findings.iter().filter(|finding| finding.verdict == Verdict::Problem).count();
    context.printer.report(&Found { findings })?;
    if problems == 0 { Ok(()) } else { Err(Error::Unfit { problems }.into()) }
}

struct Checker<'a> {
    args: &'a Check,
    context: &'a Context,
    dir: &'a WorkDir,
    cluster: Cluster<'a>,
    kit: KitSource,
}

impl Checker<'_> {
    fn wants(&self, what: What) -> bool {
        [what, What::All].contains(&self.args.what)
    }

    async fn all(&self) -> anyhow::Result<Vec<Finding>> {
        let mut findings = Vec::new();
        if self.wants(What::Dns) {
            findings.extend(self.dns().await?);
        }
        if self.wants(What::Dhcp) || self.wants(What::Ovirt) {
            match engine::look(&self.context.environment, &self.kit.inventory).await {
                Ok((view, reported)) => findings.extend(self.with_engine(&view, &reported)?),
                Err(error) => findings.push(Finding::problem(
                    "ovirt",
                    format!("the engine cannot be asked: {error:#}"),
                    "check address and credentials: OVIRT_URL, OVIRT_USERNAME, OVIRT_PASSWORD, OVIRT_CAFILE, or the file \
                     that OVIRT_CONFIG names, or ~/.ovirt/ovirt-config.yaml",
                )),
            }
        }
        if self.wants(What::Lb) {
            for port in Port::all(&self.cluster, &self.kit.inventory) {
                let authority = Authority::of(&port, self.dir, &self.kit.inventory.cluster_domain);
                findings.extend(check::load_balancer(&ports::look(port, authority.as_ref()).await?));
            }
        }
        Ok(findings)
    }

    async fn dns(&self) -> anyhow::Result<Vec<Finding>> {
        let resolvers = names::resolvers(&self.args.resolver, &self.context.environment)?;
        let domain = &self.kit.inventory.cluster_domain;
        let records = records(&self.cluster, &self.kit.inventory);
        let mut findings = Vec::new();
        for resolver in resolvers {
            let view = names::look(resolver, self.port(), domain, &records).await;
            findings.extend(check::dns(domain, &records, &view));
        }
        Ok(findings)
    }

    /// The port of name servers, which is another one in laboratories.
    fn port(&self) -> u16 {
        landfall_dns::Network::of(&self.context.environment).port
    }

    fn with_engine(
        &self,
        view: &OvirtView,
        reported: &BTreeMap<String, Vec<std::net::IpAddr>>,
    ) -> anyhow::Result<Vec<Finding>> {
        let inventory = &self.kit.inventory;
        let mut findings = Vec::new();
        if self.wants(What::Dhcp) {
            for (source, text) in self.reservations()? {
                findings.extend(check::dhcp(inventory, &view.made(), &source, &reservations(&text)));
            }
            findings.extend(check::dhcp_addresses(inventory, reported));
        }
        if self.wants(What::Ovirt) {
            findings.extend(check::ovirt(inventory, view, |machine| {
                let path = format!("{KIT_DIRECTORY}/{IGNITION_DIRECTORY}/{}.ign", machine.name);
                let file = self.dir.read(&path).ok().flatten()?;
                String::from_utf8(file.contents).ok()
            }));
        }
        Ok(findings)
    }

    /// The configurations of the DHCP servers, and what to call them.
    fn reservations(&self) -> anyhow::Result<Vec<(String, String)>> {
        if !self.args.reservations.is_empty() {
            let read = |path: &PathBuf| {
                let text = std::fs::read_to_string(path).map_err(|source| Error::ReadInput {
                    path: path.clone(),
                    named_by: "--reservations",
                    source,
                })?;
                Ok((path.display().to_string(), text))
            };
            return self.args.reservations.iter().map(read).collect();
        }
        for path in RESERVATIONS {
            if let Some(file) = self.dir.read(path)? {
                return Ok(vec![(path.to_owned(), String::from_utf8_lossy(&file.contents).into_owned())]);
            }
        }
        Ok(vec![(RESERVATIONS[0].to_owned(), String::new())])
    }
}

/// An address with a port, or without: then that of name servers.
pub(super) fn resolver_address(text: &str) -> Option<SocketAddr> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    text.parse().ok().or_else(|| bare.parse().ok().map(|address| SocketAddr::new(address, 53)))
}
