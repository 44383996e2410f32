//! Zones of PowerVS, and what is next to them: the VPC region whose load balancers reach it, and the object storage that images
//! come from.
//!
//! The table knows what every installation needs without asking anybody; system types and the edge router of a zone are asked for
//! live, because tables of those go stale.

/// A zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Its name, which the API calls a region now and then.
    pub name: &'static str,
    /// The region whose endpoint serves it.
    pub region: &'static str,
    /// The VPC region next to it. None: there is none, so nothing can balance its load.
    pub vpc_region: Option<&'static str>,
    /// The region of the object storage that it imports images from.
    pub cos_region: Option<&'static str>,
}

/// A region of VPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VpcRegion {
    /// Its name.
    pub name: &'static str,
    /// How many zones it has, which are called `<region>-1` and so on.
    pub zones: u8,
}

impl VpcRegion {
    /// The names of its zones.
    pub fn zone_names(self) -> impl Iterator<Item = String> {
        (1..=self.zones).map(move |number| format!("{}-{number}", self.name))
    }
}

const fn at(name: &'static str, region: &'static str, vpc_region: &'static str, cos_region: &'static str) -> Zone {
    Zone { name, region, vpc_region: Some(vpc_region), cos_region: Some(cos_region) }
}

/// All zones.
pub const ZONES: [Zone; 22] = [
    at("dal10", "dal", "us-south", "us-south"),
    at("dal12", "dal", "us-south", "us-south"),
    at("dal14", "dal", "us-south", "us-south"),
    at("us-south", "us-south", "us-south", "us-south"),
    at("wdc06", "wdc", "us-east", "us-east"),
    at("wdc07", "wdc", "us-east", "us-east"),
    at("us-east", "us-east", "us-east", "us-east"),
    at("sao01", "sao", "br-sao", "br-sao"),
    at("sao04", "sao", "br-sao", "br-sao"),
    at("tor01", "tor", "ca-tor", "ca-tor"),
    Zone { name: "mon01", region: "mon", vpc_region: None, cos_region: Some("ca-tor") },
    at("lon04", "lon", "eu-gb", "eu-gb"),
    at("lon06", "lon", "eu-gb", "eu-gb"),
    at("eu-de-1", "eu-de", "eu-de", "eu-de"),
    at("eu-de-2", "eu-de", "eu-de", "eu-de"),
    // Imports from object storage in eu-es are refused.
    at("mad02", "mad", "eu-es", "eu-de"),
    at("mad04", "mad", "eu-es", "eu-de"),
    at("osa21", "osa", "jp-osa", "jp-osa"),
    at("tok04", "tok", "jp-tok", "jp-tok"),
    at("syd04", "syd", "au-syd", "au-syd"),
    at("syd05", "syd", "au-syd", "au-syd"),
    Zone { name: "che01", region: "che", vpc_region: None, cos_region: None },
];

const VPC_REGIONS: [VpcRegion; 10] = [
    VpcRegion { name: "us-south", zones: 3 },
    VpcRegion { name: "us-east", zones: 3 },
    VpcRegion { name: "br-sao", zones: 3 },
    VpcRegion { name: "ca-tor", zones: 3 },
    VpcRegion { name: "eu-gb", zones: 3 },
    VpcRegion { name: "eu-de", zones: 3 },
    VpcRegion { name: "eu-es", zones: 3 },
    VpcRegion { name: "jp-osa", zones: 3 },
    VpcRegion { name: "jp-tok", zones: 3 },
    VpcRegion { name: "au-syd", zones: 3 },
];

/// The zone with a name.
pub fn zone(name: &str) -> Option<&'static Zone> {
    ZONES.iter().find(|zone| zone.name == name)
}

/// The VPC region with a name.
pub fn vpc_region(name: &str) -> Option<VpcRegion> {
    VPC_REGIONS.iter().copied().find(|region| region.name == name)
}

/// The region that the name of a zone tells: without a number behind a hyphen, or else without digits at the end.
pub(super) fn region_of(zone: &str) -> String {
    match zone.rsplit_once('-') {
        Some((region, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            region.to_owned()
        }
        Some(_) => zone.to_owned(),
        None => zone.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_the_table_says() {
        for zone in ZONES {
            assert_eq!(region_of(zone.name), zone.region, "{}", zone.name);
            if let Some(region) = zone.vpc_region {
                assert!(vpc_region(region).is_some(), "{region}");
            }
        }
        assert_eq!(region_of("xyz99"), "xyz");
    }

    #[test]
    fn zones_of_a_region_are_counted() {
        let names: Vec<String> = vpc_region("us-south").unwrap().zone_names().collect();
        assert_eq!(names, ["us-south-1", "us-south-2", "us-south-3"]);
    }
}
