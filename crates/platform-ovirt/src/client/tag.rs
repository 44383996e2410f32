//! Tags.

use serde::Deserialize;
use serde_json::json;

use crate::{Client, Error};

/// A tag.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Tag {
    /// Its id.
    pub id: String,
    /// Its name, unique in the engine.
    pub name: String,
    /// Its description.
    #[serde(default)]
    pub description: String,
}

#[derive(Deserialize)]
struct Tags {
    #[serde(default)]
    tag: Vec<Tag>,
}

impl Client {
    /// All tags.
    pub async fn tags(&self) -> Result<Vec<Tag>, Error> {
        let Tags { tag } = self.get("tags").await?;
        Ok(tag)
    }

    /// The tag with a name.
    pub async fn tag(&self, name: &str) -> Result<Option<Tag>, Error> {
        Ok(self.tags().await?.into_iter().find(|tag| tag.name == name))
    }

    /// Creates a tag.
    pub async fn create_tag(&self, name: &str, description: &str) -> Result<Tag, Error> {
        self.post(&format!("creating tag {name}"), "tags", &json!({ "name": name, "description": description })).await
    }

    /// Deletes a tag.
    pub async fn delete_tag(&self, tag: &Tag) -> Result<(), Error> {
        self.delete(&format!("deleting tag {}", tag.name), &format!("tags/{}", tag.id)).await
    }
}
