//! Everything that is rendered, pinned. A change here is a change on the users' machines.

use insta::assert_snapshot;

use crate::{
    configs::{Rendered, example, site},
    view::{View, blinded, with_decoded_secrets},
};

fn view(rendered: &Rendered, config: &str) -> View {
    View::new(&rendered.text(config))
}

#[test]
fn machines() {
    let rendered = Rendered::new(example());
    let master = view(&rendered, "config-server/master.ign");
    assert_snapshot!("master", master.all());
    assert_snapshot!("worker-unlike-master", view(&rendered, "config-server/worker.ign").changes(&master));
    assert_snapshot!("bootstrap-unlike-master", view(&rendered, "bootstrap.ign").changes(&master));
    assert_snapshot!("pointer", view(&rendered, "worker.ign").all());
}

#[test]
fn sites() {
    let plain = Rendered::new(example());
    for (name, config) in [
        ("user-managed", "config-server/master.ign"),
        ("proxy", "config-server/worker.ign"),
        ("mirrors", "config-server/worker.ign"),
        ("dual-stack", "bootstrap.ign"),
        ("node-agent", "config-server/worker.ign"),
        ("older", "bootstrap.ign"),
        ("no-workers", "config-server/master.ign"),
    ] {
        let rendered = Rendered::new(site(name));
        assert_snapshot!(format!("site-{name}"), view(&rendered, config).changes(&view(&plain, config)));
    }
}

#[test]
fn manifests() {
    let rendered = Rendered::new(example());
    let own = rendered.manifests.iter().filter(|(path, _)| !path.contains("-crd-"));
    let text: Vec<String> = own
        .map(|(path, file)| {
            let text = with_decoded_secrets(&file.contents);
            format!("=== {path} {:?}\n{text}\n", file.mode)
        })
        .collect();
    assert_snapshot!("manifests", blinded(&text.join("\n")));
}
