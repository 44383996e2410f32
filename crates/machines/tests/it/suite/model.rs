//! Random operations, and what must hold once everything has settled.

use std::time::Duration;

use landfall_testkit::tier;
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

use crate::{
    cluster::{Cluster, eventually, names},
    worlds::{Trouble, World},
};

/// How long one case may take.
const LIMIT: Duration = Duration::from_mins(3);

/// What somebody does.
#[derive(Clone, Debug)]
enum Operation {
    Scale(u8),
    /// Deletes the object of the n-th machine.
    Delete(u8),
    /// Deletes the instance of the n-th machine behind the controllers' backs.
    Destroy(u8),
    /// Kills the controllers and starts others.
    Crash,
    /// Replies get lost, or nothing goes wrong any more.
    Trouble(bool),
    /// Lets things go on for a while.
    Wait(u16),
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        3 => (0..5u8).prop_map(Operation::Scale),
        2 => any::<u8>().prop_map(Operation::Delete),
        1 => any::<u8>().prop_map(Operation::Destroy),
        1 => Just(Operation::Crash),
        1 => any::<bool>().prop_map(Operation::Trouble),
        3 => (0..300u16).prop_map(Operation::Wait),
    ]
}

pub(crate) async fn random_operations_settle<W: World>() {
    let cases = tier::choose(4, 12);
    let handle = tokio::runtime::Handle::current();
    tokio::task::spawn_blocking(move || {
        // A case that fails is printed as it is: what the clock did to it cannot be shrunk.
        let config = Config { cases, max_shrink_iters: 0, failure_persistence: None, ..Config::default() };
        TestRunner::new(config)
            .run(&proptest::collection::vec(operation(), 1..12), |operations| {
                let limited = handle.block_on(async { tokio::time::timeout(LIMIT, case::<W>(&operations)).await });
                limited.map_err(|_| TestCaseError::fail(format!("not done after {LIMIT:?}")))
            })
            .unwrap();
    })
    .await
    .unwrap();
}

async fn case<W: World>(operations: &[Operation]) {
    let cluster = Cluster::<W>::new().await;
    let mut controllers = cluster.run();
    let set = cluster.set("worker", 1).await;
    super::health::check(&cluster, "100%", "0").await;
    let mut wanted = 1;
    for operation in operations {
        let pick = |machines: &[landfall_machines::Machine], at: u8| {
            (!machines.is_empty()).then(|| machines[usize::from(at) % machines.len()].name().to_owned())
        };
        match operation {
            Operation::Scale(number) => {
                wanted = *number;
                cluster.scale(&set, i32::from(wanted)).await;
            }
            Operation::Delete(at) => {
                if let Some(name) = pick(&cluster.list().await, *at) {
                    let _gone_meanwhile = cluster.machines().delete(&name, &Default::default()).await;
                }
            }
            Operation::Destroy(at) => {
                if let Some(name) = pick(&cluster.list().await, *at) {
                    let credentials =
                        cluster.world.credentials().into_iter().map(|(key, value)| (key, value.into())).collect();
                    let poll = cluster.options().pace.poll;
                    let stranger = cluster.world.provider().connect(&credentials, &cluster.infra_id, poll).unwrap();
                    let _in_the_way = stranger.machines.delete(name.as_str().into(), &|_| ()).await;
                }
            }
            Operation::Crash => {
                controllers.kill().await;
                controllers = cluster.run();
            }
            Operation::Trouble(true) => cluster.world.trouble(Trouble::LostReplies),
            Operation::Trouble(false) => cluster.world.calm(),
            Operation::Wait(milliseconds) => {
                tokio::time::sleep(Duration::from_millis(u64::from(*milliseconds))).await;
            }
        }
    }
    cluster.world.calm();
    // As many as wanted, each with exactly one instance that is the one it names, and no instance without an object.
    let machines = cluster.settled(usize::from(wanted)).await;
    eventually("ids agree", || async {
        let credentials = cluster.world.credentials().into_iter().map(|(key, value)| (key, value.into())).collect();
        let poll = cluster.options().pace.poll;
        let outsider = cluster.world.provider().connect(&credentials, &cluster.infra_id, poll).unwrap();
        let mut instances: Vec<_> =
            outsider.machines.list().await.unwrap().machines.into_iter().map(|instance| instance.provider_id).collect();
        let mut named: Vec<_> =
            cluster.list().await.iter().filter_map(|machine| machine.provider_id().map(str::to_owned)).collect();
        instances.sort();
        named.sort();
        if instances == named { Ok(()) } else { Err(format!("{instances:?} {named:?}")) }
    })
    .await;
    assert_eq!(names(&machines).len(), usize::from(wanted), "{operations:?}");
    cluster.scale(&set, 0).await;
    cluster.settled(0).await;
    cluster.nothing_left().await;
    controllers.stop().await.unwrap();
}
