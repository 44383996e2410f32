//! Tags, which a service of its own keeps for all others, and the search for what carries one.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Client,
    session::{To, understood},
};
use crate::Error;

/// What a search tells at once.
const PAGE: usize = 100;
/// What the tagging service tells at once.
const TAGS_PER_PAGE: usize = 1000;
/// More pages than any cluster fills.
const PAGES: usize = 1000;

/// The name of something in the whole cloud, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crn {
    /// The service that made it: `is`, `transit`, `power-iaas`, …
    pub service: String,
    /// The instance of the service that it is in, or that it is.
    pub instance: String,
    /// What it is: `vpc`, `load-balancer`, `pvm-instance`, …; nothing for an instance of a service.
    pub kind: String,
    /// Its id; nothing for an instance of a service.
    pub id: String,
}

impl Crn {
    /// Takes a name apart.
    pub fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.splitn(10, ':').collect();
        let ["crn", _, _, _, service, _, _, instance, kind, id] = parts.as_slice() else { return None };
        let own = |text: &str| text.to_owned();
        Some(Self { service: own(service), instance: own(instance), kind: own(kind), id: own(id) })
    }
}

/// Something that was found.
#[derive(Debug, Deserialize)]
struct Item {
    crn: String,
    #[serde(default)]
    tags: Vec<String>,
}

impl Client {
    /// Puts a tag on something. That it is there already is as good. Returns why it was refused, if it was.
    pub async fn attach_tag(&self, crn: &str, tag: &str) -> Result<Option<String>, Error> {
        let body = json!({"tag_names": [tag], "resources": [{"resource_id": crn}]});
        let answer: Value =
            self.post(&format!("tagging {crn}"), To::Tagging, "v3/tags/attach?tag_type=user", &body).await?;
        let results = answer["results"].as_array().into_iter().flatten();
        let mut refused = results.filter(|result| result["is_error"] == true);
        Ok(refused.next().map(|result| result["message"].as_str().unwrap_or("no reason is given").to_owned()))
    }

    /// Returns true if something carries a tag. Other than the search, the tagging service knows at once.
    pub async fn has_tag(&self, crn: &str, tag: &str) -> Result<bool, Error> {
        let crn: String = url::form_urlencoded::byte_serialize(crn.as_bytes()).collect();
        Ok(self.tag_names(&format!("&attached_to={crn}")).await?.iter().any(|own| own == tag))
    }

    /// Returns true if the account has a tag, whether or not anything carries it.
    pub async fn knows_tag(&self, tag: &str) -> Result<bool, Error> {
        Ok(self.tag_names("").await?.iter().any(|own| own == tag))
    }

    /// Deletes a tag, which nothing may carry any more.
    pub async fn delete_tag(&self, tag: &str) -> Result<(), Error> {
        let name: String = url::form_urlencoded::byte_serialize(tag.as_bytes()).collect();
        let attempt = format!("deleting tag {tag}");
        match self.delete(&attempt, To::Tagging, &format!("v3/tags/{name}?tag_type=user")).await {
            // It is detached a while after the last resource is gone.
            Err(Error::Fault { fault, .. }) if fault.message.contains("still attached") => {
                Err(Error::Busy { object: format!("tag {tag}"), state: "still attached".to_owned() })
            }
            done => done,
        }
    }

    async fn tag_names(&self, wanted: &str) -> Result<Vec<String>, Error> {
        #[derive(Deserialize)]
        struct Name {
            name: String,
        }
        #[derive(Deserialize)]
        struct Answer {
            #[serde(default)]
            items: Vec<Name>,
        }
        let mut names = Vec::new();
        for page in 0..PAGES {
            let path = format!("v3/tags?tag_type=user&limit={TAGS_PER_PAGE}&offset={}{wanted}", page * TAGS_PER_PAGE);
            let answer: Answer = self.get("listing tags", To::Tagging, &path).await?;
            let is_last = answer.items.len() < TAGS_PER_PAGE;
            names.extend(answer.items.into_iter().map(|item| item.name));
            if is_last {
                break;
            }
        }
        Ok(names)
    }

    /// Everything in the account that carries exactly this tag, as far as the search knows: it learns of things later than they are
    /// made, and later than they go.
    pub async fn tagged(&self, tag: &str) -> Result<Vec<Crn>, Error> {
        let path = format!("v3/resources/search?limit={PAGE}");
        let mut body = json!({"query": format!("tags:\"{tag}\""), "fields": ["crn", "tags"]});
        let mut found = Vec::new();
        for _ in 0..PAGES {
            let attempt = format!("looking for what is tagged {tag}");
            let mut answer: Value = self.post(&attempt, To::Search, &path, &body).await?;
            let items: Vec<Item> = understood(&attempt, To::Search, answer["items"].take())?;
            let is_last = items.len() < PAGE;
            // Words are looked for, and what is found may have more of them.
            let exact = items.iter().filter(|item| item.tags.iter().any(|own| own == tag));
            found.extend(exact.filter_map(|item| Crn::parse(&item.crn)));
            match answer["search_cursor"].as_str() {
                Some(cursor) if !is_last => body = json!({"search_cursor": cursor}),
                _ => break,
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        let vpc = Crn::parse("crn:v1:bluemix:public:is:us-south:a/123::vpc:r006-1").unwrap();
        assert_eq!((vpc.service.as_str(), vpc.kind.as_str(), vpc.id.as_str()), ("is", "vpc", "r006-1"));
        let workspace = Crn::parse("crn:v1:bluemix:public:power-iaas:dal10:a/123:4-5::").unwrap();
        assert_eq!((workspace.instance.as_str(), workspace.kind.as_str()), ("4-5", ""));
        assert_eq!(Crn::parse("crn:v1:bluemix:public:is"), None);
    }
}
