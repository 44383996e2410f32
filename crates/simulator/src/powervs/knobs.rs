//! How long things take in a simulated account, how many it may have, and what is told to go wrong.

use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::core::clock::parse_duration;

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $seconds:literal;)*) => {
        /// What takes time.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Kind {
            $($(#[$doc])* $variant,)*
        }

        impl Kind {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Its name in rules.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// How long it takes unless told otherwise.
            pub fn usual(self) -> Duration {
                match self { $(Self::$variant => Duration::from_secs($seconds),)* }
            }
        }
    };
}

kinds! {
    /// A service instance (a workspace, object storage, …) until it is active.
    Workspace = "workspace", 45;
    /// A service instance until it is removed.
    WorkspaceDelete = "workspace-delete", 30;
    /// A workspace's Power Edge Router until it is active, after the workspace is.
    Router = "router", 60;
    /// A DHCP server until it is active.
    Dhcp = "dhcp", 300;
    /// A DHCP server until it is gone.
    DhcpDelete = "dhcp-delete", 60;
    /// The import of an image.
    Image = "image", 600;
    /// A virtual server until it is active.
    Instance = "instance", 240;
    /// A virtual server until it is gone.
    InstanceDelete = "instance-delete", 60;
    /// A change of power.
    Power = "power", 20;
    /// A lease until the DHCP server shows it, after its virtual server is active.
    Lease = "lease", 90;
    /// A volume until it is available.
    Volume = "volume", 10;
    /// A VPC until it is available.
    Vpc = "vpc", 10;
    /// A subnet until it is available, or gone.
    Subnet = "subnet", 10;
    /// A public gateway until it is available, or gone.
    PublicGateway = "public-gateway", 10;
    /// A load balancer until it is active.
    LoadBalancer = "load-balancer", 300;
    /// Any change of a load balancer.
    LoadBalancerUpdate = "load-balancer-update", 75;
    /// A load balancer until it is gone.
    LoadBalancerDelete = "load-balancer-delete", 60;
    /// A transit gateway until it is available, or gone.
    Gateway = "gateway", 30;
    /// A connection of a transit gateway until it is attached, or gone.
    Connection = "connection", 120;
    /// A network of a DNS zone, or a custom resolver.
    Dns = "dns", 10;
    /// A tag until the search knows it, and what is gone until the search does.
    Tag = "tag", 5;
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = || Self::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
        let found = Self::ALL.iter().find(|kind| kind.name() == text);
        found.copied().ok_or_else(|| format!("'{text}' is none of {}", names()))
    }
}

/// How long something takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    /// What.
    pub kind: Kind,
    /// How long.
    pub takes: Duration,
}

impl FromStr for Delay {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, takes) = text.split_once('=').ok_or("a delay is written KIND=DURATION")?;
        let takes = parse_duration(takes).map_err(|_| format!("'{takes}' is no duration like 90s"))?;
        Ok(Self { kind: kind.parse()?, takes })
    }
}

/// What becomes of things with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeRule {
    /// What is made.
    pub kind: Kind,
    /// Part of its name.
    pub name: String,
    /// What becomes of it.
    pub outcome: Outcome,
}

/// What becomes of something instead of what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It fails, each time.
    Failed,
    /// It fails; the next one with the same name does not.
    FailedOnce,
    /// It is on its way for ever.
    Stuck,
    /// A virtual server leaves its network interface behind when it is deleted.
    LeavesInterface,
}

const OUTCOME: &str = "an outcome is written 'KIND NAME failed|failed-once|stuck|leaves-interface'";

impl FromStr for OutcomeRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [kind, name, outcome] = words.as_slice() else { return Err(OUTCOME.to_owned()) };
        let outcome = match *outcome {
            "failed" => Outcome::Failed,
            "failed-once" => Outcome::FailedOnce,
            "stuck" => Outcome::Stuck,
            "leaves-interface" => Outcome::LeavesInterface,
            _ => return Err(OUTCOME.to_owned()),
        };
        Ok(Self { kind: kind.parse()?, name: (*name).to_owned(), outcome })
    }
}

/// How many of something an account may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Of what.
    pub of: Limited,
    /// How many.
    pub most: usize,
}

/// What an account may not have any number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limited {
    /// VPCs in a region.
    Vpcs,
    /// Load balancers in a region.
    LoadBalancers,
    /// Transit gateways of the account.
    TransitGateways,
    /// DHCP servers in a workspace.
    Dhcp,
    /// Virtual servers in a workspace.
    Instances,
}

impl Limited {
    /// How many unless told otherwise.
    pub fn usual(self) -> usize {
        match self {
            Self::Vpcs | Self::TransitGateways => 10,
            Self::LoadBalancers => 50,
            Self::Dhcp => 1,
            Self::Instances => 1000,
        }
    }
}

impl FromStr for Quota {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const QUOTA: &str = "a quota is written vpcs|load-balancers|transit-gateways|dhcp|instances=N";
        let (of, most) = text.split_once('=').ok_or(QUOTA)?;
        let of = match of {
            "vpcs" => Limited::Vpcs,
            "load-balancers" => Limited::LoadBalancers,
            "transit-gateways" => Limited::TransitGateways,
            "dhcp" => Limited::Dhcp,
            "instances" => Limited::Instances,
            _ => return Err(QUOTA.to_owned()),
        };
        Ok(Self { of, most: most.parse().map_err(|_| QUOTA)? })
    }
}

/// An object in a bucket that everybody may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicObject {
    /// The region of the bucket.
    pub region: String,
    /// The bucket.
    pub bucket: String,
    /// The object.
    pub key: String,
}

impl FromStr for PublicObject {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.splitn(3, '/').collect();
        let [region, bucket, key] = parts.as_slice() else {
            return Err("an object is written REGION/BUCKET/KEY".to_owned());
        };
        Ok(Self { region: (*region).to_owned(), bucket: (*bucket).to_owned(), key: (*key).to_owned() })
    }
}
