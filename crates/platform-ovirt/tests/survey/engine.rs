//! A small engine for the survey: replies in the shape that the real one's documentation and clients show (JSON, numbers as
//! strings, empty collections as `{}`, a web page with 401), written out by hand.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU32, Ordering},
};

use axum::{
    Form, Json, Router,
    extract::{Path, Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware::{self, Next},
    response::{Html, IntoResponse, Response},
    routing::{get, post},
};
use landfall_testkit::{Authority, HttpsServer};
use serde_json::{Value, json};

pub(crate) const PASSWORD: &str = "engine-secret-1";
pub(crate) const CLUSTER: &str = "7f0c1f6e-0000-4000-8000-0000000000c1";
pub(crate) const CLUSTER_WITHOUT_NETWORK_RANGE: &str = "7f0c1f6e-0000-4000-8000-0000000000c2";
pub(crate) const STORAGE: &str = "7f0c1f6e-0000-4000-8000-0000000000d1";
pub(crate) const PROFILE: &str = "7f0c1f6e-0000-4000-8000-0000000000e1";
pub(crate) const FAST_PROFILE: &str = "7f0c1f6e-0000-4000-8000-0000000000e3";

const UP: &str = "7f0c1f6e-0000-4000-8000-0000000000a1";
const DOWN: &str = "7f0c1f6e-0000-4000-8000-0000000000a2";
const HOST: &str = "7f0c1f6e-0000-4000-8000-0000000000b1";

/// What tests turn and look at.
#[derive(Debug, Default)]
pub(crate) struct Knobs {
    /// Every API call fails with 503.
    pub(crate) broken: AtomicBool,
    /// How many tokens were handed out. Only the newest is good.
    pub(crate) tokens: AtomicU32,
    /// The next API call finds its token expired.
    pub(crate) expire: AtomicBool,
}

pub(crate) async fn start(knobs: Arc<Knobs>) -> HttpsServer {
    let authority = Authority::new("engine.example.com.12345");
    serve(&authority, authority.pem().to_owned(), knobs).await
}

/// An engine whose web server has a certificate of another CA than the engine's own.
pub(crate) async fn start_with_other_ca(authority: &Authority) -> HttpsServer {
    serve(authority, Authority::new("engine's own CA").pem().to_owned(), Arc::default()).await
}

async fn serve(authority: &Authority, presented: String, knobs: Arc<Knobs>) -> HttpsServer {
    let api = Router::new()
        .route("/ovirt-engine/api", get(root))
        .route("/ovirt-engine/api/{*path}", get(resource))
        .layer(middleware::from_fn_with_state(knobs.clone(), authenticate));
    let open = Router::new()
        .route("/ovirt-engine/sso/oauth/token", post(token))
        .route("/ovirt-engine/services/pki-resource", get(move || async move { presented.clone() }))
        .with_state(knobs);
    HttpsServer::start(authority, api.merge(open)).await
}

async fn token(State(knobs): State<Arc<Knobs>>, Form(form): Form<Vec<(String, String)>>) -> Response {
    let field = |name: &str| form.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    if field("grant_type") != Some("password") || field("scope") != Some("ovirt-app-api") {
        return (StatusCode::BAD_REQUEST, Json(json!({"error_code": "invalid_request", "error": "bad request"})))
            .into_response();
    }
    if field("username") != Some("admin@internal") || field("password") != Some(PASSWORD) {
        let error = "Cannot authenticate user 'admin@internal': The user name or password is incorrect..";
        return (StatusCode::BAD_REQUEST, Json(json!({"error_code": "access_denied", "error": error}))).into_response();
    }
    let number = knobs.tokens.fetch_add(1, Ordering::SeqCst) + 1;
    let token = json!({"access_token": format!("token-{number}"), "scope": "ovirt-app-api", "exp": "9223372036854775807", "token_type": "bearer"});
    Json(token).into_response()
}

async fn authenticate(State(knobs): State<Arc<Knobs>>, headers: HeaderMap, request: Request, next: Next) -> Response {
    let expected = format!("Bearer token-{}", knobs.tokens.load(Ordering::SeqCst));
    let sent = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    if sent != Some(expected.as_str()) || knobs.expire.swap(false, Ordering::SeqCst) {
        let page = Html("<html><head><title>Error</title></head><body>Unauthorized</body></html>");
        return (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Basic realm=\"RESTAPI\"")], page)
            .into_response();
    }
    if knobs.broken.load(Ordering::SeqCst) {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    next.run(request).await
}

