//! Feeds and entries.

use jiff::Timestamp;

use super::fault::escaped;
use super::ids;
use super::schema::{self, Groups, UOM, View, WEB};
use super::state::Object;
use super::xml::{Element, push};
use crate::core::{Instant, Response, clock::timestamp};

const OPEN: &str = "xmlns=\"http://www.w3.org/2005/Atom\" xmlns:ns2=\"http://a9.com/-/spec/opensearch/1.1/\" xmlns:ns3=\"http://www.w3.org/1999/xhtml\"";
const WHO: &str = "IBM Power Systems Management Console";

/// What time it is, for the many places that show it.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    pub(crate) epoch: Timestamp,
    pub(crate) now: Instant,
}

impl Clock {
    /// As entries show it.
    pub(crate) fn published(&self) -> String {
        timestamp(self.epoch, self.now).strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
    }

    /// Milliseconds since 1970.
    pub(crate) fn milliseconds(&self) -> u64 {
        u64::try_from(timestamp(self.epoch, self.now).as_millisecond()).unwrap_or_default()
    }
}

/// How the caller looks at objects.
pub(crate) struct Look<'a> {
    /// `http://host:port`.
    pub(crate) base: &'a str,
    pub(crate) groups: Groups,
    /// The groups as they were asked for, for links to oneself.
    pub(crate) query: String,
    pub(crate) clock: Clock,
}

impl Look<'_> {
    /// The content of an object.
    fn content(&self, object: &Object, base: &str) -> String {
        let mut out = String::new();
        let namespace = if object.is_web() { WEB } else { UOM };
        let id = Some((object.id.as_str(), object.created));
        schema::write(&mut out, &object.element, namespace, id, View { base, groups: &self.groups });
        out
    }

    /// The entity tag of an object, which is that of what can be seen of it.
    pub(crate) fn etag(&self, object: &Object) -> String {
        ids::etag(&self.content(object, ""))
    }

    /// One object, as the answer to a call that addressed it.
    pub(crate) fn entry(&self, object: &Object, path: &str) -> Response {
        let etag = self.etag(object);
        let mut body = String::new();
        self.write_entry(&mut body, object, path, Some(OPEN), None);
        let mut headers = headers();
        headers.push(("etag".to_owned(), etag));
        Response { status: 200, headers, body: body.into() }
    }

    /// Objects of a kind. Without any, there is no content.
    pub(crate) fn feed(&self, objects: &[&Object], path: &str, own_path: impl Fn(&Object) -> String) -> Response {
        if objects.is_empty() {
            return Response { status: 204, headers: headers(), body: bytes::Bytes::new() };
        }
        let mut entries = String::new();
        for object in objects {
            self.write_entry(&mut entries, object, &own_path(object), None, Some(&self.etag(object)));
        }
        let body = format!(
            "<feed {OPEN}>\n    <id>{}</id>\n    <updated>{}</updated>\n    <link rel=\"SELF\" href=\"{}{}{}\"/>\n    <generator>{WHO}</generator>\n{entries}</feed>\n",
            ids::uuid(&["feed", path]),
            self.clock.published(),
            self.base,
            escaped(path),
            escaped(&self.query),
        );
        let mut headers = headers();
        headers.push(("etag".to_owned(), ids::etag(&entries)));
        Response { status: 200, headers, body: body.into() }
    }

    fn write_entry(&self, out: &mut String, object: &Object, path: &str, open: Option<&str>, etag: Option<&str>) {
        let service = if object.is_web() { "web" } else { "uom" };
        let title = &object.element.name;
        match open {
            Some(open) => push(out, format_args!("<entry {open}>\n")),
            None => out.push_str("    <entry>\n"),
        }
        push(
            out,
            format_args!(
                "    <id>{}</id>\n    <title>{title}</title>\n    <published>{}</published>\n    <link rel=\"SELF\" href=\"{}{}{}\"/>\n    <author>\n        <name>{WHO}</name>\n    </author>\n",
                object.id,
                self.clock.published(),
                self.base,
                escaped(path),
                escaped(&self.query),
            ),
        );
        if let Some(etag) = etag {
            push(out, format_args!("    <etag:etag xmlns:etag=\"{UOM}\" xmlns=\"{UOM}\">{etag}</etag:etag>\n"));
        }
        push(out, format_args!("    <content type=\"application/vnd.ibm.powervm.{service}+xml; type={title}\">\n"));
        out.push_str(&self.content(object, self.base));
        out.push_str("    </content>\n</entry>\n");
    }
}

fn headers() -> Vec<(String, String)> {
    [("content-type", "application/atom+xml"), ("x-hmc-schema-version", "V1_3_0")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
}

/// An answer of one element outside of Atom.
pub(crate) fn bare(element: &Element, kind: &str) -> Response {
    let mut body = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n".to_owned();
    schema::write(&mut body, element, WEB, None, View { base: "", groups: &Groups::All });
    let headers = vec![("content-type".to_owned(), format!("application/vnd.ibm.powervm.web+xml; type={kind}"))];
    Response { status: 200, headers, body: body.into() }
}
