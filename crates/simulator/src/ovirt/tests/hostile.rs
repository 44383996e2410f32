//! Whatever is sent, the answer is a fault that can be read, and never a panic.

use proptest::prelude::*;

use super::lab::{Answer, Lab};

/// Every address that takes a body.
const TAKERS: &[(&str, &str)] = &[
    ("POST", "/vms"),
    ("POST", "/vms/VM/start"),
    ("POST", "/vms/VM/migrate"),
    ("POST", "/vms/VM/clone"),
    ("POST", "/vms/VM/nics"),
    ("POST", "/vms/VM/diskattachments"),
    ("POST", "/vms/VM/snapshots"),
    ("POST", "/vms/VM/tags"),
    ("POST", "/vms/VM/graphicsconsoles"),
    ("POST", "/vms/VM/permissions"),
    ("POST", "/vms/VM/watchdogs"),
    ("PUT", "/vms/VM"),
    ("POST", "/templates"),
    ("POST", "/disks"),
    ("PUT", "/disks/DISK"),
    ("POST", "/disks/DISK/copy"),
    ("POST", "/disks/DISK/move"),
    ("POST", "/imagetransfers"),
    ("POST", "/tags"),
    ("POST", "/affinitylabels"),
    ("POST", "/clusters"),
    ("PUT", "/clusters/CLUSTER"),
    ("POST", "/clusters/CLUSTER/affinitygroups"),
    ("POST", "/datacenters"),
    ("POST", "/networks"),
    ("POST", "/vnicprofiles"),
    ("POST", "/instancetypes"),
    ("POST", "/events"),
    ("POST", "/jobs"),
    ("POST", "/bookmarks"),
    ("POST", "/users"),
];

struct Target {
    lab: Lab,
    vm: String,
    disk: String,
    cluster: String,
}

impl Target {
    fn new() -> Self {
        let mut lab = Lab::small();
        let (vm, disk, cluster) = (lab.vm("web", "fcos"), lab.disk("d", 1), lab.named("clusters", "main"));
        Self { lab, vm, disk, cluster }
    }

    fn path(&self, path: &str) -> String {
        path.replace("VM", &self.vm).replace("DISK", &self.disk).replace("CLUSTER", &self.cluster)
    }
}

/// A fault is empty, or says what is wrong in the syntax that was asked for.
fn is_proper(answer: &Answer) {
    assert!((200..500).contains(&answer.status), "{} {}", answer.status, answer.text);
    if answer.status >= 400 && !answer.text.is_empty() {
        let kind = answer.header("content-type").unwrap_or_default();
        assert!(kind.starts_with("application/"), "{kind}: {}", answer.text);
        assert!(answer.text.contains("reason"), "{}", answer.text);
    }
}

#[test]
fn bodies_that_are_no_documents_are_refused() {
    let bomb = format!(
        "<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY a \"{}\">{}]><vm><name>&j;</name></vm>",
        "x".repeat(1000),
        ('b'..='j').map(|name| format!("<!ENTITY {name} \"{}\">", "&a;".repeat(50))).collect::<Vec<_>>().concat()
    );
    let deep = format!("{}{}", "<vm>".repeat(100_000), "</vm>".repeat(100_000));
    let deep_json = format!("{}{}", "{\"vm\":".repeat(100_000), "}".repeat(100_000));
    let bodies = [
        "",
        " ",
        "<",
        "<vm",
        "<vm>",
        "</vm>",
        "<vm></tag>",
        "<vm/><vm/>",
        "<vm>&nbsp;</vm>",
        "<vm><name>&undefined;</name></vm>",
        "<vms/>",
        "<x:vm xmlns:x=\"a\"/>",
        "<vm id='a' id='b'/>",
        "\u{feff}nonsense",
        "null",
        "[]",
        "{",
        "\"vm\"",
        "12",
        "{\"name\": ",
        &bomb,
        &deep,
        &deep_json,
    ];
    let mut target = Target::new();
    for (method, path) in TAKERS {
        let path = target.path(path);
        for body in bodies {
            for format in ["application/xml", "application/json"] {
                let answer = target.lab.call(method, &path, format, body);
                is_proper(&answer);
                let action = ["start", "migrate", "clone", "copy", "move"].iter().any(|name| path.ends_with(name));
                let may_be_empty = body.trim().is_empty() && action;
                let other_document = body == "<vms/>" || body == "null" || body == "[]";
                if !may_be_empty && !other_document && format == "application/xml" && !body.starts_with("{\"") {
                    assert!(answer.status >= 400, "{method} {path} took {body:.40}");
                }
            }
        }
    }
}

#[test]
fn an_unknown_content_type_is_refused() {
    let mut target = Target::new();
    let answer = target.lab.call("POST", "/vms", "text/plain", "<vm/>");
    assert_eq!(answer.status, 406);
    let credentials = ("authorization", "Basic YWRtaW5AaW50ZXJuYWw6c2VjcmV0");
    let headers = [credentials, ("content-type", "text/plain"), ("accept", "application/xml")];
    assert_eq!(target.lab.send("POST", "/ovirt-engine/api/vms", &headers, b"<vm/>").status, 415);
}

