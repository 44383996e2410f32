//! etcd's members, as `etcdctl` sees them.

use std::collections::BTreeMap;

use anyhow::ensure;

use crate::cluster::Cluster;
use crate::lab::Host;

/// Ids of members by the names of their machines.
pub(super) type Members = BTreeMap<String, String>;

/// etcd's members, if it has the three masters as voting members and nobody else, and all of them answer.
pub(super) async fn members(cluster: &Cluster<'_>) -> anyhow::Result<Members> {
    let masters = cluster.masters().await?;
    let mut last = anyhow::anyhow!("no master is on");
    for master in &masters {
        match members_by(cluster, master).await {
            Ok(members) => return Ok(members),
            // A member that is not up cannot be asked, and the others say so.
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Names of machines whose members are not there any more, or are others.
pub(super) fn lost(before: &Members, after: &Members) -> Vec<String> {
    before.iter().filter(|(name, id)| after.get(*name) != Some(id)).map(|(name, _)| name.clone()).collect()
}

async fn members_by(cluster: &Cluster<'_>, master: &Host) -> anyhow::Result<Members> {
    let list = etcdctl(cluster, master, &["member", "list"]).await?;
    let members = parse(&list)?;
    // Each by its own word: one whose data are gone is in the list and does not answer.
    etcdctl(cluster, master, &["endpoint", "health", "--cluster"]).await?;
    Ok(members)
}

async fn etcdctl(cluster: &Cluster<'_>, master: &Host, arguments: &[&str]) -> anyhow::Result<String> {
    let pki = "/etc/kubernetes/pki/etcd";
    let (ca, certificate, key) = (
        format!("--cacert={pki}/ca.crt"),
        format!("--cert={pki}/healthcheck-client.crt"),
        format!("--key={pki}/healthcheck-client.key"),
    );
    let pod = format!("etcd-{}", master.name);
    let command = ["etcdctl", "--endpoints=https://127.0.0.1:2379", &ca, &certificate, &key];
    cluster.kubectl(&[&["exec", "--namespace=kube-system", &pod, "--"], &command[..], arguments].concat()).await
}

/// Reads lines like `8e9e05c52164694d, started, m0, https://…:2380, https://…:2379, false`.
fn parse(list: &str) -> anyhow::Result<Members> {
    let mut members = Members::new();
    for line in list.lines() {
        let words: Vec<&str> = line.split(", ").collect();
        if let [id, "started", name, _, _, "false"] = words[..]
            && name.contains("-master-")
        {
            members.insert(name.to_owned(), id.to_owned());
        }
    }
    ensure!(members.len() == 3 && list.lines().count() == 3, "etcd's members: {:?}", list.lines().collect::<Vec<_>>());
    Ok(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE: &str = "a1, started, x-master-0, https://192.0.2.1:2380, https://192.0.2.1:2379, false\n\
                         b2, started, x-master-1, https://192.0.2.2:2380, https://192.0.2.2:2379, false\n\
                         c3, started, x-master-2, https://192.0.2.3:2380, https://192.0.2.3:2379, false\n";

    #[test]
    fn three_voting_masters_and_nobody_else_are_members() {
        let members = parse(THREE).unwrap();
        assert_eq!(members["x-master-1"], "b2");
        parse(&THREE.replacen("false", "true", 1)).unwrap_err();
        parse(&THREE.replacen("started", "unstarted", 1)).unwrap_err();
        parse(&THREE.replace("x-master-2", "x-bootstrap")).unwrap_err();
        parse(&format!("{THREE}d4, unstarted, , https://192.0.2.4:2380, , true\n")).unwrap_err();
    }

    #[test]
    fn a_member_with_another_id_is_lost() {
        let before = parse(THREE).unwrap();
        assert_eq!(lost(&before, &before), Vec::<String>::new());
        assert_eq!(lost(&before, &parse(&THREE.replace("b2", "d4")).unwrap()), ["x-master-1"]);
        assert_eq!(lost(&before, &parse(&THREE.replace("x-master-2", "x-master-2-next")).unwrap()), ["x-master-2"]);
    }
}
