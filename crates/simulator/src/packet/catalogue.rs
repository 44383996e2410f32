//! What can be had where: plans, operating systems, metros and facilities.

use serde_json::{Value, json};

/// A plan: what a server is.
pub(super) struct Plan {
    pub(super) slug: &'static str,
    /// What it was called before.
    pub(super) alias: Option<&'static str>,
    pub(super) class: &'static str,
    pub(super) cpus: u32,
    pub(super) cores: u32,
    pub(super) cpu: &'static str,
    pub(super) memory_gb: u64,
    pub(super) drive: (u32, &'static str, &'static str),
    pub(super) hourly: f64,
    pub(super) arm: bool,
    /// Whether its ports can be taken to layer 2.
    pub(super) layer2: bool,
}

macro_rules! plan {
    ($slug:literal, $alias:expr, $cpus:literal x $cores:literal $cpu:literal, $memory:literal GB, $drives:literal x $size:literal $kind:literal,
     $price:literal, $arm:literal, $layer2:literal) => {
        Plan {
            slug: $slug,
            alias: $alias,
            class: $slug,
            cpus: $cpus,
            cores: $cores,
            cpu: $cpu,
            memory_gb: $memory,
            drive: ($drives, $size, $kind),
            hourly: $price,
            arm: $arm,
            layer2: $layer2,
        }
    };
}

/// All plans.
pub(super) const PLANS: &[Plan] = &[
    plan!("t1.small.x86", Some("baremetal_0"), 1 x 4 "Intel Atom C2550", 8 GB, 1 x "80GB" "SSD", 0.07, false, false),
    plan!("c1.small.x86", Some("baremetal_1"), 1 x 4 "Intel Xeon E3-1240 v3", 32 GB, 2 x "120GB" "SSD", 0.4, false, false),
    plan!("m1.xlarge.x86", Some("baremetal_2"), 2 x 12 "Intel Xeon E5-2650 v4", 256 GB, 6 x "480GB" "SSD", 1.7, false, true),
    plan!("c1.xlarge.x86", Some("baremetal_3"), 2 x 8 "Intel Xeon E5-2640 v3", 128 GB, 2 x "120GB" "SSD", 1.75, false, true),
    plan!("x1.small.x86", Some("baremetal_1e"), 1 x 4 "Intel Xeon E3-1578L v5", 32 GB, 1 x "240GB" "SSD", 0.4, false, true),
    plan!("c1.large.arm", Some("baremetal_2a"), 2 x 48 "Cavium ThunderX", 128 GB, 1 x "250GB" "SSD", 0.5, true, true),
    plan!("s1.large.x86", Some("baremetal_s"), 2 x 8 "Intel Xeon Silver 4110", 64 GB, 12 x "2TB" "HDD", 1.5, false, true),
    plan!("c2.medium.x86", None, 1 x 24 "AMD EPYC 7401P", 64 GB, 2 x "480GB" "SSD", 1.0, false, true),
    plan!("c3.small.x86", None, 1 x 8 "Intel Xeon E-2278G", 32 GB, 2 x "480GB" "SSD", 0.5, false, true),
    plan!("c3.medium.x86", None, 1 x 24 "AMD EPYC 7402P", 64 GB, 2 x "480GB" "SSD", 1.1, false, true),
    plan!("m3.small.x86", None, 1 x 8 "Intel Xeon E-2378G", 64 GB, 2 x "480GB" "SSD", 1.05, false, true),
    plan!("m3.large.x86", None, 1 x 32 "AMD EPYC 7502P", 256 GB, 2 x "3.8TB" "NVME", 3.1, false, true),
    plan!("n3.xlarge.x86", None, 1 x 32 "Intel Xeon Gold 6314U", 512 GB, 2 x "3.8TB" "NVME", 4.5, false, true),
    plan!("s3.xlarge.x86", None, 2 x 12 "Intel Xeon 4214", 192 GB, 12 x "8TB" "HDD", 2.95, false, true),
    plan!("c3.large.arm64", None, 1 x 80 "Ampere Altra Q80-30", 256 GB, 2 x "960GB" "NVME", 2.5, true, true),
];

/// Metros: code, name, country.
pub(super) const METROS: &[(&str, &str, &str)] = &[
    ("sv", "Silicon Valley", "US"),
    ("da", "Dallas", "US"),
    ("dc", "Washington DC", "US"),
    ("ny", "New York", "US"),
    ("am", "Amsterdam", "NL"),
    ("fr", "Frankfurt", "DE"),
    ("sg", "Singapore", "SG"),
];

/// Facilities: code, name, metro.
pub(super) const FACILITIES: &[(&str, &str, &str)] = &[
    ("sjc1", "San Jose, CA", "sv"),
    ("sv15", "Silicon Valley", "sv"),
    ("da11", "Dallas", "da"),
    ("dc13", "Washington DC", "dc"),
    ("ewr1", "Parsippany, NJ", "ny"),
    ("ny5", "New York", "ny"),
    ("ams1", "Amsterdam, NL", "am"),
    ("am6", "Amsterdam", "am"),
    ("fr2", "Frankfurt", "fr"),
    ("sg1", "Singapore", "sg"),
];

