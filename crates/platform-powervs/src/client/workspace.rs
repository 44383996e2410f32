//! Workspaces, as Power Virtual Server knows them.

use serde::Deserialize;

use super::{Client, session::To};
use crate::Error;

/// A workspace: everything in Power Virtual Server is in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// Its GUID.
    pub guid: String,
    /// Its name for other services.
    pub crn: String,
}

/// The edge router of a workspace, without which no traffic gets to a transit gateway.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EdgeRouter {
    /// `active`, `configuring`, `error`, …
    #[serde(default)]
    pub state: String,
}

#[derive(Deserialize)]
struct Wire {
    #[serde(default)]
    details: Details,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    #[serde(default)]
    power_edge_router: EdgeRouter,
}

impl Client {
    /// The edge router of a workspace; none while the workspace is not known yet.
    pub async fn edge_router(&self, workspace: &Workspace) -> Result<Option<EdgeRouter>, Error> {
        let path = format!("v1/workspaces/{}", workspace.guid);
        let found: Option<Wire> = self.get_existing("reading the workspace", To::Power(workspace), &path).await?;
        Ok(found.map(|found| found.details.power_edge_router))
    }
}

impl Workspace {
    /// A path below that of the workspace.
    pub(super) fn path(&self, rest: &str) -> String {
        format!("pcloud/v1/cloud-instances/{}/{rest}", self.guid)
    }
}
