//! Whether there is room for what is made: quotas are otherwise found used up after a quarter of an hour.

use landfall_platform::Finding;

use super::{Subject, trouble};
use crate::{Error, client::TransitGateway};

/// What an account may have if nobody asked for more.
const VPCS: usize = 10;
const LOAD_BALANCERS: usize = 50;
const GATEWAYS: usize = 10;
const GATEWAYS_IN_REGION: usize = 5;

pub(super) async fn check(subject: &Subject<'_>) -> Vec<Finding> {
    if !subject.holds_endpoint() {
        return Vec::new();
    }
    match look(subject).await {
        Ok(findings) => findings,
        Err(error) => vec![trouble("quotas", &error)],
    }
}

async fn look(subject: &Subject<'_>) -> Result<Vec<Finding>, Error> {
    let (client, mark) = (subject.client, &subject.site.mark);
    let (vpcs, balancers, gateways) =
        futures::try_join!(client.vpcs(), client.load_balancers(), client.transit_gateways())?;
    let region = &client.place().vpc_region;
    let mut findings = Vec::new();
    let mut count = |what: &str, have: usize, more: usize, limit: usize| {
        if have + more > limit {
            let message =
                format!("there are {have} {what} and {limit} are usual, so there may be no room for {more} more");
            findings.push(Finding::notice("quotas", message, "remove some that nobody needs, or ask IBM for more"));
        }
    };
    if subject.platform.vpc_name.is_none() && !vpcs.iter().any(|vpc| vpc.name == mark.vpc()) {
        count(&format!("VPCs in {region}"), vpcs.len(), 1, VPCS);
    }
    let own = [true, false].map(|is_public| mark.load_balancer(is_public));
    if !balancers.iter().any(|balancer| own.contains(&balancer.name)) {
        count(&format!("load balancers in {region}"), balancers.len(), own.len(), LOAD_BALANCERS);
    }
    if subject.platform.tg_name.is_none() && !gateways.iter().any(|gateway| gateway.name == mark.transit_gateway()) {
        count("transit gateways", gateways.len(), 1, GATEWAYS);
        let here = |gateway: &&TransitGateway| gateway.location == *region;
        count(&format!("transit gateways in {region}"), gateways.iter().filter(here).count(), 1, GATEWAYS_IN_REGION);
    }
    Ok(findings)
}
