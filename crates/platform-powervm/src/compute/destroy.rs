//! Removing a partition with all that was made for it, also if nobody knows any more how it was made.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::try_join_all;
use landfall_platform::{Discover, StepError, StepId, StepSpec};

use super::{
    Backing, Disk, DiskPlace, Error, Host, Image, Memory, OperatingSystem, OperationError, PartitionId, PartitionSpec,
    Processors, Run, Shape, Start,
    config_drive::{MediumSpec, Seen},
    disk::{DiskSpec, Pool, image_of, is_copy, left_images, units_of, virtual_disk_suffix},
    former,
    mapping::shown,
    network,
    operation::{Kind, Operation},
    steps::{Binder, Desired, Mappings, Object, Running},
    volume,
};
use crate::client::{LogicalPartition, LogicalUnit, Storage};

const TIMEOUT: Duration = Duration::from_mins(20);

/// Removes a partition with the disks, media and adapters that were made for it. Volumes are only detached. That it does not exist is
/// as good.
pub async fn destroy(host: &Arc<Host>, id: &PartitionId, run: &Run) -> Result<(), OperationError> {
    let binder = Binder::new([Arc::clone(host)]);
    let belongings = Belongings { host: Arc::clone(host), partition: id.clone() };
    let operation = Operation { kind: Kind::Making, what: format!("partition {id}"), partition: id, run };
    operation.remove(&binder, &belongings).await
}

/// What belongs to a partition, as steps that can remove it. Their ids begin with `prefix`.
pub async fn belongings(host: &Arc<Host>, id: &PartitionId, prefix: &str) -> Result<Vec<StepSpec>, Error> {
    Survey { host, partition: id, prefix }.steps().await
}

struct Belongings {
    host: Arc<Host>,
    partition: PartitionId,
}

#[async_trait]
impl Discover for Belongings {
    async fn discover(&self) -> Result<Vec<StepSpec>, StepError> {
        Ok(belongings(&self.host, &self.partition, "").await?)
    }
}

struct Survey<'a> {
    host: &'a Arc<Host>,
    partition: &'a PartitionId,
    prefix: &'a str,
}

