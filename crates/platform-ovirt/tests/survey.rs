//! The survey of an engine, answered by a script.

#![allow(clippy::disallowed_methods, reason = "tests write what need not survive")]

use std::{os::unix::fs::PermissionsExt, sync::Arc};

use landfall_platform::{
    Environment,
    survey::{Answers, Survey as _, SurveyError, conduct},
};
use landfall_platform_ovirt::{CredentialsFile, Survey};
use landfall_testkit::{
    Authority, HttpsServer, ScriptedPrompter, ScriptedSurvey,
    Step::{self, Abort, Back, Enter, Type},
    hold_survey,
    ovirt_engine::{self as engine, CLUSTER, FAST_PROFILE, Knobs, PASSWORD, PROFILE, STORAGE},
};
use landfall_wire::{Limits, Trust};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use tempfile::TempDir;

type Script = Vec<(&'static str, Step)>;

async fn survey(home: &TempDir, given: &[(&'static str, &str)], script: Script) -> ScriptedSurvey {
    let environment: Environment = [("HOME", home.path().as_os_str())].into_iter().collect();
    let mut survey = Survey::new(&environment, Limits::default()).expect("the credentials file can be read");
    hold_survey(&mut survey, given, script).await
}

/// The address, as a script wants it.
fn address(server: &HttpsServer) -> &'static str {
    server.address().to_string().leak()
}

fn login(server: &HttpsServer) -> Script {
    vec![
        ("oVirt engine", Type(address(server))),
        ("Trust this CA", Type("Yes")),
        ("Engine user", Enter),
        ("Password", Type(PASSWORD)),
    ]
}

fn placement() -> Script {
    vec![
        ("oVirt cluster", Type("Default")),
        ("Storage domain", Enter),
        ("Network", Enter),
        ("Operating system", Enter),
        ("Template", Enter),
    ]
}

fn section() -> Value {
    json!({
        "ovirt_cluster_id": CLUSTER,
        "ovirt_storage_domain_id": STORAGE,
        "ovirt_network_name": "ovirtmgmt",
        "vnicProfileID": PROFILE,
        "image": {"template": "fcos"},
    })
}

fn credentials(home: &TempDir) -> CredentialsFile {
    let environment: Environment = [("HOME", home.path().as_os_str())].into_iter().collect();
    CredentialsFile::locate(&environment).expect("there is a home")
}

fn home() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

#[tokio::test]
async fn the_whole_survey_chooses_from_what_the_engine_has() {
    let (home, server) = (home(), engine::start(Arc::default()).await);
    let outcome = survey(&home, &[], [login(&server), placement()].concat()).await;
    let transcript = &outcome.transcript;
    assert_eq!(outcome.section.unwrap(), section(), "{transcript}");
    assert_eq!(outcome.machine_network.as_deref(), Some("192.0.2.0/24"));
    for shown in [
        "subject  CN=engine.example.com.12345, O=Test",
        "connected to oVirt Engine 4.5.4-1.el8",
        "? oVirt cluster [Default (data center Default)] | Lab (data center Default)\n",
        "? Storage domain [vmstore (iscsi, 500 GiB free of 1000 GiB)]\n",
        "? Network apps | empty | [ovirtmgmt (Management Network)]\n",
        "? Operating system of the machines [An existing template] |",
        "? Template [fcos (takes Ignition, rhcos_x64)] | debian12 (debian_9)\n",
    ] {
        assert!(transcript.contains(shown), "{shown} is not in\n{transcript}");
    }
    assert!(!transcript.contains(PASSWORD), "{transcript}");

    let file = credentials(&home);
    let stored = file.read().unwrap();
    assert_eq!(stored.engine.host(), server.address().to_string());
    assert_eq!((stored.user.as_str(), stored.password.expose_secret()), ("admin@internal", PASSWORD));
    assert_eq!(stored.trust, Trust::Only(server.authority().replace("\r\n", "\n")));
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(file.path()), mode(file.path().parent().unwrap())), (0o600, 0o700));
}

#[tokio::test]
async fn the_fingerprint_is_the_one_openssl_shows() {
    let (home, server) = (home(), engine::start(Arc::default()).await);
    let pem = home.path().join("ca.pem");
    std::fs::write(&pem, server.authority()).unwrap();
    let openssl = std::process::Command::new("openssl")
        .args(["x509", "-noout", "-sha256", "-fingerprint", "-in"])
        .arg(&pem)
        .output()
        .expect("openssl is installed");
    let shown = String::from_utf8(openssl.stdout).unwrap();
    let fingerprint = shown.trim().split_once('=').unwrap().1;
    let script = vec![("oVirt engine", Type(address(&server))), ("Trust this CA", Abort)];
    let outcome = survey(&home, &[], script).await;
    let words: Vec<&str> = outcome.transcript.split_whitespace().collect();
    let place = words.iter().position(|word| *word == "SHA-256").expect("a fingerprint is shown");
    assert_eq!(words[place + 1..place + 3].concat(), fingerprint, "{}", outcome.transcript);
}

