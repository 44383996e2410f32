//! The real program, where there is one: named by `OPENSHIFT_INSTALL`, or on `PATH`.

use std::{
    env,
    io::{self, Write},
    path::Path,
};

use landfall_assets::{
    Cluster,
    openshift::{self, Program},
};

use crate::environment::{Site, credentials, json, paths, text, validate_ignition};

/// The one test that may be left out: no package registry has the program.
#[test]
fn the_real_program_renders_and_takes_over_edits() {
    let named = env::var_os("OPENSHIFT_INSTALL");
    let search_path = env::var_os("PATH");
    let Ok(path) = openshift::locate(named.as_deref().map(Path::new), None, search_path.as_deref()) else {
        assert!(named.is_none(), "OPENSHIFT_INSTALL={named:?} cannot be used");
        // Not by `eprintln!`, whose output is shown only for tests that fail.
        writeln!(
            io::stderr(),
            "
*** not run: no openshift-install (name the real one by OPENSHIFT_INSTALL) ***
"
        )
        .expect("standard error is open");
        return;
    };
    let mut site = Site::new();
    let image = env::var("OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE").ok();
    let program = Program::new(path, image.or_else(|| Some("quay.io/openshift-release-dev/ocp-release:4.22.0".into())));
    let render = |site: &Site, previous| {
        openshift::manifests(&program, &site.config, Some(&credentials()), previous, &site.scratch())
    };
    let first = render(&site, None).expect("rendered");
    site.config.compute[0].replicas = 4;
    let rendered = render(&site, Some(&first.state)).expect("rendered again");
    assert_eq!(rendered.infra_id, first.infra_id);
    for path in paths(&Site::new().manifests().expect("by the stand-in").files) {
        assert!(rendered.files.get(path).is_some(), "the stand-in makes up {path}");
    }

    let mut manifests = rendered.files.clone();
    let own = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: mine\n  namespace: default\n";
    manifests.insert("manifests/mine.yaml", landfall_platform::File::public(own));
    let cluster = Cluster { config: &site.config, infra_id: &rendered.infra_id };
    let configs = openshift::ignition_configs(&program, &cluster, &manifests, &rendered.state, &site.scratch())
        .expect("rendered");
    for name in ["bootstrap.ign", "master.ign", "worker.ign"] {
        validate_ignition(name, text(&configs.files, name).as_bytes());
    }
    assert!(json(&configs.files, "bootstrap.ign").to_string().contains("/opt/openshift/manifests/mine.yaml"));
    assert_eq!(site.leftovers(), [] as [std::path::PathBuf; 0]);
}
