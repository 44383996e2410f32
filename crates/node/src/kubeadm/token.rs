//! Join tokens as objects: Secrets of a type of their own in `kube-system`, the same that `kubeadm token` lists and makes.
//!
//! kubeadm's phase that makes them also binds the roles by which any holder of a token becomes any node. So tokens are written without kubeadm once
//! there is a cluster.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::Error;

/// A token for machines to join with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BootstrapToken {
    /// `id.secret`.
    pub(crate) text: String,
    /// Purpose, for people.
    pub(crate) description: String,
    /// Groups of machines with the token.
    pub(crate) groups: Vec<String>,
    /// `authentication`, `signing`.
    pub(crate) usages: Vec<String>,
    /// End of its validity; none if it has none.
    pub(crate) ends: Option<Timestamp>,
}

impl BootstrapToken {
    /// Reads the tokens of kubeadm's configuration, with ends as if they were made now. `path` is for errors.
    pub(crate) fn read_all(path: &Path, text: &str, now: Timestamp) -> Result<Vec<Self>, Error> {
        let not_understood = |reason: String| Error::NotUnderstood { path: path.into(), reason };
        let options = serde_saphyr::options! { strict_booleans: true };
        let documents: Vec<Value> = serde_saphyr::from_multiple_with_options(text, options)
            .map_err(|error| not_understood(error.without_snippet().to_string()))?;
        let init = documents.iter().find(|document| document["kind"] == "InitConfiguration");
        let tokens = init.and_then(|init| init["bootstrapTokens"].as_array()).into_iter().flatten();
        tokens.map(|token| Self::read(token, now).map_err(not_understood)).collect()
    }

    fn read(token: &Value, now: Timestamp) -> Result<Self, String> {
        let text = |field: &str| token[field].as_str().map(str::to_owned);
        let texts = |field: &str| -> Vec<String> {
            token[field].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        // kubeadm's own default, and its word for no end.
        let ttl = text("ttl").unwrap_or_else(|| "24h".to_owned());
        let life: SignedDuration = ttl.parse().map_err(|error| format!("ttl {ttl} of a token: {error}"))?;
        Ok(Self {
            text: text("token").ok_or("a token has no text")?,
            description: text("description").unwrap_or_default(),
            groups: texts("groups"),
            usages: texts("usages"),
            ends: (!life.is_zero()).then(|| now + life),
        })
    }

    /// The Secret's path and the Secret.
    pub(crate) fn secret(&self) -> (String, Value) {
        let (id, secret) = self.text.split_once('.').unwrap_or((&self.text, ""));
        let name = format!("bootstrap-token-{id}");
        let mut data = json!({
            "auth-extra-groups": self.groups.join(","),
            "description": self.description,
            "token-id": id,
            "token-secret": secret,
        });
        for usage in &self.usages {
            data[format!("usage-bootstrap-{usage}")] = "true".into();
        }
        if let Some(ends) = self.ends {
            data["expiration"] = ends.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into();
        }
        let object = json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": { "name": name, "namespace": "kube-system" },
            "type": "bootstrap.kubernetes.io/token",
            "stringData": data,
        });
        (format!("api/v1/namespaces/kube-system/secrets/{name}"), object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(token: &str) -> Result<Vec<BootstrapToken>, Error> {
        let text = format!("kind: ClusterConfiguration\n---\nkind: InitConfiguration\nbootstrapTokens: [{token}]\n");
        BootstrapToken::read_all(Path::new("kubeadm.yaml"), &text, Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn tokens_are_read_as_kubeadm_reads_them() {
        let tokens =
            read("{token: abcdef.0123456789abcdef, ttl: 24h0m0s, usages: [signing, authentication], groups: [a, b]}");
        let token = tokens.unwrap().remove(0);
        let (path, secret) = token.secret();
        assert_eq!(path, "api/v1/namespaces/kube-system/secrets/bootstrap-token-abcdef");
        let data = &secret["stringData"];
        assert_eq!((&data["token-id"], &data["token-secret"]), (&json!("abcdef"), &json!("0123456789abcdef")));
        assert_eq!((&data["auth-extra-groups"], &data["expiration"]), (&json!("a,b"), &json!("1970-01-02T00:00:00Z")));
        assert_eq!(
            (&data["usage-bootstrap-signing"], &data["usage-bootstrap-authentication"]),
            (&json!("true"), &json!("true"))
        );
        assert_eq!(read("{token: a.b, ttl: 0s}").unwrap()[0].ends, None, "no end");
        assert!(read("{token: a.b, ttl: soon}").unwrap_err().to_string().contains("kubeadm.yaml"));
        assert!(read("{ttl: 1h}").is_err());
    }
}
