//! What a certificate request asks for.

use std::net::IpAddr;

use x509_parser::{
    certification_request::X509CertificationRequest,
    extensions::{GeneralName, ParsedExtension},
    pem::parse_x509_pem,
    prelude::FromDer as _,
};

/// What a certificate request asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// The common name: `system:node:<name>`.
    pub common_name: String,
    /// The organisations, which are groups to Kubernetes.
    pub organizations: Vec<String>,
    /// Names to serve.
    pub names: Vec<String>,
    /// Addresses to serve.
    pub addresses: Vec<IpAddr>,
}

impl Asked {
    /// Reads a request in PEM form; none if it is not one, asks for things that kubelets never ask for, or is not signed by its key.
    pub fn read(pem: &[u8]) -> Option<Self> {
        let (_, pem) = parse_x509_pem(pem).ok()?;
        let (_, request) = X509CertificationRequest::from_der(&pem.contents).ok()?;
        let subject = &request.certification_request_info.subject;
        let mut names = subject.iter_common_name();
        let mut asked = Self {
            common_name: names.next()?.as_str().ok()?.to_owned(),
            organizations: subject
                .iter_organization()
                .map(|organization| organization.as_str().map(str::to_owned))
                .collect::<Result<_, _>>()
                .ok()?,
            ..Self::default()
        };
        if names.next().is_some() {
            return None;
        }
        for extension in request.requested_extensions().into_iter().flatten() {
            let ParsedExtension::SubjectAlternativeName(alternatives) = extension else { continue };
            for name in &alternatives.general_names {
                match name {
                    GeneralName::DNSName(name) => asked.names.push((*name).to_owned()),
                    GeneralName::IPAddress(bytes) => asked.addresses.push(address(bytes)?),
                    _ => return None,
                }
            }
        }
        Some(asked)
    }
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    <[u8; 4]>::try_from(bytes).map(IpAddr::from).or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()
}
