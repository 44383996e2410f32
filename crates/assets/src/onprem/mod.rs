//! The API endpoint on platforms that have no load balancer: virtual addresses by keepalived, balancing by haproxy.
//!
//! keepalived answers which machine has a working balancer, haproxy answers which API server works; mixing the two makes
//! addresses wander when the last API server is slow. What a machine cannot know before it runs (its interface, the other
//! members) is filled in by `landfall-node`, with the same functions that render the first configuration.

mod boot_script;
mod files;
mod haproxy;
mod keepalived;
mod members;
mod platform_endpoint;
mod router_ids;
mod vips;

pub use boot_script::boot_script;
pub(crate) use boot_script::{boot_script_url, facts as boot_script_facts};
pub(crate) use files::{onprem_files, onprem_units};
pub use haproxy::haproxy_config;
pub use keepalived::keepalived_config;
pub use members::{LocalNode, Member};
pub(crate) use platform_endpoint::is_led_by_platform;
pub use router_ids::router_ids;
pub(crate) use vips::vip_facts;
