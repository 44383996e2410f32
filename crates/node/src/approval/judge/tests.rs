use landfall_assets::MachineRole;
use landfall_machine_api::{CLIENT_SIGNER as CLIENT, SERVING_SIGNER as SERVING};
use rcgen::{CertificateParams, DnType, KeyPair, SanType};
use serde_json::json;

use super::*;

const BOOTSTRAPPERS: &str = "system:bootstrappers";
const NODE: &str = "demo-x7k2p-worker-abc";

fn pem(common_name: &str, names: &[&str], addresses: &[&str]) -> Vec<u8> {
    let mut params = CertificateParams::new(names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()).unwrap();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);
    params.distinguished_name.push(DnType::OrganizationName, "system:nodes");
    params.subject_alt_names.extend(addresses.iter().map(|address| SanType::IpAddress(address.parse().unwrap())));
    let request = params.serialize_request(&KeyPair::generate().unwrap()).unwrap();
    request.pem().unwrap().into_bytes()
}

fn serving(user: &str) -> Value {
    json!({ "spec": {
        "signerName": SERVING,
        "username": user,
        "groups": ["system:nodes", "system:authenticated"],
        "usages": ["digital signature", "server auth"],
    } })
}

fn client(user: &str, group: &str) -> Value {
    json!({ "spec": {
        "signerName": CLIENT,
        "username": user,
        "groups": [group, "system:authenticated"],
        "usages": ["digital signature", "client auth"],
    } })
}

fn nodes() -> Vec<ClusterNode> {
    vec![ClusterNode {
        name: NODE.to_owned(),
        role: MachineRole::Worker,
        addresses: vec!["198.51.100.31".parse().unwrap()],
        pod_networks: Vec::new(),
    }]
}

fn networks() -> Networks {
    Networks {
        machine: vec!["198.51.100.0/24".parse().unwrap()],
        taken: vec!["172.30.0.0/16".parse().unwrap()],
        virtual_addresses: vec!["198.51.100.5".parse().unwrap()],
    }
}

fn verdict(request: &Value, pem: &[u8]) -> Verdict {
    verdict_among(request, pem, &nodes(), true)
}

fn verdict_among(request: &Value, pem: &[u8], nodes: &[ClusterNode], has_booted: bool) -> Verdict {
    let (ready, networks) = (HashSet::from([NODE.to_owned()]), networks());
    judge(request, pem, &Surroundings { infra_id: "demo-x7k2p", nodes, ready: &ready, networks: &networks, has_booted })
}

#[test]
fn a_kubelet_gets_a_serving_certificate_for_its_own_name_and_address() {
    let user = format!("system:node:{NODE}");
    assert_eq!(verdict(&serving(&user), &pem(&user, &[NODE], &["198.51.100.31"])), Verdict::Approve);
    for (names, addresses) in [
        (vec!["api-int.demo.example.com"], vec![]),
        (vec![NODE, "kubernetes"], vec![]),
        (vec![NODE], vec!["198.51.100.5"]),
        (vec![], vec!["198.51.100.32"]),
        (vec![], vec![]),
    ] {
        let verdict = verdict(&serving(&user), &pem(&user, &names, &addresses));
        assert!(matches!(verdict, Verdict::Leave(_)), "{names:?} {addresses:?}");
    }
}

/// A node writes its own addresses into its object.
#[test]
fn an_address_that_a_node_claims_is_certified_only_if_it_can_be_its_own() {
    let user = format!("system:node:{NODE}");
    for (address, reason) in [
        ("172.30.0.1", "pods or services"),
        ("192.0.2.1", "outside the networks of machines"),
        ("198.51.100.5", "virtual address"),
        ("198.51.100.21", "node demo-x7k2p-master-0 has an address"),
    ] {
        let mut nodes = nodes();
        nodes[0].addresses.push(address.parse().unwrap());
        nodes.push(ClusterNode {
            name: "demo-x7k2p-master-0".to_owned(),
            role: MachineRole::Master,
            addresses: vec!["198.51.100.21".parse().unwrap()],
            pod_networks: Vec::new(),
        });
        let verdict = verdict_among(&serving(&user), &pem(&user, &[NODE], &[address]), &nodes, true);
        assert!(matches!(&verdict, Verdict::Leave(why) if why.contains(reason)), "{address}: {verdict:?}");
    }
}

#[test]
fn a_first_certificate_is_for_a_machine_that_has_booted_and_is_not_up() {
    let newcomer = client("system:bootstrap:abcdef", BOOTSTRAPPERS);
    let name = "system:node:demo-x7k2p-worker-new";
    let unknown = verdict_among(&newcomer, &pem(name, &[], &[]), &nodes(), false);
    let reason = "no machine has fetched its config as demo-x7k2p-worker-new";
    assert_eq!(unknown, Verdict::Leave(reason.to_owned()));
    let up = verdict(&newcomer, &pem(&format!("system:node:{NODE}"), &[], &[]));
    assert_eq!(up, Verdict::Leave(format!("{NODE} has a node that is ready")));
}

#[test]
fn nobody_else_gets_one_in_its_name() {
    let request = pem(&format!("system:node:{NODE}"), &[NODE], &["198.51.100.31"]);
    for user in ["system:node:demo-x7k2p-worker-def", "system:bootstrap:abcdef", "admin"] {
        assert!(matches!(verdict(&serving(user), &request), Verdict::Leave(_)), "{user}");
    }
    let mut both = serving(&format!("system:node:{NODE}"));
    both["spec"]["usages"] = json!(["server auth", "client auth"]);
    assert!(matches!(verdict(&both, &request), Verdict::Leave(_)));
}

#[test]
fn a_newcomer_gets_a_client_certificate_only_under_a_name_of_the_cluster() {
    let newcomer = client("system:bootstrap:abcdef", BOOTSTRAPPERS);
    assert_eq!(verdict(&newcomer, &pem("system:node:demo-x7k2p-worker-new", &[], &[])), Verdict::Approve);
    for name in ["system:node:other-worker", "system:node:demo-x7k2pworker", "system:node:demo-x7k2p", "admin"] {
        assert!(matches!(verdict(&newcomer, &pem(name, &[], &[])), Verdict::Leave(_)), "{name}");
    }
    let stranger = client("mallory", "system:authenticated");
    assert!(matches!(verdict(&stranger, &pem("system:node:demo-x7k2p-worker-new", &[], &[])), Verdict::Leave(_)));
}

#[test]
fn a_node_renews_its_client_certificate() {
    let user = format!("system:node:{NODE}");
    assert_eq!(verdict(&client(&user, "system:nodes"), &pem(&user, &[], &[])), Verdict::Approve);
    assert!(matches!(verdict(&client(&user, "system:nodes"), &pem(&user, &[NODE], &[])), Verdict::Leave(_)));
}

#[test]
fn other_signers_and_what_cannot_be_read_are_left_alone() {
    let user = format!("system:node:{NODE}");
    let mut other = serving(&user);
    other["spec"]["signerName"] = "example.com/signer".into();
    assert!(matches!(verdict(&other, &pem(&user, &[NODE], &[])), Verdict::Leave(_)));
    assert!(matches!(verdict(&serving(&user), b"not PEM"), Verdict::Leave(_)));
}
