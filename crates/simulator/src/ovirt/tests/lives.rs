//! The lives of VMs, disks, templates and transfers, step by step, with the refusals on the way.

use super::lab::Lab;
use crate::ovirt::representation::types::{AFFINITY_GROUP, DISK, STORAGE_DOMAIN, VM};

fn detail(answer: &super::lab::Answer) -> String {
    answer.element("detail").replace("&apos;", "'")
}

#[test]
fn a_vm_of_a_template_is_locked_first_and_down_later() {
    let mut lab = Lab::small();
    let body = "<vm><name>web</name><cluster><name>main</name></cluster><template><name>fcos</name></template></vm>";
    let answer = lab.post("/vms", body).expect(202);
    let id = answer.id();
    assert_eq!(answer.header("location"), Some(format!("/ovirt-engine/api/vms/{id}").as_str()));
    assert_eq!(answer.element("status"), "image_locked");
    assert_eq!(answer.element("creation_status"), "in_progress");
    let href = answer.text.split("href=\"").find(|part| part.contains("/creation_status/")).unwrap();
    let href = href.split('"').next().unwrap().trim_start_matches("/ovirt-engine/api").to_owned();
    assert_eq!(lab.get(&href).expect(200).element("status"), "in_progress");
    for (method, path, body) in [
        ("DELETE", format!("/vms/{id}"), ""),
        ("PUT", format!("/vms/{id}"), "<vm><comment>c</comment></vm>"),
        ("POST", format!("/vms/{id}/start"), "<action/>"),
        ("POST", format!("/vms/{id}/nics"), "<nic><name>n</name></nic>"),
    ] {
        let refused = lab.call(method, &path, "application/xml", body).expect(409);
        assert!(detail(&refused).contains("VM is locked"), "{}", refused.text);
    }
    lab.seconds(20);
    assert_eq!(lab.status(&format!("/vms/{id}")), "down");
    assert_eq!(lab.get(&href).expect(200).element("status"), "complete");
    let blank = lab.post("/vms", &body.replace("web", "blank").replace("fcos", "Blank")).expect(201);
    assert_eq!(blank.element("status"), "down");
    let taken = lab.post("/vms", body).expect(409);
    assert_eq!(
        detail(&taken),
        "[Cannot add VM. The VM name is already in use, please choose a unique name and try again.]"
    );
}

#[test]
fn who_waits_for_the_answer_gets_the_finished_thing() {
    let mut lab = Lab::small();
    let body = b"<vm><name>web</name><cluster><name>main</name></cluster><template><name>fcos</name></template></vm>";
    let headers = [("authorization", "Basic YWRtaW5AaW50ZXJuYWw6c2VjcmV0"), ("expect", "201-created")];
    let answer = lab.send("POST", "/ovirt-engine/api/vms", &headers, body).expect(201);
    assert_eq!(answer.element("status"), "down");
    let disk = lab.disk("d", 1);
    let copy = "<action><async>false</async><disk><name>copy</name></disk></action>";
    let answer = lab.post(&format!("/disks/{disk}/copy"), copy).expect(200);
    assert_eq!(answer.element("status"), "complete");
    let answer =
        lab.post(&format!("/disks/{disk}/copy"), "<action><disk><name>other</name></disk></action>").expect(202);
    assert_eq!(answer.element("status"), "in_progress");
}

