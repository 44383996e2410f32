//! A bucket of an object store that other people wrote.

#![allow(clippy::unwrap_used, reason = "these are tests, all of them")]

use std::time::Duration;

use bytes::Bytes;
use landfall_asset_host::{Bucket, BucketPlace};
use landfall_platform::Environment;
use landfall_testkit::{
    Authority,
    object_store::{BUCKET, KEY_ID, ObjectStore, REGION, SECRET_KEY},
};
use landfall_wire::{Client, Limits, Request, Trust};
use url::Url;

const OBJECT: &str = "landfall/demo-x7k2p/bootstrap.ign";

fn open(store: &ObjectStore, trust: &Trust, name: &str, secret: &str) -> Bucket {
    let environment: Environment =
        [("AWS_ACCESS_KEY_ID", KEY_ID), ("AWS_SECRET_ACCESS_KEY", secret), ("HOME", "/nonexistent")]
            .into_iter()
            .collect();
    let endpoint: Url = store.endpoint().parse().unwrap();
    Bucket::new(&BucketPlace { endpoint: Some(&endpoint), region: REGION, name }, &environment, trust).unwrap()
}

/// As a machine asks: with nothing but the link.
async fn fetch(trust: &Trust, link: Url) -> (u16, Vec<u8>) {
    let reply = Client::new(trust, Limits::default()).unwrap().send(Request::get(link)).await.unwrap();
    (reply.status(), reply.contents().to_vec())
}

#[tokio::test]
async fn a_link_is_all_that_a_machine_needs_and_holds_for_one_object_and_a_while() {
    let authority = Authority::new("object store");
    let (store, trust) = (ObjectStore::start(&authority), Trust::Only(authority.pem().to_owned()));
    let bucket = open(&store, &trust, BUCKET, SECRET_KEY);
    bucket.put(OBJECT, Bytes::from_static(b"secret")).await.unwrap();
    assert_eq!(store.objects(), [OBJECT]);

    let link = bucket.link(OBJECT, Duration::from_mins(10));
    assert_eq!(fetch(&trust, link.clone()).await, (200, b"secret".to_vec()));
    let mut bare = link.clone();
    bare.set_query(None);
    assert_eq!(fetch(&trust, bare).await.0, 403, "nothing is public");
    let other = link.as_str().replace("bootstrap.ign", "boot.ipxe").parse().unwrap();
    assert_eq!(fetch(&trust, other).await.0, 403, "a link is for one object");
    let forged = link.as_str().replace("X-Amz-Expires=600", "X-Amz-Expires=60000").parse().unwrap();
    assert_eq!(fetch(&trust, forged).await.0, 403, "nobody can make a link last longer");

    let short = bucket.link(OBJECT, Duration::from_secs(1));
    let expires = tokio::time::Instant::now() + Duration::from_secs(20);
    loop {
        let (status, contents) = fetch(&trust, short.clone()).await;
        if status != 200 {
            let text = String::from_utf8_lossy(&contents).into_owned();
            assert!(status == 403 && text.contains("expired"), "{status}: {text}");
            break;
        }
        assert!(tokio::time::Instant::now() < expires, "the link never expires");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }

    bucket.put(OBJECT, Bytes::from_static(b"newer")).await.unwrap();
    assert_eq!(fetch(&trust, link.clone()).await.1, b"newer");
    bucket.remove(OBJECT).await.unwrap();
    bucket.remove(OBJECT).await.unwrap();
    assert_eq!(fetch(&trust, link).await.0, 404);
    assert_eq!(store.objects(), Vec::<String>::new());
}

#[tokio::test]
async fn what_the_store_refuses_is_said_in_its_words() {
    let authority = Authority::new("object store");
    let (store, trust) = (ObjectStore::start(&authority), Trust::Only(authority.pem().to_owned()));
    for (name, secret, told) in
        [(BUCKET, "wrong", "status 403 SignatureDoesNotMatch"), ("other", SECRET_KEY, "status 404 NoSuchBucket")]
    {
        let error = open(&store, &trust, name, secret).put(OBJECT, Bytes::new()).await.unwrap_err().to_string();
        assert!(error.contains(told) && error.contains(OBJECT), "{error}");
    }
}