async fn root() -> Json<Value> {
    Json(json!({
        "product_info": {"name": "oVirt Engine", "vendor": "ovirt.org", "version":
            {"build": "4", "full_version": "4.5.4-1.el8", "major": "4", "minor": "5", "revision": "0"}},
        "summary": {"hosts": {"active": "1", "total": "1"}},
        "time": 1_700_000_000_000_u64
    }))
}

async fn resource(Path(path): Path<String>) -> Response {
    let reference = |id: &str| json!({"href": format!("/ovirt-engine/api/x/{id}"), "id": id});
    let body = match path.as_str() {
        "datacenters" => json!({"data_center": [
            {"id": UP, "name": "Default", "status": "up", "local": "false"},
            {"id": DOWN, "name": "Old", "status": "maintenance", "local": "false"}]}),
        "clusters" => json!({"cluster": [
            {"id": CLUSTER_WITHOUT_NETWORK_RANGE, "name": "Lab", "data_center": reference(UP)},
            {"id": CLUSTER, "name": "Default", "data_center": reference(UP), "threads_as_cores": "false"},
            {"id": "7f0c1f6e-0000-4000-8000-0000000000c9", "name": "Unreachable", "data_center": reference(DOWN)}]}),
        path if path == format!("datacenters/{UP}/storagedomains") => json!({"storage_domain": [
            {"id": STORAGE, "name": "vmstore", "type": "data", "status": "active", "available": "536870912000",
             "used": "536870912000", "storage": {"type": "iscsi"}},
            {"id": "7f0c1f6e-0000-4000-8000-0000000000d2", "name": "iso", "type": "iso", "status": "active",
             "available": "1", "used": "0", "storage": {"type": "nfs"}},
            {"id": "7f0c1f6e-0000-4000-8000-0000000000d3", "name": "broken", "type": "data", "status": "maintenance",
             "storage": {"type": "nfs"}}]}),
        path if path == format!("clusters/{CLUSTER}/networks") => json!({"network": [
            {"id": "n1", "name": "ovirtmgmt", "description": "Management Network", "usages": {"usage": ["vm", "management"]}},
            {"id": "n2", "name": "storage", "usages": {"usage": ["migration"]}},
            {"id": "n3", "name": "empty", "usages": {"usage": ["vm"]}},
            {"id": "n4", "name": "apps", "usages": {"usage": ["vm"]}}]}),
        path if path == format!("clusters/{CLUSTER_WITHOUT_NETWORK_RANGE}/networks") => json!({"network": [
            {"id": "n5", "name": "lab", "usages": {"usage": ["vm"]}}]}),
        "networks/n1/vnicprofiles" => {
            json!({"vnic_profile": [{"id": PROFILE, "name": "ovirtmgmt", "network": reference("n1")}]})
        }
        "networks/n5/vnicprofiles" => {
            json!({"vnic_profile": [{"id": PROFILE, "name": "lab", "network": reference("n5")}]})
        }
        "networks/n3/vnicprofiles" => json!({}),
        "networks/n4/vnicprofiles" => json!({"vnic_profile": [
            {"id": "7f0c1f6e-0000-4000-8000-0000000000e2", "name": "apps", "network": reference("n4")},
            {"id": FAST_PROFILE, "name": "apps-fast", "description": "SR-IOV", "network": reference("n4")}]}),
        "templates" => json!({"template": [
            {"id": "00000000-0000-0000-0000-000000000000", "name": "Blank", "status": "ok", "os": {"type": "other"}},
            {"id": "t1", "name": "debian12", "status": "ok", "os": {"type": "debian_9"}, "cluster": reference(CLUSTER)},
            {"id": "t2", "name": "fcos", "status": "ok", "os": {"type": "rhcos_x64"}, "cluster": reference(CLUSTER)},
            {"id": "t3", "name": "half", "status": "locked", "os": {"type": "rhcos_x64"}, "cluster": reference(CLUSTER)},
            {"id": "t4", "name": "far", "status": "ok", "os": {"type": "rhcos_x64"},
             "cluster": reference("7f0c1f6e-0000-4000-8000-0000000000c9")}]}),
        "hosts" => json!({"host": [
            {"id": "h0", "name": "down", "status": "non_responsive", "cluster": reference(CLUSTER)},
            {"id": HOST, "name": "host1", "status": "up", "cluster": reference(CLUSTER)}]}),
        path if path == format!("hosts/{HOST}/nics") => json!({"host_nic": [
            {"name": "eno1", "ip": {"address": "", "netmask": ""}, "mac": {"address": "52:54:00:00:00:01"}},
            {"name": "bond0", "network": reference("n1"),
             "ip": {"address": "192.0.2.11", "netmask": "255.255.255.0", "gateway": "192.0.2.1", "version": "v4"}}]}),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    Json(body).into_response()
}
