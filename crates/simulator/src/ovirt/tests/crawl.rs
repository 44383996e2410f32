//! Everything that the API links to is there, is what its type's table says, and is the same in both syntaxes.

use std::collections::{BTreeMap, BTreeSet};

use super::lab::Lab;
use crate::ovirt::representation::types::by_element;
use crate::ovirt::representation::{self, Field, Format, Kind, Tree, Type, Unknown, Value};

/// A world with at least one of everything.
fn furnished() -> Lab {
    let mut lab = Lab::small();
    let vm = lab.vm("web", "fcos");
    let other = lab.vm("db", "fcos");
    let disk = lab.disk("extra", 2);
    let attach = format!("<disk_attachment><interface>virtio</interface><disk id=\"{disk}\"/></disk_attachment>");
    lab.post(&format!("/vms/{vm}/diskattachments"), &attach).expect(201);
    lab.post(&format!("/vms/{vm}/watchdogs"), "<watchdog><action>reset</action><model>i6300esb</model></watchdog>")
        .expect(201);
    let nic = lab.get(&format!("/vms/{vm}/nics")).id();
    let parameter = "<network_filter_parameter><name>IP</name><value>1.2.3.4</value></network_filter_parameter>";
    lab.post(&format!("/vms/{vm}/nics/{nic}/networkfilterparameters"), parameter).expect(201);
    let host = lab.named("hosts", "h1");
    let pinned = format!(
        "<vm><placement_policy><affinity>user_migratable</affinity><hosts><host id=\"{host}\"/></hosts></placement_policy>\
         <initialization><host_name>web</host_name><custom_script>{{}}</custom_script></initialization>\
         <custom_properties><custom_property><name>hugepages</name><value>2048</value></custom_property></custom_properties></vm>"
    );
    lab.put(&format!("/vms/{vm}"), &pinned).expect(200);
    lab.post(
        &format!("/vms/{vm}/autopincpuandnumanodes"),
        "<action><optimize_cpu_settings>true</optimize_cpu_settings></action>",
    )
    .expect(200);
    lab.post(&format!("/vms/{other}/snapshots"), "<snapshot><description>before</description></snapshot>").expect(202);
    lab.run_out();
    lab.post(&format!("/vms/{other}/start"), "<action/>").expect(200);
    lab.run_out();
    lab.put(&format!("/vms/{other}"), "<vm><memory>3221225472</memory></vm>").expect(200);

    let parent = lab.post("/tags", "<tag><name>parent</name></tag>").expect(201).id();
    lab.post("/tags", &format!("<tag><name>child</name><parent id=\"{parent}\"/></tag>")).expect(201);
    lab.post(&format!("/vms/{vm}/tags"), "<tag><name>child</name></tag>").expect(201);
    lab.post(&format!("/hosts/{host}/tags"), "<tag><name>child</name></tag>").expect(201);
    let template = lab.named("templates", "fcos");
    lab.post(&format!("/templates/{template}/tags"), "<tag><name>parent</name></tag>").expect(201);

    let label = lab.post("/affinitylabels", "<affinity_label><name>l</name></affinity_label>").expect(201).id();
    lab.post(&format!("/affinitylabels/{label}/vms"), &format!("<vm id=\"{vm}\"/>")).expect(201);
    lab.post(&format!("/affinitylabels/{label}/hosts"), &format!("<host id=\"{host}\"/>")).expect(201);
    let cluster = lab.named("clusters", "main");
    let group = format!(
        "<affinity_group><name>g</name><vms_rule><enabled>true</enabled><positive>false</positive><enforcing>true</enforcing>\
         </vms_rule><hosts_rule><enabled>false</enabled></hosts_rule><vms><vm id=\"{vm}\"/><vm id=\"{other}\"/></vms>\
         <hosts><host id=\"{host}\"/></hosts><vm_labels><affinity_label id=\"{label}\"/></vm_labels></affinity_group>"
    );
    lab.post(&format!("/clusters/{cluster}/affinitygroups"), &group).expect(201);

    let user = lab.get("/users?search=usrname%3Djoe").id();
    for path in [format!("/vms/{vm}"), format!("/disks/{disk}"), format!("/clusters/{cluster}")] {
        let grant = format!("<permission><role><name>UserRole</name></role><user id=\"{user}\"/></permission>");
        lab.post(&format!("{path}/permissions"), &grant).expect(201);
    }
    lab.post("/bookmarks", "<bookmark><name>b</name><value>vms: status=up</value></bookmark>").expect(201);
    let event = "<event><description>hello</description><severity>warning</severity><origin>test</origin><custom_id>1</custom_id></event>";
    lab.post("/events", event).expect(201);
    let upload = lab.disk("upload", 1);
    let transfer = format!("<image_transfer><disk id=\"{upload}\"/><direction>upload</direction></image_transfer>");
    lab.post("/imagetransfers", &transfer).expect(201);
    lab.seconds(10);
    // What is under way shows other parts of itself.
    lab.vm("last", "fcos");
    lab.post(
        "/vms",
        "<vm><name>making</name><cluster><name>main</name></cluster><template><name>fcos</name></template></vm>",
    )
    .expect(202);
    lab
}

