//! Elastic addresses that the user has already.

use std::net::IpAddr;

use landfall_platform::Finding;

use super::{Subject, trouble};

/// Checks that addresses that are named are those of the project.
pub(super) async fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let given = [
        ("platform.packet.apiAddress", subject.platform.api_address),
        ("platform.packet.ingressAddress", subject.platform.ingress_address),
    ];
    let (Some(project), true) = (&subject.project, given.iter().any(|(_, address)| address.is_some())) else {
        return Vec::new();
    };
    let blocks = match subject.client.blocks(project).await {
        Ok(blocks) => blocks,
        Err(error) => return vec![trouble("addresses", &error)],
    };
    let judge = |(field, address): (&'static str, Option<IpAddr>)| {
        let address = address?;
        let is_there = blocks.iter().any(|block| block.network == address && block.cidr == 32);
        Some(if is_there {
            Finding::ok("addresses", format!("{address} is reserved"))
        } else {
            let message = format!("{address} is no single address that the project has reserved");
            Finding::problem("addresses", message, "reserve it, or leave it out").blame(field)
        })
    };
    given.into_iter().filter_map(judge).collect()
}
