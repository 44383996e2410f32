//! The services, one file or directory each.

mod cloudflare;
mod contended;
mod dns_services;
mod ibm;
mod rfc2136;
mod route53;
mod service;

use std::sync::Arc;

use landfall_config::Dns;
use landfall_platform::Environment;

use crate::{Backend, Error, Network};

/// Connects to a service. `manual` is none: there is nothing to connect to.
///
/// The section must be [`resolved`](crate::resolved). Reads the file with the secret, and talks to nobody yet.
pub fn connect(service: &Dns, environment: &Environment, network: &Network) -> Result<Option<Arc<dyn Backend>>, Error> {
    Ok(match service {
        Dns::Rfc2136(section) => Some(Arc::new(rfc2136::NameServer::new(section, network)?)),
        Dns::Route53(section) => Some(Arc::new(route53::Route53::new(section, environment)?)),
        Dns::Cloudflare(section) => Some(Arc::new(Contended(cloudflare::Cloudflare::new(section, environment)?))),
        Dns::Cis(section) => {
            let account = ibm::Account::new(section, environment)?;
            let zone = section.zone.as_deref().unwrap_or_default().parse()?;
            Some(Arc::new(Contended(cloudflare::Cloudflare::of_ibm(account, section.instance.clone(), zone))))
        }
        Dns::DnsServices(section) => {
            let account = ibm::Account::new(section, environment)?;
            let zone = section.zone.as_deref().unwrap_or_default().parse()?;
            Some(Arc::new(Contended(dns_services::DnsServices::new(account, section.instance.clone(), zone))))
        }
        Dns::Manual(_) => None,
    })
}

use contended::Contended;

pub(crate) use cloudflare::TOKEN;
pub(crate) use rfc2136::TSIG_SECRET;
