//! A file system that loses power, for tests.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
};

use crate::{disk::Disk, replace::directory_of};

/// A file system that keeps only what was synced when its power is lost: contents by the file's own fsync, names by that of their
/// directory.
#[derive(Default)]
pub(crate) struct Model {
    state: RefCell<State>,
    /// Operations until the power is lost; none if it stays.
    left: Cell<Option<usize>>,
    /// Whether new names are stored before they must be, as a file system may do.
    eager: bool,
}

#[derive(Clone, Default)]
struct State {
    /// Contents, and whether they are stored, by number of the file.
    files: Vec<(Vec<u8>, bool)>,
    /// Names as programs see them.
    seen: BTreeMap<PathBuf, usize>,
    /// Names as they are stored.
    stored: BTreeMap<PathBuf, usize>,
    directories: BTreeSet<PathBuf>,
    stored_directories: BTreeSet<PathBuf>,
}

impl Model {
    pub(crate) fn with_root(eager: bool) -> Self {
        let model = Self { eager, ..Self::default() };
        let root = BTreeSet::from([PathBuf::from("/")]);
        model.state.borrow_mut().directories.clone_from(&root);
        model.state.borrow_mut().stored_directories = root;
        model
    }

    /// Lets this many operations succeed, and none after them.
    pub(crate) fn lose_power_after(&self, operations: usize) {
        self.left.set(Some(operations));
    }

    fn step(&self) -> io::Result<()> {
        match self.left.get() {
            Some(0) => Err(io::Error::other("the power is lost")),
            Some(left) => {
                self.left.set(Some(left - 1));
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// What is found after the power is back: `None` if there is no file, and nothing inside of a file that was not synced.
    pub(crate) fn after_loss(&self, path: &Path) -> Option<Vec<u8>> {
        let state = self.state.borrow();
        if !directory_of(path).ancestors().all(|directory| state.stored_directories.contains(directory)) {
            return None;
        }
        let (contents, is_stored) = &state.files[*state.stored.get(path)?];
        Some(if *is_stored { contents.clone() } else { Vec::new() })
    }
}

impl Disk for Model {
    fn create(&self, path: &Path, contents: &[u8], _: u32) -> io::Result<()> {
        self.step()?;
        let mut state = self.state.borrow_mut();
        assert!(state.directories.contains(directory_of(path)), "{}", path.display());
        let number = state.files.len();
        state.files.push((contents.to_vec(), false));
        state.seen.insert(path.to_owned(), number);
        Ok(())
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        let mut state = self.state.borrow_mut();
        if let Some(&number) = state.seen.get(path) {
            state.files[number].1 = true;
            return Ok(());
        }
        assert!(state.directories.contains(path), "{}", path.display());
        let is_inside = |name: &PathBuf| directory_of(name) == path;
        state.stored.retain(|name, _| !is_inside(name));
        let inside: Vec<_> =
            state.seen.iter().filter(|(name, _)| is_inside(name)).map(|(n, i)| (n.clone(), *i)).collect();
        state.stored.extend(inside);
        let below: Vec<_> = state.directories.iter().filter(|name| is_inside(name)).cloned().collect();
        state.stored_directories.extend(below);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        let mut state = self.state.borrow_mut();
        let number = state.seen.remove(from).ok_or(io::ErrorKind::NotFound)?;
        state.seen.insert(to.to_owned(), number);
        if self.eager {
            state.stored.insert(to.to_owned(), number);
        }
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        self.state.borrow_mut().seen.remove(path).map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        self.state.borrow_mut().directories.insert(path.to_owned());
        Ok(())
    }

    fn is_directory(&self, path: &Path) -> io::Result<bool> {
        Ok(self.state.borrow().directories.contains(path))
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<(PathBuf, bool)>> {
        let state = self.state.borrow();
        let is_inside = |name: &&PathBuf| name.parent() == Some(directory);
        let files = state.seen.keys().filter(is_inside).map(|name| (name.clone(), false));
        let below = state.directories.iter().filter(is_inside).map(|name| (name.clone(), true));
        Ok(files.chain(below).collect())
    }
}
