//! An engine with guests under a clock that tests move.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use crate::core::guest::{GuestRuntime, PlainGuests};
use crate::core::{Injection, Instant, Request, Response, Simulation};
use crate::ovirt::representation::{self, Format, Tree, Type, Unknown};
use crate::ovirt::{Engine, Inventory};

/// A world that is small enough to run out of things: two domains, three hosts with little memory.
pub(super) const SMALL: &str = "
users:
  - {login: admin@internal, password: secret, roles: [SuperUser]}
  - {login: joe@internal, password: secret}
data_centers:
  - name: dc
    networks: [{name: ovirtmgmt}, {name: storage, vlan: 7}]
    storage_domains:
      - {name: data, size_gib: 200, critical_space_gib: 5}
      - {name: more, size_gib: 100, critical_space_gib: 5, storage: iscsi}
    clusters:
      - name: main
        hosts:
          - {name: h1, memory_gib: 8, sockets: 1, cores: 4}
          - {name: h2, memory_gib: 8, sockets: 1, cores: 4}
          - {name: h3, memory_gib: 8, sockets: 1, cores: 4}
    quotas: [{name: tight, vcpus: 4, memory_gib: 4, storage_gib: 30}]
templates:
  - name: fcos
    cluster: main
    os: rhcos_x64
    memory_mib: 2048
    disks: [{storage_domain: data, size_gib: 10, used_mib: 1024}]
    nics: [ovirtmgmt]
";

/// An engine, its guests and its clock.
pub(super) struct Lab {
    pub(super) engine: Engine,
    pub(super) guests: PlainGuests,
    pub(super) now: Instant,
    /// The user of the next requests.
    pub(super) user: &'static str,
    /// What is injected into the next request.
    pub(super) injection: Option<Injection>,
}

/// A response, with what tests look for in it.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) text: String,
    pub(super) response: Response,
}

impl Answer {
    /// The document, read strictly as one of `kind`.
    pub(super) fn tree(&self, kind: &'static Type) -> Tree {
        representation::read(Format::Xml, self.text.as_bytes(), kind, Unknown::Refuse)
            .unwrap_or_else(|error| panic!("{error} in {}", self.text))
    }

    /// The text of the first element of that name.
    pub(super) fn element(&self, name: &str) -> &str {
        let open = format!("<{name}>");
        let from = self.text.find(&open).unwrap_or_else(|| panic!("no {name} in {}", self.text)) + open.len();
        let end = self.text[from..].find("</").unwrap();
        &self.text[from..from + end]
    }

    /// The id of the root element, or of the first element that has one.
    pub(super) fn id(&self) -> String {
        let from = self.text.find(" id=\"").unwrap_or_else(|| panic!("no id in {}", self.text)) + 5;
        self.text[from..].split('"').next().unwrap().to_owned()
    }

