//! A user at a pseudo-terminal.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use rexpect::{
    process::WaitStatus,
    reader::Options,
    session::{PtySession, spawn_with_options},
};
use tempfile::TempDir;

const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINeH6UHsSmGfDr5YbJqTmrHIEAG+rRzm9Nt1iZcLGnbB admin@example.com";
pub(crate) const ENTER: &str = "\r";
pub(crate) const ESCAPE: &str = "\x1b";
pub(crate) const BACKSPACE: &str = "\x7f";
/// Long enough for a machine that is busy with other things.
const PATIENCE_MS: u64 = 60_000;

/// The survey as the real program, in a home of its own, driven by key strokes.
pub(crate) struct Terminal {
    home: TempDir,
    session: PtySession,
}

impl Terminal {
    pub(crate) fn open() -> Self {
        let home = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(home.path().join(".ssh")).expect("a new directory");
        std::fs::write(home.path().join(".ssh/id_ed25519.pub"), KEY).expect("a new file");
        let mut command = Command::new(env!("CARGO_BIN_EXE_landfall"));
        command
            .args(["create", "install-config", "--dir"])
            .arg(home.path().join("cluster"))
            .env_clear()
            .envs([("PATH", "/usr/bin:/bin"), ("TERM", "xterm"), ("NO_COLOR", "1")])
            .env("HOME", home.path());
        let options = Options::new().timeout_ms(Some(PATIENCE_MS)).strip_ansi_escape_codes(true);
        let session = spawn_with_options(command, options).expect("the program starts");
        Self { home, session }
    }

    /// Waits until something is shown.
    pub(crate) fn see(&mut self, text: &str) {
        if let Err(error) = self.session.exp_string(text) {
            panic!("'{text}' is not shown: {error}");
        }
    }

    /// Waits for a question and presses keys.
    pub(crate) fn answer(&mut self, question: &str, keys: &str) {
        self.see(question);
        self.press(keys);
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.session.send(keys).expect("the terminal takes keys");
        self.session.flush().expect("the terminal takes keys");
    }

    pub(crate) fn press_ctrl_c(&mut self) {
        self.session.send_control('c').expect("the terminal takes keys");
    }

    /// The exit status, when the program has ended.
    pub(crate) fn end(&mut self) -> i32 {
        let rest = self.session.exp_eof().expect("the program ends");
        match self.session.process().wait().expect("the program has ended") {
            WaitStatus::Exited(_, status) => status,
            other => panic!("{other:?} after: {rest}"),
        }
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn install_config(&self) -> PathBuf {
        self.home.path().join("cluster/install-config.yaml")
    }

    /// Where the survey of a platform keeps credentials.
    pub(crate) fn credentials(&self, platform: &str) -> PathBuf {
        self.home.path().join(format!(".{platform}/{platform}-config.yaml"))
    }

    /// Everything in the home directory that was not there before.
    pub(crate) fn traces(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.home.path()).expect("the home directory");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        paths.filter(|path| path.file_name().is_some_and(|name| name != ".ssh")).collect()
    }
}
