//! The storage domain: is it there, is it usable, is there room.

use landfall_platform::Finding;

use super::{Place, Subject, unanswered};
use crate::StorageDomain;

const CHECK: &str = "storage domain";
const FIELD: &str = "platform.ovirt.ovirt_storage_domain_id";
const GIB: u64 = 1 << 30;

pub(super) async fn check(subject: &Subject<'_>, place: &Place) -> Vec<Finding> {
    let id = subject.platform.ovirt_storage_domain_id.to_string();
    let domain = match subject.client.storage_domain(&place.data_center.id, &id).await {
        Ok(Some(domain)) => domain,
        Ok(None) => {
            let message = format!("data centre {} has no storage domain with id {id}", place.data_center.name);
            let hint = "check ovirt_storage_domain_id; the domain must be attached";
            return vec![Finding::problem(CHECK, message, hint).blame(FIELD)];
        }
        Err(error) => return vec![unanswered(CHECK, &error)],
    };
    if domain.kind != "data" {
        let message = format!("{} is for {} and not for disks", domain.name, domain.kind);
        return vec![Finding::problem(CHECK, message, "choose a data domain").blame(FIELD)];
    }
    if domain.status != "active" {
        let message = format!("{} is {}", domain.name, domain.status);
        return vec![Finding::problem(CHECK, message, "activate it in the data centre")];
    }
    vec![room(subject, &domain)]
}

fn room(subject: &Subject<'_>, domain: &StorageDomain) -> Finding {
    let Some(available) = domain.available else {
        return Finding::ok(CHECK, format!("{}, of unknown free space", domain.name));
    };
    let (mut at_once, mut at_most) = (0, 0);
    for (pool, role) in subject.pools() {
        let settings = subject.config.ovirt_pool(pool, role);
        let bytes = u64::from(pool.replicas) * u64::from(settings.os_disk_gib) * GIB;
        at_most += bytes;
        // A disk that does not take up its space in advance grows with what is written to it.
        if settings.sparse == Some(false) {
            at_once += bytes;
        }
    }
    let (name, free) = (&domain.name, available / GIB);
    if at_once > available {
        let message = format!("{name} has {free} GiB free, and the disks take {} GiB at once", at_once.div_ceil(GIB));
        return Finding::problem(CHECK, message, "choose another domain, smaller disks, or sparse: true");
    }
    if at_most > available {
        let message = format!("{name} has {free} GiB free, and the disks can grow to {} GiB", at_most.div_ceil(GIB));
        return Finding::notice(CHECK, message, "machines stop when their storage domain is full");
    }
    Finding::ok(CHECK, format!("{name}, {free} GiB free, {} GiB needed at most", at_most.div_ceil(GIB)))
}