#[test]
fn what_is_missing_in_a_new_vm_is_named() {
    let mut lab = Lab::small();
    for (body, status, detail_text) in [
        ("<vm/>", 400, "Vm [cluster.id|name] required for add"),
        ("<vm><cluster><name>main</name></cluster></vm>", 400, "Vm [name] required for add"),
        ("<vm><name>a</name><cluster><name>main</name></cluster></vm>", 400, "Vm [template.id|name] required for add"),
        ("<vm><name>a</name><cluster><name>none</name></cluster></vm>", 404, "Entity not found: Cluster: name=none"),
        (
            "<vm><name>a</name><cluster><name>main</name></cluster><template><name>none</name></template></vm>",
            404,
            "Entity not found: Template: name=none",
        ),
    ] {
        let answer = lab.post("/vms", body).expect(status);
        assert_eq!(detail(&answer), detail_text);
    }
    let long = "x".repeat(65);
    for name in [long.as_str(), "a b", "a/b"] {
        let body = format!(
            "<vm><name>{name}</name><cluster><name>main</name></cluster><template><name>Blank</name></template></vm>"
        );
        lab.post("/vms", &body).expect(400);
    }
    let unknown_disk = "<vm><name>a</name><cluster><name>main</name></cluster><template><name>fcos</name></template>\
        <disk_attachments><disk_attachment><disk id=\"7a5b0000-0000-4000-8000-ffffffffffff\"/></disk_attachment></disk_attachments></vm>";
    assert_eq!(lab.post("/vms", unknown_disk).expect(404).text, "");
    let memory = "<vm><name>a</name><cluster><name>main</name></cluster><template><name>Blank</name></template>\
        <memory>1073741824</memory><memory_policy><guaranteed>2147483648</guaranteed></memory_policy></vm>";
    let answer = lab.post("/vms", memory).expect(400);
    assert!(detail(&answer).contains("Physical Memory Guaranteed cannot exceed Memory Size"), "{}", answer.text);
}

#[test]
fn a_vm_goes_up_and_down() {
    let mut lab = Lab::small();
    let id = lab.vm("web", "fcos");
    let path = format!("/vms/{id}");
    let answer = lab.post(&format!("{path}/start"), "<action/>").expect(200);
    assert_eq!(answer.element("status"), "complete");
    assert!(answer.text.contains("/jobs/"), "{}", answer.text);
    assert_eq!(lab.status(&path), "wait_for_launch");
    lab.seconds(3);
    assert_eq!(lab.status(&path), "powering_up");
    lab.seconds(20);
    assert_eq!(lab.status(&path), "up");
    let devices = lab.get(&format!("{path}/reporteddevices")).expect(200);
    assert!(devices.element("address").starts_with("10."), "{}", devices.text);
    let refused = lab.post(&format!("{path}/start"), "<action/>").expect(409);
    assert_eq!(detail(&refused), "[Cannot run VM. VM is running.]");
    assert_eq!(detail(&lab.delete(&path).expect(409)), "[Cannot remove VM. VM is running.]");
    lab.post(&format!("{path}/reboot"), "<action/>").expect(200);
    assert_eq!(lab.status(&path), "reboot_in_progress");
    lab.seconds(60);
    assert_eq!(lab.status(&path), "up");
    lab.post(&format!("{path}/suspend"), "<action/>").expect(200);
    lab.seconds(20);
    assert_eq!(lab.status(&path), "suspended");
    assert!(!lab.get(&path).text.contains("<host "), "a suspended VM occupies no host");
    lab.post(&format!("{path}/start"), "<action/>").expect(200);
    lab.seconds(20);
    assert_eq!(lab.status(&path), "up");
    let before = lab.get(&path).tree(&VM).sub("host").unwrap().text("id").unwrap().to_owned();
    lab.post(&format!("{path}/migrate"), "<action/>").expect(200);
    assert_eq!(lab.status(&path), "migrating");
    lab.seconds(20);
    assert_ne!(lab.get(&path).tree(&VM).sub("host").unwrap().text("id"), Some(before.as_str()));
    lab.post(&format!("{path}/shutdown"), "<action><reason>enough</reason></action>").expect(200);
    assert_eq!(lab.status(&path), "powering_down");
    lab.seconds(10);
    let down = lab.get(&path);
    assert_eq!((down.element("status"), down.element("stop_reason")), ("down", "enough"));
    lab.post(&format!("{path}/stop"), "<action/>").expect(200);
    assert!(lab.get("/events?max=1").element("description").contains("is already Down, Stop VM was skipped"));
    let disk = lab.get(&format!("{path}/diskattachments")).ids()[0].clone();
    lab.delete(&path).expect(200);
    lab.get(&path).expect(404);
    assert_eq!(lab.status(&format!("/disks/{disk}")), "locked", "the images go later");
    lab.seconds(10);
    lab.get(&format!("/disks/{disk}")).expect(404);
}

