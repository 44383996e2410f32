//! What the user is shown before the install-config is written.

use landfall_config::InstallConfig;

/// The values that were decided, one per line.
pub(super) fn of(config: &InstallConfig) -> String {
    let list = |items: Vec<String>| if items.is_empty() { "none".to_owned() } else { items.join(", ") };
    let pools: Vec<String> = config.compute.iter().map(|pool| format!("{} {}", pool.replicas, pool.name)).collect();
    let lines = [
        ("cluster", config.cluster_domain()),
        ("platform", config.platform.name().to_owned()),
        ("distribution", distribution(config)),
        ("machines", format!("{} {}, {}", config.control_plane.replicas, config.control_plane.name, list(pools))),
        ("machine network", list(config.networking.machine_network.iter().map(|net| net.cidr.to_string()).collect())),
        ("API address", list(config.api_vips().iter().map(ToString::to_string).collect())),
        ("ingress address", list(config.ingress_vips().iter().map(ToString::to_string).collect())),
        ("SSH key", config.ssh_key.as_deref().map_or("none".to_owned(), shortened)),
    ];
    let text: Vec<String> = lines.iter().map(|(name, value)| format!("{name:<16} {value}")).collect();
    text.join("\n")
}

fn distribution(config: &InstallConfig) -> String {
    format!("{} {}", config.distribution.name(), config.version.as_deref().unwrap_or_default()).trim_end().to_owned()
}

/// A key is too long to be read: its type and its end tell which it is.
fn shortened(key: &str) -> String {
    let line = key.lines().next().unwrap_or_default();
    let mut words = line.splitn(3, ' ');
    match (words.next(), words.next(), words.next()) {
        (Some(kind), Some(data), comment) if data.len() > 16 => {
            format!("{kind} …{} {}", &data[data.len() - 12..], comment.unwrap_or_default()).trim_end().to_owned()
        }
        _ => line.to_owned(),
    }
}
