//! Landfall's part on the machines of a release.
//!
//! Most of it is the same as on Kubernetes machines. What differs is what the machine config operator cannot carry: it has
//! no downloads and does not add to files, and it takes a file that has changed for a fault of the machine. So scripts do
//! the first two when the machine starts, and files that change later are not among those it carries.

use askama::Template;

use super::Error;
use crate::{
    Cluster, MachineRole, NodeConfig, NodeContents, NodeFile, NodeUnit,
    node::{node_agent, paths, threads},
    onprem::{onprem_files, onprem_units},
    template,
};

/// What is to be downloaded. Private, since a URL may hold a password.
const DOWNLOADS: &str = "/etc/landfall/downloads";
/// What is to be added to files, below their paths.
const ADDITIONS: &str = "/etc/landfall/append";
/// The unit that brings programs of the operating system that the image may lack.
const PACKAGES_UNIT: &str = "landfall-packages.service";
/// Files that `landfall-node` writes anew when the cluster's machines change.
const CHANGING: [&str; 2] = [paths::KEEPALIVED_CONFIG, paths::HAPROXY_CONFIG];

/// Files and units for the machines of a role.
pub(super) fn node_config(cluster: &Cluster<'_>, role: MachineRole, release_image: &str) -> Result<NodeConfig, Error> {
    let mut files = onprem_files(cluster, role);
    let ensure_packages = script_path("ensure-packages");
    for file in files.iter_mut().filter(|file| file.path == ensure_packages) {
        *file = NodeFile::executable(ensure_packages.as_str(), template::text(&EnsurePackages { release_image }));
    }
    files.extend(threads(cluster.config, role));
    files.extend(node_agent(cluster)?);
    let mut units = onprem_units(cluster, role);
    for unit in units.iter_mut().filter(|unit| unit.name == PACKAGES_UNIT) {
        let proxy = "[Service]\nEnvironmentFile=-/etc/mco/proxy.env\n";
        unit.dropins.push(("10-proxy.conf".to_owned(), proxy.to_owned()));
    }
    if role != MachineRole::Bootstrap {
        files.retain(|file| !CHANGING.contains(&file.path.as_str()));
    }
    Ok(with_inline_files_only(NodeConfig { files, units }))
}

/// The same with scripts in place of downloads and additions.
fn with_inline_files_only(config: NodeConfig) -> NodeConfig {
    let agents = config.units.iter().map(|unit| unit.name.as_str()).collect::<Vec<_>>().join(" ");
    let (mut files, mut units) = (Vec::new(), config.units);
    let (mut downloads, mut additions) = (Vec::new(), Vec::new());
    for NodeFile { path, mode, contents } in config.files {
        match contents {
            NodeContents::Inline(_) => files.push(NodeFile { path, mode, contents }),
            NodeContents::Append(lines) => {
                let source = format!("{ADDITIONS}{path}");
                additions.push(format!("{} {source} {path}", script_path("append-lines")));
                files.push(NodeFile::public(source, lines));
            }
            NodeContents::Download { url, digest } => {
                downloads.push(format!("{url} {digest} {path} {mode:o}\n"));
            }
        }
    }
    if !additions.is_empty() {
        files.push(script("append-lines", include_str!("../../templates/openshift/append-lines")));
        let description = "Lines that Landfall adds to files of the operating system";
        let before = format!("kubelet.service {agents}");
        units.push(Task { description, network: false, before: &before, commands: &additions }.unit("append"));
    }
    if !downloads.is_empty() {
        files.push(script("fetch", include_str!("../../templates/openshift/fetch")));
        files.push(NodeFile::private(DOWNLOADS, downloads.concat()));
        let commands = [format!("{} {DOWNLOADS}", script_path("fetch"))];
        let description = "Programs of Landfall";
        units.push(Task { description, network: true, before: &agents, commands: &commands }.unit("fetch"));
    }
    NodeConfig { files, units }
}

fn script(name: &str, contents: &str) -> NodeFile {
    NodeFile::executable(script_path(name), contents)
}

fn script_path(name: &str) -> String {
    format!("{}/{name}", paths::SCRIPTS)
}

#[derive(Template)]
#[template(path = "openshift/ensure-packages", escape = "none", ext = "sh")]
struct EnsurePackages<'a> {
    release_image: &'a str,
}

/// Something that is done once each time a machine starts.
#[derive(Template)]
#[template(path = "openshift/task.service", escape = "none")]
struct Task<'a> {
    description: &'a str,
    network: bool,
    before: &'a str,
    commands: &'a [String],
}

impl Task<'_> {
    fn unit(&self, name: &str) -> NodeUnit {
        NodeUnit::enabled(format!("landfall-{name}.service"), template::text(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openshift::testing;

    /// What the section of PowerVS says about processors gets to the machines of a release as to any other.
    #[test]
    fn threads_of_processors_reach_masters_and_workers() {
        let mut tree = serde_json::to_value(testing::config()).expect("a config has string keys only");
        tree["platform"] = serde_json::json!({ "powervs": { "zone": "dal10", "image": { "regional": "x.ova.gz" } } });
        tree["controlPlane"]["platform"] = serde_json::json!({ "powervs": { "smtLevel": "8" } });
        tree["compute"] = serde_json::json!([{ "name": "worker", "platform": { "powervs": { "smtLevel": "off" } } }]);
        let config: landfall_config::InstallConfig = serde_json::from_value(tree).expect("it is well formed");
        let (config, infra_id) = (config.with_defaults(), "demo-x7k2p".parse().expect("an infra id"));
        let cluster = Cluster { config: &config, infra_id: &infra_id };
        for (role, level) in [(MachineRole::Bootstrap, "8"), (MachineRole::Master, "8"), (MachineRole::Worker, "off")] {
            let made = node_config(&cluster, role, "quay.io/release").expect("it is rendered");
            let file = made.files.iter().find(|file| file.path == "/etc/tmpfiles.d/90-landfall-smt.conf");
            let NodeContents::Inline(contents) = &file.expect("it is there").contents else { panic!("{role:?}") };
            let wanted = format!("w /sys/devices/system/cpu/smt/control - - - - {level}\n");
            assert_eq!(String::from_utf8_lossy(contents), wanted, "{role:?}");
        }
    }
}
