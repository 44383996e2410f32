//! The services beside the API: certificates, liveness, logout.

use super::api::params::Params;
use super::engine::Certificates;
use super::http;
use super::sso;
use super::state::State;
use crate::core::{Request, Response};

/// Answers a request under `/ovirt-engine/services`.
pub(crate) fn handle(
    state: &mut State,
    request: &Request,
    path: &str,
    certificates: Option<&Certificates>,
) -> Response {
    match (request.method.as_str(), path) {
        ("GET" | "HEAD", "/health") => http::text(200, "DB Up!Welcome to Health Status!"),
        ("GET" | "HEAD", "/pki-resource") => pki_resource(&Params::from_query(&request.query), certificates),
        ("POST" | "GET", "/sso-logout") => sso::logout(state, request),
        _ => http::html(404, "Not Found", "The requested page does not exist."),
    }
}

/// Certificates for everybody: clients fetch the authority from here before they can trust anything.
fn pki_resource(params: &Params, certificates: Option<&Certificates>) -> Response {
    let content_type = match params.get("format") {
        Some("X509-PEM-CA") => "application/x-x509-ca-cert",
        Some("X509-PEM") | None => "application/x-x509-cert",
        Some(_) => return http::html(400, "Bad Request", "Unknown format."),
    };
    let pem = match params.get("resource") {
        Some("ca-certificate" | "qemu-ca-certificate") => certificates.map(|certificates| &certificates.authority),
        Some("engine-certificate") => certificates.map(|certificates| &certificates.own),
        _ => return http::html(400, "Bad Request", "Unknown resource."),
    };
    match pem {
        Some(pem) => http::response(200, content_type, pem.clone()),
        None => http::html(404, "Not Found", "This engine has no certificate."),
    }
}
