//! Keys and certificates, judged by OpenSSL and rustls.

use std::{collections::HashSet, fs, sync::Arc};

use landfall_assets::{Secrets, certificate_expiry};
use landfall_config::KeyAlgorithm;
use landfall_platform::{File, Mode};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
};

use crate::{
    configs::{Rendered, edited, example, now, site},
    tool::{run, try_run},
};

const ALGORITHMS: [(KeyAlgorithm, &str); 4] = [
    (KeyAlgorithm::EcdsaP256, "NIST CURVE: P-256"),
    (KeyAlgorithm::Rsa2048, "2048 bit"),
    (KeyAlgorithm::Rsa3072, "3072 bit"),
    (KeyAlgorithm::Rsa4096, "4096 bit"),
];

#[test]
fn openssl_verifies_every_chain_for_every_kind_of_key() {
    for (algorithm, described) in ALGORITHMS {
        let mut config = example();
        config.pki.key_algorithm = algorithm;
        let rendered = Rendered::new(config);
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = directory.path().join(name);
            fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let ca = write("ca.crt", rendered.secrets.cluster_ca().certificate());
        for (name, certificate, purpose) in [
            ("config-server", &rendered.certificates.config_server, "sslserver"),
            ("admin", &rendered.certificates.admin, "sslclient"),
        ] {
            let path = write(name, &certificate.pem);
            run("openssl", &["verify", "-x509_strict", "-purpose", purpose, "-CAfile", &ca, &path]);
            let text = run("openssl", &["x509", "-noout", "-text", "-in", &path]);
            assert!(text.contains(described), "{text}");
        }
        for (name, authority) in [
            ("front-proxy", rendered.secrets.front_proxy_ca()),
            ("etcd", rendered.secrets.etcd_ca()),
            ("cluster", rendered.secrets.cluster_ca()),
        ] {
            let path = write(name, authority.certificate());
            run("openssl", &["verify", "-x509_strict", "-CAfile", &path, &path]);
            // The key belongs to the certificate.
            let key = write("key", &authority.key().to_pem());
            let of_key = run("openssl", &["pkey", "-pubout", "-in", &key]);
            let of_certificate = run("openssl", &["x509", "-pubkey", "-noout", "-in", &path]);
            assert_eq!(of_key, of_certificate, "{name}");
        }
        let front_proxy = write("other-ca.crt", rendered.secrets.front_proxy_ca().certificate());
        let server = write("server", &rendered.certificates.config_server.pem);
        assert!(!try_run("openssl", &["verify", "-CAfile", &front_proxy, &server]).0, "signed by another CA");
    }
}

#[test]
fn the_config_server_is_valid_for_its_name_and_addresses() {
    let rendered = Rendered::new(site("dual-stack"));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("server.crt");
    fs::write(&path, &rendered.certificates.config_server.pem).unwrap();
    let path = path.to_str().unwrap();
    for (option, value) in
        [("-checkhost", "api-int.demo.example.com"), ("-checkip", "192.0.2.5"), ("-checkip", "2001:db8:1::5")]
    {
        let output = run("openssl", &["x509", "-noout", "-in", path, option, value]);
        assert!(output.contains("does match"), "{output}");
    }
    let output = run("openssl", &["x509", "-noout", "-in", path, "-checkip", "192.0.2.6"]);
    assert!(output.contains("does NOT match"), "{output}");
}

#[test]
fn a_client_that_trusts_only_the_cluster_ca_shakes_hands() {
    for algorithm in [KeyAlgorithm::EcdsaP256, KeyAlgorithm::Rsa2048] {
        let mut config = example();
        config.pki.key_algorithm = algorithm;
        let rendered = Rendered::new(config);
        for name in ["api-int.demo.example.com", "192.0.2.5"] {
            handshake(&rendered, &rendered.secrets, name).unwrap();
        }
        handshake(&rendered, &rendered.secrets, "192.0.2.77").unwrap_err();
        handshake(&rendered, &Rendered::new(example()).secrets, "192.0.2.5").unwrap_err();
    }
}

/// A TLS handshake in memory between the config server of one cluster and a machine that trusts `trusted`.
fn handshake(rendered: &Rendered, trusted: &Secrets, name: &str) -> Result<(), rustls::Error> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(trusted.cluster_ca().certificate().as_bytes()).unwrap()).unwrap();
    let client = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let chain = vec![CertificateDer::from_pem_slice(rendered.certificates.config_server.pem.as_bytes()).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(rendered.secrets.config_server_key().to_pem().as_bytes()).unwrap();
    let server = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;

    let mut client = ClientConnection::new(Arc::new(client), ServerName::try_from(name.to_owned()).unwrap())?;
    let mut server = ServerConnection::new(Arc::new(server))?;
    while client.is_handshaking() || server.is_handshaking() {
        let mut wire = Vec::new();
        while client.wants_write() {
            client.write_tls(&mut wire).unwrap();
        }
        server.read_tls(&mut wire.as_slice()).unwrap();
        server.process_new_packets()?;
        let mut wire = Vec::new();
        while server.wants_write() {
            server.write_tls(&mut wire).unwrap();
        }
        client.read_tls(&mut wire.as_slice()).unwrap();
        client.process_new_packets()?;
    }
    Ok(())
}

