//! The platforms that can be surveyed: the one place that names them.

use landfall_platform::{
    Environment,
    survey::{Choice, Survey, SurveyError},
};
use landfall_wire::Limits;

/// The platforms to choose from.
pub(super) fn choices() -> Vec<Choice> {
    vec![
        Choice::new("ovirt", "oVirt or Red Hat Virtualization"),
        Choice::new("packet", "Packet, later Equinix Metal (bare metal)"),
        Choice::new("powervm", "PowerVM servers with NovaLink"),
        Choice::new("powervs", "IBM Power Virtual Server"),
    ]
}

/// The survey of a platform.
pub(super) fn survey(platform: &str, environment: &Environment) -> Result<Box<dyn Survey>, SurveyError> {
    let limits = Limits::default();
    match platform {
        "ovirt" => match landfall_platform_ovirt::Survey::new(environment, limits) {
            Ok(survey) => Ok(Box::new(survey)),
            Err(error) => Err(SurveyError::Credentials { platform: "ovirt", source: Box::new(error) }),
        },
        "packet" => match landfall_platform_packet::Survey::new(environment, limits) {
            Ok(survey) => Ok(Box::new(survey)),
            Err(error) => Err(SurveyError::Credentials { platform: "packet", source: Box::new(error) }),
        },
        "powervm" => match landfall_platform_powervm::Survey::new(environment) {
            Ok(survey) => Ok(Box::new(survey)),
            Err(error) => Err(SurveyError::Credentials { platform: "powervm", source: Box::new(error) }),
        },
        "powervs" => match landfall_platform_powervs::Survey::new(environment) {
            Ok(survey) => Ok(Box::new(survey)),
            Err(error) => Err(SurveyError::Credentials { platform: "powervs", source: Box::new(error) }),
        },
        other => Err(SurveyError::Given(format!("there is no platform '{other}'"))),
    }
}
