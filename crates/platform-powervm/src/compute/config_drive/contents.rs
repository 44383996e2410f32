//! The files of a config drive, as `OpenStack` lays them out.

use secrecy::ExposeSecret as _;

use super::iso;
use crate::compute::ConfigDrive;

/// The label that operating systems look for.
const LABEL: &str = "config-2";

/// The image of a config drive.
pub fn image(drive: &ConfigDrive) -> Vec<u8> {
    let (meta_data, network_data, user_data) = match drive {
        ConfigDrive::Medium(image) => return image.expose_secret().to_vec(),
        ConfigDrive::Files { meta_data, network_data, user_data } => (meta_data, network_data, user_data),
    };
    let json = |value: &serde_json::Value| value.to_string().into_bytes();
    let mut files = vec![("openstack/latest/meta_data.json", json(meta_data))];
    if let Some(network) = network_data {
        files.push(("openstack/latest/network_data.json", json(network)));
    }
    if let Some(user_data) = user_data {
        files.push(("openstack/latest/user_data", user_data.expose_secret().as_bytes().to_vec()));
    }
    iso::image(LABEL, &files)
}
