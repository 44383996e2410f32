//! Looks at everything that the records need before anything is made, and says all that is wrong at once.

mod delegation;
mod names;
mod writing;

pub(crate) use writing::probe;

use std::path::Path;

use landfall_config::{Dns, InstallConfig};
use landfall_platform::{Finding, Verdict};

use crate::{
    Binder, Error, Servers, Zone,
    backends::{TOKEN, TSIG_SECRET},
    plan::entries_to_come,
    secret_file::SecretFile,
    steps::zone_servers,
};

/// Whether something may be made, for a moment, to see whether it can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// A record is made and removed.
    Write,
    /// Nothing is made.
    ReadOnly,
}

/// Looks at the zone, the credentials, the delegation and the names. The section must be [`resolved`](crate::resolved).
pub async fn preflight(binder: &Binder, config: &InstallConfig, service: &Dns, probe: Probe) -> Vec<Finding> {
    const CHECK: &str = "DNS zone";
    let entries = match entries_to_come(config, service) {
        Ok(entries) if !entries.is_empty() => entries,
        Ok(_) => {
            let message = "there is no address that a record could lead to";
            return vec![Finding::problem(CHECK, message, "give virtual addresses, or leave out 'dns'").blame("dns")];
        }
        Err(error) => return vec![unanswered(CHECK, &error)],
    };
    if let Dns::Manual(_) = service {
        return vec![by_hand(binder, &entries[0].name, entries.len()).await];
    }
    let mut findings = secret(service);
    if findings.iter().any(|finding| finding.verdict == Verdict::Problem) {
        // Every other check would fail for the same reason.
        return findings;
    }
    let looked = async {
        let backend = binder.service(service)?;
        let zone = backend.zone().await?;
        let servers = zone_servers(backend.as_ref(), service, &entries[0], binder.network()).await?;
        Ok::<_, Error>((backend, zone, servers))
    };
    let (backend, zone, servers): (_, Zone, Servers) = match looked.await {
        Ok(found) => found,
        Err(error) => {
            findings.push(unanswered(CHECK, &error));
            return findings;
        }
    };
    findings.push(Finding::ok(CHECK, format!("{} is at {}", zone.name, backend.describe())));
    let (writing, names, delegation) = futures::join!(
        writing::check(backend.as_ref(), config, binder.infra_id(), probe),
        names::check(backend.as_ref(), config, &zone, &entries, binder.infra_id()),
        delegation::check(&zone, &servers, binder.network()),
    );
    for part in [writing.into_iter().collect(), names, delegation] {
        findings.extend(part);
    }
    findings
}

async fn by_hand(binder: &Binder, name: &crate::Name, count: usize) -> Finding {
    const CHECK: &str = "DNS zone";
    match Servers::enclosing(name, binder.network()).await {
        Some(servers) => Finding::notice(
            CHECK,
            format!("{count} names in the zone {} are yours to make", servers.zone),
            "the installation waits for them; 'landfall dns check' prints them",
        ),
        None => Finding::notice(
            CHECK,
            format!("the resolver of this machine knows no zone that holds {name}"),
            "the installation waits until it does",
        ),
    }
}

/// Files with secrets are nobody else's.
fn secret(service: &Dns) -> Vec<Finding> {
    const CHECK: &str = "DNS credentials file";
    let (path, what, field) = match service {
        Dns::Rfc2136(section) => (&section.key_file, TSIG_SECRET, "dns.rfc2136.keyFile"),
        Dns::Cloudflare(section) => (&section.token_file, TOKEN, "dns.cloudflare.tokenFile"),
        Dns::Route53(_) | Dns::Cis(_) | Dns::DnsServices(_) | Dns::Manual(_) => return Vec::new(),
    };
    match SecretFile::read(Path::new(path), what) {
        Ok(file) if file.exposed => {
            let hint = format!("chmod 600 {path}, and replace the {what} if others may have seen it");
            vec![Finding::notice(CHECK, format!("{path} can be read by other users of this machine"), hint)]
        }
        Ok(_) => vec![Finding::ok(CHECK, format!("{path} is private"))],
        Err(error) => vec![Finding::problem(CHECK, error.chain(), "write the secret into this file").blame(field)],
    }
}

/// The finding for a check that could not be carried out.
fn unanswered(check: &'static str, error: &Error) -> Finding {
    let hint = match error.class() {
        landfall_platform::ErrorClass::Auth => "check the key or token, and what it is allowed to do",
        landfall_platform::ErrorClass::NotFound => "make the zone there, or correct 'dns'",
        _ => "try again, or look at the service's health",
    };
    Finding::problem(check, error.chain(), hint)
}
