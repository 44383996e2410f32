//! Where a machine goes: the server with room on which fewest machines of its role are.

use std::path::PathBuf;

use futures::future::join_all;
use landfall_config::powervm::Storage;
use landfall_platform::Progress;

use super::{Machines, Partition};
use crate::{Error, client::ManagedSystem, compute::DiskPlace, site::Member};

/// A server that a machine could go to.
struct Candidate<'a> {
    member: &'a Member,
    system: ManagedSystem,
    /// Machines of the same role that are there.
    company: usize,
}

impl Machines {
    /// Chooses a server. Those that do not answer are left out; that none is left is told with what is wrong with each.
    pub(super) async fn place(&self, desired: &Partition) -> Result<&Member, Error> {
        if let [only] = desired.hosts.as_slice() {
            return self.site.member(only);
        }
        let possible = self.site.members().iter();
        let possible = possible.filter(|member| desired.hosts.is_empty() || desired.hosts.contains(&member.name));
        let looks = join_all(possible.map(|member| async move { (member, self.look(member, desired).await) }));
        let (mut candidates, mut reasons) = (Vec::new(), Vec::new());
        for (member, look) in looks.await {
            match look {
                Ok(candidate) => match lack(desired, &candidate.system) {
                    None => candidates.push(candidate),
                    Some(lack) => reasons.push(format!("{} has {lack}", member.name)),
                },
                Err(error) => reasons.push(landfall_platform::error_chain(&error)),
            }
        }
        let best = candidates.iter().min_by_key(|one| (one.company, std::cmp::Reverse(one.system.free_memory_mib)));
        best.map(|one| one.member).ok_or_else(|| Error::NoRoom { name: desired.name.clone(), reasons })
    }

    async fn look<'a>(&self, member: &'a Member, desired: &Partition) -> Result<Candidate<'a>, Error> {
        let (systems, partitions) = futures::try_join!(member.client.systems(), member.client.partitions())?;
        let nothing = || Error::State {
            object: "NovaLink".to_owned(),
            host: member.name.clone(),
            state: "it manages no server".to_owned(),
        };
        let system = systems.into_iter().next().ok_or_else(nothing)?;
        let role = self.site.mark.name(&desired.role);
        let is_company = |partition: &&crate::client::LogicalPartition| {
            partition.name.starts_with(&format!("{role}-")) && self.site.mark.is_on(&partition.id)
        };
        Ok(Candidate { member, system, company: partitions.iter().filter(is_company).count() })
    }

    /// Where the disk of a machine is on a server.
    pub(super) async fn disk_place(&self, desired: &Partition, member: &Member) -> Result<DiskPlace, Error> {
        match &desired.storage {
            Some(Storage::SharedStoragePool(pool)) => {
                self.require_image(desired, member).await?;
                Ok(DiskPlace::Pool { pool: pool.name.clone(), tier: pool.tier.clone() })
            }
            Some(Storage::VolumeGroup(group)) => {
                for vios in member.client.vioses(&[]).await? {
                    let groups = member.client.volume_groups(&vios.partition.id).await?;
                    if groups.iter().any(|known| known.name == group.name) {
                        return Ok(DiskPlace::VolumeGroup { vios: vios.partition.name, group: group.name.clone() });
                    }
                }
                let what = format!("volume group {}", group.name);
                Err(Error::Lacks { host: member.name.clone(), what, field: "platform.powervm.storage" })
            }
            None => {
                let what = "place for its disk".to_owned();
                Err(Error::Lacks { host: member.name.clone(), what, field: "platform.powervm.storage" })
            }
        }
    }

    /// An image that a pool lacks is not made here: that of the cluster has a step of its own, others are the user's.
    async fn require_image(&self, desired: &Partition, member: &Member) -> Result<(), Error> {
        let Some(Storage::SharedStoragePool(pool)) = &desired.storage else { return Ok(()) };
        let units = crate::steps::pool_units(&member.client, pool.name.as_deref()).await?;
        if units.iter().any(|(_, unit)| unit.name == desired.image) {
            return Ok(());
        }
        let what = format!("image {} in its shared storage pool", desired.image);
        Err(Error::Lacks { host: member.name.clone(), what, field: "platform.powervm.image" })
    }

    /// The file of the image, for disks that are written one by one.
    pub(super) async fn image_file(&self, desired: &Partition, progress: Progress<'_>) -> Result<PathBuf, Error> {
        match &desired.storage {
            Some(Storage::VolumeGroup(_)) => Ok(self.images.get(&desired.image, progress).await?),
            Some(Storage::SharedStoragePool(_)) | None => Ok(PathBuf::new()),
        }
    }
}

/// What a server lacks for a machine, if anything.
fn lack(desired: &Partition, system: &ManagedSystem) -> Option<String> {
    if system.free_memory_mib < desired.memory_mib {
        Some(format!("{} MiB of memory free, and {} are needed", system.free_memory_mib, desired.memory_mib))
    } else if system.free_processors < desired.processing_units {
        let (free, needed) = (system.free_processors, desired.processing_units);
        Some(format!("{free:.2} processing units free, and {needed:.2} are needed"))
    } else {
        None
    }
}
