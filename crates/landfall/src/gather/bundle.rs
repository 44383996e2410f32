//! The archive.

use std::{
    fs::OpenOptions,
    io::Write,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use flate2::{Compression, write::GzEncoder};

use super::scrub::Scrub;

/// An archive in the making. What goes in is scrubbed.
pub(super) struct Bundle {
    scrub: Scrub,
    files: Vec<(String, Vec<u8>)>,
    missing: Vec<String>,
}

impl Bundle {
    pub(super) fn new(scrub: Scrub) -> Self {
        Self { scrub, files: Vec::new(), missing: Vec::new() }
    }

    /// Adds a source, or the reason why it cannot be had.
    pub(super) fn add(&mut self, name: &str, contents: anyhow::Result<Vec<u8>>) {
        match contents {
            Ok(contents) => self.files.push((name.to_owned(), self.scrub.clean(&contents))),
            Err(error) => self.missing.push(format!("{name}: {error:#}")),
        }
    }

    /// What could not be had, and why.
    pub(super) fn missing(&self) -> &[String] {
        &self.missing
    }

    /// Writes the archive, for its owner only. Everything in it lies in one directory.
    pub(super) fn write(mut self, directory: &str, path: &Path) -> anyhow::Result<PathBuf> {
        let had = self.files.iter().map(|(name, _)| format!("{name}: collected\n"));
        let missing = self.missing.iter().map(|reason| format!("{reason}\n"));
        let sources: String = had.chain(missing).collect();
        self.add("sources.txt", Ok(sources.into_bytes()));
        let cannot = || format!("cannot write {}", path.display());
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).with_context(cannot)?;
        let mut archive = tar::Builder::new(GzEncoder::new(file, Compression::default()));
        for (name, contents) in &self.files {
            let mut header = tar::Header::new_gnu();
            header.set_size(contents.len() as u64);
            header.set_mode(0o600);
            header.set_mtime(u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or_default());
            archive
                .append_data(&mut header, format!("{directory}/{name}"), contents.as_slice())
                .with_context(cannot)?;
        }
        archive.into_inner().and_then(GzEncoder::finish).and_then(|mut file| file.flush()).with_context(cannot)?;
        Ok(path.to_owned())
    }
}
