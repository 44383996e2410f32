//! Fetching anew what a machine joins with.
//!
//! The token in the config that a worker booted with ends after a day, or is revoked. The config server hands out today's, so a machine
//! that could not join asks it again, as Ignition did.

use std::path::Path;

use landfall_assets::{
    node::{ConfigSource, paths},
    with_text_file,
};
use landfall_platform::error_chain;
use landfall_wire::{Client, Limits, Reply, Request, Trust};
use secrecy::SecretString;
use url::Url;

use crate::{Error, machine::Machine, stored};

/// As Ignition asks.
const ACCEPT: &str = "application/vnd.coreos.ignition+json;version=3.3.0";

/// Fetches the machine's config, and takes from it what kubeadm joins with. Does nothing on machines that do not know where it came from.
pub(super) async fn refresh(machine: &Machine) -> Result<(), Error> {
    let kubeadm = machine.facts.kubeadm.as_ref().ok_or(Error::NoSuchFact("kubeadm configuration"))?;
    refresh_file(Path::new(paths::CONFIG_SOURCE), Path::new(paths::CREDENTIAL), Path::new(kubeadm)).await
}

async fn refresh_file(source: &Path, credential: &Path, kubeadm: &Path) -> Result<(), Error> {
    let text = match std::fs::read(source) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::file("read", source)(error)),
    };
    let known: ConfigSource = serde_json::from_slice(&text)
        .map_err(|error| Error::NotUnderstood { path: source.into(), reason: error.to_string() })?;
    let credential = std::fs::read_to_string(credential).map_err(Error::file("read", credential))?;
    let config = fetch(&known, credential.trim()).await?;
    let mut found = None;
    with_text_file("the config that is served now", &config, paths::KUBEADM_CONFIG, |text| {
        found = Some(text.to_owned());
        Ok::<_, Error>(text.to_owned())
    })
    .map_err(|error| Error::NotYet(error_chain(&error)))??;
    if let Some(text) = found
        && stored::write_private(kubeadm, text)?
    {
        tracing::info!("the config server has handed out something newer to join with");
    }
    Ok(())
}

async fn fetch(source: &ConfigSource, credential: &str) -> Result<Vec<u8>, Error> {
    let failed = |source| Error::Request { attempt: "fetching this machine's config".into(), source: Box::new(source) };
    let url = Url::parse(&source.url).map_err(|error| Error::NotYet(format!("{}: {error}", source.url)))?;
    let client = Client::new(&Trust::Only(source.authority.clone()), Limits::default()).map_err(failed)?;
    let credential = SecretString::from(format!("Bearer {credential}"));
    let request = Request::get(url).header("accept", ACCEPT).secret_header("authorization", &credential);
    let reply = client.send(request).await.and_then(Reply::successful).map_err(failed)?;
    Ok(reply.contents().to_vec())
}
