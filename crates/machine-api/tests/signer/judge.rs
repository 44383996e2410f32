//! The Go program that reads requests as the signer does.

use std::{
    io::{BufRead, BufReader, BufWriter, Lines, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use tempfile::TempDir;

/// A built program.
pub(crate) struct Judge {
    directory: TempDir,
}

/// Requests on their way to a running program.
pub(crate) struct Requests(BufWriter<ChildStdin>);

/// Answers of a running program, a line for each request.
pub(crate) struct Answers {
    lines: Lines<BufReader<ChildStdout>>,
    program: Child,
}

impl Judge {
    /// Builds the program from the standard library alone.
    pub(crate) fn build() -> Self {
        let directory = TempDir::new().expect("a directory can be made");
        let status = Command::new("go")
            .args(["build", "-trimpath", "-o"])
            .arg(directory.path().join("judge"))
            .arg(".")
            .envs([("GOPROXY", "off"), ("GOTOOLCHAIN", "local"), ("GOFLAGS", "-mod=mod"), ("CGO_ENABLED", "0")])
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/signer/judge"))
            .status()
            .expect("go can be run; `scripts/setup test` installs it");
        assert!(status.success(), "the judge cannot be built: {status}");
        Self { directory }
    }

    fn command(&self) -> Command {
        Command::new(self.directory.path().join("judge"))
    }

    /// Makes a request as kubelets do.
    pub(crate) fn make(&self, common_name: &str, organization: &str, names: &[&str]) -> Vec<u8> {
        let made = self.command().args(["make", common_name, organization]).args(names).output().expect("it runs");
        assert!(made.status.success(), "{made:?}");
        made.stdout
    }

    /// Starts a program that answers requests.
    pub(crate) fn start(&self) -> (Requests, Answers) {
        let mut program =
            self.command().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program can be run");
        let requests = Requests(BufWriter::new(program.stdin.take().expect("it is piped")));
        let lines = BufReader::new(program.stdout.take().expect("it is piped")).lines();
        (requests, Answers { lines, program })
    }

    /// Returns the answers to a few requests.
    pub(crate) fn see(&self, pems: &[Vec<u8>]) -> Vec<String> {
        let (mut requests, answers) = self.start();
        for pem in pems {
            requests.send(pem);
        }
        drop(requests);
        answers.collect()
    }
}

impl Requests {
    /// Sends a request.
    pub(crate) fn send(&mut self, pem: &[u8]) {
        let length = u32::try_from(pem.len()).expect("a request is small");
        self.0.write_all(&length.to_be_bytes()).and_then(|()| self.0.write_all(pem)).expect("the judge reads");
    }
}

impl Iterator for Answers {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        self.lines.next().map(|line| line.expect("the judge writes lines"))
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        // After a disagreement it may wait for more.
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}
