//! Uploads that are interrupted, go astray, or have been done already.

use std::{sync::Arc, time::Duration};

use landfall_platform::{ErrorClass, error_chain};

use crate::scene::{Cluster, Scene, config_with_image};

const PUT: &str = "PUT /images/{id}";

fn puts(scene: &Scene) -> u64 {
    scene.engine.request_counts().get(PUT).copied().unwrap_or_default()
}

/// Two of three pieces arrive, then the host refuses the third.
async fn interrupted(scene: &Arc<Scene>) -> Cluster {
    let cluster = scene.cluster("demo-x7k2p", config_with_image(&scene.image_of(9), 1));
    let rule = scene.fault("PUT /images/* nth=3 status=400");
    let error = error_chain(&cluster.install().await.unwrap_err());
    assert!(error.contains("uploading bytes 8388608-9437183/*"), "{error}");
    scene.engine.with_faults(|plan| plan.remove(rule));
    assert_eq!(puts(scene), 3);
    cluster
}

#[tokio::test]
async fn an_interrupted_upload_goes_on_where_it_stopped() {
    let scene = Scene::slow().await;
    let cluster = interrupted(&scene).await;
    cluster.install().await.unwrap();
    assert_eq!(puts(&scene) - 3, 2, "the last piece that is there may have been cut off, so it is sent again");
}

#[tokio::test]
async fn an_image_that_is_there_is_not_sent_again() {
    let scene = Scene::new().await;
    let cluster = scene.cluster("demo-x7k2p", config_with_image(&scene.image(), 1));
    // The image has arrived; making the machine for the template fails.
    let rule = scene.fault("POST /ovirt-engine/api/vms status=400 body=platform");
    assert!(cluster.install().await.is_err());
    scene.engine.with_faults(|plan| plan.remove(rule));
    let before = puts(&scene);
    cluster.install().await.unwrap();
    assert!(puts(&scene) - before <= 1, "at most the last piece is sent again");
}

#[tokio::test]
async fn another_image_takes_the_place_of_one_that_was_begun() {
    let scene = Scene::new().await;
    let cluster = scene.cluster("demo-x7k2p", config_with_image(&scene.image(), 1));
    let rule = scene.fault("POST /ovirt-engine/api/vms status=400 body=platform");
    assert!(cluster.install().await.is_err());
    scene.engine.with_faults(|plan| plan.remove(rule));
    let mut other = crate::scene::image(5);
    *other.last_mut().unwrap() ^= 1;
    std::fs::write(scene.image(), &other).unwrap();
    cluster.install().await.unwrap();
    let images: Vec<String> = cluster.list().into_iter().filter(|line| line.contains("image sha256:")).collect();
    let digests: std::collections::BTreeSet<&str> =
        images.iter().filter_map(|line| line.split("sha256:").nth(1)?.split(' ').next()).collect();
    assert_eq!(digests.len(), 1, "{images:#?}");
    assert_eq!(*digests.first().unwrap(), sha256(&other));
}

#[tokio::test]
async fn a_paused_transfer_is_resumed() {
    let scene = Scene::slow().await;
    let cluster = interrupted(&scene).await;
    scene.engine.step(Duration::from_hours(1));
    let transfers = scene.call("GET", "imagetransfers", serde_json::Value::Null).await;
    assert_eq!(transfers["image_transfer"][0]["phase"], "paused_system", "{transfers}");
    cluster.install().await.unwrap();
    assert_eq!(puts(&scene) - 3, 2);
}

#[tokio::test]
async fn a_damaged_upload_is_noticed_and_done_again() {
    let scene = Scene::slow().await;
    let cluster = interrupted(&scene).await;
    // Somebody else's bytes end up in the part that is not going to be sent again.
    let transfers = scene.call("GET", "imagetransfers", serde_json::Value::Null).await;
    let url = transfers["image_transfer"][0]["transfer_url"].as_str().unwrap().parse().unwrap();
    let trust = landfall_wire::Trust::Only(scene.engine.ca_pem().unwrap().to_owned());
    let http = landfall_wire::Client::new(&trust, landfall_wire::Limits::default()).unwrap();
    let damage = landfall_wire::Request::put(url, b"damage"[..].into()).header("content-range", "bytes 1000-1005/*");
    assert_eq!(http.send(damage).await.unwrap().status(), 200);
    let before = puts(&scene);
    cluster.install().await.unwrap();
    assert_eq!(puts(&scene) - before, 5, "two pieces to go on, then all three because the checksums differ");
}

#[tokio::test]
async fn what_is_no_image_is_refused_with_a_reason() {
    for (contents, reason) in [(&b"\xfd7zXZ\0\0\0"[..], "xz -d"), (b"<html>", "web page"), (b"", "not a qcow2")] {
        let scene = Scene::new().await;
        let path = scene.home.path().join("wrong.qcow2");
        std::fs::write(&path, contents).unwrap();
        let cluster = scene.cluster("demo-x7k2p", config_with_image(&path, 1));
        let error = cluster.install().await.unwrap_err();
        assert!(error_chain(&error).contains(reason), "{}", error_chain(&error));
        let landfall_engine::ApplyError::Step { source, .. } = error else { panic!("{error}") };
        assert_eq!(source.class(), ErrorClass::Invalid);
    }
}

#[tokio::test]
async fn a_gzipped_image_is_unpacked_once() {
    use std::io::Write;
    let scene = Scene::new().await;
    let path = scene.home.path().join("os.qcow2.gz");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&crate::scene::image(5)).unwrap();
    std::fs::write(&path, packed.finish().unwrap()).unwrap();
    let cluster = scene.cluster("demo-x7k2p", config_with_image(&path, 1));
    cluster.install().await.unwrap();
    let digest = sha256(&crate::scene::image(5));
    assert!(cluster.list().iter().any(|line| line.contains(&digest)), "{:#?}", cluster.list());
    assert_eq!(std::fs::read_dir(scene.home.path().join("images")).unwrap().count(), 1);
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    format!("{:x}", Sha256::digest(bytes))
}
