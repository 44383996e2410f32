//! The cluster's own template, made from an image.
//!
//! ```text
//! image ─► disk ─► machine with that disk, never started ─► template; then machine and disk go
//! ```
//! An engine makes templates from machines only, and takes images into disks only. Disk and machine carry the cluster's mark
//! from the start, and the disk also says which image it is for, so that a later process can go on wherever this one stopped.

use async_trait::async_trait;
use landfall_platform::{Context, Outputs, Progress, Step, StepError};
use landfall_wire::Images;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    Error,
    client::{self, BLANK, Disk, IGNITION_OS, ImageTransfer, Phase, TemplateDetails},
    image::{Endpoint, Image, fetch, upload},
    machines::Machines,
};

/// The cluster's own template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template {
    /// Its name in the engine.
    pub name: String,
    /// Name of the disk and the machine that it is made from.
    pub image_name: String,
    /// Path or URL of the image.
    pub source: String,
    /// Id of the cluster of hosts.
    pub cluster_id: String,
    /// Id of the storage domain of its disk.
    pub storage_domain_id: String,
    /// Id of the vNIC profile of its network interface.
    pub vnic_profile_id: Option<String>,
    /// Its id in the engine, of one that was found there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

pub(super) struct TemplateStep {
    pub(super) machines: Machines,
    pub(super) images: Images,
    pub(super) desired: Template,
}

#[async_trait]
impl Step for TemplateStep {
    async fn ensure(&self, context: &Context) -> Result<Outputs, StepError> {
        let id = match self.find(context.recorded("id")).await? {
            Some(template) => template.id,
            None => self.make(context.progress()).await?,
        };
        context.note(Outputs::default().with("id", id.as_str())).await?;
        context.report("waiting for the template");
        let template = self.usable(&id).await?;
        self.clear_away(Some(&template), context.progress()).await?;
        Ok(Outputs::default().with("id", template.id))
    }

    async fn remove(&self, context: &Context, outputs: Option<&Outputs>) -> Result<(), StepError> {
        let client = &self.machines.site.client;
        let recorded: Option<String> = outputs.and_then(|outputs| outputs.get("id"));
        let template = self.own(recorded.or_else(|| self.desired.id.clone())).await?;
        let template = template.filter(|(_, is_own)| *is_own).map(|(template, _)| template);
        self.clear_away(template.as_ref(), context.progress()).await?;
        if let Some(template) = template {
            context.report("deleting the template");
            client.delete_template(&template).await?;
            let gone = || async { Ok(client.template_with_id(&template.id).await?.is_none().then_some(())) };
            self.machines.site.until(gone).await?;
        }
        Ok(())
    }
}

impl TemplateStep {
    /// The template with the id that was recorded, else the one with the name, and whether it is the cluster's.
    async fn own(&self, recorded: Option<String>) -> Result<Option<(TemplateDetails, bool)>, Error> {
        let site = &self.machines.site;
        if let Some(id) = recorded
            && let Some(template) = site.client.template_with_id(&id).await?
        {
            return Ok(Some((template, true)));
        }
        let named = site.client.template(&self.desired.name).await?;
        Ok(named.map(|template| {
            let is_own = site.mark.is_on(&template.description);
            (template, is_own)
        }))
    }

    async fn find(&self, recorded: Option<String>) -> Result<Option<TemplateDetails>, Error> {
        match self.own(recorded).await? {
            Some((_, false)) => Err(self.machines.site.foreign(self.object())),
            found => Ok(found.map(|(template, _)| template)),
        }
    }

    /// Waits until the template can be used.
    async fn usable(&self, id: &str) -> Result<TemplateDetails, Error> {
        let site = &self.machines.site;
        let look = || async {
            match site.client.template_with_id(id).await? {
                Some(template) if template.status == "ok" => Ok(Some(template)),
                Some(template) if template.status == "locked" => Ok(None),
                Some(template) => Err(site.stuck(self.object(), template.status)),
                None => Err(site.stuck(self.object(), "gone")),
            }
        };
        site.until(look).await
    }

