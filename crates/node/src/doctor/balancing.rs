//! The virtual addresses and the balancer.

use std::time::Duration;

use landfall_assets::MachineRole;
use landfall_platform::{Finding, error_chain};

use crate::{
    machine::{Machine, interfaces},
    probe::Probe,
    vip,
};

pub(super) async fn addresses(machine: &Machine) -> Vec<Finding> {
    let Some(vips) = &machine.facts.vips else { return Vec::new() };
    let held: Vec<_> = interfaces().await.unwrap_or_default().into_iter().flat_map(|it| it.addresses).collect();
    let here = |address| held.iter().any(|found| found.address == Some(address));
    let mut findings = Vec::new();
    if vip::is_released(machine) {
        findings.push(Finding::ok("virtual addresses", "given away: the masters hold them"));
    }
    for &address in &vips.api {
        let place = if here(address) { "held by this machine" } else { "held elsewhere or nowhere" };
        findings.push(match get(&format!("https://{}/readyz", machine.facts.api.endpoint)).await {
            Ok(200) => Finding::ok("virtual address of the API", format!("{address}, {place}, answers")),
            Ok(status) => Finding::problem(
                "virtual address of the API",
                format!("{address}, {place}, answers with status {status}"),
                "the API server behind it is not ready: look at its pods and at etcd",
            ),
            Err(error) => Finding::problem(
                "virtual address of the API",
                format!("{address}, {place}, does not answer: {error}"),
                "see journalctl -u landfall-vip on the masters, and whether another machine uses the address",
            ),
        });
    }
    findings
}

pub(super) async fn balancer(machine: &Machine) -> Vec<Finding> {
    let Some(vips) = machine.facts.vips.as_ref().filter(|_| machine.facts.role == MachineRole::Master) else {
        return Vec::new();
    };
    let check = async |port: u16, good: &str, bad: &str| {
        let url = format!("http://127.0.0.1:{port}/ready");
        match get(&url).await {
            Ok(200) => Finding::ok("balancer", good),
            Ok(_) => Finding::problem("balancer", bad, "the API servers of the masters do not answer it on /readyz"),
            Err(error) => Finding::problem(
                "balancer",
                format!("it does not answer: {error}"),
                "journalctl -u landfall-load-balancer says why",
            ),
        }
    };
    vec![
        check(vips.balancer_ready_port, "it runs", "it does not run").await,
        check(vips.balancer_backends_port, "it reaches API servers", "it reaches no API server").await,
    ]
}

async fn get(url: &str) -> Result<u16, String> {
    let probe = Probe::new(Duration::from_secs(5)).map_err(|error| error_chain(&error))?;
    probe.status(url).await.map_err(|error| error_chain(&error))
}
