//! Where in the API a request goes.

use super::kinds::{self, Kind};
use super::store::{Key, Store};

/// A collection or an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) kind: Kind,
    /// `None` for objects without one, and for collections over all namespaces.
    pub(super) namespace: Option<String>,
    /// `None` for a collection.
    pub(super) name: Option<String>,
    /// For example `status`.
    pub(super) part: Option<String>,
}

impl Target {
    /// What a path leads to: `/api/v1/…` or `/apis/<group>/<version>/…`, then
    /// `[namespaces/<namespace>/]<resource>[/<name>[/<part>]]`.
    pub(super) fn parse(store: &Store, path: &str) -> Option<Self> {
        let mut segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let (group, version) = match segments.as_slice() {
            ["api", version, ..] => ("", *version),
            ["apis", group, version, ..] => (*group, *version),
            _ => return None,
        };
        segments.drain(..if group.is_empty() { 2 } else { 3 });
        let namespace = match segments.as_slice() {
            // What belongs to the namespace itself: the object, its status, and how it ends.
            ["namespaces", _] | ["namespaces", _, "status" | "finalize"] => None,
            ["namespaces", namespace, _, ..] => Some((*namespace).to_owned()),
            _ => None,
        };
        if namespace.is_some() {
            segments.drain(..2);
        }
        let mut segments = segments.into_iter().map(str::to_owned);
        let kind = kinds::find(store, group, version, &segments.next()?)?;
        let target = Self { kind, namespace, name: segments.next(), part: segments.next() };
        let whole = segments.next().is_none();
        let fits =
            target.kind.namespaced == target.namespace.is_some() || target.name.is_none() && target.kind.namespaced;
        (whole && fits).then_some(target)
    }

    /// Where the object of that name is, in this collection.
    pub(super) fn key(&self, name: &str) -> Key {
        Key::new(&self.kind.group, &self.kind.resource, self.namespace.as_deref().unwrap_or_default(), name)
    }

    /// For errors, as Kubernetes says it.
    pub(super) fn resource(&self) -> String {
        if self.kind.group.is_empty() {
            self.kind.resource.clone()
        } else {
            format!("{}.{}", self.kind.resource, self.kind.group)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str) -> Option<(String, [Option<String>; 3])> {
        let target = Target::parse(&Store::default(), path)?;
        Some((target.resource(), [target.namespace, target.name, target.part]))
    }

    #[test]
    fn collections_objects_and_parts() {
        let own = |text: &str| Some(text.to_owned());
        for (path, expected) in [
            ("/api/v1/nodes", ("nodes", None, None, None)),
            ("/api/v1/nodes/a/status", ("nodes", None, own("a"), own("status"))),
            ("/api/v1/namespaces", ("namespaces", None, None, None)),
            ("/api/v1/namespaces/x", ("namespaces", None, own("x"), None)),
            ("/api/v1/namespaces/x/status", ("namespaces", None, own("x"), own("status"))),
            ("/api/v1/namespaces/x/secrets", ("secrets", own("x"), None, None)),
            ("/api/v1/secrets", ("secrets", None, None, None)),
            ("/apis/apps/v1/namespaces/x/deployments/d", ("deployments.apps", own("x"), own("d"), None)),
        ] {
            let (resource, namespace, name, part) = expected;
            assert_eq!(read(path), Some((resource.to_owned(), [namespace, name, part])), "{path}");
        }
    }

    #[test]
    fn what_is_nowhere() {
        for path in [
            "/",
            "/api/v2/nodes",
            "/api/v1/things",
            "/api/v1/secrets/one",
            "/api/v1/namespaces/x/nodes",
            "/api/v1/nodes/a/status/more",
            "/apis/machine.openshift.io/v1beta1/machines",
        ] {
            assert_eq!(read(path), None, "{path}");
        }
    }
}
