//! An install-config for the machines of a simulator.

use std::path::Path;

use anyhow::Context as _;
use ipnet::Ipv4Net;
use landfall_simulator::guests::{Kind, Options};
use serde_json::{Value, json};

/// Installs unchanged on a simulated engine with the default options.
const EXAMPLE: &str = include_str!("../../../../../examples/ovirt/install-config.yaml");
/// The loopback network of the example, and the part of it that its addresses begin with.
const EXAMPLE_NETWORK: (&str, &str) = ("127.66.0.0/16", "127.66.0.");

/// Writes the example for the machines that a simulator with these options makes, and which `ready` describes.
#[expect(clippy::disallowed_methods, reason = "an example, which the next start writes again")]
pub(crate) fn write_install_config(options: &Options, ready: &Value, path: &Path) -> anyhow::Result<()> {
    let text = match options.kind {
        Kind::Light | Kind::Plain => moved_text(EXAMPLE, options.network()),
        Kind::Real => moved_text(EXAMPLE, options.real.network) + &downloads(&ready["hosts"])?,
    };
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// The virtual addresses that the example has in this network: for the API, and for ingress.
pub(crate) fn moved_address(network: Ipv4Net, last: u8) -> std::net::Ipv4Addr {
    std::net::Ipv4Addr::from(u32::from(network.network()) + u32::from(last))
}

/// An example in another network.
pub(crate) fn moved_text(example: &str, network: Ipv4Net) -> String {
    let (range, beginning) = EXAMPLE_NETWORK;
    let first = network.network().to_string();
    let own = first.rsplit_once('.').map_or(first.as_str(), |(beginning, _)| beginning);
    example.replace(range, &network.to_string()).replace(beginning, &format!("{own}."))
}

/// Where machines that reach nothing but the simulator get their programs from.
fn downloads(hosts: &Value) -> anyhow::Result<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let file = text(&hosts["digests_file"]);
    let digests = std::fs::read_to_string(&file).with_context(|| format!("cannot read {file}"))?;
    let digests: serde_json::Map<String, Value> =
        serde_saphyr::from_str(&digests).with_context(|| format!("cannot read {file}"))?;
    let agent = &hosts["node_agent"];
    anyhow::ensure!(
        agent.is_object(),
        "there is no landfall-node for the hosts to download: build it beside this program, or name one with --host-agent"
    );
    let fields = json!({
        "binaryMirror": hosts["mirror"],
        "binaryDigests": digests,
        "nodeAgent": { "url": agent["url"], "sha512": { "amd64": agent["sha512"] } },
    });
    Ok(format!(
        "# Where the simulator serves programs to its hosts, and what they must be.\n{}",
        serde_saphyr::to_string(&fields)?
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_moves_as_a_whole() {
        let network: Ipv4Net = "198.51.100.0/24".parse().unwrap();
        let text = moved_text(EXAMPLE, network);
        for line in ["- cidr: 198.51.100.0/24", "- 198.51.100.5", "- 198.51.100.6"] {
            assert!(text.contains(line), "{text}");
        }
        assert!(!text.contains("127."), "{text}");
        assert_eq!(moved_text(EXAMPLE, "127.66.0.0/16".parse().unwrap()), EXAMPLE);
        assert_eq!(moved_address(network, 5).to_string(), "198.51.100.5");
    }
}
