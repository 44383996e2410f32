//! The rules that types alone cannot express, one file per section.

mod access;
mod dns;
mod domain;
mod machine_pools;
mod networking;
mod ovirt;
mod ovirt_pools;
mod packet;
mod pki;
mod powervm;
mod powervs;
mod proxy;
mod software;
mod sources;
mod trust;
mod virtual_ips;

use crate::{InstallConfig, Notice, Problem, report::Report, schema_walk};

impl InstallConfig {
    /// Judges a configuration whose defaults are filled in: the problems (the first hundred, if there are more), and what
    /// the user should know.
    pub fn validate(&self) -> (Vec<Problem>, Vec<Notice>) {
        let mut tree = serde_json::to_value(self).expect("the types have only text keys, so JSON can hold them");
        let mut report = Report::default();
        schema_walk::walk(&mut tree, &mut report);
        self.judge(&mut report);
        let (problems, _, notices) = report.into_parts();
        (problems, notices)
    }

    /// The part of [`InstallConfig::validate`] that is not in the schema.
    pub(crate) fn judge(&self, report: &mut Report) {
        domain::check(self, report);
        software::check(self, report);
        access::check(self, report);
        networking::check(self, report);
        machine_pools::check(self, report);
        virtual_ips::check(self, report);
        ovirt::check(self, report);
        ovirt_pools::check(self, report);
        packet::check(self, report);
        powervm::check(self, report);
        powervs::check(self, report);
        dns::check(self, report);
        proxy::check(self, report);
        trust::check(self, report);
        sources::check(self, report);
        pki::check(self, report);
    }
}
