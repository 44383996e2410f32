//! Rendering: what every resource uses to write itself.

use std::fmt::{Arguments, Display};

use super::follow::Follow;
use super::params::Params;
use super::route;
use crate::core::Instant;
use crate::ovirt::fault::Fault;
use crate::ovirt::representation::{Format, Out};
use crate::ovirt::state::State;
use crate::ovirt::table::Id;

/// A representation that is being written.
pub(crate) struct View<'a> {
    pub(crate) state: &'a State,
    pub(crate) out: Out,
    /// What the caller may see.
    pub(crate) access: &'a super::access::Access,
    /// The parameters of the request; none while a link is followed.
    pub(crate) params: &'a Params,
    /// The path that all links begin with: `/ovirt-engine/api`, with the version if the client gave it.
    base: &'a str,
    follow: &'a Follow,
    /// The job that is still making what is written.
    job: Option<Id>,
}

impl<'a> View<'a> {
    pub(crate) fn new(
        state: &'a State,
        format: Format,
        access: &'a super::access::Access,
        params: &'a Params,
        base: &'a str,
        follow: &'a Follow,
    ) -> Self {
        Self { state, out: Out::new(format), access, params, base, follow, job: None }
    }

    /// Says that what is written is still being made by this job.
    pub(crate) fn announce(&mut self, job: Option<Id>) {
        self.job = job;
    }

    /// Opens an entity: its element with `href` and `id`.
    pub(crate) fn open(&mut self, element: &'static str, path: Arguments, id: impl Display) {
        self.out.open(element);
        self.out.attribute("href", format_args!("{}/{path}", self.base));
        self.out.attribute("id", id);
    }

    /// Closes an entity.
    pub(crate) fn close(&mut self) {
        self.out.close();
    }

    /// A reference to another entity, or that entity itself if it is followed.
    pub(crate) fn reference(&mut self, name: &'static str, collection: &str, id: Id) {
        self.reference_to(name, format_args!("{collection}/{id}"), id);
    }

    /// A reference to an entity that may be absent.
    pub(crate) fn maybe_reference(&mut self, name: &'static str, collection: &str, id: Option<Id>) {
        if let Some(id) = id {
            self.reference(name, collection, id);
        }
    }

    /// A reference to an entity by its whole path.
    pub(crate) fn reference_to(&mut self, name: &'static str, path: Arguments, id: impl Display) {
        if let Some(branch) = self.follow.branch(name)
            && self.inline(Some(name), &path.to_string(), branch)
        {
            return;
        }
        self.open(name, path, id);
        self.close();
    }

    /// The links of an entity to the collections under it; those that are followed are written in place.
    pub(crate) fn links(&mut self, path: Arguments, rels: &[&'static str]) {
        let job = self.job.take();
        self.out.maybe("creation_status", job.map(|job| super::creation::progress(self.state, job)));
        self.out.open_links();
        if let Some(job) = job {
            self.link("creation_status", format_args!("{path}/creation_status/{job}"));
        }
        for rel in rels.iter().filter(|rel| self.follow.branch(rel).is_none()) {
            self.link(rel, format_args!("{path}/{rel}"));
        }
        self.out.close_links();
        for rel in rels {
            if let Some(branch) = self.follow.branch(rel) {
                self.inline(None, &format!("{path}/{rel}"), branch);
            }
        }
    }

    /// One link. The caller has opened the links.
    pub(crate) fn link(&mut self, rel: &'static str, path: Arguments) {
        self.out.open("link");
        self.out.attribute("href", format_args!("{}/{path}", self.base));
        self.out.attribute("rel", rel);
        self.out.close();
    }

    /// The links to the actions of an entity.
    pub(crate) fn actions(&mut self, path: Arguments, names: &[&'static str]) {
        if names.is_empty() {
            return;
        }
        self.out.open("actions");
        self.out.open_links();
        for name in names {
            self.link(name, format_args!("{path}/{name}"));
        }
        self.out.close_links();
        self.out.close();
    }

    /// A point in time.
    pub(crate) fn date(&mut self, name: &'static str, at: Instant) {
        let time = self.state.timestamp(at);
        self.out.text(name, time.strftime("%Y-%m-%dT%H:%M:%S%.3f%:z"));
    }

    /// A point in time that may be absent.
    pub(crate) fn maybe_date(&mut self, name: &'static str, at: Option<Instant>) {
        if let Some(at) = at {
            self.date(name, at);
        }
    }

    /// `name`, `description` and `comment`: always there, also when they are empty, because some clients insist.
    pub(crate) fn names(&mut self, name: &str, description: &str, comment: &str) {
        self.out.text("name", name);
        self.out.text("description", description);
        self.out.text("comment", comment);
    }

    /// Writes what is at `path` in place, with `element` for its own. False if there is nothing that may be seen.
    fn inline(&mut self, element: Option<&'static str>, path: &str, follow: &'a Follow) -> bool {
        let parts: Vec<&str> = path.split('/').collect();
        let Ok(found) = route::find(self.state, &parts) else { return false };
        if !route::is_visible(self.state, self.access, &parts) {
            return false;
        }
        let none = Params::default();
        let format = self.out.format();
        let mut nested = View {
            state: self.state,
            out: std::mem::replace(&mut self.out, Out::new(format)),
            access: self.access,
            params: &none,
            base: self.base,
            follow,
            job: None,
        };
        let written = found.render(&mut nested, element);
        self.out = nested.out;
        written.is_ok()
    }
}

/// What a `GET` of an address writes.
pub(crate) type Rendered = Result<(), Fault>;
