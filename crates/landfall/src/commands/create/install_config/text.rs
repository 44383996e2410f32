//! An install-config as the text of a file.

use serde_json::{Map, Value};

const HEADER: &str = "# Made by 'landfall create install-config'. 'landfall explain' says what the fields mean.\n";

/// The text of a tree: what was given and nothing more, in the order of the documentation.
pub(super) fn render(tree: &Value) -> anyhow::Result<Vec<u8>> {
    // Keys and pull secrets stay on one line, as people paste them.
    let options = serde_saphyr::ser_options! { folded_wrap_chars: 1_000_000 };
    let yaml = serde_saphyr::to_string_with_options(&in_order(tree), options)?;
    Ok(format!("{HEADER}{yaml}").into_bytes())
}

fn in_order(tree: &Value) -> Value {
    let Value::Object(fields) = tree else { return tree.clone() };
    let schema = landfall_config::schema();
    let order: Vec<&String> = schema["properties"].as_object().into_iter().flat_map(Map::keys).collect();
    let mut sorted: Vec<_> = fields.iter().collect();
    sorted.sort_by_key(|(key, _)| order.iter().position(|known| known == key));
    Value::Object(sorted.into_iter().map(|(key, value)| (key.clone(), value.clone())).collect())
}
