//! What kubelets ask of a cluster's authority, as far as a request alone tells. Whether it is for a machine of the cluster is the
//! matter of whoever knows the machines.

use std::net::IpAddr;

use x509_parser::{
    certification_request::X509CertificationRequest,
    extensions::{GeneralName, ParsedExtension},
    pem::parse_x509_pem,
    prelude::FromDer as _,
};

/// The signer of kubelets' client certificates.
pub const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client-kubelet";
/// The signer of kubelets' serving certificates.
pub const SERVING_SIGNER: &str = "kubernetes.io/kubelet-serving";

const BOOTSTRAPPERS: &str = "system:bootstrappers";
const NODES: &str = "system:nodes";
const NODE_PREFIX: &str = "system:node:";

/// A `CertificateSigningRequest`, as the API server has it: who sends it is what the API server itself found out.
#[derive(Clone, Debug)]
pub struct CertificateRequest<'a> {
    /// Who is to sign.
    pub signer: &'a str,
    /// Who asks.
    pub user: &'a str,
    /// The groups of who asks.
    pub groups: Vec<&'a str>,
    /// What the certificate is for.
    pub usages: Vec<&'a str>,
    /// The request itself, in PEM form.
    pub pem: &'a [u8],
}

/// What a kubelet asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubeletRequest {
    /// The node that it speaks of.
    pub node: String,
    /// What it asks for.
    pub wish: Wish,
}

/// What a kubelet asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Its first client certificate, with a token that any machine may have.
    First,
    /// Another client certificate, with the one that it has.
    Renewal,
    /// A serving certificate, with its client certificate.
    Serving {
        /// Names to serve.
        names: Vec<String>,
        /// Addresses to serve.
        addresses: Vec<IpAddr>,
    },
}

impl CertificateRequest<'_> {
    /// Whether it is for one of the kinds of certificates that kubelets have.
    pub fn is_of_kubelets(signer: &str) -> bool {
        matches!(signer, CLIENT_SIGNER | SERVING_SIGNER)
    }

    /// What a kubelet asks for; or why nobody may ask for this, whatever machine it is on.
    pub fn read(&self) -> Result<KubeletRequest, String> {
        if !Self::is_of_kubelets(self.signer) {
            return Err(format!("signer {} is not that of kubelets", self.signer));
        }
        let asked = Asked::read(self.pem).ok_or("the request in it cannot be read")?;
        let Some(node) = asked.node() else { return Err(format!("{} is no node", asked.common_name)) };
        if asked.organizations != [NODES] {
            return Err(format!("the organisations are {:?} and not {NODES} alone", asked.organizations));
        }
        let wish = if self.signer == CLIENT_SIGNER { self.client(&asked, node)? } else { self.serving(&asked, node)? };
        Ok(KubeletRequest { node: node.to_owned(), wish })
    }

    fn client(&self, asked: &Asked, node: &str) -> Result<Wish, String> {
        let newcomer = self.user.starts_with("system:bootstrap:") && self.groups.contains(&BOOTSTRAPPERS);
        match () {
            () if !self.is_for("client auth", "server auth") => Err("it is not for clients only".to_owned()),
            () if !asked.names.is_empty() || !asked.addresses.is_empty() => {
                Err("a client certificate has no names or addresses".to_owned())
            }
            () if self.is_from(asked) => Ok(Wish::Renewal),
            () if newcomer => Ok(Wish::First),
            () => Err(format!("{} may not ask for a client certificate of {node}", self.user)),
        }
    }

    fn serving(&self, asked: &Asked, node: &str) -> Result<Wish, String> {
        match () {
            () if !self.is_from(asked) => Err(format!("{} may not ask for a serving certificate of {node}", self.user)),
            () if !self.is_for("server auth", "client auth") => Err("it is not for servers only".to_owned()),
            () if asked.names.is_empty() && asked.addresses.is_empty() => Err("it names nothing to serve".to_owned()),
            () => Ok(Wish::Serving { names: asked.names.clone(), addresses: asked.addresses.clone() }),
        }
    }

    /// Whether the node that it speaks of asks itself.
    fn is_from(&self, asked: &Asked) -> bool {
        self.user == asked.common_name && self.groups.contains(&NODES)
    }

    fn is_for(&self, usage: &str, never: &str) -> bool {
        self.usages.contains(&usage) && !self.usages.contains(&never)
    }
}

impl Wish {
    /// The name or address that it asks to serve and that is not the machine's own. Virtual addresses are nobody's own, so that no
    /// kubelet can pose as the API.
    pub fn foreign(&self, own_name: &str, own_addresses: &[IpAddr]) -> Option<String> {
        let Self::Serving { names, addresses } = self else { return None };
        let name = names.iter().find(|name| *name != own_name).map(|name| format!("{name} is not a name"));
        let address = || addresses.iter().find(|address| !own_addresses.contains(address));
        name.or_else(|| address().map(|address| format!("{address} is not an address")))
    }
}

/// The name of the node that a request in PEM form speaks of.
pub fn requested_node(pem: &[u8]) -> Option<String> {
    Asked::read(pem)?.node().map(str::to_owned)
}

/// What is in a request.
#[derive(Debug, Default)]
struct Asked {
    common_name: String,
    organizations: Vec<String>,
    names: Vec<String>,
    addresses: Vec<IpAddr>,
}

impl Asked {
    /// Reads a request in PEM form; none if it is not one, or asks for things that kubelets never ask for. That it was signed with its own key
    /// is checked by who signs it.
    fn read(pem: &[u8]) -> Option<Self> {
        let (_, pem) = parse_x509_pem(pem).ok()?;
        let (_, request) = X509CertificationRequest::from_der(&pem.contents).ok()?;
        let subject = &request.certification_request_info.subject;
        let mut common_names = subject.iter_common_name();
        let mut asked = Self {
            common_name: common_names.next()?.as_str().ok()?.to_owned(),
            organizations: subject
                .iter_organization()
                .map(|organization| organization.as_str().map(str::to_owned))
                .collect::<Result<_, _>>()
                .ok()?,
            ..Self::default()
        };
        // Whoever reads the certificate may take another of them than was judged here.
        if common_names.next().is_some() {
            return None;
        }
        for extension in request.requested_extensions().into_iter().flatten() {
            let ParsedExtension::SubjectAlternativeName(alternatives) = extension else { continue };
            for name in &alternatives.general_names {
                match name {
                    GeneralName::DNSName(name) => asked.names.push((*name).to_owned()),
                    GeneralName::IPAddress(bytes) => asked.addresses.push(address(bytes)?),
                    // Kubelets ask for nothing else.
                    _ => return None,
                }
            }
        }
        Some(asked)
    }

    fn node(&self) -> Option<&str> {
        self.common_name.strip_prefix(NODE_PREFIX).filter(|name| !name.is_empty())
    }
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    <[u8; 4]>::try_from(bytes).map(IpAddr::from).or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()
}

#[cfg(test)]
mod tests;
