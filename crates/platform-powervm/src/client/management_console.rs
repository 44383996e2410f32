//! The console itself: its SSH key, and those that it lets in. Partitions move between servers by them.

use super::{atom::Entry, edit::Edit, logical_partition::record, path::Path, session::Client};
use crate::Error;
use crate::xml::Element;

/// Whom a console lets in.
const AUTHORISED: &str = "AuthorizedKeys";

impl Client {
    /// The public SSH key of the console, if it has one.
    pub async fn public_key(&self) -> Result<Option<String>, Error> {
        let console = self.own_console().await?;
        Ok(console.map(|console| trimmed(&console.text("PublicSSHKey"))).filter(|key| !key.is_empty()))
    }

    /// Lets the owner of a key in. That it is let in already is as good.
    pub async fn authorise_key(&self, key: &str) -> Result<(), Error> {
        let key = trimmed(key);
        let Some(console) = self.own_console().await? else {
            return Err(self.misunderstood("authorising an SSH key", "the console does not describe itself".to_owned()));
        };
        if knows(&console.object, &key) {
            return Ok(());
        }
        let path = Path::entry("ManagementConsole", &console.id);
        let add = |object: &mut Element| {
            if knows(object, &key) {
                return Ok(Edit::Unchanged);
            }
            // It is the last element of all.
            if object.child(AUTHORISED).is_none() {
                object.push(record(AUTHORISED, &[]));
            }
            if let Some(list) = object.child_mut(AUTHORISED) {
                list.push(Element::text_of("AuthorizedKey", &key));
            }
            Ok(Edit::Changed)
        };
        self.edit_from(&path, Some(console), add).await.map(drop)
    }

    /// There is one behind every address.
    async fn own_console(&self) -> Result<Option<Entry>, Error> {
        Ok(self.feed(&Path::feed("ManagementConsole")).await?.into_iter().next())
    }
}

/// Keys come with the ends of their lines.
fn trimmed(key: &str) -> String {
    key.trim().to_owned()
}

fn knows(console: &Element, key: &str) -> bool {
    let list = console.child(AUTHORISED).into_iter().flat_map(|list| list.all("AuthorizedKey"));
    list.into_iter().any(|known| trimmed(&known.text()) == key)
}
