//! The load balancer of the API on a master: haproxy with backends that follow the members, and the redirect that leads to it.
//!
//! What comes to a virtual address on the API's port is redirected to haproxy only while haproxy has an API server to send it
//! to. At all other times the local API server gets it, which listens on the same port on all addresses. So there is no moment
//! at which connections lead nowhere although some API server works.

mod redirect;
mod run;

pub use redirect::redirect_rules;
pub use run::run;