/// Reads a document in either syntax through the tables, strictly. Collections have no table of their own, so one is made.
fn read(format: Format, text: &str, root: &str, items: &BTreeMap<String, &'static Type>) -> Tree {
    let kind = items.get(root).copied().or_else(|| by_element(root)).unwrap_or_else(|| panic!("no type for {root}"));
    representation::read(format, text.as_bytes(), kind, Unknown::Refuse)
        .unwrap_or_else(|error| panic!("{error} in {text}"))
}

/// The name of the root element of a document.
fn root_of(xml: &str) -> String {
    let line = xml.lines().nth(1).unwrap();
    line.trim_start_matches('<').split([' ', '>', '/']).next().unwrap().to_owned()
}

/// The type of a collection whose root is `root`, learned from the element of its first item.
fn collection(root: &str, xml: &str) -> Option<&'static Type> {
    let item = xml.lines().nth(2)?.trim().trim_start_matches('<').split([' ', '>', '/']).next()?.to_owned();
    let kind = by_element(&item)?;
    let name: &'static str = Box::leak(item.into_boxed_str());
    let fields: &'static [Field] = Box::leak(Box::new([Field { name, kind: Kind::Repeated(kind) }]));
    Some(Box::leak(Box::new(Type { element: Box::leak(root.to_owned().into_boxed_str()), base: None, fields })))
}

