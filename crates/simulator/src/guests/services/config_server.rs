//! `landfall-node config-server`: the real config server, with what the machine has on its disk.

use std::sync::Arc;

use bytes::Bytes;
use landfall_node::config_server::{Admission, ConfigServer, Configs, Tls, Tokens, Unreadable, serve};

use super::{Host, bootstrap, listen};
use crate::guests::facts::Served;
use crate::guests::system::System;

/// Serves the roles that the machine's facts name, until it retires.
pub(super) async fn run(host: Host) {
    let (port, tls, server) = host.persist("landfall-node config-server", async || prepare(&host)).await;
    let console = host.console.clone();
    listen::everywhere(&host, "landfall-node config-server", port, move |listener, stop| {
        let (tls, server, console) = (tls.clone(), server.clone(), console.clone());
        async move {
            if let Err(error) = serve(listener, &tls, server, stop).await {
                console.print(format!("landfall-node config-server: {}", crate::guests::console::chain(&error)));
            }
        }
    })
    .await;
}

fn prepare(host: &Host) -> Result<(u16, Arc<Tls>, Arc<ConfigServer>), String> {
    let facts = host.facts()?;
    let served = facts.config_server.ok_or("node.json names nothing to serve")?;
    let file = |path: &str| host.system.file(path).ok_or_else(|| format!("there is no {path}"));
    let tls = Tls { certificates: file(&served.certificate)?, key: file(&served.key)? };
    let mut digests = Vec::new();
    for role in &served.roles {
        // Without its file a role's token is revoked, which is no error.
        if let Ok(digest) = host.system.text(&role.token_digest) {
            digests.push((role.name.as_str(), digest));
        }
    }
    let digests = digests.iter().map(|(role, digest)| (*role, digest.as_str()));
    let tokens = Tokens::from_digests(digests).map_err(|error| error.to_string())?;
    let roles = served.roles.iter().map(|role| role.name.clone()).collect();
    let configs = OnDisk { system: host.system.clone(), served };
    let answering = ConfigServer::new(Arc::new(configs), Arc::new(Known { tokens, roles }));
    Ok((facts.api.config_server_port, Arc::new(tls), Arc::new(answering)))
}

/// The tokens of the roles that a machine serves.
struct Known {
    tokens: Tokens,
    roles: Vec<String>,
}

impl Admission for Known {
    fn admits(&self, role: &str, token: &str) -> Result<bool, Unreadable> {
        self.tokens.admits(role, token)
    }

    fn admits_any(&self, token: &str) -> Result<bool, Unreadable> {
        self.tokens.admits_any(token)
    }

    /// A real master learns the masters' token from the cluster, when the bootstrap machine has left it there.
    fn knows(&self, role: &str) -> bool {
        role != "master" || self.roles.iter().any(|known| known == role)
    }
}

/// The configs as they are on the machine's disk.
struct OnDisk {
    system: Arc<System>,
    served: Served,
}

impl Configs for OnDisk {
    fn config(&self, role: &str) -> Result<Option<Bytes>, Unreadable> {
        let known = self.served.roles.iter().find(|known| known.name == role);
        Ok(known.and_then(|known| self.system.file(&known.config)).map(Bytes::from))
    }

    fn progress(&self) -> Result<Option<Bytes>, Unreadable> {
        Ok(self.system.file(bootstrap::PROGRESS).map(Bytes::from))
    }
}
