//! The rules that types alone cannot express, one file per section.

mod access;
mod dns;
mod domain;
mod machine_pools;
mod networking;
mod ovirt;
mod ovirt_pools;
mod pki;
mod proxy;
mod software;
mod sources;
mod trust;
mod virtual_ips;

use crate::{InstallConfig, Notice, Problem, schema_walk};

impl InstallConfig {
    /// Judges a configuration whose defaults are filled in: all problems, and what the user should know.
    pub fn validate(&self) -> (Vec<Problem>, Vec<Notice>) {
        let mut tree = serde_json::to_value(self).expect("the types have only text keys, so JSON can hold them");
        let mut problems = schema_walk::walk(&mut tree).problems;
        let (judged, notices) = self.judge();
        problems.extend(judged);
        (problems, notices)
    }

    /// The part of [`InstallConfig::validate`] that is not in the schema.
    pub(crate) fn judge(&self) -> (Vec<Problem>, Vec<Notice>) {
        let mut report = Report::default();
        domain::check(self, &mut report);
        software::check(self, &mut report);
        access::check(self, &mut report);
        networking::check(self, &mut report);
        machine_pools::check(self, &mut report);
        virtual_ips::check(self, &mut report);
        ovirt::check(self, &mut report);
        ovirt_pools::check(self, &mut report);
        dns::check(self, &mut report);
        proxy::check(self, &mut report);
        trust::check(self, &mut report);
        sources::check(self, &mut report);
        pki::check(self, &mut report);
        (report.problems, report.notices)
    }
}

/// What the rules have found so far.
#[derive(Default)]
struct Report {
    problems: Vec<Problem>,
    notices: Vec<Notice>,
}

impl Report {
    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    fn notice(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.notices.push(Notice::new(path, message));
    }
}
