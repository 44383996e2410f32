//! Uploads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use landfall_platform_powervm::client::{Before, FileKind, Source, Upload};

use crate::scene::Scene;

#[tokio::test]
async fn a_medium_is_uploaded_with_progress_and_leaves_no_note() {
    let scene = Scene::new().await;
    let client = scene.client();
    let vios = client.vioses(&[]).await.unwrap().remove(0).partition.id;
    let path = scene.home.path().join("image.iso");
    std::fs::write(&path, vec![7; 3_000_000]).unwrap();
    let seen = Arc::new(AtomicU64::new(0));
    let told = seen.clone();
    let upload = Upload { name: "cfg.iso", kind: FileKind::Medium, vios: &vios, before: Before::Unknown };
    let uploaded = client
        .upload(&upload, Source::File(&path), move |sent, total| {
            assert_eq!(total, 3_000_000);
            assert!(told.swap(sent, Ordering::Relaxed) < sent);
        })
        .await
        .unwrap();
    assert_eq!(uploaded.bytes, 3_000_000);
    assert_eq!(seen.load(Ordering::Relaxed), 3_000_000);
    let group = client.volume_groups(&vios).await.unwrap().remove(0);
    assert_eq!(group.media.unwrap()[0].name, "cfg.iso");
    assert_eq!(scene.count("DELETE /rest/api/web/File/{id}"), 1);
    // A second one of the name is refused, and its note is deleted all the same.
    let error = client.upload(&upload, Source::File(&path), |_, _| {}).await.unwrap_err();
    assert!(error.to_string().contains("exists already"), "{error}");
    assert_eq!(scene.count("DELETE /rest/api/web/File/{id}"), 2);
    let group = client.delete_medium(&vios, &group.id, "cfg.iso").await.unwrap();
    assert_eq!(group.media.unwrap(), []);
}

#[tokio::test]
async fn what_was_left_by_an_attempt_that_broke_off_is_cleaned_up() {
    let scene = Scene::new().await;
    let client = scene.client();
    let vios = client.vioses(&[]).await.unwrap().remove(0).partition.id;
    let path = scene.home.path().join("image.iso");
    std::fs::write(&path, b"small").unwrap();
    scene.fault("PUT /rest/api/web/File/contents/* nth=1 reset");
    scene.fault("DELETE /rest/api/web/File/* nth=1 status=503 body=platform");
    let upload = Upload { name: "cfg.iso", kind: FileKind::Medium, vios: &vios, before: Before::Unknown };
    client.upload(&upload, Source::File(&path), |_, _| {}).await.unwrap_err();
    client.upload(&upload, Source::File(&path), |_, _| {}).await.unwrap();
    assert_eq!(scene.count("DELETE /rest/api/web/File/{id}"), 3, "the failed one, the old note, the new note");
}

#[tokio::test]
async fn a_file_that_is_not_there_is_named() {
    let scene = Scene::new().await;
    let client = scene.client();
    let upload = Upload { name: "a", kind: FileKind::Medium, vios: "x", before: Before::Unknown };
    let error =
        client.upload(&upload, Source::File(&scene.home.path().join("nothing.iso")), |_, _| {}).await.unwrap_err();
    assert!(error.to_string().contains("nothing.iso"), "{error}");
}
