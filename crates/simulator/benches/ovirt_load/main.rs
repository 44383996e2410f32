//! Load on a toy, to try the harness.
#![allow(dead_code, clippy::print_stdout, clippy::unwrap_used)]

mod measure;
#[path = "../../tests/core/toy.rs"]
mod toy;

use std::time::Duration;

use measure::{Call, Target, measure};

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let running = toy::start(&toy::stepped()).await;
        let authority = running.url().trim_start_matches("https://").to_owned();
        let target = Target::new(&authority, running.ca_pem().unwrap().as_bytes()).unwrap();
        for connections in [1, 8] {
            let measured =
                measure(&target, connections, Duration::from_secs(2), |_| Call::get("/items")).await.unwrap();
            println!("GET /items on {connections}: {measured}");
        }
    });
}
