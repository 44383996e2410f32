//! Looks at everything that an installation needs before anything is made, and says all that is wrong at once.

mod addresses;
mod servers;

use landfall_config::{InstallConfig, packet};
use landfall_platform::{ErrorClass, Finding};

use crate::{Client, Error, Facts, Site, client::Rights};

/// What came of looking.
pub type Preflight = landfall_platform::Preflight<Facts>;

/// What all checks look at.
struct Subject<'a> {
    client: &'a Client,
    config: &'a InstallConfig,
    platform: &'a packet::Platform,
    /// The project, if it exists already.
    project: Option<String>,
}

/// Looks at an account, for a cluster that may be there in part already.
pub async fn preflight(site: &Site, config: &InstallConfig) -> Preflight {
    let client = site.client.as_ref();
    let platform = config.platform.packet().expect("only clusters on Packet are looked at here");
    let mut findings = Vec::new();
    let project = match project(client, platform).await {
        Ok((project, finding)) => {
            findings.push(finding);
            project
        }
        Err(finding) => return Preflight { findings: vec![finding], facts: None },
    };
    if let Some(finding) = rights(client, project.as_deref()).await {
        // Nothing could be made, whatever else there is.
        findings.push(finding);
        return Preflight { findings, facts: None };
    }
    let standing = match site.standing(&platform.locations()).await {
        Ok(standing) => standing,
        Err(error) => {
            findings.push(trouble("what is there already", &error));
            return Preflight { findings, facts: None };
        }
    };
    let subject = Subject { client, config, platform, project };
    let (found, location) = servers::check(&subject, standing).await;
    findings.extend(found);
    findings.extend(addresses::check(&subject).await);
    Preflight { findings, facts: location.map(|location| Facts { location }) }
}

async fn project(client: &Client, platform: &packet::Platform) -> Result<(Option<String>, Finding), Finding> {
    const FIELD: &str = "platform.packet.project";
    let Some(id) = platform.project.map(|id| id.to_string()) else {
        return match client.organizations().await {
            Ok(_) => Ok((None, Finding::ok("project", "one is made for the cluster"))),
            Err(error) => Err(trouble("API key", &error)),
        };
    };
    match client.project(&id).await {
        Ok(Some(project)) => Ok((Some(id), Finding::ok("project", project.name))),
        Ok(None) => Err(Finding::problem(
            "project",
            format!("the project {id} does not exist, or this API key may not see it"),
            "name another one, or use a key of its organisation",
        )
        .blame(FIELD)),
        Err(error) => Err(trouble("API key", &error)),
    }
}

/// What is wrong with the key, if something is. A key that the API does not tell about may be all right.
async fn rights(client: &Client, project: Option<&str>) -> Option<Finding> {
    match client.rights(project).await {
        Ok(Rights::Write | Rights::Unknown) => None,
        Ok(Rights::ReadOnly) => Some(Finding::problem(
            "API key",
            "the API key may only read",
            "put one that may also write into METAL_AUTH_TOKEN or into the credentials file",
        )),
        Err(error) => Some(trouble("API key", &error)),
    }
}

/// A check that could not be made.
fn trouble(check: &'static str, error: &Error) -> Finding {
    let hint = match error.class() {
        ErrorClass::Auth => "check the API key in METAL_AUTH_TOKEN or in the credentials file, and what it may do",
        ErrorClass::Throttled => "the API asks to slow down; try again in a few minutes",
        _ => "check that the API can be reached from here",
    };
    Finding::problem(check, landfall_platform::error_chain(error), hint)
}
