//! kubeadm's configuration, completed on the machine.
//!
//! The file that the machine booted with is the same for all machines of a role. What differs is added here: the address that
//! the API server announces, which kubeadm would otherwise take from the default route, and there may be none.

use std::{net::IpAddr, path::Path};

use serde_json::{Value, json};

use crate::Error;

/// What is added to the configuration.
#[derive(Clone, Copy, Debug, Default)]
pub struct Amendments<'a> {
    /// The address that the machine's API server announces.
    pub advertise: Option<IpAddr>,
    /// Phases of `kubeadm init` or `kubeadm join` that are left out, besides those that the file leaves out.
    pub skip_phases: &'a [&'a str],
    /// What the machine joins with, in the place of what the file says.
    pub discovery: Option<&'a Discovery>,
    /// Whether a master has the authorities' keys already, and need not fetch them.
    pub has_authorities: bool,
}

/// What a machine joins with: it stays the same for as long as it is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discovery {
    /// The token, `id.secret`.
    pub token: String,
    /// The pins of the cluster's authorities.
    pub pins: Vec<String>,
}

/// The configuration with amendments, in a form that kubeadm reads. What the file says already is kept. `path` is for errors.
pub fn amend(path: &Path, text: &str, amendments: Amendments<'_>) -> Result<String, Error> {
    // Like Kubernetes: `y` and `no` are texts.
    let options = serde_saphyr::options! { strict_booleans: true };
    let documents: Vec<Value> = serde_saphyr::from_multiple_with_options(text, options)
        .map_err(|error| Error::NotUnderstood { path: path.into(), reason: error.without_snippet().to_string() })?;
    let documents = documents.into_iter().filter(|document| !document.is_null()).map(|mut document| {
        match document["kind"].as_str() {
            Some("InitConfiguration") => {
                advertise(&mut document, amendments.advertise);
                skip(&mut document, amendments.skip_phases);
            }
            Some("JoinConfiguration") => {
                skip(&mut document, amendments.skip_phases);
                if document.get("controlPlane").is_some() {
                    advertise(&mut document["controlPlane"], amendments.advertise);
                    if amendments.has_authorities
                        && let Some(section) = document["controlPlane"].as_object_mut()
                    {
                        section.remove("certificateKey");
                    }
                }
                if let Some(discovery) = amendments.discovery {
                    let section = &mut document["discovery"]["bootstrapToken"];
                    section["token"] = discovery.token.as_str().into();
                    section["caCertHashes"] = json!(discovery.pins);
                }
            }
            _ => {}
        }
        // JSON is YAML, and leaves no doubt about what is a text.
        document.to_string()
    });
    Ok(documents.collect::<Vec<_>>().join("\n---\n") + "\n")
}

fn advertise(document: &mut Value, address: Option<IpAddr>) {
    let present = document["localAPIEndpoint"].get("advertiseAddress").is_some();
    if let Some(address) = address.filter(|_| !present) {
        if document["localAPIEndpoint"].is_null() {
            document["localAPIEndpoint"] = json!({});
        }
        document["localAPIEndpoint"]["advertiseAddress"] = address.to_string().into();
    }
}

fn skip(document: &mut Value, phases: &[&str]) {
    let mut skipped = document["skipPhases"].as_array().cloned().unwrap_or_default();
    skipped.extend(phases.iter().map(|&phase| Value::from(phase)));
    if !skipped.is_empty() {
        document["skipPhases"] = skipped.into();
    }
}

/// The kubelet's environment: the addresses under which it registers its node.
pub fn kubelet_environment(addresses: &[IpAddr]) -> String {
    let addresses: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    format!("KUBELET_EXTRA_ARGS=--node-ip={}\n", addresses.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    const INIT: &str = "kind: InitConfiguration\nskipPhases: [addon/coredns]\nnodeRegistration: {name: \"no\"}\n---\nkind: ClusterConfiguration\n";

    fn amended(text: &str) -> Vec<Value> {
        let amendments = Amendments {
            advertise: Some("198.51.100.20".parse().unwrap()),
            skip_phases: &["preflight"],
            discovery: None,
            has_authorities: false,
        };
        let text = amend(Path::new("kubeadm.yaml"), text, amendments).unwrap();
        text.split("\n---\n").map(|document| serde_json::from_str(document).unwrap()).collect()
    }

    #[test]
    fn the_first_control_plane_announces_the_machines_own_address() {
        let documents = amended(INIT);
        assert_eq!(documents[0]["localAPIEndpoint"]["advertiseAddress"], "198.51.100.20");
        assert_eq!(documents[0]["skipPhases"], json!(["addon/coredns", "preflight"]));
        assert_eq!(documents[0]["nodeRegistration"]["name"], "no");
        assert_eq!(documents[1], json!({ "kind": "ClusterConfiguration" }));
    }

    #[test]
    fn masters_do_too_and_workers_have_nothing_to_announce() {
        let master = "kind: JoinConfiguration\ncontrolPlane: {certificateKey: abc}\n";
        assert_eq!(
            amended(master)[0]["controlPlane"],
            json!({ "certificateKey": "abc", "localAPIEndpoint": { "advertiseAddress": "198.51.100.20" } })
        );
        assert_eq!(
            amended("kind: JoinConfiguration\n")[0],
            json!({ "kind": "JoinConfiguration", "skipPhases": ["preflight"] })
        );
    }

    #[test]
    fn a_machine_joins_with_what_is_valid_now() {
        let stale = "kind: JoinConfiguration\ndiscovery: {bootstrapToken: {token: old.t, apiServerEndpoint: 'a:6443', caCertHashes: [x]}}\n";
        let discovery = Discovery { token: "new.t".to_owned(), pins: vec!["sha256:1".to_owned()] };
        let amendments = Amendments { discovery: Some(&discovery), ..Amendments::default() };
        let text = amend(Path::new("kubeadm.yaml"), stale, amendments).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        let expected = json!({ "token": "new.t", "apiServerEndpoint": "a:6443", "caCertHashes": ["sha256:1"] });
        assert_eq!(document["discovery"]["bootstrapToken"], expected);
    }

    #[test]
    fn what_the_user_wrote_is_kept_and_nonsense_is_refused() {
        let own = "kind: InitConfiguration\nlocalAPIEndpoint: {advertiseAddress: 192.0.2.9}\n";
        assert_eq!(amended(own)[0]["localAPIEndpoint"]["advertiseAddress"], "192.0.2.9");
        let error = amend(Path::new("kubeadm.yaml"), "a: [", Amendments::default()).unwrap_err();
        assert!(error.to_string().starts_with("kubeadm.yaml is not understood"), "{error}");
    }

    #[test]
    fn a_node_has_one_address_of_each_family() {
        let addresses = ["192.0.2.21".parse().unwrap(), "2001:db8::21".parse().unwrap()];
        assert_eq!(kubelet_environment(&addresses), "KUBELET_EXTRA_ARGS=--node-ip=192.0.2.21,2001:db8::21\n");
    }
}
