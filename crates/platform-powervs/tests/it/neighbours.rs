//! Clusters beside each other, whose names look alike.

use std::sync::Arc;

use serde_json::json;

use crate::scene::{Scene, config};

#[tokio::test]
async fn a_cluster_goes_and_its_neighbours_stay() {
    let scene = Scene::new(&[]).await;
    // The infra id of the third begins with the whole of the first.
    let clusters: Vec<_> = ["a-bcdfg", "ba-bcdfg", "a-bcdfg-hjklm"]
        .into_iter()
        .map(|id| Arc::clone(&scene).cluster_called(id, config(json!({}), 1, 0)))
        .collect();
    let mut journals = Vec::new();
    for cluster in &clusters[1..] {
        let (home, journal) = cluster.journal();
        cluster.apply(&journal).await.unwrap();
        journals.push((home, journal));
    }
    let others = scene.inventory();
    let (_home, journal) = clusters[0].journal();
    clusters[0].apply(&journal).await.unwrap();
    // Everything that carries the mark goes, also without a journal.
    let (_lost, empty) = clusters[0].journal();
    clusters[0].destroy(&empty).await.unwrap();
    assert_eq!(scene.inventory(), others);
}
