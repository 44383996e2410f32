//! The redirect from the virtual addresses to haproxy.

use std::fmt::Write as _;

use landfall_assets::VipFacts;

use crate::{Error, program::Program};

const TABLE: &str = "inet landfall_api";

/// The rules for `nft -f`, replaced in one go: for what comes from outside, and for connections that this machine makes.
pub fn redirect_rules(vips: &VipFacts, api_port: u16) -> String {
    let mut rules = format!("table {TABLE} {{}}\ndelete table {TABLE}\ntable {TABLE} {{\n");
    // The priority of destination NAT, which nft knows by name in the first hook only.
    for (hook, priority) in [("prerouting", "dstnat"), ("output", "-100")] {
        let _ = writeln!(rules, "  chain {hook} {{\n    type nat hook {hook} priority {priority}; policy accept;");
        for vip in &vips.api {
            let family = if vip.is_ipv4() { "ip" } else { "ip6" };
            let _ =
                writeln!(rules, "    {family} daddr {vip} tcp dport {api_port} redirect to :{}", vips.balancer_port);
        }
        rules.push_str("  }\n");
    }
    rules.push_str("}\n");
    rules
}

/// The redirect, and whether it is in place.
#[derive(Debug)]
pub(super) struct Redirect {
    rules: String,
    present: Option<bool>,
}

impl Redirect {
    pub(super) fn new(vips: &VipFacts, api_port: u16) -> Self {
        Self { rules: redirect_rules(vips, api_port), present: None }
    }

    /// Puts it in place or takes it away.
    pub(super) async fn set(&mut self, wanted: bool) -> Result<(), Error> {
        if self.present == Some(wanted) {
            return Ok(());
        }
        let gone = format!("table {TABLE} {{}}\ndelete table {TABLE}\n");
        let rules = if wanted { self.rules.as_str() } else { gone.as_str() };
        Program::new("nft", ["-f", "-"]).input(rules).run().await?;
        tracing::info!(wanted, "redirect to the balancer");
        self.present = Some(wanted);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn both_ways_to_the_address_are_redirected() {
        let mut vips = testing::facts("master").vips.unwrap();
        vips.api.push("2001:db8::5".parse().unwrap());
        let rules = redirect_rules(&vips, 6443);
        for hook in ["prerouting", "output"] {
            let chain = rules.split(&format!("chain {hook}")).nth(1).unwrap();
            assert!(chain.contains("ip daddr 198.51.100.5 tcp dport 6443 redirect to :9445"), "{rules}");
            assert!(chain.contains("ip6 daddr 2001:db8::5 tcp dport 6443 redirect to :9445"), "{rules}");
        }
    }
}
