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
    for usages in
        [&["client auth"][..], &["digital signature", "client auth", "cert sign"], &["client auth", "client auth"]]
    {
        let refused = read(CLIENT_SIGNER, token, BOOTSTRAPPERS, usages, &plain()).unwrap_err();
        assert!(refused.contains("not for clients only"), "{usages:?}: {refused}");
    }
    let encipherment = ["key encipherment", "digital signature", "client auth"];
    assert_eq!(read(CLIENT_SIGNER, token, BOOTSTRAPPERS, &encipherment, &plain()), Ok(Wish::First));
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

#[test]
fn text_around_a_request_and_other_forms_of_it_are_refused() {
    let good = String::from_utf8(plain()).unwrap();
    assert!(requested_node(good.as_bytes()).is_some());
    for bad in [
        format!("{good}\n"),
        format!("hello\n{good}"),
        good.repeat(2),
        good.replace('\n', "\r\n"),
        good.replace("CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST"),
        good.replacen("REQUEST-----\n", "REQUEST-----\nA: B\n\n", 1),
        good.replacen('M', " M", 1),
    ] {
        assert_eq!(requested_node(bad.as_bytes()), None, "{bad}");
    }
}

#[test]
fn names_that_readers_take_differently_are_refused() {
    for (names, addresses) in [
        (vec!["*.example.com"], vec![]),
        (vec![NODE, "under_score"], vec![]),
        (vec![NODE], vec!["::ffff:198.51.100.31"]),
        (vec!["-a"], vec![]),
    ] {
        let pem = pem(&[OWN], &[NODES], &names, &addresses);
        assert!(serving(OWN, &pem).unwrap_err().contains("cannot be read"), "{names:?} {addresses:?}");
    }
    let mut params = CertificateParams::new(vec![NODE.to_owned()]).unwrap();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, OWN);
    params.distinguished_name.push(DnType::OrganizationName, NODES);
    let write = |params: &CertificateParams| {
        params.serialize_request(&KeyPair::generate().unwrap()).unwrap().pem().unwrap().into_bytes()
    };
    assert!(serving(OWN, &write(&params)).is_ok());
    for change in [
        |params: &mut CertificateParams| params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained),
        |params: &mut CertificateParams| params.key_usages = vec![rcgen::KeyUsagePurpose::KeyCertSign],
        |params: &mut CertificateParams| {
            params.subject_alt_names.push(SanType::Rfc822Name("a@b.c".try_into().unwrap()));
        },
        |params: &mut CertificateParams| params.subject_alt_names.push(SanType::URI("https://b.c".try_into().unwrap())),
        |params: &mut CertificateParams| params.distinguished_name.push(DnType::OrganizationalUnitName, "unit"),
    ] {
        let mut other = params.clone();
        change(&mut other);
        assert!(serving(OWN, &write(&other)).unwrap_err().contains("cannot be read"), "{other:?}");
    }
}
