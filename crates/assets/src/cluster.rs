//! The cluster that assets are rendered for, and the names and addresses that several of them share.

use std::net::IpAddr;

use landfall_config::{EndpointHolder, InstallConfig, ovirt};
use landfall_platform::InfraId;

/// Port of the Kubernetes API.
pub(crate) const API_PORT: u16 = 6443;
/// Port of the config server.
pub(crate) const CONFIG_SERVER_PORT: u16 = 22623;

/// The cluster that assets are rendered for.
#[derive(Clone, Copy, Debug)]
pub struct Cluster<'a> {
    /// The validated install-config, with defaults filled in.
    pub config: &'a InstallConfig,
    /// The mark that everything of the cluster carries.
    pub infra_id: &'a InfraId,
}

impl Cluster<'_> {
    /// Name of the API for clients outside.
    pub fn api_name(&self) -> String {
        format!("api.{}", self.config.cluster_domain())
    }

    /// Name of the API and the config server for the cluster's own machines.
    pub fn api_int_name(&self) -> String {
        format!("api-int.{}", self.config.cluster_domain())
    }

    /// Whether the cluster's own machines hold the virtual addresses and balance the load.
    pub fn holds_vips(&self) -> bool {
        self.config.endpoint_holder() == EndpointHolder::Machines
    }

    /// Whether Landfall sees to it that traffic gets to the API, with the machines or with the platform.
    pub fn manages_endpoint(&self) -> bool {
        self.config.endpoint_holder() != EndpointHolder::User
    }

    /// The host under which the cluster's own machines reach API and config server, as it stands in a URL.
    ///
    /// Where Landfall manages addresses that are known beforehand this is the address itself. A machine asks the config server before
    /// anything of the cluster runs on it, so the only resolver is the site's, and that usually knows nothing of
    /// `api-int`; the reference installer does the same, and its users were stuck for days where a name was used
    /// (openshift/installer issue 6104). With a load balancer of the user's own the records are the user's too, and the
    /// name is what can be moved later. Certificates are valid for both.
    pub fn internal_host(&self) -> String {
        match self.config.api_vips().first() {
            Some(IpAddr::V6(vip)) if self.manages_endpoint() => format!("[{vip}]"),
            Some(vip) if self.manages_endpoint() => vip.to_string(),
            _ => self.api_int_name(),
        }
    }

    /// Name of the machine that brings up the cluster.
    pub fn bootstrap_name(&self) -> String {
        format!("{}-bootstrap", self.infra_id)
    }

    /// Name of a master, counted from 0.
    pub fn master_name(&self, index: u32) -> String {
        format!("{}-master-{index}", self.infra_id)
    }

    /// Name of the oVirt template that machines are made from: the user's, or one that Landfall makes.
    pub fn ovirt_template_name(&self, platform: &ovirt::Platform) -> String {
        platform.template_name(self.infra_id.as_str())
    }

    /// Where the cluster's own machines reach the config server, as `host:port`.
    pub fn config_server_endpoint(&self) -> String {
        format!("{}:{CONFIG_SERVER_PORT}", self.internal_host())
    }

    /// Where the cluster's own machines reach the API, as `host:port`.
    pub fn internal_endpoint(&self) -> String {
        format!("{}:{API_PORT}", self.internal_host())
    }
}