    /// Makes the template, and returns its id.
    async fn make(&self, progress: Progress<'_>) -> Result<String, StepError> {
        let Self { machines, desired, .. } = self;
        let site = &machines.site;
        let vm = match machines.named(&desired.image_name).await? {
            Some(vm) if vm.boot_disk().is_some() => vm,
            found => {
                // The disk is attached only after it holds the whole image, so one that is attached need not be looked at.
                let disk = self.disk(progress).await?;
                let vm = match found {
                    Some(vm) => vm,
                    None => self.machine().await?,
                };
                site.client.attach_boot_disk(&vm, &disk.id).await?;
                vm
            }
        };
        if let Some(profile) = desired.vnic_profile_id.as_ref().filter(|_| vm.nics().is_empty()) {
            site.client.add_nic(&vm, "nic1", profile).await?;
        }
        let vm = machines.settled(&vm.id, &desired.image_name).await?;
        progress("making the template".to_owned());
        let description = site.mark.description("operating system of a cluster");
        match site.client.create_template(&desired.name, &description, &vm).await {
            Err(error) if error.is_name_taken() => match self.find(None).await? {
                Some(template) => Ok(template.id),
                None => Err(error.into()),
            },
            made => Ok(made?),
        }
    }

    /// A machine that is never started.
    async fn machine(&self) -> Result<client::Vm, Error> {
        let Self { machines, desired, .. } = self;
        let body = json!({
            "name": desired.image_name,
            "description": machines.site.mark.description("source of a template"),
            "cluster": { "id": desired.cluster_id },
            "template": { "id": BLANK },
            // Machines made from the template inherit this, and with it how they are handed their Ignition configs.
            "os": { "type": IGNITION_OS },
            "type": "server",
        });
        let id = machines.site.client.create_vm(&desired.image_name, &body, false).await?;
        machines.settled(&id, &desired.image_name).await
    }

    /// A disk that holds the image.
    async fn disk(&self, progress: Progress<'_>) -> Result<Disk, Error> {
        let site = &self.machines.site;
        let image = fetch(&self.images, &self.desired.source, progress).await?;
        let (disk, resumed) = self.empty_disk(&image).await?;
        let transfer = if let Some(transfer) = site.client.open_transfer(&disk).await? {
            self.take_over(transfer).await?
        } else {
            self.released(&disk).await?;
            self.transferring(site.client.begin_upload(&disk).await?).await?
        };
        let urls = [&transfer.transfer_url, &transfer.proxy_url].into_iter().flatten().cloned().collect();
        upload(site.client.transfers(), &Endpoint { urls }, &image, resumed, progress).await?;
        progress("waiting for the disk".to_owned());
        site.client.act_on_transfer(&transfer, "finalize").await?;
        self.finished(&transfer).await?;
        self.released(&disk).await
    }

    /// The disk for the image, and whether an earlier attempt may have put something into it.
    async fn empty_disk(&self, image: &Image) -> Result<(Disk, bool), Error> {
        let site = &self.machines.site;
        let purpose = format!("image sha256:{}", image.sha256);
        let description = site.mark.description(&purpose);
        for disk in self.disks(None).await? {
            if disk.description.contains(&purpose) && disk.status != "illegal" {
                return Ok((disk, true));
            }
            // It is for another image, or spoilt.
            self.delete_disk(&disk).await?;
        }
        let Template { image_name, storage_domain_id, .. } = &self.desired;
        let disk = site
            .client
            .create_disk(image_name, &description, storage_domain_id, image.virtual_size, image.file_size)
            .await?;
        Ok((disk, false))
    }

    /// Disks for images of this cluster. The template's own disk is none of them.
    async fn disks(&self, template: Option<&TemplateDetails>) -> Result<Vec<Disk>, Error> {
        let site = &self.machines.site;
        let of_template =
            |disk: &Disk| template.is_some_and(|template| template.disks.iter().any(|own| own.id == disk.id));
        let disks = site.client.disks_named(&self.desired.image_name).await?;
        Ok(disks.into_iter().filter(|disk| site.mark.is_on(&disk.description) && !of_template(disk)).collect())
    }

