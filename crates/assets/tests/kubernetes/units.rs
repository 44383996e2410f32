//! systemd units, judged by systemd.

use std::fs;

use crate::{
    configs::{Rendered, site},
    tool::try_run,
    view::View,
};

/// What systemd has to say about the units of a machine.
fn verify(machine: &View) -> String {
    let directory = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for (name, text) in machine.units() {
        let path = directory.path().join(&name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // The programs are on the machines only, and systemd looks whether they are there.
        let text: Vec<String> = text
            .lines()
            .map(|line| match line.split_once('=') {
                Some((key, value)) if key.starts_with("Exec") && !value.is_empty() => format!("{key}=/bin/true"),
                _ => line.to_owned(),
            })
            .collect();
        fs::write(&path, text.join("\n")).unwrap();
        if !name.contains(".d/") {
            paths.push(path.to_str().unwrap().to_owned());
        }
    }
    let mut arguments = vec!["verify", "--man=no"];
    arguments.extend(paths.iter().map(String::as_str));
    try_run("systemd-analyze", &arguments).1
}

#[test]
fn systemd_understands_every_unit() {
    let rendered = Rendered::new(site("mirrors"));
    for config in ["bootstrap.ign", "config-server/master.ign", "config-server/worker.ign"] {
        let machine = View::new(&rendered.text(config));
        assert!(machine.units().count() > 5);
        assert_eq!(verify(&machine), "", "{config}");
    }
}

#[test]
fn systemd_is_able_to_object() {
    let rendered = Rendered::new(site("plain"));
    let misspelt = rendered.text("config-server/worker.ign").replace("RestartSec=", "RestartSecs=");
    assert!(verify(&View::new(&misspelt)).contains("RestartSecs"));
}
