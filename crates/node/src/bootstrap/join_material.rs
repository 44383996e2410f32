//! Keeping what masters join with valid for as long as masters may come.
//!
//! kubeadm removes the encrypted keys of the control plane after two hours and the masters' token after a day. A machine that
//! is racked by hand takes longer, so both are put back when they are gone.

use std::time::Duration;

use jiff::Timestamp;
use landfall_platform::error_chain;
use serde_json::Value;
use tokio::time::sleep;

use super::access;
use crate::{
    Error,
    kube::Access,
    kubeadm::{BootstrapToken, Kubeadm},
    machine::Machine,
};

const INTERVAL: Duration = Duration::from_mins(1);
const KEYS: &str = "api/v1/namespaces/kube-system/secrets/kubeadm-certs";
const TOKENS: &str = "api/v1/namespaces/kube-system/secrets?fieldSelector=type%3Dbootstrap.kubernetes.io%2Ftoken";

/// Keeps it valid for as long as the future is polled. To be called when there is a control plane.
pub(super) async fn keep(machine: &Machine) {
    // waits: a service, which goes on for as long as the plan does
    loop {
        sleep(INTERVAL).await;
        if let Err(error) = ensure(machine).await {
            tracing::warn!(error = error_chain(&error), "cannot see to what masters join with");
        }
    }
}

async fn ensure(machine: &Machine) -> Result<(), Error> {
    let local = access::local(machine);
    let keys = local.get("reading the masters' keys", KEYS).await?;
    let tokens = local.get("listing join tokens", TOKENS).await?;
    if keys.is_some() && has_both(&tokens.unwrap_or_default()) {
        return Ok(());
    }
    let kubeadm = Kubeadm::prepare(machine, &[]).await?;
    write_tokens(&local, &kubeadm.tokens(Timestamp::now())?).await?;
    kubeadm.upload_certificates().await?;
    tracing::info!("what masters join with had ended and is valid again");
    Ok(())
}

/// Makes the tokens be there and valid; nothing else, unlike kubeadm's phase of that name.
async fn write_tokens(access: &Access, tokens: &[BootstrapToken]) -> Result<(), Error> {
    for token in tokens {
        let (path, secret) = token.secret();
        access.apply("making a join token", &path, &secret).await?;
    }
    Ok(())
}

/// Whether the tokens of masters and of workers are there, besides the one that encrypts the keys, which has another use.
fn has_both(tokens: &Value) -> bool {
    let items = tokens["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter(|token| token["data"].get("auth-extra-groups").is_some()).count() >= 2
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing;

    /// kubeadm's own phase would bind the roles by which a token makes its holder any node.
    #[tokio::test]
    async fn refreshed_tokens_bring_no_bindings_on_a_real_api_server() {
        let dir = tempfile::tempdir().unwrap();
        let (_plane, access) = testing::real_api(dir.path());
        let token = |text: &str| BootstrapToken {
            text: text.to_owned(),
            description: "Machines join".to_owned(),
            groups: vec!["system:bootstrappers:kubeadm:default-node-token".to_owned()],
            usages: vec!["signing".to_owned(), "authentication".to_owned()],
            ends: Some("2026-05-05T12:00:00Z".parse().unwrap()),
        };
        let mut tokens = [token("aaaaaa.0123456789abcdef"), token("bbbbbb.0123456789abcdef")];
        assert!(!has_both(&access.get("listing", TOKENS).await.unwrap().unwrap()));
        write_tokens(&access, &tokens).await.unwrap();
        tokens[0].ends = Some("2026-05-06T12:00:00Z".parse().unwrap());
        write_tokens(&access, &tokens).await.unwrap();
        assert!(has_both(&access.get("listing", TOKENS).await.unwrap().unwrap()));
        let (path, _) = tokens[0].secret();
        let stored = access.get("reading", &path).await.unwrap().unwrap();
        // printf 2026-05-06T12:00:00Z | base64
        assert_eq!(stored["data"]["expiration"], "MjAyNi0wNS0wNlQxMjowMDowMFo=");
        let bindings = access.get("listing", "apis/rbac.authorization.k8s.io/v1/clusterrolebindings").await.unwrap();
        let names = bindings.unwrap()["items"].to_string();
        assert!(names.contains("cluster-admin") && !names.contains("kubeadm:"), "{names}");
    }

    #[test]
    fn a_token_that_only_guards_the_keys_does_not_count() {
        let joining = json!({ "data": { "auth-extra-groups": "c3lz" } });
        let guarding = json!({ "data": { "description": "UHJveHk=" } });
        assert!(has_both(&json!({ "items": [joining, joining, guarding] })));
        assert!(!has_both(&json!({ "items": [joining, guarding] })));
        assert!(!has_both(&Value::Null));
    }
}