#[tokio::test]
async fn several_vnic_profiles_are_a_question_and_none_is_a_reason_to_go_back() {
    let (home, server) = (home(), engine::start(Arc::default()).await);
    let choices = vec![
        ("oVirt cluster", Type("Default")),
        ("Storage domain", Enter),
        ("Network", Type("empty")),
        ("Network", Type("apps")),
        ("vNIC profile", Type("SR-IOV")),
        ("Operating system", Type("belongs to the distribution")),
    ];
    let outcome = survey(&home, &[], [login(&server), choices].concat()).await;
    let section = outcome.section.unwrap();
    assert_eq!(section["vnicProfileID"], FAST_PROFILE);
    assert!(section.get("image").is_none(), "{section}");
    assert!(outcome.transcript.contains("! network empty has no vNIC profile"), "{}", outcome.transcript);
}

#[tokio::test]
async fn a_network_without_addresses_of_hosts_gives_no_default() {
    let (home, server) = (home(), engine::start(Arc::default()).await);
    let choices = vec![
        ("oVirt cluster", Type("Lab")),
        ("Storage domain", Enter),
        ("Network", Type("lab")),
        ("Operating system", Type("disk image")),
        ("Disk image", Type("ftp://example.com/fcos.qcow2")),
        ("Disk image", Type("https://example.com/fcos.qcow2")),
    ];
    let outcome = survey(&home, &[], [login(&server), choices].concat()).await;
    assert_eq!(outcome.machine_network, None);
    assert_eq!(outcome.section.unwrap()["image"], json!({"disk": "https://example.com/fcos.qcow2"}));
    assert!(outcome.transcript.contains("# must be a URL that begins with http"), "{}", outcome.transcript);
}

#[tokio::test]
async fn what_was_given_is_not_asked() {
    let (home, server) = (home(), engine::start(Arc::default()).await);
    let given = [
        ("platform.ovirt.ovirt_cluster_id", CLUSTER),
        ("platform.ovirt.ovirt_network_name", "ovirtmgmt"),
        ("platform.ovirt.image", "{\"template\":\"fcos\"}"),
    ];
    let outcome = survey(&home, &given, [login(&server), vec![("Storage domain", Enter)]].concat()).await;
    assert_eq!(
        outcome.section.unwrap(),
        json!({"ovirt_storage_domain_id": STORAGE, "vnicProfileID": PROFILE}),
        "{}",
        outcome.transcript
    );
}

#[tokio::test]
async fn a_given_cluster_that_does_not_exist_is_said_at_the_first_question_that_needs_it() {
    let (home, server) = (home(), engine::start(Arc::default()).await);
    let given = [("platform.ovirt.ovirt_cluster_id", "7f0c1f6e-0000-4000-8000-00000000dead")];
    let script = [login(&server), vec![("Password", Abort)]].concat();
    let outcome = survey(&home, &given, script).await;
    assert!(outcome.transcript.contains("! the engine has no cluster 7f0c1f6e-0000-4000-8000-00000000dead"));
}

#[tokio::test]
async fn three_wrong_passwords_end_the_survey() {
    let (home, server) = (home(), engine::start(Arc::default()).await);
    let mut script = login(&server);
    script.pop();
    script.extend([("Password", Type("wrong")), ("Password", Type("wronger")), ("Password", Type("wrongest"))]);
    let outcome = survey(&home, &[], script).await;
    let SurveyError::Platform { platform: "ovirt", source } = outcome.section.unwrap_err() else {
        panic!("another error")
    };
    let said = source.to_string();
    assert!(said.contains("refused user admin@internal: access_denied: Cannot authenticate"), "{said}");
    assert!(outcome.transcript.contains("password is incorrect (try 2 of 3)"), "{}", outcome.transcript);
    assert!(!outcome.stored && !credentials(&home).path().exists());
}

#[tokio::test]
async fn a_wrong_user_can_be_mended_by_going_back() {
    let (home, server) = (home(), engine::start(Arc::default()).await);
    let script = vec![
        ("oVirt engine", Type(address(&server))),
        ("Trust this CA", Type("Yes")),
        ("Engine user", Type("admin")),
        ("Engine user", Type("root@internal")),
        ("Password of root@internal", Type(PASSWORD)),
        ("Password of root@internal", Back),
        ("Engine user", Type("admin@internal")),
        ("Password of admin@internal", Type(PASSWORD)),
    ];
    let outcome = survey(&home, &[], [script, placement()].concat()).await;
    assert!(outcome.transcript.contains("# a user name has a profile, as in admin@internal"));
    assert!(outcome.transcript.contains("? Engine user (root@internal)\n"), "the earlier answer is offered");
    assert_eq!(outcome.section.unwrap(), section());
}