/// The addresses that a document links to, and those of its actions.
fn hrefs(tree: &Tree, inside_actions: bool, links: &mut BTreeSet<String>, actions: &mut BTreeSet<String>) {
    for (name, value) in tree.iter() {
        match value {
            value if name == "href" => {
                let to = if inside_actions { &mut *actions } else { &mut *links };
                to.insert(value.as_str().unwrap().to_owned());
            }
            Value::Struct(tree) => hrefs(tree, inside_actions || name == "actions", links, actions),
            Value::List(_, items) => {
                for item in items.iter() {
                    if let Value::Struct(tree) = item {
                        hrefs(tree, inside_actions, links, actions);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Sorted by name at every level: the order of fields means nothing.
fn sorted(tree: &Tree) -> Vec<(&'static str, String)> {
    let mut fields: Vec<(&'static str, String)> = tree
        .iter()
        .map(|(name, value)| {
            let text = match value {
                Value::Struct(tree) => format!("{:?}", sorted(tree)),
                Value::List(item, items) => {
                    let items: Vec<String> = items
                        .iter()
                        .map(|item| match item {
                            Value::Struct(tree) => format!("{:?}", sorted(tree)),
                            other => format!("{:?}", other.as_str()),
                        })
                        .collect();
                    format!("{item} {items:?}")
                }
                other => other.as_str().map_or_else(|| format!("{other:?}"), str::to_owned),
            };
            (name, text)
        })
        .collect();
    fields.sort();
    fields
}

#[test]
fn every_address_answers_the_same_in_both_syntaxes() {
    let mut lab = furnished();
    let mut items = BTreeMap::new();
    let mut open = BTreeSet::from(["/ovirt-engine/api".to_owned()]);
    let mut seen = BTreeSet::new();
    let mut actions = BTreeSet::new();
    let mut roots = BTreeSet::new();
    while let Some(href) = open.pop_first() {
        if !seen.insert(href.clone()) {
            continue;
        }
        let path = href.strip_prefix("/ovirt-engine/api").unwrap_or_else(|| panic!("odd address {href}")).to_owned();
        let xml = lab.get(&path);
        assert_eq!(xml.status, 200, "{href}: {}", xml.text);
        assert_eq!(xml.header("content-type"), Some("application/xml;charset=UTF-8"));
        let root = root_of(&xml.text);
        roots.insert(root.clone());
        if by_element(&root).is_none() && !items.contains_key(&root) {
            let Some(kind) = collection(&root, &xml.text) else {
                assert_eq!(xml.text.lines().count(), 2, "{href} is neither a known type nor empty: {}", xml.text);
                assert_eq!(lab.get_json(&path).text.trim(), "{}", "{href}");
                continue;
            };
            items.insert(root.clone(), kind);
        }
        let tree = read(Format::Xml, &xml.text, &root, &items);
        let json = lab.get_json(&path).expect(200);
        let other = read(Format::Json, &json.text, &root, &items);
        assert_eq!(sorted(&tree), sorted(&other), "{href}");
        let mut links = BTreeSet::new();
        hrefs(&tree, false, &mut links, &mut actions);
        open.extend(links);
    }
    for root in
        ["vms", "vm", "snapshot", "nic", "disk_attachment", "affinity_group", "image_transfer", "event", "job", "step"]
    {
        assert!(roots.contains(root), "{root} was not met");
    }
    assert!(seen.len() > 400, "only {} addresses were met", seen.len());
    for href in actions {
        let path = href.strip_prefix("/ovirt-engine/api").unwrap();
        let answer = lab.call("PUT", path, "application/xml", "<action/>");
        assert!(matches!(answer.status, 404 | 405), "{href}: {}", answer.text);
    }
}

#[test]
fn links_keep_the_version_that_the_client_gave() {
    let mut lab = Lab::small();
    let answer = lab.get("/v4/clusters").expect(200);
    assert!(answer.text.contains("href=\"/ovirt-engine/api/v4/clusters/"), "{}", answer.text);
    assert!(!answer.text.contains("href=\"/ovirt-engine/api/clusters/"), "{}", answer.text);
    lab.get("/v3/clusters").expect(400);
}

#[test]
fn following_puts_what_is_linked_in_its_place() {
    let mut lab = furnished();
    let vm = lab.named("vms", "web");
    let answer = lab.get(&format!("/vms/{vm}?follow=disk_attachments.disk,nics,cluster")).expect(200);
    let tree = answer.tree(&crate::ovirt::representation::types::VM);
    let attachments: Vec<&Tree> = tree.list("disk_attachments").unwrap().collect();
    assert_eq!(attachments.len(), 2);
    assert_eq!(attachments[1].sub("disk").unwrap().text("alias"), Some("extra"));
    assert_eq!(tree.list("nics").unwrap().count(), 1);
    assert_eq!(tree.sub("cluster").unwrap().text("name"), Some("main"));
    let rels: Vec<&str> = tree.list("link").unwrap().filter_map(|link| link.text("rel")).collect();
    assert!(!rels.contains(&"nics") && rels.contains(&"tags"), "{rels:?}");
    let json: serde_json::Value = serde_json::from_str(&lab.get_json("/vms?follow=tags").text).unwrap();
    let web = json["vm"].as_array().unwrap().iter().find(|vm| vm["name"] == "web").unwrap();
    assert_eq!(web["tags"]["tag"][0]["name"], "child");
    let plain = lab.get(&format!("/vms/{vm}")).text;
    assert_eq!(lab.get(&format!("/vms/{vm}?follow=")).text, plain);
    assert_eq!(lab.get(&format!("/vms/{vm}?follow=nonsense.more")).text, plain);
}
