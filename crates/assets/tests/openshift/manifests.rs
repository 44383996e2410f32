//! Target `manifests`.

use std::{cell::RefCell, collections::HashSet, fs, os::unix::fs::PermissionsExt};

use landfall_assets::openshift::{self, Error, Target};
use landfall_config::{LoadBalancer, OpenshiftInstall};
use landfall_platform::Mode;

use crate::environment::{FIXTURES, Site, Spy, credentials, json, mode, paths, text, yaml};

#[test]
fn keeps_all_files_of_the_release_and_adds_its_own() {
    let site = Site::new();
    let rendered = site.manifests().expect("rendered");
    let recorded = |part: &str| fs::read_dir(format!("{FIXTURES}/recorded/{part}")).expect("the fixture");
    for part in ["manifests", "openshift"] {
        for entry in recorded(part) {
            let path = format!("{part}/{}", entry.expect("an entry").file_name().to_string_lossy());
            assert!(rendered.files.get(&path).is_some(), "{path} is gone");
        }
    }
    let added: Vec<&str> = paths(&rendered.files).into_iter().filter(|path| path.contains("landfall")).collect();
    insta::assert_snapshot!(added.join("\n"));
    let [by_the_program, by_landfall] = rendered.warnings.as_slice() else { panic!("{:?}", rendered.warnings) };
    assert_eq!(by_the_program, "Discarding nothing");
    assert!(by_landfall.starts_with("nodeAgent is not set"), "{by_landfall}");
    assert_eq!(rendered.version.version, "4.22.0");
}

#[test]
fn takes_over_the_infra_id() {
    let site = Site::new();
    let rendered = site.manifests().expect("rendered");
    let infrastructure = yaml(&rendered.files, "manifests/cluster-infrastructure-02-config.yml");
    let id = infrastructure["status"]["infrastructureName"].as_str().expect("an infra id");
    assert_eq!(rendered.infra_id.as_str(), id);
    let machine = yaml(&rendered.files, "openshift/99_landfall_30-machine-master-0.yaml");
    assert_eq!(machine["metadata"]["name"], format!("{id}-master-0"));
    assert_eq!(machine["metadata"]["namespace"], "openshift-machine-api");
    assert_eq!(machine["spec"]["providerSpec"]["value"]["userDataSecret"]["name"], "master-user-data");
    let set = yaml(&rendered.files, "openshift/99_landfall_31-machineset-worker.yaml");
    assert_eq!(set["metadata"]["labels"]["machine.openshift.io/cluster-api-cluster"], id);
    assert_eq!(set["spec"]["replicas"], 2);
}

#[test]
fn keeps_the_infra_id_when_the_install_config_changes() {
    let mut site = Site::new();
    let first = site.manifests().expect("rendered");
    site.config.compute[0].replicas = 0;
    let second = site.manifests_again(Some(&first)).expect("rendered again");
    assert_eq!(second.infra_id, first.infra_id);
    let scheduler = "manifests/cluster-scheduler-02-config.yml";
    assert!(text(&first.files, scheduler).contains("mastersSchedulable: false"));
    assert!(text(&second.files, scheduler).contains("mastersSchedulable: true"), "the change is not rendered");
    let cluster_version = |files| yaml(files, "manifests/cvo-overrides.yaml")["spec"]["clusterID"].clone();
    assert_eq!(cluster_version(&second.files), cluster_version(&first.files));
    let third = site.manifests().expect("rendered as a new cluster");
    assert_ne!(third.infra_id, first.infra_id, "the stand-in mints a new id for a new cluster");
}

#[test]
fn every_manifest_holds_one_object_that_no_other_has() {
    let site = Site::new();
    let rendered = site.manifests().expect("rendered");
    let mut seen = HashSet::new();
    for path in paths(&rendered.files) {
        let object = yaml(&rendered.files, path);
        let field = |pointer: &str| object.pointer(pointer).and_then(|value| value.as_str()).map(str::to_owned);
        let identity = (field("/apiVersion"), field("/kind"), field("/metadata/namespace"), field("/metadata/name"));
        assert!(identity.0.is_some() && identity.1.is_some() && identity.3.is_some(), "{path} is no object");
        assert!(seen.insert(identity), "{path} is about the same object as another file");
    }
}

#[test]
fn leaves_the_definitions_of_machines_to_the_release() {
    let rendered = Site::new().manifests().expect("rendered");
    for path in paths(&rendered.files) {
        let kind = yaml(&rendered.files, path)["kind"].clone();
        assert!(kind != "CustomResourceDefinition" && kind != "Namespace", "{path} is the release's business");
    }
}

#[test]
fn fits_the_controller_to_openshift() {
    let rendered = Site::new().manifests().expect("rendered");
    let objects: Vec<_> = paths(&rendered.files)
        .into_iter()
        .filter(|path| path.contains("machine-controller"))
        .map(|path| yaml(&rendered.files, path))
        .collect();
    let deployment = objects.iter().find(|object| object["kind"] == "Deployment").expect("a Deployment");
    let tolerations = deployment.pointer("/spec/template/spec/tolerations").expect("tolerations").to_string();
    assert!(tolerations.contains("node-role.kubernetes.io/master"), "{tolerations}");
    let account = deployment.pointer("/spec/template/spec/serviceAccountName").expect("an account");
    let granted = objects.iter().any(|object| {
        object["roleRef"]["name"] == "system:openshift:scc:privileged" && object["subjects"][0]["name"] == *account
    });
    assert!(granted, "the controller's pods would not be admitted");
}

