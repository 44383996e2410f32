//! Certificate requests of kubelets, and of those who pose as them.

use k8s_openapi::{ByteString, api::certificates::v1::CertificateSigningRequest};
use kube::{Api, Client, api::PostParams};
use landfall_machine_api::Phase;
use landfall_testkit::certificate_request;
use serde_json::json;

use crate::{
    cluster::{Cluster, client, eventually},
    worlds::World,
};

const CLIENT: &str = "kubernetes.io/kube-apiserver-client-kubelet";
const SERVING: &str = "kubernetes.io/kubelet-serving";

/// Sends a request as a user; returns its name.
async fn send(
    as_whom: &Client,
    signer: &str,
    common_name: &str,
    organization: &str,
    names: &[&str],
    usage: &str,
) -> String {
    let pem = certificate_request(common_name, organization, names);
    let mut request: CertificateSigningRequest = serde_json::from_value(json!({
        "metadata": { "generateName": "csr-" },
        "spec": { "signerName": signer, "request": "", "usages": ["digital signature", usage] },
    }))
    .unwrap();
    request.spec.request = ByteString(pem.into_bytes());
    let requests: Api<CertificateSigningRequest> = Api::all(as_whom.clone());
    requests.create(&PostParams::default(), &request).await.unwrap().metadata.name.unwrap()
}

pub(crate) async fn only_machines_get_certificates<W: World>() {
    let cluster = Cluster::<W>::new().await;
    // A bootstrap token's user, nodes, and an ordinary user, who may all write requests.
    cluster.kubectl(&[
        "create",
        "clusterrole",
        &cluster.name("requesters"),
        "--verb=create",
        "--resource=certificatesigningrequests.certificates.k8s.io",
    ]);
    cluster.kubectl(&[
        "create",
        "clusterrolebinding",
        &cluster.name("requesters"),
        &format!("--clusterrole={}", cluster.name("requesters")),
        "--group=system:authenticated",
    ]);
    let user = async |user: &str, group: &str| {
        let kubeconfig = cluster.control_plane.lock().unwrap().kubeconfig_for(user, Some(group));
        client(&kubeconfig).await
    };
    let token = user("system:bootstrap:abcdef", "system:bootstrappers").await;
    let controllers = cluster.run();
    let name = cluster.machine("one", "worker", |_| ()).await;
    let machine = cluster.phase(&name, Phase::Provisioned).await;
    let other = cluster.machine("two", "worker", |_| ()).await;
    cluster.phase(&other, Phase::Provisioned).await;
    let machine = eventually("it has addresses", || async {
        let machine = cluster.machines().get(machine.name()).await.unwrap();
        let known = machine.status.as_ref().unwrap().addresses.len() > 2;
        if known { Ok(machine) } else { Err(format!("{:?}", machine.status)) }
    })
    .await;
    let address = machine
        .status
        .as_ref()
        .unwrap()
        .addresses
        .iter()
        .find(|address| address.kind == "InternalIP")
        .unwrap()
        .address
        .clone();
    let node_name = format!("system:node:{name}");
    let itself = user(&node_name, "system:nodes").await;
    let stranger = user("mallory", "somebody").await;
    let requests: Api<CertificateSigningRequest> = Api::all(cluster.client.clone());
    let approved = async |request: &str| {
        eventually(&format!("{request} is approved"), || async {
            let found = requests.get(request).await.unwrap();
            let conditions = found.status.and_then(|status| status.conditions).unwrap_or_default();
            if conditions.iter().any(|known| known.type_ == "Approved") {
                Ok(())
            } else {
                Err(format!("{:?}", cluster.events(request).await))
            }
        })
        .await;
    };
    let left = async |request: &str, reason: &str| {
        eventually(&format!("{request} is left alone because {reason}"), || async {
            let events = cluster.events(request).await;
            if events.iter().any(|event| event.starts_with("NotApproved") && event.contains(reason)) {
                Ok(())
            } else {
                Err(format!("{events:?}"))
            }
        })
        .await;
        let conditions = requests.get(request).await.unwrap().status.and_then(|status| status.conditions);
        assert!(conditions.unwrap_or_default().is_empty(), "{request}");
    };

    // Attacks on the first certificate.
    for (who, common_name, organization, names, usage, reason) in [
        (&token, "system:node:laptop", "system:nodes", &[][..], "client auth", "there is no machine laptop"),
        (&token, "system:admin", "system:masters", &[], "client auth", "is no node"),
        (&token, node_name.as_str(), "system:masters", &[], "client auth", "not system:nodes alone"),
        (&token, node_name.as_str(), "system:nodes", &["api.example.com"], "client auth", "has no names or addresses"),
        (&stranger, node_name.as_str(), "system:nodes", &[], "client auth", "mallory may not ask"),
    ] {
        let sent = send(who, CLIENT, common_name, organization, names, usage).await;
        left(&sent, reason).await;
    }
    // The machine itself comes, and after it somebody with its token.
    let first = send(&token, CLIENT, &node_name, "system:nodes", &[], "client auth").await;
    approved(&first).await;
    let stolen = send(&token, CLIENT, &node_name, "system:nodes", &[], "client auth").await;
    left(&stolen, "has got its first certificate already").await;

    // Serving certificates: only the node itself, only for what is its own.
    cluster.join(&machine).await;
    cluster.phase(&name, Phase::Running).await;
    for (who, names, reason) in [
        (&itself, &["10.255.255.1"][..], "10.255.255.1 is not an address of machine"),
        (&itself, &["api.example.com"], "api.example.com is not a name of machine"),
        (&itself, &[other.as_str()], "is not a name of machine"),
        (&itself, &[], "names nothing to serve"),
        (&token, &[name.as_str()], "may not ask for a serving certificate"),
    ] {
        let sent = send(who, SERVING, &node_name, "system:nodes", names, "server auth").await;
        left(&sent, reason).await;
    }
    let serving = send(&itself, SERVING, &node_name, "system:nodes", &[&name, &address], "server auth").await;
    approved(&serving).await;
    // A renewal.
    let renewal = send(&itself, CLIENT, &node_name, "system:nodes", &[], "client auth").await;
    approved(&renewal).await;
    controllers.stop().await.unwrap();

    // A machine that is too old to join.
    let mut options = cluster.options();
    options.pace.join_window = std::time::Duration::ZERO;
    let controllers = cluster.run_with(options);
    let late = send(&token, CLIENT, &format!("system:node:{other}"), "system:nodes", &[], "client auth").await;
    left(&late, "is too old to join").await;
    controllers.stop().await.unwrap();
}
