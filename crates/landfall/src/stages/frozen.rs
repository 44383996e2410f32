//! The stages of a cluster of which something was made: nothing is rendered, the files are those that machines were given.

use landfall_assets::Credentials;
use landfall_config::InstallConfig;
use landfall_workdir::{Choices, Digest, Frozen, Identity, Plan};
use serde_json::Value;

use super::{IGNITION_CONFIGS, MANIFESTS, OPENSHIFT_MANIFESTS, Source, credentials, desk::Desk};
use crate::{error::Error, printer::Printer};

/// Fields of the install-config that no machine is given: they say how this program goes about its work.
const OWN_FIELDS: [&str; 3] = ["timeouts", "dns", "openshiftInstall.path"];
/// Fields whose values are not shown.
const SECRET_FIELDS: [&str; 2] = ["pullSecret", "proxy"];

/// Writes down what machines are about to be given: the files of the stages, as they are on disk.
pub(crate) fn freeze(
    identity: &Identity,
    source: &Source,
    credentials: Digest,
    plans: &[Plan],
    now: jiff::Timestamp,
) -> Frozen {
    let version = env!("CARGO_PKG_VERSION");
    let mut frozen = Frozen::new(identity.infra_id.clone(), now, version, meaning(&source.config), credentials);
    frozen.source = Some(source.digest);
    for plan in plans {
        frozen.add_stage(plan);
    }
    frozen
}

/// Returns the plans of manifests and Ignition configs: those files that machines were given, and no other.
pub(super) fn plans(frozen: &Frozen, source: &Source, desk: &Desk<'_>) -> anyhow::Result<Vec<Plan>> {
    let config = &source.config;
    let differences = differences(&frozen.config, &meaning(config));
    // Of a file that is the same only what is assumed where it says nothing can differ, which is another Landfall's doing.
    if !differences.is_empty() && frozen.source != Some(source.digest) {
        return Err(Error::ConfigFrozen { infra_id: frozen.infra_id.clone(), differences }.into());
    }
    frozen.check_others(desk.dir)?;
    let manifests = if config.distribution.is_openshift() { OPENSHIFT_MANIFESTS } else { MANIFESTS };
    let plans = [manifests, IGNITION_CONFIGS].map(|stage| frozen.plan(stage, desk.dir));
    let plans = plans.into_iter().collect::<Result<Vec<_>, _>>()?;
    refuse_choices(desk.choices, &plans, desk)?;
    Ok(plans)
}

/// Tells what of the platform's credentials the cluster does not know.
pub(super) fn tell_credentials(frozen: &Frozen, credentials: Option<&Credentials>, printer: Printer) {
    if credentials::digest(credentials) != frozen.credentials {
        printer.warn(
            "the credentials are not those that the cluster was begun with: this run uses them, but the machine controller in the \
             cluster has the old ones until you change its Secret",
        );
    }
}

/// A file that is to be written anew cannot be: machines have it as it is.
fn refuse_choices(choices: &Choices, plans: &[Plan], desk: &Desk<'_>) -> anyhow::Result<()> {
    for plan in plans {
        let stage = plan.stage();
        let Some(record) = desk.record.stage(stage.name) else { continue };
        let on_disk = desk.dir.sight(stage, Some(record), &landfall_platform::FileSet::default())?;
        if record.complete && Plan::keep(stage, Some(record), &on_disk, &record.inputs, choices).is_none() {
            return Err(Error::ChoiceFrozen { stage: stage.name }.into());
        }
    }
    Ok(())
}

fn meaning(config: &InstallConfig) -> Value {
    serde_json::to_value(config).expect("an install-config is plain data with text keys")
}

/// Returns one line for each field that differs and that machines depend on.
fn differences(frozen: &Value, now: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    compare("", frozen, now, &mut lines);
    lines
}

fn compare(path: &str, frozen: &Value, now: &Value, lines: &mut Vec<String>) {
    if frozen == now || OWN_FIELDS.contains(&path) {
        return;
    }
    match (frozen, now) {
        (Value::Object(before), Value::Object(after)) => {
            let added = after.keys().filter(|key| !before.contains_key(*key));
            for key in before.keys().chain(added) {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                let [before, after] = [before, after].map(|object| object.get(key).unwrap_or(&Value::Null));
                compare(&path, before, after, lines);
            }
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            for (number, (before, after)) in before.iter().zip(after).enumerate() {
                compare(&format!("{path}[{number}]"), before, after, lines);
            }
        }
        // A section that only one of the two has: what is in it counts, which may be nothing.
        (Value::Object(_), Value::Null) => compare(path, frozen, &Value::Object(serde_json::Map::new()), lines),
        (Value::Null, Value::Object(_)) => compare(path, &Value::Object(serde_json::Map::new()), now, lines),
        _ if SECRET_FIELDS.iter().any(|field| path.starts_with(field)) => lines.push(path.to_owned()),
        _ => lines.push(format!("{path} was {}, now it is {}", shown(frozen), shown(now))),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "not given".to_owned(),
        Value::String(text) if text.lines().count() > 1 => "another text".to_owned(),
        Value::String(text) => format!("'{text}'"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_that_machines_depend_on_are_named_with_both_values() {
        let before = json!({"version": "1.35.0", "compute": [{"replicas": 2}], "sshKey": "a\nb", "pullSecret": "old"});
        let after =
            json!({"compute": [{"replicas": 4}], "sshKey": "a\nc", "pullSecret": "new", "proxy": {"httpProxy": "x"}});
        assert_eq!(
            differences(&before, &after),
            [
                "version was '1.35.0', now it is not given",
                "compute[0].replicas was 2, now it is 4",
                "sshKey was another text, now it is another text",
                "pullSecret",
                "proxy.httpProxy",
            ]
        );
    }

    #[test]
    fn fields_that_only_this_program_uses_may_change() {
        let before = json!({"timeouts": {"api": "20m"}, "openshiftInstall": {"path": "/a", "releaseImage": "r"}});
        let after =
            json!({"timeouts": {"api": "40m"}, "dns": {"manual": {}}, "openshiftInstall": {"releaseImage": "r"}});
        assert_eq!(differences(&before, &after), Vec::<String>::new());
        assert_eq!(differences(&json!({}), &json!({"openshiftInstall": {"path": "/b"}})), Vec::<String>::new());
    }
}