#[test]
fn who_does_not_wait_sees_the_vm_go() {
    let mut lab = Lab::small();
    let id = lab.vm("web", "fcos");
    lab.delete(&format!("/vms/{id}?async=true")).expect(200);
    assert_eq!(lab.status(&format!("/vms/{id}")), "image_locked");
    lab.delete(&format!("/vms/{id}")).expect(409);
    lab.seconds(10);
    lab.get(&format!("/vms/{id}")).expect(404);
}

#[test]
fn a_guest_that_does_not_listen_stays_up() {
    let mut lab = Lab::small();
    let id = lab.vm("web", "fcos");
    lab.post(&format!("/vms/{id}/start"), "<action/>").expect(200);
    lab.run_out();
    // Its guest is gone, so nobody hears the button.
    lab.guests = crate::core::guest::PlainGuests::default();
    lab.post(&format!("/vms/{id}/shutdown"), "<action/>").expect(200);
    lab.seconds(299);
    assert_eq!(lab.status(&format!("/vms/{id}")), "powering_down");
    lab.seconds(2);
    assert_eq!(lab.status(&format!("/vms/{id}")), "up");
}

#[test]
fn a_vm_without_a_disk_does_not_start() {
    let mut lab = Lab::small();
    let id = lab.vm("bare", "Blank");
    let refused = lab.post(&format!("/vms/{id}/start"), "<action/>").expect(409);
    assert!(detail(&refused).contains("Cannot run VM without at least one bootable disk."), "{}", refused.text);
    let network = "<action><vm><os><boot><devices><device>network</device></devices></boot></os></vm></action>";
    let refused = lab.post(&format!("/vms/{id}/start"), network).expect(409);
    assert!(detail(&refused).contains("Network bootable"), "{}", refused.text);
    lab.post(&format!("/vms/{id}/nics"), "<nic><name>nic1</name></nic>").expect(201);
    lab.post(&format!("/vms/{id}/start"), network).expect(200);
}

#[test]
fn changes_of_a_running_vm_wait_for_its_next_start() {
    let mut lab = Lab::small();
    let id = lab.vm("web", "fcos");
    let path = format!("/vms/{id}");
    lab.post(&format!("{path}/start"), "<action/>").expect(200);
    lab.run_out();
    let memory = 3_i64 << 30;
    lab.put(&path, &format!("<vm><memory>{memory}</memory><comment>now</comment></vm>")).expect(200);
    let present = lab.get(&path).tree(&VM);
    assert_eq!((present.int("memory"), present.bool("next_run_configuration_exists")), (Some(2 << 30), Some(true)));
    assert_eq!(present.text("comment"), Some("now"));
    assert_eq!(lab.get(&format!("{path}?next_run=true")).tree(&VM).int("memory"), Some(memory));
    lab.post(&format!("{path}/stop"), "<action/>").expect(200);
    lab.run_out();
    let after = lab.get(&path).tree(&VM);
    assert_eq!((after.int("memory"), after.bool("next_run_configuration_exists")), (Some(memory), Some(false)));
}

