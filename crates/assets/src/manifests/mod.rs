//! Kubernetes objects that the bootstrap machine applies.

use std::collections::BTreeMap;

use landfall_platform::{File, FileSet};
use serde_json::json;

use crate::{Cluster, Error, Secrets, yaml};

/// A platform's credentials as the keys of a Secret, for example `ovirt_url`. They come from the user's credential file.
pub type Credentials = BTreeMap<String, String>;

/// All manifests of a cluster, below `manifests/`.
///
/// Without credentials the Secret for them is left out; the machine controller waits for it then.
pub fn manifests(
    _cluster: &Cluster<'_>,
    _secrets: &Secrets,
    _credentials: Option<&Credentials>,
) -> Result<FileSet, Error> {
    let mut files = FileSet::default();
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "landfall-system" } });
    let path = "manifests/00-namespace.yaml";
    files.insert(path, File::public(yaml::document(path, &namespace)?));
    Ok(files)
}
