//! What becomes of things as time passes.

use super::agenda::{Due, Event};
use super::cloud::Cloud;
use super::knobs::Kind;
use super::{dns_services, power, resources, transit, vpc};

/// Lets something happen whose time has come.
pub(super) fn happen(cloud: &mut Cloud, due: &Due) {
    let id = due.id.as_str();
    match (due.kind, due.event) {
        (Kind::Workspace, _) => resources::done(cloud, id),
        (Kind::WorkspaceDelete, _) => resources::gone(cloud, id),
        (Kind::Router, _) => power::routed(cloud, id),
        (Kind::Dhcp, _) => power::dhcp_done(cloud, id),
        (Kind::DhcpDelete, _) => power::dhcp_gone(cloud, id),
        (Kind::Image, Event::Begun) => power::import_begun(cloud, id),
        (Kind::Image, _) => power::import_done(cloud, id),
        (Kind::Instance, _) => power::instance_done(cloud, id),
        (Kind::InstanceDelete, _) => power::instance_gone(cloud, id),
        (Kind::Power, event) => power::instance_power(cloud, id, event == Event::On),
        (Kind::Lease, _) => power::leased(cloud, id),
        (Kind::Volume, _) => power::volume_done(cloud, id),
        (Kind::Vpc | Kind::Subnet | Kind::PublicGateway, event) => {
            vpc::settled(cloud, due.kind, id, event == Event::Gone);
        }
        (Kind::LoadBalancer | Kind::LoadBalancerUpdate, _) => vpc::balancer_settled(cloud, id),
        (Kind::LoadBalancerDelete, _) => vpc::balancer_gone(cloud, id),
        (Kind::Gateway, event) => transit::gateway_settled(cloud, id, event == Event::Gone),
        (Kind::Connection, event) => transit::connection_settled(cloud, id, event == Event::Gone),
        (Kind::Dns, _) => dns_services::settled(cloud, id),
        // A search sees by itself how old a tag is.
        (Kind::Tag, _) => {}
    }
}
