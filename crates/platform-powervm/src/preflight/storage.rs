//! Whether the servers have the storage that the install-config names, and whether there is room in it.

use futures::future::join_all;
use landfall_config::{
    MachinePool,
    powervm::{Image, SharedStoragePool, Storage},
};
use landfall_platform::Finding;

use super::{Server, Subject, unanswered};
use crate::{Error, client::SharedStoragePool as Pool, steps::pool_units};

const CHECK: &str = "storage";

pub(super) async fn check(subject: &Subject<'_>, servers: &[Server<'_>]) -> Vec<Finding> {
    let looks = join_all(servers.iter().map(|server| async move {
        let look = match &subject.platform.storage {
            Storage::SharedStoragePool(pool) => of_pool(subject, server, pool).await,
            Storage::VolumeGroup(group) => of_group(subject, server, &group.name).await,
        };
        look.unwrap_or_else(|error| vec![unanswered(CHECK, &error)])
    }));
    looks.await.into_iter().flatten().collect()
}

async fn of_pool(
    subject: &Subject<'_>,
    server: &Server<'_>,
    wanted: &SharedStoragePool,
) -> Result<Vec<Finding>, Error> {
    let (host, client) = (&server.member.name, &server.member.client);
    let pools = client.pools().await?;
    let named = wanted.name.as_deref();
    let found: Vec<_> = pools.iter().filter(|pool| named.is_none_or(|name| pool.name == name)).collect();
    let known = || pools.iter().map(|pool| pool.name.as_str()).collect::<Vec<_>>().join(", ");
    let pool = match (found.as_slice(), named) {
        ([only], _) => *only,
        ([], Some(name)) => {
            let message = format!("{host} has no shared storage pool {name}");
            let problem = Finding::problem(CHECK, message, format!("it has: {}", known()));
            return Ok(vec![problem.blame("platform.powervm.storage.sharedStoragePool.name")]);
        }
        ([], None) => {
            let message = format!("{host} has no shared storage pool");
            let problem = Finding::problem(CHECK, message, "use platform.powervm.storage.volumeGroup");
            return Ok(vec![problem.blame("platform.powervm.storage")]);
        }
        _ => {
            let message = format!("{host} has several shared storage pools: {}", known());
            let problem = Finding::problem(CHECK, message, "name one of them");
            return Ok(vec![problem.blame("platform.powervm.storage.sharedStoragePool.name")]);
        }
    };
    let mut findings = vec![pool_space(subject, host, pool)];
    if let Some(tier) = &wanted.tier {
        let tiers = client.tiers(&pool.id).await?;
        if !tiers.iter().any(|known| known.name == *tier) {
            let known: Vec<&str> = tiers.iter().map(|tier| tier.name.as_str()).collect();
            let message = format!("pool {} has no tier {tier}", pool.name);
            let problem = Finding::problem(CHECK, message, format!("it has: {}", known.join(", ")));
            findings.push(problem.blame("platform.powervm.storage.sharedStoragePool.tier"));
        }
    }
    if let Image::LogicalUnit(name) = &subject.platform.image {
        let units = pool_units(client, Some(&pool.name)).await?;
        if !units.iter().any(|(_, unit)| unit.name == *name && unit.kind == "VirtualIO_Image") {
            let images = units.iter().filter(|(_, unit)| unit.kind == "VirtualIO_Image");
            let images: Vec<&str> = images.map(|(_, unit)| unit.name.as_str()).collect();
            let hint =
                if images.is_empty() { "it has none".to_owned() } else { format!("it has: {}", images.join(", ")) };
            let problem = Finding::problem("image", format!("pool {} has no image {name}", pool.name), hint);
            findings.push(problem.blame("platform.powervm.image.logicalUnit"));
        }
    }
    Ok(findings)
}

/// Disks in a pool take what is written to them, so they may be promised more than there is; an image takes all of it at once.
fn pool_space(subject: &Subject<'_>, host: &str, pool: &Pool) -> Finding {
    let config = subject.config;
    let disk = |pool: &MachinePool| f64::from(config.powervm_pool(pool).disk_gib);
    // One more for the bootstrap machine.
    let masters = f64::from(config.control_plane.replicas + 1) * disk(&config.control_plane);
    let workers: f64 = config.compute.iter().map(|pool| f64::from(pool.replicas) * disk(pool)).sum();
    let image = own_image_gib(&subject.platform.image).unwrap_or_default();
    let full = masters + workers + image;
    let message =
        format!("{host}: pool {}, {:.0} GiB free, {full:.0} GiB if all disks fill up", pool.name, pool.free_gib);
    if image > pool.free_gib {
        let message =
            format!("{host}: pool {}, {:.0} GiB free, {image:.0} GiB for the image", pool.name, pool.free_gib);
        Finding::problem(CHECK, message, "free something, or use another pool").blame("platform.powervm.storage")
    } else if full > pool.free_gib {
        Finding::notice(CHECK, message, "the pool must grow before the disks do")
    } else {
        Finding::ok(CHECK, message)
    }
}

/// The size of the cluster's own image, if it is a file here that is uploaded as it is.
fn own_image_gib(image: &Image) -> Option<f64> {
    const GIB: u64 = 1 << 30;
    let Image::Disk(source) = image else { return None };
    let bytes = std::fs::metadata(source).ok()?.len();
    u32::try_from(bytes.div_ceil(GIB)).ok().map(f64::from)
}

async fn of_group(subject: &Subject<'_>, server: &Server<'_>, name: &str) -> Result<Vec<Finding>, Error> {
    let (host, client) = (&server.member.name, &server.member.client);
    let mut known = Vec::new();
    for vios in client.vioses(&[]).await? {
        for group in client.volume_groups(&vios.partition.id).await? {
            if group.name == name {
                return Ok(vec![space(subject, host, &vios.partition.name, group.free_gib, name)]);
            }
            known.push(format!("{} of {}", group.name, vios.partition.name));
        }
    }
    let problem =
        Finding::problem(CHECK, format!("{host} has no volume group {name}"), format!("it has: {}", known.join(", ")));
    Ok(vec![problem.blame("platform.powervm.storage.volumeGroup.name")])
}

/// Disks in volume groups take all their space at once.
fn space(subject: &Subject<'_>, host: &str, vios: &str, free_gib: f64, group: &str) -> Finding {
    let config = subject.config;
    let pool = config.powervm_pool(&config.control_plane);
    let masters = 1 + config.control_plane.replicas as usize;
    let here =
        (0..masters).filter(|number| pool.hosts.get(number % pool.hosts.len().max(1)).is_some_and(|own| own == host));
    let needed = f64::from(pool.disk_gib) * here.fold(0.0, |count, _| count + 1.0);
    let message =
        format!("{host}: {group} of {vios}, {free_gib:.0} GiB free, {needed:.0} GiB for masters and bootstrap");
    if needed > free_gib {
        let problem = Finding::problem(CHECK, message, "use smaller disks (diskGiB) or a larger volume group");
        problem.blame("platform.powervm.storage.volumeGroup.name")
    } else {
        Finding::ok(CHECK, message)
    }
}
