//! A call, taken apart.

use crate::core::Request;
use crate::powervm::atom::Look;
use crate::powervm::fault::Fault;
use crate::powervm::present;
use crate::powervm::schema::{self, Groups};
use crate::powervm::state::{Object, State};
use crate::powervm::xml::Element;

/// A call.
pub(super) struct Call {
    pub(super) host: usize,
    pub(super) service: String,
    /// The parts of the path after the service, without percent signs.
    pub(super) segments: Vec<String>,
    pub(super) query: Vec<(String, String)>,
    /// `http://host:port`, as the caller sees it.
    pub(super) base: String,
}

/// What a path stands for.
pub(super) enum Place {
    /// All objects of a kind, at the top or of a parent.
    Feed { parent: Option<Object>, kind: String },
    /// One object.
    Entry(Object),
}

impl Call {
    pub(super) fn new(state: &State, host: usize, request: &Request) -> Self {
        let path = request.path.strip_prefix("/rest/api/").unwrap_or_default();
        let (service, rest) = path.split_once('/').unwrap_or((path, ""));
        let decode = |part: &str| {
            let plus = part.replace('+', "%2B");
            url::form_urlencoded::parse(plus.as_bytes()).next().map(|(text, _)| text.into_owned()).unwrap_or_default()
        };
        let parts = rest.split('/').filter(|part| !part.is_empty());
        // A part may hold an equals sign (a search does), which would end a key.
        let segments = parts.map(|part| part.split('=').map(decode).collect::<Vec<_>>().join("=")).collect();
        let query = url::form_urlencoded::parse(request.query.as_bytes()).into_owned().collect();
        let scheme = if state.secure { "https" } else { "http" };
        let authority = header(request, "host").unwrap_or("localhost");
        Self { host, service: service.to_owned(), segments, query, base: format!("{scheme}://{authority}") }
    }

    /// How the caller looks at objects.
    pub(super) fn look(&self, state: &State) -> Look<'_> {
        let asked = self.query.iter().find(|(name, _)| name == "group");
        Look {
            base: &self.base,
            groups: Groups::of(&self.query),
            query: asked.map(|(_, groups)| format!("?group={groups}")).unwrap_or_default(),
            clock: state.clock(),
        }
    }

    /// What the path stands for, up to the part of this number.
    pub(super) fn place(&self, state: &State, length: usize) -> Result<Place, Fault> {
        let mut parent: Option<Object> = None;
        let mut parts = self.segments[..length].iter();
        while let Some(kind) = parts.next() {
            let Some(id) = parts.next() else {
                return Ok(Place::Feed { parent, kind: kind.clone() });
            };
            let missing = || Fault::not_found(kind, id);
            let found = match &parent {
                Some(parent) if present::is_derived(kind) => {
                    let all = present::derived(state, self.host, parent, kind);
                    all.into_iter().find(|object| object.id.eq_ignore_ascii_case(id))
                }
                Some(owner) => state
                    .of_kind(self.host, kind, id)
                    .filter(|object| object.parent.as_deref() == Some(&owner.id))
                    .cloned(),
                None => state.of_kind(self.host, kind, id).filter(|object| is_root(object)).cloned(),
            };
            parent = Some(found.ok_or_else(missing)?);
        }
        parent.map(Place::Entry).ok_or_else(|| Fault::no_route(""))
    }

    /// The body as an element of a kind, in the order of the schema.
    pub(super) fn body(request: &Request, kind: Option<&str>) -> Result<Element, Fault> {
        let element = Element::parse(&request.body).map_err(Fault::schema)?;
        if let Some(kind) = kind.filter(|kind| *kind != element.name) {
            return Err(Fault::schema(format!("'{kind}' is expected, not '{}'.", element.name)));
        }
        schema::misplaced(&element).map_or(Ok(element), |sentence| Err(Fault::schema(sentence)))
    }

    /// Refuses a change by somebody who has not seen the present state.
    pub(super) fn check_etag(&self, state: &State, request: &Request, object: &Object) -> Result<(), Fault> {
        let Some(wanted) = header(request, "if-match") else { return Ok(()) };
        let shown = present::present(state, self.host, object);
        // Deletions come without groups, with the tag of whatever was read before.
        let known = ["", "None", "All", "ViosStorage", "ViosNetwork", "ViosSCSIMapping", "ViosFCMapping"];
        let asked = std::iter::once(self.look(state).groups);
        let groups = asked.chain(known.into_iter().filter(|_| request.method == "DELETE").map(|group| {
            Groups::of(&if group.is_empty() { vec![] } else { vec![("group".to_owned(), group.to_owned())] })
        }));
        let mut tags = groups.map(|groups| Look { groups, ..self.look(state) }.etag(&shown));
        if wanted == "*" || tags.any(|tag| tag == wanted) { Ok(()) } else { Err(Fault::stale()) }
    }
}

/// Whether an object is found at the top too.
pub(super) fn is_root(object: &Object) -> bool {
    object.parent.is_none() || matches!(object.kind(), "LogicalPartition" | "VirtualIOServer" | "Tier")
}

/// A header of a request.
pub(super) fn header<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    request.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}
