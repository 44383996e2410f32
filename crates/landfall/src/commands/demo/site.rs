//! The simulated engine of a demonstration, with everything that a user needs to work on it in a private directory.

use std::{
    ffi::OsString,
    net::{IpAddr, Ipv4Addr, TcpListener},
    path::PathBuf,
};

use anyhow::Context as _;
use clap::Parser as _;
use landfall_platform::Environment;
use landfall_platform_ovirt as ovirt;
use landfall_simulator::{
    core::Running,
    ovirt::{Engine, Options},
};
use tempfile::TempDir;

use crate::commands::sim::write_credentials;

/// Installs unchanged on a simulated engine.
const EXAMPLE: &str = include_str!("../../../../../examples/ovirt/install-config.yaml");
/// The second number of the example's network.
const EXAMPLE_NETWORK: u8 = 66;
/// Whoever listens here, on the first address of a loopback network, uses the network.
const CLAIM_PORT: u16 = 22622;
/// Ports of a cluster's virtual addresses.
const PORTS: [u16; 2] = [6443, 22623];

/// A simulated engine with its credentials and an install-config that fits.
pub(super) struct DemoSite {
    engine: Running<Engine>,
    home: TempDir,
    network: Network,
}

#[derive(clap::Parser)]
struct Flags {
    #[command(flatten)]
    options: Options,
}

impl DemoSite {
    pub(super) async fn start(time_scale: &str) -> anyhow::Result<Self> {
        let network = Network::claim().context("no loopback network is free for the machines of the cluster")?;
        let range = format!("127.{}.0.0/16", network.second);
        let flags = Flags::try_parse_from(["demo", "--time-scale", time_scale, "--guest-network", &range])?;
        let engine = landfall_simulator::ovirt::start(&flags.options).await?;
        let home = tempfile::Builder::new().prefix("landfall-demo-").tempdir()?;
        let site = Self { engine, home, network };
        let own = format!("127.{}.", site.network.second);
        let example = EXAMPLE.replace(&format!("127.{EXAMPLE_NETWORK}."), &own);
        std::fs::write(site.example(), example)?;
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
        Ipv4Addr::new(127, self.network.second, 0, 5).into()
    }

    pub(super) fn example(&self) -> String {
        self.home.path().join("example.yaml").display().to_string()
    }

    pub(super) fn credentials_file(&self) -> PathBuf {
        self.home.path().join("ovirt-config.yaml")
    }

    pub(super) fn install_directory(&self) -> PathBuf {
        self.home.path().join("demo")
    }

    pub(super) async fn stop(self) {
        self.engine.stop().await;
    }
}

/// A network in 127.0.0.0/8 that nobody uses: the example's own, if it is free.
struct Network {
    second: u8,
    /// Tells others that it is taken, from the beginning.
    _claim: TcpListener,
}

impl Network {
    fn claim() -> Option<Self> {
        (EXAMPLE_NETWORK..=u8::MAX).find_map(|second| {
            let claim = TcpListener::bind((Ipv4Addr::new(127, second, 0, 1), CLAIM_PORT)).ok()?;
            let vip = Ipv4Addr::new(127, second, 0, 5);
            let free = PORTS.iter().all(|port| TcpListener::bind((vip, *port)).is_ok());
            free.then_some(Self { second, _claim: claim })
        })
    }
}
