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
    findings.extend(kube_vip(platform));
    let subject = Subject { client, config, platform, project };
    let (found, location) = servers::check(&subject, standing).await;
    findings.extend(found);
    findings.extend(addresses::check(&subject).await);
    Preflight { findings, facts: location.map(|location| Facts { location }) }
}

/// Says that the registry decides which kube-vip runs, where one runs and its image is named by a tag.
fn kube_vip(platform: &packet::Platform) -> Option<Finding> {
    let own = platform.cloud_controller_manager.as_ref();
    let is_deployed = own.is_some_and(|own| own.services == packet::ServiceLoadBalancer::KubeVip);
    let image = platform.kube_vip_image();
    let is_loose = (is_deployed || platform.endpoint == packet::Endpoint::Bgp) && !image.contains("@sha256:");
    is_loose.then(|| {
        Finding::notice(
            "kube-vip",
            format!("{image} is named by a tag, which the registry may lead elsewhere"),
            "name it by digest in platform.packet.kubeVipImage",
        )
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_that_is_named_by_a_tag_is_told_where_it_runs() {
        let example = include_str!("../../../../examples/packet/install-config.yaml");
        let platform = |change: &str| {
            let text = example.replace("  packet:\n", &format!("  packet:\n{change}"));
            let config = landfall_config::parse(text.as_bytes()).unwrap().config;
            config.platform.packet().unwrap().clone()
        };
        assert!(kube_vip(&platform("")).is_none(), "none runs");
        let loose = kube_vip(&platform("    endpoint: bgp\n")).unwrap();
        assert!(format!("{loose:?}").contains("kubeVipImage"), "{loose:?}");
        assert!(kube_vip(&platform("    cloudControllerManager: {}\n")).is_some());
        let pinned =
            format!("    endpoint: bgp\n    kubeVipImage: ghcr.io/kube-vip/kube-vip@sha256:{}\n", "0".repeat(64));
        assert!(kube_vip(&platform(&pinned)).is_none());
    }
}
