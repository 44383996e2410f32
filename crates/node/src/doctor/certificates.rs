//! Certificates and their ends.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use landfall_assets::{Expiry, certificate_expiry};
use landfall_platform::Finding;

use crate::{
    machine::Machine,
    renewal::{CertificateFile, certificate_files, is_due},
};

const DAY: i64 = 86_400;

pub(super) fn valid(machine: &Machine) -> Vec<Finding> {
    let mut files = certificate_files(Path::new("/etc/kubernetes"));
    let others = machine.facts.config_server.iter().map(|server| PathBuf::from(&server.certificate));
    let kubelet = ["kubelet-client-current.pem", "kubelet-server-current.pem"]
        .map(|name| Path::new("/var/lib/kubelet/pki").join(name));
    files.extend(others.chain(kubelet).filter(|path| path.exists()).map(|path| {
        let read = std::fs::read(&path).map_err(|error| error.to_string());
        let expiry = read.and_then(|pem| certificate_expiry(&pem).map_err(|error| error.to_string()));
        CertificateFile { path, expiry }
    }));
    judge(&files, Timestamp::now())
}

fn judge(files: &[CertificateFile], now: Timestamp) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut soonest: Option<&Expiry> = None;
    for file in files {
        let path = file.path.display();
        match &file.expiry {
            Err(reason) => findings.push(Finding::problem(
                "certificate",
                format!("{path} cannot be read: {reason}"),
                "on a master, kubeadm certs renew all writes it anew",
            )),
            Ok(expiry) if expiry.not_after <= now => findings.push(Finding::problem(
                "certificate",
                format!("{path} has ended on {}", expiry.not_after),
                "on a master, kubeadm certs renew all writes it anew; a kubelet that was off for too long must join again",
            )),
            Ok(expiry) if expiry.not_before > now => findings.push(Finding::problem(
                "certificate",
                format!("{path} is valid only from {}", expiry.not_before),
                "is the clock of this machine right?",
            )),
            Ok(expiry) => {
                if is_due(expiry, now) {
                    findings.push(Finding::notice(
                        "certificate",
                        format!("{path} ends on {}", expiry.not_after),
                        "it is renewed in this machine's next hour; if that fails, journalctl -u landfall-certificates",
                    ));
                }
                soonest = soonest.filter(|soonest| soonest.not_after <= expiry.not_after).or(Some(expiry));
            }
        }
    }
    if let (true, Some(soonest)) = (findings.is_empty(), soonest) {
        let days = (soonest.not_after.as_second() - now.as_second()) / DAY;
        findings.push(Finding::ok("certificates", format!("{} files, the first ends in {days} days", files.len())));
    }
    findings
}

#[cfg(test)]
mod tests {
    use landfall_platform::Verdict;

    use super::*;

    fn file(begin: i64, end: i64) -> CertificateFile {
        let at = |day: i64| Timestamp::from_second(day * DAY).unwrap();
        let expiry = Expiry { name: "x".to_owned(), not_before: at(begin), not_after: at(end) };
        CertificateFile { path: "/etc/kubernetes/pki/x.crt".into(), expiry: Ok(expiry) }
    }

    #[test]
    fn what_has_ended_or_not_begun_is_a_problem_and_what_is_due_a_notice() {
        let now = Timestamp::from_second(100 * DAY).unwrap();
        let verdict = |file| judge(&[file], now)[0].verdict;
        assert_eq!(verdict(file(0, 400)), Verdict::Ok);
        assert_eq!(verdict(file(0, 120)), Verdict::Notice);
        assert_eq!(verdict(file(0, 100)), Verdict::Problem);
        assert_eq!(verdict(file(101, 400)), Verdict::Problem);
        assert_eq!(judge(&[file(0, 400), file(0, 500)], now)[0].message, "2 files, the first ends in 300 days");
        assert!(judge(&[], now).is_empty());
    }
}
