//! What kubelets ask of a cluster's authority, as far as a request alone tells. Whether it is for a machine of the cluster is the
//! matter of whoever knows the machines.

mod contents;
mod der;

use std::net::IpAddr;

use contents::Contents;

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
        let asked =
            Contents::read(self.pem).ok_or("the request in it cannot be read, or has more than kubelets ask for")?;
        let Some(node) = node_of(&asked.common_name) else { return Err(format!("{} is no node", asked.common_name)) };
        if asked.organizations != [NODES] {
            return Err(format!("the organisations are {:?} and not {NODES} alone", asked.organizations));
        }
        let wish = if self.signer == CLIENT_SIGNER { self.client(&asked, node)? } else { self.serving(&asked, node)? };
        Ok(KubeletRequest { node: node.to_owned(), wish })
    }

    fn client(&self, asked: &Contents, node: &str) -> Result<Wish, String> {
        let newcomer = self.user.starts_with("system:bootstrap:") && self.groups.contains(&BOOTSTRAPPERS);
        match () {
            () if !self.is_for("client auth") => Err("it is not for clients only".to_owned()),
            () if !asked.names.is_empty() || !asked.addresses.is_empty() => {
                Err("a client certificate has no names or addresses".to_owned())
            }
            () if self.is_from(asked) => Ok(Wish::Renewal),
            () if newcomer => Ok(Wish::First),
            () => Err(format!("{} may not ask for a client certificate of {node}", self.user)),
        }
    }

    fn serving(&self, asked: &Contents, node: &str) -> Result<Wish, String> {
        match () {
            () if !self.is_from(asked) => Err(format!("{} may not ask for a serving certificate of {node}", self.user)),
            () if !self.is_for("server auth") => Err("it is not for servers only".to_owned()),
            () if asked.names.is_empty() && asked.addresses.is_empty() => Err("it names nothing to serve".to_owned()),
            () => Ok(Wish::Serving { names: asked.names.clone(), addresses: asked.addresses.clone() }),
        }
    }

    /// Whether the node that it speaks of asks itself.
    fn is_from(&self, asked: &Contents) -> bool {
        self.user == asked.common_name && self.groups.contains(&NODES)
    }

    /// Returns true if the certificate is for this alone, in the way of kubelets.
    fn is_for(&self, purpose: &str) -> bool {
        let asked = |usage: &str| self.usages.iter().filter(|asked| **asked == usage).count();
        let (signature, encipherment) = (asked("digital signature"), asked("key encipherment"));
        asked(purpose) == 1 && signature == 1 && encipherment <= 1 && self.usages.len() == 2 + encipherment
    }
}

impl Wish {
    /// Returns the addresses to serve.
    pub fn addresses(&self) -> &[IpAddr] {
        if let Self::Serving { addresses, .. } = self { addresses } else { &[] }
    }

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
    node_of(&Contents::read(pem)?.common_name).map(str::to_owned)
}

fn node_of(common_name: &str) -> Option<&str> {
    common_name.strip_prefix(NODE_PREFIX).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests;
