//! Collects what there is to know about a cluster that does not come up, into one archive that holds no secrets.
//!
//! Every source is optional: one that cannot be had is named in `sources.txt` with the reason, and the others are collected
//! all the same.

mod bundle;
mod documents;
mod known_hosts;
mod machines;
mod scrub;
mod secrets;

use std::path::PathBuf;

use anyhow::Context as _;
use landfall_cluster::Bootstrap;
use landfall_engine::{Journal, Snapshot};
use landfall_platform::{InfraId, Machine};
use landfall_workdir::{LOG, WorkDir};

use self::{bundle::Bundle, known_hosts::KnownHosts, machines::Shell, scrub::Scrub};
use crate::{
    cluster::{JOURNAL, Site, api, bootstrap_progress},
    context::Context,
    stages::Source,
};

/// Resources of the API that tell how far a cluster has come.
const RESOURCES: [(&str, &str); 4] = [
    ("api/readyz.txt", "readyz?verbose"),
    ("api/nodes.json", "api/v1/nodes"),
    ("api/bootstrap.json", "api/v1/namespaces/kube-system/configmaps/bootstrap"),
    ("api/events.json", "api/v1/events?limit=500"),
];

/// SSH host keys of the cluster's machines, as they told them or showed them first.
pub(crate) const KNOWN_HOSTS: &str = ".landfall/known_hosts";

/// Where machines are asked, besides those that the platform names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hosts {
    /// The bootstrap machine.
    pub(crate) bootstrap: Option<String>,
    /// Masters.
    pub(crate) masters: Vec<String>,
    /// The key to log in with; without it, what ssh uses by itself.
    pub(crate) key: Option<PathBuf>,
}

/// Collects everything, and returns where it is.
pub(crate) async fn gather(
    dir: &WorkDir,
    infra_id: &InfraId,
    site: anyhow::Result<&Site>,
    hosts: &Hosts,
    context: &Context,
) -> anyhow::Result<PathBuf> {
    let secrets = site.as_ref().map(|site| site.secrets.clone()).unwrap_or_default();
    let mut bundle = Bundle::new(Scrub::new(dir, &context.environment, &secrets)?);
    bundle.add("landfall.log", std::fs::read(dir.path(LOG)).context("cannot read the log"));
    bundle.add("journal.json", journal(dir));
    let found = match site {
        Ok(site) => {
            let found = site.machines.list().await.map(|listing| listing.machines).map_err(anyhow::Error::from);
            bundle.add("platform/events.txt", site.events().await.map(|lines| lines.join("\n").into_bytes()));
            found
        }
        Err(error) => Err(error),
    };
    let text = found.as_ref().map(|found| serde_json::to_vec_pretty(found).unwrap_or_default());
    bundle.add("platform/machines.json", text.map_err(|error| anyhow::anyhow!("{error:#}")));
    let found = found.unwrap_or_default();
    let said = bootstrap_progress(dir).await;
    let addresses = addresses(&found, infra_id, hosts);
    let known_hosts = known_hosts(dir, infra_id, &addresses, &said, context)?;
    bundle.add("bootstrap.json", said.and_then(|said| Ok(serde_json::to_vec_pretty(&said)?)));
    cluster(dir, &mut bundle).await;
    let shell = Shell::new(hosts.key.clone(), known_hosts, infra_id);
    for (name, output) in shell.ask(&addresses).await {
        bundle.add(&name, output);
    }

    for reason in bundle.missing() {
        context.printer.info(format_args!("  not to be had: {reason}"));
    }
    let name = format!("log-bundle-{}", jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S.%3fZ"));
    bundle.write(&name, &dir.path(&format!("{name}.tar.gz")))
}

/// Writes down the SSH host keys that the bootstrap machine has told, and warns if it is about to be asked and they are not known.
fn known_hosts(
    dir: &WorkDir,
    infra_id: &InfraId,
    machines: &[(String, Option<String>)],
    said: &anyhow::Result<Option<Bootstrap>>,
    context: &Context,
) -> anyhow::Result<KnownHosts> {
    let mut known_hosts = KnownHosts::read(dir.path(KNOWN_HOSTS))?;
    let alias = format!("{infra_id}-bootstrap");
    let told = said.as_ref().ok().and_then(Option::as_ref).map(|said| said.ssh_host_keys.as_slice());
    if known_hosts.tell(&alias, told.unwrap_or_default())? {
        return Ok(known_hosts);
    }
    let is_asked = machines.iter().any(|(name, address)| name.ends_with("bootstrap") && address.is_some());
    if is_asked && !known_hosts.has(&alias) {
        let reason = match said {
            Ok(_) => "it has told none".to_owned(),
            Err(error) => format!("{error:#}"),
        };
        context.printer.warn(format_args!(
            "the SSH host keys of the bootstrap machine cannot be verified ({reason}); whichever key is shown now is trusted, so \
             that an attacker on the way would see the commands and could invent the output"
        ));
    }
    Ok(known_hosts)
}

/// The journal, for people: everything that was begun, and what came of it.
fn journal(dir: &WorkDir) -> anyhow::Result<Vec<u8>> {
    let Snapshot { infra_id, entries } = Journal::read(&dir.path(JOURNAL))?;
    let steps: Vec<_> = entries
        .iter()
        .map(|entry| {
            serde_json::json!({
                "spec": entry.spec,
                "state": entry.state,
                "outputs": entry.outputs,
                "failure": entry.failure.as_ref().map(|failure| &failure.error),
                "began": entry.began,
                "ended": entry.ended,
            })
        })
        .collect();
    Ok(serde_json::to_vec_pretty(&serde_json::json!({ "infraId": infra_id, "steps": steps }))?)
}

async fn cluster(dir: &WorkDir, bundle: &mut Bundle) {
    let api = Source::read(dir).and_then(|source| api(dir, &source.config));
    for (name, path) in RESOURCES {
        let answer = match &api {
            Ok(api) => api.text(path).await.map(String::into_bytes).map_err(anyhow::Error::from),
            Err(error) => Err(anyhow::anyhow!("{error:#}")),
        };
        bundle.add(name, answer);
    }
}

/// The machines to ask and their addresses: those that were named, and those of the platform for the rest.
fn addresses(found: &[Machine], infra_id: &InfraId, hosts: &Hosts) -> Vec<(String, Option<String>)> {
    let named = |role: &str, machine: &Machine| machine.name.starts_with(&format!("{infra_id}-{role}"));
    let address = |machine: &Machine| machine.addresses.first().map(ToString::to_string);
    let mut machines = Vec::new();
    match &hosts.bootstrap {
        Some(host) => machines.push(("bootstrap".to_owned(), Some(host.clone()))),
        None => machines.extend(
            found
                .iter()
                .filter(|machine| named("bootstrap", machine))
                .map(|machine| (machine.name.clone(), address(machine))),
        ),
    }
    if hosts.masters.is_empty() {
        let masters = found.iter().filter(|machine| named("master", machine));
        machines.extend(masters.map(|machine| (machine.name.clone(), address(machine))));
    } else {
        machines.extend(hosts.masters.iter().map(|host| (host.clone(), Some(host.clone()))));
    }
    machines
}
