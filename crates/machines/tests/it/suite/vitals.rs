//! Health and figures, over HTTP.

use std::{collections::BTreeSet, time::Duration};

use landfall_testkit::ports::free_port;
use landfall_wire::{Client, Limits, Method, Request, Trust};

use crate::{
    cluster::{Cluster, client, eventually},
    worlds::World,
};

const DOCUMENT: &str = include_str!("../../../../../docs/machines.md");

/// Asks the controllers' listener.
async fn ask(port: u16, path: &str) -> Option<(u16, String)> {
    let http = Client::new(&Trust::System, Limits::default()).unwrap();
    let url = format!("http://127.0.0.1:{port}{path}").parse().unwrap();
    let reply = http.send(Request::bare(Method::GET, url)).await.ok()?;
    Some((reply.status(), String::from_utf8_lossy(reply.contents()).into_owned()))
}

async fn answers(port: u16, path: &str, status: u16) -> String {
    eventually(&format!("{path} answers {status}"), || async {
        match ask(port, path).await {
            Some((seen, text)) if seen == status => Ok(text),
            seen => Err(format!("{seen:?}")),
        }
    })
    .await
}

/// Names of figures in a text: whole words with the controllers' prefix.
fn figures(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c: char| !is_part(c)).filter(|word| word.starts_with("landfall_machines_"));
    words.map(|word| word.trim_end_matches("_total").to_owned()).collect()
}

pub(crate) async fn what_is_documented_is_served<W: World>() {
    let cluster = Cluster::<W>::new().await;
    let (leader, waiting) = (free_port(), free_port());
    let options = |identity: &str, port: u16| {
        let mut options = cluster.options();
        options.lease = Some(Cluster::<W>::lease(identity));
        options.listen = Some(([127, 0, 0, 1], port).into());
        options
    };
    let first = cluster.run_with(options("first", leader));
    answers(leader, "/readyz", 200).await;
    eventually("the first leads", || async {
        let text = answers(leader, "/metrics", 200).await;
        if text.contains("landfall_machines_leads 1") { Ok(()) } else { Err(text) }
    })
    .await;
    let second = cluster.run_with(options("second", waiting));
    // Who waits to lead is ready to.
    answers(waiting, "/readyz", 200).await;
    assert!(answers(waiting, "/metrics", 200).await.contains("landfall_machines_leads 0"));
    assert_eq!(answers(leader, "/healthz", 200).await, "ok\n");
    answers(leader, "/elsewhere", 404).await;

    cluster.set("worker", 2).await;
    cluster.settled(2).await;
    let text = eventually("the figures have followed", || async {
        let text = answers(leader, "/metrics", 200).await;
        let seen = [
            "landfall_machines_machines{phase=\"Provisioned\"} 2",
            "landfall_machines_fleet_instances 2",
            "landfall_machines_platform_reachable 1",
            "landfall_machines_platform_operations_total{verb=\"Create\",outcome=\"ok\"} 2",
        ];
        if seen.iter().all(|line| text.lines().any(|known| known == *line)) { Ok(text) } else { Err(text) }
    })
    .await;
    let served = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect::<Vec<_>>().join("\n");
    assert_eq!(figures(&served), figures(DOCUMENT), "what is served and what docs/machines.md says");
    first.stop().await.unwrap();
    second.stop().await.unwrap();
}

/// Whoever may not read the machines knows nothing of them: alive, and not ready.
pub(crate) async fn who_knows_nothing_is_not_ready<W: World>() {
    let mut cluster = Cluster::<W>::new().await;
    let kubeconfig = cluster.control_plane.lock().unwrap().kubeconfig_for("nobody", None);
    cluster.controller_client = client(&kubeconfig).await;
    let port = free_port();
    let mut options = cluster.options();
    options.listen = Some(([127, 0, 0, 1], port).into());
    let controllers = cluster.run_with(options.clone());
    answers(port, "/healthz", 200).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (status, text) = ask(port, "/readyz").await.unwrap();
    assert_eq!((status, text.as_str()), (503, "the objects of the cluster are not known yet\n"));
    // Its place is taken, and that is said.
    let refused = cluster.run_with(options).ended().await.unwrap_err();
    assert!(refused.to_string().contains(&format!("cannot listen on 127.0.0.1:{port}")), "{refused}");
    controllers.kill().await;
}
