//! Making a machine.

use landfall_platform::Progress;
use secrecy::{ExposeSecret as _, SecretString};

use super::{Machines, Vm};
use crate::{
    Error,
    client::{InstanceStatus, Workspace},
    site::Found,
};

impl Machines {
    /// The machine with a name, once it runs, if there is one. One that failed in an earlier attempt goes, because nothing mends it.
    pub(crate) async fn standing(&self, name: &str) -> Result<Option<Found>, Error> {
        match self.site.machine(name).await? {
            None => Ok(None),
            Some(found) if [InstanceStatus::Error, InstanceStatus::Deleting].contains(&found.instance.status) => {
                let workspace = self.site.workspace().await?;
                self.site.client.delete_instance(&workspace, &found.instance.id, name).await?;
                self.site.wait(name, |found| Ok(found.is_none().then_some(()))).await?;
                Ok(None)
            }
            Some(_) => self.active(name, &|_| ()).await.map(Some),
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

    /// Waits until the machine runs. That it failed is told at once, with the platform's reason; its health is not looked at, because
    /// it stays a warning on systems without an agent of IBM's.
    pub(crate) async fn active(&self, name: &str, progress: Progress<'_>) -> Result<Found, Error> {
        let mut last = None;
        let judge = |found: Option<&Found>| {
            let status = found.map(|found| found.instance.status);
            if status != last {
                progress(status.map_or_else(|| "not listed yet".to_owned(), super::word));
                last = status;
            }
            let failed = |found: &Found| Error::Failed {
                object: format!("machine {name}"),
                state: "ERROR".to_owned(),
                reason: found.instance.reason(),
            };
            match found {
                Some(found) if found.instance.status == InstanceStatus::Active => Ok(Some(Ok(found.clone()))),
                Some(found) if found.instance.status == InstanceStatus::Shutoff => Ok(Some(Err(found.clone()))),
                Some(found) if found.instance.status == InstanceStatus::Error => Err(failed(found)),
                Some(_) | None => Ok(None),
            }
        };
        match self.site.wait(name, judge).await? {
            Ok(found) => Ok(found),
            Err(off) => {
                let workspace = self.site.workspace().await?;
                self.site.client.act_on_instance(&workspace, &off.instance, "start").await?;
                let judge = |found: Option<&Found>| {
                    Ok(found.filter(|found| found.instance.status == InstanceStatus::Active).cloned())
                };
                self.site.wait(name, judge).await
            }
        }
    }

    /// Waits until the machine has been lent an address, which is minutes after it runs.
    pub(crate) async fn addressed(&self, name: &str, progress: Progress<'_>) -> Result<Found, Error> {
        let mut told = false;
        let judge = |found: Option<&Found>| match found {
            Some(found) if found.instance.status == InstanceStatus::Error => Err(Error::Failed {
                object: format!("machine {name}"),
                state: "ERROR".to_owned(),
                reason: found.instance.reason(),
            }),
            Some(found) if !found.addresses.is_empty() => Ok(Some(found.clone())),
            Some(found) => {
                if !told {
                    let macs: Vec<&str> = found.instance.ports().iter().map(|port| port.mac_address.as_str()).collect();
                    progress(format!("waiting for the address of {}", macs.join(", ")));
                    told = true;
                }
                Ok(None)
            }
            None => Err(Error::missing(format!("machine {name}"))),
        };
        self.site.wait(name, judge).await
    }
}
