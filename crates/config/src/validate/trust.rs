//! The additional trust bundle.

use x509_parser::{pem::Pem, prelude::FromDer, prelude::X509Certificate};

use super::Report;
use crate::{InstallConfig, Problem};

const PATH: &str = "additionalTrustBundle";

pub(super) fn check(config: &InstallConfig, report: &mut Report) {
    let Some(bundle) = &config.additional_trust_bundle else { return };
    if bundle.contains("PRIVATE KEY-----") {
        report.problem(
            Problem::new(PATH, "holds a private key, which has no place here")
                .suggest("write only the CERTIFICATE blocks"),
        );
        return;
    }
    let mut number = 0;
    for block in Pem::iter_from_buffer(bundle.as_bytes()) {
        number += 1;
        match block {
            Err(error) => {
                report.problem(Problem::new(PATH, format!("has a damaged PEM block, number {number}: {error}")));
                return;
            }
            Ok(pem) if pem.label != "CERTIFICATE" => report.problem(Problem::new(
                PATH,
                format!("must hold only certificates, and block {number} is a {}", pem.label),
            )),
            Ok(pem) => certificate(&pem.contents, number, report),
        }
    }
    if number == 0 {
        report.problem(
            Problem::new(PATH, "holds no certificate")
                .suggest("write PEM blocks, from -----BEGIN CERTIFICATE----- to -----END CERTIFICATE-----"),
        );
    }
}

fn certificate(der: &[u8], number: usize, report: &mut Report) {
    match X509Certificate::from_der(der) {
        Err(_) => report.problem(Problem::new(PATH, format!("must hold certificates, and block {number} is damaged"))),
        Ok((rest, _)) if !rest.is_empty() => {
            report.problem(Problem::new(
                PATH,
                format!("must hold certificates, and block {number} has more than one in it"),
            ));
        }
        Ok((_, certificate)) if !certificate.is_ca() => report.notice(
            PATH,
            format!(
                "certificate {number} ({}) is not that of an authority: only itself will be trusted",
                certificate.subject()
            ),
        ),
        Ok(_) => {}
    }
}
