//! The platform's own log.

use serde_json::Value;

use super::{Client, Workspace, session::To};
use crate::Error;

impl Client {
    /// What happened in a workspace since a time, newest first.
    pub async fn events(&self, workspace: &Workspace, since: &str) -> Result<Vec<String>, Error> {
        let path = workspace.path(&format!("events?time={since}"));
        let answer: Value = self.get("reading events", To::Power(workspace), &path).await?;
        let text = |event: &Value| {
            format!("{} {} {}: {}", event["timestamp"], event["resource"], event["action"], event["message"])
                .replace('"', "")
        };
        let mut lines: Vec<String> = answer["events"].as_array().into_iter().flatten().map(text).collect();
        lines.reverse();
        Ok(lines)
    }
}
