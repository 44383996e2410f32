//! Running other programs: with a time limit, their output kept for the error, and nothing left behind.

use std::{fmt, process::Stdio, time::Duration};

use tokio::{io::AsyncWriteExt as _, process::Command, time::timeout};

/// Lines of output that an error keeps.
const LINES: usize = 15;

/// Why a program did not do its work.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It cannot be started.
    #[error("cannot start {program}; is it installed?")]
    Start {
        /// Which program.
        program: String,
        /// What the system answered.
        #[source]
        source: std::io::Error,
    },
    /// It failed.
    #[error("{command} failed with {status}: {output}")]
    Failed {
        /// The command.
        command: String,
        /// Its exit status.
        status: std::process::ExitStatus,
        /// The end of what it said.
        output: String,
    },
    /// It took too long.
    #[error("{command} took longer than {} s and was stopped", limit.as_secs())]
    TooLong {
        /// The command.
        command: String,
        /// The limit.
        limit: Duration,
    },
    /// It was cut off by something else.
    #[error("cannot follow {command}")]
    Follow {
        /// The command.
        command: String,
        /// What the system answered.
        #[source]
        source: std::io::Error,
    },
}

/// A command to run. Secrets must not be among its arguments, which everybody on the machine can see.
#[derive(Clone, Debug)]
pub struct Program {
    name: String,
    arguments: Vec<String>,
    input: Option<Vec<u8>>,
    limit: Duration,
}

impl Program {
    /// A program with arguments.
    pub fn new<S: Into<String>>(name: impl Into<String>, arguments: impl IntoIterator<Item = S>) -> Self {
        Self {
            name: name.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            input: None,
            limit: Duration::from_secs(30),
        }
    }

    /// With something to read.
    #[must_use]
    pub fn input(self, input: impl Into<Vec<u8>>) -> Self {
        Self { input: Some(input.into()), ..self }
    }

    /// With a limit other than half a minute.
    #[must_use]
    pub fn limit(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    /// Runs it and returns what it wrote to its standard output.
    pub async fn run(&self) -> Result<String, ProgramError> {
        let mut child = Command::new(&self.name)
            .args(&self.arguments)
            .stdin(if self.input.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|source| ProgramError::Start { program: self.name.clone(), source })?;
        let input = child.stdin.take().zip(self.input.clone());
        let ended = timeout(self.limit, async {
            if let Some((mut stdin, input)) = input {
                // One that does not read all of its input says why by its status.
                let _ = stdin.write_all(&input).await;
            }
            child.wait_with_output().await
        });
        let output = match ended.await {
            Ok(output) => output.map_err(|source| ProgramError::Follow { command: self.to_string(), source })?,
            Err(_) => return Err(ProgramError::TooLong { command: self.to_string(), limit: self.limit }),
        };
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        // What went wrong is on the error stream, if anything is.
        let said = if output.stderr.trim_ascii().is_empty() { output.stdout } else { output.stderr };
        Err(ProgramError::Failed {
            command: self.to_string(),
            status: output.status,
            output: last_lines(&String::from_utf8_lossy(&said)),
        })
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {argument}"))
    }
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(LINES)..].join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_it_says_comes_back_and_a_failure_says_what_was_run_and_answered() {
        let said = Program::new("cat", ["-"]).input("hello").run().await.unwrap();
        assert_eq!(said, "hello");
        let error = Program::new("sh", ["-c", "echo out; echo wrong >&2; exit 3"]).run().await.unwrap_err();
        assert_eq!(error.to_string(), "sh -c echo out; echo wrong >&2; exit 3 failed with exit status: 3: wrong");
        let error = Program::new("no-such-program", [""; 0]).run().await.unwrap_err();
        assert_eq!(error.to_string(), "cannot start no-such-program; is it installed?");
    }

    #[tokio::test]
    async fn one_that_hangs_is_stopped() {
        let error = Program::new("sleep", ["1000"]).limit(Duration::from_millis(50)).run().await.unwrap_err();
        assert!(matches!(error, ProgramError::TooLong { .. }), "{error}");
    }
}
