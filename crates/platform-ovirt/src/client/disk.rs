//! Disks.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{number, search};
use crate::{Client, Error};

/// A disk.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Disk {
    /// Its id.
    pub id: String,
    /// Its name.
    #[serde(default)]
    pub alias: String,
    /// Its description.
    #[serde(default)]
    pub description: String,
    /// `ok`, `locked` or `illegal`.
    #[serde(default)]
    pub status: String,
    /// Its size as a machine sees it, in bytes.
    #[serde(default, deserialize_with = "number::required")]
    pub provisioned_size: u64,
    /// What it takes up in its storage domain, in bytes.
    #[serde(default, deserialize_with = "number::required")]
    pub actual_size: u64,
}

impl Disk {
    /// What the disks of a machine are called. The name tells them from those that others attach to it.
    pub fn name_of(machine: &str, index: usize) -> String {
        format!("{machine}{INFIX}{index}")
    }

    /// The name of the machine that the disk was made for.
    pub fn machine(&self) -> Option<&str> {
        let (machine, index) = self.alias.rsplit_once(INFIX)?;
        index.parse::<usize>().is_ok().then_some(machine)
    }
}

const INFIX: &str = "-disk";

#[derive(Deserialize)]
struct Disks {
    #[serde(default)]
    disk: Vec<Disk>,
}

impl Client {
    /// Disks with a name, of which there may be several.
    pub async fn disks_named(&self, name: &str) -> Result<Vec<Disk>, Error> {
        let Disks { disk } = self.get(&search("disks", &format!("name=\"{name}\""))).await?;
        Ok(disk.into_iter().filter(|disk| disk.alias == name).collect())
    }

    /// Disks that were made for machines whose names begin with a text, and that hang on no machine: one call, however many
    /// there are. The engine forgets a machine at once when it is deleted, and removes its disks afterwards.
    pub async fn loose_disks(&self, prefix: &str) -> Result<Vec<Disk>, Error> {
        let Disks { disk } = self.get(&search("disks", &format!("name={prefix}* and number_of_vms=0"))).await?;
        Ok(disk.into_iter().filter(|disk| disk.machine().is_some_and(|machine| machine.starts_with(prefix))).collect())
    }

    /// The disk with an id, if it exists.
    pub async fn disk(&self, id: &str) -> Result<Option<Disk>, Error> {
        self.get_existing(&format!("disks/{id}")).await
    }

    /// Creates an empty qcow2 disk of a size, large enough to take a file of `initial_size` bytes.
    pub async fn create_disk(
        &self,
        name: &str,
        description: &str,
        storage_domain_id: &str,
        size: u64,
        initial_size: u64,
    ) -> Result<Disk, Error> {
        let body = json!({
            "name": name,
            "alias": name,
            "description": description,
            "provisioned_size": size.to_string(),
            "initial_size": initial_size.to_string(),
            "format": "cow",
            "sparse": "true",
            "storage_domains": { "storage_domain": [{ "id": storage_domain_id }] },
        });
        self.post(&format!("creating disk {name}"), "disks", &body).await
    }

    /// Lets a disk grow.
    pub async fn grow_disk(&self, disk: &Disk, size: u64) -> Result<(), Error> {
        let body = json!({ "provisioned_size": size.to_string() });
        let _: Value = self.put(&format!("growing disk {}", disk.alias), &format!("disks/{}", disk.id), &body).await?;
        Ok(())
    }

    /// Deletes a disk.
    pub async fn delete_disk(&self, disk: &Disk) -> Result<(), Error> {
        self.delete(&format!("deleting disk {}", disk.alias), &format!("disks/{}", disk.id)).await
    }
}
