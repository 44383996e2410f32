//! The engine itself: does it answer, is it new enough, does it let the user in, is the cluster there.

use landfall_platform::{ErrorClass, Finding};

use super::{Place, Subject, unanswered};
use crate::Error;

/// Older engines lack what is used here: Ignition for `rhcos_x64`, and `follow`.
const OLDEST: (u64, u64) = (4, 3);

/// The place for the machines, if all went well.
pub(super) async fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) -> Option<Place> {
    match subject.client.product().await {
        Ok(product) if product.version >= OLDEST => findings.push(Finding::ok("engine", product.to_string())),
        Ok(product) => {
            findings.push(Finding::problem("engine", format!("{product} is too old"), "4.3 or later is needed"));
            return None;
        }
        Err(error) => {
            let hint = advice(&error);
            findings.push(Finding::problem("engine", error.chain(), hint));
            return None;
        }
    }
    let id = subject.platform.ovirt_cluster_id.to_string();
    match subject.client.cluster(&id).await {
        Ok(Some((cluster, data_center))) if data_center.status == "up" => {
            let message = format!("{} in data centre {}", cluster.name, data_center.name);
            findings.push(Finding::ok("cluster", message));
            if data_center.quota_mode == "enabled" {
                let message = format!("data centre {} enforces quotas", data_center.name);
                let hint = "machines are made without naming one, so the default quota must have room for all of them";
                findings.push(Finding::notice("quota", message, hint));
            }
            Some(Place { cluster, data_center })
        }
        Ok(Some((_, data_center))) => {
            let message = format!("data centre {} is {}", data_center.name, data_center.status);
            findings.push(Finding::problem("cluster", message, "activate its storage domains and hosts"));
            None
        }
        Ok(None) => {
            let message = format!("there is no cluster with id {id} that the user can see");
            let hint = "check ovirt_cluster_id, and the user's permissions on the cluster";
            findings.push(Finding::problem("cluster", message, hint).blame("platform.ovirt.ovirt_cluster_id"));
            None
        }
        Err(error) => {
            findings.push(unanswered("cluster", &error));
            None
        }
    }
}

fn advice(error: &Error) -> &'static str {
    match error {
        error if error.is_untrusted() => {
            "the engine's CA is not the one in the credentials file; fetch it again with 'landfall create install-config'"
        }
        Error::Login { .. } => "check user (with its profile: admin@internal) and password in the credentials file",
        error if error.class() == ErrorClass::Transient => "check that the engine runs and can be reached from here",
        _ => "check the engine's address in the credentials file",
    }
}
