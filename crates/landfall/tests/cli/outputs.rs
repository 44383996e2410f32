//! Commands that only tell: version, explain, graph, status.

use std::{fs, process::Command};

use serde_json::Value;

use crate::context::TestContext;

#[test]
fn version() {
    let context = TestContext::empty();
    let run = context.ok(&["version"]);
    assert!(run.stdout.starts_with(concat!("landfall ", env!("CARGO_PKG_VERSION"), "\n")), "{}", run.stdout);
    assert_eq!(context.ok(&["version", "--output", "json"]).json()["landfall"], env!("CARGO_PKG_VERSION"));
    assert!(context.tree().is_empty(), "a command that only tells leaves nothing");
}

#[test]
fn explain() {
    let context = TestContext::empty();
    assert!(context.ok(&["explain"]).stdout.contains("baseDomain"));
    assert!(context.ok(&["explain", "platform.ovirt.api_vips"]).stdout.contains("IP address"));
    let schema = context.ok(&["explain", "--schema"]).json();
    assert_eq!(schema["properties"]["baseDomain"]["type"], "string");
    let run = context.run(&["explain", "platform.ovirt.api_vip5"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("did you mean 'platform.ovirt.api_vips'?"), "{}", run.stderr);
}

#[test]
fn graph_as_dot_for_graphviz() {
    let context = TestContext::empty();
    let file = context.home().join("graph.dot");
    context.ok(&["graph", "--output-file", file.to_str().unwrap()]);
    assert_eq!(fs::read_to_string(&file).unwrap(), context.ok(&["graph"]).stdout);
    let output = Command::new("dot").arg("-Tplain").arg(&file).output().expect("graphviz is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let plain = String::from_utf8(output.stdout).unwrap();
    assert!(plain.contains("node \"install-config\"") && plain.lines().any(|line| line.starts_with("edge")), "{plain}");
}

#[test]
fn graph_of_the_steps_that_a_config_asks_for() {
    let context = TestContext::new();
    let dot = context.ok(&["graph", "steps"]).stdout;
    for step in ["vm/bootstrap", "vm/master-2", "remove/vm/bootstrap", "wait/nodes"] {
        assert!(dot.contains(&format!("\"{step}")), "{step}: {dot}");
    }
    let run = TestContext::empty().run(&["graph", "steps"]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(run.stderr.contains("install-config.yaml"), "{}", run.stderr);
}

#[test]
fn graph_as_svg_for_anybody() {
    let context = TestContext::empty();
    let svg = context.ok(&["graph", "--format", "svg"]).stdout;
    let mut reader = quick_xml::Reader::from_str(&svg);
    let mut boxes = 0;
    loop {
        match reader.read_event().expect("well formed") {
            quick_xml::events::Event::Eof => break,
            quick_xml::events::Event::Empty(start) if start.name().as_ref() == "rect" => boxes += 1,
            _ => {}
        }
    }
    let dot = context.ok(&["graph"]).stdout;
    assert_eq!(boxes, dot.matches("[label=").count());
    let run = context.run(&["graph", "--output-file", "/nonexistent/graph.svg"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("cannot write /nonexistent/graph.svg"), "{}", run.stderr);
}

#[test]
fn status_of_nothing_and_of_everything() {
    let context = TestContext::empty();
    let run = context.ok(&["status"]);
    insta::assert_snapshot!(run.stdout, @r"
    install-config    missing
    infra id          not yet minted
    manifests         not yet made
    ignition-configs  not yet made
    ");
    context.write("install-config.yaml", crate::context::EXAMPLE);
    context.ok(&["create", "ignition-configs"]);
    context.write("manifests/mine.yaml", "{}");
    let changed = context.read("manifests/40-machine-controller.yaml") + "# mine\n";
    context.write("manifests/40-machine-controller.yaml", changed);
    fs::remove_file(context.path("manifests/30-machine-master-0.yaml")).unwrap();
    let text = context.stable(&context.ok(&["status"]).stdout);
    insta::with_settings!({filters => vec![
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "[TIME]"), (r" \d+ days", " [N] days"), (r"INFRA-ID\]-([a-z-]+) +", "INFRA-ID]-$1 "),
    ]}, { insta::assert_snapshot!(text); });

    context.write("install-config.yaml", "nonsense: 1\n");
    let status = context.ok(&["status", "--output", "json"]).json();
    assert_eq!(status["installConfig"]["state"], "unusable");
    assert_eq!(status["infraId"], Value::from(context.infra_id()));
}

#[test]
fn status_warns_of_certificates_that_end() {
    let context = TestContext::new();
    context.write("install-config.yaml", crate::context::EXAMPLE.to_owned() + "pki:\n  certificateValidityDays: 20\n");
    context.ok(&["create", "ignition-configs"]);
    let run = context.ok(&["status"]);
    assert!(
        run.stderr.contains("warning: the certificate landfall-admin (auth/kubeconfig) ends in 1"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("warning: the certificate landfall-config-server"), "{}", run.stderr);
    let status = context.ok(&["status", "--output", "json"]).json();
    let first = &status["certificates"][0];
    assert_eq!(first["name"], "landfall-admin");
    assert!(first["daysLeft"].as_i64().unwrap() <= 20, "{first}");
}
