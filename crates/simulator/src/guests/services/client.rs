//! A client of the Kubernetes API.

use std::sync::Arc;

use hyper::Request;
use rustls::ClientConfig;
use serde_json::Value;
use url::Url;

use crate::guests::console::chain;
use crate::guests::network::Link;

/// A client of one API server.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) link: Link,
    /// As `host:port`.
    pub(super) endpoint: String,
    pub(super) tls: Arc<ClientConfig>,
    pub(super) token: Option<String>,
}

impl Client {
    pub(super) async fn get(&self, path: &str) -> Result<Option<Value>, String> {
        match self.call("GET", path, "application/json", None).await? {
            (200, value) => Ok(Some(value)),
            (404, _) => Ok(None),
            (status, value) => Err(refusal("GET", path, status, &value)),
        }
    }

    /// Adds an object; `false` if it is there already.
    pub(super) async fn create(&self, path: &str, object: &Value) -> Result<bool, String> {
        match self.call("POST", path, "application/json", Some(object)).await? {
            (201, _) => Ok(true),
            (409, _) => Ok(false),
            (status, value) => Err(refusal("POST", path, status, &value)),
        }
    }

    /// Changes parts of an object.
    pub(super) async fn patch(&self, path: &str, change: &Value) -> Result<(), String> {
        match self.call("PATCH", path, "application/strategic-merge-patch+json", Some(change)).await? {
            (200, _) => Ok(()),
            (status, value) => Err(refusal("PATCH", path, status, &value)),
        }
    }

    /// Removes an object that may be gone already.
    pub(super) async fn delete(&self, path: &str) -> Result<(), String> {
        match self.call("DELETE", path, "application/json", None).await? {
            (200 | 404, _) => Ok(()),
            (status, value) => Err(refusal("DELETE", path, status, &value)),
        }
    }

    async fn call(&self, method: &str, path: &str, kind: &str, body: Option<&Value>) -> Result<(u16, Value), String> {
        let failed = |reason: String| format!("{method} {path}: {reason}");
        let url = Url::parse(&format!("https://{}{path}", self.endpoint)).map_err(|error| failed(error.to_string()))?;
        let mut request =
            Request::builder().method(method).header("accept", "application/json").header("content-type", kind);
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
        let reply = self.link.exchange(&url, Some(self.tls.clone()), request, body).await;
        let reply = reply.map_err(|error| failed(chain(&error)))?;
        let value = serde_json::from_slice(&reply.body).unwrap_or_default();
        Ok((reply.status, value))
    }
}

fn refusal(method: &str, path: &str, status: u16, answer: &Value) -> String {
    format!("{method} {path} was answered with {status}: {}", answer["message"].as_str().unwrap_or("no reason"))
}
