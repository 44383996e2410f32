//! A machine as it is wanted, and the request that creates it.

use std::time::Duration;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A machine. What is in it stands in plans and journals, so nothing of it is secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vm {
    /// Its name, which is its host name too.
    pub name: String,
    /// Its id, of one that was found on the platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The image that it boots from.
    #[serde(default)]
    pub image: Named,
    /// The network that it is in.
    #[serde(default)]
    pub network: Named,
    /// Name of its SSH key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Type of the system; none leaves it to the platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sys_type: Option<String>,
    /// How it shares processors: `shared`, `capped`, `dedicated`.
    #[serde(default)]
    pub proc_type: String,
    /// Number of processors.
    #[serde(default)]
    pub processors: f64,
    /// Memory in GiB.
    #[serde(default)]
    pub memory_gib: u32,
    /// Speed of its disk.
    #[serde(default)]
    pub storage_type: String,
    /// Tags, for people and for bills.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Name of the file with its Ignition config. The config itself holds secrets.
    #[serde(default)]
    pub ignition: String,
    /// Bucket and object that it fetches its config from, if that is too large for the platform to hand it over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_object: Option<(String, String)>,
    /// How long the link to that object is good for: until the machine must have booted.
    #[serde(default, skip_serializing_if = "Duration::is_zero")]
    pub boot_link: Duration,
}

/// Something on the platform, by its id or its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Named {
    /// By its id.
    Id(String),
    /// By its name; names that exist may also be ids.
    Name(String),
    /// By an expression that its name fits, of which only beginning, end and `.*` between are understood.
    Pattern(String),
}

impl Default for Named {
    fn default() -> Self {
        Self::Name(String::new())
    }
}

impl Named {
    /// Whether something is meant.
    pub fn is(&self, id: &str, name: &str) -> bool {
        match self {
            Self::Id(wanted) => wanted == id,
            Self::Name(wanted) => wanted == name || wanted == id,
            Self::Pattern(pattern) => fits(pattern, name),
        }
    }

    /// For people.
    pub fn text(&self) -> &str {
        match self {
            Self::Id(text) | Self::Name(text) | Self::Pattern(text) => text,
        }
    }
}

/// Whether a text fits an expression of letters, `^`, `$` and `.*`. Machine sets of the existing provider use no others.
fn fits(pattern: &str, text: &str) -> bool {
    let open_start = !pattern.starts_with('^');
    let open_end = !pattern.ends_with('$');
    let bare = pattern.trim_start_matches('^').trim_end_matches('$');
    let mut parts = bare.split(".*");
    let Some(first) = parts.next() else { return false };
    let mut rest = match (open_start, text.find(first)) {
        (_, Some(0)) => &text[first.len()..],
        (true, Some(at)) => &text[at + first.len()..],
        _ => return false,
    };
    let mut exact = true;
    let parts: Vec<&str> = parts.collect();
    for (number, part) in parts.iter().enumerate() {
        let is_last = number + 1 == parts.len();
        let at = if is_last && !open_end { rest.rfind(part) } else { rest.find(part) };
        let Some(at) = at else { return false };
        rest = &rest[at + part.len()..];
        exact = rest.is_empty();
    }
    open_end || (exact && rest.is_empty())
}

impl Vm {
    /// The request, with the ids of image and network.
    pub(super) fn request(&self, image: &str, network: &str, user_data: &str) -> Value {
        let mut body = json!({
            "serverName": self.name,
            "imageID": image,
            "networks": [{"networkID": network}],
            "memory": self.memory_gib,
            "processors": self.processors,
            "procType": self.proc_type,
            "storageType": self.storage_type,
            "userData": BASE64_STANDARD.encode(user_data),
        });
        if let Some(key) = &self.key {
            body["keyPairName"] = json!(key);
        }
        if let Some(kind) = &self.sys_type {
            body["sysType"] = json!(kind);
        }
        if !self.tags.is_empty() {
            body["userTags"] = json!(self.tags);
        }
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_of_the_existing_provider_are_understood() {
        let pattern = "^DHCPSERVER.*demo-x7k2p.*_Private$";
        for (text, expected) in [
            ("DHCPSERVERdemo-x7k2p-network_Private", true),
            ("DHCPSERVERdemo-x7k2p_Private", true),
            ("xDHCPSERVERdemo-x7k2p_Private", false),
            ("DHCPSERVERdemo-x7k2p_Private2", false),
            ("DHCPSERVERother_Private", false),
        ] {
            assert_eq!(fits(pattern, text), expected, "{text}");
        }
        assert!(fits("net", "my-network") && fits("^net$", "net") && !fits("^net$", "nets") && !fits("^net$", "anet"));
    }
}
