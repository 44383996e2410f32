//! Where services are.

use landfall_config::powervs::{Service, ServiceEndpoints};
use url::Url;

/// Regions that services are asked in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Region of the zone of PowerVS.
    pub region: String,
    /// Region of VPC.
    pub vpc_region: String,
    /// Region of object storage.
    pub cos_region: String,
}

/// Where a service is: as the list says, else where IBM has it. The version of its API, which some write behind the address, is cut
/// off.
pub fn endpoint(service: Service, endpoints: &ServiceEndpoints, place: &Place) -> Url {
    let url = endpoints.get(service).cloned().unwrap_or_else(|| usual(service, place));
    let path = url.path().trim_end_matches('/');
    let bare = ["/v1", "/v2", "/v3"].iter().find_map(|version| path.strip_suffix(version)).unwrap_or(path).to_owned();
    let mut url = url;
    url.set_path(&bare);
    url
}

fn usual(service: Service, place: &Place) -> Url {
    let Place { region, vpc_region, cos_region } = place;
    let host = match service {
        Service::Iam => "iam.cloud.ibm.com".to_owned(),
        Service::ResourceController | Service::ResourceManager => "resource-controller.cloud.ibm.com".to_owned(),
        Service::Power => format!("{region}.power-iaas.cloud.ibm.com"),
        Service::Vpc => format!("{vpc_region}.iaas.cloud.ibm.com"),
        Service::TransitGateway => "transit.cloud.ibm.com".to_owned(),
        Service::GlobalSearch => "api.global-search-tagging.cloud.ibm.com".to_owned(),
        Service::GlobalTagging => "tags.global-search-tagging.cloud.ibm.com".to_owned(),
        Service::Cis => "api.cis.cloud.ibm.com".to_owned(),
        Service::DnsServices => "api.dns-svcs.cloud.ibm.com".to_owned(),
        Service::Cos => format!("s3.{cos_region}.cloud-object-storage.appdomain.cloud"),
    };
    // Regions are those of a table, or were judged with the install-config; others lead nowhere.
    let nowhere = || Url::parse("https://invalid.invalid").expect("it is a URL");
    Url::parse(&format!("https://{host}")).unwrap_or_else(|_| nowhere())
}

#[cfg(test)]
mod tests {
    use landfall_config::powervs::ServiceEndpoint;

    use super::*;

    #[test]
    fn versions_are_cut_off() {
        let place = Place { region: "dal".into(), vpc_region: "us-south".into(), cos_region: "us-south".into() };
        let given =
            |url: &str| ServiceEndpoints(vec![ServiceEndpoint { name: Service::Vpc, url: url.parse().unwrap() }]);
        for (url, expected) in [
            ("https://h/v1", "https://h/"),
            ("https://h/vpc/v1/", "https://h/vpc"),
            ("https://h:1/vpc", "https://h:1/vpc"),
        ] {
            assert_eq!(endpoint(Service::Vpc, &given(url), &place).as_str(), expected);
        }
        let usual = endpoint(Service::Power, &ServiceEndpoints::default(), &place);
        assert_eq!(usual.as_str(), "https://dal.power-iaas.cloud.ibm.com/");
    }
}
