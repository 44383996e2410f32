//! The simulated engine of a demonstration, with everything that a user needs to work on it in a private directory.

use std::{
    ffi::OsString,
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use clap::Parser as _;
use ipnet::Ipv4Net;
use landfall_platform::Environment;
use landfall_platform_ovirt as ovirt;
use landfall_simulator::{
    core::Running,
    ovirt::{Engine, Options},
};
use tempfile::TempDir;

use super::Hosts;
use crate::commands::sim::{moved_address, write_credentials, write_install_config};

/// The second number of the example's network.
const EXAMPLE_NETWORK: u8 = 66;
/// Whoever listens here, on the first address of a loopback network, uses the network.
const CLAIM_PORT: u16 = 22622;
/// The last number of the API's address in the example.
const API_VIP: u8 = 5;
/// Ports of a cluster's virtual addresses.
const PORTS: [u16; 2] = [6443, 22623];

/// A simulated engine with its credentials and an install-config that fits.
pub(super) struct DemoSite {
    engine: Running<Engine>,
    home: TempDir,
    network: Ipv4Net,
    _claim: Option<Claim>,
}

/// Whose DNS, DHCP and load balancer the machines use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Infrastructure {
    /// They need none.
    Landfalls,
    /// The user's own, with the files of a kit.
    Own {
        /// The name server.
        resolver: SocketAddr,
    },
}

#[derive(clap::Parser)]
struct Flags {
    #[command(flatten)]
    options: Options,
}

impl DemoSite {
    pub(super) async fn start(hosts: Hosts, time_scale: &str, infrastructure: Infrastructure) -> anyhow::Result<Self> {
        let home = tempfile::Builder::new().prefix("landfall-demo-").tempdir()?;
        let mut flags = vec!["demo".to_owned(), "--time-scale".to_owned(), time_scale.to_owned()];
        if let Infrastructure::Own { resolver } = infrastructure {
            let reservations = install_directory(&home).join("upi/dhcp/dnsmasq.conf");
            flags.push(format!("--guest-reservations={}", reservations.display()));
            flags.push(format!("--guest-resolver={resolver}"));
        }
        let claim = match hosts {
            Hosts::Light => {
                let claim = Claim::make().context("no loopback network is free for the machines of the cluster")?;
                flags.push(format!("--guest-network={}", claim.network));
                Some(claim)
            }
            Hosts::Real => {
                flags.push("--hosts=real".to_owned());
                None
            }
        };
        let Flags { options } = Flags::try_parse_from(flags)?;
        let engine = landfall_simulator::ovirt::start(&options).await?;
        let network = claim.as_ref().map_or(options.guests.real.network, |claim| claim.network);
        let site = Self { engine, home, network, _claim: claim };
        write_install_config(&options.guests, &site.engine.ready(), Path::new(&site.example()))?;
        write_credentials(&site.engine, &site.credentials_file())?;
        Ok(site)
    }

    /// The credentials, read as every command reads them.
    pub(super) fn credentials(&self) -> anyhow::Result<ovirt::Credentials> {
        let environment: Environment =
            [(OsString::from("OVIRT_CONFIG"), self.credentials_file().into_os_string())].into_iter().collect();
        Ok(ovirt::CredentialsFile::locate(&environment)?.read()?)
    }

    pub(super) fn url(&self) -> String {
        format!("{}/ovirt-engine/api", self.engine.url())
    }

    pub(super) fn admin_url(&self) -> &str {
        self.engine.admin_url()
    }

    pub(super) fn api_vip(&self) -> IpAddr {
        moved_address(self.network, API_VIP).into()
    }

    pub(super) fn example(&self) -> String {
        self.home.path().join("example.yaml").display().to_string()
    }

    pub(super) fn credentials_file(&self) -> PathBuf {
        self.home.path().join("ovirt-config.yaml")
    }

    pub(super) fn install_directory(&self) -> PathBuf {
        install_directory(&self.home)
    }

    /// Where everything of the demonstration lies.
    pub(super) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(super) async fn stop(self) {
        self.engine.stop().await;
    }
}

fn install_directory(home: &TempDir) -> PathBuf {
    home.path().join("demo")
}

/// A network in 127.0.0.0/8 that nobody uses: the example's own, if it is free.
struct Claim {
    network: Ipv4Net,
    /// Tells others that it is taken, from the beginning.
    _listener: TcpListener,
}

impl Claim {
    fn make() -> Option<Self> {
        (EXAMPLE_NETWORK..=u8::MAX).find_map(|second| {
            let network = Ipv4Net::new(Ipv4Addr::new(127, second, 0, 0), 16).ok()?;
            let listener = TcpListener::bind((moved_address(network, 1), CLAIM_PORT)).ok()?;
            let free = PORTS.iter().all(|port| TcpListener::bind((moved_address(network, API_VIP), *port)).is_ok());
            free.then_some(Self { network, _listener: listener })
        })
    }
}
