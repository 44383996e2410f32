//! Files that one stage hands to the next, before anyone writes them.

use std::collections::BTreeMap;

/// Files by their path relative to the install directory, with `/` between the parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSet(BTreeMap<String, File>);

/// Contents of a file, and who may read it.
#[derive(Clone, PartialEq, Eq)]
pub struct File {
    /// The bytes.
    pub contents: Vec<u8>,
    /// Who may read it.
    pub mode: Mode,
}

/// Who may read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Everybody (0644).
    Public,
    /// Only the user who runs Landfall (0600), because it holds a secret.
    Private,
}

impl File {
    /// A file that everybody may read.
    pub fn public(contents: impl Into<Vec<u8>>) -> Self {
        Self { contents: contents.into(), mode: Mode::Public }
    }

    /// A file that only its owner may read.
    pub fn private(contents: impl Into<Vec<u8>>) -> Self {
        Self { contents: contents.into(), mode: Mode::Private }
    }
}

/// Contents may be secret, so only their length is shown.
impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "File({:?}, {} bytes)", self.mode, self.contents.len())
    }
}

impl FileSet {
    /// Adds a file. A path that is taken is a mistake of the renderer, never of the user.
    pub fn insert(&mut self, path: impl Into<String>, file: File) {
        let path = path.into();
        let taken = self.0.insert(path.clone(), file).is_some();
        assert!(!taken, "two assets render {path}");
    }

    /// Adds a file or takes the place of the one with its path.
    pub fn replace(&mut self, path: impl Into<String>, file: File) {
        self.0.insert(path.into(), file);
    }

    /// Takes in all files of another set; a path in both is a mistake of the renderer.
    pub fn extend(&mut self, other: Self) {
        for (path, file) in other.0 {
            self.insert(path, file);
        }
    }

    /// The file at a path.
    pub fn get(&self, path: &str) -> Option<&File> {
        self.0.get(path)
    }

    /// Returns the file that one machine is started with: its own, or else the one that machines of its role have in common.
    pub fn of_machine(&self, path: &str, machine: &str) -> Option<&File> {
        self.get(&Self::machine_path(path, machine)).or_else(|| self.get(path))
    }

    /// Adds the file that one machine is started with instead of the one at `path`.
    pub fn insert_for_machine(&mut self, path: &str, machine: &str, file: File) {
        self.insert(Self::machine_path(path, machine), file);
    }

    fn machine_path(path: &str, machine: &str) -> String {
        format!("machines/{machine}/{path}")
    }

    /// All files in the order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &File)> {
        self.0.iter().map(|(path, file)| (path.as_str(), file))
    }

    /// The files below a directory, with paths relative to it.
    pub fn below(&self, directory: &str) -> impl Iterator<Item = (&str, &File)> {
        let prefix = format!("{directory}/");
        self.0.iter().filter_map(move |(path, file)| Some((path.strip_prefix(&prefix)?, file)))
    }

    /// Number of files.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(String, File)> for FileSet {
    fn from_iter<I: IntoIterator<Item = (String, File)>>(files: I) -> Self {
        let mut set = Self::default();
        for (path, file) in files {
            set.insert(path, file);
        }
        set
    }
}
