use crate::engine::*;
use landfall_simulator::core::Simulation;
#[tokio::test]
async fn look() {
    let engine = start(&[]).await;
    let c = client(&engine, "landfall");
    println!("{}", c.product().await.unwrap());
    let snapshot = engine.world().view(|engine, _| engine.snapshot());
    println!("{}", serde_json::to_string_pretty(&snapshot).unwrap());
}
