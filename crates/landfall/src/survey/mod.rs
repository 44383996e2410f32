//! The survey that `create install-config` holds on a terminal.

mod dns;
mod general;
mod given;
mod platforms;
mod ssh_keys;
mod summary;
#[cfg(test)]
mod tests;

pub(crate) use landfall_platform::survey::SurveyError;
use landfall_platform::{
    Environment,
    survey::{Answers, Prompter, conduct},
};
use serde_json::Value;

use general::General;

/// Asks for what `partial` lacks and returns the whole install-config as a tree.
///
/// Values that are in `partial` are not asked for again. The platform's credentials are stored in its customary file, last,
/// after the user has confirmed everything; an abort ([`SurveyError::Abandoned`]) writes nothing.
pub(crate) async fn run(
    prompter: &mut dyn Prompter,
    partial: Value,
    environment: &Environment,
) -> Result<Value, SurveyError> {
    let mut answers = Answers::default();
    let mut general = General::new(partial, environment, &mut answers)?;
    conduct(prompter, &mut general, &mut answers).await?;
    general.finish(prompter, &answers)
}
