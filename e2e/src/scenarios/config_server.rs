//! Who gets a config, and who does not.

use std::io::Read as _;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use futures::future::join_all;
use serde_json::Value;

use crate::cluster::{Cluster, config_server};

/// Machines that boot at once.
const CROWD: usize = 1000;

/// The pointer config of a role: what a machine is given to ask with.
struct Pointer {
    authority: String,
    token: String,
}

impl Pointer {
    fn read(cluster: &Cluster<'_>, role: &str) -> anyhow::Result<Self> {
        let path = cluster.file(&format!("{role}.ign"));
        let config: Value = serde_json::from_slice(&std::fs::read(&path)?)?;
        let source = &config["ignition"]["config"]["merge"][0];
        let token = source["httpHeaders"][0]["value"].as_str().context("the pointer config has no token")?;
        let authority = config["ignition"]["security"]["tls"]["certificateAuthorities"][0]["source"].as_str();
        let url = authority.context("the pointer config pins no authority")?;
        let url = data_url::DataUrl::process(url).map_err(|error| anyhow::anyhow!("{error:?}"))?;
        let (compressed, _) = url.decode_to_vec().map_err(|error| anyhow::anyhow!("{error:?}"))?;
        let mut authority = String::new();
        flate2::read::GzDecoder::new(compressed.as_slice()).read_to_string(&mut authority)?;
        Ok(Self { authority, token: token.to_owned() })
    }
}

/// Machines without the right token get nothing; those with it get their config. The token of masters has ended with the
/// installation.
pub(crate) async fn refusals(cluster: &Cluster<'_>) -> anyhow::Result<String> {
    let (worker, master) = (Pointer::read(cluster, "worker")?, Pointer::read(cluster, "master")?);
    let client = config_server(&worker.authority)?;
    let accept = ("accept", "application/vnd.coreos.ignition+json;version=3.3.0, */*;q=0.1");
    let good = client.send("GET", "/config/worker", &[accept, ("authorization", &worker.token)], "").await?;
    ensure!(good.status == 200 && serde_json::from_slice::<Value>(&good.body).is_ok(), "a worker got {}", good.status);

    let wrong = "Bearer 0000000000000000000000000000000000000000000000000000000000000000";
    let trials: [(&str, &str, Option<&str>); 5] = [
        ("without a token", "worker", None),
        ("with a wrong token", "worker", Some(wrong)),
        ("a worker asking for a master's config", "master", Some(&worker.token)),
        ("a master after its token was revoked", "master", Some(&master.token)),
        ("a master asking for a worker's config", "worker", Some(&master.token)),
    ];
    let mut refused = Vec::new();
    for (who, role, token) in trials {
        let mut headers = vec![accept];
        headers.extend(token.map(|token| ("authorization", token)));
        let answer = client.send("GET", &format!("/config/{role}"), &headers, "").await?;
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        ensure!((400..500).contains(&answer.status), "{who}: got {}", answer.status);
        ensure!(!text.contains("ignition"), "{who}: got a config with the refusal");
        refused.push(format!("{who}: {}", answer.status));
    }
    // The engine's authority is a good one, but not the one that signs config servers.
    let other = config_server(&cluster.lab.authority()?)?;
    let answer = other.send("GET", "/config/worker", &[accept, ("authorization", &worker.token)], "").await;
    ensure!(answer.is_err(), "a machine that pins another authority was served");
    refused.push("another authority: no connection".to_owned());
    Ok(refused.join("; "))
}

/// A thousand machines fetch their config at once.
pub(crate) async fn crowd(cluster: &Cluster<'_>) -> anyhow::Result<String> {
    let worker = Pointer::read(cluster, "worker")?;
    let client = config_server(&worker.authority)?.within(Duration::from_mins(1));
    let headers = [("accept", "application/vnd.coreos.ignition+json;version=3.3.0"), ("authorization", &worker.token)];
    let began = Instant::now();
    let answers = join_all((0..CROWD).map(|_| client.send("GET", "/config/worker", &headers, ""))).await;
    let took = began.elapsed();
    let mut sizes = Vec::new();
    for answer in answers {
        let answer = answer?;
        ensure!(answer.status == 200, "one of {CROWD} got {}", answer.status);
        sizes.push(answer.body.len());
    }
    ensure!(sizes.iter().all(|size| *size == sizes[0]), "configs of different sizes");
    Ok(format!("{CROWD} fetches of {} bytes in {:.1} s, none refused", sizes[0], took.as_secs_f64()))
}
