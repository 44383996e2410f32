//! A test's hook before each call.

use std::sync::{Arc, Mutex};

use landfall_simulator::core::{Call, Request, Running};

use super::client::Client;
use super::toy::{Toy, start_with_faults};

fn names(running: &Running<Toy>) -> Vec<String> {
    running.world().view(|toy, _| toy.names().into_iter().map(str::to_owned).collect())
}

#[tokio::test]
async fn a_hook_acts_before_each_call_that_is_answered_and_never_before_its_own() {
    let running = Arc::new(start_with_faults(&[]).await);
    let client = Client::new(&running);
    client.post("/items", "unseen").await.unwrap();
    let seen: Arc<Mutex<Vec<(Call, usize)>>> = Arc::default();
    let (heard, world) = (Arc::clone(&seen), running.world().clone());
    running.before_each_call(Some(Arc::new(move |call| {
        let (heard, world) = (Arc::clone(&heard), world.clone());
        Box::pin(async move {
            // What the hook does is done when the call is answered.
            tokio::task::yield_now().await;
            let number = heard.lock().unwrap().len();
            let request = Request::direct("POST", "/items", &[], format!("stranger-{number}"));
            assert_eq!(world.handle(&request).status, 201);
            let there = world.view(|toy, _| toy.names().len());
            heard.lock().unwrap().push((call, there));
        })
    })));
    client.post("/items", "first").await.unwrap();
    client.get("/items?all=1").await.unwrap();
    running.before_each_call(None);
    client.post("/items", "last").await.unwrap();
    let call = |method: &str| Call { service: "api", method: method.to_owned(), path: "/items".to_owned() };
    assert_eq!(*seen.lock().unwrap(), [(call("POST"), 2), (call("GET"), 4)]);
    assert_eq!(names(&running), ["unseen", "stranger-0", "first", "stranger-1", "last"]);
}
