//! What is injected from outside: stuck locks, no capacity, slowness.

use super::lab::Lab;
use crate::core::Injection;

#[test]
fn a_stuck_lock_holds_until_it_is_released() {
    let mut lab = Lab::small();
    lab.injection = Some(Injection::StuckLock);
    let body = "<disk><alias>d</alias><format>cow</format><provisioned_size>1048576</provisioned_size>\
                <storage_domain><name>data</name></storage_domain></disk>";
    let disk = lab.post("/disks", body).expect(202).id();
    lab.seconds(3600);
    assert_eq!(lab.status(&format!("/disks/{disk}")), "locked");
    lab.delete(&format!("/disks/{disk}")).expect(409);
    assert!(lab.admin("GET", "/locks", "").unwrap().text.contains(&disk));
    lab.admin("POST", &format!("/locks/{disk}/release"), "").unwrap().expect(200);
    assert_eq!(lab.status(&format!("/disks/{disk}")), "ok");
    lab.admin("POST", &format!("/locks/{disk}/release"), "").unwrap().expect(404);
}

#[test]
fn a_stuck_lock_also_holds_what_changes_at_once() {
    let mut lab = Lab::small();
    let vm = lab.vm("v", "Blank");
    lab.injection = Some(Injection::StuckLock);
    lab.put(&format!("/vms/{vm}"), "<vm><comment>c</comment></vm>").expect(200);
    lab.run_out();
    let refused = lab.put(&format!("/vms/{vm}"), "<vm><comment>d</comment></vm>").expect(409);
    assert!(refused.text.contains("Related operation is currently in progress."), "{}", refused.text);
    lab.admin("POST", &format!("/locks/{vm}/release"), "").unwrap().expect(200);
    lab.put(&format!("/vms/{vm}"), "<vm><comment>d</comment></vm>").expect(200);
}

#[test]
fn a_vm_can_be_stuck_on_its_way_up() {
    let mut lab = Lab::small();
    let vm = lab.vm("v", "fcos");
    lab.injection = Some(Injection::StuckLock);
    lab.post(&format!("/vms/{vm}/start"), "<action/>").expect(200);
    lab.seconds(3600);
    assert_eq!(lab.status(&format!("/vms/{vm}")), "wait_for_launch");
    let power = |lab: &mut Lab| -> serde_json::Value {
        serde_json::from_str(&lab.admin("GET", &format!("/vms/{vm}/power"), "").unwrap().text).unwrap()
    };
    let seen = power(&mut lab);
    assert_eq!((&seen["status"], &seen["requested"]), (&"wait_for_launch".into(), &"up".into()));
    lab.admin("POST", &format!("/locks/{vm}/release"), "").unwrap().expect(200);
    lab.run_out();
    assert_eq!(power(&mut lab)["status"], "up");
}

#[test]
fn an_engine_without_room_refuses_in_its_own_words() {
    let mut lab = Lab::small();
    let vm = lab.vm("v", "fcos");
    lab.injection = Some(Injection::NoCapacity);
    let refused = lab.post(&format!("/vms/{vm}/start"), "<action/>").expect(409);
    for host in ["h1", "h2", "h3"] {
        let line =
            format!("The host {host} did not satisfy internal filter Memory because its available memory is too low");
        assert!(refused.text.contains(&line), "{}", refused.text);
    }
    assert!(refused.text.contains("<status>failed</status>") && refused.text.contains("<action>"), "{}", refused.text);
    lab.injection = Some(Injection::NoCapacity);
    let body = "<disk><format>cow</format><provisioned_size>1048576</provisioned_size>\
                <storage_domain><name>data</name></storage_domain></disk>";
    let refused = lab.post("/disks", body).expect(409);
    assert_eq!(refused.element("detail"), "[Cannot add Virtual Disk. Low disk space on Storage Domain data.]");
    lab.post(&format!("/vms/{vm}/start"), "<action/>").expect(200);
}

#[test]
fn slowness_stretches_what_a_call_starts_and_nothing_else() {
    let mut lab = Lab::small();
    let vm = lab.vm("v", "fcos");
    lab.injection = Some(Injection::SlowState(10));
    lab.post(&format!("/vms/{vm}/start"), "<action/>").expect(200);
    lab.seconds(25);
    assert_eq!(lab.status(&format!("/vms/{vm}")), "wait_for_launch");
    lab.seconds(60);
    assert_eq!(lab.status(&format!("/vms/{vm}")), "up");
    lab.post(&format!("/vms/{vm}/stop"), "<action/>").expect(200);
    lab.seconds(5);
    assert_eq!(lab.status(&format!("/vms/{vm}")), "down");
    let disk = lab.disk("d", 1);
    lab.injection = Some(Injection::SlowState(10));
    let transfer = format!("<image_transfer><disk id=\"{disk}\"/></image_transfer>");
    let transfer = lab.post("/imagetransfers", &transfer).expect(201);
    assert_eq!(transfer.element("phase"), "initializing");
    assert!(!transfer.text.contains("transfer_url"));
    lab.seconds(41);
    assert_eq!(lab.get(&format!("/imagetransfers/{}", transfer.id())).element("phase"), "transferring");
}

#[test]
fn misfortunes_of_vms_hosts_disks_and_transfers_can_be_made() {
    let mut lab = Lab::small();
    let vm = lab.vm("v", "fcos");
    lab.post(&format!("/vms/{vm}/start"), "<action/>").expect(200);
    lab.run_out();
    let events = format!("/vms/{vm}/events");
    lab.admin("POST", &events, r#"{"event": "io_error"}"#).unwrap().expect(200);
    assert_eq!(lab.status(&format!("/vms/{vm}")), "paused");
    lab.admin("POST", &events, r#"{"event": "migrated"}"#).unwrap().expect(409);
    lab.admin("POST", &events, r#"{"event": "nonsense"}"#).unwrap().expect(400);
    lab.admin("POST", &events, "{").unwrap().expect(400);
    lab.post(&format!("/vms/{vm}/start"), "<action/>").expect(200);
    let host = lab.get("/hosts?search=active_vms%3D1").id();
    lab.admin("POST", &format!("/hosts/{host}/status"), r#"{"status": "non_responsive"}"#).unwrap().expect(200);
    assert_eq!(lab.status(&format!("/vms/{vm}")), "unknown");
    lab.admin("POST", &format!("/hosts/{host}/status"), r#"{"status": "up"}"#).unwrap().expect(200);
    assert_eq!(lab.status(&format!("/vms/{vm}")), "up");
    let disk = lab.disk("d", 1);
    lab.admin("POST", &format!("/disks/{disk}/status"), r#"{"status": "illegal"}"#).unwrap().expect(200);
    assert_eq!(lab.status(&format!("/disks/{disk}")), "illegal");
    assert!(lab.admin("GET", "/nonsense", "").is_none());
}
