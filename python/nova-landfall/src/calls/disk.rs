//! Where disks and images are.

use landfall_platform_powervm::client::VolumeGroup;
use landfall_platform_powervm::compute::{Host, Vios};
use serde_json::{Value, json};

use crate::connection::Session;
use crate::failure::Failure;

/// Which VIOS has a volume group. The first, if several have one of that name.
pub(crate) async fn find_volume_group(session: &Session, name: &str) -> Result<Value, Failure> {
    let (vios, _) = volume_group(&*session.host().await?, name).await?;
    Ok(json!(vios.name))
}

/// A volume group, and the VIOS that has it.
pub(super) async fn volume_group(host: &Host, name: &str) -> Result<(Vios, VolumeGroup), Failure> {
    for vios in host.vioses().await? {
        let groups = host.client().volume_groups(&vios.id).await?;
        if let Some(group) = groups.into_iter().find(|group| group.name == name) {
            return Ok((vios, group));
        }
    }
    Err(Failure::missing(format!("no VIOS of {} that runs has a volume group {name}", host.name())))
}

/// Whether some tier of a pool has an image that is complete. Somebody may delete it meanwhile, if nothing is made from it.
pub(crate) async fn has_image(session: &Session, name: &str) -> Result<Value, Failure> {
    let host = session.host().await?;
    let client = host.client();
    for pool in client.pools().await? {
        for tier in client.tiers(&pool.id).await? {
            let units = client.logical_units(&tier.id).await?;
            let is_there = units.iter().any(|unit| unit.name == name);
            // Who uploads it has a unit whose name ends with the image's.
            let in_the_making = units.iter().any(|unit| unit.name.starts_with("part") && unit.name.ends_with(name));
            if is_there && !in_the_making {
                return Ok(json!(true));
            }
        }
    }
    Ok(json!(false))
}
