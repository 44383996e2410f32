//! The platforms that can be surveyed: the one place that names them.

use landfall_platform::{
    Environment,
    survey::{Choice, Survey, SurveyError},
};
use landfall_wire::Limits;

/// The platforms to choose from.
pub(super) fn choices() -> Vec<Choice> {
    vec![Choice::new("ovirt", "oVirt or Red Hat Virtualization")]
}

/// The survey of a platform.
pub(super) fn survey(platform: &str, environment: &Environment) -> Result<Box<dyn Survey>, SurveyError> {
    match platform {
        "ovirt" => match landfall_platform_ovirt::Survey::new(environment, Limits::default()) {
            Ok(survey) => Ok(Box::new(survey)),
            Err(error) => Err(SurveyError::Credentials { platform: "ovirt", source: Box::new(error) }),
        },
        other => Err(SurveyError::Given(format!("there is no platform '{other}'"))),
    }
}