#[test]
fn user_data_is_delivered_once_and_to_the_letter() {
    let mut lab = Lab::small();
    let script = "{&quot;ignition&quot;:{&quot;version&quot;:&quot;3.3.0&quot;}}";
    let body = format!(
        "<vm><name>m0</name><cluster><name>main</name></cluster><template><name>fcos</name></template>\
         <initialization><custom_script>{script}</custom_script></initialization></vm>"
    );
    let id = lab.post("/vms", &body).expect(202).id();
    lab.run_out();
    let drive = format!("/vms/{id}/config-drive");
    assert_eq!(lab.admin("GET", &drive, "").unwrap().text, "null");
    lab.post(&format!("/vms/{id}/start"), "<action/>").expect(200);
    let seen: serde_json::Value = serde_json::from_str(&lab.admin("GET", &drive, "").unwrap().text).unwrap();
    assert_eq!(seen["delivery"], "ignition");
    assert_eq!(seen["files"]["openstack/latest/user_data"], r#"{"ignition":{"version":"3.3.0"}}"#);
    lab.run_out();
    for (action, delivered) in [("<action/>", false), ("<action><use_ignition>true</use_ignition></action>", true)] {
        lab.post(&format!("/vms/{id}/stop"), "<action/>").expect(200);
        lab.run_out();
        lab.post(&format!("/vms/{id}/start"), action).expect(200);
        assert_eq!(lab.admin("GET", &drive, "").unwrap().text != "null", delivered, "{action}");
        lab.run_out();
    }
    let both = "<action><use_ignition>true</use_ignition><use_cloud_init>true</use_cloud_init></action>";
    lab.post(&format!("/vms/{id}/start"), both).expect(409);
}

#[test]
fn an_ignition_config_that_is_no_json_fails_at_the_start() {
    let mut lab = Lab::small();
    let body = "<vm><name>m0</name><cluster><name>main</name></cluster><template><name>fcos</name></template>\
         <initialization><custom_script>not json</custom_script></initialization></vm>";
    let id = lab.post("/vms", body).expect(202).id();
    lab.run_out();
    let refused = lab.post(&format!("/vms/{id}/start"), "<action/>").expect(400);
    assert_eq!(detail(&refused), "[]");
    assert_eq!(lab.status(&format!("/vms/{id}")), "down");
    assert_eq!(lab.get("/events?search=severity%3Derror").count("event"), 1);
}

#[test]
fn hard_anti_affinity_fails_when_hosts_run_out() {
    let mut lab = Lab::small();
    let cluster = lab.named("clusters", "main");
    let vms: Vec<String> = (0..4).map(|index| lab.vm(&format!("m{index}"), "fcos")).collect();
    let members = vms.iter().map(|id| format!("<vm id=\"{id}\"/>")).collect::<Vec<_>>().concat();
    let group = format!(
        "<affinity_group><name>apart</name><vms_rule><enabled>true</enabled><enforcing>true</enforcing><positive>false</positive>\
         </vms_rule><vms>{members}</vms></affinity_group>"
    );
    let groups = format!("/clusters/{cluster}/affinitygroups");
    let made = lab.post(&groups, &group).expect(201).tree(&AFFINITY_GROUP);
    assert_eq!(made.list("vms").unwrap().count(), 4);
    for vm in &vms[..3] {
        lab.post(&format!("/vms/{vm}/start"), "<action/>").expect(200);
    }
    let refused = lab.post(&format!("/vms/{}/start", vms[3]), "<action/>").expect(409);
    let text = detail(&refused);
    assert!(
        text.starts_with("[Cannot run VM. There is no host that satisfies current scheduling constraints."),
        "{text}"
    );
    for host in ["h1", "h2", "h3"] {
        assert!(text.contains(&format!("The host {host} did not satisfy internal filter VmAffinityGroups")), "{text}");
    }
    lab.run_out();
    assert_eq!(lab.status(&format!("/vms/{}", vms[3])), "down");
    let id = made.text("id").unwrap();
    lab.put(
        &format!("{groups}/{id}"),
        "<affinity_group><vms_rule><enforcing>false</enforcing></vms_rule></affinity_group>",
    )
    .expect(200);
    lab.post(&format!("/vms/{}/start", vms[3]), "<action/>").expect(200);
    lab.run_out();
    assert_eq!(lab.get(&format!("{groups}/{id}")).tree(&AFFINITY_GROUP).bool("broken"), Some(true));
    assert_eq!(lab.post(&groups, &group).expect(400).element("reason"), "Operation Failed");
}

#[test]
fn a_rule_made_too_late_is_enforced_by_migration() {
    let mut lab = Lab::small();
    let (cluster, host) = (lab.named("clusters", "main"), lab.named("hosts", "h1"));
    let vms: Vec<String> = (0..2).map(|index| lab.vm(&format!("m{index}"), "fcos")).collect();
    for vm in &vms {
        let there = format!(
            "<action><vm><placement_policy><hosts><host id=\"{host}\"/></hosts></placement_policy></vm></action>"
        );
        lab.post(&format!("/vms/{vm}/start"), &there).expect(200);
    }
    lab.run_out();
    let at = |lab: &mut Lab, vm: &str| {
        lab.get(&format!("/vms/{vm}")).tree(&VM).sub("host").unwrap().text("id").unwrap().to_owned()
    };
    assert_eq!(at(&mut lab, &vms[0]), at(&mut lab, &vms[1]));
    let group = format!(
        "<affinity_group><name>apart</name><vms_rule><enabled>true</enabled><enforcing>true</enforcing><positive>false</positive>\
         </vms_rule><vms><vm id=\"{}\"/><vm id=\"{}\"/></vms></affinity_group>",
        vms[0], vms[1]
    );
    lab.post(&format!("/clusters/{cluster}/affinitygroups"), &group).expect(201);
    lab.run_out();
    assert_ne!(at(&mut lab, &vms[0]), at(&mut lab, &vms[1]));
}

#[test]
fn a_host_goes_into_maintenance_when_its_vms_have_left() {
    let mut lab = Lab::small();
    let vm = lab.vm("web", "fcos");
    lab.post(&format!("/vms/{vm}/start"), "<action/>").expect(200);
    lab.run_out();
    let host = lab.get("/hosts?search=active_vms%3D1").id();
    lab.post(&format!("/hosts/{host}/deactivate"), "<action/>").expect(200);
    assert_eq!(lab.status(&format!("/hosts/{host}")), "preparing_for_maintenance");
    lab.run_out();
    assert_eq!(lab.status(&format!("/hosts/{host}")), "maintenance");
    assert_eq!(lab.status(&format!("/vms/{vm}")), "up");
    lab.post(&format!("/hosts/{host}/activate"), "<action/>").expect(200);
    lab.run_out();
    assert_eq!(lab.status(&format!("/hosts/{host}")), "up");
}

#[test]
fn disks_use_space_up_and_give_it_back() {
    let mut lab = Lab::small();
    let domain = lab.named("storagedomains", "data");
    let used = |lab: &mut Lab| lab.get(&format!("/storagedomains/{domain}")).tree(&STORAGE_DOMAIN).int("used").unwrap();
    let before = used(&mut lab);
    let body = |gib: u64| {
        format!(
            "<disk><alias>raw</alias><format>raw</format><sparse>false</sparse><provisioned_size>{}</provisioned_size>\
             <storage_domain><name>data</name></storage_domain></disk>",
            gib << 30
        )
    };
    let disk = lab.post("/disks", &body(50)).expect(202).id();
    assert_eq!(used(&mut lab) - before, 50 << 30);
    lab.run_out();
    let refused = lab.post("/disks", &body(150)).expect(409);
    assert_eq!(detail(&refused), "[Cannot add Virtual Disk. Low disk space on Storage Domain data.]");
    lab.put(&format!("/disks/{disk}"), &format!("<disk><provisioned_size>{}</provisioned_size></disk>", 60_u64 << 30))
        .expect(200);
    let locked = lab.put(&format!("/disks/{disk}"), "<disk><alias>x</alias></disk>").expect(409);
    assert!(detail(&locked).contains("Disk is locked"), "{}", locked.text);
    lab.run_out();
    assert_eq!(lab.get(&format!("/disks/{disk}")).tree(&DISK).int("provisioned_size"), Some(60 << 30));
    assert_eq!(used(&mut lab) - before, 60 << 30);
    lab.put(&format!("/disks/{disk}"), "<disk><provisioned_size>1048576</provisioned_size></disk>").expect(400);
    let elsewhere = "<action><storage_domain><name>more</name></storage_domain></action>";
    lab.post(&format!("/disks/{disk}/move"), elsewhere).expect(202);
    lab.run_out();
    assert_eq!(used(&mut lab), before);
    lab.delete(&format!("/disks/{disk}")).expect(200);
    lab.run_out();
    lab.get(&format!("/disks/{disk}")).expect(404);
}

#[test]
fn a_disk_that_a_vm_uses_is_not_taken_from_it() {
    let mut lab = Lab::small();
    let (vm, other, disk) = (lab.vm("a", "fcos"), lab.vm("b", "fcos"), lab.disk("d", 1));
    let attach = format!(
        "<disk_attachment><active>true</active><interface>virtio</interface><disk id=\"{disk}\"/></disk_attachment>"
    );
    lab.post(&format!("/vms/{vm}/diskattachments"), &attach).expect(201);
    let refused = lab.post(&format!("/vms/{other}/diskattachments"), &attach).expect(409);
    assert!(
        detail(&refused).contains("The disk is not shareable and is already attached to a VM."),
        "{}",
        refused.text
    );
    let boot = attach.replace("<interface>", "<bootable>true</bootable><interface>");
    let refused = lab.post(&format!("/vms/{other}/diskattachments"), &boot).expect(409);
    assert!(detail(&refused).contains("already marked as boot"), "{}", refused.text);
    lab.post(&format!("/vms/{vm}/start"), "<action/>").expect(200);
    lab.run_out();
    lab.delete(&format!("/disks/{disk}")).expect(409);
    lab.delete(&format!("/vms/{vm}/diskattachments/{disk}")).expect(409);
    lab.put(&format!("/vms/{vm}/diskattachments/{disk}"), "<disk_attachment><active>false</active></disk_attachment>")
        .expect(200);
    lab.delete(&format!("/vms/{vm}/diskattachments/{disk}")).expect(200);
    assert_eq!(lab.status(&format!("/disks/{disk}")), "ok");
}

#[test]
fn removing_a_vm_takes_its_disks_or_leaves_them() {
    let mut lab = Lab::small();
    let (vm, disk) = (lab.vm("a", "Blank"), lab.disk("d", 1));
    let attach = format!("<disk_attachment><interface>virtio</interface><disk id=\"{disk}\"/></disk_attachment>");
    lab.post(&format!("/vms/{vm}/diskattachments"), &attach).expect(201);
    lab.delete(&format!("/vms/{vm}?detach_only=true")).expect(200);
    lab.run_out();
    assert_eq!(lab.status(&format!("/disks/{disk}")), "ok");
    let vm = lab.vm("b", "Blank");
    lab.post(&format!("/vms/{vm}/diskattachments"), &attach).expect(201);
    lab.put(&format!("/vms/{vm}"), "<vm><delete_protected>true</delete_protected></vm>").expect(200);
    assert!(detail(&lab.delete(&format!("/vms/{vm}")).expect(409)).contains("Delete protection is enabled."));
    lab.put(&format!("/vms/{vm}"), "<vm><delete_protected>false</delete_protected></vm>").expect(200);
    lab.delete(&format!("/vms/{vm}")).expect(200);
    lab.run_out();
    lab.get(&format!("/disks/{disk}")).expect(404);
}

#[test]
fn templates_are_made_of_vms_and_kept_by_those_made_of_them() {
    let mut lab = Lab::small();
    let vm = lab.vm("source", "fcos");
    let make = format!("<template><name>golden</name><vm id=\"{vm}\"/></template>");
    let template = lab.post("/templates", &make).expect(202).id();
    assert_eq!(lab.status(&format!("/vms/{vm}")), "image_locked");
    let early =
        "<vm><name>early</name><cluster><name>main</name></cluster><template><name>golden</name></template></vm>";
    lab.post("/vms", early).expect(409);
    lab.run_out();
    assert_eq!(lab.status(&format!("/templates/{template}")), "ok");
    let thin = lab.vm("thin", "golden");
    let refused = lab.delete(&format!("/templates/{template}")).expect(409);
    assert_eq!(detail(&refused), "[Cannot delete Template. Template is being used by the following VMs: thin.]");
    let clone =
        "<vm><name>clone</name><cluster><name>main</name></cluster><template><name>golden</name></template></vm>";
    let clone = lab.post("/vms?clone=true", clone).expect(202);
    let tree = clone.tree(&VM);
    assert_eq!(tree.sub("template").unwrap().text("id"), Some("00000000-0000-0000-0000-000000000000"));
    assert_eq!(tree.sub("original_template").unwrap().text("id"), Some(template.as_str()));
    lab.run_out();
    lab.delete(&format!("/vms/{thin}")).expect(200);
    lab.run_out();
    let version = format!(
        "<template><name>golden</name><vm id=\"{vm}\"/><version><base_template id=\"{template}\"/></version></template>"
    );
    let second = lab.post("/templates", &version).expect(202);
    assert_eq!(second.element("version_number"), "2");
    lab.run_out();
    assert!(detail(&lab.delete(&format!("/templates/{template}")).expect(409)).contains("has Template Versions"));
    lab.delete(&format!("/templates/{}", second.id())).expect(200);
    lab.run_out();
    lab.delete(&format!("/templates/{template}")).expect(200);
    lab.run_out();
    lab.get(&format!("/templates/{template}")).expect(404);
    assert!(detail(&lab.delete("/templates/00000000-0000-0000-0000-000000000000").expect(409)).contains("Blank"));
}

#[test]
fn snapshots_are_taken_gone_back_to_and_merged() {
    let mut lab = Lab::small();
    let vm = lab.vm("web", "fcos");
    let snapshots = format!("/vms/{vm}/snapshots");
    let snapshot = lab.post(&snapshots, "<snapshot><description>before</description></snapshot>").expect(202).id();
    assert_eq!(lab.status(&format!("/vms/{vm}")), "image_locked");
    lab.run_out();
    assert_eq!(lab.get(&format!("{snapshots}/{snapshot}")).element("snapshot_status"), "ok");
    lab.put(&format!("/vms/{vm}"), "<vm><memory>1073741824</memory></vm>").expect(200);
    lab.post(&format!("{snapshots}/{snapshot}/restore"), "<action/>").expect(202);
    lab.run_out();
    assert_eq!(lab.get(&format!("/vms/{vm}")).tree(&VM).int("memory"), Some(2 << 30));
    lab.delete(&format!("{snapshots}/{snapshot}")).expect(200);
    lab.run_out();
    assert_eq!(lab.get(&snapshots).count("snapshot"), 1, "the active one is left");
}

#[test]
fn a_transfer_goes_through_its_phases() {
    let mut lab = Lab::small();
    let disk = lab.disk("d", 1);
    let begin = |direction: &str| {
        format!(
            "<image_transfer><disk id=\"{disk}\"/><direction>{direction}</direction><format>raw</format></image_transfer>"
        )
    };
    let phase =
        |lab: &mut Lab, id: &str| lab.get(&format!("/imagetransfers/{id}")).expect(200).element("phase").to_owned();
    let upload = lab.post("/imagetransfers", &begin("upload")).expect(201);
    assert_eq!(upload.element("phase"), "transferring");
    assert!(upload.element("transfer_url").starts_with("https://"), "some clients look for the URL nowhere else");
    let id = upload.id();
    assert_eq!(lab.status(&format!("/disks/{disk}")), "locked");
    lab.seconds(60);
    assert_eq!(phase(&mut lab, &id), "paused_system", "nothing moved for a minute");
    lab.post(&format!("/imagetransfers/{id}/resume"), "<action/>").expect(200);
    lab.seconds(5);
    assert_eq!(phase(&mut lab, &id), "transferring");
    lab.post(&format!("/imagetransfers/{id}/finalize"), "<action/>").expect(200);
    assert_eq!(phase(&mut lab, &id), "finalizing_success");
    lab.post(&format!("/imagetransfers/{id}/cancel"), "<action/>").expect(409);
    lab.seconds(10);
    assert_eq!(phase(&mut lab, &id), "finished_success");
    assert_eq!(lab.status(&format!("/disks/{disk}")), "ok");
    let download = lab.post("/imagetransfers", &begin("download")).expect(201).id();
    lab.seconds(5);
    lab.post(&format!("/imagetransfers/{download}/cancel"), "<action/>").expect(200);
    lab.seconds(10);
    assert_eq!(phase(&mut lab, &download), "finished_cleanup");
    assert_eq!(lab.status(&format!("/disks/{disk}")), "ok", "a download takes nothing away");
    lab.seconds(31 * 60);
    lab.get(&format!("/imagetransfers/{id}")).expect(404);
    let fresh = lab.disk("fresh", 1);
    let upload = format!("<image_transfer><image id=\"{fresh}\"/><direction>upload</direction></image_transfer>");
    let id = lab.post("/imagetransfers", &upload).expect(201).id();
    lab.post(&format!("/imagetransfers/{id}/cancel"), "<action/>").expect(200);
    lab.run_out();
    lab.get(&format!("/disks/{fresh}")).expect(404);
}

#[test]
fn quotas_are_enforced_where_the_data_centre_says_so() {
    let mut lab = Lab::small();
    let dc = lab.named("datacenters", "dc");
    let quota = lab.get(&format!("/datacenters/{dc}/quotas")).id();
    lab.put(&format!("/datacenters/{dc}"), "<data_center><quota_mode>enabled</quota_mode></data_center>").expect(200);
    let body = |name: &str| {
        format!(
            "<vm><name>{name}</name><cluster><name>main</name></cluster><template><name>fcos</name></template>\
             <quota id=\"{quota}\"/></vm>"
        )
    };
    let vms: Vec<String> = ["a", "b", "c"].iter().map(|name| lab.post("/vms", &body(name)).expect(202).id()).collect();
    lab.run_out();
    let refused = lab.post("/vms", &body("d")).expect(409);
    assert_eq!(detail(&refused), "[Cannot add VM. Quota has insufficient storage resources.]");
    for vm in &vms[..2] {
        lab.post(&format!("/vms/{vm}/start"), "<action/>").expect(200);
    }
    let refused = lab.post(&format!("/vms/{}/start", vms[2]), "<action/>").expect(409);
    assert_eq!(detail(&refused), "[Cannot run VM. Quota has insufficient cluster resources.]");
    let limits = lab.get(&format!("/datacenters/{dc}/quotas/{quota}/quotaclusterlimits"));
    assert_eq!(limits.element("memory_usage"), "4.0");
}

#[test]
fn interfaces_have_names_and_addresses_of_their_own() {
    let mut lab = Lab::small();
    let vm = lab.vm("web", "fcos");
    let nics = format!("/vms/{vm}/nics");
    let refused = lab.post(&nics, "<nic><name>nic1</name></nic>").expect(409);
    assert_eq!(detail(&refused), "[Network interface name is already in use]");
    let mac = "<nic><name>nic2</name><mac><address>56:6F:1A:00:00:AA</address></mac></nic>";
    let added = lab.post(&nics, mac).expect(201);
    assert_eq!(added.element("address"), "56:6f:1a:00:00:aa");
    let refused = lab.post(&nics, &mac.replace("nic2", "nic3")).expect(409);
    assert!(detail(&refused).contains("is already in use by VM or snapshot: web"), "{}", refused.text);
    lab.post(&nics, "<nic><name>nic3</name><mac><address>nonsense</address></mac></nic>").expect(400);
    let id = added.id();
    lab.put(&format!("{nics}/{id}"), "<nic><name>eth</name><plugged>false</plugged></nic>").expect(200);
    assert_eq!(lab.get(&format!("{nics}/{id}")).element("name"), "eth");
    lab.delete(&format!("{nics}/{id}")).expect(200);
    lab.post(&nics, mac).expect(201);
}

#[test]
fn old_engines_answer_an_addition_to_a_group_with_an_action() {
    let old = format!("engine: {{affinity_group_add: action, version: 4.4.4.0}}\n{}", super::lab::SMALL);
    for (mut lab, root) in [(Lab::new(&old), "<action>"), (Lab::small(), "<vm ")] {
        let (cluster, vm) = (lab.named("clusters", "main"), lab.vm("a", "Blank"));
        let groups = format!("/clusters/{cluster}/affinitygroups");
        let group = lab.post(&groups, "<affinity_group><name>g</name></affinity_group>").expect(201).id();
        let answer = lab.post(&format!("{groups}/{group}/vms"), &format!("<vm id=\"{vm}\"/>"));
        assert!(answer.text.contains(root), "{}", answer.text);
    }
}
