//! Logging in and out, and what those get whom the engine does not know.

use super::lab::{Answer, Lab};
use crate::core::Injection;

const TOKEN: &str = "/ovirt-engine/sso/oauth/token";
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

fn login(lab: &mut Lab, form: &str) -> (u16, serde_json::Value) {
    let answer = lab.send("POST", TOKEN, &[FORM], form.as_bytes());
    (answer.status, serde_json::from_str(&answer.text).unwrap())
}

fn good(lab: &mut Lab) -> String {
    let form = "grant_type=password&scope=ovirt-app-api&username=admin%40internal&password=secret";
    let (status, answer) = login(lab, form);
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["token_type"], "bearer");
    assert!(answer["exp"].is_string());
    answer["access_token"].as_str().unwrap().to_owned()
}

fn with_token(lab: &mut Lab, token: &str) -> Answer {
    lab.send("GET", "/ovirt-engine/api/vms", &[("authorization", &format!("Bearer {token}"))], b"")
}

#[test]
fn a_token_opens_the_api_until_it_is_revoked() {
    let mut lab = Lab::small();
    let token = good(&mut lab);
    assert_eq!(with_token(&mut lab, &token).status, 200);
    let form = format!("scope=ovirt-app-api&token={token}");
    let answer = lab.send("POST", "/ovirt-engine/services/sso-logout", &[FORM], form.as_bytes());
    assert_eq!((answer.status, answer.text.as_str()), (200, "{}"));
    let refused = with_token(&mut lab, &token);
    assert_eq!(refused.status, 401);
    assert_eq!(refused.header("www-authenticate"), Some("Basic realm=\"RESTAPI\""));
    assert_eq!(refused.header("content-type"), Some("text/html;charset=UTF-8"));
    let words = "invalid_grant: The provided authorization grant for the auth code has expired.";
    assert!(refused.text.contains(words), "{}", refused.text);
}

#[test]
fn a_session_dies_of_idleness_and_lives_by_use() {
    let mut lab = Lab::small();
    let token = good(&mut lab);
    for _ in 0..5 {
        lab.seconds(20 * 60);
        assert_eq!(with_token(&mut lab, &token).status, 200);
    }
    lab.seconds(31 * 60);
    assert_eq!(with_token(&mut lab, &token).status, 401);
}

#[test]
fn refusals_are_bad_requests_in_one_of_two_forms() {
    let mut lab = Lab::small();
    for (form, key, code) in [
        (
            "grant_type=password&scope=ovirt-app-api&username=admin%40internal&password=no",
            "error_code",
            "access_denied",
        ),
        ("grant_type=password&scope=ovirt-app-api&username=admin&password=secret", "error_code", "access_denied"),
        ("grant_type=password&scope=ovirt-app-api&username=admin%40internal", "error_code", "invalid_request"),
        ("grant_type=magic&scope=ovirt-app-api", "error_code", "unsupported_grant_type"),
        ("scope=ovirt-app-api", "error_code", "invalid_request"),
        ("grant_type=password&scope=other&username=admin%40internal&password=secret", "error", "invalid_scope"),
        ("", "error", "invalid_request"),
        ("%ff%fe=%zz", "error", "invalid_request"),
    ] {
        let (status, answer) = login(&mut lab, form);
        assert_eq!((status, &answer[key]), (400, &code.into()), "{form}: {answer}");
    }
    let (_, answer) = login(&mut lab, "grant_type=password&scope=ovirt-app-api&username=admin%40internal&password=no");
    assert!(answer["error"].as_str().unwrap().starts_with("Cannot authenticate user 'admin@internal'"), "{answer}");
}

#[test]
fn credentials_may_come_with_the_request_itself() {
    let mut lab = Lab::small();
    let basic = ("authorization", "Basic YWRtaW5AaW50ZXJuYWw6c2VjcmV0");
    let body = b"grant_type=urn:ovirt:params:oauth:grant-type:http&scope=ovirt-app-api";
    let answer = lab.send("POST", "/ovirt-engine/sso/oauth/token-http-auth", &[FORM, basic], body).expect(200);
    let answer: serde_json::Value = serde_json::from_str(&answer.text).unwrap();
    let token = answer["access_token"].as_str().unwrap().to_owned();
    assert_eq!(with_token(&mut lab, &token).status, 200);

    let persistent = [basic, ("prefer", "persistent-auth")];
    let answer = lab.send("GET", "/ovirt-engine/api", &persistent, b"").expect(200);
    let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    lab.send("GET", "/ovirt-engine/api/vms", &[("cookie", &cookie)], b"").expect(200);
    lab.send("GET", "/ovirt-engine/api/vms", &[("cookie", "JSESSIONID=made-up")], b"").expect(401);
}

#[test]
fn an_injected_expiry_is_seen_once() {
    let mut lab = Lab::small();
    let token = good(&mut lab);
    lab.injection = Some(Injection::TokenExpired);
    assert_eq!(with_token(&mut lab, &token).status, 401);
    assert_eq!(with_token(&mut lab, &token).status, 200);
}

#[test]
fn users_see_and_do_what_they_were_granted() {
    let mut lab = Lab::small();
    let (own, other) = (lab.vm("own", "Blank"), lab.vm("other", "Blank"));
    let joe = lab.get("/users?search=usrname%3Djoe").id();
    let grant = format!("<permission><role><name>UserVmManager</name></role><user id=\"{joe}\"/></permission>");
    lab.post(&format!("/vms/{own}/permissions"), &grant).expect(201);
    lab.user = "joe@internal";
    assert_eq!(lab.get("/vms").ids(), [own.as_str()]);
    lab.get(&format!("/vms/{other}")).expect(404);
    assert_eq!(lab.get("/hosts").ids().len(), 0);
    lab.put(&format!("/vms/{own}"), "<vm><comment>mine</comment></vm>").expect(200);
    let refused = lab.put(&format!("/vms/{other}"), "<vm><comment>mine</comment></vm>").expect(403);
    assert_eq!(refused.element("detail"), "[User is not authorized to perform this action.]");
    lab.post("/tags", "<tag><name>t</name></tag>").expect(403);
    lab.get("/vms?filter=false").expect(403);
}

#[test]
fn the_services_beside_the_api_answer() {
    let mut lab = Lab::small();
    assert_eq!(
        lab.send("GET", "/ovirt-engine/services/health", &[], b"").expect(200).text,
        "DB Up!Welcome to Health Status!"
    );
    lab.send("GET", "/ovirt-engine/sso/status", &[], b"").expect(200);
    let pki = "/ovirt-engine/services/pki-resource";
    lab.send("GET", &format!("{pki}?resource=nonsense&format=X509-PEM-CA"), &[], b"").expect(400);
    lab.send("GET", &format!("{pki}?resource=ca-certificate&format=DER"), &[], b"").expect(400);
    let welcome = lab.send("GET", "/ovirt-engine", &[("accept", "application/xml")], b"").expect(302);
    let login = lab.send("GET", welcome.header("location").unwrap(), &[], b"").expect(302);
    assert_eq!(login.header("location"), Some("/ovirt-engine/"), "who forgot /api goes round in circles");
    lab.send("GET", "/ovirt-engine/", &[("accept", "text/html")], b"").expect(200);
    lab.send("GET", "/ovirt-engine/nonsense", &[], b"").expect(404);
    lab.send("GET", "/", &[], b"").expect(404);
}
