//! Reading YAML into a generic tree, with limits and with errors that a person can act on.

use serde_json::Value;
use serde_saphyr::{Error, budget::BudgetBreach};

use crate::ConfigError;

/// The largest file that is read. A real one is a few KiB; a trust bundle of all public CAs is 250 KiB.
pub(crate) const MAX_SIZE: usize = 1 << 20;

/// The deepest field of an install-config lies eight levels down.
const MAX_DEPTH: usize = 24;

/// Mappings, lists and scalars, after aliases are expanded; a large install-config has a few hundred.
const MAX_NODES: usize = 20_000;

/// Reads one YAML document, without judging what is in it.
pub(crate) fn read(bytes: &[u8]) -> Result<Value, ConfigError> {
    if bytes.len() > MAX_SIZE {
        return Err(ConfigError::TooLarge { size: bytes.len(), limit: MAX_SIZE });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| ConfigError::NotUtf8 {
        offset: error.valid_up_to(),
        line: bytes[..error.valid_up_to()].split(|byte| *byte == b'\n').count(),
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_saphyr::from_str_with_options(text, options()).map_err(|error| explain(&error, text))
}

fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        strict_booleans: true,
        reject_unsupported_tags: true,
        emit_comments: false,
        // A snippet of the source could show a secret.
        with_snippet: false,
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            flow_nesting_limit: MAX_DEPTH,
            max_nodes: MAX_NODES,
            max_events: 2 * MAX_NODES,
            max_recorded_anchor_events: MAX_NODES,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MAX_NODES },
    }
}

fn explain(error: &Error, text: &str) -> ConfigError {
    let (line, column) = error.location().map_or((0, 0), |at| (at.line(), at.column()));
    ConfigError::NotYaml { line, column, message: message(error, text, line) }
}

fn message(error: &Error, text: &str, line: u64) -> String {
    match error {
        Error::AliasError { error, .. } => message(error, text, line),
        Error::DuplicateMappingKey { key: Some(key), .. } => format!("the key '{key}' stands twice in one mapping"),
        Error::DuplicateMappingKey { key: None, .. } => "a key stands twice in one mapping".to_owned(),
        Error::MultipleDocuments { .. } => "a second document begins; an install-config is only one".to_owned(),
        Error::UnsupportedTag { tag, .. } => format!("the tag '{tag}' has no meaning here"),
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => too_deep(),
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. } => {
            format!("more than {MAX_NODES} values, counting what aliases repeat; no install-config needs that")
        }
        Error::ExternalMessage { msg, .. } if msg.contains("recursion limit") => too_deep(),
        _ if indented_with_tab(text, line) => "indented with a tab; YAML takes only spaces".to_owned(),
        other => without_location(&other.to_string()),
    }
}

fn too_deep() -> String {
    format!("nested more than {MAX_DEPTH} levels deep; no install-config needs that")
}

fn indented_with_tab(text: &str, line: u64) -> bool {
    let line = usize::try_from(line).unwrap_or(usize::MAX).checked_sub(1).and_then(|line| text.lines().nth(line));
    line.is_some_and(|line| line.chars().take_while(|c| c.is_whitespace()).any(|c| c == '\t'))
}

/// The library ends its messages with the place, which stands at the beginning of ours.
fn without_location(message: &str) -> String {
    let end = message.rfind(" at line ").unwrap_or(message.len());
    message[..end].lines().next().unwrap_or("cannot be read").to_owned()
}
