//! Instances that are switched on and off, by whomever.

use std::time::Duration;

use landfall_platform::error_chain;
use landfall_platform_powervm::compute::{PowerNews, watch_power};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::connection::Session;
use crate::failure::Failure;
use crate::machine;
use crate::task::Reporter;

const GAP: &str = "NovaLink has lost events; Nova's periodic task notices what they were about";
const DEAF: &str = "instances that are switched off from outside are noticed by Nova's periodic task only, until NovaLink tells of \
                    events again";

/// Tells of instances whose state has changed and is settled, until it is cancelled.
pub(crate) async fn power(
    session: &Session,
    settle_seconds: f64,
    reporter: &Reporter,
    cancel: &CancellationToken,
) -> Result<Value, Failure> {
    let settle =
        Duration::try_from_secs_f64(settle_seconds).map_err(|error| Failure::invalid(format!("a delay: {error}")))?;
    let host = session.host().await?;
    let mut gaps = 0_u64;
    let tell = |news| match news {
        PowerNews::Settled { mark, state, .. } => {
            if let Some(uuid) = machine::instance(&mark) {
                reporter.tell(&json!({"uuid": uuid, "state": state}));
            }
        }
        PowerNews::Gap => {
            gaps += 1;
            reporter.say(if gaps == 1 { "warning" } else { "debug" }, GAP.to_owned());
        }
        PowerNews::Deaf(error) => reporter.say("warning", format!("{DEAF}: {}", error_chain(&error))),
        PowerNews::Heard => reporter.say("info", "NovaLink tells of events again".to_owned()),
    };
    tokio::select! {
        () = cancel.cancelled() => Ok(Value::Null),
        never = watch_power(&host, settle, tell) => never,
    }
}
