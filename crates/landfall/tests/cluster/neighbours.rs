//! Several clusters in one engine, and install directories that are lost.

use std::{collections::BTreeSet, fs};

use crate::{
    engine::Engine,
    install::{Install, Wish},
    inventory::{Inventory, assert_same},
    place::Place,
};

/// What `--dry-run` lists, as kinds and names of the inventory.
fn listed(titles: &str) -> BTreeSet<String> {
    let kinds = [("virtual machine ", "vms"), ("affinity group ", "affinity_groups"), ("tag ", "tags")];
    let object = |title: &str| {
        let known = kinds.iter().find_map(|(words, kind)| Some(format!("{kind}/{}", title.strip_prefix(words)?)));
        known.unwrap_or_else(|| panic!("'{title}' is not the title of an object"))
    };
    titles.lines().map(object).collect()
}

/// What an engine has because of one cluster: all whose name begins with the infra id. Disks go with their machines.
fn owned(engine: &Inventory, empty: &Inventory, infra_id: &str) -> BTreeSet<String> {
    let is_own = |key: &&str| {
        let name = key.split_once('/').map_or("", |(_, name)| name);
        let rest = name.strip_prefix(infra_id);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("-worker-") || PARTS.contains(&rest))
            && !key.starts_with("disks/")
    };
    engine.beyond(empty).into_iter().filter(is_own).map(str::to_owned).collect()
}

const PARTS: [&str; 3] = ["-master-0", "-controlplane", "-compute"];

#[test]
fn clusters_whose_names_resemble_each_other_do_not_see_each_other() {
    let place = Place::new();
    let engine = Engine::start(&place);
    let empty = engine.inventory();
    let first = Install::new(&engine, Wish { name: "a", ..Wish::default() });
    first.ok(&["create", "ignition-configs"]);
    // Its infra id is the name of the last one, whose objects therefore all have names that begin like those of the first.
    let id = first.infra_id();
    let others = [(1, "ba"), (2, "a-b"), (3, id.as_str())];
    let others = others.map(|(number, name)| Install::new(&engine, Wish { name, number, ..Wish::default() }));
    let all: Vec<&Install> = std::iter::once(&first).chain(&others).collect();
    let processes: Vec<_> = all.iter().map(|install| install.start(&["create", "cluster"])).collect();
    for process in processes {
        let run = process.wait();
        assert_eq!(run.code, 0, "{}", run.stderr);
    }
    let [ba, a_b, longer] = &others;
    let full = engine.inventory();
    assert_eq!(full.names("vms").len(), 8, "{:?}", full.names("vms"));

    // With the install directory.
    let list = first.ok(&["destroy", "cluster", "--dry-run"]).stdout;
    assert_eq!(listed(&list), owned(&full, &empty, &id), "{list}");
    assert_same(&engine.inventory(), &full, "after a dry run");
    first.destroy();
    let left = engine.inventory();
    assert_eq!(full.beyond(&left).iter().filter(|key| !key.starts_with("disks/")).count(), listed(&list).len());
    for install in &others {
        let own = |inventory: &Inventory| owned(inventory, &empty, &install.infra_id());
        assert_eq!(own(&left), own(&full));
        install.ok(&["wait-for", "install-complete"]);
    }

    // With nothing but the infra id.
    let nowhere = Install::empty(&engine);
    let id = ba.infra_id();
    let list = nowhere.ok(&["destroy", "cluster", "--infra-id", &id, "--dry-run"]).stdout;
    assert_eq!(listed(&list), owned(&full, &empty, &id), "{list}");
    nowhere.ok(&["destroy", "cluster", "--infra-id", &id]);
    assert_eq!(owned(&engine.inventory(), &empty, &id), BTreeSet::new());
    assert_eq!(nowhere.context.tree().len(), 0, "it leaves nothing in the directory that it was run in");

    // With metadata.json alone.
    let moved = Install::empty(&engine);
    moved.context.write("metadata.json", fs::read(a_b.context.path("metadata.json")).unwrap());
    let list = moved.ok(&["destroy", "cluster", "--dry-run"]).stdout;
    assert_eq!(listed(&list), owned(&full, &empty, &a_b.infra_id()), "{list}");
    moved.destroy();
    assert_eq!(owned(&engine.inventory(), &empty, &a_b.infra_id()), BTreeSet::new());

    longer.ok(&["wait-for", "install-complete"]);
    longer.destroy();
    assert_same(&engine.inventory(), &empty, "after destroying all clusters");
    let nothing = longer.ok(&["destroy", "cluster", "--dry-run"]).stdout;
    assert!(nothing.contains("nothing"), "{nothing}");
}
