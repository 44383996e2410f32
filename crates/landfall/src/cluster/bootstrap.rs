//! How far the bootstrap machine is, asked from outside.

use landfall_assets::Cluster;
use landfall_cluster::{Bootstrap, ConfigServer};
use landfall_platform::FileSet;
use landfall_workdir::WorkDir;

use super::api;
use crate::stages::{Source, secrets};

/// What the bootstrap machine says of itself, or the reason why it cannot be asked. Its config server answers from the first
/// minute on; the cluster's API, which knows it too, is asked where there is none.
pub(crate) async fn bootstrap_progress(dir: &WorkDir) -> anyhow::Result<Option<Bootstrap>> {
    let source = Source::read(dir)?;
    let by_server = match config_server(dir, &source) {
        Ok(Some(server)) => server.bootstrap().await.map_err(anyhow::Error::from),
        Ok(None) => Ok(None),
        Err(error) => Err(error),
    };
    match by_server {
        Ok(Some(said)) => Ok(Some(said)),
        // What went wrong first is the better reason.
        tried => match api(dir, &source.config)?.bootstrap().await {
            Ok(said) => Ok(said),
            Err(error) => tried.and(Err(error.into())),
        },
    }
}

/// The config server, if Landfall made the secrets to reach it with.
fn config_server(dir: &WorkDir, source: &Source) -> anyhow::Result<Option<ConfigServer>> {
    let Some(identity) = dir.identity()? else { return Ok(None) };
    let Some(secrets) = secrets(dir, &FileSet::default())? else { return Ok(None) };
    let cluster = Cluster { config: &source.config, infra_id: &identity.infra_id };
    let authority = secrets.cluster_ca().certificate();
    Ok(Some(ConfigServer::new(&cluster.config_server_endpoint(), authority, secrets.installer_credential())?))
}