#[tokio::test]
async fn going_back_over_several_questions_offers_the_earlier_answers() {
    let (home, server) = (home(), engine::start(Arc::default()).await);
    let script = vec![
        ("oVirt cluster", Type("Lab")),
        ("Storage domain", Enter),
        ("Network", Enter),
        // The only vNIC profile of that network is no question, so it is no step either.
        ("Operating system", Back),
        ("Network", Back),
        ("Storage domain", Back),
        ("oVirt cluster", Type("Default")),
        ("Storage domain", Enter),
        ("Network", Enter),
        ("Operating system", Enter),
        ("Template", Enter),
    ];
    let outcome = survey(&home, &[], [login(&server), script].concat()).await;
    let transcript = &outcome.transcript;
    assert!(
        transcript.contains("? oVirt cluster Default (data center Default) | [Lab (data center Default)]\n"),
        "{transcript}"
    );
    // The network of the other cluster does not exist here, so the usual one is marked.
    assert!(transcript.contains("? Network apps | empty | [ovirtmgmt"), "{transcript}");
    assert_eq!(outcome.section.unwrap()["ovirt_cluster_id"], CLUSTER);
}

#[tokio::test]
async fn a_refused_ca_is_not_trusted_and_a_file_can_take_its_place() {
    let home = home();
    let authority = Authority::new("company CA");
    let server = engine::start_with_other_ca(&authority).await;
    let right = home.path().join("right.pem");
    let wrong = home.path().join("wrong.pem");
    std::fs::write(&right, authority.pem()).unwrap();
    std::fs::write(&wrong, Authority::new("somebody else").pem()).unwrap();
    let not_pem = home.path().join("not.pem");
    std::fs::write(&not_pem, "hello").unwrap();
    let path = |path: &std::path::Path| Type(path.to_str().unwrap().to_owned().leak());
    let script = vec![
        ("oVirt engine", Type(address(&server))),
        ("Trust this CA", Type("Yes")),
        ("Trust this CA", Type("No")),
        ("File with the engine's CA", Type("/nonexistent/ca.pem")),
        ("File with the engine's CA", path(&not_pem)),
        ("File with the engine's CA", path(&wrong)),
        ("File with the engine's CA", path(&right)),
        ("Engine user", Enter),
        ("Password", Type(PASSWORD)),
    ];
    let outcome = survey(&home, &[], [script, placement()].concat()).await;
    let transcript = &outcome.transcript;
    assert_eq!(outcome.section.unwrap(), section());
    assert_eq!(transcript.matches("this CA did not issue the certificate").count(), 2, "{transcript}");
    assert!(transcript.contains("/nonexistent/ca.pem cannot be read"), "{transcript}");
    assert!(transcript.contains("it holds no certificate"), "{transcript}");
    assert_eq!(credentials(&home).read().unwrap().trust, Trust::Only(authority.pem().replace("\r\n", "\n")));
}

#[tokio::test]
async fn an_engine_out_of_reach_can_be_left_aside() {
    let home = home();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let closed: &'static str = closed.to_string().leak();
    let script = vec![
        ("oVirt engine", Type(closed)),
        ("cannot be reached", Type("Go back")),
        ("oVirt engine", Enter),
        ("cannot be reached", Type("Continue")),
        ("File with the engine's CA", Enter),
        ("Engine user", Enter),
        ("Password", Type("unchecked")),
        ("oVirt cluster", Type("not-a-uuid")),
        ("oVirt cluster", Type(CLUSTER)),
        ("Storage domain", Type(STORAGE)),
        ("Network", Enter),
        ("vNIC profile", Enter),
        ("Operating system", Type("existing template")),
        ("Template", Type("fcos")),
    ];
    let outcome = survey(&home, &[], script).await;
    let mut expected = section();
    expected.as_object_mut().unwrap().shift_remove("vnicProfileID");
    assert_eq!(outcome.section.unwrap(), expected, "{}", outcome.transcript);
    assert!(outcome.transcript.contains("no connection to https://127.0.0.1"), "{}", outcome.transcript);
    assert!(outcome.transcript.contains("# must be an id of the engine"), "{}", outcome.transcript);
    assert_eq!(outcome.machine_network, None);
    assert_eq!(credentials(&home).read().unwrap().trust, Trust::System);
}