#[test]
fn serial_numbers_are_unique_also_over_runs() {
    let rendered = Rendered::new(example());
    let again = landfall_assets::Certificates::issue(
        &rendered.cluster(),
        &rendered.secrets,
        now() + jiff::Span::new().seconds(1),
    )
    .unwrap();
    let secrets = &rendered.secrets;
    let certificates = [
        secrets.cluster_ca().certificate(),
        secrets.front_proxy_ca().certificate(),
        secrets.etcd_ca().certificate(),
        &rendered.certificates.config_server.pem,
        &rendered.certificates.admin.pem,
        &again.config_server.pem,
        &again.admin.pem,
    ];
    let directory = tempfile::tempdir().unwrap();
    let serials: HashSet<String> = certificates
        .iter()
        .map(|pem| {
            let path = directory.path().join("certificate");
            fs::write(&path, pem).unwrap();
            run("openssl", &["x509", "-noout", "-serial", "-in", path.to_str().unwrap()])
        })
        .collect();
    assert_eq!(serials.len(), certificates.len(), "{serials:?}");
}

#[test]
fn validity_follows_the_install_config() {
    let rendered = Rendered::new(edited(|config| {
        config.pki.ca_validity_days = 100;
        config.pki.certificate_validity_days = 10;
    }));
    let days = |from: jiff::Timestamp, to: jiff::Timestamp| (to.as_second() - from.as_second()) / 86400;
    let ca = certificate_expiry(rendered.secrets.cluster_ca().certificate().as_bytes()).unwrap();
    assert_eq!(days(ca.not_before, ca.not_after), 100);
    assert_eq!(ca.name, "demo-x7k2p-cluster-ca");
    for expiry in rendered.certificates.expiries() {
        assert_eq!(days(expiry.not_before, expiry.not_after), 10, "{}", expiry.name);
        assert!(expiry.not_before < now(), "a clock that is late must do");
    }
    assert!(certificate_expiry(b"not a certificate").is_err());
}

#[test]
fn secrets_survive_storage_and_are_private() {
    let rendered = Rendered::new(example());
    let files = rendered.secrets.to_files();
    let names: Vec<&str> = files.below(".landfall/secrets").map(|(name, _)| name).collect();
    insta::assert_snapshot!(names.join(" "), @"admin.key cluster-ca.crt cluster-ca.key config-server.key etcd-ca.crt etcd-ca.key front-proxy-ca.crt front-proxy-ca.key service-account.key tokens.json");
    assert!(files.iter().all(|(_, file)| file.mode == Mode::Private));
    let restored = Secrets::from_files(&files).unwrap();
    assert_eq!(restored.to_files(), files);
    assert_eq!(restored.cluster_ca().public_key_pin(), rendered.secrets.cluster_ca().public_key_pin());
    assert!(!format!("{restored:?}").contains(restored.certificate_key().expose()), "secrets are not printed");
}

#[test]
fn damaged_secrets_are_named() {
    let files = Rendered::new(example()).secrets.to_files();
    let damage = |path: &str, contents: Option<&str>| {
        let rest = files.iter().filter(|(name, _)| *name != path);
        let mut files: landfall_platform::FileSet = rest.map(|(name, file)| (name.to_owned(), file.clone())).collect();
        if let Some(contents) = contents {
            files.insert(path, File::private(contents));
        }
        Secrets::from_files(&files).unwrap_err().to_string()
    };
    let other = Rendered::new(example()).secrets.cluster_ca().certificate().to_owned();
    for error in [
        damage(".landfall/secrets/cluster-ca.crt", None),
        damage(".landfall/secrets/cluster-ca.crt", Some("nonsense")),
        damage(".landfall/secrets/cluster-ca.crt", Some(&other)),
    ] {
        assert!(error.contains(".landfall/secrets/cluster-ca.crt"), "{error}");
    }
    assert!(damage(".landfall/secrets/etcd-ca.key", Some("")).contains("etcd-ca.key"));
    assert!(damage(".landfall/secrets/tokens.json", Some("{}")).contains("tokens.json"));
}
