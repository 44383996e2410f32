//! Where things are: the zones of Power Virtual Server, and the regions next to them.

/// A zone, and which regions of the other services are next to it.
pub(super) struct Zone {
    pub(super) name: &'static str,
    pub(super) display: &'static str,
    /// The region of VPC; some zones have none.
    pub(super) vpc: Option<&'static str>,
    /// The region of object storage.
    pub(super) cos: Option<&'static str>,
    pub(super) systems: &'static [&'static str],
    pub(super) router: bool,
}

const USUAL: &[&str] = &["s922", "e980"];
const RECENT: &[&str] = &["s922", "e980", "s1022", "e1080"];
const NEW: &[&str] = &["s1022", "e1080"];

const fn zone(
    name: &'static str,
    display: &'static str,
    vpc: Option<&'static str>,
    cos: Option<&'static str>,
    systems: &'static [&'static str],
) -> Zone {
    Zone { name, display, vpc, cos, systems, router: vpc.is_some() }
}

pub(super) const ZONES: [Zone; 22] = [
    zone("dal10", "Dallas 10", Some("us-south"), Some("us-south"), RECENT),
    zone("dal12", "Dallas 12", Some("us-south"), Some("us-south"), USUAL),
    zone("dal14", "Dallas 14", Some("us-south"), Some("us-south"), NEW),
    zone("us-south", "Dallas 13", Some("us-south"), Some("us-south"), USUAL),
    zone("wdc06", "Washington DC 06", Some("us-east"), Some("us-east"), RECENT),
    zone("wdc07", "Washington DC 07", Some("us-east"), Some("us-east"), RECENT),
    zone("us-east", "Washington DC 04", Some("us-east"), Some("us-east"), USUAL),
    zone("sao01", "Sao Paulo 01", Some("br-sao"), Some("br-sao"), USUAL),
    zone("sao04", "Sao Paulo 04", Some("br-sao"), Some("br-sao"), RECENT),
    zone("tor01", "Toronto 01", Some("ca-tor"), Some("ca-tor"), USUAL),
    zone("mon01", "Montreal 01", None, Some("ca-tor"), USUAL),
    zone("lon04", "London 04", Some("eu-gb"), Some("eu-gb"), USUAL),
    zone("lon06", "London 06", Some("eu-gb"), Some("eu-gb"), RECENT),
    zone("eu-de-1", "Frankfurt 1", Some("eu-de"), Some("eu-de"), RECENT),
    zone("eu-de-2", "Frankfurt 2", Some("eu-de"), Some("eu-de"), RECENT),
    zone("mad02", "Madrid 02", Some("eu-es"), Some("eu-de"), NEW),
    zone("mad04", "Madrid 04", Some("eu-es"), Some("eu-de"), NEW),
    zone("osa21", "Osaka 21", Some("jp-osa"), Some("jp-osa"), RECENT),
    zone("tok04", "Tokyo 04", Some("jp-tok"), Some("jp-tok"), USUAL),
    zone("syd04", "Sydney 04", Some("au-syd"), Some("au-syd"), USUAL),
    zone("syd05", "Sydney 05", Some("au-syd"), Some("au-syd"), RECENT),
    zone("che01", "Chennai 01", None, None, USUAL),
];

/// The zone of a name.
pub(super) fn find(name: &str) -> Option<&'static Zone> {
    ZONES.iter().find(|zone| zone.name == name)
}

/// The region of a zone, as its address has it.
pub(super) fn region_of(zone: &str) -> &str {
    match zone.rsplit_once('-') {
        Some((region, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => region,
        Some(_) => zone,
        None => zone.trim_end_matches(|letter: char| letter.is_ascii_digit()),
    }
}

/// The regions of VPC, in order.
pub(super) fn vpc_regions() -> Vec<&'static str> {
    regions(|zone| zone.vpc)
}

/// The regions of object storage, in order.
pub(super) fn cos_regions() -> Vec<&'static str> {
    regions(|zone| zone.cos)
}

fn regions(of: impl Fn(&Zone) -> Option<&'static str>) -> Vec<&'static str> {
    let mut regions: Vec<&str> = ZONES.iter().filter_map(of).collect();
    regions.sort_unstable();
    regions.dedup();
    regions
}

/// The region of a zone of VPC, such as `us-south-1`.
pub(super) fn vpc_region_of(zone: &str) -> Option<&'static str> {
    let (region, number) = zone.rsplit_once('-')?;
    let known = vpc_regions().into_iter().find(|known| *known == region)?;
    matches!(number, "1" | "2" | "3").then_some(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_follow_from_zones() {
        let pairs = [("dal10", "dal"), ("eu-de-1", "eu-de"), ("us-south", "us-south"), ("mad02", "mad")];
        for (zone, region) in pairs {
            assert_eq!(region_of(zone), region);
        }
        assert_eq!(vpc_region_of("us-south-3"), Some("us-south"));
        assert_eq!((vpc_region_of("us-south-4"), vpc_region_of("dal10")), (None, None));
        assert!(cos_regions().contains(&"eu-gb") && !vpc_regions().contains(&"che"));
    }
}
