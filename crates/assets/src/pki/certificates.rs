//! The certificates that are issued anew on each run.

use jiff::Timestamp;

use super::{Expiry, certificate_expiry, profile::Purpose};
use crate::{Cluster, Error, Secrets};

/// The group of the admin client.
///
/// `kubeadm init` binds this group to the role `cluster-admin`, as it does for its own `admin.conf` (since 1.29). The older
/// choice, `system:masters`, is built into the API server and goes around authorisation, so a kubeconfig that leaks could be
/// stopped only by a new cluster CA; this one is stopped by removing the binding `kubeadm:cluster-admins`.
const ADMIN_GROUP: &str = "kubeadm:cluster-admins";

/// The certificates that are issued anew on each run, signed by the authorities in [`Secrets`].
#[derive(Debug)]
pub struct Certificates {
    /// Of the config server, for `api-int` and the API's virtual addresses.
    pub config_server: IssuedCertificate,
    /// Of the cluster's administrator, as a client of the API.
    pub admin: IssuedCertificate,
}

/// A certificate and when it ends.
#[derive(Clone, Debug)]
pub struct IssuedCertificate {
    /// The certificate in PEM.
    pub pem: String,
    /// When it ends.
    pub expiry: Expiry,
}

impl Certificates {
    /// Issues all certificates, valid from `now` for as long as the install-config says.
    pub fn issue(cluster: &Cluster<'_>, secrets: &Secrets, now: Timestamp) -> Result<Self, Error> {
        let days = cluster.config.pki.certificate_validity_days;
        let issue = |common_name, purpose, key| {
            let pem = secrets.cluster_ca().sign(common_name, &purpose, key, now, days)?;
            let expiry = certificate_expiry(pem.as_bytes())?;
            Ok(IssuedCertificate { pem, expiry })
        };
        let served =
            Purpose::Server { names: vec![cluster.api_int_name()], addresses: cluster.config.api_vips().to_vec() };
        Ok(Self {
            config_server: issue("landfall-config-server", served, secrets.config_server_key())?,
            admin: issue("landfall-admin", Purpose::Client { organisation: ADMIN_GROUP }, secrets.admin_key())?,
        })
    }

    /// When each of them ends.
    pub fn expiries(&self) -> Vec<&Expiry> {
        vec![&self.config_server.expiry, &self.admin.expiry]
    }
}
