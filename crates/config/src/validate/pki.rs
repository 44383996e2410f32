//! Lifetimes: of certificates, and of the phases of an installation.

use std::time::Duration;

use crate::{InstallConfig, Problem, Span, report::Report};

/// Nobody waits longer, and clocks can be added to it without overflow.
const MAX_TIMEOUT: Duration = Duration::from_hours(168);

pub(super) fn check(config: &InstallConfig, report: &mut Report) {
    let pki = &config.pki;
    if pki.certificate_validity_days > pki.ca_validity_days {
        report.problem(
            Problem::new(
                "pki.certificateValidityDays",
                format!("must not be more than pki.caValidityDays, which is {}", pki.ca_validity_days),
            )
            .value(pki.certificate_validity_days)
            .suggest("a certificate is worth nothing once the authority that signed it has expired"),
        );
    }
    let timeouts = &config.timeouts;
    for (name, span) in [
        ("image", timeouts.image),
        ("machine", timeouts.machine),
        ("dns", timeouts.dns),
        ("api", timeouts.api),
        ("bootstrap", timeouts.bootstrap),
        ("install", timeouts.install),
        ("destroy", timeouts.destroy),
    ] {
        timeout(&format!("timeouts.{name}"), span, report);
    }
}

fn timeout(path: &str, span: Span, report: &mut Report) {
    if span.duration().is_zero() {
        report.problem(Problem::new(path, "must be longer than nothing").value(span));
    } else if span.duration() > MAX_TIMEOUT {
        report.problem(Problem::new(path, "must be at most 168h, which is a week").value(span));
    }
}
