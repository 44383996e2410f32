//! A file with Kubernetes objects in it.

use landfall_platform::{File, Mode};
use serde_json::Value;

use crate::{Error, yaml};

/// A file with Kubernetes objects in it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Manifest {
    /// Name of the file. Names sort in the order in which the objects are best applied.
    pub(crate) file_name: String,
    /// The objects.
    pub(crate) objects: Vec<Value>,
    /// Whether it holds a secret.
    pub(crate) mode: Mode,
}

impl Manifest {
    /// A file that everybody may read.
    pub(crate) fn public(file_name: impl Into<String>, objects: Vec<Value>) -> Self {
        Self { file_name: file_name.into(), objects, mode: Mode::Public }
    }

    /// A file with secrets.
    pub(crate) fn private(file_name: impl Into<String>, objects: Vec<Value>) -> Self {
        Self { mode: Mode::Private, ..Self::public(file_name, objects) }
    }

    /// As a file of an install directory, with its path.
    pub(crate) fn to_file(&self, directory: &str) -> Result<(String, File), Error> {
        let path = format!("{directory}/{}", self.file_name);
        let contents = yaml::documents(&path, &self.objects)?.into_bytes();
        Ok((path, File { contents, mode: self.mode }))
    }
}
