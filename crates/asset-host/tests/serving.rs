//! What is served to whom.

#![allow(clippy::disallowed_methods, reason = "tests write what need not survive")]
#![allow(clippy::unwrap_used, reason = "a test that panics says where and why")]

use std::{net::SocketAddr, path::Path};

use landfall_asset_host::{AssetHost, Assets, Identity, Reader};
use landfall_wire::{Client, Limits, Request, Trust};

async fn host(file: &Path) -> (AssetHost, Identity) {
    let identity = Identity::establish(file).unwrap();
    let mut assets = Assets::default();
    assets.public.insert("boot.ipxe".to_owned(), "#!ipxe".into());
    assets.private.insert("bootstrap.ign".to_owned(), "{}".into());
    let host = AssetHost::start("127.0.0.1:0", "127.0.0.1", &identity, assets).await.unwrap();
    host.admit(Reader::First);
    (host, identity)
}

async fn fetch(trust: &Trust, url: String) -> Option<(u16, Vec<u8>)> {
    let client = Client::new(trust, Limits::default()).unwrap();
    let reply = client.send(Request::get(url.parse().unwrap())).await;
    reply.map(|reply| (reply.status(), reply.contents().to_vec())).ok()
}

fn files(address: SocketAddr, token: &str) -> [String; 3] {
    ["bootstrap.ign", "boot.ipxe", "other"].map(|name| format!("{address}/{token}/{name}"))
}

#[tokio::test]
async fn secrets_need_their_own_path_and_tls() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("identity.json");
    let (host, identity) = host(&file).await;
    let address = host.address();
    let trust = Trust::Only(identity.authority.clone());
    let (public, private) = (&identity.token, identity.private_token.as_ref().unwrap());
    assert_ne!(public, private);
    let [secret, ..] = files(address, private);
    let [_, script, _] = files(address, public);
    let refused = async |url: String| {
        let status = fetch(&trust, url.clone()).await.map(|(status, _)| status);
        assert_eq!(status, Some(404), "{url}");
    };
    for url in files(address, public).into_iter().filter(|url| *url != script) {
        refused(format!("http://{url}")).await;
        refused(format!("https://{url}")).await;
    }
    for url in files(address, private) {
        refused(format!("http://{url}")).await;
    }
    refused(format!("https://{address}/bootstrap.ign")).await;
    assert_eq!(fetch(&trust, format!("http://{script}")).await, Some((200, b"#!ipxe".to_vec())));
    assert_eq!(fetch(&Trust::System, format!("https://{script}")).await, None, "the authority is its own");
    assert_eq!(fetch(&trust, format!("https://{secret}")).await, Some((200, b"{}".to_vec())));
    assert_eq!(fetch(&trust, format!("https://{secret}")).await, Some((200, b"{}".to_vec())), "the reply was lost");
    host.forget_private();
    refused(format!("https://{secret}")).await;
}

/// Who listens on the wire gets the plain request and its answer.
#[tokio::test]
async fn what_travels_in_plain_opens_no_secret() {
    let directory = tempfile::tempdir().unwrap();
    let (host, identity) = host(&directory.path().join("identity.json")).await;
    let address = host.address();
    let seen = format!("http://{address}/{}/boot.ipxe", identity.token);
    let (_, script) = fetch(&Trust::System, seen.clone()).await.unwrap();
    let heard = format!("{seen}\n{}", String::from_utf8(script).unwrap());
    assert!(!heard.contains(identity.private_token.as_ref().unwrap()), "{heard}");
    let trust = Trust::Only(identity.authority.clone());
    for url in [
        seen.replace("boot.ipxe", "bootstrap.ign"),
        seen.replace("http:", "https:").replace("boot.ipxe", "bootstrap.ign"),
    ] {
        assert_eq!(fetch(&trust, url.clone()).await.map(|(status, _)| status), Some(404), "{url}");
    }
}

#[tokio::test]
async fn a_second_run_is_the_same_host() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("identity.json");
    let (first, again) = (Identity::establish(&file).unwrap(), Identity::establish(&file).unwrap());
    assert_eq!((&again.token, &again.private_token), (&first.token, &first.private_token));
    assert_eq!(again.authority, first.authority);
    let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&file).unwrap());
    assert_eq!(mode & 0o777, 0o600, "the file is the user's alone");
}

/// Machines of such a host were told one path for both kinds of files.
#[tokio::test]
async fn an_identity_of_an_earlier_version_serves_no_secrets() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("identity.json");
    Identity::establish(&file).unwrap();
    let mut earlier: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    earlier.as_object_mut().unwrap().remove("private_token").unwrap();
    std::fs::write(&file, earlier.to_string()).unwrap();
    let (host, identity) = host(&file).await;
    assert_eq!(identity.private_token, None);
    let [secret, script, _] = files(host.address(), &identity.token);
    let trust = Trust::Only(identity.authority.clone());
    assert_eq!(fetch(&trust, format!("https://{secret}")).await.map(|(status, _)| status), Some(404));
    assert_eq!(fetch(&trust, format!("http://{script}")).await.map(|(status, _)| status), Some(200));
}
