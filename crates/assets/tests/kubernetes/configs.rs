//! Install-configs, and everything that is rendered from one.

use std::net::IpAddr;

use jiff::Timestamp;
use landfall_assets::{Certificates, Cluster, Credentials, Secrets, ignition_configs, manifests};
use landfall_config::{
    Architecture, ClusterNetwork, ImageMirror, InstallConfig, LoadBalancer, MachineNetwork, NodeAgent, Platform, Proxy,
    parse, parse_tree, parse_yaml, tree,
};
use landfall_platform::{FileSet, InfraId};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

const PACKET_EXAMPLE: &str = include_str!("../../../../examples/packet/install-config.yaml");
const POWERVS_EXAMPLE: &str = include_str!("../../../../examples/powervs/install-config.yaml");
const EXAMPLE: &str = include_str!("../../../../examples/ovirt/install-config.yaml");

/// The example that users start from, on a network as sites have it instead of the simulator's.
pub(crate) fn example() -> InstallConfig {
    let text = EXAMPLE.replace("127.66.0.0/16", "192.0.2.0/24").replace("127.66.0.", "192.0.2.");
    parse(text.as_bytes()).unwrap().config
}

/// A cluster on Packet whose addresses get to it in one of the ways.
pub(crate) fn packet(endpoint: &str) -> InstallConfig {
    let mut tree = parse_yaml(PACKET_EXAMPLE.as_bytes()).unwrap();
    tree::set(&mut tree, &format!("platform.packet.endpoint={endpoint}")).unwrap();
    parse_tree(tree).unwrap().config
}

/// A cluster on PowerVS with something changed.
pub(crate) fn powervs(change: &str) -> InstallConfig {
    let mut tree = parse_yaml(POWERVS_EXAMPLE.as_bytes()).unwrap();
    tree::set(&mut tree, change).unwrap();
    parse_tree(tree).unwrap().config
}

/// A change to an install-config.
pub(crate) type Edit = fn(&mut InstallConfig);

/// Sites that differ from the example in one way each.
pub(crate) const SITES: [(&str, Edit); 9] = [
    ("plain", |_| {}),
    ("user-managed", |config| config.load_balancer = LoadBalancer::UserManaged),
    ("proxy", |config| {
        config.proxy = Some(Proxy {
            http_proxy: Some("http://user:p%40ss@proxy.example.com:3128".to_owned()),
            https_proxy: Some("https://proxy.example.com:3129".to_owned()),
            no_proxy: Some("intranet.example.com, .corp.example.com".to_owned()),
        });
    }),
    ("mirrors", |config| {
        config.binary_mirror = Some("https://mirror.example.com/files/".parse().unwrap());
        config.additional_trust_bundle = Some(other_ca());
        config.image_mirrors = vec![
            mirror("registry.k8s.io", &["mirror.example.com:5000/k8s", "backup.example.com"]),
            mirror("docker.io", &["mirror.example.com:5000/hub"]),
        ];
    }),
    ("dual-stack", |config| {
        config.networking.machine_network.push(MachineNetwork { cidr: "2001:db8:1::/64".parse().unwrap() });
        let pods = ClusterNetwork { cidr: "fd01::/48".parse().unwrap(), host_prefix: Some(64) };
        config.networking.cluster_network.push(pods);
        config.networking.service_network.push("fd02::/112".parse().unwrap());
        let Platform::Ovirt(platform) = &mut config.platform else { unreachable!() };
        platform.api_vips.push("2001:db8:1::5".parse().unwrap());
        platform.ingress_vips.push("2001:db8:1::6".parse().unwrap());
    }),
    ("ipv6", |config| {
        config.networking.machine_network = vec![MachineNetwork { cidr: "2001:db8:1::/64".parse().unwrap() }];
        config.networking.cluster_network =
            vec![ClusterNetwork { cidr: "fd01::/48".parse().unwrap(), host_prefix: Some(64) }];
        config.networking.service_network = vec!["fd02::/112".parse().unwrap()];
        let Platform::Ovirt(platform) = &mut config.platform else { unreachable!() };
        platform.api_vips = vec!["2001:db8:1::5".parse().unwrap()];
        platform.ingress_vips = vec!["2001:db8:1::6".parse().unwrap()];
    }),
    ("node-agent", |config| {
        let url = "https://mirror.example.com/landfall-node-{arch}".to_owned();
        let sha512 = Architecture::ALL.map(|architecture| (architecture, "5".repeat(128)));
        config.node_agent = Some(NodeAgent { url, sha512: sha512.into_iter().collect() });
    }),
    ("older", |config| config.version = Some("1.35.8".to_owned())),
    ("no-workers", |config| config.compute.iter_mut().for_each(|pool| pool.replicas = 0)),
];

