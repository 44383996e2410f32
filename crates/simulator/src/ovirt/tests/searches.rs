//! Searches through the API: what clients were seen to send.

use super::lab::Lab;

fn names(lab: &mut Lab, collection: &str, search: &str) -> Vec<String> {
    let encoded: String = url::form_urlencoded::byte_serialize(search.as_bytes()).collect();
    let answer = lab.get_json(&format!("/{collection}?search={encoded}")).expect(200);
    let json: serde_json::Value = serde_json::from_str(&answer.text).unwrap();
    let items =
        json.as_object().unwrap().values().next().and_then(|items| items.as_array()).cloned().unwrap_or_default();
    items.iter().map(|item| item["name"].as_str().unwrap_or_default().to_owned()).collect()
}

fn lab() -> Lab {
    let mut lab = Lab::small();
    for name in ["web-1", "web-2", "Web_3", "db"] {
        lab.vm(name, "Blank");
    }
    let used = lab.vm("thin", "fcos");
    lab.post("/tags", "<tag><name>infra-x</name></tag>").expect(201);
    lab.post(&format!("/vms/{used}/tags"), "<tag><name>infra-x</name></tag>").expect(201);
    lab.post(&format!("/vms/{used}/start"), "<action/>").expect(200);
    lab.seconds(30);
    lab
}

#[test]
fn vms_are_found_by_what_they_are() {
    let mut lab = lab();
    for (search, found) in [
        ("name=web-1", &["web-1"][..]),
        ("name=\"web-1\"", &["web-1"]),
        ("name=web*", &["web-1", "web-2", "Web_3"]),
        ("name=WEB-1", &["web-1"]),
        ("name=web_3", &["Web_3"]),
        ("name=web?1", &[]),
        ("name=*1 or name=db", &["db", "web-1"]),
        ("name=web* and name!=web-2", &["web-1", "Web_3"]),
        ("status=up", &["thin"]),
        ("status!=down", &["thin"]),
        ("(status=up) or (name=db)", &["db", "thin"]),
        ("tag=infra-x", &["thin"]),
        ("tag=infra-*", &["thin"]),
        ("tag=none", &[]),
        ("cluster=main and name=db", &["db"]),
        ("cluster=elsewhere", &[]),
        ("datacenter=dc and name=db", &["db"]),
        ("host=h1 or host=h2 or host=h3", &["thin"]),
        ("Hosts.name=h*", &["thin"]),
        ("Storage.name=data", &["thin"]),
        ("storage=more", &[]),
        ("template=fcos", &["thin"]),
        ("memory>1500", &["thin"]),
        ("memory<1500 and name=d*", &["db"]),
        ("name=web* sortby name desc", &["Web_3", "web-2", "web-1"]),
        ("web", &["web-1", "web-2", "Web_3"]),
        ("page 2", &[]),
        ("type=server and name=db", &["db"]),
        ("os=rhcos_x64", &["thin"]),
    ] {
        assert_eq!(names(&mut lab, "vms", search), found, "{search}");
    }
}

#[test]
fn other_collections_have_their_own_fields() {
    let mut lab = lab();
    for (collection, search, found) in [
        ("templates", "vm.name=thin", &["fcos"][..]),
        ("templates", "name=fcos and datacenter=dc", &["fcos"]),
        ("templates", "name=fcos and cluster=main", &["fcos"]),
        ("datacenters", "Clusters.name=main", &["dc"]),
        ("datacenters", "storage=\"data\"", &["dc"]),
        ("datacenters", "status=up", &["dc"]),
        ("storagedomains", "cluster.name=main", &["data", "more"]),
        ("storagedomains", "name=data and datacenter=dc", &["data"]),
        ("storagedomains", "type=iscsi", &["more"]),
        ("hosts", "cluster=main and status=up", &["h1", "h2", "h3"]),
        ("hosts", "name=h2", &["h2"]),
        ("disks", "Storage.name=data and vm_names=thin", &["fcos"]),
        ("disks", "alias=fcos and status=ok sortby name", &["fcos", "fcos"]),
        ("clusters", "name=main", &["main"]),
        ("networks", "name=storage and vlanid=7", &["storage"]),
        ("users", "usrname=joe", &[""]),
    ] {
        assert_eq!(names(&mut lab, collection, search), found, "{collection} {search}");
    }
}

#[test]
fn case_counts_when_the_client_asks_for_it() {
    let mut lab = lab();
    assert_eq!(lab.get("/vms?search=name%3DWEB*").ids().len(), 3);
    assert_eq!(lab.get("/vms?search=name%3DWEB*&case_sensitive=true").ids().len(), 0);
    assert_eq!(lab.get("/vms?search=name%3Dweb*&case_sensitive=true").ids().len(), 2);
}

#[test]
fn lists_are_cut_and_paged() {
    let mut lab = lab();
    assert_eq!(lab.get("/vms?max=2").ids().len(), 2);
    assert_eq!(lab.get("/vms;max=2").ids().len(), 2);
    let pages: Vec<String> =
        (1..=3).flat_map(|page| lab.get(&format!("/vms?max=2&search=sortby%20name%20page%20{page}")).ids()).collect();
    assert_eq!(pages, lab.get("/vms").ids());
}

#[test]
fn events_and_jobs_are_found_by_the_correlation_id() {
    let mut lab = lab();
    let vm = lab.named("vms", "db");
    let disk = lab.disk("d", 1);
    let attach = format!("<disk_attachment><interface>virtio</interface><disk id=\"{disk}\"/></disk_attachment>");
    lab.post(&format!("/vms/{vm}/diskattachments"), &attach).expect(201);
    let answer = lab.call("POST", &format!("/vms/{vm}/start?correlation_id=mine-1"), "application/xml", "<action/>");
    assert_eq!(answer.header("correlation-id"), Some("mine-1"));
    let jobs = lab.get("/jobs?search=correlation_id%3Dmine-1").expect(200);
    assert_eq!(jobs.count("job"), 1);
    assert_eq!(jobs.element("status"), "started");
    lab.seconds(60);
    assert_eq!(lab.get("/jobs?search=correlation_id%3Dmine-1").element("status"), "finished");
    let all = lab.get("/events").ids();
    let newer = lab.get(&format!("/events?from={}", all[2]));
    assert_eq!(newer.ids(), all[..2], "the newest first, and only those after the given one");
    assert!(lab.get("/events?search=severity%3Dnormal").count("event") > 0);
    assert_eq!(lab.get("/events?search=severity%3Derror").count("event"), 0);
}

#[test]
fn what_makes_no_sense_is_a_bad_request() {
    let mut lab = lab();
    for search in [
        "name=",
        "=a",
        "colour=red",
        "name='a'",
        "name=a;b",
        "name=a and",
        "sortby colour",
        "page 0",
        "Nonsense.name=a",
        "Hosts.colour=red",
    ] {
        let encoded: String = url::form_urlencoded::byte_serialize(search.as_bytes()).collect();
        let answer = lab.get(&format!("/vms?search={encoded}")).expect(400);
        assert_eq!(answer.element("reason"), "Operation Failed", "{search}");
    }
    lab.get("/tags?search=name%3D%27").expect(200);
}
