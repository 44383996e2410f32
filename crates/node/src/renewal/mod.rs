//! Renewing the certificates of the control plane on a master, before they end.
//!
//! kubeadm issues them for a year and renews them only with an upgrade. Kubelets renew their own. The masters renew one after
//! the other, each in hours of its own, because the programs of a control plane must be restarted to take their new
//! certificates.

mod config_server;
mod copy;
mod due;
mod restart;
mod run;

pub use due::{CertificateFile, certificate_files, is_due};
pub use run::run;
