//! kubeadm configurations and authorities, judged by kubeadm itself.

use std::{fs, path::Path};

use landfall_config::{InstallConfig, KeyAlgorithm, MachineManagement};
use serde_json::Value;

use crate::{
    configs::{Rendered, SITES, edited, example},
    tool::{self, run, try_run},
    view::View,
};

const CONFIGS: [&str; 3] = ["bootstrap.ign", "config-server/master.ign", "config-server/worker.ign"];

#[test]
fn kubeadm_accepts_every_configuration() {
    let kubeadm = tool::kubeadm();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("kubeadm.yaml");
    for (site, edit) in SITES {
        let rendered = Rendered::new(edited(edit));
        for config in CONFIGS {
            let text = View::new(&rendered.text(config)).file("/etc/landfall/kubeadm.yaml").to_owned();
            fs::write(&path, &text).unwrap();
            let (ok, output) = try_run(&kubeadm, &["config", "validate", "--config", path.to_str().unwrap()]);
            assert!(ok && !output.to_lowercase().contains("warning"), "{site} {config}: {output}\n{text}");
        }
    }
}

#[test]
fn kubeadm_is_able_to_object() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("kubeadm.yaml");
    let rendered = Rendered::new(example());
    let text = View::new(&rendered.text("bootstrap.ign")).file("/etc/landfall/kubeadm.yaml").to_owned();
    fs::write(&path, text.replace("certificateKey", "certificateKeys")).unwrap();
    assert!(!try_run(tool::kubeadm(), &["config", "validate", "--config", path.to_str().unwrap()]).0);
}

/// kubeadm binds the roles for automatic approval again at each upgrade; without its controller they do nothing.
#[test]
fn machines_are_approved_by_the_machine_controller_alone() {
    let controllers = |edit: fn(&mut InstallConfig)| {
        let rendered = Rendered::new(edited(edit));
        let text = View::new(&rendered.text("bootstrap.ign")).file("/etc/landfall/kubeadm.yaml").to_owned();
        let documents: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
        let cluster = documents.iter().find(|document| document["kind"] == "ClusterConfiguration").unwrap();
        let arguments = cluster["controllerManager"]["extraArgs"].as_array().unwrap().clone();
        arguments.into_iter().find(|argument| argument["name"] == "controllers").map(|found| found["value"].clone())
    };
    let own = controllers(|_| {}).expect("the machine controller approves");
    // The rest is what kubeadm itself sets.
    assert_eq!(own, "*,bootstrapsigner,tokencleaner,-certificatesigningrequest-approving-controller");
    let none = controllers(|config| config.machines = Some(MachineManagement::UserManaged));
    assert_eq!(none, None, "without a machine controller kubelets are approved as kubeadm has it");
}

/// `kubeadm init` takes the authorities that it finds and makes only what is missing. This proves that it can read ours.
#[test]
fn kubeadm_signs_with_our_authorities() {
    let kubeadm = tool::kubeadm();
    for algorithm in [KeyAlgorithm::EcdsaP256, KeyAlgorithm::Rsa2048] {
        let mut config = example();
        config.pki.key_algorithm = algorithm;
        let bootstrap = View::new(&Rendered::new(config).text("bootstrap.ign"));
        let directory = tempfile::tempdir().unwrap();
        let pki = directory.path();
        fs::create_dir(pki.join("etcd")).unwrap();
        let ours = ["ca", "front-proxy-ca", "etcd/ca"]
            .iter()
            .flat_map(|name| [format!("{name}.crt"), format!("{name}.key")])
            .chain(["sa.key".to_owned(), "sa.pub".to_owned()]);
        let ours: Vec<(String, String)> = ours
            .map(|name| (name.clone(), bootstrap.file(&format!("/etc/kubernetes/pki/{name}")).to_owned()))
            .collect();
        for (name, text) in &ours {
            fs::write(pki.join(name), text).unwrap();
        }

        // The directory is another one here, and the machine's address need not be found out.
        let config =
            bootstrap.file("/etc/landfall/kubeadm.yaml").replace("/etc/kubernetes/pki", pki.to_str().unwrap()).replace(
                "kind: InitConfiguration\n",
                "kind: InitConfiguration\nlocalAPIEndpoint: {advertiseAddress: 192.0.2.10}\n",
            );
        let path = pki.join("kubeadm.yaml");
        fs::write(&path, config).unwrap();
        run(&kubeadm, &["init", "phase", "certs", "all", "--config", path.to_str().unwrap()]);

        for (name, text) in &ours {
            assert_eq!(&fs::read_to_string(pki.join(name)).unwrap(), text, "{name} was replaced");
        }
        let signed = |ca: &str, certificate: &str| verify(&pki.join(ca), &pki.join(certificate));
        signed("ca.crt", "apiserver.crt");
        signed("ca.crt", "apiserver-kubelet-client.crt");
        signed("front-proxy-ca.crt", "front-proxy-client.crt");
        signed("etcd/ca.crt", "etcd/server.crt");
        signed("etcd/ca.crt", "apiserver-etcd-client.crt");
        let server = run("openssl", &["x509", "-noout", "-text", "-in", pki.join("apiserver.crt").to_str().unwrap()]);
        for name in
            ["DNS:api.demo.example.com", "DNS:api-int.demo.example.com", "IP Address:192.0.2.5", "IP Address:127.0.0.1"]
        {
            assert!(server.contains(name), "{name} in {server}");
        }
        let kind = if algorithm == KeyAlgorithm::EcdsaP256 { "NIST CURVE: P-256" } else { "2048 bit" };
        assert!(server.contains(kind), "{server}");
    }
}

fn verify(ca: &Path, certificate: &Path) {
    run("openssl", &["verify", "-CAfile", ca.to_str().unwrap(), certificate.to_str().unwrap()]);
}