#[tokio::test]
async fn an_engine_that_fails_midway_can_be_tried_again_or_left_aside() {
    let (home, knobs) = (home(), Arc::new(Knobs::default()));
    let server = engine::start(knobs.clone()).await;
    let environment: Environment = [("HOME", home.path().as_os_str())].into_iter().collect();
    let mut survey = Survey::new(&environment, Limits::default()).unwrap();
    let mut answers = Answers::default();
    let mut script = login(&server);
    script.push(("oVirt cluster", Abort));
    let mut prompter = ScriptedPrompter::new(script);
    conduct(&mut prompter, &mut survey, &mut answers).await.unwrap_err();

    knobs.broken.store(true, std::sync::atomic::Ordering::SeqCst);
    let mut prompter = ScriptedPrompter::new([
        ("What now", Type("Try again")),
        ("What now", Type("by hand")),
        ("oVirt cluster", Type(CLUSTER)),
        ("What now", Back),
        ("What now", Abort),
    ]);
    conduct(&mut prompter, &mut survey, &mut answers).await.unwrap_err();
    assert!(prompter.transcript().contains("503 Service Unavailable"), "{}", prompter.transcript());

    // The engine is back, and has forgotten the session.
    knobs.broken.store(false, std::sync::atomic::Ordering::SeqCst);
    knobs.expire.store(true, std::sync::atomic::Ordering::SeqCst);
    let mut prompter = ScriptedPrompter::new(placement());
    conduct(&mut prompter, &mut survey, &mut answers).await.unwrap();
    assert_eq!(survey.section(&answers), section());
    assert_eq!(knobs.tokens.load(std::sync::atomic::Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_web_server_that_is_no_engine_is_recognised() {
    let home = home();
    let page =
        axum::Router::new().fallback(|| async { axum::response::Html("<html><title>Welcome to nginx!</title>") });
    let server = HttpsServer::start(&Authority::new("some CA"), page).await;
    let script = vec![("oVirt engine", Type(address(&server))), ("Trust this CA", Back), ("oVirt engine", Abort)];
    let outcome = survey(&home, &[], script).await;
    assert!(
        outcome.transcript.contains("answered with a web page (Welcome to nginx!, status 200)"),
        "{}",
        outcome.transcript
    );
}

#[tokio::test]
async fn stored_credentials_are_offered_and_left_as_they_are() {
    let (home, server) = (home(), engine::start(Arc::default()).await);
    survey(&home, &[], [login(&server), placement()].concat()).await.section.unwrap();
    let file = credentials(&home);
    let before = std::fs::read(file.path()).unwrap();
    std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o644)).unwrap();

    let script = [vec![("oVirt engine and user", Enter)], placement()].concat();
    let outcome = survey(&home, &[], script).await;
    assert_eq!(outcome.section.unwrap(), section());
    assert!(!outcome.stored);
    assert_eq!(std::fs::read(file.path()).unwrap(), before);
    assert!(outcome.transcript.contains("others may read it (mode 0644)"), "{}", outcome.transcript);

    drop(server);
    let script =
        vec![("oVirt engine and user", Enter), ("cannot be reached", Type("Continue")), ("oVirt cluster", Abort)];
    survey(&home, &[], script).await.section.unwrap_err();
}

#[tokio::test]
async fn stored_credentials_that_fail_can_be_replaced() {
    let (home, server) = (home(), engine::start(Arc::default()).await);
    let file = credentials(&home);
    std::fs::create_dir(file.path().parent().unwrap()).unwrap();
    let text = format!(
        "# hand-made\novirt_url: https://{}/ovirt-engine/api\novirt_username: admin@internal\novirt_password: 12345\n\
         ovirt_insecure: true\nother: kept\n",
        server.address()
    );
    std::fs::write(file.path(), text).unwrap();
    assert_eq!(file.read().unwrap().password.expose_secret(), "12345");
    let script = vec![
        ("oVirt engine and user", Enter),
        ("oVirt engine and user", Type("Another")),
        ("oVirt engine", Enter),
        ("Trust this CA", Type("Yes")),
        ("Engine user", Enter),
        ("Password", Type(PASSWORD)),
    ];
    let outcome = survey(&home, &[], [script, placement()].concat()).await;
    assert_eq!(outcome.section.unwrap(), section());
    assert!(outcome.transcript.contains("says not to verify the engine's certificate"), "{}", outcome.transcript);
    assert!(outcome.transcript.contains("the stored credentials cannot be used"), "{}", outcome.transcript);
    let text = std::fs::read_to_string(file.path()).unwrap();
    assert!(text.starts_with("# hand-made\nother: kept\n"), "{text}");
    let stored = file.read().unwrap();
    assert_eq!(stored.password.expose_secret(), PASSWORD);
    assert!(matches!(stored.trust, Trust::Only(_)));
}
