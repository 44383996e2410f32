//! Who takes part.

use std::net::IpAddr;

use landfall_assets::{MachineRole, Member};

use crate::kube::ClusterNode;

/// The members among nodes, with the machine itself where the cluster cannot know it yet: the bootstrap machine holds the
/// address before there is an API to ask, and it alone.
pub fn members(nodes: &[ClusterNode], role: MachineRole, name: &str, addresses: &[IpAddr]) -> Vec<Member> {
    let mut members: Vec<Member> = nodes.iter().map(ClusterNode::member).collect();
    if role == MachineRole::Bootstrap {
        members.retain(|member| member.name != name);
        members.push(Member { name: name.to_owned(), role, addresses: addresses.to_vec() });
    }
    members
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_bootstrap_machine_takes_part_without_being_known() {
        let own = ["198.51.100.20".parse().unwrap()];
        assert_eq!(members(&[], MachineRole::Bootstrap, "boot", &own).len(), 1);
        assert_eq!(members(&[], MachineRole::Master, "m0", &own), []);
        let known = ClusterNode {
            name: "boot".to_owned(),
            role: MachineRole::Master,
            addresses: own.to_vec(),
            pod_networks: Vec::new(),
        };
        let members = members(&[known], MachineRole::Bootstrap, "boot", &own);
        assert_eq!((members.len(), members[0].role), (1, MachineRole::Bootstrap), "before it has its taint too");
    }
}