/// The example with an edit.
pub(crate) fn edited(edit: Edit) -> InstallConfig {
    let mut config = example();
    edit(&mut config);
    config
}

/// The example as a site has it.
pub(crate) fn site(name: &str) -> InstallConfig {
    edited(SITES.into_iter().find(|(site, _)| *site == name).unwrap().1)
}

fn mirror(source: &str, mirrors: &[&str]) -> ImageMirror {
    ImageMirror { source: source.to_owned(), mirrors: mirrors.iter().map(|&mirror| mirror.to_owned()).collect() }
}

/// Another cluster's CA stands in for that of a site.
fn other_ca() -> String {
    Rendered::new(example()).secrets.cluster_ca().certificate().to_owned()
}

/// What the platform's credential file holds.
pub(crate) fn credentials() -> Credentials {
    [("ovirt_url", "https://engine.example.com/ovirt-engine/api"), ("ovirt_password", "s3cret")]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into()
}

/// Everything that is rendered from an install-config.
pub(crate) struct Rendered {
    pub(crate) config: InstallConfig,
    pub(crate) infra_id: InfraId,
    pub(crate) secrets: Secrets,
    pub(crate) certificates: Certificates,
    pub(crate) manifests: FileSet,
    pub(crate) ignition: FileSet,
}

impl Rendered {
    /// With fixed tokens and clock; keys, and with them certificates, differ each time.
    pub(crate) fn new(config: InstallConfig) -> Self {
        Self::with_extra_manifests(config, FileSet::default())
    }

    pub(crate) fn with_extra_manifests(config: InstallConfig, extra: FileSet) -> Self {
        Self::with(config, &credentials(), extra)
    }

    pub(crate) fn with_credentials(config: InstallConfig, credentials: &Credentials) -> Self {
        Self::with(config, credentials, FileSet::default())
    }

    fn with(config: InstallConfig, credentials: &Credentials, extra: FileSet) -> Self {
        let infra_id: InfraId = "demo-x7k2p".parse().unwrap();
        let cluster = Cluster { config: &config, infra_id: &infra_id };
        let secrets = Secrets::generate(&cluster, now(), &mut ChaCha8Rng::seed_from_u64(1)).unwrap();
        let certificates = Certificates::issue(&cluster, &secrets, now()).unwrap();
        let mut manifests = manifests(&cluster, &secrets, Some(credentials)).unwrap();
        manifests.extend(extra);
        let ignition = ignition_configs(&cluster, &secrets, &certificates, &manifests, &FileSet::default()).unwrap();
        Self { config, infra_id, secrets, certificates, manifests, ignition }
    }

    pub(crate) fn cluster(&self) -> Cluster<'_> {
        Cluster { config: &self.config, infra_id: &self.infra_id }
    }

    /// The contents of a rendered file as text.
    pub(crate) fn text(&self, path: &str) -> String {
        let file = self.ignition.get(path).or_else(|| self.manifests.get(path)).unwrap_or_else(|| panic!("no {path}"));
        String::from_utf8(file.contents.clone()).unwrap()
    }
}

/// The moment of rendering. Tools compare certificates with the real clock, so it is not long ago.
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

/// An address.
pub(crate) fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}
