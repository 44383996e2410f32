//! What the engine is.

use std::fmt;

use serde::Deserialize;

use super::number;
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
    #[serde(rename = "full_version")]
    full: String,
    #[serde(deserialize_with = "number::required")]
    major: u64,
    #[serde(deserialize_with = "number::required")]
    minor: u64,
}

/// Name and version of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    name: String,
    full_version: String,
    /// Major and minor version.
    pub version: (u64, u64),
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(format!("{} {}", self.name, self.full_version).trim_end())
    }
}

impl Client {
    /// Name and version of the engine. The cheapest call that needs a login, so it also proves one.
    pub async fn product(&self) -> Result<Product, Error> {
        let Root { product_info: ProductInfo { name, version } } = self.get("").await?;
        let name = if name.is_empty() { "oVirt Engine".to_owned() } else { name };
        Ok(Product { name, full_version: version.full, version: (version.major, version.minor) })
    }
}
