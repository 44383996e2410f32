//! A request that changes something, and how it ended.

use super::params::Params;
use crate::ovirt::fault::Fault;
use crate::ovirt::representation::types::ACTION;
use crate::ovirt::representation::{self, Format, Tree, Type, Unknown};
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

/// A request that changes something.
pub(crate) struct Call<'a> {
    pub(crate) state: &'a mut State,
    pub(crate) params: &'a Params,
    pub(crate) body: Body<'a>,
}

/// A body and the syntax it is said to be in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body<'a> {
    pub(crate) bytes: &'a [u8],
    /// `None` if the content type is none that the API has.
    pub(crate) format: Option<Format>,
    /// Where the documentation of this address is, for the fault.
    pub(crate) usage: &'a str,
}

/// How a change ended.
#[derive(Debug)]
pub(crate) enum Done {
    /// Something was made; it is at this path, and the job may still be under way.
    Created { path: String, job: Option<Id> },
    /// Something was changed; it is at this path.
    Updated { path: String },
    /// Something was removed, or will be when the job is done.
    Removed { job: Option<Id> },
    /// An action was carried out by this job, or goes on in it if it is pending.
    Acted { job: Option<Id>, pending: bool },
}

/// What a change gives.
pub(crate) type Outcome = Result<Done, Fault>;

impl Call<'_> {
    /// Reads the body as one of `kind`.
    pub(crate) fn read(&self, kind: &'static Type) -> Result<Tree, Fault> {
        self.body.read(kind)
    }

    /// Reads the body of an action, which may be left out.
    pub(crate) fn read_action(&self) -> Result<Tree, Fault> {
        if self.body.bytes.iter().all(u8::is_ascii_whitespace) { Ok(Tree::new()) } else { self.read(&ACTION) }
    }
}

impl Body<'_> {
    fn read(&self, kind: &'static Type) -> Result<Tree, Fault> {
        let format = self.format.ok_or(Fault { status: 415, text: None })?;
        representation::read(format, self.bytes, kind, Unknown::Skip)
            .map_err(|error| Fault::unreadable(&error, self.usage))
    }
}

/// `field` of `tree`, or the fault that says that it is required.
pub(crate) fn require<'t>(tree: &'t Tree, kind: &str, field: &str, method: &str) -> Result<&'t str, Fault> {
    tree.text(field).filter(|text| !text.is_empty()).ok_or_else(|| Fault::incomplete(kind, field, method))
}
