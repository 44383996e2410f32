//! Making a machine.

use landfall_platform::{MachineRef, Progress};
use secrecy::{ExposeSecret as _, SecretString};

use super::{Machines, Vm};
use crate::{
    Error,
    client::{InstanceStatus, Workspace},
    site::Found,
};

/// After how many lists without it a machine is asked for by its id.
const UNLISTED: u32 = 3;

/// What ends the waiting for a machine that is to run.
enum Sight {
    Active(Found),
    Off(Found),
    Nothing,
}

impl Machines {
    /// The machine that exists already, once it runs, if there is one. One that failed in an earlier attempt goes, because nothing mends it.
    pub(crate) async fn standing(&self, machine: MachineRef<'_>) -> Result<Option<Found>, Error> {
        let name = machine.name;
        match self.site.machine(machine).await? {
            None => Ok(None),
            Some(found) if [InstanceStatus::Error, InstanceStatus::Deleting].contains(&found.instance.status) => {
                self.site.client.delete_instance(&found.workspace, &found.instance.id, name).await?;
                self.site.wait_until_gone(&found.instance.id).await?;
                Ok(None)
            }
            Some(found) => self.active(name, Some(&found.instance.id), &|_| ()).await.map(Some),
        }
    }

    /// Asks for a machine. Returns its id, if the platform tells it.
    pub(crate) async fn create(
        &self,
        desired: &Vm,
        user_data: &SecretString,
        progress: Progress<'_>,
    ) -> Result<Option<String>, Error> {
        let workspace = self.site.workspace().await?;
        let all = self.site.client.instances(&workspace).await?;
        if all.iter().any(|other| other.server_name == desired.name) {
            return Err(Error::Foreign { object: format!("machine {}", desired.name) });
        }
        let (image, network) = (self.image(&workspace, desired).await?, self.network(&workspace, desired).await?);
        progress("asking for it".to_owned());
        let body = desired.request(&image, &network, user_data.expose_secret());
        self.site.client.create_instance(&workspace, &desired.name, &body).await
    }

    async fn image(&self, workspace: &Workspace, desired: &Vm) -> Result<String, Error> {
        let all = self.site.client.images(workspace).await?;
        let found = all.into_iter().find(|image| desired.image.is(&image.id, &image.name));
        found.map(|image| image.id).ok_or_else(|| Error::missing(format!("image {}", desired.image.text())))
    }

    async fn network(&self, workspace: &Workspace, desired: &Vm) -> Result<String, Error> {
        let all = self.site.client.networks(workspace).await?;
        let found = all.into_iter().find(|network| desired.network.is(&network.id, &network.name));
        found.map(|network| network.id).ok_or_else(|| Error::missing(format!("network {}", desired.network.text())))
    }

    /// Waits until the machine runs, and starts it if it is off. That it failed is told at once, with the platform's reason; its health is
    /// not looked at, because it stays a warning on systems without an agent of IBM's. One that is listed no more is asked for by
    /// its id: a list may lag behind, but what somebody deleted would be waited for without end.
    pub(crate) async fn active(&self, name: &str, id: Option<&str>, progress: Progress<'_>) -> Result<Found, Error> {
        let mut last = None;
        let mut started = false;
        loop {
            let mut unlisted = 0;
            let judge = |found: Option<&Found>| {
                let status = found.map(|found| found.instance.status);
                if status != last {
                    progress(status.map_or_else(|| "not listed yet".to_owned(), super::word));
                    last = status;
                }
                unlisted = if found.is_some() { 0 } else { unlisted + 1 };
                match found {
                    None if unlisted < UNLISTED => Ok(None),
                    None => Ok(Some(Sight::Nothing)),
                    Some(found) => match found.instance.status {
                        InstanceStatus::Active => Ok(Some(Sight::Active(found.clone()))),
                        InstanceStatus::Shutoff if !started => Ok(Some(Sight::Off(found.clone()))),
                        InstanceStatus::Error => Err(failed(name, found)),
                        _ => Ok(None),
                    },
                }
            };
            let sight = self.site.wait(MachineRef { name, id }, judge).await?;
            match sight {
                Sight::Active(found) => return Ok(found),
                Sight::Off(found) => {
                    self.site.client.act_on_instance(&found.workspace, &found.instance, "start").await?;
                    started = true;
                }
                Sight::Nothing => {
                    let Some(id) = id else { continue };
                    match self.site.instance(id).await? {
                        // It lost its name or its tag, and is found by nothing else.
                        Some(found) if found.instance.status == InstanceStatus::Active => return Ok(found),
                        Some(_) => {}
                        None => return Err(Error::Gone { object: format!("machine {name}") }),
                    }
                }
            }
        }
    }

    /// Waits until the machine has been lent an address, which is minutes after it runs.
    pub(crate) async fn addressed(&self, name: &str, id: &str, progress: Progress<'_>) -> Result<Found, Error> {
        let mut told = false;
        let judge = |found: Option<&Found>| match found {
            Some(found) if found.instance.status == InstanceStatus::Error => Err(failed(name, found)),
            Some(found) if !found.addresses.is_empty() => Ok(Some(found.clone())),
            Some(found) => {
                if !told {
                    let macs: Vec<&str> = found.instance.ports().iter().map(|port| port.mac_address.as_str()).collect();
                    progress(format!("waiting for the address of {}", macs.join(", ")));
                    told = true;
                }
                Ok(None)
            }
            None => Err(Error::Gone { object: format!("machine {name}") }),
        };
        self.site.wait(MachineRef { name, id: Some(id) }, judge).await
    }
}

fn failed(name: &str, found: &Found) -> Error {
    Error::Failed { object: format!("machine {name}"), state: "ERROR".to_owned(), reason: found.instance.reason() }
}
