//! The machine's own name server.

use std::net::SocketAddr;

use landfall_platform::{Finding, error_chain};

use crate::{
    dns::{self, ResolvConf},
    machine::Machine,
};

pub(super) async fn answered(machine: &Machine) -> Vec<Finding> {
    let (Some(_), Ok(own)) = (&machine.facts.vips, machine.addresses().await) else { return Vec::new() };
    let server = SocketAddr::new(own.main(), 53);
    let name = &machine.facts.api.internal_name;
    let answers = match dns::self_test(server, name).await {
        Ok(()) => Finding::ok("names", format!("{server} answers for {name}")),
        Err(error) => Finding::problem("names", error_chain(&error), "journalctl -u landfall-dns says why"),
    };
    let text = std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    let asked = ResolvConf::is_ours(&text) || std::path::Path::new(dns::RESOLVED_DROPIN).exists();
    let resolver = if asked {
        Finding::ok("resolver", "the host asks this machine first")
    } else {
        Finding::notice(
            "resolver",
            "the host does not ask this machine for names",
            "it is handed over when the name server answers; see journalctl -u landfall-dns",
        )
    };
    vec![answers, resolver]
}
