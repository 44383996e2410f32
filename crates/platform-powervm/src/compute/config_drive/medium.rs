//! The medium of a config drive, in the media repository of a VIOS.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep};

use crate::client::{Before, FileKind, Source, Storage, Upload};
use crate::compute::{Backing, Error, Host, PartitionId, fresh::Part, mapping::Change, media_repository::Repository};

/// Longest time for an operating system that has just started to connect.
const CONNECTION: Duration = Duration::from_mins(2);

/// The medium of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::compute) struct MediumSpec {
    pub(in crate::compute) partition: PartitionId,
    /// Where it was seen, with no note of an upload: then nobody need look for either.
    #[serde(default)]
    pub(in crate::compute) seen: Option<Seen>,
}

/// A volume group of a VIOS, by their ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::compute) struct Seen {
    pub(in crate::compute) vios: String,
    pub(in crate::compute) group: String,
    /// The name of the medium there.
    pub(in crate::compute) medium: String,
}

impl MediumSpec {
    /// The medium of a partition, wherever it is.
    pub(in crate::compute) fn of(partition: &PartitionId) -> Self {
        Self { partition: partition.clone(), seen: None }
    }

    /// Its name, of which the platform allows 37 characters.
    pub(in crate::compute) fn name(&self) -> String {
        format!("cfg_{}", self.partition.digits())
    }
}

/// Puts the medium into a repository. One that is mapped is the one that is wanted; another may be half of one, and is replaced.
pub(in crate::compute) async fn ensure(host: &Arc<Host>, spec: &MediumSpec, image: Vec<u8>) -> Result<Backing, Error> {
    let (name, image) = (spec.name(), Bytes::from(image));
    let storage = Storage::OpticalMedium(name.clone());
    let backing = |vios: &str| Backing { vios: vios.to_owned(), storage: storage.clone(), tag: None };
    // Of a partition that was just made there is none, as a rule: if there is one all the same, the console refuses another.
    if host.fresh.begin(&spec.partition, Part::Medium)
        && let Some(repository) = host.repositories.known("").await
        && upload(host, &repository, &name, &image, Before::Nothing).await.is_ok()
    {
        return Ok(backing(&repository.vios));
    }
    let repository = host.repository(Some(&name)).await?;
    if repository.holds {
        if host.maps(&repository.vios, &storage).await? {
            return Ok(backing(&repository.vios));
        }
        host.delete_medium(&repository.vios, &repository.group, &name).await?;
    }
    let sent = upload(host, &repository, &name, &image, Before::Unknown).await;
    sent.map_err(|error| host.failed(format!("uploading config drive {name}"), error))?;
    Ok(backing(&repository.vios))
}

async fn upload(
    host: &Host,
    repository: &Repository,
    name: &str,
    image: &Bytes,
    before: Before,
) -> Result<(), crate::Error> {
    let upload = Upload { name, kind: FileKind::Medium, vios: &repository.vios, before };
    let _place = host.uploads.acquire().await;
    host.client().upload(&upload, Source::Bytes(image.clone()), |_, _| ()).await.map(drop)
}

/// Removes the medium from whichever repository it is in.
pub(in crate::compute) async fn remove(host: &Host, spec: &MediumSpec) -> Result<(), Error> {
    let name = spec.name();
    if let Some(Seen { vios, group, medium }) = &spec.seen {
        return host.delete_medium(vios, group, medium).await;
    }
    host.forget_uploads(&name).await?;
    for vios in host.vioses().await? {
        for group in host.volume_groups(&vios.id).await? {
            if group.media.as_ref().is_some_and(|media| media.iter().any(|medium| medium.name == name)) {
                host.delete_medium(&vios.id, &group.id, &name).await?;
            }
        }
    }
    Ok(())
}

/// Takes the config drive out of a partition, which has read it long ago, and deletes it. That there is none is as good.
pub async fn eject_config_drive(host: &Host, id: &PartitionId) -> Result<(), Error> {
    let spec = MediumSpec::of(id);
    let change = Change::Unmap { partition: id.clone(), storage: Some(Storage::OpticalMedium(spec.name())) };
    let vioses = host.vioses().await?;
    host.change(vioses.into_iter().map(|vios| (vios.id, vec![change.clone()])).collect()).await?;
    // By its name, for somebody may have been cut off who had taken it out.
    remove(host, &spec).await
}

/// Takes the config drive out of a partition that runs and deletes it, once the partition's operating system is connected (RMC). Returns
/// false if that does not connect: nothing can be taken from the partition then, and the platform itself empties the drive an hour after
/// the start.
pub(crate) async fn retire_config_drive(host: &Host, id: &PartitionId) -> Result<bool, Error> {
    let deadline = Instant::now() + CONNECTION;
    while let Err(error) = host.check_changeable(id).await {
        if !matches!(error, Error::Refused { .. }) {
            return Err(error);
        }
        if Instant::now() >= deadline {
            return Ok(false);
        }
        sleep(host.jobs().interval).await;
    }
    eject_config_drive(host, id).await.map(|()| true)
}