#[test]
fn secrets_are_private_and_nothing_else_is() {
    let site = Site::new();
    let rendered = site.manifests().expect("rendered");
    assert_eq!(rendered.state.mode, Mode::Private);
    for path in paths(&rendered.files) {
        let expected = if yaml(&rendered.files, path)["kind"] == "Secret" { Mode::Private } else { Mode::Public };
        assert_eq!(mode(&rendered.files, path), expected, "{path}");
    }
    let secret = yaml(&rendered.files, "openshift/99_landfall_20-credentials.yaml");
    assert_eq!(secret["data"]["ovirt_password"], "Y29ycmVjdCBob3JzZQ==");
}

#[test]
fn the_working_copy_is_private_and_vanishes() {
    let site = Site::new();
    let seen = RefCell::new(Vec::new());
    let look = |target: Target, directory: &std::path::Path| {
        let bits = |path: &std::path::Path| fs::metadata(path).expect("metadata").permissions().mode() & 0o777;
        assert_eq!(bits(directory), 0o700);
        assert_eq!(bits(&directory.join("install-config.yaml")), 0o600);
        assert!(directory.starts_with(site.scratch()));
        seen.borrow_mut().push(target);
    };
    let spy = Spy { inner: site.program(), look: &look };
    openshift::manifests(&spy, &site.config, Some(&credentials()), None, &site.scratch()).expect("rendered");
    assert_eq!(*seen.borrow(), [Target::Manifests]);
    assert_eq!(site.leftovers(), [] as [std::path::PathBuf; 0]);
}

#[test]
fn a_failure_shows_the_end_of_the_log_and_leaves_nothing_behind() {
    let site = Site::new().with("FAKE_FAIL", "manifests");
    let error = site.manifests().expect_err("it fails").to_string();
    assert!(error.contains("create manifests") && error.contains("exit code 1"), "{error}");
    assert!(error.contains("no such luck") && error.contains("step 39"), "{error}");
    assert!(!error.contains("step 3 of"), "only the end of the log is of use: {error}");
    assert_eq!(site.leftovers(), [] as [std::path::PathBuf; 0]);
}

#[test]
fn a_secret_that_the_program_repeats_is_not_shown() {
    let error = Site::new().with("FAKE_REPEAT", "1").manifests().expect_err("refused").to_string();
    assert!(error.contains("pullSecret: Invalid value: \"…\": not liked"), "{error}");
    assert!(error.contains("exit code 3") && error.contains("install-config.yaml"), "{error}");
}

#[test]
fn what_the_release_refuses_is_passed_on() {
    let mut site = Site::new();
    site.config.control_plane.replicas = 1;
    let error = site.manifests().expect_err("one master is refused").to_string();
    assert!(error.contains("does not support Single Node installation"), "{error}");
}

#[test]
fn a_program_of_another_version_is_refused_before_it_renders() {
    let mut site = Site::new().with("FAKE_VERSION", "4.21.3");
    site.config.version = Some("4.22.0".to_owned());
    assert!(matches!(site.manifests(), Err(Error::WrongVersion { .. })));
    let old = Site::new().with("FAKE_VERSION", "4.13.8");
    assert!(matches!(old.manifests(), Err(Error::TooOld { .. })));
}

#[test]
fn hands_over_the_release_image_and_no_secret_in_arguments() {
    let log = tempfile::NamedTempFile::new().expect("a file");
    let mut site = Site::new().with("FAKE_LOG", log.path().to_string_lossy());
    let image = "quay.io/example/release@sha256:0000";
    site.config.openshift_install = Some(OpenshiftInstall { path: None, release_image: Some(image.to_owned()) });
    let rendered = site.manifests().expect("rendered");
    assert_eq!(rendered.version.release_image.as_deref(), Some(image));
    let calls = fs::read_to_string(log.path()).expect("the log");
    assert_eq!(calls.lines().count(), 2, "{calls}");
    for call in calls.lines() {
        assert!(call.contains(image) && !call.contains("auths"), "{call}");
    }
}

#[test]
fn machines_find_the_config_server_under_the_virtual_address() {
    let mut site = Site::new();
    let rendered = site.manifests().expect("rendered");
    let pointer = |rendered: &openshift::Rendered| {
        let secret = yaml(&rendered.files, "openshift/99_openshift-cluster-api_worker-user-data-secret.yaml");
        let decoded = base64::Engine::decode(
            &base64::prelude::BASE64_STANDARD,
            secret["data"]["userData"].as_str().expect("user data"),
        );
        let pointer: serde_json::Value = serde_json::from_slice(&decoded.expect("base64")).expect("JSON");
        pointer["ignition"]["config"]["merge"][0]["source"].as_str().expect("a source").to_owned()
    };
    assert_eq!(pointer(&rendered), "https://192.0.2.5:22623/config/worker");
    site.config.load_balancer = LoadBalancer::UserManaged;
    let rendered = site.manifests().expect("rendered");
    assert_eq!(pointer(&rendered), "https://api-int.demo.example.com:22623/config/worker");
}

#[test]
fn a_program_that_is_no_installer_is_named() {
    let site = Site::new();
    let program = openshift::Program::new("/bin/true", None);
    let error = openshift::manifests(&program, &site.config, None, None, &site.scratch()).expect_err("no installer");
    assert!(error.to_string().starts_with("/bin/true does not say which version it is"), "{error}");
    let program = openshift::Program::new("/nonexistent/openshift-install", None);
    let error = openshift::manifests(&program, &site.config, None, None, &site.scratch()).expect_err("no program");
    assert!(matches!(error, Error::Start { .. }), "{error}");
}

#[test]
fn the_state_names_the_program_that_wrote_it() {
    let rendered = Site::new().manifests().expect("rendered");
    let state = landfall_platform::FileSet::from_iter([("state".to_owned(), rendered.state)]);
    assert_eq!(json(&state, "state")["landfall.openshiftInstallVersion"], "4.22.0");
}
