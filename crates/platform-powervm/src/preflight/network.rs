//! Whether the servers bridge the network that the machines are to be in.

use futures::future::join_all;
use landfall_config::powervm::{Network, SharedEthernet};
use landfall_platform::Finding;

use super::{Server, Subject, unanswered};
use crate::Error;

const CHECK: &str = "network";

pub(super) async fn check(subject: &Subject<'_>, servers: &[Server<'_>]) -> Vec<Finding> {
    match &subject.platform.network {
        Network::SharedEthernet(ethernet) => {
            let looks = servers.iter().map(|server| async move {
                bridged(server, ethernet).await.unwrap_or_else(|error| unanswered(CHECK, &error))
            });
            join_all(looks).await
        }
        // NovaLink does not show the bridges of Open vSwitch: they are in the operating system that it runs in.
        Network::OpenVswitch(switch) => vec![Finding::notice(
            CHECK,
            format!("whether bridge {} exists cannot be seen from here", switch.bridge),
            "'ovs-vsctl br-exists' on each NovaLink partition tells",
        )],
    }
}

async fn bridged(server: &Server<'_>, ethernet: &SharedEthernet) -> Result<Finding, Error> {
    let (host, client) = (&server.member.name, &server.member.client);
    let SharedEthernet { vlan, virtual_switch } = ethernet;
    let (switches, bridges) =
        futures::try_join!(client.switches(&server.system.id), client.bridges(&server.system.id))?;
    // The default one is shown with a word about that.
    let default = format!("{virtual_switch}(Default)");
    if !switches.iter().any(|switch| switch.name == *virtual_switch || switch.name == default) {
        let known: Vec<&str> = switches.iter().map(|switch| switch.name.as_str()).collect();
        let message = format!("{host} has no virtual switch {virtual_switch}");
        let problem = Finding::problem(CHECK, message, format!("it has: {}", known.join(", ")));
        return Ok(problem.blame("platform.powervm.network.sharedEthernet.virtualSwitch"));
    }
    let mut vlans: Vec<u16> = bridges.iter().flat_map(|bridge| bridge.vlans.iter().copied()).collect();
    vlans.sort_unstable();
    vlans.dedup();
    Ok(if vlans.contains(vlan) {
        Finding::ok(CHECK, format!("{host} bridges VLAN {vlan}"))
    } else {
        let vlans: Vec<String> = vlans.iter().map(ToString::to_string).collect();
        let message = format!("no Shared Ethernet Adapter of {host} bridges VLAN {vlan}");
        let hint = format!("add it to one, or use one of: {}", vlans.join(", "));
        Finding::problem(CHECK, message, hint).blame("platform.powervm.network.sharedEthernet.vlan")
    })
}
