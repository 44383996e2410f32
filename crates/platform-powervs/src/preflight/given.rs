//! What the user has already.

use landfall_config::powervs::Image;
use landfall_platform::Finding;

use super::{Subject, trouble};
use crate::Error;

/// Checks that everything that is named exists and can be used.
pub(super) async fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let workspace = async { workspace(subject).await.unwrap_or_else(|error| vec![trouble("workspace", &error)]) };
    let network = async { network(subject).await.unwrap_or_else(|error| vec![trouble("VPC", &error)]) };
    let image = image(subject);
    let (workspace, network, image) = futures::join!(workspace, network, image);
    workspace.into_iter().chain(network).chain(image).collect()
}

async fn workspace(subject: &Subject<'_>) -> Result<Vec<Finding>, Error> {
    const FIELD: &str = "platform.powervs.serviceInstanceGUID";
    const CHECK: &str = "workspace";
    let Some(guid) = subject.platform.service_instance_guid else { return Ok(Vec::new()) };
    let Some(instance) = subject.site.workspace_instance().await? else {
        let message = format!("the workspace {guid} does not exist, or this API key may not see it");
        return Ok(vec![Finding::problem(CHECK, message, "name another one, or none").blame(FIELD)]);
    };
    if instance.state != "active" {
        let message = format!("the workspace {} is {}", instance.name, instance.state);
        return Ok(vec![Finding::problem(CHECK, message, "name another one, or none").blame(FIELD)]);
    }
    if instance.region_id != subject.client.zone() {
        let message = format!("the workspace {} is in {}", instance.name, instance.region_id);
        return Ok(vec![Finding::problem(CHECK, message, "name one in the zone of the cluster").blame(FIELD)]);
    }
    let workspace = subject.site.workspace().await?;
    let mut findings = vec![Finding::ok(CHECK, instance.name.clone())];
    let router = subject.client.edge_router(&workspace).await?.unwrap_or_default();
    if router.state != "active" && subject.holds_endpoint() {
        let message = format!(
            "the edge router of {} is {}",
            instance.name,
            if router.state.is_empty() { "missing" } else { &router.state }
        );
        findings.push(Finding::problem("edge router", message, "name a workspace that has one").blame(FIELD));
    }
    let own = subject.site.dhcp_servers(&workspace).await?;
    let all = subject.client.dhcp_servers(&workspace).await?;
    if let Some(other) = all.iter().find(|server| !own.iter().any(|one| one.id == server.id)) {
        let name = other.network_name().unwrap_or("a network without a name");
        let message =
            format!("{} has a DHCP server already, for {name}, and a workspace has room for one", instance.name);
        findings.push(Finding::problem("DHCP server", message, "remove it, or name another workspace").blame(FIELD));
    }
    if let Image::Existing(name) = &subject.platform.image {
        let images = subject.client.images(&workspace).await?;
        findings.push(match images.iter().find(|image| image.name == *name || image.id == *name) {
            Some(image) if image.state == "active" => Finding::ok("image", name.clone()),
            Some(image) => Finding::problem("image", format!("{name} is {}", image.state), "name another one")
                .blame("platform.powervs.image"),
            None => Finding::problem("image", format!("{} has no image {name}", instance.name), "name another one")
                .blame("platform.powervs.image"),
        });
    }
    Ok(findings)
}

async fn network(subject: &Subject<'_>) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    let platform = subject.platform;
    if !subject.holds_endpoint() {
        return Ok(findings);
    }
    findings.extend(vpc(subject).await?);
    if let Some(name) = &platform.tg_name {
        findings.push(match subject.client.transit_gateway(name).await? {
            Some(gateway) if gateway.status == "available" => Finding::ok("transit gateway", gateway.name),
            Some(gateway) => {
                let message = format!("{name} is {}", gateway.status);
                Finding::problem("transit gateway", message, "name another one, or none")
                    .blame("platform.powervs.tgName")
            }
            None => {
                let message = format!("there is no transit gateway {name}");
                Finding::problem("transit gateway", message, "name another one, or none")
                    .blame("platform.powervs.tgName")
            }
        });
    }
    Ok(findings)
}

async fn vpc(subject: &Subject<'_>) -> Result<Vec<Finding>, Error> {
    let Some(name) = &subject.platform.vpc_name else { return Ok(Vec::new()) };
    let Some(vpc) = subject.client.vpc(name).await? else {
        let region = &subject.client.place().vpc_region;
        let message = format!("there is no VPC {name} in {region}");
        return Ok(vec![
            Finding::problem("VPC", message, "name another one, or none").blame("platform.powervs.vpcName"),
        ]);
    };
    let mut findings = vec![Finding::ok("VPC", vpc.name)];
    let subnets = subject.client.subnets().await?;
    for name in &subject.platform.vpc_subnets {
        let found =
            subnets.iter().any(|subnet| (subnet.name == *name || subnet.id == *name) && subnet.vpc.id == vpc.id);
        if !found {
            let message = format!("the VPC has no subnet {name}");
            findings
                .push(Finding::problem("subnets", message, "name another one").blame("platform.powervs.vpcSubnets"));
        }
    }
    Ok(findings)
}

/// Whether the object that the image is made from can be had.
async fn image(subject: &Subject<'_>) -> Option<Finding> {
    const CHECK: &str = "image";
    match &subject.platform.image {
        Image::Existing(_) => None,
        Image::Regional(object) => {
            let bucket = format!("rhcos-powervs-images-{}", subject.client.place().cos_region);
            Some(match subject.client.has_public_object(&bucket, object).await {
                Some(true) => Finding::ok(CHECK, format!("{object} is in {bucket}")),
                Some(false) => {
                    Finding::problem(CHECK, format!("there is no {object} in {bucket}"), "name another object")
                        .blame("platform.powervs.image")
                }
                None => {
                    Finding::notice(CHECK, format!("{bucket} cannot be looked into from here"), "the import will show")
                }
            })
        }
        Image::Object(own) => {
            let is_private = own.access == landfall_config::powervs::BucketAccess::Private;
            (is_private && subject.site.hmac.is_none()).then(|| {
                let message = format!("there is no HMAC key for the private bucket {}", own.bucket);
                let hint =
                    "set IBMCLOUD_HMAC_ACCESS_KEY_ID and IBMCLOUD_HMAC_SECRET_ACCESS_KEY, or make the bucket public";
                Finding::problem(CHECK, message, hint)
            })
        }
    }
}