    /// The ids of the items of a collection: of the elements one level below the root.
    pub(super) fn ids(&self) -> Vec<String> {
        let items = self.text.lines().filter(|line| line.starts_with("    <") && line.contains(" id=\""));
        items.map(|line| line.split(" id=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()).collect()
    }

    /// How often an element occurs.
    pub(super) fn count(&self, element: &str) -> usize {
        self.text.matches(&format!("<{element} ")).count() + self.text.matches(&format!("<{element}>")).count()
    }

    /// A header of the response.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.response
            .headers
            .iter()
            .find(|(given, _)| given.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// Insists on a status.
    pub(super) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }
}

impl Lab {
    /// The small world.
    pub(super) fn small() -> Self {
        Self::new(SMALL)
    }

    /// A world from an inventory.
    pub(super) fn new(inventory: &str) -> Self {
        let engine = Engine::new(&Inventory::parse(inventory).unwrap(), 7).unwrap();
        let now = Instant(Duration::ZERO);
        Self { engine, guests: PlainGuests::default(), now, user: "admin@internal", injection: None }
    }

    /// Sends a request as it stands.
    pub(super) fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let request = Request {
            method: method.into(),
            path: path.into(),
            query: query.into(),
            headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            body: Bytes::copy_from_slice(body),
            listener: 0,
            injection: self.injection.take(),
        };
        let response = self.engine.handle(self.now, &request);
        self.relay();
        let text = String::from_utf8(response.body.to_vec()).unwrap();
        Answer { status: response.status, text, response }
    }

    /// Sends a request of the API with the user's credentials.
    pub(super) fn call(&mut self, method: &str, path: &str, format: &str, body: &str) -> Answer {
        let credentials = format!("Basic {}", STANDARD.encode(format!("{}:secret", self.user)));
        let headers = [("authorization", credentials.as_str()), ("accept", format), ("content-type", format)];
        self.send(method, &format!("/ovirt-engine/api{path}"), &headers, body.as_bytes())
    }

    pub(super) fn get(&mut self, path: &str) -> Answer {
        self.call("GET", path, "application/xml", "")
    }

    pub(super) fn get_json(&mut self, path: &str) -> Answer {
        self.call("GET", path, "application/json", "")
    }

    pub(super) fn post(&mut self, path: &str, body: &str) -> Answer {
        self.call("POST", path, "application/xml", body)
    }

    pub(super) fn put(&mut self, path: &str, body: &str) -> Answer {
        self.call("PUT", path, "application/xml", body)
    }

    pub(super) fn delete(&mut self, path: &str) -> Answer {
        self.call("DELETE", path, "application/xml", "")
    }

    /// Sends a request to the admin endpoint.
    pub(super) fn admin(&mut self, method: &str, path: &str, body: &str) -> Option<Answer> {
        let request = Request {
            method: method.into(),
            path: path.into(),
            query: String::new(),
            headers: Vec::new(),
            body: Bytes::copy_from_slice(body.as_bytes()),
            listener: 0,
            injection: None,
        };
        let response = self.engine.administer(self.now, &request)?;
        self.relay();
        let text = String::from_utf8(response.body.to_vec()).unwrap();
        Some(Answer { status: response.status, text, response })
    }

    /// Lets that much time pass, with everything that is due on the way.
    pub(super) fn pass(&mut self, time: Duration) {
        let end = Instant(self.now.0 + time);
        while let Some(next) = self.next().filter(|next| *next <= end) {
            self.at(next);
        }
        self.at(end);
    }

    pub(super) fn seconds(&mut self, seconds: u64) {
        self.pass(Duration::from_secs(seconds));
    }

    /// Lets time pass until nothing is due any more.
    pub(super) fn run_out(&mut self) {
        for _ in 0..100_000 {
            let Some(next) = self.next() else { return };
            self.at(next);
        }
        panic!("there is always something due: {:?}", self.next());
    }

    fn next(&self) -> Option<Instant> {
        [self.engine.next_deadline(), self.guests.next_deadline()].into_iter().flatten().min()
    }

    fn at(&mut self, now: Instant) {
        self.now = now.max(self.now);
        self.engine.advance(self.now);
        self.relay();
        for event in self.guests.advance(self.now) {
            self.engine.guest_event(self.now, event);
        }
        self.relay();
    }

    fn relay(&mut self) {
        for command in self.engine.take_guest_commands() {
            self.guests.command(self.now, command);
        }
    }

    /// The id of the entity of that name.
    pub(super) fn named(&mut self, collection: &str, name: &str) -> String {
        self.get(&format!("/{collection}?search=name%3D{name}")).expect(200).id()
    }

    /// Makes a VM of a template and waits for it.
    pub(super) fn vm(&mut self, name: &str, template: &str) -> String {
        let body = format!(
            "<vm><name>{name}</name><cluster><name>main</name></cluster><template><name>{template}</name></template></vm>"
        );
        let answer = self.post("/vms", &body);
        assert!(matches!(answer.status, 201 | 202), "{}", answer.text);
        self.seconds(120);
        answer.id()
    }

    /// Makes a disk and waits for it.
    pub(super) fn disk(&mut self, name: &str, gib: u64) -> String {
        let body = format!(
            "<disk><alias>{name}</alias><format>cow</format><provisioned_size>{}</provisioned_size>\
             <storage_domains><storage_domain><name>data</name></storage_domain></storage_domains></disk>",
            gib << 30
        );
        let id = self.post("/disks", &body).expect(202).id();
        self.seconds(60);
        id
    }

    /// The status of an entity: its own, not that of something in it.
    pub(super) fn status(&mut self, path: &str) -> String {
        let answer = self.get(path).expect(200);
        let own = answer.text.lines().find_map(|line| line.strip_prefix("    <status>"));
        own.and_then(|line| line.strip_suffix("</status>")).unwrap_or_else(|| panic!("{}", answer.text)).to_owned()
    }
}
