//! What a user needs to reach the cluster.

use base64::{Engine, prelude::BASE64_STANDARD};
use landfall_assets::ClusterMetadata;
use landfall_platform::Mode;
use serde_json::Value;

use crate::{
    configs::{Rendered, example},
    tool::run,
};

#[test]
fn the_kubeconfig_is_private_and_whole() {
    let rendered = Rendered::new(example());
    assert_eq!(rendered.ignition.get("auth/kubeconfig").unwrap().mode, Mode::Private);
    let kubeconfig: Value = serde_saphyr::from_str(&rendered.text("auth/kubeconfig")).unwrap();
    assert_eq!(kubeconfig["clusters"][0]["cluster"]["server"], "https://api.demo.example.com:6443");
    let decode = |pointer: &str| {
        let text = kubeconfig.pointer(pointer).unwrap().as_str().unwrap();
        String::from_utf8(BASE64_STANDARD.decode(text).unwrap()).unwrap()
    };
    assert_eq!(decode("/clusters/0/cluster/certificate-authority-data"), rendered.secrets.cluster_ca().certificate());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("admin.crt");
    std::fs::write(&path, decode("/users/0/user/client-certificate-data")).unwrap();
    let subject = run("openssl", &["x509", "-noout", "-subject", "-nameopt", "RFC2253", "-in", path.to_str().unwrap()]);
    assert_eq!(subject.trim(), "subject=O=kubeadm:cluster-admins,CN=landfall-admin");
    assert!(decode("/users/0/user/client-key-data").starts_with("-----BEGIN PRIVATE KEY-----"));
}

#[test]
fn metadata_is_read_back() {
    let rendered = Rendered::new(example());
    let text = rendered.text("metadata.json");
    let metadata: ClusterMetadata = serde_json::from_str(&text).unwrap();
    assert_eq!(metadata, ClusterMetadata::new(&rendered.cluster(), &rendered.secrets));
    insta::assert_snapshot!(text);
}

#[test]
fn the_graph_is_in_order_and_closed() {
    let mut known = std::collections::HashSet::new();
    for asset in landfall_assets::graph() {
        for dependency in asset.depends_on {
            assert!(known.contains(dependency), "{} comes before {dependency}", asset.name);
        }
        assert!(known.insert(asset.name), "{} twice", asset.name);
    }
}

#[test]
fn the_graph_names_every_file_that_is_rendered() {
    let rendered = Rendered::new(example());
    let patterns: Vec<&str> = landfall_assets::graph().iter().flat_map(|asset| asset.files).copied().collect();
    let named = |path: &str| {
        patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(prefix) => path.starts_with(prefix),
            None => path == *pattern,
        })
    };
    for files in [&rendered.ignition, &rendered.manifests, &rendered.secrets.to_files()] {
        for (path, _) in files.iter() {
            assert!(named(path), "{path}");
        }
    }
}
