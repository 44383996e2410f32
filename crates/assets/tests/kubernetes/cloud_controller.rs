//! The platform's cloud controller manager, judged by a real API server.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use landfall_config::packet::{CloudControllerManager, ServiceLoadBalancer};
use landfall_platform::{FileSet, Mode};
use landfall_testkit::ControlPlane;
use serde_json::{Value, json};

use crate::{
    configs::{Rendered, packet},
    tool::run,
};

fn rendered(services: Option<ServiceLoadBalancer>) -> FileSet {
    let mut config = packet("eip");
    let landfall_config::Platform::Packet(platform) = &mut config.platform else { unreachable!() };
    platform.cloud_controller_manager = services.map(|services| {
        let wanted: CloudControllerManager = serde_json::from_value(json!({})).unwrap();
        CloudControllerManager { services, ..wanted }
    });
    let credentials = [("api_key", "very-secret"), ("api_url", "https://metal.example.com/metal/v1")];
    let credentials = credentials.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    Rendered::with_credentials(config, &credentials).manifests
}

fn named<'a>(files: &'a FileSet, part: &str) -> Vec<(&'a str, &'a landfall_platform::File)> {
    files.iter().filter(|(path, _)| path.contains(part)).collect()
}

#[test]
fn it_is_there_only_when_asked_for() {
    assert_eq!(named(&rendered(None), "cloud-controller").len(), 0);
    assert_eq!(named(&rendered(Some(ServiceLoadBalancer::None)), "cloud-controller").len(), 2);
}

#[test]
fn its_configuration_is_what_it_reads_and_private() {
    let files = rendered(Some(ServiceLoadBalancer::Metallb));
    let (_, file) = named(&files, "cloud-controller-config")[0];
    assert_eq!(file.mode, Mode::Private);
    let secret: Value = serde_saphyr::from_str(std::str::from_utf8(&file.contents).unwrap()).unwrap();
    let settings = BASE64_STANDARD.decode(secret["data"]["cloud-sa.json"].as_str().unwrap()).unwrap();
    let settings: Value = serde_json::from_slice(&settings).unwrap();
    assert_eq!(settings["apiKey"], "very-secret");
    assert_eq!(settings["projectId"], "5a0b6f2e-93c5-4b0c-9d1f-2f6e8c1a7b01");
    assert_eq!(settings["base-url"], "https://metal.example.com/metal/v1");
    assert_eq!((&settings["metro"], &settings["eipTag"]), (&json!("da"), &Value::Null));
    assert_eq!(settings["loadbalancer"], "metallb:///metallb-system?crdConfiguration=true");
}

#[test]
fn a_real_api_server_takes_its_objects() {
    let control_plane = ControlPlane::start();
    let kubeconfig = control_plane.kubeconfig();
    let directory = tempfile::tempdir().unwrap();
    for services in [ServiceLoadBalancer::KubeVip, ServiceLoadBalancer::Metallb, ServiceLoadBalancer::None] {
        let files = rendered(Some(services));
        for (path, file) in named(&files, "cloud-controller") {
            let place = directory.path().join(path.rsplit('/').next().unwrap());
            std::fs::write(&place, &file.contents).unwrap();
            let kubeconfig = format!("--kubeconfig={}", kubeconfig.display());
            let place = format!("--filename={}", place.display());
            let told = run("kubectl", &[&kubeconfig, "apply", "--dry-run=server", "--validate=strict", &place]);
            assert!(!told.contains("Warning"), "{told}");
        }
    }
}
