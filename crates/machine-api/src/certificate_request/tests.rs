use rcgen::{CertificateParams, DnType, KeyPair, SanType};

use super::*;

const NODE: &str = "demo-x7k2p-worker-abc";
const OWN: &str = "system:node:demo-x7k2p-worker-abc";

fn pem(common_names: &[&str], organizations: &[&str], names: &[&str], addresses: &[&str]) -> Vec<u8> {
    let mut params = CertificateParams::new(names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()).unwrap();
    params.distinguished_name = rcgen::DistinguishedName::new();
    for (number, name) in common_names.iter().enumerate() {
        // A second one has to pose as another kind of attribute, since the library keeps one of each.
        let kind = if number == 0 { DnType::CommonName } else { DnType::CustomDnType(vec![2, 5, 4, 3]) };
        params.distinguished_name.push(kind, *name);
    }
    for (number, name) in organizations.iter().enumerate() {
        let kind = if number == 0 { DnType::OrganizationName } else { DnType::CustomDnType(vec![2, 5, 4, 10]) };
        params.distinguished_name.push(kind, *name);
    }
    params.subject_alt_names.extend(addresses.iter().map(|address| SanType::IpAddress(address.parse().unwrap())));
    params.serialize_request(&KeyPair::generate().unwrap()).unwrap().pem().unwrap().into_bytes()
}

fn plain() -> Vec<u8> {
    pem(&[OWN], &[NODES], &[], &[])
}

fn read(signer: &str, user: &str, group: &str, usages: &[&str], pem: &[u8]) -> Result<Wish, String> {
    let groups = vec![group, "system:authenticated"];
    let request = CertificateRequest { signer, user, groups, usages: usages.to_vec(), pem };
    request.read().map(|request| {
        assert_eq!(request.node, NODE);
        request.wish
    })
}

fn client(user: &str, group: &str, pem: &[u8]) -> Result<Wish, String> {
    read(CLIENT_SIGNER, user, group, &["digital signature", "client auth"], pem)
}

fn serving(user: &str, pem: &[u8]) -> Result<Wish, String> {
    read(SERVING_SIGNER, user, NODES, &["digital signature", "server auth"], pem)
}

#[test]
fn newcomers_and_nodes_ask_for_client_certificates() {
    assert_eq!(client("system:bootstrap:abcdef", BOOTSTRAPPERS, &plain()), Ok(Wish::First));
    assert_eq!(client(OWN, NODES, &plain()), Ok(Wish::Renewal));
    for (user, group) in [
        ("mallory", BOOTSTRAPPERS),
        ("system:bootstrap:abcdef", "system:authenticated"),
        ("system:node:other", NODES),
        (OWN, "system:authenticated"),
    ] {
        let refused = client(user, group, &plain()).unwrap_err();
        assert_eq!(refused, format!("{user} may not ask for a client certificate of {NODE}"));
    }
}

#[test]
fn what_is_no_plain_request_of_a_node_is_refused() {
    let token = "system:bootstrap:abcdef";
    for (pem, reason) in [
        (pem(&["system:admin"], &["system:masters"], &[], &[]), "system:admin is no node"),
        (pem(&["system:node:"], &[NODES], &[], &[]), "system:node: is no node"),
        (pem(&[OWN], &["system:masters"], &[], &[]), "not system:nodes alone"),
        (pem(&[OWN], &[NODES, "system:masters"], &[], &[]), "not system:nodes alone"),
        (pem(&[OWN, "system:admin"], &[NODES], &[], &[]), "cannot be read"),
        (pem(&[OWN], &[NODES], &["api.example.com"], &[]), "has no names or addresses"),
        (b"nonsense".to_vec(), "cannot be read"),
    ] {
        let refused = client(token, BOOTSTRAPPERS, &pem).unwrap_err();
        assert!(refused.contains(reason), "{refused} / {reason}");
    }
    let both = ["client auth", "server auth"];
    assert!(read(CLIENT_SIGNER, token, BOOTSTRAPPERS, &both, &plain()).unwrap_err().contains("not for clients only"));
    let elsewhere = read("example.com/mine", token, BOOTSTRAPPERS, &["client auth"], &plain());
    assert!(elsewhere.unwrap_err().contains("is not that of kubelets"));
}

#[test]
fn a_node_serves_what_is_its_own() {
    let own = ["198.51.100.31".parse().unwrap()];
    let wish = serving(OWN, &pem(&[OWN], &[NODES], &[NODE], &["198.51.100.31"])).unwrap();
    assert_eq!(wish.foreign(NODE, &own), None);
    let api = serving(OWN, &pem(&[OWN], &[NODES], &[NODE, "kubernetes"], &[])).unwrap();
    assert_eq!(api.foreign(NODE, &own).unwrap(), "kubernetes is not a name");
    let virtual_address = serving(OWN, &pem(&[OWN], &[NODES], &[NODE], &["198.51.100.5"])).unwrap();
    assert_eq!(virtual_address.foreign(NODE, &own).unwrap(), "198.51.100.5 is not an address");
    assert!(serving(OWN, &plain()).unwrap_err().contains("names nothing to serve"));
    assert!(serving("system:node:other", &plain()).unwrap_err().contains("may not ask for a serving certificate"));
    let usages = ["server auth", "client auth"];
    let both = read(SERVING_SIGNER, OWN, NODES, &usages, &pem(&[OWN], &[NODES], &[NODE], &[]));
    assert!(both.unwrap_err().contains("not for servers only"));
}
