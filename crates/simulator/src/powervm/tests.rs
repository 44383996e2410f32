//! What clients cannot see, or would never send.

use std::process::Command;
use std::time::Duration;

use bytes::Bytes;
use proptest::prelude::*;

use super::xml::Element;
use super::{Inventory, NovaLink};
use crate::core::guest::{GuestCommand, GuestEvent, UserDataFormat};
use crate::core::{Instant, Request, Response, Simulation};

/// Servers, and somebody who is logged on to the first.
struct Lab {
    hosts: NovaLink,
    now: Instant,
    token: String,
}

impl Lab {
    fn new() -> Self {
        let hosts = NovaLink::new(&Inventory::default(), 0);
        let directory = tempfile::tempdir().unwrap().keep();
        let hosts = hosts.with_access(None, None, directory, vec!["http://localhost".to_owned()]);
        let mut lab = Self { hosts, now: Instant(Duration::ZERO), token: String::new() };
        let logon = "<LogonRequest><UserID>admin</UserID><Password>landfall</Password></LogonRequest>";
        let answer = lab.element("PUT", "web/Logon", logon);
        answer.text("X-API-Session").clone_into(&mut lab.token);
        lab
    }

    fn request(&self, method: &str, path: &str, body: impl Into<Bytes>) -> Request {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        Request {
            method: method.to_owned(),
            path: format!("/rest/api/{path}"),
            query: query.to_owned(),
            headers: vec![
                ("x-api-session".to_owned(), self.token.clone()),
                ("host".to_owned(), "localhost".to_owned()),
            ],
            body: body.into(),
            listener: 0,
            injection: None,
        }
    }

    fn call(&mut self, method: &str, path: &str, body: impl Into<Bytes>) -> Response {
        let request = self.request(method, path, body);
        self.hosts.handle(self.now, &request)
    }

    /// A call that succeeds: the object of the entry, or the entries of the feed one by one.
    fn element(&mut self, method: &str, path: &str, body: impl Into<Bytes>) -> Element {
        let response = self.call(method, path, body);
        assert!(response.status < 300, "{path}: {}", String::from_utf8_lossy(&response.body));
        let element = Element::parse(&response.body).unwrap();
        match element.name.as_str() {
            "entry" => element.child("content").unwrap().children[0].clone(),
            _ => element,
        }
    }

    /// The id of the object of a kind with this name.
    fn id(&mut self, kind: &str, field: &str, name: &str) -> String {
        let feed = self.element("GET", &format!("uom/{kind}?group=None"), "");
        let entry = feed.all("entry").find(|entry| entry.child("content").unwrap().children[0].text(field) == name);
        entry.unwrap().text("id").to_owned()
    }

    fn wait(&mut self, seconds: u64) -> Vec<GuestCommand> {
        self.now = Instant(self.now.0 + Duration::from_secs(seconds));
        self.hosts.advance(self.now);
        self.hosts.take_guest_commands()
    }

    fn job(&mut self, path: &str, operation: &str) {
        let body = format!(
            "<JobRequest><RequestedOperation><OperationName>{operation}</OperationName></RequestedOperation><JobParameters/></JobRequest>"
        );
        self.element("PUT", &format!("{path}/do/{operation}"), body);
    }
}