#[test]
fn values_of_the_wrong_kind_are_named() {
    let mut target = Target::new();
    for (body, detail) in [
        ("<vm><memory>lots</memory></vm>", "lots is not a valid value of memory"),
        ("<vm><memory>99999999999999999999999999</memory></vm>", "is not a valid value of memory"),
        ("<vm><type>mainframe</type></vm>", "mainframe is not a member of VmType"),
        ("<vm><stateless>perhaps</stateless></vm>", "perhaps is not a valid value of stateless"),
    ] {
        let path = target.path("/vms/VM");
        let answer = target.lab.put(&path, body).expect(400);
        assert_eq!(answer.element("reason"), "Invalid value");
        assert!(answer.element("detail").contains(detail), "{}", answer.text);
    }
}

#[test]
fn absurd_numbers_are_refused() {
    let mut target = Target::new();
    let extremes = ["-1", "0", "1", "-9223372036854775808", "9223372036854775807"];
    for number in extremes {
        for (method, path, body) in [
            ("PUT", "/vms/VM", format!("<vm><memory>{number}</memory></vm>")),
            (
                "PUT",
                "/vms/VM",
                format!("<vm><memory_policy><guaranteed>{number}</guaranteed><max>{number}</max></memory_policy></vm>"),
            ),
            (
                "PUT",
                "/vms/VM",
                format!(
                    "<vm><cpu><topology><cores>{number}</cores><sockets>{number}</sockets><threads>{number}</threads></topology></cpu></vm>"
                ),
            ),
            ("PUT", "/disks/DISK", format!("<disk><provisioned_size>{number}</provisioned_size></disk>")),
            (
                "PUT",
                "/clusters/CLUSTER",
                format!(
                    "<cluster><memory_policy><over_commit><percent>{number}</percent></over_commit></memory_policy></cluster>"
                ),
            ),
            (
                "POST",
                "/disks",
                format!(
                    "<disk><format>raw</format><sparse>false</sparse><provisioned_size>{number}</provisioned_size><initial_size>{number}</initial_size><storage_domain><name>data</name></storage_domain></disk>"
                ),
            ),
            (
                "POST",
                "/instancetypes",
                format!("<instance_type><name>i{number}</name><memory>{number}</memory></instance_type>"),
            ),
            (
                "POST",
                "/imagetransfers",
                format!(
                    "<image_transfer><disk id=\"DISK\"/><inactivity_timeout>{number}</inactivity_timeout></image_transfer>"
                ),
            ),
        ] {
            let (path, body) = (target.path(path), target.path(&body));
            is_proper(&target.lab.call(method, &path, "application/xml", &body));
        }
        is_proper(&target.lab.get(&format!("/vms?max={number}&search=page%20{number}")));
        is_proper(&target.lab.get(&format!("/events?from={number}&max={number}")));
    }
    target.lab.run_out();
    let path = target.path("/vms/VM");
    assert_eq!(target.lab.status(&path), "down");
}

#[test]
fn ids_that_are_none_lead_nowhere() {
    let mut target = Target::new();
    for id in [
        "4711",
        "..",
        "%2e%2e",
        "..%2f..%2fetc%2fpasswd",
        "%00",
        "null",
        "%ff",
        "00000000-0000-0000-0000-00000000000g",
        "*",
        "{}",
        "é",
    ] {
        for path in [
            "vms/{}",
            "vms/{}/start",
            "disks/{}",
            "templates/{}/nics",
            "vms/VM/nics/{}",
            "clusters/CLUSTER/affinitygroups/{}/vms/{}",
            "events/{}",
            "jobs/{}/steps/{}",
            "nonsense/{}",
        ] {
            let path = target.path(&format!("/{}", path.replace("{}", id)));
            for method in ["GET", "PUT", "POST", "DELETE"] {
                let answer = target.lab.call(method, &path, "application/xml", "<vm/>");
                is_proper(&answer);
                assert!(answer.status >= 400 || (id == "%2e%2e" || id == ".."), "{method} {path}: {}", answer.text);
            }
        }
    }
    let answer = target.lab.get("/vms/nonsense").expect(400);
    assert_eq!(answer.element("reason"), "Operation failed");
    let missing = target.lab.get("/vms/7a5b0000-0000-4000-8000-ffffffffffff").expect(404);
    assert_eq!(missing.text, "");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_any_path_any_search(
        body in proptest::collection::vec(any::<u8>(), 0..200),
        path in "[/a-z0-9%;=.-]{0,60}",
        search in "[ -~é]{0,60}",
        taker in 0..TAKERS.len(),
    ) {
        let mut target = Target::new();
        let (method, address) = TAKERS[taker];
        let address = format!("/ovirt-engine/api{}", target.path(address));
        let headers = [("authorization", "Basic YWRtaW5AaW50ZXJuYWw6c2VjcmV0"), ("content-type", "application/xml")];
        is_proper(&target.lab.send(method, &address, &headers, &body));
        is_proper(&target.lab.get(&format!("/{path}")));
        let encoded: String = url::form_urlencoded::byte_serialize(search.as_bytes()).collect();
        for collection in ["vms", "disks", "events", "templates", "jobs"] {
            is_proper(&target.lab.get(&format!("/{collection}?search={encoded}")));
        }
    }
}