impl Survey<'_> {
    /// The partition goes last, so while it is not there nothing else is. Ids and order are those of the plan that makes it.
    async fn steps(&self) -> Result<Vec<StepSpec>, Error> {
        let Some(entry) = self.host.partition(self.partition).await? else { return Ok(Vec::new()) };
        let partition = LogicalPartition::read(&entry);
        let mut steps = vec![self.itself(&partition)];
        // It also tells which VIOSes there are.
        let vioses = self.host.read_mappings().await?;
        let (disks, shown) = (volume::all_shown(&vioses, self.partition), shown(&vioses, self.partition));
        let (nics, mut storage) = tokio::try_join!(self.nics(&partition), self.storage(&partition, &shown))?;
        let mut running_needs = vec![self.id("partition"), self.id("mappings")];
        if let Some(nics) = nics {
            running_needs.push(nics.id.clone());
            steps.push(nics);
        }
        let mut needs = vec![self.id("partition")];
        needs.extend(storage.iter().map(|step| step.id.clone()));
        steps.append(&mut storage);
        let mappings = Mappings {
            partition: self.partition.clone(),
            scrub: None,
            sources: Vec::new(),
            fibre_ports: Vec::new(),
            disks,
        };
        steps.push(self.step("mappings", "mappings", "mappings", &partition, needs, Object::Mappings(mappings)));
        if partition.state != "not activated" {
            let running = Running { partition: self.partition.clone(), start: Start::default(), seen: true };
            steps.push(self.step("running", "power", "power", &partition, running_needs, Object::Running(running)));
        }
        Ok(steps)
    }

    /// Only its id and its name matter for its removal.
    fn itself(&self, partition: &LogicalPartition) -> StepSpec {
        let spec = PartitionSpec {
            id: self.partition.clone(),
            name: partition.name.clone(),
            mark: None,
            shape: Shape {
                memory: Memory::fixed(partition.memory_mib),
                processors: Processors::shared(partition.processors, partition.processing_units),
                compatibility_mode: None,
                availability_priority: None,
                remote_restart: None,
            },
            system: if partition.kind == "OS400" { OperatingSystem::IbmI } else { OperatingSystem::AixLinux },
        };
        self.step("partition", "partition", "", partition, Vec::new(), Object::Partition(Box::new(spec)))
    }

    async fn nics(&self, partition: &LogicalPartition) -> Result<Option<StepSpec>, Error> {
        let spec = network::found(self.host, self.partition).await?;
        if spec.nics.is_empty() {
            return Ok(None);
        }
        let object = Object::Nics(spec);
        let needs = vec![self.id("partition")];
        Ok(Some(self.step("network-adapters", "network-adapters", "network adapters", partition, needs, object)))
    }

    /// Disks and media, by their names: they may not be mapped yet, or any more.
    async fn storage(&self, partition: &LogicalPartition, shown: &[Backing]) -> Result<Vec<StepSpec>, Error> {
        let suffix = virtual_disk_suffix(self.partition);
        let (name, mut places) = (MediumSpec::of(self.partition).name(), Vec::new());
        let is_disk = |vios: &str, name: &str| {
            let backing = |shown: &Backing| {
                shown.vios.eq_ignore_ascii_case(vios) && shown.storage == Storage::VirtualDisk(name.to_owned())
            };
            name.ends_with(&suffix)
                || former::is_virtual_disk(name, &partition.name, self.partition) && shown.iter().any(backing)
        };
        let vioses = self.host.vioses().await?;
        let groups = try_join_all(
            vioses.iter().map(|vios| async move { Ok::<_, Error>((vios, self.host.volume_groups(&vios.id).await?)) }),
        );
        // Who was cut off while it was uploaded has left a note of that, and perhaps nothing else.
        let (mut steps, groups, noted) =
            tokio::try_join!(self.units(partition, shown), groups, self.host.has_uploads(&name))?;
        for (vios, groups) in groups {
            for group in groups {
                let media = group.media.iter().flatten().map(|found| found.name.clone());
                let own = media.filter(|found| *found == name || former::is_medium(found, self.partition));
                places.extend(own.map(|medium| Seen { vios: vios.id.clone(), group: group.id.clone(), medium }));
                for disk in group.disks.iter().filter(|disk| is_disk(&vios.id, &disk.name)) {
                    let number = disk.name.get(1..3).and_then(|digits| digits.parse().ok()).unwrap_or_default();
                    let place = DiskPlace::VolumeGroup { vios: vios.name.clone(), group: group.name.clone() };
                    let seen = disk.name.as_str();
                    let disk = Disk { name: disk.name.clone(), gib: disk.capacity_gib, place, image: None };
                    steps.push(self.disk(partition, number, disk, Some(seen)));
                }
            }
        }
        // With a note of an upload it has to be looked for wherever it may be.
        let anywhere = noted.then_some(None);
        for (number, seen) in anywhere.into_iter().chain(places.into_iter().map(Some)).enumerate() {
            let id = if number == 0 { "config-drive".to_owned() } else { format!("config-drive/{number}") };
            let object = Object::ConfigDrive(MediumSpec { partition: self.partition.clone(), seen });
            steps.push(self.step(&id, "config-drive", "config drive", partition, vec![self.id("partition")], object));
        }
        Ok(steps)
    }

    async fn units(&self, partition: &LogicalPartition, shown: &[Backing]) -> Result<Vec<StepSpec>, Error> {
        let suffix = units_of(self.partition, &partition.name);
        let mut steps = Vec::new();
        for pool in Pool::all(self.host).await? {
            let (units, place) = (pool.units(self.host).await?, pool.place());
            // Images are not uploaded again, so nobody needs their files.
            let copy = |name: &str| Image { name: name.to_owned(), file: PathBuf::new() };
            let is_shown = |unit: &LogicalUnit| {
                shown.iter().any(|shown| shown.storage == Storage::LogicalUnit(unit.device.clone()))
            };
            let disks = units.iter().filter_map(|unit| {
                let former = || Some("boot").filter(|_| former::is_unit(&unit.name, &partition.name) && is_shown(unit));
                // The partition may have been renamed since, or be renamed in this moment. The digits are those of its id.
                let digits = suffix.rsplit_once('_').map_or("", |(_, digits)| digits);
                let renamed = || {
                    let (rest, own) = unit.name.rsplit_once('_')?;
                    Some("boot").filter(|_| own == digits && digits.len() == 8 && rest.starts_with("boot_"))
                };
                Some((unit, unit.name.strip_suffix(&suffix).or_else(former).or_else(renamed)?))
            });
            let disks: Vec<_> = disks.collect();
            for (unit, name) in &disks {
                // A copy that nobody else uses goes with it.
                let image = image_of(unit, &units).map(|image| image.name.as_str()).filter(|name| is_copy(name));
                let (name, gib, image) = ((*name).to_owned(), unit.capacity_gib, image.map(copy));
                steps.push(self.disk(partition, 0, Disk { name, gib, place: place.clone(), image }, Some(&unit.id)));
            }
            for name in left_images(self.partition, &units, !disks.is_empty()) {
                // Of a disk that there is no more, or not yet.
                let image = Some(copy(&name));
                steps.push(self.disk(partition, 0, Disk { name, gib: 0.0, place: place.clone(), image }, None));
            }
        }
        Ok(steps)
    }

    fn disk(&self, partition: &LogicalPartition, number: usize, disk: Disk, seen: Option<&str>) -> StepSpec {
        let (id, title) = (format!("disk/{}", disk.name), format!("disk {}", disk.name));
        let spec = DiskSpec {
            partition: self.partition.clone(),
            partition_name: partition.name.clone(),
            number,
            disk,
            seen: seen.map(str::to_owned),
        };
        self.step(&id, "disk", &title, partition, vec![self.id("partition")], Object::Disk(spec))
    }

    fn id(&self, name: &str) -> StepId {
        format!("{}{name}", self.prefix).into()
    }

    fn step(
        &self,
        name: &str,
        kind: &str,
        title: &str,
        partition: &LogicalPartition,
        needs: Vec<StepId>,
        object: Object,
    ) -> StepSpec {
        let of = if title.is_empty() { "" } else { " of " };
        let title = format!("{title}{of}partition {}", partition.name);
        Desired { host: self.host.name().to_owned(), object }.step(self.id(name), kind, title, needs, TIMEOUT)
    }
}
