//! Our reading of certificate requests beside that of the program that signs them.
//!
//! The controller manager signs what Go's `crypto/x509` sees in a request that we approved. So a small Go program reads the same requests, and
//! nothing that we accept may mean more, less or something else to it. Whatever we refuse is harmless.

mod judge;
mod mutation;
mod random;
mod tree;

use std::{sync::mpsc, thread};

use judge::Judge;
use landfall_machine_api::{CLIENT_SIGNER, CertificateRequest, SERVING_SIGNER, Wish, requested_node};
use mutation::Mutator;
use random::Random;

const NODE: &str = "demo-x7k2p-worker-abc";
const NODES: &str = "system:nodes";

/// What we see in a request that we accept, in the judge's words.
fn accepted(pem: &[u8]) -> Option<String> {
    let node = requested_node(pem)?;
    let user = format!("system:node:{node}");
    let read = |signer, usage| {
        let (groups, usages) = (vec![NODES], vec!["digital signature", usage]);
        CertificateRequest { signer, user: &user, groups, usages, pem }.read().ok()
    };
    let request = read(SERVING_SIGNER, "server auth").or_else(|| read(CLIENT_SIGNER, "client auth"))?;
    assert_eq!(request.node, node);
    let (names, addresses) = match request.wish {
        Wish::Serving { names, addresses } => (names, addresses),
        Wish::First | Wish::Renewal => (vec![], vec![]),
    };
    let addresses: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    let extensions = if names.is_empty() && addresses.is_empty() { "[]" } else { "[\"2.5.29.17\"]" };
    Some(format!("{user:?} [{NODES:?}] 2 {names:?} {addresses:?} [] [] {extensions}"))
}

#[test]
fn requests_of_kubelets_are_accepted() {
    let judge = Judge::build();
    let user = format!("system:node:{NODE}");
    for names in [&[][..], &[NODE, "198.51.100.31"], &[NODE, "2001:db8::31", "198.51.100.31"]] {
        let pem = judge.make(&user, NODES, names);
        let ours = accepted(&pem).unwrap_or_else(|| panic!("refused: {}", String::from_utf8_lossy(&pem)));
        assert_eq!(judge.see(std::slice::from_ref(&pem)), [ours]);
    }
}

/// The forgery by which a node gets a certificate of the API: an attribute that Go skips because its set is empty, or with an extension
/// that another parser stops at.
#[test]
fn names_in_a_second_attribute_are_not_overlooked() {
    let judge = Judge::build();
    let own = judge.make(&format!("system:node:{NODE}"), NODES, &[NODE]);
    for (what, pem) in mutation::forgeries(&own) {
        assert_eq!(accepted(&pem), None, "{what}");
        let seen = judge.see(&[pem]);
        assert!(
            seen[0].contains("api-int.demo.example.com"),
            "Go sees the name, or the forgery is none: {what}: {seen:?}"
        );
    }
}

#[test]
fn what_is_accepted_is_what_go_sees() {
    let count: u64 = landfall_testkit::tier::choose(1_000_000, 100_000_000);
    let judge = Judge::build();
    let user = format!("system:node:{NODE}");
    let bases: Vec<Vec<u8>> = [&[][..], &[NODE, "198.51.100.31"], &[NODE, "2001:db8::31", "198.51.100.31"]]
        .iter()
        .map(|names| judge.make(&user, NODES, names))
        .collect();
    let threads = thread::available_parallelism().map_or(1, |threads| threads.get().min(2)) as u64;
    let counts: Vec<Counts> = thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|number| {
                let (judge, bases) = (&judge, &bases);
                scope.spawn(move || compare(judge, bases, number, count / threads))
            })
            .collect();
        running.into_iter().map(|thread| thread.join().expect("no disagreement")).collect()
    });
    let total = counts.iter().fold(Counts::default(), |sum, counts| Counts {
        accepted: sum.accepted + counts.accepted,
        by_go_alone: sum.by_go_alone + counts.by_go_alone,
        bad_key: sum.bad_key + counts.bad_key,
    });
    println!("{count} requests: {total:?}");
    // The generator must stay close to what is accepted, and must make what only Go accepts.
    assert!(total.accepted > count / 50 && total.by_go_alone > count / 50, "{total:?}");
}

#[derive(Debug, Default)]
struct Counts {
    /// Accepted by both, with the same meaning.
    accepted: u64,
    /// Accepted by Go alone.
    by_go_alone: u64,
    /// Accepted by us alone, because of a point that is not on the curve: nothing can be signed for that.
    bad_key: u64,
}

fn compare(judge: &Judge, bases: &[Vec<u8>], seed: u64, count: u64) -> Counts {
    let (mut requests, answers) = judge.start();
    let (sender, receiver) = mpsc::sync_channel::<(Vec<u8>, Option<String>)>(10_000);
    let mut counts = Counts::default();
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut mutator = Mutator::new(bases, Random::new(seed));
            for _ in 0..count {
                let pem = mutator.next();
                requests.send(&pem);
                let ours = accepted(&pem);
                if sender.send((pem, ours)).is_err() {
                    return;
                }
            }
        });
        for seen in answers {
            let (pem, ours) = receiver.recv().expect("an answer follows a request");
            let refused = seen.starts_with("refused: ");
            match ours {
                None if refused => {}
                None => counts.by_go_alone += 1,
                Some(_) if refused && seen.contains("P256 ") => counts.bad_key += 1,
                Some(ours) => {
                    let text = String::from_utf8_lossy(&pem);
                    assert_eq!(ours, seen, "seed {seed}: this request has two readings:\n{text}");
                    counts.accepted += 1;
                }
            }
        }
        assert!(receiver.recv().is_err(), "every request was answered");
    });
    counts
}
