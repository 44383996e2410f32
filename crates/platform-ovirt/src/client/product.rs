//! What the engine is.

use serde::Deserialize;

use crate::{Client, Error};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Root {
    product_info: ProductInfo,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ProductInfo {
    name: String,
    version: Version,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Version {
    full_version: String,
}

impl Client {
    /// Name and version of the engine. The cheapest call that needs a login, so it also proves one.
    pub async fn product(&self) -> Result<String, Error> {
        let Root { product_info: ProductInfo { name, version } } = self.get("").await?;
        let name = if name.is_empty() { "oVirt Engine" } else { &name };
        Ok(format!("{name} {}", version.full_version).trim_end().to_owned())
    }
}