    /// Makes a transfer that an earlier attempt left ready for more.
    async fn take_over(&self, transfer: ImageTransfer) -> Result<ImageTransfer, Error> {
        match transfer.phase {
            Phase::PausedSystem | Phase::PausedUser => {
                self.machines.site.client.act_on_transfer(&transfer, "resume").await?;
                self.transferring(transfer).await
            }
            Phase::Initializing | Phase::Resuming | Phase::Transferring => self.transferring(transfer).await,
            // It is being checked or called off, which may take the disk with it. The next attempt sees what is left.
            _ => Err(self.machines.site.stuck(format!("the upload {}", transfer.id), "locked")),
        }
    }

    /// Waits until bytes can be sent.
    async fn transferring(&self, transfer: ImageTransfer) -> Result<ImageTransfer, Error> {
        let site = &self.machines.site;
        let look = || async {
            match site.client.transfer(&transfer.id).await? {
                Some(transfer) if transfer.phase == Phase::Transferring => Ok(Some(transfer)),
                Some(transfer) if matches!(transfer.phase, Phase::Initializing | Phase::Resuming) => Ok(None),
                // Somebody called it off or paused it again. The next attempt sees what is left.
                _ => Err(site.stuck(format!("the upload {}", transfer.id), "locked")),
            }
        };
        site.until(look).await
    }

    /// Waits until nothing more happens to a transfer.
    async fn finished(&self, transfer: &ImageTransfer) -> Result<(), Error> {
        let site = &self.machines.site;
        let look = || async {
            Ok(match site.client.transfer(&transfer.id).await? {
                Some(transfer) => transfer.phase.is_finished().then_some(()),
                None => Some(()),
            })
        };
        site.until(look).await
    }

    /// Waits until nothing is being done to a disk.
    async fn released(&self, disk: &Disk) -> Result<Disk, Error> {
        let site = &self.machines.site;
        let object = || format!("disk {}", disk.alias);
        let look = || async {
            match site.client.disk(&disk.id).await? {
                Some(disk) if disk.status == "ok" => Ok(Some(disk)),
                Some(disk) if disk.status == "locked" => Ok(None),
                Some(disk) => Err(site.stuck(object(), disk.status)),
                None => Err(Error::Missing { object: object(), engine: site.client.engine().host() }),
            }
        };
        site.until(look).await
    }

    /// Removes what the template was made from.
    async fn clear_away(&self, template: Option<&TemplateDetails>, progress: Progress<'_>) -> Result<(), StepError> {
        self.machines.erase(&self.desired.image_name, None, progress).await?;
        for disk in self.disks(template).await? {
            self.delete_disk(&disk).await?;
        }
        Ok(())
    }

    /// Calls off what is being done to a disk, and deletes it.
    async fn delete_disk(&self, disk: &Disk) -> Result<(), Error> {
        let site = &self.machines.site;
        if let Some(transfer) = site.client.open_transfer(disk).await? {
            let may_be_called_off = matches!(
                transfer.phase,
                Phase::Initializing | Phase::Resuming | Phase::Transferring | Phase::PausedSystem | Phase::PausedUser
            );
            if may_be_called_off {
                site.client.act_on_transfer(&transfer, "cancel").await?;
            }
            self.finished(&transfer).await?;
        }
        let unlocked = || async {
            let disk = site.client.disk(&disk.id).await?;
            Ok(disk.is_none_or(|disk| disk.status != "locked").then_some(()))
        };
        site.until(unlocked).await?;
        site.client.delete_disk(disk).await?;
        site.until(|| async { Ok(site.client.disk(&disk.id).await?.is_none().then_some(())) }).await
    }

    fn object(&self) -> String {
        format!("template {}", self.desired.name)
    }
}
