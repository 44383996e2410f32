//! A restart in the middle of anything: it goes on as if nothing had happened.

use super::lab::Lab;
use crate::core::Simulation;
use crate::core::guest::GuestRuntime;
use crate::ovirt::Engine;

/// Ends an engine and its guests, and begins them again from what they saved.
pub(super) fn restart(lab: &mut Lab) {
    let (engine, guests) = (lab.engine.snapshot(), lab.guests.snapshot());
    // Through text, as the state file has it.
    let text = serde_json::to_string(&engine).unwrap();
    lab.engine = Engine::restore(serde_json::from_str(&text).unwrap()).unwrap();
    assert_eq!(lab.engine.snapshot(), engine, "nothing is lost by being stored");
    lab.guests = crate::core::guest::PlainGuests::default();
    lab.guests.restore(guests).unwrap();
}

/// Sets everything in motion that takes time.
fn busy() -> Lab {
    let mut lab = Lab::small();
    let (vm, other, stopping) = (lab.vm("a", "fcos"), lab.vm("b", "fcos"), lab.vm("c", "fcos"));
    let (disk, upload) = (lab.disk("d", 1), lab.disk("u", 1));
    for vm in [&other, &stopping] {
        lab.post(&format!("/vms/{vm}/start"), "<action/>").expect(200);
    }
    lab.run_out();
    let transfer = format!("<image_transfer><disk id=\"{upload}\"/><direction>upload</direction></image_transfer>");
    lab.post("/imagetransfers", &transfer).expect(201);
    lab.post(
        "/vms",
        "<vm><name>new</name><cluster><name>main</name></cluster><template><name>fcos</name></template></vm>",
    )
    .expect(202);
    lab.post("/templates", &format!("<template><name>t</name><vm id=\"{vm}\"/></template>")).expect(202);
    lab.put(&format!("/disks/{disk}"), "<disk><provisioned_size>2147483648</provisioned_size></disk>").expect(200);
    lab.post(&format!("/vms/{other}/snapshots"), "<snapshot><description>s</description></snapshot>").expect(202);
    lab.post(&format!("/vms/{stopping}/shutdown"), "<action/>").expect(200);
    lab
}

#[test]
fn a_restart_at_any_second_changes_nothing() {
    for second in [0, 1, 3, 5, 8, 13, 21] {
        let (mut straight, mut broken) = (busy(), busy());
        straight.seconds(second);
        broken.seconds(second);
        restart(&mut broken);
        straight.run_out();
        broken.run_out();
        assert_eq!(straight.engine.snapshot(), broken.engine.snapshot(), "after {second} s");
        assert_eq!(broken.get("/vms?search=status%3Dimagelocked").ids().len(), 0);
        let locked = broken.get("/disks?search=status%3Dlocked").expect(200);
        assert_eq!(locked.ids().len(), 1, "only the disk whose upload nobody goes on with: {}", locked.text);
    }
}

#[test]
fn tokens_survive() {
    let mut lab = Lab::small();
    let form = b"grant_type=password&scope=ovirt-app-api&username=admin%40internal&password=secret";
    let answer = lab.send("POST", "/ovirt-engine/sso/oauth/token", &[], form).expect(200);
    let token: serde_json::Value = serde_json::from_str(&answer.text).unwrap();
    let bearer = format!("Bearer {}", token["access_token"].as_str().unwrap());
    restart(&mut lab);
    lab.send("GET", "/ovirt-engine/api", &[("authorization", &bearer)], b"").expect(200);
}

#[test]
fn what_is_no_saved_state_is_refused() {
    assert!(Engine::restore(serde_json::json!({})).is_err());
    assert!(Engine::restore(serde_json::json!(null)).is_err());
    let mut snapshot = Lab::small().engine.snapshot();
    snapshot["vms"] = serde_json::json!([{ "id": "nonsense" }]);
    assert!(Engine::restore(snapshot).is_err());
}
