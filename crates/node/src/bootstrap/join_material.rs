//! Keeping what masters join with valid for as long as masters may come.
//!
//! kubeadm removes the encrypted keys of the control plane after two hours and the masters' token after a day. A machine that
//! is racked by hand takes longer, so both are put back when they are gone.

use std::time::Duration;

use landfall_platform::error_chain;
use serde_json::Value;
use tokio::time::sleep;

use super::access;
use crate::{Error, approval, kubeadm::Kubeadm, machine::Machine};

const INTERVAL: Duration = Duration::from_mins(1);
const KEYS: &str = "api/v1/namespaces/kube-system/secrets/kubeadm-certs";
const TOKENS: &str = "api/v1/namespaces/kube-system/secrets?fieldSelector=type%3Dbootstrap.kubernetes.io%2Ftoken";

/// Keeps it valid for as long as the future is polled. To be called when there is a control plane.
pub(super) async fn keep(machine: &Machine) {
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
    kubeadm.ensure_tokens().await?;
    approval::withdraw(&local).await?;
    kubeadm.upload_certificates().await?;
    tracing::info!("what masters join with had ended and is valid again");
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

    #[test]
    fn a_token_that_only_guards_the_keys_does_not_count() {
        let joining = json!({ "data": { "auth-extra-groups": "c3lz" } });
        let guarding = json!({ "data": { "description": "UHJveHk=" } });
        assert!(has_both(&json!({ "items": [joining, joining, guarding] })));
        assert!(!has_both(&json!({ "items": [joining, guarding] })));
        assert!(!has_both(&Value::Null));
    }
}
