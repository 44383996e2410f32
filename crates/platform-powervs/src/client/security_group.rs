//! Security groups: what may get to what is in them.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Client, session::To};
use crate::Error;

/// A security group.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct SecurityGroup {
    /// Its id.
    pub id: String,
    /// Its name for other services.
    #[serde(default)]
    pub crn: String,
    /// Its name.
    pub name: String,
    /// Its rules.
    #[serde(default)]
    pub rules: Vec<Value>,
}

impl SecurityGroup {
    /// Whether it lets something in, or out.
    pub fn has(&self, rule: &Value) -> bool {
        let same = |own: &Value, field: &str| own[field] == rule[field];
        let fields = ["direction", "protocol", "port_min", "port_max"];
        self.rules.iter().any(|own| {
            fields.iter().all(|field| same(own, field)) && own["remote"]["cidr_block"] == rule["remote"]["cidr_block"]
        })
    }
}

impl Client {
    /// All security groups of the region.
    pub async fn security_groups(&self) -> Result<Vec<SecurityGroup>, Error> {
        self.all().await
    }

    /// The security group with a name or an id.
    pub async fn security_group(&self, name: &str) -> Result<Option<SecurityGroup>, Error> {
        self.named(name).await
    }

    /// Makes a security group with its rules.
    pub async fn create_security_group(
        &self,
        name: &str,
        vpc: &str,
        resource_group: &str,
        rules: &[Value],
    ) -> Result<SecurityGroup, Error> {
        let body = json!({
            "name": name, "vpc": {"id": vpc}, "resource_group": {"id": resource_group}, "rules": rules,
        });
        self.post(&format!("making security group {name}"), To::Vpc, "security_groups", &body).await
    }

    /// Adds a rule.
    pub async fn add_rule(&self, group: &SecurityGroup, rule: &Value) -> Result<(), Error> {
        let attempt = format!("adding a rule to security group {}", group.name);
        let path = format!("security_groups/{}/rules", group.id);
        self.send(&attempt, To::Vpc, landfall_wire::Method::POST, &path, Some(rule)).await
    }
}
