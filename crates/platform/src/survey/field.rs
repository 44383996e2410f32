//! From the text of an answer to a field of the install-config, and what the config's own rules say about it.

use landfall_config::{ConfigError, Problem, parse_tree, tree};
use serde_json::{Map, Number, Value, json};

use super::Rule;

/// A field of the install-config that an answer fills.
#[derive(Clone, Debug)]
pub struct Field {
    path: String,
    shape: Shape,
    needed: bool,
}

/// What the field holds. Lists are typed with commas between the items.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Text,
    Number,
    Texts,
    Networks,
}

impl Field {
    /// A field that holds a text, number or address. The path has no indices: `platform.ovirt.ovirt_cluster_id`.
    pub fn text(path: impl Into<String>) -> Self {
        Self { path: path.into(), shape: Shape::Text, needed: true }
    }

    /// A field that holds a number, perhaps with a fraction.
    pub fn number(path: impl Into<String>) -> Self {
        Self { path: path.into(), shape: Shape::Number, needed: true }
    }

    /// A field that holds a list of texts.
    pub fn texts(path: impl Into<String>) -> Self {
        Self { path: path.into(), shape: Shape::Texts, needed: true }
    }

    /// A field that holds a list of networks, each a mapping with `cidr`.
    pub fn networks(path: impl Into<String>) -> Self {
        Self { path: path.into(), shape: Shape::Networks, needed: true }
    }

    /// The same field, which an empty answer leaves out.
    #[must_use]
    pub fn optional(self) -> Self {
        Self { needed: false, ..self }
    }

    /// Where it is.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Sets the field in a tree to what the text says; an empty text leaves it out.
    pub fn put(&self, tree: &mut Value, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let items = || text.split(',').map(str::trim).filter(|item| !item.is_empty());
        let value = match self.shape {
            Shape::Text => json!(text.trim()),
            // What is no number is left as it is, for the config's rules to refuse.
            Shape::Number => text.trim().parse::<Number>().map_or_else(|_| json!(text.trim()), Value::Number),
            Shape::Texts => items().map(|item| json!(item)).collect(),
            Shape::Networks => items().map(|item| json!({ "cidr": item })).collect(),
        };
        let over =
            self.path.rsplit('.').fold(value, |value, key| Value::Object(Map::from_iter([(key.to_owned(), value)])));
        tree::merge(tree, over);
    }

    /// The rule for a text that fills the field, next to what is known already: whatever problem the config's own rules find
    /// with it that was not there without it.
    pub fn rule(self, known: &Value) -> Rule {
        let mut known = known.clone();
        // The sections around the field come with it, and what they lack besides is no fault of the answer.
        if let Some((section, _)) = self.path.rsplit_once('.') {
            tree::merge(&mut known, nested(section, json!({})));
        }
        let before = problems(known.clone());
        Rule::new(move |text| {
            if text.trim().is_empty() {
                return if self.needed { Err("an answer is needed".to_owned()) } else { Ok(()) };
            }
            let mut tree = known.clone();
            self.put(&mut tree, text);
            let caused = problems(tree).into_iter().find(|problem| {
                before.iter().all(|earlier| (&earlier.path, &earlier.rule) != (&problem.path, &problem.rule))
            });
            match caused {
                Some(Problem { rule, suggestion: Some(suggestion), .. }) => Err(format!("{rule}; {suggestion}")),
                Some(Problem { rule, .. }) => Err(rule),
                None => Ok(()),
            }
        })
    }
}

fn nested(path: &str, value: Value) -> Value {
    path.rsplit('.').fold(value, |value, key| Value::Object(Map::from_iter([(key.to_owned(), value)])))
}

