//! How the program ends, as scripts see it.

use std::process::ExitCode;

/// The exit status of the program. The numbers are part of its interface; 3 to 6 and 8 are those of the reference
/// installer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// Everything was done.
    Success,
    /// Something failed that has no status of its own, or there is a bug.
    Failure,
    /// The command line is wrong.
    Usage,
    /// The install-config, the install directory or a file in it cannot be used.
    Config,
    /// The platform could not be set up.
    Infrastructure,
    /// The control plane did not come up.
    Bootstrap,
    /// The cluster came up but did not become ready.
    Initialisation,
    /// The user stopped the run.
    Interrupted,
}

impl ExitStatus {
    /// All of them.
    pub(crate) const ALL: [Self; 8] = [
        Self::Success,
        Self::Failure,
        Self::Usage,
        Self::Config,
        Self::Infrastructure,
        Self::Bootstrap,
        Self::Initialisation,
        Self::Interrupted,
    ];

    /// The number.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure => 1,
            Self::Usage => 2,
            Self::Config => 3,
            Self::Infrastructure => 4,
            Self::Bootstrap => 5,
            Self::Initialisation => 6,
            Self::Interrupted => 8,
        }
    }

    /// What it means, in a few words.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::Success => "done",
            Self::Failure => "something failed that has no status of its own",
            Self::Usage => "the command line is wrong",
            Self::Config => "the install-config, the install directory or a file in it cannot be used",
            Self::Infrastructure => "the platform could not be set up",
            Self::Bootstrap => "the control plane did not come up",
            Self::Initialisation => "the cluster did not become ready",
            Self::Interrupted => "interrupted",
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status.code())
    }
}
