//! The mark that every object of a cluster carries: a tag, as soon as it can have one.
//!
//! Workspaces, object storage, images and machines are made with their tag. What VPC and the transit gateway service make is tagged
//! afterwards, by a service of its own, whose search learns of it later still. Until then the journal has the id, or says that the object
//! was asked for. A name may be given to anything by anyone in the account, so alone it says nothing.

use landfall_platform::InfraId;

/// The mark of one cluster. Names are compared as a whole wherever they are known, and at hyphens elsewhere, so that what belongs to
/// `a-bcdfg` is never taken for what belongs to `ba-bcdfg`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark(InfraId);

impl Mark {
    /// The mark of a cluster.
    pub fn new(infra_id: InfraId) -> Self {
        Self(infra_id)
    }

    /// Whose mark it is.
    pub fn infra_id(&self) -> &InfraId {
        &self.0
    }

    /// The name of an object of the cluster.
    pub fn name(&self, suffix: &str) -> String {
        format!("{}-{suffix}", self.0)
    }

    /// What is behind the infra id in a name of the cluster.
    pub fn suffix<'a>(&self, name: &'a str) -> Option<&'a str> {
        name.strip_prefix(self.0.as_str())?.strip_prefix('-').filter(|rest| !rest.is_empty())
    }

    /// The tag. What carries exactly this goes with the cluster.
    pub fn tag(&self) -> String {
        format!("landfall:{}", self.0)
    }

    /// The workspace.
    pub fn workspace(&self) -> String {
        self.name("power-iaas")
    }

    /// The DHCP server.
    pub fn dhcp(&self) -> String {
        self.name("network")
    }

    /// The network that the platform makes for the DHCP server.
    pub fn network(&self) -> String {
        format!("{}_Private", self.dhcp_machine())
    }

    /// The machine that the platform runs the DHCP server on.
    pub fn dhcp_machine(&self) -> String {
        format!("DHCPSERVER{}", self.dhcp())
    }

    /// The image.
    pub fn image(&self) -> String {
        self.name("image")
    }

    /// The SSH key.
    pub fn key(&self) -> String {
        self.name("key")
    }

    /// The VPC.
    pub fn vpc(&self) -> String {
        self.name("vpc")
    }

    /// A load balancer: for everybody, or for those inside.
    pub fn load_balancer(&self, is_public: bool) -> String {
        self.name(if is_public { "loadbalancer" } else { "loadbalancer-int" })
    }

    /// The transit gateway.
    pub fn transit_gateway(&self) -> String {
        self.name("tg")
    }

    /// The object storage.
    pub fn object_storage(&self) -> String {
        self.name("cos")
    }

    /// The bucket with the config of the bootstrap machine.
    pub fn bucket(&self) -> String {
        self.name("bootstrap-ign")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_exact() {
        let mark = Mark::new("a-bcdfg".parse().unwrap());
        assert_eq!(mark.suffix("a-bcdfg-master-0"), Some("master-0"));
        for other in ["ba-bcdfg-master-0", "a-bcdfgh-master-0", "a-bcdfg", "a-bcdfg-"] {
            assert_eq!(mark.suffix(other), None, "{other}");
        }
    }
}
