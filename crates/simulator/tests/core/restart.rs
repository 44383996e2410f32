//! The state file: restarts, kills, and files that cannot be used.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use landfall_simulator::core::Options;
use serde_json::json;

use super::client::Client;
use super::toy::{READY_AFTER, start, stepped, try_start};

fn with_state(path: &Path) -> Options {
    Options { state: Some(path.to_owned()), ..stepped() }
}

async fn fails(options: &Options) -> String {
    let Err(error) = try_start(options).await else { panic!("it started") };
    error.to_string()
}

#[tokio::test]
async fn a_restart_goes_on_in_the_middle_of_what_was_going_on() {
    let directory = tempfile::tempdir().unwrap();
    let options = with_state(&directory.path().join("toy.json"));
    let first = start(&Options { seed: Some(9), ..options.clone() }).await;
    let client = Client::new(&first);
    client.post("/items", "one").await.unwrap();
    client.post("/machines", "m").await.unwrap();
    first.step(READY_AFTER * 4 / 5);
    client.post("/items", "two").await.unwrap();
    let before = client.get("/items").await.unwrap();
    let ca = first.ca_pem().unwrap().to_owned();
    first.stop().await;

    let second = start(&options).await;
    let client = Client::with_ca(second.url(), Some(&ca));
    assert_eq!(client.get("/items").await.unwrap().body, before.body);
    assert_eq!(second.world().now().0, READY_AFTER * 4 / 5);
    second.step(Duration::from_secs(1));
    let items = client.get("/items").await.unwrap().json();
    assert_eq!([&items[0]["ready_at"].is_null(), &items[1]["ready_at"].is_null()], [&true, &false]);
    second.step(Duration::from_secs(15));
    assert_eq!(client.get("/machines").await.unwrap().json()[0]["up"], true, "the guest went on booting");
}

#[tokio::test]
async fn an_answered_call_is_in_the_file_already() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("toy.json");
    let running = start(&with_state(&path)).await;
    let client = Client::new(&running);
    for number in 0..20 {
        client.post("/items", &format!("item {number}")).await.unwrap();
        let saved: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let items = saved["simulation"]["items"].as_array().unwrap();
        assert_eq!(items.last().unwrap()["name"], format!("item {number}"));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[tokio::test]
async fn a_change_that_is_faster_than_the_keeper_of_the_file_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("toy.json");
    let running = start(&with_state(&path)).await;
    // Tests have one thread, so no task of the simulator has run yet. With more threads a first call may come as early.
    running.step(Duration::from_secs(7));
    let written = async {
        while !path.exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), written).await.expect("the state is written");
}

#[tokio::test]
async fn a_lost_reply_is_in_the_file_too() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("toy.json");
    let options = Options { faults: vec!["POST * lost-reply".parse().unwrap()], ..with_state(&path) };
    let running = start(&options).await;
    Client::new(&running).post("/items", "one").await.unwrap_err();
    drop(running);
    assert!(std::fs::read_to_string(&path).unwrap().contains("\"one\""));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_end_without_a_stop_is_like_a_kill_and_leaves_the_file_free() {
    let directory = tempfile::tempdir().unwrap();
    let options = with_state(&directory.path().join("toy.json"));
    for round in 0..20 {
        let running = start(&options).await;
        assert_eq!(running.world().view(|toy, _| toy.names().len()), round);
        let client = Client::new(&running);
        client.post("/items", "answered").await.unwrap();
        running.step(Duration::from_secs(1));
        drop(running);
    }
}

