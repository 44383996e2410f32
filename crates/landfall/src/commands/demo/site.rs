//! The simulated engine of a demonstration, with everything that a user needs to work on it in a private directory.

use std::{
    ffi::OsString,
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
};

use clap::Parser as _;
use landfall_platform::Environment;
use landfall_platform_ovirt as ovirt;
use landfall_simulator::{
    core::Running,
    guests::{self, Kind, NetworkClaim},
    ovirt::{Engine, Options},
    packet::{Metal, Options as PacketOptions},
    powervm::{NovaLink, Options as PowervmOptions},
    powervs::{Cloud, Options as PowervsOptions},
};
use tempfile::TempDir;

use super::{
    Hosts,
    census::Census,
    packet::{self, Asker},
    powervm, powervs,
};
use crate::commands::sim::{claim, moved_address, programs, write_credentials, write_install_config};

/// The last number of the API's address in the example.
const API_VIP: u8 = 5;
/// The install-config that fits, and what leads to the platform.
const EXAMPLE: &str = "example.yaml";
const CREDENTIALS: &str = "credentials.yaml";
/// Where servers put the tokens of local users.
const TOKENS: &str = "tokens";

/// A simulated engine with its credentials and an install-config that fits.
pub(super) struct DemoSite {
    platform: Platform,
    home: TempDir,
    /// The address of the API, if it is known from the beginning.
    api: Option<IpAddr>,
    _claim: Option<NetworkClaim>,
}

/// What is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// An oVirt engine.
    Ovirt,
    /// An account at Packet.
    Packet,
    /// PowerVM servers.
    Powervm,
    /// An account at IBM Cloud.
    Powervs,
}

/// What is simulated, once it runs.
enum Platform {
    Ovirt(Running<Engine>),
    Packet(Running<Metal>),
    Powervm(Running<NovaLink>),
    Powervs(Running<Cloud>),
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

#[derive(clap::Parser)]
struct PacketFlags {
    #[command(flatten)]
    options: PacketOptions,
}

#[derive(clap::Parser)]
struct PowervmFlags {
    #[command(flatten)]
    options: PowervmOptions,
}

#[derive(clap::Parser)]
struct PowervsFlags {
    #[command(flatten)]
    options: PowervsOptions,
}

impl DemoSite {
    pub(super) async fn start(
        stage: Stage,
        hosts: Hosts,
        time_scale: &str,
        infrastructure: Infrastructure,
    ) -> anyhow::Result<Self> {
        let home = tempfile::Builder::new().prefix("landfall-demo-").tempdir()?;
        let mut flags = vec!["demo".to_owned(), "--time-scale".to_owned(), time_scale.to_owned()];
        if let Infrastructure::Own { resolver } = infrastructure {
            let reservations = install_directory(&home).join("upi/dhcp/dnsmasq.conf");
            flags.push(format!("--guest-reservations={}", reservations.display()));
            flags.push(format!("--guest-resolver={resolver}"));
        }
        if hosts == Hosts::Real {
            flags.push("--hosts=real".to_owned());
        }
        let (example, credentials) = (home.path().join(EXAMPLE), home.path().join(CREDENTIALS));
        let (platform, api, claim) = match stage {
            Stage::Ovirt => {
                let Flags { mut options } = Flags::try_parse_from(flags)?;
                options.guests.programs = programs();
                let claim = claim(&mut options.guests, None)?;
                let engine = landfall_simulator::ovirt::start(&options).await?;
                let network = network(&options.guests);
                write_install_config(&options.guests, &engine.ready(), &example)?;
                write_credentials(&engine, &credentials)?;
                (Platform::Ovirt(engine), Some(moved_address(network, API_VIP).into()), claim)
            }
            Stage::Packet => {
                let PacketFlags { mut options } = PacketFlags::try_parse_from(flags)?;
                options.guests.programs = programs();
                let claim = claim(&mut options.guests, None)?;
                let account = landfall_simulator::packet::start(&options).await?;
                packet::write_credentials(&account, &credentials)?;
                let api = packet::prepare(&account, &example).await?;
                (Platform::Packet(account), Some(api), claim)
            }
            Stage::Powervm => {
                let PowervmFlags { mut options } = PowervmFlags::try_parse_from(flags)?;
                options.guests.programs = programs();
                let claim = claim(&mut options.guests, None)?;
                options.token_dir = Some(home.path().join(TOKENS));
                let servers = landfall_simulator::powervm::start(&options).await?;
                let network = network(&options.guests);
                powervm::write_credentials(&servers, &credentials)?;
                powervm::write_install_config(&servers, network, &example)?;
                (Platform::Powervm(servers), Some(moved_address(network, API_VIP).into()), claim)
            }
            Stage::Powervs => {
                let PowervsFlags { mut options } = PowervsFlags::try_parse_from(flags)?;
                let claim = claim(&mut options.guests, None)?;
                let account = landfall_simulator::powervs::start(&options).await?;
                powervs::write_credentials(&account, &credentials)?;
                powervs::prepare(&example)?;
                (Platform::Powervs(account), None, claim)
            }
        };
        Ok(Self { platform, home, api, _claim: claim })
    }

