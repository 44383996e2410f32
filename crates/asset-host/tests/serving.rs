//! What is served to whom.

use landfall_asset_host::{AssetHost, Assets, Identity};
use landfall_wire::{Client, Limits, Request, Trust};

#[tokio::test]
async fn secrets_need_the_path_and_tls() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("identity.json");
    let identity = Identity::establish(&file).unwrap();
    let mut assets = Assets::default();
    assets.public.insert("boot.ipxe".to_owned(), "#!ipxe".into());
    assets.private.insert("bootstrap.ign".to_owned(), "{}".into());
    let host = AssetHost::start("127.0.0.1:0", "127.0.0.1", &identity, assets).await.unwrap();
    let (address, token) = (host.address(), &identity.token);
    let trusting = Client::new(&Trust::Only(identity.authority.clone()), Limits::default()).unwrap();
    let strict = Client::new(&Trust::System, Limits::default()).unwrap();
    let status = async |client: &Client, url: String| {
        let reply = client.send(Request::get(url.parse().unwrap())).await;
        reply.map(|reply| (reply.status(), reply.contents().to_vec())).ok()
    };
    assert_eq!(status(&trusting, format!("http://{address}/{token}/boot.ipxe")).await, Some((200, b"#!ipxe".to_vec())));
    assert_eq!(
        status(&trusting, format!("https://{address}/{token}/bootstrap.ign")).await,
        Some((200, b"{}".to_vec()))
    );
    for wrong in [
        format!("http://{address}/{token}/bootstrap.ign"),
        format!("https://{address}/{}/bootstrap.ign", "0".repeat(token.len())),
        format!("https://{address}/bootstrap.ign"),
        format!("https://{address}/{token}/other"),
    ] {
        assert_eq!(status(&trusting, wrong.clone()).await.map(|(status, _)| status), Some(404), "{wrong}");
    }
    assert_eq!(status(&strict, format!("https://{address}/{token}/boot.ipxe")).await, None, "the authority is its own");

    host.forget_private();
    let gone = status(&trusting, format!("https://{address}/{token}/bootstrap.ign")).await;
    assert_eq!(gone.map(|(status, _)| status), Some(404));

    // A second run is the same host to machines of the first, and nobody else may read the file.
    let again = Identity::establish(&file).unwrap();
    assert_eq!((&again.token, &again.authority), (token, &identity.authority));
    let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&file).unwrap());
    assert_eq!(mode & 0o777, 0o600);
    drop(host);
}
