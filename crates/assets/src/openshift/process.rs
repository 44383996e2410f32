//! Runs the program. The only file of this crate that starts a process.

use std::{
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Output, Stdio},
};

use super::{Error, OpenshiftInstall, Target, VersionInfo, locate::RELEASE_IMAGE_VARIABLE};

/// How much of the program's log an error shows.
const LOG_LINES: usize = 15;

/// An `openshift-install` program on this machine.
///
/// It is started without a terminal, so it can ask nothing, and inherits the environment but for the release image, which is
/// decided here. Its arguments are the target and the directory; whatever is secret is in files.
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
    release_image: Option<String>,
}

impl Program {
    /// The program at an absolute path, see [`locate`](super::locate()), and the release image it is to install, see
    /// [`release_image`](super::release_image()).
    pub fn new(path: impl Into<PathBuf>, release_image: Option<String>) -> Self {
        Self { path: path.into(), release_image }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn run(&self, arguments: &[&str], directory: Option<&Path>) -> Result<Output, Error> {
        let mut command = Command::new(&self.path);
        command.args(arguments).stdin(Stdio::null());
        match &self.release_image {
            Some(image) => command.env(RELEASE_IMAGE_VARIABLE, image),
            None => command.env_remove(RELEASE_IMAGE_VARIABLE),
        };
        if let Some(directory) = directory {
            // Also the current directory, so that nothing it might leave behind ends up in the user's.
            command.arg("--dir").arg(directory).current_dir(directory);
        }
        command.output().map_err(|source| Error::Start { program: self.path.clone(), source })
    }
}

impl OpenshiftInstall for Program {
    fn version(&self) -> Result<VersionInfo, Error> {
        let output = self.run(&["version"], None)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let info = VersionInfo::parse(&text).filter(|_| output.status.success());
        let mut info = info.ok_or_else(|| Error::NotInstaller {
            program: self.path.clone(),
            output: tail(&format!("{text}{}", String::from_utf8_lossy(&output.stderr))),
        })?;
        // The program prints the image it was built with, even when another one is given.
        if let Some(image) = &self.release_image {
            info.release_image = Some(image.clone());
        }
        Ok(info)
    }

    fn create(&self, target: Target, directory: &Path) -> Result<Vec<String>, Error> {
        let output = self.run(&["create", target.name()], Some(directory))?;
        let log = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(Error::Failed {
                program: self.path.clone(),
                target,
                status: describe(output.status),
                log: tail(&log),
                hint: hint(output.status),
            });
        }
        Ok(log.lines().filter_map(warning).collect())
    }
}

/// What one line of the log warns of. Without a terminal a line reads `level=warning msg=…`, the text in quotes if it has
/// blanks and the release is an older one.
fn warning(line: &str) -> Option<String> {
    let message = line.strip_prefix("level=warning msg=")?.trim();
    let unquoted = message.strip_prefix('"').and_then(|message| message.strip_suffix('"'));
    Some(unquoted.map_or_else(|| message.to_owned(), |message| message.replace("\\\"", "\"")))
}

fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    match lines.as_slice() {
        [] => "  (nothing)".to_owned(),
        lines => lines[lines.len().saturating_sub(LOG_LINES)..]
            .iter()
            .map(|line| format!("  {line}"))
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

fn describe(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit code {code}"),
        None => status.to_string(),
    }
}

/// Its exit code 3 means that it rejects the install-config, see `openshift-install`'s own documentation of exit codes.
fn hint(status: ExitStatus) -> &'static str {
    match status.code() {
        Some(3) => {
            "it rejects the install-config that Landfall made from yours; change the field it names in your \
             install-config.yaml, or use a release that knows it"
        }
        Some(_) => "look for the first error above; Landfall gave it a copy, so your files are as they were",
        None => "something ended it from outside; run the command again",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_warnings_in_both_spellings() {
        assert_eq!(
            warning("level=warning msg=Found override for release image").as_deref(),
            Some("Found override for release image")
        );
        assert_eq!(warning(r#"level=warning msg="say \"no\"""#).as_deref(), Some(r#"say "no""#));
        assert_eq!(warning("level=info msg=Consuming Install Config from target directory"), None);
    }

    #[test]
    fn shows_only_the_end_of_a_long_log() {
        let log = (0..100).map(|line| format!("line {line}\n")).collect::<Vec<_>>().join("\n");
        let tail = tail(&log);
        assert_eq!(tail.lines().count(), LOG_LINES);
        assert!(tail.ends_with("  line 99"), "{tail}");
    }
}
