//! Remains of the bootstrap machine's user data on servers.

use serde_json::json;

use crate::cluster::Cluster;

/// Returns the number of media and mappings.
fn config_drives(cluster: &Cluster) -> (usize, usize) {
    let number = |line: &str, before: &str, after: &str| -> Option<usize> {
        line.split_once(before)?.1.split_once(after)?.0.parse().ok()
    };
    let lines = cluster.list();
    let media = lines.iter().filter_map(|line| number(line, " has ", " in MediaRepositories")).sum();
    let mappings = lines.iter().filter_map(|line| number(&format!("{line}."), " maps ", ".")).sum();
    (media, mappings)
}

#[tokio::test]
async fn the_media_repositories_keep_no_keys_of_the_bootstrap_machine() {
    let cluster = Cluster::new(1, json!({})).await;
    let (media, mappings) = config_drives(&cluster);
    cluster.install().await.unwrap();
    // Two VIOSes show a disk to each machine, and one a config drive to the master.
    assert_eq!(config_drives(&cluster), (media + 1, mappings + 5), "{:#?}", cluster.list());
    cluster.destroy_without_files().await.unwrap();
    assert_eq!(config_drives(&cluster), (media, mappings));
}
