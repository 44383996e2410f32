//! How many calls an installation takes.

use crate::scene::{Scene, config, config_with_image};

#[tokio::test]
async fn look() {
    for image in [false, true] {
        let began = std::time::Instant::now();
        let scene = Scene::new().await;
        println!("start {:?}", began.elapsed());
        let config = if image { config_with_image(&scene.image(), 1) } else { config(3, 2) };
        let cluster = scene.cluster("demo-x7k2p", config);
        let began = std::time::Instant::now();
        cluster.install().await.unwrap();
        println!("install {:?}", began.elapsed());
        println!("{:#?}", scene.engine.request_counts());
        println!("{:#?}", cluster.list());
        cluster.destroy().await.unwrap();
        println!("{:#?}", cluster.list());
    }
}
