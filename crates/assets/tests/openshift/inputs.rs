//! What a user may do to the manifests between the two targets.

use std::{cell::RefCell, fs, path::Path};

use landfall_assets::{
    Cluster,
    openshift::{self, Error, Target},
};
use landfall_platform::{File, FileSet};

use crate::environment::{Site, Spy, ignition_file, json, text};

fn edited(files: &FileSet, change: impl Fn(&str, &File) -> Option<File>) -> FileSet {
    files.iter().filter_map(|(path, file)| Some((path.to_owned(), change(path, file)?))).collect()
}

#[test]
fn edits_additions_and_removals_reach_the_bootstrap_machine() {
    let site = Site::new();
    let rendered = site.manifests().expect("rendered");
    let scheduler = "manifests/cluster-scheduler-02-config.yml";
    let removed = "openshift/99_landfall_31-machineset-worker.yaml";
    let mut manifests = edited(&rendered.files, |path, file| match path {
        _ if path == scheduler => Some(File::public(text(&rendered.files, path).replace("false", "true"))),
        _ if path == removed => None,
        _ => Some(file.clone()),
    });
    let own = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: mine\n  namespace: default\n";
    manifests.insert("manifests/mine.yaml", File::public(own));
    manifests.insert("manifests/notes.txt", File::public("not a manifest"));
    let before = manifests.clone();

    let configs = site.ignition_configs(&rendered, &manifests).expect("rendered");
    let bootstrap = json(&configs.files, "bootstrap.ign");
    let on_bootstrap = |path: &str| {
        ignition_file(&bootstrap, &format!("/opt/openshift/{path}"))
            .map(|contents| String::from_utf8(contents).expect("text"))
    };
    assert!(on_bootstrap(scheduler).expect("the edited one").contains("mastersSchedulable: true"));
    assert_eq!(on_bootstrap("manifests/mine.yaml").as_deref(), Some(own));
    assert_eq!(on_bootstrap(removed), None);
    assert!(on_bootstrap("openshift/99_landfall_30-machine-master-2.yaml").is_some());
    assert_eq!(on_bootstrap("manifests/notes.txt"), None);
    assert_eq!(manifests, before);
}

#[test]
fn the_program_gets_a_copy_of_the_files() {
    let site = Site::new();
    let rendered = site.manifests().expect("rendered");
    let install_directory = site.path("install");
    for (path, file) in rendered.files.iter() {
        let path = install_directory.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, &file.contents).expect("a file");
    }
    let consumed = RefCell::new(None);
    let look = |_: Target, directory: &Path| {
        assert!(directory.join("manifests/cluster-config.yaml").exists());
        assert!(!directory.join("install-config.yaml").exists(), "it would make a new cluster of it");
        *consumed.borrow_mut() = Some(directory.to_owned());
    };
    let spy = Spy { inner: site.program(), look: &look };
    let cluster = Cluster { config: &site.config, infra_id: &rendered.infra_id };
    openshift::ignition_configs(&spy, &cluster, &rendered.files, &rendered.state, &site.scratch()).expect("rendered");

    for (path, file) in rendered.files.iter() {
        assert_eq!(fs::read(install_directory.join(path)).expect(path), file.contents, "{path}");
    }
    assert!(!consumed.into_inner().expect("it ran").exists());
    assert_eq!(site.leftovers(), [] as [std::path::PathBuf; 0]);
}

#[test]
fn a_set_without_the_file_it_is_known_by_is_refused() {
    let site = Site::new();
    let rendered = site.manifests().expect("rendered");
    for missing in ["manifests/cluster-config.yaml", "openshift/99_openshift-cluster-api_worker-user-data-secret.yaml"]
    {
        let manifests = edited(&rendered.files, |path, file| (path != missing).then(|| file.clone()));
        let error = site.ignition_configs(&rendered, &manifests).expect_err("refused");
        assert!(matches!(&error, Error::ManifestMissing { path } if path == missing), "{error}");
    }
}

#[test]
fn a_manifest_that_is_passed_over_is_an_error() {
    let site = Site::new();
    let rendered = site.manifests().expect("rendered");
    let mut manifests = rendered.files.clone();
    manifests.insert("manifests/below/mine.yaml", File::public("apiVersion: v1\n"));
    let error = site.ignition_configs(&rendered, &manifests).expect_err("a directory of its own is not read");
    assert!(matches!(&error, Error::ManifestIgnored { path } if path == "manifests/below/mine.yaml"), "{error}");

    let deaf = Site::new().with("FAKE_DEAF", "1");
    let rendered = deaf.manifests().expect("rendered");
    let error = deaf.ignition_configs(&rendered, &rendered.files).expect_err("nothing was taken over");
    assert!(matches!(error, Error::ManifestIgnored { .. }), "{error}");
}

#[test]
fn two_files_about_one_object_are_refused_by_the_release() {
    let site = Site::new();
    let rendered = site.manifests().expect("rendered");
    let mut manifests = rendered.files.clone();
    manifests.insert("manifests/copy.yaml", File::public(text(&rendered.files, "manifests/cluster-dns-02-config.yml")));
    let error = site.ignition_configs(&rendered, &manifests).expect_err("refused").to_string();
    assert!(error.contains("multiple manifests") && error.contains("manifests/copy.yaml"), "{error}");
}

#[test]
fn another_program_than_for_the_manifests_is_refused() {
    let rendered = Site::new().manifests().expect("rendered");
    let other = Site::new().with("FAKE_VERSION", "4.22.1");
    let error = other.ignition_configs(&rendered, &rendered.files).expect_err("refused");
    assert!(matches!(error, Error::VersionChanged { .. }), "{error}");
}

#[test]
fn an_infra_id_that_the_cluster_does_not_have_is_refused() {
    let site = Site::new();
    let mut rendered = site.manifests().expect("rendered");
    rendered.infra_id = "demo-other".parse().expect("an infra id");
    let error = site.ignition_configs(&rendered, &rendered.files).expect_err("refused").to_string();
    assert!(error.contains("metadata.json") && error.contains("demo-other"), "{error}");
}
