//! What a guest finds on the config drive: an image with the label `config-2` in the layout of `OpenStack`'s metadata.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::operating_systems::Delivery;
use super::representation::Tree;
use super::table::Id;

/// The Ignition version that the engine adds to a config that has none.
const IGNITION_VERSION: &str = "2.3.0";

const USER_DATA: &str = "openstack/latest/user_data";
const META_DATA: &str = "openstack/latest/meta_data.json";
const SYSPREP: &str = "sysprep.inf";

/// The files of a config drive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Drive {
    pub(crate) delivery: Delivery,
    /// Contents by path.
    pub(crate) files: BTreeMap<String, String>,
}

impl Drive {
    /// What the guest's own tool reads.
    pub(crate) fn user_data(&self) -> &str {
        self.files.get(USER_DATA).or_else(|| self.files.get(SYSPREP)).map_or("", String::as_str)
    }
}

/// Builds the drive of a VM from its initialization. An Ignition config that is not JSON is found out only here.
pub(crate) fn build(delivery: Delivery, initialization: &Tree, name: &str, id: Id) -> Result<Drive, serde_json::Error> {
    let script = initialization.text("custom_script").unwrap_or_default();
    let files = match delivery {
        Delivery::Sysprep => [(SYSPREP.to_owned(), script.to_owned())].into(),
        Delivery::Ignition => {
            [(USER_DATA.to_owned(), ignition(script, initialization)?), meta_data(initialization, name, id)].into()
        }
        Delivery::CloudInit => {
            [(USER_DATA.to_owned(), cloud_config(script, initialization)), meta_data(initialization, name, id)].into()
        }
    };
    Ok(Drive { delivery, files })
}

fn meta_data(initialization: &Tree, name: &str, id: Id) -> (String, String) {
    let hostname = initialization.text("host_name").unwrap_or(name);
    let mut data = json!({ "uuid": id, "name": hostname, "hostname": hostname, "launch_index": "0" });
    if let Some(keys) = initialization.text("authorized_ssh_keys") {
        let keys: Map<String, Value> =
            keys.lines().enumerate().map(|(index, key)| (format!("openstack_key_{index}"), key.into())).collect();
        data["public_keys"] = keys.into();
    }
    (META_DATA.to_owned(), data.to_string())
}

/// The client's config, with a version, a host name and a user if it lacks them and they were asked for.
fn ignition(script: &str, initialization: &Tree) -> Result<String, serde_json::Error> {
    let given: Map<String, Value> = serde_json::from_str(if script.trim().is_empty() { "{}" } else { script })?;
    let mut config = given.clone();
    let section = config.entry("ignition").or_insert_with(|| json!({}));
    if let Some(section) = section.as_object_mut() {
        section.entry("version").or_insert_with(|| IGNITION_VERSION.into());
    }
    if let Some(hostname) = initialization.text("host_name").filter(|name| !name.is_empty()) {
        add_hostname(&mut config, hostname);
    }
    if let Some(user) = initialization.text("user_name").filter(|name| !name.is_empty()) {
        add_user(&mut config, user, initialization.text("authorized_ssh_keys"));
    }
    if config == given { Ok(script.to_owned()) } else { Ok(Value::Object(config).to_string()) }
}

fn add_hostname(config: &mut Map<String, Value>, hostname: &str) {
    let file = json!({
        "filesystem": "root",
        "path": "/etc/hostname",
        "mode": 420,
        "contents": { "source": format!("data:,{hostname}") },
    });
    match config.get_mut("storage").and_then(|storage| storage.get_mut("files")).and_then(Value::as_array_mut) {
        Some(files) if files.iter().any(|file| file["path"] == "/etc/hostname") => {}
        Some(files) => files.push(file),
        // A storage section without files is replaced as a whole: the engine does so, and loses what was in it.
        None => drop(config.insert("storage".into(), json!({ "files": [file] }))),
    }
}

fn add_user(config: &mut Map<String, Value>, name: &str, keys: Option<&str>) {
    let mut user = json!({ "name": name });
    if let Some(keys) = keys {
        user["sshAuthorizedKeys"] = keys.lines().map(Value::from).collect();
    }
    match config.get_mut("passwd").and_then(|passwd| passwd.get_mut("users")).and_then(Value::as_array_mut) {
        Some(users) if users.iter().any(|user| user["name"] == name) => {}
        Some(users) => users.push(user),
        None => drop(config.insert("passwd".into(), json!({ "users": [user] }))),
    }
}

/// The client's script after what the engine generates. Put before an Ignition config, the first line breaks it.
fn cloud_config(script: &str, initialization: &Tree) -> String {
    let mut text = String::from("#cloud-config\n");
    let mut line = |key: &str, value: &str| text.extend([key, ": ", value, "\n"]);
    line("ssh_pwauth", "true");
    line("disable_root", "0");
    if let Some(hostname) = initialization.text("host_name") {
        line("hostname", hostname);
    }
    if let Some(timezone) = initialization.text("timezone") {
        line("timezone", timezone);
    }
    if let Some(user) = initialization.text("user_name") {
        line("user", user);
    }
    text.push_str(script);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive(delivery: Delivery, tree: &Tree) -> Drive {
        build(delivery, tree, "web-1", Id::nil()).unwrap()
    }

    fn user_data(tree: &Tree) -> Value {
        serde_json::from_str(drive(Delivery::Ignition, tree).user_data()).unwrap()
    }

    #[test]
    fn a_complete_config_is_passed_on_to_the_letter() {
        let script = r#"{ "ignition": {"version": "3.3.0"} }"#;
        let tree = Tree::new().with("custom_script", script);
        assert_eq!(drive(Delivery::Ignition, &tree).user_data(), script);
    }

    #[test]
    fn a_version_and_a_host_name_are_added() {
        let tree =
            Tree::new().with("custom_script", r#"{"storage":{"files":[{"path":"/a"}]}}"#).with("host_name", "m0");
        let config = user_data(&tree);
        assert_eq!(config["ignition"]["version"], "2.3.0");
        assert_eq!(config["storage"]["files"][1]["contents"]["source"], "data:,m0");
        assert_eq!(config["storage"]["files"][0]["path"], "/a");
    }

    #[test]
    fn storage_without_files_is_lost_as_in_the_engine() {
        let script = r#"{"ignition":{"version":"3.3.0"},"storage":{"disks":[1]}}"#;
        let config = user_data(&Tree::new().with("custom_script", script).with("host_name", "m0"));
        assert_eq!(config["storage"].get("disks"), None);
        assert_eq!(config["storage"]["files"][0]["path"], "/etc/hostname");
    }

    #[test]
    fn a_host_name_of_the_config_wins() {
        let script = r#"{"ignition":{"version":"3.3.0"},"storage":{"files":[{"path":"/etc/hostname"}]}}"#;
        let config = user_data(&Tree::new().with("custom_script", script).with("host_name", "m0"));
        assert_eq!(config["storage"]["files"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn what_is_not_json_is_refused_at_the_start() {
        let tree = Tree::new().with("custom_script", "#!/bin/sh");
        assert!(build(Delivery::Ignition, &tree, "a", Id::nil()).is_err());
        assert!(drive(Delivery::CloudInit, &tree).user_data().starts_with("#cloud-config\n"));
    }

    #[test]
    fn the_metadata_names_the_machine() {
        let files = drive(Delivery::Ignition, &Tree::new().with("host_name", "m0")).files;
        let data: Value = serde_json::from_str(&files[META_DATA]).unwrap();
        assert_eq!((&data["hostname"], &data["uuid"]), (&json!("m0"), &json!(Id::nil())));
    }
}
