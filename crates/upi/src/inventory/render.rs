//! The text of an inventory, with a word on everything that is there to be edited.

use serde_json::{Map, Value, json};

use super::Inventory;
use crate::text::Text;

/// What stands above each part.
const COMMENTS: [(&str, &str); 11] = [
    ("infra_id", "The mark of the cluster: names begin with it, descriptions and tags carry it. Leave it as it is."),
    ("cluster_domain", "The cluster's own domain; see install-config.yaml."),
    ("cluster_id", "Ids as the engine has them."),
    ("storage_domain_id", ""),
    (
        "image",
        "The template that machines are made of. With a source (a qcow2 image as a path or URL; .gz and .xz are unpacked)\n\
         image.yml makes the template; without, it must exist. checksum, like sha256:…, is that of the download.",
    ),
    (
        "ignition",
        "pointer: masters and workers fetch their configs from port 22623 of the load balancer. full: each is handed all of it.",
    ),
    (
        "network",
        "Where machines are. subnets and name_servers go into the DHCP configurations; with IPv6, dhcp_interface is where Kea has the\n\
         machines. With static: true machines have their addresses in their Ignition configs, and no DHCP server is needed.\n\
         vnic_profile_id may be empty: then the profile that is named like the network is used.",
    ),
    (
        "profiles",
        "Sizes and kinds of machines. Either the numbers, or instance_type_id. Optional: hugepages (KiB), resize_and_pin (true for\n\
         the topology of the host, pinned to its processors), and with clone disk_format (raw or cow) and disk_sparse, which are\n\
         those of the template otherwise.",
    ),
    (
        "affinity_groups",
        "Groups that keep machines on different hosts; enforcing ones rather do not start a machine. With existing: true, machines\n\
         join a group that the engine has, and nothing else of it changes.",
    ),
    (
        "machines",
        "The machines, with the addresses that DHCP and DNS give them. A mac is optional: without, the engine chooses one, and\n\
         vms.yml writes it down. Add, remove or change machines as you like; run 'landfall upi create' afterwards.\n\
         When the bootstrap machine has done its work, remove its line: load balancer, DNS and DHCP forget it.",
    ),
    (
        "load_balancers",
        "Two hosts that share the load balancer's addresses by keepalived, if you like, for example:\n\
         - {name: lb-1, addresses: [192.168.10.3], interface: eth0}\n\
         - {name: lb-2, addresses: [192.168.10.4], interface: eth0}",
    ),
];

/// Longer lines are broken: nobody reads them, and ansible-lint does not like them.
const LONG: usize = 130;

const HEAD: &str = "\
# The machines of the cluster and what they are made of, filled in from install-config.yaml. This file is yours: edit it, and run
# 'landfall upi create' afterwards, which makes everything else in this directory anew from it and never changes this file.
#
# The engine's address and credentials are not here. The playbooks take the first that is set of
#   engine_url, engine_username, engine_password, engine_cafile   (variables: ansible-playbook -e @vault.yml, from ansible-vault)
#   OVIRT_URL, OVIRT_USERNAME, OVIRT_PASSWORD, OVIRT_CAFILE       (environment)
#   the file that OVIRT_CONFIG names, else ~/.ovirt/ovirt-config.yaml
all:
  hosts:
    localhost:
      ansible_connection: local
      ansible_python_interpreter: \"{{ ansible_playbook_python }}\"
  vars:
";

impl Inventory {
    /// The text of the file.
    pub fn render(&self) -> String {
        let value = serde_json::to_value(self).expect("an inventory has string keys only");
        let mut text = Text::default();
        text.line(HEAD.trim_end());
        for (key, comment) in COMMENTS {
            for line in comment.lines() {
                text.line(format_args!("    # {line}"));
            }
            text.line(part(key, &value[key]).trim_end());
        }
        text.finish()
    }
}

/// One key with its value. Entries of lists stand on a line of their own each, so that machines are a table.
fn part(key: &str, value: &Value) -> String {
    match value {
        Value::Array(entries) if !entries.is_empty() => {
            let lines = entries.iter().map(|entry| match (flow(entry), entry) {
                (line, Value::Object(fields)) if line.len() > LONG => in_lines(fields),
                (line, _) => format!("      - {line}\n"),
            });
            format!("    {key}:\n{}", lines.collect::<String>())
        }
        Value::Object(fields) if fields.values().all(|field| !field.is_object()) => {
            let lines = fields.iter().map(|(name, field)| format!("      {name}: {}\n", flow(field)));
            format!("    {key}:\n{}", lines.collect::<String>())
        }
        Value::Object(fields) => {
            let lines = fields.iter().map(|(name, field)| {
                let fields = field.as_object().into_iter().flatten();
                let inner = fields.map(|(name, field)| format!("        {name}: {}\n", flow(field)));
                format!("      {name}:\n{}", inner.collect::<String>())
            });
            format!("    {key}:\n{}", lines.collect::<String>())
        }
        other => format!("    {key}: {}\n", flow(other)),
    }
}

/// An entry of a list that is too long for a line: a line for each field, and for each part of a field that is a list.
fn in_lines(fields: &Map<String, Value>) -> String {
    let field = |(number, (name, field)): (usize, (&String, &Value))| {
        let dash = if number == 0 { "-" } else { " " };
        match field {
            Value::Array(parts) if !parts.is_empty() => {
                let parts = parts.iter().map(|part| format!("          - {}\n", flow(part)));
                format!("      {dash} {name}:\n{}", parts.collect::<String>())
            }
            other => format!("      {dash} {name}: {}\n", flow(other)),
        }
    };
    fields.iter().enumerate().map(field).collect()
}

/// A value on one line: JSON, which is YAML too, with the spaces and without the quotes that people would leave out.
fn flow(value: &Value) -> String {
    match value {
        Value::Array(entries) => format!("[{}]", entries.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, field)| format!("{name}: {}", flow(field)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::String(text) if is_plain(text) => text.clone(),
        other => json!(other).to_string(),
    }
}

/// Whether a text means itself without quotes, also between brackets: it begins with a letter, or is an address, and
/// has nothing in it that YAML could take for something else.
fn is_plain(text: &str) -> bool {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    if text.parse::<std::net::Ipv4Addr>().is_ok() || text.parse::<ipnet::Ipv4Net>().is_ok() {
        return true;
    }
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(harmless)
        && !words.contains(&text.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_yaml_could_misunderstand_is_in_quotes() {
        let texts = ["a-b.c", "no", "12:30:45", "1.2", "a: b", "", "56:6f:00:00:00:01", "192.168.10.0/24"];
        for text in texts {
            let read: String = serde_saphyr::from_str(&flow(&json!(text))).unwrap();
            assert_eq!(read, text);
        }
    }
}
