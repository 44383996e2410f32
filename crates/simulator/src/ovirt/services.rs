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

/// The page at `/ovirt-engine`, which a client meets that forgot `/api`: it is sent to the login and back without end,
/// because only a browser keeps the cookies that would stop it.
pub(crate) fn welcome(request: &Request) -> Response {
    if http::header(request, "accept").is_some_and(|accept| accept.contains("text/html")) {
        return http::html(200, "oVirt Engine", "Welcome to a simulated oVirt engine.");
    }
    http::redirect("/ovirt-engine/sso/oauth/authorize?response_type=code&client_id=ovirt-engine-core")
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
