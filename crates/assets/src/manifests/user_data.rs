//! The pointer configs as Secrets, from which the machine controller boots further machines, and the roots from which it makes their credentials.

use landfall_config::Role;
use landfall_machine_api::{IDENTITY_ROLE, IDENTITY_ROOT, IDENTITY_SECRET};

use super::{Manifest, credentials::secret, machine_namespace};
use crate::{Cluster, Error, Secrets, ignition::pointer_config};

/// Name of the Secret for a role, which machine objects refer to.
pub(super) fn secret_name(role: Role) -> String {
    format!("{}-user-data", role.name())
}

/// Two Secrets for each role. The one with the user data opens nothing; it names the one with the root.
pub(crate) fn user_data_secrets(cluster: &Cluster<'_>, secrets: &Secrets) -> Result<Vec<Manifest>, Error> {
    [Role::Master, Role::Worker]
        .into_iter()
        .map(|role| {
            let namespace = machine_namespace(cluster.config.distribution);
            let pointer = pointer_config(cluster, secrets, role)?;
            let pointer = String::from_utf8(pointer).expect("JSON is text");
            let identity_name = format!("{}-identity", role.name());
            let data = [
                ("disableTemplating", "true"),
                ("userData", pointer.as_str()),
                (IDENTITY_SECRET, identity_name.as_str()),
            ];
            let user_data = secret(&secret_name(role), namespace, data);
            let data = [(IDENTITY_ROLE, role.name()), (IDENTITY_ROOT, secrets.machine_root(role).expose())];
            let identity = secret(&identity_name, namespace, data);
            Ok(Manifest::private(format!("21-user-data-{}.yaml", role.name()), vec![user_data, identity]))
        })
        .collect()
}