fn problems(tree: Value) -> Vec<Problem> {
    match parse_tree(tree) {
        Err(ConfigError::Invalid(problems)) => problems.iter().cloned().collect(),
        // Nothing else comes of a tree.
        Ok(_) | Err(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(field: Field, known: &Value, text: &str) -> Result<(), String> {
        field.rule(known).judge(text)
    }

    #[test]
    fn a_field_is_put_where_its_path_says() {
        let mut tree = json!({"platform": {"ovirt": {"ovirt_network_name": "lab"}}});
        Field::texts("platform.ovirt.api_vips").put(&mut tree, " 192.0.2.5, 2001:db8::5 ");
        Field::networks("networking.machineNetwork").put(&mut tree, "192.0.2.0/24");
        Field::text("version").put(&mut tree, "  ");
        assert_eq!(
            tree,
            json!({
                "platform": {"ovirt": {"ovirt_network_name": "lab", "api_vips": ["192.0.2.5", "2001:db8::5"]}},
                "networking": {"machineNetwork": [{"cidr": "192.0.2.0/24"}]},
            })
        );
    }

    #[test]
    fn an_address_is_judged_by_the_network_that_is_known() {
        let known = json!({"platform": {"ovirt": {}}, "networking": {"machineNetwork": [{"cidr": "192.0.2.0/24"}]}});
        let field = || Field::texts("platform.ovirt.api_vips");
        assert_eq!(judge(field(), &known, "192.0.2.5"), Ok(()));
        assert!(
            judge(field(), &known, "192.0.3.5").unwrap_err().contains("must lie in the machine network (192.0.2.0/24)")
        );
        assert!(judge(field(), &known, "192.0.2").is_err());
        assert!(judge(field(), &known, "").is_err());
    }

    #[test]
    fn an_address_that_is_taken_is_refused() {
        let known = json!({
            "platform": {"ovirt": {"api_vips": ["192.0.2.5"]}},
            "networking": {"machineNetwork": [{"cidr": "192.0.2.0/24"}]},
        });
        let field = || Field::texts("platform.ovirt.ingress_vips");
        assert!(judge(field(), &known, "192.0.2.5").unwrap_err().contains("must differ"));
        assert_eq!(judge(field(), &known, "192.0.2.6"), Ok(()));
    }

    #[test]
    fn names_ids_and_networks_have_the_rules_of_the_config() {
        let nothing = json!({});
        assert!(judge(Field::text("metadata.name"), &nothing, "Demo").is_err());
        assert_eq!(judge(Field::text("metadata.name"), &nothing, "demo"), Ok(()));
        assert!(judge(Field::text("baseDomain"), &nothing, "exa mple").is_err());
        assert_eq!(judge(Field::text("baseDomain"), &nothing, "example.com"), Ok(()));
        let id = || Field::text("platform.ovirt.ovirt_cluster_id");
        assert!(judge(id(), &nothing, "default").is_err());
        assert_eq!(judge(id(), &nothing, "5a0b6f2e-93c5-4b0c-9d1f-2f6e8c1a7b01"), Ok(()));
        assert_eq!(judge(Field::text("platform.ovirt.image.disk"), &nothing, "fcos.qcow2"), Ok(()));
        assert!(judge(Field::text("platform.ovirt.image.disk"), &nothing, "ftp://example.com/fcos.qcow2").is_err());
        assert!(judge(Field::networks("networking.machineNetwork"), &nothing, "192.0.2.7/24").is_err());
        assert!(judge(Field::networks("networking.machineNetwork"), &nothing, "10.128.0.0/16").is_err());
        assert_eq!(judge(Field::networks("networking.machineNetwork"), &nothing, "192.0.2.0/24"), Ok(()));
        assert_eq!(judge(Field::text("platform.ovirt.vnicProfileID").optional(), &nothing, ""), Ok(()));
        let memory = || Field::number("platform.powervs.defaultMachinePlatform.memoryGiB");
        assert!(judge(memory(), &nothing, "much").is_err() && judge(memory(), &nothing, "1.5").is_err());
        assert_eq!(judge(memory(), &nothing, "16"), Ok(()));
    }
}