#[test]
fn a_guest_boots_from_the_config_drive_in_its_optical_device() {
    let mut lab = Lab::new();
    let directory = tempfile::tempdir().unwrap();
    let latest = directory.path().join("drive/openstack/latest");
    std::fs::create_dir_all(&latest).unwrap();
    let config = r#"{"ignition": {"version": "3.3.0"}}"#;
    std::fs::write(latest.join("user_data"), config).unwrap();
    std::fs::write(latest.join("meta_data.json"), r#"{"hostname": "node-1"}"#).unwrap();
    let image = directory.path().join("drive.iso");
    let made = Command::new("genisoimage")
        .args(["-quiet", "-J", "-r", "-V", "config-2", "-o"])
        .arg(&image)
        .arg(directory.path().join("drive"))
        .status()
        .expect("genisoimage is installed by scripts/setup");
    assert!(made.success());
    let image = std::fs::read(&image).unwrap();

    let vios = lab.id("VirtualIOServer", "PartitionName", "vios1");
    let file = format!(
        "<File><Filename>cfg.iso</Filename><InternetMediaType>application/octet-stream</InternetMediaType><ExpectedFileSizeInBytes>{}</ExpectedFileSizeInBytes><FileEnumType>BROKERED_MEDIA_ISO</FileEnumType><TargetVirtualIOServerUUID>{vios}</TargetVirtualIOServerUUID></File>",
        image.len()
    );
    let file = lab.element("PUT", "web/File", file).text("FileUUID").to_owned();
    lab.element("PUT", &format!("web/File/contents/{file}"), image);

    let lpar = lab.id("LogicalPartition", "PartitionName", "ibmi1");
    let path = format!("uom/VirtualIOServer/{vios}?group=ViosSCSIMapping");
    let body = String::from_utf8(lab.call("GET", &path, "").body.to_vec()).unwrap();
    let object = body.split_once("<content").unwrap().1.split_once('>').unwrap().1.split("</content>").next().unwrap();
    let mapping = format!(
        "<VirtualSCSIMapping><AssociatedLogicalPartition href=\"http://localhost/rest/api/uom/LogicalPartition/{lpar}\" rel=\"related\"/><ClientAdapter><AdapterType>Client</AdapterType><UseNextAvailableSlotID>true</UseNextAvailableSlotID></ClientAdapter><ServerAdapter><AdapterType>Server</AdapterType><UseNextAvailableSlotID>true</UseNextAvailableSlotID></ServerAdapter><Storage><VirtualOpticalMedia><MediaName>cfg.iso</MediaName></VirtualOpticalMedia></Storage></VirtualSCSIMapping></VirtualSCSIMappings>"
    );
    lab.element("POST", &path, object.replace("</VirtualSCSIMappings>", &mapping));

    lab.job(&format!("uom/LogicalPartition/{lpar}"), "PowerOn");
    let commands = lab.wait(20);
    let [GuestCommand::Start(machine)] = commands.as_slice() else { panic!("{commands:?}") };
    assert_eq!(machine.hostname.as_deref(), Some("node-1"));
    let data = machine.user_data.as_ref().unwrap();
    assert_eq!((data.format, data.content.as_str()), (UserDataFormat::Ignition, config));

    lab.hosts.guest_event(lab.now, GuestEvent::Booted { id: lpar.clone() });
    let shown = lab.element("GET", &format!("uom/LogicalPartition/{lpar}?group=None"), "");
    assert_eq!(shown.text("ResourceMonitoringControlState"), "active");
    lab.hosts.guest_event(lab.now, GuestEvent::PoweredOff { id: lpar.clone() });
    let shown = lab.element("GET", &format!("uom/LogicalPartition/{lpar}?group=None"), "");
    assert_eq!(shown.text("PartitionState"), "not activated");
}

#[test]
fn reads_of_events_wait_until_something_happens() {
    let mut lab = Lab::new();
    let read = lab.request("GET", "uom/Event?QUEUE_APPLICATIONID=a", "");
    assert_eq!(lab.hosts.hold(lab.now, &read), None, "a new client is answered at once");
    assert_eq!(lab.hosts.handle(lab.now, &read).status, 200);
    let until = lab.hosts.hold(lab.now, &read).unwrap();
    assert_eq!(until.0, Duration::from_secs(10));
    assert_eq!(lab.hosts.handle(until, &read).status, 204);
    lab.element("PUT", "uom/Event", "<Event><EventData>x</EventData><EventDetail>y</EventDetail></Event>");
    assert_eq!(lab.hosts.hold(lab.now, &read), None);
    assert_eq!(lab.hosts.handle(lab.now, &read).status, 200);
}

#[test]
fn a_world_that_was_saved_is_the_same_world() {
    let mut lab = Lab::new();
    let lpar = lab.id("LogicalPartition", "PartitionName", "ibmi1");
    lab.job(&format!("uom/LogicalPartition/{lpar}"), "PowerOn");
    let saved = lab.hosts.snapshot();
    let restored = NovaLink::restore(saved.clone()).unwrap();
    assert_eq!(restored.snapshot(), saved);
    assert_eq!(restored.next_deadline(), lab.hosts.next_deadline());
}

#[test]
fn an_update_under_one_group_leaves_the_others_alone() {
    let mut lab = Lab::new();
    let vios = lab.id("VirtualIOServer", "PartitionName", "vios1");
    let disks = |lab: &mut Lab| {
        let shown = lab.element("GET", &format!("uom/VirtualIOServer/{vios}?group=ViosStorage"), "");
        shown.child("PhysicalVolumes").unwrap().children.len()
    };
    let before = disks(&mut lab);
    let path = format!("uom/VirtualIOServer/{vios}?group=None");
    let body = String::from_utf8(lab.call("GET", &path, "").body.to_vec()).unwrap();
    let object = body.split_once("<content").unwrap().1.split_once('>').unwrap().1.split("</content>").next().unwrap();
    lab.element("POST", &path, object.to_owned());
    assert_eq!(disks(&mut lab), before);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn nothing_makes_it_panic(
        method in "GET|PUT|POST|DELETE|PATCH",
        place in 0..14_usize,
        query in "(group=(None|All|ViosStorage|x)?)?|[a-z=&%]{0,12}",
        body in "(<(LogicalPartition|VirtualIOServer|File|JobRequest|VolumeGroup|Event|LogonRequest)>)?[<>/a-zA-Z&;!\\[\\]\" =0-9-]{0,60}",
    ) {
        let mut lab = Lab::new();
        let vios = lab.id("VirtualIOServer", "PartitionName", "vios1");
        let lpar = lab.id("LogicalPartition", "PartitionName", "web1");
        let system = lab.id("ManagedSystem", "SystemName", "power-a");
        let paths = [
            "uom".to_owned(), "uom/LogicalPartition".to_owned(), format!("uom/LogicalPartition/{lpar}"),
            format!("uom/LogicalPartition/{lpar}/do/PowerOn"), format!("uom/LogicalPartition/{lpar}/quick/All"),
            format!("uom/VirtualIOServer/{vios}"), format!("uom/VirtualIOServer/{vios}/VolumeGroup"),
            format!("uom/ManagedSystem/{system}/LogicalPartition"), "uom/jobs/1/cancel".to_owned(), "uom/Event".to_owned(),
            "web/File".to_owned(), "web/File/contents/x".to_owned(), "web/Logon".to_owned(),
            "uom/LogicalPartition/search/(PartitionName=='%ff')".to_owned(),
        ];
        let response = lab.call(&method, &format!("{}?{query}", paths[place]), body);
        prop_assert!((200..600).contains(&response.status));
    }
}
