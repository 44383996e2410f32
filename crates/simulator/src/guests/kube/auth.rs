//! Who a client is, and what it may do.
//!
//! Three kinds of clients come here: administrators with a certificate of the cluster's CA, machines that join with a
//! bootstrap token, and anybody for what is public. The rules are those that kubeadm sets up, as far as these need them.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;
use x509_parser::prelude::{FromDer, X509Certificate};

use super::path::Target;
use super::status::Problem;
use super::store::{Key, Store};

/// The binding that lets administrators in; without it their certificates are worth nothing.
pub(in crate::guests) const ADMIN_BINDING: &str = "kubeadm:cluster-admins";
/// The group that no binding is needed for.
const SUPERUSERS: &str = "system:masters";
/// The group of machines that join.
const BOOTSTRAPPERS: &str = "system:bootstrappers";

/// The group of kubelets that have a certificate.
const NODES: &str = "system:nodes";

/// Who a client is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct User {
    pub(super) name: String,
    groups: Vec<String>,
}

impl User {
    fn anonymous() -> Self {
        Self { name: "system:anonymous".to_owned(), groups: vec!["system:unauthenticated".to_owned()] }
    }

    /// The subject of a certificate that has been verified: common name and organisations.
    pub(super) fn of_certificate(der: &[u8]) -> Option<Self> {
        let (_, certificate) = X509Certificate::from_der(der).ok()?;
        let subject = certificate.subject();
        let name = subject.iter_common_name().next()?.as_str().ok()?.to_owned();
        let groups = subject.iter_organization().filter_map(|entry| entry.as_str().ok()).map(str::to_owned).collect();
        Some(Self { name, groups })
    }

    /// Whom an `Authorization` header names; nobody in particular if there is none.
    pub(super) fn of_header(store: &Store, authorization: Option<&str>) -> Result<Self, Problem> {
        let Some(authorization) = authorization else { return Ok(Self::anonymous()) };
        let token = authorization.strip_prefix("Bearer ").and_then(|token| token.split_once('.'));
        let (id, secret) = token.ok_or_else(Problem::unauthorized)?;
        let entry = store.get(&Key::core("secrets", "kube-system", &format!("bootstrap-token-{id}")));
        let known = entry.as_ref().is_some_and(|entry| admits(&entry["data"], secret));
        if !known {
            return Err(Problem::unauthorized());
        }
        Ok(Self { name: format!("system:bootstrap:{id}"), groups: vec![BOOTSTRAPPERS.to_owned()] })
    }

    fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|own| own == group)
    }

    fn is_admin(&self, store: &Store) -> bool {
        let binding = Key::new("rbac.authorization.k8s.io", "clusterrolebindings", "", ADMIN_BINDING);
        self.is_in(SUPERUSERS) || self.is_in(ADMIN_BINDING) && store.get(&binding).is_some()
    }

    /// Whether the user may look at what is no object, such as the description of the API.
    pub(super) fn may_look(&self, store: &Store, path: &str) -> bool {
        matches!(path, "/healthz" | "/livez" | "/readyz" | "/version")
            || self.is_in(BOOTSTRAPPERS)
            || self.is_admin(store)
    }

    /// Whether the user may do `verb` (`get`, `create`, …) to an object or a collection.
    pub(super) fn may(&self, store: &Store, verb: &str, target: &Target) -> bool {
        if self.is_admin(store) {
            return true;
        }
        let place = (
            target.kind.resource.as_str(),
            target.namespace.as_deref().unwrap_or_default(),
            target.name.as_deref().unwrap_or_default(),
        );
        match (verb, place) {
            ("get", ("configmaps", "kube-public", "cluster-info")) => true,
            ("get", ("configmaps", "kube-system", "kubeadm-config") | ("secrets", "kube-system", "kubeadm-certs")) => {
                self.is_in(BOOTSTRAPPERS)
            }
            // A real kubelet trades its token for a certificate before it registers; here the token may register too.
            ("get" | "create" | "patch", ("nodes", ..)) => self.is_in(BOOTSTRAPPERS) || self.is_in(NODES),
            _ => false,
        }
    }
}

/// Whether the data of a bootstrap token's Secret has this secret, is for authentication, and has not ended.
fn admits(data: &Value, secret: &str) -> bool {
    let text = |name: &str| STANDARD.decode(data[name].as_str()?).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let ended = text("expiration")
        .is_some_and(|time| time.parse::<jiff::Timestamp>().is_ok_and(|end| end <= jiff::Timestamp::now()));
    text("token-secret").as_deref() == Some(secret)
        && text("usage-bootstrap-authentication").as_deref() == Some("true")
        && !ended
}