#[tokio::test]
async fn what_only_time_changed_is_written_soon() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("toy.json");
    let options = Options { time_scale: 1000.0, ..with_state(&path) };
    let running = start(&options).await;
    Client::new(&running).post("/items", "one").await.unwrap();
    super::client::eventually("the file says that the item is ready", || {
        let saved: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        saved["simulation"]["items"][0]["ready_at"].is_null().then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_half_written_new_file_is_ignored() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("toy.json");
    let running = start(&with_state(&path)).await;
    Client::new(&running).post("/items", "one").await.unwrap();
    running.stop().await;
    std::fs::write(directory.path().join("toy.json.new"), "{\"format\": \"landf").unwrap();
    let running = start(&with_state(&path)).await;
    assert_eq!(running.world().view(|toy, _| toy.names().join(",")), "one");
}

#[tokio::test]
async fn files_that_cannot_be_used_are_refused_and_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("toy.json");
    let options = with_state(&path);
    let running = start(&Options { seed: Some(1), ..options.clone() }).await;
    Client::new(&running).post("/items", "one").await.unwrap();
    assert!(fails(&options).await.contains("is in use by another simulator"));
    running.stop().await;

    let seed = fails(&Options { seed: Some(2), ..options.clone() }).await;
    assert!(seed.contains("was made with seed 1, not 2"), "{seed}");

    let good = std::fs::read_to_string(&path).unwrap();
    for (content, message) in [
        (good.replace("\"toy\"", "\"ovirt\""), "holds the state of platform ovirt, not that of toy"),
        (good.replace("simulator/1", "simulator/7"), "holds state of the format landfall-simulator/7"),
        (good[..good.len() / 2].to_owned(), "is not a simulator's state; remove it to begin anew"),
        (json!({ "other": 1 }).to_string(), "is not a simulator's state"),
    ] {
        std::fs::write(&path, &content).unwrap();
        let error = fails(&options).await;
        assert!(error.contains(message), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
    }
}

#[tokio::test]
async fn a_call_that_cannot_be_saved_is_not_answered_as_done() {
    let directory = tempfile::tempdir().unwrap();
    let inner = directory.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    let running = start(&with_state(&inner.join("toy.json"))).await;
    std::fs::remove_dir_all(&inner).unwrap();
    let answer = Client::new(&running).post("/items", "one").await.unwrap();
    assert_eq!(answer.status, 500);
    assert!(answer.text().starts_with("write the state file: failed to open file"), "{}", answer.text());
}

/// A toy in a process of its own, which is this test program again.
struct Process {
    child: Child,
    /// Held so that the process can go on printing.
    _stdout: BufReader<ChildStdout>,
    client: Client,
}

impl Process {
    fn start(state: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "restart::a_toy_in_a_process_of_its_own", "--ignored", "--nocapture"])
            .env("TOY_STATE", state)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let ready =
            stdout.by_ref().lines().map(Result::unwrap).find(|line| line.starts_with('{')).expect("a ready line");
        let ready: serde_json::Value = serde_json::from_str(&ready).unwrap();
        let url = ready["url"].as_str().unwrap().trim_end_matches("/items");
        Self { client: Client::with_ca(url, None), child, _stdout: stdout }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
#[ignore = "run by the tests below as a process to be killed"]
async fn a_toy_in_a_process_of_its_own() {
    let Some(state) = std::env::var_os("TOY_STATE") else { return };
    let running = start(&Options { http: true, ..with_state(Path::new(&state)) }).await;
    running.run_until_signal(&mut std::io::stdout()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_at_any_moment_loses_nothing_that_was_answered() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("toy.json");
    let mut answered: Vec<String> = Vec::new();
    for round in 0..5 {
        let mut process = Process::start(&path);
        let client = process.client.clone();
        let writers = (0..4).map(|writer| {
            let client = client.clone();
            // Writes until the process is gone, and remembers what was answered.
            async move {
                let mut done = Vec::new();
                for number in 0.. {
                    let name = format!("{round}.{writer}.{number}");
                    match client.post("/items", &name).await {
                        Ok(answer) if answer.status == 201 => done.push(name),
                        Ok(answer) => panic!("{answer:?}"),
                        Err(_) => break,
                    }
                }
                done
            }
        });
        let writing = tokio::spawn(futures::future::join_all(writers.collect::<Vec<_>>()));
        // Killed when a number of writes are through, with others under way.
        let enough = 10 + round * 3;
        loop {
            let items = client.get("/items").await.unwrap().json();
            if items.as_array().unwrap().len() >= answered.len() + enough {
                break;
            }
        }
        process.child.kill().unwrap();
        process.child.wait().unwrap();
        answered.extend(writing.await.unwrap().into_iter().flatten());
        let running = start(&with_state(&path)).await;
        let names: Vec<String> = running.world().view(|toy, _| toy.names().into_iter().map(Into::into).collect());
        let missing: Vec<_> = answered.iter().filter(|name| !names.contains(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        // Everything in the file counts as answered from now on: a reply may have been lost with the process.
        answered = names;
        running.stop().await;
    }
    assert!(answered.len() >= 50, "{}", answered.len());
}

#[cfg(unix)]
#[tokio::test]
async fn a_signal_ends_the_process_properly() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("toy.json");
    for signal in ["TERM", "INT"] {
        let mut process = Process::start(&path);
        process.client.post("/items", signal).await.unwrap();
        let id = process.child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        let status = process.child.wait().unwrap();
        assert!(status.success(), "{status}");
    }
    let running = start(&with_state(&path)).await;
    assert_eq!(running.world().view(|toy, _| toy.names().join(",")), "TERM,INT");
}
