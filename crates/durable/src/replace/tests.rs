use std::{fs, os::unix::fs::PermissionsExt as _};

use super::*;
use crate::model::Model;

#[test]
fn a_loss_of_power_leaves_the_old_or_the_new_contents_and_nothing_else() {
    let path = Path::new("/var/lib/landfall/join.begun");
    for (operations, eager) in (0..20).flat_map(|operations| [(operations, false), (operations, true)]) {
        let model = Model::with_root(eager);
        model.lose_power_after(operations);
        let written = write_on(&model, path, b"old", Access::Public);
        let found = model.after_loss(path);
        assert!([None, Some(b"old".to_vec())].contains(&found), "after {operations} operations: {found:?}");
        if written.is_ok() {
            assert_eq!(found.as_deref(), Some(&b"old"[..]), "reported as written after {operations} operations");
        }

        let model = Model::with_root(eager);
        write_on(&model, path, b"old", Access::Public).unwrap();
        model.lose_power_after(operations);
        let written = write_on(&model, path, b"new", Access::Public);
        let found = model.after_loss(path).unwrap();
        assert!([&b"old"[..], b"new"].contains(&found.as_slice()), "after {operations} operations: {found:?}");
        assert!(written.is_err() || found == b"new", "reported as written after {operations} operations");
    }
}

#[test]
fn a_file_that_was_removed_does_not_come_back() {
    let path = Path::new("/state");
    let model = Model::with_root(false);
    write_on(&model, path, b"old", Access::Public).unwrap();
    // Another process has removed it, and died before the directory was stored.
    model.remove(path).unwrap();
    assert!(model.after_loss(path).is_some());
    remove_on(&model, path).unwrap();
    assert_eq!(model.after_loss(path), None);
}

#[test]
fn a_rename_is_stored_in_both_directories() {
    let model = Model::with_root(false);
    let (from, to) = (Path::new("/aside/etcd.yaml"), Path::new("/manifests/etcd.yaml"));
    write_on(&model, from, b"pod", Access::Public).unwrap();
    write_on(&model, Path::new("/manifests/other"), b"", Access::Public).unwrap();
    rename_on(&model, from, to).unwrap();
    assert_eq!((model.after_loss(from), model.after_loss(to)), (None, Some(b"pod".to_vec())));
    // One that was written piece by piece is whole under its name.
    model.create(Path::new("/partial"), b"image", 0o600).unwrap();
    rename_on(&model, Path::new("/partial"), Path::new("/image")).unwrap();
    assert_eq!(model.after_loss(Path::new("/image")), Some(b"image".to_vec()));
}

#[test]
fn on_a_real_file_system_nothing_but_the_file_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("deep/down/file");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    write(&path, "secret", Access::Private).unwrap();
    assert_eq!(mode(&path), 0o600);
    write(&path, "public", Access::Public).unwrap();
    assert_eq!((mode(&path), fs::read_to_string(&path).unwrap().as_str()), (0o644, "public"));
    let names = || fs::read_dir(path.parent().unwrap()).unwrap().count();
    assert_eq!(names(), 1);
    // A directory has the name: what was written beside it is taken away.
    fs::create_dir(path.with_file_name("taken")).unwrap();
    write(&path.with_file_name("taken"), "x", Access::Public).unwrap_err();
    assert_eq!(names(), 2);
    rename(&path, &path.with_file_name("renamed")).unwrap();
    remove(&path.with_file_name("renamed")).unwrap();
    remove(&path.with_file_name("renamed")).unwrap();
    remove(&dir.path().join("nowhere/file")).unwrap();
    assert_eq!(names(), 1);
}