/// Operating systems: slug, name, distribution, version.
pub(super) const SYSTEMS: &[(&str, &str, &str, &str)] = &[
    ("custom_ipxe", "Custom iPXE", "custom_ipxe", "1"),
    ("centos_7", "CentOS 7", "centos", "7"),
    ("debian_11", "Debian 11", "debian", "11"),
    ("flatcar_stable", "Flatcar Container Linux", "flatcar", "stable"),
    ("rocky_9", "Rocky Linux 9", "rocky", "9"),
    ("ubuntu_18_04", "Ubuntu 18.04 LTS", "ubuntu", "18.04"),
    ("ubuntu_20_04", "Ubuntu 20.04 LTS", "ubuntu", "20.04"),
    ("ubuntu_22_04", "Ubuntu 22.04 LTS", "ubuntu", "22.04"),
];

/// The plan with a slug, or what it was called before.
pub(super) fn plan(slug: &str) -> Option<&'static Plan> {
    PLANS.iter().find(|plan| plan.slug == slug || plan.alias == Some(slug))
}

/// The metro of a facility.
pub(super) fn metro_of(facility: &str) -> Option<&'static str> {
    FACILITIES.iter().find(|(code, ..)| *code == facility).map(|(_, _, metro)| *metro)
}

/// The facility in which servers of a metro stand: the newest.
pub(super) fn facility_of(metro: &str) -> Option<&'static str> {
    FACILITIES.iter().rev().find(|(_, _, own)| *own == metro).map(|(code, ..)| *code)
}

/// An id that is always the same for the same thing, of the fourth kind as clients demand.
pub(super) fn fixed_id(kind: &str, name: &str) -> String {
    use sha2::{Digest, Sha256};
    let digest = Sha256::digest(format!("{kind}/{name}"));
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
}

pub(super) fn show_plan(base: &str, plan: &Plan) -> Value {
    let href = |kind: &str, path: &str, code: &str| json!({"href": format!("{base}{path}/{}", fixed_id(kind, code))});
    let (count, size, kind) = plan.drive;
    json!({
        "id": fixed_id("plan", plan.slug),
        "slug": plan.slug,
        "name": plan.slug,
        "description": format!("Our {} configuration", plan.slug),
        "line": "baremetal",
        "class": plan.class,
        "legacy": plan.alias.is_some(),
        "type": "standard",
        "categories": ["compute"],
        "specs": {
            "cpus": [{"count": plan.cpus, "type": plan.cpu, "cores": plan.cores}],
            "memory": {"total": format!("{}GB", plan.memory_gb)},
            "drives": [{"count": count, "size": size, "type": kind, "category": "boot"}],
            "nics": [{"count": 2, "type": "10Gbps"}],
            "features": {"raid": true, "txt": true, "uefi": plan.arm},
        },
        "pricing": {"hour": plan.hourly},
        "available_in": FACILITIES.iter().map(|(code, ..)| href("facility", "/facilities", code)).collect::<Vec<_>>(),
        "available_in_metros": METROS.iter().map(|(code, ..)| href("metro", "/locations/metros", code)).collect::<Vec<_>>(),
        "deployment_types": ["on_demand", "spot_market"],
        "href": format!("{base}/plans/{}", fixed_id("plan", plan.slug)),
    })
}

pub(super) fn show_system(base: &str, slug: &str) -> Value {
    let known = SYSTEMS.iter().find(|(known, ..)| *known == slug);
    let (slug, name, distro, version) = known.copied().unwrap_or(("custom_ipxe", "Custom iPXE", "custom_ipxe", "1"));
    json!({
        "id": fixed_id("os", slug),
        "slug": slug,
        "name": name,
        "distro": distro,
        "version": version,
        "preinstallable": false,
        "licensed": false,
        "pricing": {},
        "provisionable_on": PLANS.iter().map(|plan| plan.slug).collect::<Vec<_>>(),
        "href": format!("{base}/operating-systems/{}", fixed_id("os", slug)),
    })
}

pub(super) fn show_metro(base: &str, code: &str) -> Value {
    let (code, name, country) = METROS.iter().find(|(known, ..)| *known == code).copied().unwrap_or(METROS[0]);
    let id = fixed_id("metro", code);
    json!({"id": id, "code": code, "name": name, "country": country, "href": format!("{base}/locations/metros/{id}")})
}

pub(super) fn show_facility(base: &str, code: &str) -> Value {
    let (code, name, metro) = FACILITIES.iter().find(|(known, ..)| *known == code).copied().unwrap_or(FACILITIES[0]);
    let id = fixed_id("facility", code);
    json!({
        "id": id,
        "code": code,
        "name": name,
        "features": ["baremetal", "layer_2", "global_ipv4", "ibx"],
        "ip_ranges": ["2604:1380::/36"],
        "metro": show_metro(base, metro),
        "address": {"href": format!("{base}/facilities/{id}#address")},
        "href": format!("{base}/facilities/{id}"),
    })
}