    /// What the platform holds, as it says itself.
    pub(super) async fn census(&self) -> anyhow::Result<Census> {
        match &self.platform {
            Platform::Ovirt(_) => Census::take(&self.credentials()?).await,
            Platform::Packet(account) => Census::of_account(&Asker::new(account)?).await,
            Platform::Powervm(servers) => Census::of_servers(&powervm::Asker::new(servers).await?).await,
            Platform::Powervs(account) => Census::of_cloud(&powervs::Asker::new(account)?).await,
        }
    }

    /// What is simulated, for people.
    pub(super) fn describe(&self) -> &'static str {
        match &self.platform {
            Platform::Ovirt(_) => "An oVirt engine",
            Platform::Packet(_) => "An account at Packet",
            Platform::Powervm(_) => "PowerVM servers",
            Platform::Powervs(_) => "An account at IBM Cloud",
        }
    }

    /// The environment variable that names the file with the credentials.
    pub(super) fn credentials_variable(&self) -> &'static str {
        match &self.platform {
            Platform::Ovirt(_) => "OVIRT_CONFIG",
            Platform::Packet(_) => "PACKET_CONFIG",
            Platform::Powervm(_) => "POWERVM_CONFIG",
            Platform::Powervs(_) => "POWERVS_AUTH_FILEPATH",
        }
    }

    /// Further environment variables of commands.
    pub(super) fn environment(&self) -> Vec<(&'static str, OsString)> {
        match &self.platform {
            Platform::Ovirt(_) | Platform::Packet(_) | Platform::Powervm(_) => Vec::new(),
            Platform::Powervs(account) => powervs::environment(account),
        }
    }

    /// The credentials, read as every command reads them.
    pub(super) fn credentials(&self) -> anyhow::Result<ovirt::Credentials> {
        let environment: Environment =
            [(OsString::from("OVIRT_CONFIG"), self.credentials_file().into_os_string())].into_iter().collect();
        Ok(ovirt::CredentialsFile::locate(&environment)?.read()?)
    }

    pub(super) fn url(&self) -> String {
        match &self.platform {
            Platform::Ovirt(engine) => format!("{}/ovirt-engine/api", engine.url()),
            Platform::Packet(account) => format!("{}/metal/v1", account.url()),
            Platform::Powervm(servers) => servers.url().to_owned(),
            Platform::Powervs(account) => account.url().to_owned(),
        }
    }

    pub(super) fn admin_url(&self) -> &str {
        match &self.platform {
            Platform::Ovirt(engine) => engine.admin_url(),
            Platform::Packet(account) => account.admin_url(),
            Platform::Powervm(servers) => servers.admin_url(),
            Platform::Powervs(account) => account.admin_url(),
        }
    }

    pub(super) fn api_vip(&self) -> Option<IpAddr> {
        self.api
    }

    pub(super) fn example(&self) -> String {
        self.home.path().join(EXAMPLE).display().to_string()
    }

    pub(super) fn credentials_file(&self) -> PathBuf {
        self.home.path().join(CREDENTIALS)
    }

    pub(super) fn install_directory(&self) -> PathBuf {
        install_directory(&self.home)
    }

    /// Where everything of the demonstration lies.
    pub(super) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(super) async fn stop(self) {
        match self.platform {
            Platform::Ovirt(engine) => engine.stop().await,
            Platform::Packet(account) => account.stop().await,
            Platform::Powervm(servers) => servers.stop().await,
            Platform::Powervs(account) => account.stop().await,
        }
    }
}

fn install_directory(home: &TempDir) -> PathBuf {
    home.path().join("demo")
}

/// Returns the network of the machines.
fn network(options: &guests::Options) -> ipnet::Ipv4Net {
    match options.kind {
        Kind::Light | Kind::Plain => options.network(),
        Kind::Real => options.real.network,
    }
}
