//! Whether there are servers, and where.

use std::collections::BTreeSet;

use landfall_config::{PacketPool, packet::Location};
use landfall_platform::Finding;

use super::{Subject, trouble};
use crate::{Error, client::Capacity, plan::leads_addresses};

/// Checks places, plans, servers and prices. Returns the place that has servers for the control plane.
/// What stands somewhere already stays there.
pub(super) async fn check(subject: &Subject<'_>, standing: Option<Location>) -> (Vec<Finding>, Option<Location>) {
    match look(subject, standing).await {
        Ok(found) => found,
        Err(error) => (vec![trouble("servers", &error)], None),
    }
}

async fn look(subject: &Subject<'_>, standing: Option<Location>) -> Result<(Vec<Finding>, Option<Location>), Error> {
    let mut findings = Vec::new();
    let locations = subject.platform.locations();
    let known = subject.client.places(!subject.platform.metros.is_empty()).await?;
    let known: Vec<String> = known.into_iter().map(|place| place.code).collect();
    let unknown: Vec<&str> =
        locations.iter().map(Location::code).filter(|code| !known.iter().any(|own| own == code)).collect();
    if !unknown.is_empty() {
        let message = format!("there is no place {}", unknown.join(", "));
        let field =
            if subject.platform.metros.is_empty() { "platform.packet.facilities" } else { "platform.packet.metros" };
        findings.push(Finding::problem("places", message, format!("places are {}", known.join(", "))).blame(field));
        return Ok((findings, None));
    }
    findings.extend(plans(subject).await?);
    findings.extend(reservations(subject, standing.is_some()).await?);
    if standing.is_some() {
        return Ok((findings, standing));
    }
    let control_plane = wanted(subject);
    let mut short = Vec::new();
    for location in &locations {
        if has_some(subject, location, &control_plane).await? {
            findings.push(Finding::ok("servers", format!("{} has servers for the control plane", location.code())));
            findings.extend(spot(subject, location).await?);
            return Ok((findings, Some(location.clone())));
        }
        short.push(location.code());
    }
    let plans: BTreeSet<&str> =
        control_plane.iter().flat_map(|(pool, _)| pool.plans.iter().map(String::as_str)).collect();
    let plans: Vec<&str> = plans.into_iter().collect();
    let message = format!("there are no servers for a control plane in {} ({})", short.join(", "), plans.join(", "));
    findings.push(
        Finding::problem("servers", message, "name further metros or plans, or wait").blame("platform.packet.metros"),
    );
    Ok((findings, None))
}

/// The machines that must stand together, with their numbers: the bootstrap machine, the masters, and where an address leads to
/// a worker, one of these.
fn wanted(subject: &Subject<'_>) -> Vec<(PacketPool, usize)> {
    let Subject { config, platform, .. } = subject;
    let masters = config.control_plane.replicas as usize;
    let worker = config.compute.first().filter(|pool| pool.replicas > 0 && leads_addresses(config, platform));
    let worker = worker.map(|pool| (config.packet_pool(pool), 1));
    let control_plane = [(config.packet_bootstrap(), 1), (config.packet_pool(&config.control_plane), masters)];
    control_plane.into_iter().chain(worker).collect()
}

/// Whether a place has servers for all pools that are bought, with whichever of their plans.
async fn has_some(subject: &Subject<'_>, location: &Location, pools: &[(PacketPool, usize)]) -> Result<bool, Error> {
    let mut sum = Capacity::new();
    for (pool, number) in pools.iter().filter(|(pool, _)| pool.hardware_reservations.is_empty()) {
        let mut fits = None;
        for plan in &pool.plans {
            let mut with = sum.clone();
            *with.entry(plan.clone()).or_default() += number;
            if subject.client.has_capacity(location, &with).await? {
                fits = Some(with);
                break;
            }
        }
        match fits {
            Some(with) => sum = with,
            None => return Ok(false),
        }
    }
    Ok(true)
}

async fn plans(subject: &Subject<'_>) -> Result<Option<Finding>, Error> {
    let Some(project) = &subject.project else { return Ok(None) };
    let known = subject.client.plans(Some(project)).await?;
    let pools = std::iter::once(&subject.config.control_plane).chain(&subject.config.compute);
    let all: BTreeSet<String> = pools
        .flat_map(|pool| subject.config.packet_pool(pool).plans)
        .chain(subject.config.packet_bootstrap().plans)
        .collect();
    let unknown: Vec<String> = all.into_iter().filter(|plan| known.iter().all(|own| own.slug != *plan)).collect();
    Ok((!unknown.is_empty()).then(|| {
        let names: Vec<&str> = known.iter().map(|plan| plan.slug.as_str()).collect();
        let message = format!("there is no plan {}", unknown.join(", "));
        Finding::problem("plans", message, format!("plans are {}", names.join(", ")))
    }))
}

/// Whether there is enough reserved hardware.
async fn reservations(subject: &Subject<'_>, made: bool) -> Result<Option<Finding>, Error> {
    let pools = std::iter::once(&subject.config.control_plane).chain(&subject.config.compute);
    let mut wanted = 0;
    let mut ids: BTreeSet<String> = BTreeSet::new();
    for pool in pools {
        let resolved = subject.config.packet_pool(pool);
        if !resolved.hardware_reservations.is_empty() {
            wanted += pool.replicas as usize;
            ids.extend(resolved.hardware_reservations);
        }
    }
    let (Some(project), true, false) = (&subject.project, wanted > 0, made) else { return Ok(None) };
    let any = ids.contains("next-available");
    let all = subject.client.reservations(project).await?;
    let free =
        all.iter().filter(|own| (own.provisionable || own.is_preparing()) && (any || ids.contains(&own.id))).count();
    let message = format!("{free} of {wanted} reserved servers are free");
    Ok(Some(if free >= wanted {
        Finding::ok("reserved hardware", message)
    } else {
        Finding::problem("reserved hardware", message, "reserve more, or leave hardwareReservations out of some pools")
    }))
}

/// Whether the spot market is below what is offered.
async fn spot(subject: &Subject<'_>, location: &Location) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    for pool in &subject.config.compute {
        let resolved = subject.config.packet_pool(pool);
        let Some(spot) = resolved.spot else { continue };
        let mut cheapest: Option<f64> = None;
        for plan in &resolved.plans {
            if let Some(price) = subject.client.spot_price(location, plan).await? {
                cheapest = Some(cheapest.map_or(price, |known| known.min(price)));
            }
        }
        findings.push(match cheapest {
            Some(price) if price <= spot.max_price() => {
                Finding::ok("spot market", format!("pool {}: {price} dollars per hour", pool.name))
            }
            _ => {
                let price =
                    cheapest.map_or_else(|| "nothing is sold".to_owned(), |price| format!("{price} dollars per hour"));
                let message =
                    format!("pool {}: {price} in {}, and {} are offered", pool.name, location.code(), spot.max_price());
                Finding::notice(
                    "spot market",
                    message,
                    "machines come only when the price falls; offer more, or buy on demand",
                )
            }
        });
    }
    Ok(findings)
}
