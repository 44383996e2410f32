//! Making a partition over disks that exist: those of one that is off on another server of the same pool.

use std::sync::Arc;

use super::{
    Blueprint, Error, Host, OperationError, Run,
    disk::DiskSpec,
    operation::{Kind, Operation},
    spawn,
    steps::{Binder, Desired, Kept, Object},
};

/// Makes a partition over its disks in a shared storage pool, which are there and stay if this fails or is undone. Those that are
/// smaller than the blueprint says grow, and stay as large.
///
/// The partition that has them on another server must be off, and goes by
/// [`confirm_migration`](super::confirm_migration) there.
pub async fn adopt(host: &Arc<Host>, blueprint: &Blueprint, run: &Run) -> Result<(), OperationError> {
    let partition = &blueprint.partition;
    let what = format!("partition {}", partition.name);
    let refused = |source: Error| OperationError::Refused { what: what.clone(), source };
    let mut steps = spawn::steps(host.name(), blueprint, "");
    for (number, disk) in blueprint.disks.iter().enumerate() {
        let (id, name) = (partition.id.clone(), partition.name.clone());
        let spec = DiskSpec { partition: id, partition_name: name, number, disk: disk.clone(), seen: None };
        let device = spec.device(host).await.map_err(refused)?;
        let object = Object::Kept(Kept { device, disk: Some(spec) });
        let desired = serde_json::to_value(Desired { host: host.name().to_owned(), object }).unwrap_or_default();
        let own = steps.iter_mut().find(|step| step.id.as_str() == format!("disk/{}", disk.name));
        if let Some(step) = own {
            step.desired = desired;
        }
    }
    let mut binder = Binder::new([Arc::clone(host)]);
    if let Some(drive) = &blueprint.config_drive {
        binder = binder.with_drive(&partition.id, drive);
    }
    let operation = Operation { kind: Kind::Adoption, what: what.clone(), partition: &partition.id, run };
    operation.apply(steps, &binder).await.map(drop)
}
