//! Looks at everything that an installation needs before anything is made, and says all that is wrong at once.

mod given;
mod quotas;
mod systems;

use landfall_config::{EndpointHolder, InstallConfig, powervs};
use landfall_platform::{ErrorClass, Finding};

use crate::{Client, Error, Facts, Site};

/// What came of looking.
pub type Preflight = landfall_platform::Preflight<Facts>;

/// What all checks look at.
struct Subject<'a> {
    client: &'a Client,
    site: &'a Site,
    config: &'a InstallConfig,
    platform: &'a powervs::Platform,
}

impl Subject<'_> {
    /// Whether load balancers are made here.
    fn holds_endpoint(&self) -> bool {
        self.config.endpoint_holder() == EndpointHolder::Platform
    }
}

/// Looks at an account, for a cluster that may be there in part already.
pub async fn preflight(site: &Site, config: &InstallConfig) -> Preflight {
    let platform = config.platform.powervs().expect("only clusters on PowerVS are looked at here");
    let subject = Subject { client: &site.client, site, config, platform };
    // Every other check would fail for the same reason.
    if let Err(error) = site.client.account().await {
        return Preflight { findings: vec![trouble("API key", &error)], facts: None };
    }
    let group = async {
        match site.resource_group().await {
            Ok(_) => Finding::ok("resource group", "it exists"),
            Err(Error::Missing { object }) => {
                let message = format!("{object} does not exist in this account");
                Finding::problem("resource group", message, "name one that exists")
                    .blame("platform.powervs.powervsResourceGroup")
            }
            Err(error) => trouble("resource group", &error),
        }
    };
    let (group, (systems, facts), given, quotas) = futures::join!(
        Box::pin(group),
        Box::pin(systems::check(&subject)),
        Box::pin(given::check(&subject)),
        Box::pin(quotas::check(&subject))
    );
    let mut findings = vec![Finding::ok("API key", "it is accepted"), group];
    findings.extend(systems.into_iter().chain(given).chain(quotas));
    if config.ssh_key.is_some() && config.powervs_ssh_key().is_none() {
        let message = "none of the keys is an RSA key, and the platform takes no others";
        let hint = "they get to the machines with their configs all the same; only the platform's own console does not know them";
        findings.push(Finding::notice("SSH key", message, hint));
    }
    Preflight { findings, facts }
}

/// A check that could not be made.
fn trouble(check: &'static str, error: &Error) -> Finding {
    let hint = match error.class() {
        ErrorClass::Auth => "check the API key in IBMCLOUD_API_KEY or in the credentials file, and what it may do",
        ErrorClass::Throttled => "the service asks to slow down; try again in a few minutes",
        _ => "check that the service can be reached from here",
    };
    Finding::problem(check, landfall_platform::error_chain(error), hint)
}
