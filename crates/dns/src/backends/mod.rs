//! The services, one file or directory each.

mod cloudflare;
mod rfc2136;
mod route53;

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
        Dns::Cloudflare(section) => Some(Arc::new(cloudflare::Cloudflare::new(section, environment)?)),
        Dns::Manual(_) => None,
    })
}

pub(crate) use cloudflare::TOKEN;
pub(crate) use rfc2136::TSIG_SECRET;
