//! The pointer configs as Secrets, from which the machine controller boots further machines.

use landfall_config::Role;

use super::{Manifest, credentials::secret, machine_namespace};
use crate::{Cluster, Error, Secrets, ignition::pointer_config};

/// Name of the Secret for a role, which machine objects refer to.
pub(super) fn secret_name(role: Role) -> String {
    format!("{}-user-data", role.name())
}

/// One Secret for each role.
pub(crate) fn user_data_secrets(cluster: &Cluster<'_>, secrets: &Secrets) -> Result<Vec<Manifest>, Error> {
    [Role::Master, Role::Worker]
        .into_iter()
        .map(|role| {
            let pointer = pointer_config(cluster, secrets, role)?;
            let pointer = String::from_utf8(pointer).expect("JSON is text");
            let data = [("disableTemplating", "true"), ("userData", pointer.as_str())];
            let object = secret(&secret_name(role), machine_namespace(cluster.config.distribution), data);
            Ok(Manifest::private(format!("21-user-data-{}.yaml", role.name()), vec![object]))
        })
        .collect()
}
